/* SPDX-License-Identifier: Apache-2.0 */
/*
 * selector_parse.c: parses the text of a label selector into requirements.
 *
 *     selector    = [ requirement { "," requirement } ]
 *     requirement = [ "!" ] key | key ( "=" | "==" | "!=" | ">" | "<" ) [ value ]
 *                 | key ( "in" | "notin" ) "(" [ value ] { "," [ value ] } ")"
 *
 * One token of lookahead. "in" and "notin" are operators only after a key; elsewhere they are
 * ordinary words. Accepted input and messages are those of apimachinery's parser, with its
 * oddities:
 * "(a,,b)" contains the empty value, "a in ()" compares with the empty value.
 */
#include "object/selector/selector_internal.h"

typedef enum selector_parse_token {
    TOKEN_END,
    TOKEN_WORD,
    TOKEN_COMMA,
    TOKEN_OPEN,
    TOKEN_CLOSE,
    TOKEN_NOT,
    TOKEN_EQUALS,
    TOKEN_DOUBLE_EQUALS,
    TOKEN_NOT_EQUALS,
    TOKEN_GREATER,
    TOKEN_LESS,
} selector_parse_token;

static const struct sign {
    const char *text;
    selector_parse_token token;
} signs[] = {
    {"==", TOKEN_DOUBLE_EQUALS}, {"!=", TOKEN_NOT_EQUALS}, {"=", TOKEN_EQUALS}, {"!", TOKEN_NOT},
    {">", TOKEN_GREATER},        {"<", TOKEN_LESS},        {",", TOKEN_COMMA},  {"(", TOKEN_OPEN},
    {")", TOKEN_CLOSE},
};

typedef struct selector_parse_parser {
    kc_str rest;              /* After the current token. */
    selector_parse_token now; /* The current token… */
    kc_str lit;               /* …and its text. */
    kc_arena arena;
    kc__selector_requirements requirements;
    KC_VEC(kc_str) values; /* Of the current requirement. */
} selector_parse_parser;

static void selector_parse_parser_done(selector_parse_parser *p)
{
    kc_arena_done(&p->arena);
    kc_vec_done(&p->requirements);
    kc_vec_done(&p->values);
}

static bool selector_parse_is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool ends_word(char c)
{
    return selector_parse_is_space(c) || strchr("=!(),><", c);
}

static void selector_parse_take(selector_parse_parser *p, selector_parse_token what, size_t n)
{
    p->now = what;
    p->lit = kc_str_sub(p->rest, 0, n);
    p->rest = kc_str_sub(p->rest, n, p->rest.n);
}

/* Advances to the next token. */
static void selector_parse_advance(selector_parse_parser *p)
{
    while (p->rest.n && selector_parse_is_space(p->rest.p[0]))
        p->rest = kc_str_sub(p->rest, 1, p->rest.n);
    if (!p->rest.n) {
        selector_parse_take(p, TOKEN_END, 0);
        return;
    }
    for (size_t i = 0; i < KC_COUNT(signs); i++) {
        if (kc_str_starts(p->rest, kc_cstr(signs[i].text))) {
            selector_parse_take(p, signs[i].token, strlen(signs[i].text));
            return;
        }
    }
    size_t n = 0;
    while (n < p->rest.n && !ends_word(p->rest.p[n]))
        n++;
    selector_parse_take(p, TOKEN_WORD, n);
}

/* "found 'x', expected: …" */
static int expected(const selector_parse_parser *p, const char *what, kc_error *err)
{
    return kc_error_set(err, KC_BAD_REQUEST, "found '%.*s'%s", KC_ARG(p->lit), what);
}

static int parse_key(selector_parse_parser *p, kc_str *ret, kc_error *err)
{
    kc_scoped(kc_buf) problems = {0};
    kc_scoped(kc_buf) quoted = {0};
    if (p->now != TOKEN_WORD)
        return expected(p, ", expected: identifier", err);
    if (!kc__selector_check_key(p->lit, &problems)) {
        kc_json_quote(&quoted, p->lit);
        return kc_error_set(err, KC_BAD_REQUEST, "<nil>: Invalid value: %s: %s",
                            kc_buf_cstr(&quoted), kc_buf_cstr(&problems));
    }
    *ret = p->lit;
    selector_parse_advance(p);
    return 0;
}

static int parse_op(selector_parse_parser *p, kc_selector_op *ret, kc_error *err)
{
    switch (p->now) {
    case TOKEN_EQUALS: *ret = KC_SELECT_EQUALS; break;
    case TOKEN_DOUBLE_EQUALS: *ret = KC_SELECT_DOUBLE_EQUALS; break;
    case TOKEN_NOT_EQUALS: *ret = KC_SELECT_NOT_EQUALS; break;
    case TOKEN_GREATER: *ret = KC_SELECT_GREATER; break;
    case TOKEN_LESS: *ret = KC_SELECT_LESS; break;
    default:
        if (p->now == TOKEN_WORD && kc_str_is(p->lit, "in"))
            *ret = KC_SELECT_IN;
        else if (p->now == TOKEN_WORD && kc_str_is(p->lit, "notin"))
            *ret = KC_SELECT_NOT_IN;
        else
            return expected(p, ", expected: in, notin, =, ==, !=, gt, lt", err);
    }
    selector_parse_advance(p);
    return 0;
}

static void add_value(selector_parse_parser *p, kc_str value)
{
    kc_vec_push(&p->values, value);
}

static int parse_exact_value(selector_parse_parser *p, kc_error *err)
{
    if (p->now == TOKEN_END || p->now == TOKEN_COMMA) {
        add_value(p, KC_STR(""));
        return 0;
    }
    if (p->now != TOKEN_WORD)
        return expected(p, ", expected: identifier", err);
    add_value(p, p->lit);
    selector_parse_advance(p);
    return 0;
}

/* After a comma of a list: the value before the next comma or the end may be empty. */
static void parse_list_comma(selector_parse_parser *p)
{
    if (!p->values.n)
        add_value(p, KC_STR(""));
    if (p->now == TOKEN_CLOSE || p->now == TOKEN_COMMA)
        add_value(p, KC_STR(""));
    if (p->now == TOKEN_COMMA)
        selector_parse_advance(p);
}

/* Up to the closing parenthesis, which stays the current token. */
static int parse_list(selector_parse_parser *p, kc_error *err)
{
    do {
        if (p->now == TOKEN_WORD) {
            add_value(p, p->lit);
            selector_parse_advance(p);
            if (p->now != TOKEN_COMMA && p->now != TOKEN_CLOSE)
                return expected(p, ", expected: ',' or ')'", err);
        } else if (p->now == TOKEN_COMMA) {
            selector_parse_advance(p);
            bool closes = p->now == TOKEN_CLOSE;
            parse_list_comma(p);
            if (!closes && p->now == TOKEN_CLOSE)
                return expected(p, ", expected: ',', or identifier", err);
        } else {
            return expected(p, ", expected: ',', or identifier", err);
        }
    } while (p->now != TOKEN_CLOSE);
    return 0;
}

static int parse_set(selector_parse_parser *p, kc_error *err)
{
    int failed = 0;
    if (p->now != TOKEN_OPEN)
        return expected(p, " expected: '('", err);
    selector_parse_advance(p);
    if (p->now == TOKEN_CLOSE)
        add_value(p, KC_STR(""));
    else if (p->now == TOKEN_WORD || p->now == TOKEN_COMMA)
        failed = parse_list(p, err);
    else
        failed = expected(p, ", expected: ',', ')' or identifier", err);
    if (!failed)
        selector_parse_advance(p);
    return failed;
}

/* Validates the requirement and keeps it, with its values in the arena. */
static int selector_parse_finish(selector_parse_parser *p, kc_requirement *r, kc_error *err)
{
    kc_str *values = kc_arena_alloc(&p->arena, (p->values.n + 1) * sizeof(*values));
    r->n_values = p->values.n;
    kc_vec_each (&p->values, value)
        values[value - p->values.items] = *value;
    kc__selector_sort_values(values, &r->n_values, true);
    r->values = values;
    kc_vec_push(&p->requirements, *r);
    return kc__selector_check_requirement(r, err);
}

static int parse_requirement(selector_parse_parser *p, kc_error *err)
{
    kc_requirement r = {.op = KC_SELECT_EXISTS};
    kc_vec_clear(&p->values);
    if (p->now == TOKEN_NOT) {
        r.op = KC_SELECT_DOES_NOT_EXIST;
        selector_parse_advance(p);
    }
    int failed = parse_key(p, &r.key, err);
    if (failed)
        return failed;
    bool alone = r.op == KC_SELECT_DOES_NOT_EXIST || p->now == TOKEN_END || p->now == TOKEN_COMMA;
    if (alone)
        return selector_parse_finish(p, &r, err);
    failed = parse_op(p, &r.op, err);
    if (!failed && (r.op == KC_SELECT_IN || r.op == KC_SELECT_NOT_IN))
        failed = parse_set(p, err);
    else if (!failed)
        failed = parse_exact_value(p, err);
    return failed ? failed : selector_parse_finish(p, &r, err);
}

static int selector_parse_parse(selector_parse_parser *p, kc_error *err)
{
    selector_parse_advance(p);
    while (p->now != TOKEN_END) {
        if (p->now != TOKEN_WORD && p->now != TOKEN_NOT)
            return expected(p, ", expected: !, identifier, or 'end of string'", err);
        if (parse_requirement(p, err) < 0)
            return kc_error_wrap(err, "unable to parse requirement");
        if (p->now == TOKEN_END)
            break;
        if (p->now != TOKEN_COMMA)
            return expected(p, ", expected: ',' or 'end of string'", err);
        selector_parse_advance(p);
        if (p->now != TOKEN_WORD && p->now != TOKEN_NOT)
            return expected(p, ", expected: identifier after ','", err);
    }
    return 0;
}

static int selector_parse_check_text(kc_str text, kc_error *err)
{
    if (text.n > KC_SELECTOR_MAX_BYTES)
        return kc_error_set(err, KC_BAD_REQUEST, "a label selector may have at most %zu bytes",
                            KC_SELECTOR_MAX_BYTES);
    if (kc_str_find(text, '\0') >= 0)
        return kc_error_set(err, KC_BAD_REQUEST, "a label selector must not contain NUL bytes");
    return 0;
}

kc_selector *kc_selector_parse(kc_str text, kc_error *err)
{
    kc_scoped(selector_parse_parser) p = {.rest = text};
    if (selector_parse_check_text(text, err) < 0 || selector_parse_parse(&p, err) < 0)
        return NULL;
    return kc__selector_make(p.requirements.items, p.requirements.n);
}
