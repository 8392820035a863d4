/* SPDX-License-Identifier: Apache-2.0 */
/* request_log.h: logs each request with -v=6 and above, as kube-apiserver's HTTP log does. */
#ifndef KC_APISERVER_REQUEST_LOG_H
#define KC_APISERVER_REQUEST_LOG_H

#include "apiserver/call/call.h"

/* The verbosity from which requests are logged. */
enum { KC__REST_REQUEST_LOG = 6 };

/* Logs the request when its response has ended: now, or after the stream. Call it before the
 * response is sent, on the loop's thread. */
void kc__rest_log_request(kc__rest_call *call, kc__http_response *response);

#endif
