/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame.c: writes and reads the frames of gRPC messages.
 *
 * Most messages are small and arrive within one read: the deframer then returns a slice of the
 * received bytes and copies nothing. It collects only messages that come in parts. Their buffer
 * grows with what has arrived, not with the length that the prefix claims, so a server must send
 * what it wants the client to store. A large buffer is not kept for the next message.
 *
 * The client offers no compression, so a compressed message is an error of the server.
 */
#include "grpc/frame.h"

#include <stdio.h>

/* A larger buffer is freed after its message. */
enum { KEPT_MESSAGE = 64 << 10 };

void kc__grpc_frame_write(kc_buf *out, kc_str message)
{
    const uint32_t n = (uint32_t)message.n;
    const char prefix[KC__GRPC_PREFIX] = {0, (char)(n >> 24), (char)(n >> 16), (char)(n >> 8),
                                          (char)n};
    kc_buf_append(out, kc_str_of(prefix, sizeof(prefix)));
    kc_buf_append(out, message);
}

/* Removes up to `max` bytes from the front. */
static kc_str take_front(kc_str *bytes, size_t max)
{
    const kc_str front = kc_str_sub(*bytes, 0, max);
    *bytes = kc_str_sub(*bytes, front.n, bytes->n);
    return front;
}

static size_t length_of(const kc__grpc_deframer *d)
{
    return (size_t)d->prefix[1] << 24 | (size_t)d->prefix[2] << 16 | (size_t)d->prefix[3] << 8 |
           d->prefix[4];
}

static void drop_message(kc__grpc_deframer *d)
{
    if (d->message.cap > KEPT_MESSAGE)
        kc_buf_done(&d->message);
    kc_buf_clear(&d->message);
    d->message.limit = d->max;
    d->n_prefix = 0;
    d->complete = false;
}

/* False while the prefix is incomplete. */
static bool read_prefix(kc__grpc_deframer *d, kc_str *bytes)
{
    const kc_str part = take_front(bytes, KC__GRPC_PREFIX - d->n_prefix);
    if (part.n)
        memcpy(d->prefix + d->n_prefix, part.p, part.n);
    d->n_prefix += part.n;
    return d->n_prefix == KC__GRPC_PREFIX;
}

static bool prefix_is_valid(const kc__grpc_deframer *d, kc__grpc_status *failure)
{
    if (d->prefix[0] == 1)
        kc__grpc_status_set(failure, KC__GRPC_UNIMPLEMENTED,
                            "the server sent a compressed message, which was not offered");
    else if (d->prefix[0] != 0)
        kc__grpc_status_set(failure, KC__GRPC_INTERNAL, "the server sent an invalid message frame");
    else if (length_of(d) > d->max)
        kc__grpc_status_set(failure, KC__GRPC_RESOURCE_EXHAUSTED,
                            "the server sent a message of %zu bytes; the limit is %zu",
                            length_of(d), d->max);
    else
        return true;
    return false;
}

kc__grpc_deframed kc__grpc_deframe(kc__grpc_deframer *d, kc_str *bytes, kc_str *ret_message,
                                   kc__grpc_status *failure)
{
    if (d->complete)
        drop_message(d);
    if (!read_prefix(d, bytes))
        return KC__GRPC_DEFRAMED_ALL;
    if (!prefix_is_valid(d, failure))
        return KC__GRPC_DEFRAMED_FAILED;
    const size_t missing = length_of(d) - d->message.n;
    const kc_str part = take_front(bytes, missing);
    if (part.n == missing && !d->message.n) {
        *ret_message = part;
        d->complete = true;
        return KC__GRPC_DEFRAMED_MESSAGE;
    }
    d->message.limit = d->max;
    kc_buf_append(&d->message, part);
    if (d->message.failed) {
        kc__grpc_status_set(failure, KC__GRPC_RESOURCE_EXHAUSTED, "no memory for a message");
        return KC__GRPC_DEFRAMED_FAILED;
    }
    if (part.n < missing)
        return KC__GRPC_DEFRAMED_ALL;
    *ret_message = kc_buf_str(&d->message);
    d->complete = true;
    return KC__GRPC_DEFRAMED_MESSAGE;
}

void kc__grpc_deframer_take(kc__grpc_deframer *d, kc_str message, kc_buf *ret)
{
    if (message.n && message.p == d->message.p) {
        *ret = d->message;
        ret->limit = 0;
        d->message = (kc_buf){0};
        return;
    }
    kc_buf_append(ret, message);
}

bool kc__grpc_deframer_is_inside(const kc__grpc_deframer *d)
{
    return d->n_prefix > 0 && !d->complete;
}

void kc__grpc_deframer_clear(kc__grpc_deframer *d)
{
    kc_buf_done(&d->message);
    *d = (kc__grpc_deframer){.max = d->max};
}

kc_str kc__grpc_timeout_write(int64_t ns, char out[KC__GRPC_TIMEOUT_TEXT])
{
    static const struct {
        int64_t ns;
        char name;
    } units[] = {{KC_NANOSECOND, 'n'}, {KC_MICROSECOND, 'u'}, {KC_MILLISECOND, 'm'},
                 {KC_SECOND, 'S'},     {KC_MINUTE, 'M'},      {KC_HOUR, 'H'}};
    enum { MOST = 99999999 }; /* Eight digits. */
    size_t unit = 0;
    ns = KC_MAX(ns, 1);
    while (unit + 1 < KC_COUNT(units) && ns > MOST * units[unit].ns)
        unit++;
    const int64_t count = KC_MIN((ns - 1) / units[unit].ns + 1, MOST);
    const int n = snprintf(out, KC__GRPC_TIMEOUT_TEXT, "%d%c", (int)count, units[unit].name);
    return kc_str_of(out, (size_t)n);
}
