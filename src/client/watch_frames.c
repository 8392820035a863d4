/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch_frames.c: lines, and the two members of each.
 *
 * The object is found, not parsed: kc_object_parse is the one to look at every byte of it. Each
 * byte is searched for a line's end once, however small the pieces are in which it comes.
 */
#include "client/watch_frames.h"

#include "client/json_walk.h"
#include "kc/json.h"

/* Type and brackets around an object. */
#define AROUND 4096
/* Memory beyond this is given back when nothing is in it. */
#define KEEP ((size_t)1 << 20)

void kc__frames_done(kc__frames *f)
{
    kc_buf_done(&f->buf);
    f->at = f->scanned = 0;
}

static void forget_given(kc__frames *f)
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

static size_t max_line(const kc__frames *f)
{
    return f->max_line ? f->max_line : KC_JSON_MAX_BYTES + AROUND;
}

void kc__frames_feed(kc__frames *f, kc_str bytes)
{
    forget_given(f);
    kc_buf_append(&f->buf, bytes);
}

bool kc__frames_pending(const kc__frames *f)
{
    return f->at < f->buf.n && kc_str_trim(kc_str_of(f->buf.p + f->at, f->buf.n - f->at)).n > 0;
}

/* 1 and a line; 0 when its end has not come. */
static int next_line(kc__frames *f, kc_str *ret, kc_error *err)
{
    const char *end =
        f->scanned < f->buf.n ? memchr(f->buf.p + f->scanned, '\n', f->buf.n - f->scanned) : NULL;
    const size_t n = (end ? (size_t)(end - f->buf.p) : f->buf.n) - f->at;
    if (n > max_line(f))
        return kc_error_set(err, KC_TOO_LARGE, "an event of the watch is larger than %zu bytes",
                            max_line(f));
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
    return kc_error_set(err, KC_INTERNAL, "the server sent what is no event: %.*s",
                        KC_ARG(kc_str_sub(line, 0, 80)));
}

/* The value that begins here; an empty slice when it does not end. */
static kc_str value_at(kc_str text)
{
    kc__skip skip = {0};
    bool done;
    const size_t n = kc__skip_value(&skip, text, &done);
    return done ? kc_str_sub(text, 0, n) : (kc_str){0};
}

static int parse(kc_str line, kc__frame *ret, kc_error *err)
{
    kc__frame frame = {0};
    kc__walk walk = {0};
    kc__walk_at at;
    kc_str rest = line;
    size_t used;
    while ((at = kc__walk_on(&walk, rest, &used)) == KC__WALK_VALUE) {
        rest = kc_str_sub(rest, used, rest.n);
        const kc_str value = value_at(rest), key = kc__walk_key(&walk);
        if (!value.n)
            return no_event(line, err);
        if (kc_str_is(key, "type") && value.p[0] == '"')
            frame.type = kc_str_sub(value, 1, value.n - 1);
        else if (kc_str_is(key, "object") && value.p[0] == '{')
            frame.object = value;
        rest = kc_str_sub(rest, value.n, rest.n);
        kc__walk_skipped(&walk);
    }
    rest = kc_str_sub(rest, used, rest.n);
    if (at != KC__WALK_END || kc_str_trim(rest).n || !frame.type.n || !frame.object.n)
        return no_event(line, err);
    *ret = frame;
    return 1;
}

int kc__frames_next(kc__frames *f, kc__frame *ret, kc_error *err)
{
    kc_str line;
    int r;
    while ((r = next_line(f, &line, err)) > 0)
        if (kc_str_trim(line).n)
            return parse(line, ret, err);
    return r;
}
