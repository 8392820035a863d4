/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lexer.c: tokens of an expression, and the content of string literals.
 *
 * The lexer takes the longest token, as the generated lexer of cel-go does. A character that begins
 * no token is reported as "token recognition error" and skipped. White space and // comments
 * separate tokens.
 */
#include "cel/syntax/syntax_internal.h"

#include "kc/ascii.h"
#include "kc/utf8.h"

static bool is_ident_start(char c)
{
    char lower = kc_lower(c);
    return (lower >= 'a' && lower <= 'z') || c == '_';
}

static bool is_ident_char(char c)
{
    return is_ident_start(c) || kc_is_digit(c);
}

static char char_at(kc_str text, size_t at)
{
    return at < text.n ? text.p[at] : 0;
}

static size_t skip_space(kc_str text, size_t at)
{
    for (; at < text.n; at++) {
        if (text.p[at] == '/' && char_at(text, at + 1) == '/') {
            while (at + 1 < text.n && text.p[at + 1] != '\n')
                at++;
        } else if (!strchr("\t \r\n\f", text.p[at]) || !text.p[at]) {
            break;
        }
    }
    return at;
}

static size_t skip_digits(kc_str text, size_t at)
{
    while (kc_is_digit(char_at(text, at)))
        at++;
    return at;
}

/* Behind an exponent at `at`, or `at` when there is none. */
static size_t skip_exponent(kc_str text, size_t at)
{
    if (kc_lower(char_at(text, at)) != 'e')
        return at;
    size_t digits = at + 1;
    if (char_at(text, digits) == '+' || char_at(text, digits) == '-')
        digits++;
    size_t end = skip_digits(text, digits);
    return end > digits ? end : at;
}

static size_t lex_number(kc_str text, size_t at, kc__cel_token_kind *ret_kind)
{
    *ret_kind = KC__CEL_T_INT;
    size_t end;
    if (char_at(text, at) == '0' && char_at(text, at + 1) == 'x' &&
        kc_is_hex(char_at(text, at + 2))) {
        for (end = at + 2; kc_is_hex(char_at(text, end));)
            end++;
    } else {
        end = skip_digits(text, at);
        size_t whole = end;
        if (char_at(text, end) == '.' && kc_is_digit(char_at(text, end + 1)))
            end = skip_digits(text, end + 1);
        end = skip_exponent(text, end);
        if (end > whole)
            *ret_kind = KC__CEL_T_FLOAT;
    }
    if (*ret_kind == KC__CEL_T_INT && kc_lower(char_at(text, end)) == 'u') {
        *ret_kind = KC__CEL_T_UINT;
        end++;
    }
    return end;
}

/* The length of an escape sequence at `at`; 0 when it is none. */
static size_t escape_length(kc_str text, size_t at)
{
    char c = char_at(text, at + 1);
    if (c && strchr("abfnrtv\"'\\?`", c))
        return 2;
    size_t digits = c == 'x' || c == 'X' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
    for (size_t i = 0; i < digits; i++)
        if (!kc_is_hex(char_at(text, at + 2 + i)))
            return 0;
    if (digits)
        return 2 + digits;
    for (size_t i = 0; i < 3; i++) {
        char d = char_at(text, at + 1 + i);
        if (d < '0' || d > (i ? '7' : '3'))
            return 0;
    }
    return 4;
}

/* The end of a string whose opening quote is at `at`; 0 when it has none. */
static size_t lex_quoted(kc_str text, size_t at, bool raw)
{
    char quote = text.p[at];
    bool triple = char_at(text, at + 1) == quote && char_at(text, at + 2) == quote;
    size_t quotes = triple ? 3 : 1;
    for (size_t i = at + quotes; i < text.n;) {
        bool closes = text.p[i] == quote &&
                      (!triple || (char_at(text, i + 1) == quote && char_at(text, i + 2) == quote));
        if (closes)
            return i + quotes;
        if (!triple && (text.p[i] == '\n' || text.p[i] == '\r'))
            break;
        size_t step = !raw && text.p[i] == '\\' ? escape_length(text, i) : 1;
        if (!step)
            break;
        i += step;
    }
    /* '' is the empty string where no third quote closes a long one. */
    return triple ? at + 2 : 0;
}

/* A string or bytes literal with its prefixes; 0 when there is none at `at`. */
static size_t lex_string(kc_str text, size_t at, kc__cel_token_kind *ret_kind)
{
    bool bytes = kc_lower(char_at(text, at)) == 'b';
    size_t quote = at + bytes;
    bool raw = kc_lower(char_at(text, quote)) == 'r';
    quote += raw;
    if (char_at(text, quote) != '"' && char_at(text, quote) != '\'')
        return 0;
    *ret_kind = bytes ? KC__CEL_T_BYTES : KC__CEL_T_STRING;
    return lex_quoted(text, quote, raw);
}

static size_t lex_escaped_ident(kc_str text, size_t at)
{
    size_t end = at + 1;
    while (is_ident_char(char_at(text, end)) ||
           (char_at(text, end) && strchr(".-/ ", char_at(text, end))))
        end++;
    return char_at(text, end) == '`' && end > at + 1 ? end + 1 : 0;
}

static size_t lex_operator(kc_str text, size_t at)
{
    static const char *const pairs[] = {"==", "!=", "<=", ">=", "&&", "||"};
    for (size_t i = 0; i < KC_COUNT(pairs); i++)
        if (char_at(text, at) == pairs[i][0] && char_at(text, at + 1) == pairs[i][1])
            return at + 2;
    char c = char_at(text, at);
    return c && strchr("[]{}().,-!?:+*/%<>", c) ? at + 1 : 0;
}

static kc__cel_token_kind word_kind(kc_str word)
{
    static const struct {
        const char *word;
        kc__cel_token_kind kind;
    } words[] = {{"true", KC__CEL_T_TRUE},
                 {"false", KC__CEL_T_FALSE},
                 {"null", KC__CEL_T_NULL},
                 {"in", KC__CEL_T_IN}};
    for (size_t i = 0; i < KC_COUNT(words); i++)
        if (kc_str_is(word, words[i].word))
            return words[i].kind;
    return KC__CEL_T_IDENT;
}

/* The end of the token at `at`; 0 when there is none. */
static size_t lex_token(kc_str text, size_t at, kc__cel_token_kind *ret_kind)
{
    char c = char_at(text, at);
    size_t end = lex_string(text, at, ret_kind);
    if (end)
        return end;
    if (kc_is_digit(c) || (c == '.' && kc_is_digit(char_at(text, at + 1))))
        return lex_number(text, at, ret_kind);
    if (is_ident_start(c)) {
        for (end = at; is_ident_char(char_at(text, end));)
            end++;
        *ret_kind = word_kind(kc_str_sub(text, at, end));
        return end;
    }
    if (c == '`') {
        *ret_kind = KC__CEL_T_ESCAPED_IDENT;
        return lex_escaped_ident(text, at);
    }
    *ret_kind = KC__CEL_T_OPERATOR;
    return lex_operator(text, at);
}

/* Behind the character that breaks an escape sequence. */
static size_t broken_escape_end(kc_str text, size_t at)
{
    char c = char_at(text, at + 1);
    size_t end = at + 2;
    if (c == 'x' || c == 'X' || c == 'u' || c == 'U')
        while (kc_is_hex(char_at(text, end)))
            end++;
    else if (c >= '0' && c <= '3')
        while (char_at(text, end) >= '0' && char_at(text, end) <= '7')
            end++;
    else
        return end;
    return end + 1;
}

/* How far a broken token reaches: an open string takes what it could have been. */
static size_t broken_end(kc_str text, size_t at)
{
    char c = text.p[at];
    size_t end = at;
    if (c == '"' || c == '\'') {
        for (end = at + 1; end < text.n && text.p[end] != '\n' && text.p[end] != '\r';) {
            size_t step = text.p[end] == '\\' ? escape_length(text, end) : 1;
            if (!step)
                return KC_MIN(broken_escape_end(text, end), text.n);
            end += step;
        }
        return KC_MIN(end + 1, text.n);
    }
    size_t n = kc_utf8_next(kc_str_of(text.p + at, text.n - at), NULL);
    end = at + (n ? n : 1);
    /* A lone & or | consumes the character that should have completed it. */
    if ((c == '&' || c == '|' || c == '=') && end < text.n)
        end += 1;
    return end;
}

static void report_unrecognized(kc__cel_source *source, size_t at, size_t end)
{
    kc__cel_report(source, (uint32_t)at, "Syntax error: token recognition error at: '%.*s'",
                   (int)(end - at), source->text.p + at);
}

kc__cel_token kc__cel_lex(kc__cel_source *source, uint32_t *at)
{
    kc_str text = source->text;
    size_t from = *at;
    for (;;) {
        from = skip_space(text, from);
        if (from >= text.n) {
            *at = (uint32_t)text.n;
            return (kc__cel_token){KC__CEL_T_END, KC_STR("<EOF>"), (uint32_t)text.n};
        }
        kc__cel_token_kind kind = KC__CEL_T_OPERATOR;
        size_t end = lex_token(text, from, &kind);
        if (end) {
            *at = (uint32_t)end;
            return (kc__cel_token){kind, kc_str_sub(text, from, end), (uint32_t)from};
        }
        end = broken_end(text, from);
        report_unrecognized(source, from, end);
        from = end;
    }
}
