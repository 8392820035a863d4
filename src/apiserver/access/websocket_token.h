/* SPDX-License-Identifier: Apache-2.0 */
/* websocket_token.h: the bearer token of clients that cannot set headers: web pages. */
#ifndef KC_APISERVER_WEBSOCKET_TOKEN_H
#define KC_APISERVER_WEBSOCKET_TOKEN_H

#include "http/server/exchange.h"

/* 1 and *ret, allocated in the arena; 0 if there is no token; -1 if it is invalid. Any
 * thread. */
int kc__authn_websocket_token(const kc__http_request *request, kc_arena *arena, kc_str *ret);

#endif
