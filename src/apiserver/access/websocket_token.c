/* SPDX-License-Identifier: Apache-2.0 */
/*
 * websocket_token.c: a page that opens a WebSocket can set only the URL, where a token would end up
 * in logs, and the subprotocols. So one subprotocol may be
 *
 *     Sec-WebSocket-Protocol: base64url.bearer.authorization.k8s.io.TOKEN, v4.channel.k8s.io
 *
 * with the token in base64url, without padding. The client must offer another subprotocol, too,
 * because the server has to select one of those offered, and must not send the token back.
 */
#include "apiserver/access/websocket_token.h"

#include "http/server/websocket.h"
#include "kc/base64.h"

/* Finds the token's text, and the number of other subprotocols. False if there are two tokens. */
static bool find_bearer_protocol(const kc__http_headers *headers, kc_str *ret_token,
                                 size_t *ret_others)
{
    const kc_str prefix = KC_STR(KC__WEBSOCKET_TOKEN);
    size_t at = 0;
    kc_str value;
    while (kc__http_headers_next(headers, KC_STR("Sec-WebSocket-Protocol"), &at, &value))
        while (value.p) {
            kc_str name = kc_str_trim(kc_str_cut(&value, ','));
            if (!kc_str_starts(name, prefix)) {
                *ret_others += name.n > 0;
                continue;
            }
            if (ret_token->p)
                return false;
            *ret_token = kc_str_sub(name, prefix.n, name.n);
        }
    return true;
}

int kc__authn_websocket_token(const kc__http_request *request, kc_arena *arena, kc_str *ret)
{
    kc_str text = {0};
    size_t others = 0;
    kc_scoped(kc_buf) token = {0};
    if (!kc__websocket_is_requested(request))
        return 0;
    if (!find_bearer_protocol(&request->headers, &text, &others))
        return -1;
    if (!text.n)
        return 0;
    if (!others || !kc_base64_read(&token, text, KC_BASE64_URL))
        return -1;
    *ret = kc_arena_str(arena, kc_buf_str(&token));
    return ret->p ? 1 : -1;
}
