/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A watch is split into the same events for any chunking (the first byte decides it), up to the
 * first invalid event; a parser finds the same type and object in each line.
 */
#include "client/stream/watch_frames.h"

#include "fuzzing.h"
#include "kc/object.h"

/* The parser's view of what was found. */
static void compare(const kc__stream_frame *frame)
{
    kc_scoped(kc_buf) event = {0};
    kc_buf_printf(&event, "{\"type\":\"%.*s\",\"object\":", KC_ARG(frame->type));
    kc_buf_append(&event, frame->object);
    kc_buf_putc(&event, '}');
    kc_auto(kc_object) *object = kc_object_parse(frame->object, NULL, NULL);
    kc_auto(kc_view) *view = kc_view_parse(kc_buf_str(&event), NULL, NULL);
    if (!object || !view)
        return;
    kc_scoped(kc_buf) same = {0};
    kc_json_write(&same, kc_value_get(kc_view_root(view), "object"));
    assert(kc_str_eq(kc_buf_str(&same), kc_object_json(object)));
}

static void cut(kc_str text, size_t piece, kc_buf *out)
{
    kc_scoped(kc__stream_frames) f = {.max_line = 300};
    int r = 0;
    for (kc_str rest = text; rest.n && r >= 0; rest = kc_str_sub(rest, piece, rest.n)) {
        kc__stream_frame frame;
        kc__stream_frames_feed(&f, kc_str_sub(rest, 0, piece));
        while ((r = kc__stream_frames_next(&f, &frame, NULL)) > 0) {
            assert(frame.type.n && frame.object.n >= 2 && frame.object.p[0] == '{');
            kc_buf_printf(out, "%.*s %.*s\n", KC_ARG(frame.type), KC_ARG(frame.object));
            compare(&frame);
        }
    }
    kc_buf_puts(out, r < 0 ? "error" : kc__stream_frames_pending(&f) ? "pending" : "end");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1 || size > 4096)
        return 0;
    const kc_str text = kc_str_of((const char *)data + 1, size - 1);
    kc_scoped(kc_buf) whole = {0}, pieces = {0};
    cut(text, size, &whole);
    cut(text, 1 + data[0] % 37, &pieces);
    assert(kc_str_eq(kc_buf_str(&whole), kc_buf_str(&pieces)));
    return 0;
}
