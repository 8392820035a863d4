/* SPDX-License-Identifier: Apache-2.0 */
/* path_internal.h: shared by path.c and path_parse.c. */
#ifndef KC_PATH_INTERNAL_H
#define KC_PATH_INTERNAL_H

#include "kc/arena.h"
#include "kc/path.h"

#include <stdio.h>

/* Zeroed except for the text. The names of the steps live in the arena. */
typedef struct kc__path_parser {
    kc_str text;
    size_t at;
    kc_arena arena;
    KC_VEC(kc_path_step) steps;
} kc__path_parser;

int kc__path_parse(kc__path_parser *parser, kc_error *err);
void kc__path_parser_done(kc__path_parser *parser);

#endif
