/* SPDX-License-Identifier: Apache-2.0 */
/* scaffolding.h: shared parts of init, create, edit and alpha. */
#ifndef KC_CMD_SCAFFOLDING_H
#define KC_CMD_SCAFFOLDING_H

#include "command.h"

#include "scaffold/scaffold.h"

/* Values of --license. */
extern const kc__cli_flag_choice kc__cli_scaffold_licenses[];

/* The project of the current directory; reports each file on standard output. */
kc__scaffold kc__cli_scaffold_here(bool force);
/* Prints the error; returns the exit code. */
int kc__cli_scaffold_failed(const char *verb, const kc_error *err);

/* A switch with a third state: not set. */
typedef enum kc__cli_answer { KC__CLI_UNSET, KC__CLI_YES, KC__CLI_NO } kc__cli_answer;
kc__cli_flag_parser kc__cli_flag_answer; /* kc__cli_answer */
/* The flag's value if given; otherwise the answer to a prompt on a terminal; otherwise
 * `default_value`. Prompts come before the first write, so end of file (an error) and Ctrl-C leave
 * no files. */
int kc__cli_prompt_yes_no(kc__cli_answer answer, const char *question, bool default_value,
                          bool *ret, kc_error *err);
/* The same for a text; prompts again while `check` (kc__check_…) refuses the answer. *ret is NULL
 * without a terminal or an answer; the caller frees it. */
typedef int kc__cli_answer_check(const char *text, kc_error *err);
int kc__cli_prompt_text(const char *answer, const char *question, kc__cli_answer_check *check,
                        char **ret, kc_error *err);

/* The current year, for copyright lines. */
int kc__cli_current_year(void);

/* Runs `make TARGET` with this binary as kc. Returns the exit code: 1, after a message, on
 * failure. */
int kc__cli_run_make(const char *target);

#endif
