/* SPDX-License-Identifier: Apache-2.0 */
/*
 * status.c: the status of a call: its code and its message.
 *
 * A server states both in the trailers of a response (grpc-status, grpc-message). Where it does
 * not, because a proxy has answered or the stream was reset, the code follows from the status of
 * HTTP or the error code of HTTP/2, by the tables of the gRPC specification.
 *
 * Pure functions; any thread.
 */
#include "grpc/status.h"

#include "kc/ascii.h"

#include <nghttp2/nghttp2.h>

const char *kc__grpc_code_text(kc__grpc_code code)
{
    switch (code) {
#define CODE_TEXT(name, number) \
    case KC__GRPC_##name: return #name;
        KC__GRPC_CODES(CODE_TEXT)
#undef CODE_TEXT
    }
    return "UNKNOWN";
}

void kc__grpc_status_set(kc__grpc_status *status, kc__grpc_code code, const char *fmt, ...)
{
    kc_buf text = {0};
    va_list args;
    va_start(args, fmt);
    kc_buf_vprintf(&text, fmt, args);
    va_end(args);
    free(status->message); /* After the arguments are used: they may refer to it. */
    status->code = code;
    status->message = kc_buf_take(&text);
}

void kc__grpc_status_done(kc__grpc_status *status)
{
    if (!status)
        return;
    free(status->message);
    *status = (kc__grpc_status){0};
}

kc__grpc_code kc__grpc_code_parse(kc_str text)
{
    uint64_t number;
    if (!kc_str_to_u64(text, &number) || number > KC__GRPC_UNAUTHENTICATED)
        return KC__GRPC_UNKNOWN;
    return (kc__grpc_code)number;
}

kc__grpc_code kc__grpc_code_of_http(int status)
{
    switch (status) {
    case 400: return KC__GRPC_INTERNAL;
    case 401: return KC__GRPC_UNAUTHENTICATED;
    case 403: return KC__GRPC_PERMISSION_DENIED;
    case 404: return KC__GRPC_UNIMPLEMENTED;
    case 429:
    case 502:
    case 503:
    case 504: return KC__GRPC_UNAVAILABLE;
    default: return KC__GRPC_UNKNOWN;
    }
}

kc__grpc_code kc__grpc_code_of_h2(uint32_t error)
{
    switch (error) {
    case NGHTTP2_REFUSED_STREAM: return KC__GRPC_UNAVAILABLE;
    case NGHTTP2_CANCEL: return KC__GRPC_CANCELLED;
    case NGHTTP2_ENHANCE_YOUR_CALM: return KC__GRPC_RESOURCE_EXHAUSTED;
    case NGHTTP2_INADEQUATE_SECURITY: return KC__GRPC_PERMISSION_DENIED;
    default: return KC__GRPC_INTERNAL;
    }
}

/* The byte of an escape "%XY", or -1. */
static int escaped_byte(kc_str text)
{
    if (text.n < 3 || text.p[0] != '%')
        return -1;
    const int high = kc_hex_value(text.p[1]), low = kc_hex_value(text.p[2]);
    return high < 0 || low < 0 ? -1 : high * 16 + low;
}

char *kc__grpc_status_decode(kc_str text)
{
    kc_buf out = {0};
    text = kc_str_sub(text, 0, KC__GRPC_MAX_STATUS_MESSAGE);
    for (size_t i = 0; i < text.n;) {
        const int byte = escaped_byte(kc_str_sub(text, i, text.n));
        kc_buf_putc(&out, byte > 0 ? (char)byte : text.p[i]);
        i += byte > 0 ? 3 : 1;
    }
    return kc_buf_take(&out);
}
