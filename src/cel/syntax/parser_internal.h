/* SPDX-License-Identifier: Apache-2.0 */
/* parser_internal.h: the state of the parser, and what its files share. */
#ifndef KC_CEL_PARSER_INTERNAL_H
#define KC_CEL_PARSER_INTERNAL_H

#include "cel/library/env_internal.h"

/* Rules of the grammar whose depth is limited. */
enum kc__cel_rule {
    KC__CEL_RULE_EXPR,
    KC__CEL_RULE_RELATION,
    KC__CEL_RULE_CALC,
    KC__CEL_RULE_MEMBER,
    KC__CEL_N_RULES
};

typedef struct kc__cel_parser {
    const kc_cel_env *env;
    kc__cel_source *s;
    kc__cel_token token;
    uint32_t at; /* Behind `token`. */
    unsigned depth[KC__CEL_N_RULES];
} kc__cel_parser;

typedef KC_VEC(kc__cel_expr *) kc__cel_expr_vec;

/* ---- parser.c ---- */

kc__cel_expr *kc__cel_parse_expr(kc__cel_parser *p);

void kc__cel_advance(kc__cel_parser *p);
/* The token behind the current one. */
kc__cel_token kc__cel_peek(kc__cel_parser *p);
bool kc__cel_is_op(const kc__cel_token *token, const char *text);
bool kc__cel_at_op(const kc__cel_parser *p, const char *text);
/* Consumes an operator if it is next. */
bool kc__cel_take_op(kc__cel_parser *p, const char *text, uint32_t *ret_at);
bool kc__cel_starts_expression(const kc__cel_token *token);

/* Each reports an error; the pointers are NULL, except for the node of a semantic one. */
void *kc__cel_fail_token(kc__cel_parser *p, const char *expected, bool follows);
kc__cel_expr *kc__cel_fail_expression(kc__cel_parser *p);
bool kc__cel_expect_one_of(kc__cel_parser *p, const char *text, const char *expected);
bool kc__cel_expect_op(kc__cel_parser *p, const char *text);
kc__cel_expr *kc__cel_fail_semantic(kc__cel_parser *p, uint32_t at, const char *message);
/* Counts one more level of a rule; the caller restores p->depth when it returns. */
bool kc__cel_deeper(kc__cel_parser *p, enum kc__cel_rule rule);

/* ---- parser_primary.c ---- */

kc__cel_expr *kc__cel_parse_member(kc__cel_parser *p);

#endif
