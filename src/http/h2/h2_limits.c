/* SPDX-License-Identifier: Apache-2.0 */
/*
 * h2_limits.c: limits the rate of frames that are harmless alone and an attack in large numbers.
 *
 * Each connection has three credits, which are refilled over time:
 *
 *     resets   streams that end by RST_STREAM, from the client ("rapid reset") or from the server
 *              because of the client (a refused stream, an invalid frame: "made you reset"): each
 *              costs the server the work of a request and the client nothing
 *     frames   PING, SETTINGS, WINDOW_UPDATE, PRIORITY, DATA that is empty or padded: frames that
 *              make no progress with a request (unknown ones are not counted: nghttp2 skips their
 *              bytes without any work)
 *     waste    decoded bytes of refused heads, beyond the size of a regular head: one byte on the
 *              wire may refer to a field of 4 KiB, which must be decoded in any case
 *
 * A client that reads a large response sends WINDOW_UPDATEs, so each DATA frame that is sent
 * refills what the busiest client spends on it. When a credit is exhausted, the connection ends
 * with ENHANCE_YOUR_CALM.
 *
 * The limits of nghttp2 apply in addition: queued acknowledgements (max_outbound_ack), CONTINUATION
 * frames of one head, entries of one SETTINGS frame.
 */
#include "http/h2/h2_internal.h"

enum {
    RESETS_ALLOWED = 1000,
    FRAMES_ALLOWED = 10000,
    FRAMES_PER_SECOND = 1000,
    WASTE_BLOCK = 4096,
    WASTE_ALLOWED = 256, /* Blocks: 1 MiB. */
    WASTE_PER_SECOND = 16,
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
        kc__h2_end_by(h2, NGHTTP2_ENHANCE_YOUR_CALM, KC__HTTP_ENDED_RESETS);
}

bool kc__h2_count_waste(kc__h2 *h2, size_t bytes)
{
    h2->wasted += bytes;
    for (; h2->wasted >= WASTE_BLOCK && !h2->calm; h2->wasted -= WASTE_BLOCK)
        h2->calm = !kc__h2_credit_use(&h2->waste, WASTE_ALLOWED, WASTE_PER_SECOND, h2->now);
    return !h2->calm;
}

static bool makes_progress(const nghttp2_frame_hd *frame)
{
    switch (frame->type) {
    case NGHTTP2_HEADERS:
    case NGHTTP2_CONTINUATION: /* Limited per head. */
    case NGHTTP2_RST_STREAM: /* Counted as a reset. */ return true;
    case NGHTTP2_DATA: /* It may consist of padding only. */
        return (frame->length > 0 && !(frame->flags & NGHTTP2_FLAG_PADDED)) ||
               frame->flags & NGHTTP2_FLAG_END_STREAM;
    default: return false;
    }
}

void kc__h2_count_frame(kc__h2 *h2, const nghttp2_frame_hd *frame)
{
    if (makes_progress(frame))
        return;
    if (!kc__h2_credit_use(&h2->frames, FRAMES_ALLOWED, FRAMES_PER_SECOND, h2->now))
        kc__h2_end_by(h2, NGHTTP2_ENHANCE_YOUR_CALM, KC__HTTP_ENDED_FRAMES);
}
