/* SPDX-License-Identifier: Apache-2.0 */
/* scaffolding.h: what init, create and edit share. */
#ifndef KC_CMD_SCAFFOLDING_H
#define KC_CMD_SCAFFOLDING_H

#include "verb.h"

#include "scaffold/scaffold.h"

/* The project of the current folder; tells on standard output what happens to its files. */
kc__scaffold kc_scaffold_here(bool force);
/* Prints the error; returns the exit code. */
int kc_scaffold_failed(const char *verb, const kc_error *err);

/* A switch that may be left unsaid. */
typedef enum kc_answer { KC_UNSAID, KC_YES, KC_NO } kc_answer;
kc_flag_parser kc_flag_answer; /* kc_answer */
/* What was said; else asked for where a terminal is, else `otherwise`. */
bool kc_answer_of(kc_answer said, const char *question, bool otherwise);
/* The same for a text; NULL if there is no terminal to ask. The answer is freed. */
char *kc_text_of(const char *said, const char *question);

/* Runs `make TARGET` with this binary as kc. The exit code: 1, and a line, if it failed. */
int kc_run_make(const char *target);

#endif
