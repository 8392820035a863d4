/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blocking.h: the blocking calls (transport.h) of a transport that implements `start`. Such a
 * transport puts kc__client_transport_blocking_read and kc__client_transport_blocking_close into
 * its table, and an `open` that calls kc__client_transport_blocking_open with its clock. Its
 * streams may be released from within on_end.
 */
#ifndef KC_CLIENT_TRANSPORT_BLOCKING_H
#define KC_CLIENT_TRANSPORT_BLOCKING_H

#include "kc/transport.h"

kc_http_response *kc__client_transport_blocking_open(kc_transport *t,
                                                     const kc_http_request *request,
                                                     const kc_clock *clock, kc_error *err);
ssize_t kc__client_transport_blocking_read(kc_http_response *response, char *ret_bytes, size_t n,
                                           kc_error *err);
void kc__client_transport_blocking_close(kc_http_response *response);

#endif
