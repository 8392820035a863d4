/* SPDX-License-Identifier: Apache-2.0 */
/*
 * websocket_token.c: a page that opens a WebSocket can choose nothing of the request but its URL,
 * where a token would end up in logs, and its subprotocols. So one of those may be
 *
 *     Sec-WebSocket-Protocol: base64url.bearer.authorization.k8s.io.TOKEN, v4.channel.k8s.io
 *
 * with the token in base64 for URLs, without padding. There must be another one, for a server has
 * to choose one of those it is offered, and the token must not be sent back.
 */
#include "apiserver/access/websocket_token.h"

#include "http/websocket.h"
#include "kc/base64.h"

/* The token's text, and how many subprotocols there are beside it. False when there are two. */
static bool find(const kc__headers *headers, kc_str *ret_token, size_t *ret_others)
{
    const kc_str prefix = KC_STR(KC__WEBSOCKET_TOKEN);
    size_t at = 0;
    kc_str value;
    while (kc__headers_next(headers, KC_STR("Sec-WebSocket-Protocol"), &at, &value))
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

int kc__websocket_token(const kc__request *request, kc_arena *arena, kc_str *ret)
{
    kc_str text = {0};
    size_t others = 0;
    kc_scoped(kc_buf) token = {0};
    if (!kc__websocket_is_asked(request))
        return 0;
    if (!find(&request->headers, &text, &others))
        return -KC_UNAUTHORIZED;
    if (!text.n)
        return 0;
    if (!others || !kc_base64_read(&token, text, KC_BASE64_URL))
        return -KC_UNAUTHORIZED;
    *ret = kc_arena_str(arena, kc_buf_str(&token));
    return ret->p ? 1 : -KC_UNAUTHORIZED;
}
