/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pattern_syntax.c: RE2's syntax, checked and rewritten for PCRE2.
 *
 * Both look alike, but what is valid differs (RE2 has no look-around, no back references, no
 * possessive operators), and some of what both accept means different things: \s, \v, $, a{,3}. So
 * a pattern is parsed as Go's regexp/syntax does, with its words for errors, and written anew:
 * every literal escaped, classes spelled out, groups without captures. Nothing of the source
 * reaches PCRE2 unseen.
 *
 * One pass, no tree: `repeatable` says whether a repetition may follow, and a stack of open groups
 * carries the product of nested repetitions, which RE2 limits to 1000.
 */
#include "kc/ascii.h"
#include "kc/utf8.h"
#include "object/object_internal.h"
#include "object/pattern_internal.h"

enum { MOST_GROUPS = 200, MOST_REPEATS = 1000, MAX_RUNE = 0x10FFFF };

typedef struct group {
    size_t at;       /* Where it begins in the output. */
    unsigned factor; /* Largest product of repetitions in it. */
} group;

typedef struct parser {
    kc_str all;
    const char *p, *end;
    kc_buf *out, *why;
    bool repeatable;      /* An atom stands before. */
    bool needs_group;     /* PCRE2 does not repeat it as it is: ^, or a repetition. */
    size_t atom;          /* Where it begins in the output. */
    unsigned factor;      /* Of the atom. */
    const char *repeated; /* The repetition right before, or NULL. */
    kc_str flags;         /* (?i) and the like, read but not yet written: a* may become a(?i)*. */
    size_t n_groups;
    group groups[MOST_GROUPS + 1]; /* [0] is the whole. */
} parser;

static bool fail(parser *s, const char *what, const char *from, const char *to)
{
    kc_buf_printf(s->why, "error parsing regexp: %s: `%.*s`", what,
                  KC_ARG(kc_str_of(from, (size_t)(to - from))));
    return false;
}

static bool fail_all(parser *s, const char *what)
{
    return fail(s, what, s->all.p, s->end);
}

/* Length of the character at p. */
static size_t step(const parser *s, const char *p)
{
    size_t n = kc_utf8_next(kc_str_of(p, (size_t)(s->end - p)), NULL);
    return n ? n : 1;
}

static bool is_word(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

static void begin_atom(parser *s, bool needs_group)
{
    s->atom = s->out->n;
    s->factor = 1;
    s->repeatable = true;
    s->needs_group = needs_group;
}

static void put_rune(parser *s, uint32_t c)
{
    if (c >= 0xD800 && c <= 0xDFFF)
        kc_buf_puts(s->out, "\\x{FFFE}"); /* No text has a surrogate; nor, in practice, this. */
    else
        kc_buf_printf(s->out, "\\x{%X}", c);
}

static void put_literal(parser *s, const char *p, size_t n)
{
    begin_atom(s, false);
    if (n == 1 && !is_word(*p) && *p > ' ' && *p < 0x7F)
        kc_buf_putc(s->out, '\\');
    if (n == 1 && (*p <= ' ' || *p == 0x7F))
        put_rune(s, (unsigned char)*p);
    else
        kc_buf_append(s->out, kc_str_of(p, n));
}

static bool octal_escape(parser *s, const char *p, uint32_t *ret)
{
    const char *from = p;
    uint32_t c = 0;
    while (p < s->end && p < from + 3 && *p >= '0' && *p <= '7')
        c = c * 8 + (uint32_t)(*p++ - '0');
    *ret = c;
    s->p = p;
    return true;
}

static bool hex_escape(parser *s, const char *p, uint32_t *ret)
{
    const char *from = s->p;
    uint32_t c = 0;
    int digits = 0;
    bool braces = p < s->end && *p == '{';
    for (p += braces;
         p < s->end && kc_hex_value(*p) >= 0 && c <= MAX_RUNE && (braces || digits < 2);
         p++, digits++)
        c = c * 16 + (uint32_t)kc_hex_value(*p);
    bool closed = braces ? p < s->end && *p == '}' && digits && c <= MAX_RUNE : digits == 2;
    if (!closed)
        return fail(s, "invalid escape sequence", from, p < s->end ? p + step(s, p) : p);
    s->p = p + braces;
    *ret = c;
    return true;
}

/* A character after a backslash, at s->p. */
static bool escaped_rune(parser *s, uint32_t *ret)
{
    static const char letters[] = "afnrtv", meanings[] = "\a\f\n\r\t\v";
    const char *from = s->p, *p = from + 1;
    if (p == s->end)
        return fail(s, "trailing backslash at end of expression", p, p);
    const char *letter = *p ? strchr(letters, *p) : NULL;
    if (letter)
        *ret = (unsigned char)meanings[letter - letters];
    else if (*p == '0' || (*p >= '1' && *p <= '7' && p + 1 < s->end && p[1] >= '0' && p[1] <= '7'))
        return octal_escape(s, p, ret);
    else if (*p == 'x')
        return hex_escape(s, p + 1, ret);
    else if (!is_word(*p) && (unsigned char)*p < 0x80)
        *ret = (unsigned char)*p;
    else
        return fail(s, "invalid escape sequence", from, p + step(s, p));
    s->p = p + 1;
    return true;
}

/* \p{Greek}, \pL, \P{^Lu}. */
static bool unicode_class(parser *s)
{
    const char *from = s->p, *p = from + 2;
    if (p == s->end)
        return fail(s, "invalid character class range", from, p);
    const char *name = p, *name_end = p + step(s, p), *after = name_end;
    if (*p == '{') {
        const char *close = memchr(p, '}', (size_t)(s->end - p));
        if (!close)
            return fail(s, "invalid character class range", from, s->end);
        name = p + 1;
        name_end = close;
        after = close + 1;
    }
    bool negated = (from[1] == 'P') != (name < name_end && *name == '^');
    name += name < name_end && *name == '^';
    for (const char *c = name; c < name_end; c++)
        if (!is_word(*c) && *c != '_')
            return fail(s, "invalid character class range", from, after);
    if (!kc__pattern_knows_property(kc_str_of(name, (size_t)(name_end - name))))
        return fail(s, "invalid character class range", from, after);
    kc_buf_printf(s->out, "\\%c{%.*s}", negated ? 'P' : 'p', (int)(name_end - name), name);
    s->p = after;
    return true;
}

/* What \d and its like are; RE2's \s has no vertical tab. NULL when it is none. */
static const char *perl_class(const parser *s, bool in_class)
{
    static const struct {
        char letter;
        const char *alone, *in_class;
    } classes[] = {
        {'d', "[0-9]", "0-9"},
        {'D', "[^0-9]", "\\D"},
        {'w', "[0-9A-Za-z_]", "0-9A-Za-z_"},
        {'W', "[^0-9A-Za-z_]", "\\W"},
        {'s', "[\\t\\n\\f\\r\\x20]", "\\t\\n\\f\\r\\x20"},
        {'S', "[^\\t\\n\\f\\r\\x20]", "\\S\\x0B"},
    };
    for (size_t i = 0; i < KC_COUNT(classes) && s->p + 1 < s->end; i++)
        if (s->p[1] == classes[i].letter)
            return in_class ? classes[i].in_class : classes[i].alone;
    return NULL;
}

/* [:alpha:] inside a class. False with s->p unmoved and no error when it is none. */
static bool posix_class(parser *s, bool *ret_bad)
{
    static const char *const names[] = {"alnum", "alpha", "ascii", "blank", "cntrl",
                                        "digit", "graph", "lower", "print", "punct",
                                        "space", "upper", "word",  "xdigit"};
    const char *from = s->p;
    const char *close = memmem(from + 2, (size_t)(s->end - from - 2), ":]", 2);
    if (!close)
        return false;
    kc_str name = kc_str_of(from + 2, (size_t)(close - from - 2));
    kc_str positive = name.n && name.p[0] == '^' ? kc_str_sub(name, 1, name.n) : name;
    for (size_t i = 0; i < KC_COUNT(names); i++) {
        if (kc_str_is(positive, names[i])) {
            kc_buf_printf(s->out, "[:%.*s:]", KC_ARG(name));
            s->p = close + 2;
            return true;
        }
    }
    *ret_bad = true;
    return fail(s, "invalid character class range", from, close + 2);
}

static bool class_rune(parser *s, const char *class_start, uint32_t *ret)
{
    if (s->p == s->end)
        return fail(s, "missing closing ]", class_start, s->end);
    if (*s->p == '\\')
        return escaped_rune(s, ret);
    size_t n = step(s, s->p);
    const unsigned char *p = (const unsigned char *)s->p;
    static const unsigned char first[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
    uint32_t c = n == 1 ? p[0] : p[0] & first[n];
    for (size_t i = 1; i < n; i++)
        c = c << 6 | (p[i] & 0x3F);
    s->p += n;
    *ret = c;
    return true;
}

static bool class_range(parser *s, const char *class_start)
{
    const char *from = s->p;
    uint32_t low, high;
    if (!class_rune(s, class_start, &low))
        return false;
    high = low;
    if (s->end - s->p >= 2 && s->p[0] == '-' && s->p[1] != ']') {
        s->p++;
        if (!class_rune(s, class_start, &high))
            return false;
        if (high < low)
            return fail(s, "invalid character class range", from, s->p);
    }
    put_rune(s, low);
    if (high != low) {
        kc_buf_putc(s->out, '-');
        put_rune(s, high);
    }
    return true;
}

static bool class_item(parser *s, const char *class_start)
{
    bool bad = false;
    if (s->end - s->p > 2 && s->p[0] == '[' && s->p[1] == ':') {
        if (posix_class(s, &bad) || bad)
            return !bad;
    }
    if (s->end - s->p >= 2 && s->p[0] == '\\') {
        const char *perl = perl_class(s, true);
        if (s->p[1] == 'p' || s->p[1] == 'P')
            return unicode_class(s);
        if (perl) {
            kc_buf_puts(s->out, perl);
            s->p += 2;
            return true;
        }
    }
    return class_range(s, class_start);
}

static bool char_class(parser *s)
{
    const char *from = s->p++;
    begin_atom(s, false);
    kc_buf_putc(s->out, '[');
    if (s->p < s->end && *s->p == '^') {
        kc_buf_putc(s->out, '^');
        s->p++;
    }
    bool first = true;
    while (s->p == s->end || *s->p != ']' || first) {
        first = false;
        if (!class_item(s, from))
            return false;
    }
    kc_buf_putc(s->out, ']');
    s->p++;
    return true;
}

/* \Q…\E: all of it is literal. */
static void quoted(parser *s)
{
    const char *p = s->p + 2;
    const char *close = memmem(p, (size_t)(s->end - p), "\\E", 2);
    const char *to = close ? close : s->end;
    for (size_t n; p < to; p += n) {
        n = step(s, p);
        put_literal(s, p, n);
    }
    s->p = close ? close + 2 : s->end;
}

static bool backslash(parser *s)
{
    char next = s->p + 1 < s->end ? s->p[1] : '\0';
    const char *perl = perl_class(s, false);
    uint32_t c;
    if (next && strchr("AbBz", next)) {
        begin_atom(s, true);
        kc_buf_printf(s->out, "\\%c", next);
        s->p += 2;
        return true;
    }
    if (next == 'Q') {
        quoted(s);
        return true;
    }
    if (next == 'p' || next == 'P' || perl)
        begin_atom(s, false);
    if (next == 'p' || next == 'P')
        return unicode_class(s);
    if (perl) {
        kc_buf_puts(s->out, perl);
        s->p += 2;
        return true;
    }
    if (!escaped_rune(s, &c))
        return false;
    begin_atom(s, false);
    put_rune(s, c);
    return true;
}

static bool open_group(parser *s, const char *as, size_t n)
{
    if (s->n_groups == MOST_GROUPS)
        return fail_all(s, "expression nests too deeply");
    s->groups[++s->n_groups] = (group){.at = s->out->n, .factor = 1};
    kc_buf_append(s->out, kc_str_of(as, n));
    s->repeatable = false;
    return true;
}

static bool named_group(parser *s, const char *name)
{
    const char *close = memchr(s->p, '>', (size_t)(s->end - s->p));
    if (!close)
        return fail(s, "invalid named capture", s->p, s->end);
    for (const char *c = name; c < close; c++)
        if (!is_word(*c) && *c != '_')
            return fail(s, "invalid named capture", s->p, close + 1);
    if (name == close)
        return fail(s, "invalid named capture", s->p, close + 1);
    s->p = close + 1;
    return open_group(s, "(?:", 3);
}

static void write_flags(parser *s)
{
    kc_buf_append(s->out, s->flags);
    s->flags = (kc_str){0};
}

/* (?i), (?i-s:, (?:. */
static bool flags(parser *s)
{
    const char *from = s->p, *p = from + 2;
    bool negative = false, saw = false;
    for (; p < s->end; p += step(s, p)) {
        if (strchr("imsU", *p) && *p) {
            saw = true;
        } else if (*p == '-' && !negative) {
            negative = true;
            saw = false;
        } else {
            break;
        }
    }
    if (p == s->end || (*p != ':' && *p != ')') || (negative && !saw))
        return fail(s, "invalid or unsupported Perl syntax", from,
                    p == s->end ? p : p + step(s, p));
    s->p = p + 1;
    if (*p == ':')
        return open_group(s, from, (size_t)(s->p - from));
    if (p > from + 2)
        s->flags = kc_str_of(from, (size_t)(s->p - from));
    return true;
}

static bool left_paren(parser *s)
{
    size_t left = (size_t)(s->end - s->p);
    if (left < 2 || s->p[1] != '?') {
        s->p++;
        return open_group(s, "(?:", 3);
    }
    if (left > 4 && s->p[2] == 'P' && s->p[3] == '<')
        return named_group(s, s->p + 4);
    if (left > 3 && s->p[2] == '<')
        return named_group(s, s->p + 3);
    return flags(s);
}

static bool right_paren(parser *s)
{
    if (!s->n_groups)
        return fail_all(s, "unexpected )");
    group closed = s->groups[s->n_groups--];
    kc_buf_putc(s->out, ')');
    s->p++;
    s->atom = closed.at;
    s->factor = closed.factor;
    s->repeatable = true;
    s->needs_group = false;
    return true;
}

/* A whole number without leading zeros; -1 for one that is too big. */
static bool repeat_number(const parser *s, const char **p, int *ret)
{
    const char *from = *p;
    int n = 0;
    while (*p < s->end && **p >= '0' && **p <= '9') {
        n = n < 0 || n > 100000 ? -1 : n * 10 + (**p - '0');
        (*p)++;
    }
    *ret = n;
    return *p > from && (*from != '0' || *p == from + 1);
}

/* {n}, {n,} or {n,m}; max -1 for no bound, min -1 for numbers that are too big. */
static bool braces(const parser *s, int *ret_min, int *ret_max, const char **ret_after)
{
    const char *p = s->p + 1;
    int min, max;
    if (!repeat_number(s, &p, &min) || p == s->end)
        return false;
    max = min;
    if (*p == ',') {
        p++;
        if (p < s->end && *p == '}')
            max = -1;
        else if (!repeat_number(s, &p, &max))
            return false;
        else if (max < 0)
            min = -1;
    }
    if (p == s->end || *p != '}')
        return false;
    *ret_min = min;
    *ret_max = max;
    *ret_after = p + 1;
    return true;
}

static void put_repeat(parser *s, const char *from, const char *after)
{
    if (s->needs_group) {
        kc_autofree char *atom = kc_strndup(s->out->p + s->atom, s->out->n - s->atom);
        s->out->n = s->atom;
        kc_buf_printf(s->out, "(?:%s)", atom);
    }
    kc_buf_append(s->out, kc_str_of(from, (size_t)(after - from)));
}

static bool repeat(parser *s, int times, const char *after)
{
    const char *from = s->p;
    if (after < s->end && *after == '?')
        after++;
    if (s->repeated)
        return fail(s, "invalid nested repetition operator", s->repeated, after);
    if (!s->repeatable)
        return fail(s, "missing argument to repetition operator", from, after);
    s->factor *= (unsigned)KC_MAX(times, 1);
    if (s->factor > MOST_REPEATS)
        return fail(s, "invalid repeat count", from, after);
    put_repeat(s, from, after);
    s->p = after;
    s->needs_group = true;
    return true;
}

static bool repeat_braces(parser *s)
{
    int min, max;
    const char *after;
    if (!braces(s, &min, &max, &after)) {
        put_literal(s, s->p, 1);
        s->p++;
        return true;
    }
    if (min < 0 || min > MOST_REPEATS || max > MOST_REPEATS || (max >= 0 && min > max))
        return fail(s, "invalid repeat count", s->p, after);
    return repeat(s, max < 0 ? min : max, after);
}

/* ^, $, . and |, which mean the same to PCRE2. */
static bool plain(parser *s)
{
    char c = *s->p++;
    if (c == '|')
        s->repeatable = false;
    else
        begin_atom(s, c != '.');
    kc_buf_putc(s->out, c);
    return true;
}

static bool token(parser *s)
{
    switch (*s->p) {
    case '(': return left_paren(s);
    case ')': return right_paren(s);
    case '[': return char_class(s);
    case '\\': return backslash(s);
    case '{': return repeat_braces(s);
    case '*':
    case '+':
    case '?': return repeat(s, 1, s->p + 1);
    case '|':
    case '^':
    case '$':
    case '.': return plain(s);
    default: break;
    }
    size_t n = step(s, s->p);
    put_literal(s, s->p, n);
    s->p += n;
    return true;
}

/* At s->p stands a repetition. */
static bool is_repetition(const parser *s)
{
    int min, max;
    const char *after;
    char c = *s->p;
    return c == '*' || c == '+' || c == '?' || (c == '{' && braces(s, &min, &max, &after));
}

bool kc__pattern_translate(kc_str source, kc_buf *out, kc_buf *why)
{
    parser s = {.all = source, .p = source.p, .end = source.p + source.n, .out = out, .why = why};
    s.groups[0].factor = 1;
    while (s.p < s.end) {
        const char *repetition = is_repetition(&s) ? s.p : NULL;
        if (!repetition)
            write_flags(&s);
        if (!token(&s))
            return false;
        s.repeated = repetition;
        unsigned *most = &s.groups[s.n_groups].factor;
        *most = KC_MAX(*most, s.repeatable ? s.factor : 1);
    }
    return !s.n_groups || fail_all(&s, "missing closing )");
}
