/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pattern.c: generates a text that matches a pattern.
 *
 * Patterns in APIs are mostly names and versions: literals, classes, groups, repetitions. A walk
 * over such a pattern emits the first of alternatives, one character of a class, the minimum of a
 * repetition (and `more`, if a text must be longer). Anything more complex ends the walk; the
 * caller checks the text anyway.
 *
 *     ^v[0-9]+(alpha|beta)?$   →   v0
 */
#include "generate/sample/sample_value.h"

#include "kc/ascii.h"

enum { MAX_DEPTH = 32, MAX_REPEAT = 256, MAX_TEXT = 4096 };

typedef struct gen_sample_pattern_walk {
    kc_str pattern;
    size_t at, more, nth;
    unsigned depth;
} gen_sample_pattern_walk;

static char peek(const gen_sample_pattern_walk *w)
{
    return w->at < w->pattern.n ? w->pattern.p[w->at] : 0;
}

static bool gen_sample_pattern_take(gen_sample_pattern_walk *w, char c)
{
    if (peek(w) != c || !c)
        return false;
    w->at++;
    return true;
}

/* ---- classes ---- */

/* Bytes of ASCII. */
typedef struct signs {
    bool has[128];
} signs;

static void add_range(signs *set, char from, char to)
{
    for (; from >= 0 && from <= to; from++) {
        set->has[(unsigned char)from] = true;
        if (from == 127)
            break;
    }
}

/* Characters of \d and the like; false for complex ones. */
static bool add_escaped(signs *set, char c)
{
    if (c == 'd' || c == 'w')
        add_range(set, '0', '9');
    if (c == 'w') {
        add_range(set, 'a', 'z');
        add_range(set, 'A', 'Z');
        add_range(set, '_', '_');
    }
    if (c == 's')
        add_range(set, ' ', ' ');
    if (c > 0 && !kc_is_alnum(c))
        add_range(set, c, c);
    return c == 'd' || c == 'w' || c == 's' || (c > 0 && !kc_is_alnum(c));
}

static bool read_class(gen_sample_pattern_walk *w, signs *set)
{
    const bool negated = gen_sample_pattern_take(w, '^');
    for (bool first = true; first || peek(w) != ']'; first = false) {
        const char from = peek(w);
        if (from <= 0 ||
            (from == '[' && w->at + 1 < w->pattern.n && w->pattern.p[w->at + 1] == ':'))
            return false;
        w->at++;
        if (from == '\\') {
            if (!add_escaped(set, peek(w)))
                return false;
            w->at++;
            continue;
        }
        const bool range = peek(w) == '-' && w->at + 1 < w->pattern.n &&
                           w->pattern.p[w->at + 1] != ']' && w->pattern.p[w->at + 1] != '\\';
        add_range(set, from, range ? w->pattern.p[w->at + 1] : from);
        w->at += range ? 2 : 0;
    }
    for (size_t c = 0; negated && c < KC_COUNT(set->has); c++)
        set->has[c] = !set->has[c];
    return gen_sample_pattern_take(w, ']');
}

/* The nth character of a class, readable ones first; 0: it has no printable one. */
static char pick(const signs *set, size_t nth)
{
    static const char order[] = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "-_./:@+=, !#$%&'()*;<>?[]^`{|}~\"\\";
    char found[sizeof(order)];
    size_t n = 0;
    for (size_t i = 0; order[i]; i++)
        if (set->has[(unsigned char)order[i]])
            found[n++] = order[i];
    return n ? found[nth % n] : 0;
}

/* ---- the walk ---- */

static bool walk_choice(gen_sample_pattern_walk *w, kc_buf *out);

static bool walk_set(gen_sample_pattern_walk *w, const signs *set, kc_buf *out)
{
    const char c = pick(set, w->nth);
    if (c)
        kc_buf_putc(out, c);
    return c != 0;
}

static bool walk_group(gen_sample_pattern_walk *w, kc_buf *out)
{
    if (gen_sample_pattern_take(w, '?') && !gen_sample_pattern_take(w, ':'))
        return false;
    if (++w->depth > MAX_DEPTH || !walk_choice(w, out))
        return false;
    w->depth--;
    return gen_sample_pattern_take(w, ')');
}

static bool walk_atom(gen_sample_pattern_walk *w, kc_buf *out)
{
    signs set = {0};
    const char c = peek(w);
    w->at++;
    switch (c) {
    case '^':
    case '$': return true;
    case '(': return walk_group(w, out);
    case '[': return read_class(w, &set) && walk_set(w, &set, out);
    case '.': add_range(&set, 'a', 'z'); return walk_set(w, &set, out);
    case '\\':
        if (!add_escaped(&set, peek(w)))
            return false;
        w->at++;
        return walk_set(w, &set, out);
    case '*':
    case '+':
    case '?':
    case '{': return false;
    default: kc_buf_putc(out, c); return true;
    }
}

static size_t read_count(gen_sample_pattern_walk *w)
{
    size_t n = 0;
    for (; kc_is_digit(peek(w)); w->at++)
        n = KC_MIN(n * 10 + (size_t)(peek(w) - '0'), (size_t)MAX_REPEAT + 1);
    return n;
}

/* The repetition of the preceding item. */
static bool read_repeat(gen_sample_pattern_walk *w, size_t *ret)
{
    size_t least = 1, most = 1;
    if (gen_sample_pattern_take(w, '*')) {
        least = 0;
        most = MAX_REPEAT;
    } else if (gen_sample_pattern_take(w, '+')) {
        most = MAX_REPEAT;
    } else if (gen_sample_pattern_take(w, '?')) {
        least = 0;
    } else if (gen_sample_pattern_take(w, '{')) {
        least = most = read_count(w);
        if (gen_sample_pattern_take(w, ','))
            most = kc_is_digit(peek(w)) ? read_count(w) : MAX_REPEAT;
        if (!gen_sample_pattern_take(w, '}') || least > MAX_REPEAT)
            return false;
    }
    *ret = KC_MIN(least + (most > 1 ? w->more : 0), KC_MAX(least, most));
    gen_sample_pattern_take(w, '?');
    return true;
}

static bool walk_sequence(gen_sample_pattern_walk *w, kc_buf *out)
{
    while (peek(w) && peek(w) != '|' && peek(w) != ')') {
        kc_scoped(kc_buf) one = {.limit = MAX_TEXT};
        size_t n = 1;
        if (!walk_atom(w, &one) || !read_repeat(w, &n) || one.failed)
            return false;
        for (size_t i = 0; i < n; i++)
            kc_buf_append(out, kc_buf_str(&one));
    }
    return !out->failed;
}

static bool walk_choice(gen_sample_pattern_walk *w, kc_buf *out)
{
    bool good = walk_sequence(w, out);
    while (good && gen_sample_pattern_take(w, '|')) {
        kc_scoped(kc_buf) other = {.limit = MAX_TEXT};
        good = walk_sequence(w, &other);
    }
    return good;
}

bool kc__gen_sample_pattern(kc_str pattern, size_t more, size_t nth, kc_buf *out)
{
    gen_sample_pattern_walk w = {.pattern = pattern, .more = more, .nth = nth};
    kc_scoped(kc_buf) text = {.limit = MAX_TEXT};
    if (!walk_choice(&w, &text) || w.at < pattern.n)
        return false;
    kc_buf_append(out, kc_buf_str(&text));
    return true;
}
