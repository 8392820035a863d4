/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch_frames.c: splits a watch into lines and finds the two members of each.
 *
 * The object is located but not parsed: kc_object_parse reads all of its bytes. Each byte is
 * searched for the end of a line only once, however small the pieces are in which it arrives.
 */
#include "client/stream/watch_frames.h"

#include "client/stream/json_walk.h"
#include "kc/json.h"

/* Space for the type and the brackets around an object. */
#define AROUND 4096
/* An empty buffer larger than this is released. */
#define KEEP ((size_t)1 << 20)

void kc__stream_frames_done(kc__stream_frames *f)
{
    kc_buf_done(&f->buf);
    f->at = f->scanned = 0;
}

static void forget_given(kc__stream_frames *f)
{
    if (f->at < f->buf.n / 2 || !f->at)
        return;
    f->buf.n -= f->at;
    f->scanned -= f->at;
    if (f->buf.n)
        memmove(f->buf.p, f->buf.p + f->at, f->buf.n);
    else if (f->buf.cap > KEEP)
        kc_buf_done(&f->buf);
    f->at = 0;
}

static size_t max_line(const kc__stream_frames *f)
{
    return f->max_line ? f->max_line : KC_JSON_MAX_BYTES + AROUND;
}

void kc__stream_frames_feed(kc__stream_frames *f, kc_str bytes)
{
    forget_given(f);
    kc_buf_append(&f->buf, bytes);
}

bool kc__stream_frames_pending(const kc__stream_frames *f)
{
    return f->at < f->buf.n && kc_str_trim(kc_str_of(f->buf.p + f->at, f->buf.n - f->at)).n > 0;
}

/* Returns 1 and a line, or 0 if its end has not arrived. */
static int watch_frames_next_line(kc__stream_frames *f, kc_str *ret, kc_error *err)
{
    const char *end =
        f->scanned < f->buf.n ? memchr(f->buf.p + f->scanned, '\n', f->buf.n - f->scanned) : NULL;
    const size_t n = (end ? (size_t)(end - f->buf.p) : f->buf.n) - f->at;
    if (n > max_line(f))
        return kc_error_set(err, KC_TOO_LARGE, "a watch event exceeds %zu bytes", max_line(f));
    f->scanned = f->at + n;
    if (!end)
        return 0;
    *ret = kc_str_of(f->buf.p + f->at, n);
    f->at = ++f->scanned;
    return 1;
}

/* ---- a line ---- */

static int no_event(kc_str line, kc_error *err)
{
    return kc_error_set(err, KC_INTERNAL, "not a watch event: %.*s",
                        KC_ARG(kc_str_sub(line, 0, 80)));
}

/* Returns the value that begins here; an empty slice if it does not end. */
static kc_str value_at(kc_str text)
{
    kc__stream_skip skip = {0};
    bool done;
    const size_t n = kc__stream_skip_value(&skip, text, &done);
    return done ? kc_str_sub(text, 0, n) : (kc_str){0};
}

static int watch_frames_parse(kc_str line, kc__stream_frame *ret, kc_error *err)
{
    kc__stream_frame frame = {0};
    kc__stream_walk walk = {0};
    kc__stream_walk_at at;
    kc_str rest = line;
    size_t used;
    while ((at = kc__stream_walk_next(&walk, rest, &used)) == KC__STREAM_WALK_VALUE) {
        rest = kc_str_sub(rest, used, rest.n);
        const kc_str value = value_at(rest), key = kc__stream_walk_key(&walk);
        if (!value.n)
            return no_event(line, err);
        if (kc_str_is(key, "type") && value.p[0] == '"')
            frame.type = kc_str_sub(value, 1, value.n - 1);
        else if (kc_str_is(key, "object") && value.p[0] == '{')
            frame.object = value;
        rest = kc_str_sub(rest, value.n, rest.n);
        kc__stream_walk_skipped(&walk);
    }
    rest = kc_str_sub(rest, used, rest.n);
    if (at != KC__STREAM_WALK_END || kc_str_trim(rest).n || !frame.type.n || !frame.object.n)
        return no_event(line, err);
    *ret = frame;
    return 1;
}

int kc__stream_frames_next(kc__stream_frames *f, kc__stream_frame *ret, kc_error *err)
{
    kc_str line;
    int r;
    while ((r = watch_frames_next_line(f, &line, err)) > 0)
        if (kc_str_trim(line).n)
            return watch_frames_parse(line, ret, err);
    return r;
}
