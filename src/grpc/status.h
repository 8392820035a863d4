/* SPDX-License-Identifier: Apache-2.0 */
/* status.h: status codes of gRPC, and where they come from: trailers, HTTP and HTTP/2. Pure. */
#ifndef KC_GRPC_STATUS_H
#define KC_GRPC_STATUS_H

#include "grpc/grpc.h"

/* Maximum length of a message of a status; the rest is dropped. */
#define KC__GRPC_MAX_STATUS_MESSAGE ((size_t)8192)

/* Replaces code and message; keeps `unsent`. */
void kc__grpc_status_set(kc__grpc_status *status, kc__grpc_code code, const char *fmt, ...)
    KC_PRINTF(3, 4);
void kc__grpc_status_done(kc__grpc_status *status);

/* Parses the field grpc-status. UNKNOWN for what is no code. */
kc__grpc_code kc__grpc_code_parse(kc_str text);
/* The code of a response without grpc-status, by its HTTP status. */
kc__grpc_code kc__grpc_code_of_http(int status);
/* The code of a stream that the server has reset, by the error code of HTTP/2. */
kc__grpc_code kc__grpc_code_of_h2(uint32_t error);

/* Decodes the field grpc-message. Invalid escapes and NUL stay as they are. The caller frees the
 * result. */
char *kc__grpc_status_decode(kc_str text);

#endif
