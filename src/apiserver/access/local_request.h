/* SPDX-License-Identifier: Apache-2.0 */
/*
 * local_request.h: whether a request was sent by a program of this machine, and not by a web page
 * or through a proxy. For --authn-allow-localhost.
 */
#ifndef KC_APISERVER_LOCAL_REQUEST_H
#define KC_APISERVER_LOCAL_REQUEST_H

#include "http/exchange.h"

/* The peer's address decides; header fields can only make it false. Any thread. */
bool kc__is_local_request(const kc__request *request);

/* Comes from this machine, but as a browser sends it for a page of elsewhere. (From other machines
 * the same fields mean nothing: they may well know the server by another name.) */
bool kc__is_from_foreign_page(const kc__request *request);

/* Sent by a browser for a page of another site than the server's, wherever both are. A page that a
 * program of the client's machine served counts as no other site. */
bool kc__is_cross_site(const kc__request *request);

/* "localhost", an address of 127.0.0.0/8 or "[::1]", with or without a port. */
bool kc__is_local_authority(kc_str host_and_port);
/* "http://" or "https://" and one of those, and nothing else. */
bool kc__is_local_origin(kc_str origin);

#endif
