/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any text is refused or has a resolved path: joining its segments gives the path, none of them is
 * empty, "." or "..", and none has a slash or a control character. A path that needs no encoding is
 * its own target.
 */
#include "fuzzing.h"

#include "http/message/target.h"
#include "kc/buf.h"

static void check_segment(kc_str segment)
{
    assert(segment.n && !kc_str_is(segment, ".") && !kc_str_is(segment, ".."));
    for (size_t i = 0; i < segment.n; i++)
        assert((unsigned char)segment.p[i] >= 0x20 && segment.p[i] != 0x7F && segment.p[i] != '/');
}

static void check_path(const kc__target *t)
{
    kc_scoped(kc_buf) joined = {0};
    for (size_t i = 0; i < t->n_segments; i++) {
        check_segment(t->segments[i]);
        kc_buf_putc(&joined, '/');
        kc_buf_append(&joined, t->segments[i]);
    }
    if (t->trailing_slash || !t->n_segments)
        kc_buf_putc(&joined, '/');
    assert(kc_str_eq(kc_buf_str(&joined), t->path));
    assert(!t->trailing_slash || t->n_segments);
}

static void check_again(const kc__target *t, kc_arena *arena)
{
    kc__target again;
    for (size_t i = 0; i < t->path.n; i++)
        if (memchr("%?# ", t->path.p[i], 4))
            return;
    assert(kc__target_parse(t->path, NULL, arena, &again, NULL) == 0);
    assert(kc_str_eq(again.path, t->path));
    assert(again.n_segments == t->n_segments && again.trailing_slash == t->trailing_slash);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    kc_scoped(kc_arena) arena = {0};
    kc_scoped(kc_error) err = {0};
    kc__target target;
    kc_str raw = kc_str_of((const char *)data, size);
    if (kc__target_parse(raw, NULL, &arena, &target, &err) < 0) {
        assert(err.code == 400 || err.code == 413);
        return 0;
    }
    assert(kc_str_eq(target.raw, raw));
    check_path(&target);
    check_again(&target, &arena);
    return 0;
}
