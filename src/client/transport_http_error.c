/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transport_http_error.c: what curl says went wrong, in the terms of transport.h: was the request
 * surely not carried out (code 0), or may it have been (503)?
 *
 * Sure is: no connection came about, or nothing of the request was handed to one. Everything else
 * counts as "may have been": bytes that were handed over may have arrived although the connection
 * broke at once.
 */
#include "client/transport_http_internal.h"

/* Failures before a request can be sent. */
static const CURLcode before_sending[] = {
    CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY,
    CURLE_COULDNT_CONNECT,      CURLE_PROXY,
    CURLE_SSL_CONNECT_ERROR,    CURLE_PEER_FAILED_VERIFICATION,
    CURLE_SSL_CERTPROBLEM,      CURLE_SSL_CACERT_BADFILE,
    CURLE_SSL_CIPHER,           CURLE_SSL_ENGINE_INITFAILED,
    CURLE_SSL_ISSUER_ERROR,     CURLE_UNSUPPORTED_PROTOCOL,
    CURLE_URL_MALFORMAT,
};

static bool is_before_sending(CURLcode result)
{
    for (size_t i = 0; i < KC_COUNT(before_sending); i++)
        if (before_sending[i] == result)
            return true;
    return false;
}

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
    const bool unsent = x->nothing_sent && !x->refused_to_repeat && !x->head;
    const int result =
        kc_error_set(err, KC_SERVICE_UNAVAILABLE, "%s %s: %s%s", x->method, x->http->base,
                     x->refused_to_repeat ? "not sent again" : x->why, hint_of(x));
    if (err && (unsent || (is_before_sending(x->result) && x->attempts == 0)))
        err->code = 0;
    return result;
}
