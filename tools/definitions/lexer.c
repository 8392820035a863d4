/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lexer.c: words of .proto and of Go.
 *
 * Comments are no tokens, but they are kept: each token knows the text between its predecessor and
 * itself, where the markers ("// +optional") of what it begins are. Line ends, which Go gives a
 * meaning, are seen by the lines of tokens. What is not understood ends the program with a
 * sentence that names file and line: this runs in a build, where half an answer is worse than none.
 */
#include "lexer.h"

#include "kc/ascii.h"

#include <stdarg.h>
#include <stdio.h>

void fail_at(const char *path, int line, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    fprintf(stderr, "definitions: %s:%d: ", path, line);
    vfprintf(stderr, fmt, args);
    fputc('\n', stderr);
    va_end(args);
    exit(1);
}

static bool in_word(char c)
{
    return kc_is_alnum(c) || c == '_';
}

static bool starts_here(const lexer *lex, const char *text)
{
    return kc_str_starts(kc_str_sub(lex->text, lex->at, lex->text.n), kc_cstr(text));
}

static void advance(lexer *lex, size_t n)
{
    for (; n && lex->at < lex->text.n; n--)
        lex->line += lex->text.p[lex->at++] == '\n';
}

/* Up to and with `end`, or to the end of the file. */
static void advance_past(lexer *lex, const char *end)
{
    while (lex->at < lex->text.n && !starts_here(lex, end))
        advance(lex, 1);
    advance(lex, strlen(end));
}

static void skip_space(lexer *lex)
{
    while (lex->at < lex->text.n) {
        if (strchr(" \t\r\n", lex->text.p[lex->at]))
            advance(lex, 1);
        else if (starts_here(lex, "//"))
            advance_past(lex, "\n");
        else if (starts_here(lex, "/*"))
            advance_past(lex, "*/");
        else
            return;
    }
}

/* A string or a character, whose quote stands at the front. */
static void advance_quoted(lexer *lex)
{
    char quote = lex->text.p[lex->at];
    int line = lex->line;
    advance(lex, 1);
    while (lex->at < lex->text.n && lex->text.p[lex->at] != quote)
        advance(lex, quote != '`' && lex->text.p[lex->at] == '\\' ? 2 : 1);
    if (lex->at >= lex->text.n)
        fail_at(lex->path, line, "the text that begins here does not end");
    advance(lex, 1);
}

static token_kind advance_token(lexer *lex)
{
    if (lex->at >= lex->text.n)
        return TOKEN_END;
    char c = lex->text.p[lex->at];
    if (c == '"' || c == '\'' || c == '`') {
        advance_quoted(lex);
        return c == '`' ? TOKEN_RAW : TOKEN_STRING;
    }
    if (!in_word(c)) {
        advance(lex, 1);
        return TOKEN_SIGN;
    }
    while (lex->at < lex->text.n && in_word(lex->text.p[lex->at]))
        advance(lex, 1);
    return TOKEN_WORD;
}

token lexer_step(lexer *lex)
{
    token last = lex->now;
    if (last.kind == TOKEN_END)
        fail_at(lex->path, lex->line, "the file ends too early");
    size_t from = lex->at;
    skip_space(lex);
    size_t start = lex->at;
    lex->now.before = kc_str_sub(lex->text, from, start);
    lex->now.line = lex->line;
    lex->now.kind = advance_token(lex);
    lex->now.text = kc_str_sub(lex->text, start, lex->at);
    if (lex->now.kind == TOKEN_RAW)
        lex->now.text = kc_str_sub(lex->now.text, 1, lex->now.text.n - 1);
    return last;
}

lexer lexer_of(const char *path, kc_str text)
{
    lexer lex = {.path = path, .text = text, .line = 1, .now.kind = TOKEN_SIGN};
    lexer_step(&lex);
    return lex;
}

bool lexer_at(const lexer *lex, const char *text)
{
    return (lex->now.kind == TOKEN_WORD || lex->now.kind == TOKEN_SIGN) &&
           kc_str_is(lex->now.text, text);
}

bool lexer_skip(lexer *lex, const char *text)
{
    bool found = lexer_at(lex, text);
    if (found)
        lexer_step(lex);
    return found;
}

bool lexer_closes(lexer *lex, const char *text)
{
    if (lex->now.kind == TOKEN_END)
        fail_at(lex->path, lex->line, "the file ends too early: expected '%s'", text);
    return lexer_skip(lex, text);
}

void lexer_expect(lexer *lex, const char *text)
{
    if (!lexer_skip(lex, text))
        fail_at(lex->path, lex->now.line, "expected '%s' here, not '%.*s'", text,
                KC_ARG(lex->now.text));
}

kc_str lexer_word(lexer *lex)
{
    if (lex->now.kind != TOKEN_WORD)
        fail_at(lex->path, lex->now.line, "expected a name here, not '%.*s'",
                KC_ARG(lex->now.text));
    return lexer_step(lex).text;
}
