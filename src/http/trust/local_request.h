/* SPDX-License-Identifier: Apache-2.0 */
/*
 * local_request.h: whether the header fields and the address of a request are those of a program on
 * this machine, and not of a web page or a proxy. For the user of the program see local_trust.h.
 */
#ifndef KC_HTTP_LOCAL_REQUEST_H
#define KC_HTTP_LOCAL_REQUEST_H

#include "http/server/exchange.h"

/* Returns whether the peer's address is a loopback address, Host names this machine, and no
 * header field indicates a web page or a proxy. Any thread. */
bool kc__local_request_is_local(const kc__http_request *request);

/* Returns whether a browser on this machine sent the request for a page of another site. (From
 * other machines the same fields have no meaning: they may know the server by another name.) */
bool kc__local_request_is_foreign_page(const kc__http_request *request);

/* Returns whether a browser sent the request for a page of another site than the server's, on
 * any machine. A page served by a program on the client's machine does not count as another
 * site. */
bool kc__local_request_is_cross_site(const kc__http_request *request);

/* "localhost", an address of 127.0.0.0/8 or "[::1]", with or without a port. */
bool kc__local_request_is_local_authority(kc_str host_and_port);
/* "http://" or "https://" followed by one of those, and nothing else. */
bool kc__local_request_is_local_origin(kc_str origin);

#endif
