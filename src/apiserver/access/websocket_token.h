/* SPDX-License-Identifier: Apache-2.0 */
/* websocket_token.h: the bearer token of clients that can set no header fields: web pages. */
#ifndef KC_APISERVER_WEBSOCKET_TOKEN_H
#define KC_APISERVER_WEBSOCKET_TOKEN_H

#include "http/exchange.h"

/* 1 and *ret, which is the arena's; 0 where there is none; negative where something is wrong with
 * it. Any thread. */
int kc__websocket_token(const kc__request *request, kc_arena *arena, kc_str *ret);

#endif
