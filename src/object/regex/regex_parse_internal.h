/* SPDX-License-Identifier: Apache-2.0 */
/* regex_parse_internal.h: the parser's state, shared by regex_parse.c and regex_escape.c. */
#ifndef KC_REGEX_PARSE_INTERNAL_H
#define KC_REGEX_PARSE_INTERNAL_H

#include "object/regex/regex_internal.h"

/* Flags that a pattern can set: (?imsU). */
enum {
    KC__REGEX_FOLD = 1,
    KC__REGEX_MULTI_LINE = 2,
    KC__REGEX_DOT_NL = 4,
    KC__REGEX_LAZY = 8,
};

typedef KC_VEC(kc__regex_node *) kc__regex_nodes;

/* An open group. The first frame is the whole pattern. */
typedef struct kc__regex_frame {
    kc__regex_nodes alternatives, concat;
    unsigned group; /* Its number; 0 for one that captures nothing. */
    unsigned flags; /* Restored at its end. */
} kc__regex_frame;

typedef struct kc__regex_parser {
    kc_str pattern;
    const char *at, *end;
    unsigned flags;
    bool quoting;            /* Between \Q and \E. */
    const char *last_repeat; /* The repetition operator just before `at`, or NULL. */
    const char *repeat;      /* The one that the current token is, or NULL. */
    KC_VEC(kc__regex_frame) frames;
    kc__regex_set set; /* Reused by every atom. */
    kc__regex_tree *tree;
    kc_buf *why;
} kc__regex_parser;

/* Each sets the message, quoting a part of the pattern or all of it, and returns false. */
bool kc__regex_fail(kc__regex_parser *p, const char *what, const char *from, const char *to);
bool kc__regex_fail_all(kc__regex_parser *p, const char *what);

/* The length of the character at `at`. */
size_t kc__regex_step(const kc__regex_parser *p, const char *at);
void kc__regex_push_set(kc__regex_parser *p, kc__regex_set *set);
void kc__regex_push_literal(kc__regex_parser *p, uint32_t code);

/* ---- regex_escape.c ---- */

/* An escape sequence outside of a class, at `at`. */
bool kc__regex_parse_escape(kc__regex_parser *p);
/* A class in brackets, at `at`. */
bool kc__regex_parse_class(kc__regex_parser *p);

#endif
