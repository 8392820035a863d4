/* SPDX-License-Identifier: Apache-2.0 */
/* lexer.h: words of .proto and of Go, which are alike enough to be read by one lexer. */
#ifndef KC_DEFINITIONS_LEXER_H
#define KC_DEFINITIONS_LEXER_H

#include "kc/str.h"

typedef enum token_kind {
    TOKEN_END,
    TOKEN_WORD,   /* A name, a keyword or a number. */
    TOKEN_STRING, /* "…", with its quotes. */
    TOKEN_RAW,    /* `…`, without them. */
    TOKEN_SIGN,   /* One character of anything else. */
} token_kind;

typedef struct token {
    token_kind kind;
    kc_str text;
    kc_str before; /* White space and comments between the last token and this one. */
    int line;
} token;

/* A file being read; `now` is the token at its front. Text must outlive it. */
typedef struct lexer {
    const char *path;
    kc_str text;
    size_t at;
    int line;
    token now;
} lexer;

lexer lexer_of(const char *path, kc_str text);
/* Steps to the next token and returns the one it leaves, which must not be the end of the file. */
token lexer_step(lexer *lex);

/* The token at the front is this word or sign. */
bool lexer_at(const lexer *lex, const char *text);
/* If it is, steps over it. */
bool lexer_skip(lexer *lex, const char *text);
/* The same where nothing else may stand. */
void lexer_expect(lexer *lex, const char *text);
/* The same at the end of something that the file must not end within. */
bool lexer_closes(lexer *lex, const char *text);
/* The word at the front, stepped over; fails when there is none. */
kc_str lexer_word(lexer *lex);

/* Ends the program with "definitions: FILE:LINE: …". */
_Noreturn void fail_at(const char *path, int line, const char *fmt, ...) KC_PRINTF(3, 4);

#endif
