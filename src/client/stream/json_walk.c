/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_walk.c: a small state machine over the bytes of a JSON object.
 *
 *     { "kind" : "PodList" , "items" : [ … ] }
 *     │ │      │ │         │
 *     │ key    │ value     comma
 *     start    colon
 *
 * Strings make up most of the text, and within them only a quote or a backslash is significant: the
 * search for those covers many bytes at a time.
 */
#include "client/stream/json_walk.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* Returns the offset of the next quote or backslash from i on, or n. */
static inline size_t find_special(const char *p, size_t i, size_t n)
{
#ifdef __SSE2__
    const __m128i quote = _mm_set1_epi8('"'), backslash = _mm_set1_epi8('\\');
    for (; i + 16 <= n; i += 16) {
        const __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(p + i));
        const __m128i special =
            _mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, backslash));
        const unsigned bits = (unsigned)_mm_movemask_epi8(special);
        if (bits)
            return i + (size_t)__builtin_ctz(bits);
    }
#endif
    while (i < n && p[i] != '"' && p[i] != '\\')
        i++;
    return i;
}

/* Inside a string, from i on: skips up to and including its closing quote, or all bytes. */
static inline size_t skip_string(kc__stream_skip *s, const char *p, size_t i, size_t n)
{
    if (s->escaped && i < n) {
        s->escaped = false;
        i++;
    }
    while ((i = find_special(p, i, n)) < n && p[i] == '\\') {
        s->escaped = i + 1 == n;
        i = KC_MIN(i + 2, n);
    }
    s->in_string = i == n;
    return i == n ? n : i + 1;
}

static bool ends_scalar(char c)
{
    return c == ',' || c == '}' || c == ']' || kc__stream_is_json_space(c);
}

static size_t skip_scalar(kc__stream_skip *s, const char *p, size_t n, bool *ret_done)
{
    size_t i = 0;
    while (i < n && !ends_scalar(p[i]))
        i++;
    /* A value has at least one byte: a scalar without any would never end. */
    s->scalar = true;
    *ret_done = i < n;
    return i;
}

/* Skips up to the end of the outermost open bracket or string, or all bytes. */
static size_t skip_nested(kc__stream_skip *s, const char *p, size_t n)
{
    size_t i = 0, depth = s->depth;
    do {
        if (s->in_string) {
            i = skip_string(s, p, i, n);
            continue;
        }
        const char c = p[i++];
        if (c == '"')
            s->in_string = true;
        else if (c == '{' || c == '[')
            depth++;
        else if (c == '}' || c == ']')
            depth--;
    } while (i < n && (depth > 0 || s->in_string));
    s->depth = depth;
    return i;
}

size_t kc__stream_skip_value(kc__stream_skip *s, kc_str bytes, bool *ret_done)
{
    *ret_done = false;
    if (!bytes.n)
        return 0;
    if (s->scalar || (!s->started && !memchr("{[\"", bytes.p[0], 3)))
        return skip_scalar(s, bytes.p, bytes.n, ret_done);
    s->started = true;
    const size_t n = skip_nested(s, bytes.p, bytes.n);
    *ret_done = !s->in_string && s->depth == 0;
    return n;
}

/* ---- members ---- */

static void begin_key(kc__stream_walk *w)
{
    w->state = KC__STREAM_WALK_IN_KEY;
    w->key_n = 0;
    w->plain = true;
    w->escaped = false;
}

static void add_to_key(kc__stream_walk *w, char c)
{
    if (c == '"' && !w->escaped) {
        w->state = KC__STREAM_WALK_AT_COLON;
        return;
    }
    w->escaped = c == '\\' && !w->escaped;
    if (w->escaped || w->key_n == KC__STREAM_WALK_KEY)
        w->plain = false;
    else
        w->key[w->key_n++] = c;
}

/* Processes a byte outside of values and names. Returns false if it is not allowed here. */
static bool json_walk_step(kc__stream_walk *w, char c)
{
    switch (w->state) {
    case KC__STREAM_WALK_AT_START: w->state = KC__STREAM_WALK_AT_FIRST; return c == '{';
    case KC__STREAM_WALK_AT_FIRST:
    case KC__STREAM_WALK_AT_KEY:
        if (c == '}' && w->state == KC__STREAM_WALK_AT_FIRST) {
            w->state = KC__STREAM_WALK_AT_END;
            return true;
        }
        begin_key(w);
        return c == '"';
    case KC__STREAM_WALK_AT_COLON:
        w->state = KC__STREAM_WALK_AT_VALUE;
        w->reported = false;
        return c == ':';
    case KC__STREAM_WALK_AT_COMMA:
        w->state = c == '}' ? KC__STREAM_WALK_AT_END : KC__STREAM_WALK_AT_KEY;
        return c == ',' || c == '}';
    default: return false;
    }
}

static size_t over_value(kc__stream_walk *w, kc_str bytes)
{
    bool done;
    if (w->state == KC__STREAM_WALK_AT_VALUE)
        w->skip = (kc__stream_skip){0};
    w->state = KC__STREAM_WALK_IN_VALUE;
    const size_t n = kc__stream_skip_value(&w->skip, bytes, &done);
    if (done)
        w->state = KC__STREAM_WALK_AT_COMMA;
    return n;
}

kc__stream_walk_at kc__stream_walk_next(kc__stream_walk *w, kc_str bytes, size_t *ret_used)
{
    size_t i = 0;
    kc__stream_walk_at at = KC__STREAM_WALK_MORE;
    while (at == KC__STREAM_WALK_MORE && i < bytes.n && w->state != KC__STREAM_WALK_AT_END) {
        const char c = bytes.p[i];
        const bool in_value = w->state == KC__STREAM_WALK_IN_VALUE ||
                              (w->state == KC__STREAM_WALK_AT_VALUE && w->reported);
        if (in_value) {
            i += over_value(w, kc_str_sub(bytes, i, bytes.n));
        } else if (w->state == KC__STREAM_WALK_IN_KEY) {
            add_to_key(w, c);
            i++;
        } else if (kc__stream_is_json_space(c)) {
            i++;
        } else if (w->state == KC__STREAM_WALK_AT_VALUE) {
            w->reported = true;
            at = ends_scalar(c) ? KC__STREAM_WALK_BAD : KC__STREAM_WALK_VALUE;
        } else {
            i++;
            at = json_walk_step(w, c) ? KC__STREAM_WALK_MORE : KC__STREAM_WALK_BAD;
        }
    }
    *ret_used = i;
    return at == KC__STREAM_WALK_MORE && w->state == KC__STREAM_WALK_AT_END ? KC__STREAM_WALK_END
                                                                            : at;
}
