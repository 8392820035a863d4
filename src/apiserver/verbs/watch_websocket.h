/* SPDX-License-Identifier: Apache-2.0 */
/* watch_websocket.h: a watch over WebSocket, for clients that ask for it: mainly web pages. */
#ifndef KC_APISERVER_WATCH_WEBSOCKET_H
#define KC_APISERVER_WATCH_WEBSOCKET_H

#include "apiserver/request/phases.h"

/* Responds with the events that `events` would send over HTTP, one message per line; or rejects the
 * handshake. Takes over the source in either case. */
kc__rest_verdict kc__rest_watch_websocket(kc__rest_call *call, const kc__http_response *events);

#endif
