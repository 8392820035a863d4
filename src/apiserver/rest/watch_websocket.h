/* SPDX-License-Identifier: Apache-2.0 */
/* watch_websocket.h: a watch over WebSocket, for clients that ask for it: web pages above all. */
#ifndef KC_APISERVER_WATCH_WEBSOCKET_H
#define KC_APISERVER_WATCH_WEBSOCKET_H

#include "apiserver/rest/call.h"

/* Answers with what `events` would over HTTP, its source's lines as one message each; or refuses
 * the handshake. Takes over the source either way. */
kc__verdict kc__watch_over_websocket(kc__call *call, const kc__answer *events);

#endif
