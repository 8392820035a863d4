/* SPDX-License-Identifier: Apache-2.0 */
/*
 * path_parse.c: parses text into the steps of a path.
 *
 *     path  = [ "." ] [ first ] { step }
 *     first = name | bracket
 *     step  = "." name | bracket
 *     bracket = "[" digits "]" | "['" … "']" | '["' … '"]'
 *
 * A name ends at a dot or a bracket. Likely mistakes are rejected with the correct syntax: an empty
 * name, a quote or a closing bracket in a bare name, a star (which belongs to JSONPath).
 */
#include "kc/ascii.h"
#include "object/path/path_internal.h"

void kc__path_parser_done(kc__path_parser *parser)
{
    kc_arena_done(&parser->arena);
    kc_vec_done(&parser->steps);
}

static bool at_end(const kc__path_parser *p)
{
    return p->at == p->text.n;
}

/* The current byte; NUL at the end, which no rule accepts. */
static char path_parse_now(const kc__path_parser *p)
{
    return at_end(p) ? '\0' : p->text.p[p->at];
}

static bool path_parse_skip(kc__path_parser *p, char c)
{
    bool there = !at_end(p) && path_parse_now(p) == c;
    p->at += there;
    return there;
}

static int path_parse_fail(const kc__path_parser *p, const char *why, kc_error *err)
{
    return kc_error_set(err, KC_BAD_REQUEST, "at character %zu: %s", p->at + 1, why);
}

static int push(kc__path_parser *p, kc_path_step step, kc_error *err)
{
    if (p->steps.n == KC_PATH_MAX_STEPS)
        return kc_error_set(err, KC_BAD_REQUEST, "a path may have at most %zu steps",
                            KC_PATH_MAX_STEPS);
    kc_vec_push(&p->steps, step);
    return 0;
}

static int push_name(kc__path_parser *p, const kc_buf *name, kc_error *err)
{
    /* Never NULL, not even for an empty name: NULL marks an index. */
    char *copy = kc_arena_strndup(&p->arena, name->n ? name->p : "", name->n);
    return push(p, (kc_path_step){.name = kc_str_of(copy, name->n)}, err);
}

/* The reason why a character may not be in a bare name, or NULL. */
static const char *not_bare(unsigned char c)
{
    if (c == ']' || c == '\'' || c == '"')
        return "a name with quotes or brackets must be quoted: ['…']";
    if (c == '*')
        return "a path names one value and has no wildcards; a name with a star must be quoted: "
               "['*']";
    if (c <= ' ' || c == 0x7f)
        return "a name with spaces or control characters must be quoted: ['…']";
    return NULL;
}

static int parse_bare(kc__path_parser *p, kc_error *err)
{
    kc_scoped(kc_buf) name = {0};
    while (!at_end(p) && path_parse_now(p) != '.' && path_parse_now(p) != '[') {
        bool escaped = path_parse_skip(p, '\\');
        if (escaped && at_end(p))
            return path_parse_fail(p, "a character must follow the backslash", err);
        const char *why = escaped ? NULL : not_bare((unsigned char)path_parse_now(p));
        if (why)
            return path_parse_fail(p, why, err);
        kc_buf_putc(&name, path_parse_now(p));
        p->at++;
    }
    if (!name.n)
        return path_parse_fail(p, "expected a name", err);
    return push_name(p, &name, err);
}

static void put_utf8(kc_buf *out, unsigned c)
{
    if (c < 0x80) {
        kc_buf_putc(out, (char)c);
    } else if (c < 0x800) {
        kc_buf_putc(out, (char)(0xC0 | c >> 6));
        kc_buf_putc(out, (char)(0x80 | (c & 0x3F)));
    } else {
        kc_buf_putc(out, (char)(0xE0 | c >> 12));
        kc_buf_putc(out, (char)(0x80 | (c >> 6 & 0x3F)));
        kc_buf_putc(out, (char)(0x80 | (c & 0x3F)));
    }
}

/* Decodes the four digits of \uXXXX. Characters beyond U+FFFF can be written directly, so
 * surrogates are rejected. */
static int parse_unicode(kc__path_parser *p, kc_buf *name, kc_error *err)
{
    unsigned c = 0;
    for (int i = 0; i < 4; i++, p->at++) {
        int digit = kc_hex_value(path_parse_now(p));
        if (digit < 0)
            return path_parse_fail(p, "\\u needs four hexadecimal digits", err);
        c = c * 16 + (unsigned)digit;
    }
    if (c == 0 || (c >= 0xD800 && c <= 0xDFFF))
        return path_parse_fail(p, "\\u must not encode NUL or a surrogate", err);
    put_utf8(name, c);
    return 0;
}

static int parse_escape(kc__path_parser *p, kc_buf *name, kc_error *err)
{
    static const char from[] = "bfnrt'\"\\/", to[] = "\b\f\n\r\t'\"\\/";
    if (path_parse_skip(p, 'u'))
        return parse_unicode(p, name, err);
    const char *found = at_end(p) || !path_parse_now(p) ? NULL : strchr(from, path_parse_now(p));
    if (!found)
        return path_parse_fail(p, "unknown escape", err);
    kc_buf_putc(name, to[found - from]);
    p->at++;
    return 0;
}

static int parse_quoted(kc__path_parser *p, char quote, kc_error *err)
{
    kc_scoped(kc_buf) name = {0};
    while (!path_parse_skip(p, quote)) {
        if (at_end(p))
            return path_parse_fail(p, "the quote is not closed", err);
        if (path_parse_skip(p, '\\')) {
            int failed = parse_escape(p, &name, err);
            if (failed)
                return failed;
            continue;
        }
        kc_buf_putc(&name, path_parse_now(p));
        p->at++;
    }
    return push_name(p, &name, err);
}

static int parse_index(kc__path_parser *p, kc_error *err)
{
    size_t from = p->at;
    uint64_t index;
    while (path_parse_now(p) >= '0' && path_parse_now(p) <= '9')
        p->at++;
    if (p->at == from)
        return path_parse_fail(p, "expected an index or a quoted name", err);
    if (!kc_str_to_u64(kc_str_sub(p->text, from, p->at), &index) || index > UINT32_MAX)
        return path_parse_fail(p, "the index is too large", err);
    return push(p, (kc_path_step){.index = (size_t)index}, err);
}

/* After the opening bracket. */
static int parse_bracket(kc__path_parser *p, kc_error *err)
{
    int failed;
    if (path_parse_skip(p, '\''))
        failed = parse_quoted(p, '\'', err);
    else if (path_parse_skip(p, '"'))
        failed = parse_quoted(p, '"', err);
    else
        failed = parse_index(p, err);
    if (!failed && !path_parse_skip(p, ']'))
        failed = path_parse_fail(p, "expected ']'", err);
    return failed;
}

int kc__path_parse(kc__path_parser *p, kc_error *err)
{
    int failed = 0;
    if (p->text.n > KC_PATH_MAX_BYTES)
        return kc_error_set(err, KC_BAD_REQUEST, "a path may have at most %zu bytes",
                            KC_PATH_MAX_BYTES);
    if (kc_str_find(p->text, '\0') >= 0)
        return kc_error_set(err, KC_BAD_REQUEST, "a path must not contain NUL bytes");
    if (path_parse_skip(p, '.') && at_end(p))
        return 0;
    if (!at_end(p) && path_parse_now(p) != '[')
        failed = parse_bare(p, err);
    while (!failed && !at_end(p)) {
        if (path_parse_skip(p, '['))
            failed = parse_bracket(p, err);
        else if (path_parse_skip(p, '.'))
            failed = parse_bare(p, err);
        else
            failed = path_parse_fail(p, "expected '.' or '['", err);
    }
    return failed;
}
