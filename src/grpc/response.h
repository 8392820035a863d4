/* SPDX-License-Identifier: Apache-2.0 */
/*
 * response.h: the heads of a response: fields at its begin and end, and the status that follows
 * from them. Pure.
 */
#ifndef KC_GRPC_RESPONSE_H
#define KC_GRPC_RESPONSE_H

#include "grpc/status.h"

/* Maximum size of one head, with 32 bytes for each field as in RFC 9113. */
enum { KC__GRPC_MAX_HEAD = 64 << 10 };

/* Ready when zero-initialized. */
typedef struct kc__grpc_response {
    int http_status;
    bool opened;   /* The first head is complete. */
    bool is_grpc;  /* By its content-type. */
    char *type;    /* Another content-type. */
    bool has_code; /* grpc-status was present. */
    kc__grpc_code code;
    char *message; /* grpc-message, decoded. */
    size_t head;   /* Size of the head that is being read. */
} kc__grpc_response;

/* Adds a field. False, with *failure set, if the head is too large. */
bool kc__grpc_response_field(kc__grpc_response *response, kc_str name, kc_str value,
                             kc__grpc_status *failure);

typedef enum kc__grpc_head {
    KC__GRPC_HEAD_INTERIM, /* Of an interim response (1xx), or trailers. */
    KC__GRPC_HEAD_OPENED,  /* The server has accepted the call; messages follow. */
    KC__GRPC_HEAD_FAILED,  /* *failure is set: this is no gRPC response. */
} kc__grpc_head;

/* The head is complete. `end`: the response, too, which is then judged by
 * kc__grpc_response_finish. */
kc__grpc_head kc__grpc_response_head(kc__grpc_response *response, bool end,
                                     kc__grpc_status *failure);
/* The response is complete: sets the status. */
void kc__grpc_response_finish(kc__grpc_response *response, kc__grpc_status *ret_status);
/* Frees the contents and makes it ready for another response. */
void kc__grpc_response_clear(kc__grpc_response *response);

#endif
