/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transport_http_error.c: what curl says went wrong, in the terms of transport.h: was the request
 * surely not carried out (code 0), or may it have been (503)?
 *
 * Sure is only that no connection came about to send it on: curl says when one has
 * (kc__on_sending). Everything after that counts as "may have been": what was handed to a
 * connection may have arrived although the connection broke at once.
 */
#include "client/transport_http_internal.h"

static const char *hint_of(const kc__fetch *x)
{
    if (x->refused_to_repeat)
        return "; the connection broke before an answer came, and it may have been carried out";
    if (x->result == CURLE_WRITE_ERROR && !x->head)
        return "; the head of the answer is too large";
    return "";
}

int kc__fetch_failed(const kc__fetch *x, kc_error *err)
{
    const int result =
        kc_error_set(err, KC_SERVICE_UNAVAILABLE, "%s %s: %s%s", x->method, x->http->base,
                     x->refused_to_repeat ? "not sent again" : x->why, hint_of(x));
    if (err && x->attempts == 0)
        err->code = 0;
    return result;
}
