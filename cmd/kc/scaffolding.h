/* SPDX-License-Identifier: Apache-2.0 */
/* scaffolding.h: what init, create, edit and alpha share. */
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
/* What was said; else asked for where a terminal is, else `otherwise`. Nothing has been written
 * when something is asked, so that who ends it (end of file: an error; Ctrl-C) leaves nothing. */
int kc_ask_answer(kc_answer said, const char *question, bool otherwise, bool *ret, kc_error *err);
/* The same for a text, asked for again while `check` (kc__check_…) refuses the answer; NULL if
 * there is no terminal to ask, or nothing was answered. It is freed. */
typedef int kc_answer_check(const char *text, kc_error *err);
int kc_ask_text(const char *said, const char *question, kc_answer_check *check, char **ret,
                kc_error *err);

/* The year, for a copyright. */
int kc_this_year(void);

/* Runs `make TARGET` with this binary as kc. The exit code: 1, and a line, if it failed. */
int kc_run_make(const char *target);

#endif
