/* SPDX-License-Identifier: Apache-2.0 */
/*
 * h2_calm.c: what is harmless once and an attack when done without end.
 *
 * Two credits per connection, which time gives back:
 *
 *     resets   a stream that ends by RST_STREAM, from the client ("rapid reset") or from us for
 *              what the client did (a refused stream, a broken frame: "made you reset"): each cost
 *              us a request's work and the client nothing
 *     frames   PING, SETTINGS, WINDOW_UPDATE, PRIORITY, DATA that is empty or padded: frames that
 *              bring no request nearer to its end (unknown ones are not counted: nghttp2 passes
 *              over their bytes without doing anything)
 *
 * A client that reads a large answer has every reason to send WINDOW_UPDATEs, so each DATA frame
 * that goes out gives back what the busiest client spends on it. When a credit is used up, the
 * connection ends with ENHANCE_YOUR_CALM.
 *
 * The limits of nghttp2 itself stand behind these: acknowledgements queued (max_outbound_ack),
 * CONTINUATION frames of one head, entries of one SETTINGS frame.
 */
#include "http/h2_internal.h"

enum {
    RESETS_ALLOWED = 1000,
    FRAMES_ALLOWED = 10000,
    FRAMES_PER_SECOND = 1000,
};

bool kc__h2_credit_use(kc__h2_credit *credit, int64_t allowance, int64_t per_second, int64_t now)
{
    int64_t passed = now - credit->at;
    bool all_back = per_second > 0 && passed > credit->used / per_second;
    credit->used = all_back ? 0 : credit->used - passed * per_second;
    credit->at = now;
    if (credit->used + KC_SECOND > allowance * KC_SECOND)
        return false;
    credit->used += KC_SECOND;
    return true;
}

void kc__h2_credit_return(kc__h2_credit *credit, int64_t count)
{
    credit->used = KC_MAX(credit->used - count * KC_SECOND, 0);
}

void kc__h2_count_reset(kc__h2 *h2)
{
    int64_t per_second = (int64_t)h2->conn->limits->max_resets;
    if (!kc__h2_credit_use(&h2->resets, RESETS_ALLOWED, per_second, h2->now))
        kc__h2_end(h2, NGHTTP2_ENHANCE_YOUR_CALM);
}

static bool brings_something(const nghttp2_frame_hd *frame)
{
    switch (frame->type) {
    case NGHTTP2_HEADERS:
    case NGHTTP2_CONTINUATION: /* Limited for each head. */
    case NGHTTP2_RST_STREAM: /* Counted as a reset. */ return true;
    case NGHTTP2_DATA: /* Padding may be all there is. */
        return (frame->length > 0 && !(frame->flags & NGHTTP2_FLAG_PADDED)) ||
               frame->flags & NGHTTP2_FLAG_END_STREAM;
    default: return false;
    }
}

void kc__h2_count_frame(kc__h2 *h2, const nghttp2_frame_hd *frame)
{
    if (brings_something(frame))
        return;
    if (!kc__h2_credit_use(&h2->frames, FRAMES_ALLOWED, FRAMES_PER_SECOND, h2->now))
        kc__h2_end(h2, NGHTTP2_ENHANCE_YOUR_CALM);
}
