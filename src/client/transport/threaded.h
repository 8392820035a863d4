/* SPDX-License-Identifier: Apache-2.0 */
/* threaded.h: streams (transport.h) for a transport that has only the blocking calls. */
#ifndef KC_CLIENT_TRANSPORT_THREADED_H
#define KC_CLIENT_TRANSPORT_THREADED_H

#include "kc/transport.h"

/* As kc_transport_start. A dedicated thread opens and reads; callbacks run on it. The thread
 * ends with the stream. */
kc_stream *kc__client_transport_threaded_start(kc_transport *t, const kc_http_request *request,
                                               const kc_stream_callbacks *callbacks, void *user,
                                               kc_error *err);

#endif
