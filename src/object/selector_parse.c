/* SPDX-License-Identifier: Apache-2.0 */
/*
 * selector_parse.c: the text of a label selector to requirements.
 *
 *     selector    = [ requirement { "," requirement } ]
 *     requirement = [ "!" ] key | key ( "=" | "==" | "!=" | ">" | "<" ) [ value ]
 *                 | key ( "in" | "notin" ) "(" [ value ] { "," [ value ] } ")"
 *
 * One token is looked ahead. "in" and "notin" are operators only behind a key; anywhere else they
 * are words as any other. What is accepted and the messages are those of apimachinery's parser, its
 * oddities included: "(a,,b)" holds the empty value, "a in ()" compares with the empty value.
 */
#include "object/selector_internal.h"

typedef enum token {
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
} token;

static const struct sign {
    const char *text;
    token token;
} signs[] = {
    {"==", TOKEN_DOUBLE_EQUALS}, {"!=", TOKEN_NOT_EQUALS}, {"=", TOKEN_EQUALS}, {"!", TOKEN_NOT},
    {">", TOKEN_GREATER},        {"<", TOKEN_LESS},        {",", TOKEN_COMMA},  {"(", TOKEN_OPEN},
    {")", TOKEN_CLOSE},
};

typedef struct parser {
    kc_str rest; /* Behind the current token. */
    token now;   /* The current token… */
    kc_str lit;  /* …and its text. */
    kc_arena arena;
    kc__requirements requirements;
    KC_VEC(kc_str) values; /* Of the requirement being read. */
} parser;

static void parser_done(parser *p)
{
    kc_arena_done(&p->arena);
    kc_vec_done(&p->requirements);
    kc_vec_done(&p->values);
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool ends_word(char c)
{
    return is_space(c) || strchr("=!(),><", c);
}

static void take(parser *p, token what, size_t n)
{
    p->now = what;
    p->lit = kc_str_sub(p->rest, 0, n);
    p->rest = kc_str_sub(p->rest, n, p->rest.n);
}

/* Makes the next token the current one. */
static void advance(parser *p)
{
    while (p->rest.n && is_space(p->rest.p[0]))
        p->rest = kc_str_sub(p->rest, 1, p->rest.n);
    if (!p->rest.n) {
        take(p, TOKEN_END, 0);
        return;
    }
    for (size_t i = 0; i < KC_COUNT(signs); i++) {
        if (kc_str_starts(p->rest, kc_cstr(signs[i].text))) {
            take(p, signs[i].token, strlen(signs[i].text));
            return;
        }
    }
    size_t n = 0;
    while (n < p->rest.n && !ends_word(p->rest.p[n]))
        n++;
    take(p, TOKEN_WORD, n);
}

/* "found 'x', expected: …" */
static int expected(const parser *p, const char *what, kc_error *err)
{
    return kc_error_set(err, KC_BAD_REQUEST, "found '%.*s'%s", KC_ARG(p->lit), what);
}

static int parse_key(parser *p, kc_str *ret, kc_error *err)
{
    kc_scoped(kc_buf) problems = {0};
    kc_scoped(kc_buf) quoted = {0};
    if (p->now != TOKEN_WORD)
        return expected(p, ", expected: identifier", err);
    if (!kc__check_label_key(p->lit, &problems)) {
        kc_json_quote(&quoted, p->lit);
        return kc_error_set(err, KC_BAD_REQUEST, "<nil>: Invalid value: %s: %s",
                            kc_buf_cstr(&quoted), kc_buf_cstr(&problems));
    }
    *ret = p->lit;
    advance(p);
    return 0;
}

static int parse_op(parser *p, kc_selector_op *ret, kc_error *err)
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
    advance(p);
    return 0;
}

static void add_value(parser *p, kc_str value)
{
    kc_vec_push(&p->values, value);
}

static int parse_exact_value(parser *p, kc_error *err)
{
    if (p->now == TOKEN_END || p->now == TOKEN_COMMA) {
        add_value(p, KC_STR(""));
        return 0;
    }
    if (p->now != TOKEN_WORD)
        return expected(p, ", expected: identifier", err);
    add_value(p, p->lit);
    advance(p);
    return 0;
}

/* Behind a comma of a list: what lies between it and the next comma or the end may be empty. */
static void parse_list_comma(parser *p)
{
    if (!p->values.n)
        add_value(p, KC_STR(""));
    if (p->now == TOKEN_CLOSE || p->now == TOKEN_COMMA)
        add_value(p, KC_STR(""));
    if (p->now == TOKEN_COMMA)
        advance(p);
}

/* Up to the closing parenthesis, which stays current. */
static int parse_list(parser *p, kc_error *err)
{
    do {
        if (p->now == TOKEN_WORD) {
            add_value(p, p->lit);
            advance(p);
            if (p->now != TOKEN_COMMA && p->now != TOKEN_CLOSE)
                return expected(p, ", expected: ',' or ')'", err);
        } else if (p->now == TOKEN_COMMA) {
            advance(p);
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

static int parse_set(parser *p, kc_error *err)
{
    int failed = 0;
    if (p->now != TOKEN_OPEN)
        return expected(p, " expected: '('", err);
    advance(p);
    if (p->now == TOKEN_CLOSE)
        add_value(p, KC_STR(""));
    else if (p->now == TOKEN_WORD || p->now == TOKEN_COMMA)
        failed = parse_list(p, err);
    else
        failed = expected(p, ", expected: ',', ')' or identifier", err);
    if (!failed)
        advance(p);
    return failed;
}

/* Checks the requirement and keeps it, with its values in the arena. */
static int finish(parser *p, kc_requirement *r, kc_error *err)
{
    kc_str *values = kc_arena_alloc(&p->arena, (p->values.n + 1) * sizeof(*values));
    r->n_values = p->values.n;
    kc_vec_each (&p->values, value)
        values[value - p->values.items] = *value;
    kc__sort_values(values, &r->n_values, true);
    r->values = values;
    kc_vec_push(&p->requirements, *r);
    return kc__check_requirement(r, err);
}

static int parse_requirement(parser *p, kc_error *err)
{
    kc_requirement r = {.op = KC_SELECT_EXISTS};
    kc_vec_clear(&p->values);
    if (p->now == TOKEN_NOT) {
        r.op = KC_SELECT_DOES_NOT_EXIST;
        advance(p);
    }
    int failed = parse_key(p, &r.key, err);
    if (failed)
        return failed;
    bool alone = r.op == KC_SELECT_DOES_NOT_EXIST || p->now == TOKEN_END || p->now == TOKEN_COMMA;
    if (alone)
        return finish(p, &r, err);
    failed = parse_op(p, &r.op, err);
    if (!failed && (r.op == KC_SELECT_IN || r.op == KC_SELECT_NOT_IN))
        failed = parse_set(p, err);
    else if (!failed)
        failed = parse_exact_value(p, err);
    return failed ? failed : finish(p, &r, err);
}

static int parse(parser *p, kc_error *err)
{
    advance(p);
    while (p->now != TOKEN_END) {
        if (p->now != TOKEN_WORD && p->now != TOKEN_NOT)
            return expected(p, ", expected: !, identifier, or 'end of string'", err);
        if (parse_requirement(p, err) < 0)
            return kc_error_wrap(err, "unable to parse requirement");
        if (p->now == TOKEN_END)
            break;
        if (p->now != TOKEN_COMMA)
            return expected(p, ", expected: ',' or 'end of string'", err);
        advance(p);
        if (p->now != TOKEN_WORD && p->now != TOKEN_NOT)
            return expected(p, ", expected: identifier after ','", err);
    }
    return 0;
}

static int check_text(kc_str text, kc_error *err)
{
    if (text.n > KC_SELECTOR_MAX_BYTES)
        return kc_error_set(err, KC_BAD_REQUEST, "a label selector may have at most %zu bytes",
                            KC_SELECTOR_MAX_BYTES);
    if (kc_str_find(text, '\0') >= 0)
        return kc_error_set(err, KC_BAD_REQUEST, "a label selector may not hold NUL bytes");
    return 0;
}

kc_selector *kc_selector_parse(kc_str text, kc_error *err)
{
    kc_scoped(parser) p = {.rest = text};
    if (check_text(text, err) < 0 || parse(&p, err) < 0)
        return NULL;
    return kc__selector_make(p.requirements.items, p.requirements.n);
}
