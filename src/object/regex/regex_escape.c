/* SPDX-License-Identifier: Apache-2.0 */
/*
 * regex_escape.c: escape sequences and character classes of a pattern.
 *
 * An escape stands for one code point (\n, \x{10FFFF}, \123, \.) or for a class (\d, \pL). Both may
 * occur alone and inside brackets; brackets add ranges and [:alpha:].
 */
#include "object/regex/regex_parse_internal.h"

#include "kc/ascii.h"
#include "kc/utf8.h"

#include <limits.h>

static bool is_octal(char c)
{
    return c >= '0' && c <= '7';
}

static bool fail_escape(kc__regex_parser *p, const char *from, const char *to)
{
    return kc__regex_fail(p, "invalid escape sequence", from, to);
}

/* Up to three octal digits at `at`. */
static void parse_octal(kc__regex_parser *p, const char *at, uint32_t *ret)
{
    uint32_t code = 0;
    for (int i = 0; i < 3 && at < p->end && is_octal(*at); i++, at++)
        code = code * 8 + (uint32_t)(*at - '0');
    p->at = at;
    *ret = code;
}

/* \xFF or \x{10FFFF}; `at` is behind the x. */
static bool parse_hex(kc__regex_parser *p, const char *at, uint32_t *ret)
{
    const char *from = p->at;
    bool braces = at < p->end && *at == '{', closed = false;
    uint32_t code = 0;
    int digits = 0, wrong = 0;
    for (at += braces; at < p->end && !closed && digits + wrong < (braces ? INT_MAX : 2);
         at += kc__regex_step(p, at)) {
        closed = braces && *at == '}';
        if (closed)
            continue;
        bool hex = kc_is_hex(*at);
        code = hex ? code * 16 + (uint32_t)kc_hex_value(*at) : code;
        digits += hex;
        wrong += !hex;
        if (braces && (!hex || code > KC__REGEX_RUNE_MAX))
            return fail_escape(p, from, at + kc__regex_step(p, at));
    }
    if (braces ? !closed || !digits : digits < 2)
        return fail_escape(p, from, at);
    p->at = at;
    *ret = code;
    return true;
}

/* An escape that stands for one code point. */
static bool parse_escaped_rune(kc__regex_parser *p, uint32_t *ret)
{
    static const char letters[] = "afnrtv", meanings[] = "\a\f\n\r\t\v";
    const char *from = p->at, *at = from + 1;
    if (at == p->end)
        return kc__regex_fail(p, "trailing backslash at end of expression", at, at);
    const char *letter = *at ? strchr(letters, *at) : NULL;
    bool octal = *at == '0' || (is_octal(*at) && at + 1 < p->end && is_octal(at[1]));
    if (octal) {
        parse_octal(p, at, ret);
        return true;
    }
    if (*at == 'x')
        return parse_hex(p, at + 1, ret);
    if (letter)
        *ret = (unsigned char)meanings[letter - letters];
    else if (!kc_is_alnum(*at) && (unsigned char)*at < 0x80)
        *ret = (unsigned char)*at;
    else
        return fail_escape(p, from, at + kc__regex_step(p, at));
    p->at = at + 1;
    return true;
}

static bool fail_class(kc__regex_parser *p, const char *from, const char *to)
{
    return kc__regex_fail(p, "invalid character class range", from, to);
}

/* \pL, \p{Greek}, \P{^Lu}. */
static bool parse_property(kc__regex_parser *p)
{
    const char *from = p->at, *name = from + 2;
    if (name == p->end)
        return fail_class(p, from, name);
    const char *name_end = name + kc__regex_step(p, name), *after = name_end;
    if (*name == '{') {
        const char *close = memchr(name, '}', (size_t)(p->end - name));
        if (!close)
            return fail_class(p, from, p->end);
        name++;
        name_end = close;
        after = close + 1;
    }
    bool caret = name < name_end && *name == '^';
    name += caret;
    bool negated = (from[1] == 'P') != caret;
    kc_str text = kc_str_of(name, (size_t)(name_end - name));
    if (!kc__regex_set_add_property(&p->set, text, negated, p->flags & KC__REGEX_FOLD))
        return fail_class(p, from, after);
    p->at = after;
    return true;
}

typedef enum class_part { NOT_A_CLASS, CLASS_ADDED, CLASS_INVALID } class_part;

/* Adds \d, \pL and similar to the set. */
static class_part parse_class_escape(kc__regex_parser *p)
{
    char c = p->at + 1 < p->end ? p->at[1] : 0;
    if (c == 'p' || c == 'P')
        return parse_property(p) ? CLASS_ADDED : CLASS_INVALID;
    if (!kc__regex_set_add_perl(&p->set, c, p->flags & KC__REGEX_FOLD))
        return NOT_A_CLASS;
    p->at += 2;
    return CLASS_ADDED;
}

bool kc__regex_parse_escape(kc__regex_parser *p)
{
    uint32_t code = 0;
    class_part part = parse_class_escape(p);
    if (part == CLASS_ADDED)
        kc__regex_push_set(p, &p->set);
    if (part != NOT_A_CLASS)
        return part == CLASS_ADDED;
    if (!parse_escaped_rune(p, &code))
        return false;
    kc__regex_push_literal(p, code);
    return true;
}

/* ---- classes in brackets ---- */

static bool parse_class_rune(kc__regex_parser *p, const char *class_start, uint32_t *ret)
{
    if (p->at == p->end)
        return kc__regex_fail(p, "missing closing ]", class_start, p->end);
    if (*p->at == '\\')
        return parse_escaped_rune(p, ret);
    p->at += kc_utf8_next(kc_str_of(p->at, (size_t)(p->end - p->at)), ret);
    return true;
}

static bool parse_class_range(kc__regex_parser *p, const char *class_start)
{
    const char *from = p->at;
    uint32_t lo = 0, hi;
    if (!parse_class_rune(p, class_start, &lo))
        return false;
    hi = lo;
    if (p->end - p->at >= 2 && p->at[0] == '-' && p->at[1] != ']') {
        p->at++;
        if (!parse_class_rune(p, class_start, &hi))
            return false;
        if (hi < lo)
            return fail_class(p, from, p->at);
    }
    if (p->flags & KC__REGEX_FOLD)
        kc__regex_set_add_folded(&p->set, lo, hi);
    else
        kc__regex_set_add(&p->set, lo, hi);
    return true;
}

/* [:alpha:]. */
static class_part parse_posix(kc__regex_parser *p)
{
    const char *from = p->at;
    if (p->end - from < 3 || from[0] != '[' || from[1] != ':')
        return NOT_A_CLASS;
    const char *close = memmem(from + 2, (size_t)(p->end - from - 2), ":]", 2);
    if (!close)
        return NOT_A_CLASS;
    kc_str name = kc_str_of(from + 2, (size_t)(close - from - 2));
    if (!kc__regex_set_add_posix(&p->set, name, p->flags & KC__REGEX_FOLD)) {
        fail_class(p, from, close + 2);
        return CLASS_INVALID;
    }
    p->at = close + 2;
    return CLASS_ADDED;
}

static bool parse_class_item(kc__regex_parser *p, const char *class_start)
{
    class_part part = *p->at == '\\' ? parse_class_escape(p) : parse_posix(p);
    return part == NOT_A_CLASS ? parse_class_range(p, class_start) : part == CLASS_ADDED;
}

bool kc__regex_parse_class(kc__regex_parser *p)
{
    const char *start = p->at++;
    bool negated = p->at < p->end && *p->at == '^';
    p->at += negated;
    for (bool first = true; p->at == p->end || *p->at != ']' || first; first = false) {
        if (p->at == p->end)
            return kc__regex_fail(p, "missing closing ]", start, p->end);
        if (!parse_class_item(p, start))
            return false;
    }
    p->at++;
    if (negated) {
        kc__regex_set_normalize(&p->set);
        kc__regex_set_negate(&p->set);
    }
    kc__regex_push_set(p, &p->set);
    return true;
}
