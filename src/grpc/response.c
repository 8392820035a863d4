/* SPDX-License-Identifier: Apache-2.0 */
/*
 * response.c: reads the heads of a response.
 *
 *     HEADERS  :status 200, content-type application/grpc        the server accepts the call
 *     DATA     messages (frame.c)
 *     HEADERS  grpc-status, grpc-message, END_STREAM             trailers
 *
 * A server that has no messages to send puts all fields into one head (trailers-only). A proxy may
 * answer instead of the server: then there is no grpc-status, and the code follows from the HTTP
 * status.
 *
 * The function of a field copies only what is needed, and counts all of them, so that the memory of
 * a head is bounded by KC__GRPC_MAX_HEAD.
 */
#include "grpc/response.h"

enum { FIELD_OVERHEAD = 32, MAX_TYPE_TEXT = 64 };

static bool is_grpc_type(kc_str type)
{
    static const kc_str prefix = KC_STR_INIT("application/grpc");
    if (!kc_str_eq_nocase(kc_str_sub(type, 0, prefix.n), prefix))
        return false;
    return type.n == prefix.n || type.p[prefix.n] == '+' || type.p[prefix.n] == ';';
}

static void set_type(kc__grpc_response *r, kc_str value)
{
    r->is_grpc = is_grpc_type(value);
    free(r->type);
    r->type = r->is_grpc ? NULL : kc_str_dup(kc_str_sub(value, 0, MAX_TYPE_TEXT));
}

static void set_http_status(kc__grpc_response *r, kc_str value)
{
    uint64_t status = 0;
    r->http_status = kc_str_to_u64(value, &status) && status < 1000 ? (int)status : 0;
}

bool kc__grpc_response_field(kc__grpc_response *r, kc_str name, kc_str value,
                             kc__grpc_status *failure)
{
    r->head += name.n + value.n + FIELD_OVERHEAD;
    if (r->head > KC__GRPC_MAX_HEAD) {
        kc__grpc_status_set(failure, KC__GRPC_RESOURCE_EXHAUSTED,
                            "the head of the response exceeds %d bytes", KC__GRPC_MAX_HEAD);
        return false;
    }
    if (kc_str_is(name, "grpc-status")) {
        r->has_code = true;
        r->code = kc__grpc_code_parse(value);
    } else if (kc_str_is(name, "grpc-message")) {
        free(r->message);
        r->message = kc__grpc_status_decode(value);
    } else if (!r->opened && kc_str_is(name, ":status")) {
        set_http_status(r, value);
    } else if (!r->opened && kc_str_is(name, "content-type")) {
        set_type(r, value);
    }
    return true;
}

/* Only the last head of a response has a status. */
static void forget_status(kc__grpc_response *r)
{
    r->has_code = false;
    free(r->message);
    r->message = NULL;
}

/* Why a response without a status of gRPC is none. */
static void set_http_failure(const kc__grpc_response *r, kc__grpc_status *failure)
{
    if (r->http_status != 200)
        kc__grpc_status_set(failure, kc__grpc_code_of_http(r->http_status),
                            "the server responded with HTTP status %d", r->http_status);
    else if (!r->is_grpc)
        kc__grpc_status_set(failure, KC__GRPC_UNKNOWN,
                            "the server responded with content-type \"%s\"",
                            r->type ? r->type : "");
    else
        kc__grpc_status_set(failure, KC__GRPC_INTERNAL, "the server sent no grpc-status");
}

kc__grpc_head kc__grpc_response_head(kc__grpc_response *r, bool end, kc__grpc_status *failure)
{
    const bool interim = !r->opened && r->http_status >= 100 && r->http_status < 200;
    r->head = 0;
    if (interim)
        kc__grpc_response_clear(r);
    if (interim || r->opened || end)
        return KC__GRPC_HEAD_INTERIM;
    forget_status(r);
    if (r->http_status != 200 || !r->is_grpc) {
        set_http_failure(r, failure);
        return KC__GRPC_HEAD_FAILED;
    }
    r->opened = true;
    return KC__GRPC_HEAD_OPENED;
}

void kc__grpc_response_finish(kc__grpc_response *r, kc__grpc_status *ret_status)
{
    if (r->has_code)
        kc__grpc_status_set(ret_status, r->code, "%s", r->message ? r->message : "");
    else
        set_http_failure(r, ret_status);
}

void kc__grpc_response_clear(kc__grpc_response *r)
{
    free(r->type);
    free(r->message);
    *r = (kc__grpc_response){0};
}
