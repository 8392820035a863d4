/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_error.c: converts curl's errors to those of transport.h: was the request certainly not
 * executed (code 0), or may it have been (503)?
 *
 * It is certain only if no connection was established to send the request on: curl reports when one
 * was (kc__client_transport_on_connect). Any later failure counts as "may have been executed": data
 * passed to a connection may have arrived even if the connection broke immediately.
 */
#include "client/transport/transport_http_internal.h"

static const char *hint_of(const kc__client_transport_transfer *x)
{
    if (x->refused_to_repeat)
        return "; the connection was lost before the response, and the server may have "
               "processed the request";
    if (x->result == CURLE_WRITE_ERROR && !x->head)
        return "; the response head is too large";
    return "";
}

int kc__client_transport_transfer_error(const kc__client_transport_transfer *x, kc_error *err)
{
    const int result =
        kc_error_set(err, KC_SERVICE_UNAVAILABLE, "%s %s: %s%s", x->method, x->http->base,
                     x->refused_to_repeat ? "not retried" : x->why, hint_of(x));
    if (err && x->attempts == 0)
        err->code = 0;
    return result;
}
