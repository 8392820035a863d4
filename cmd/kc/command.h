/* SPDX-License-Identifier: Apache-2.0 */
/* command.h: the subcommands of kc: one row and one file each. */
#ifndef KC_KC_COMMAND_H
#define KC_KC_COMMAND_H

#include "flags.h"

typedef struct kc__cli_command {
    const char *name, *summary;
    /* Gets the arguments from the verb's name on and returns the exit code: 0 success, 1 failure, 2
     * usage error. */
    int (*run)(int argc, char **argv);
    const kc__cli_flag_set *flags;
} kc__cli_command;

extern const kc__cli_command kc__cli_verbs[];
extern const size_t kc__cli_n_verbs;

/* Runs the verb that argv[1] names; returns the exit code. */
int kc__cli_run_verb(int argc, char **argv);

int kc__cli_command_apiserver(int argc, char **argv);
extern const kc__cli_flag_set kc__cli_apiserver_flags;

int kc__cli_command_apply_dir(int argc, char **argv);
extern const kc__cli_flag_set kc__cli_apply_dir_flags;

int kc__cli_command_generate(int argc, char **argv);
extern const kc__cli_flag_set kc__cli_generate_flags;

int kc__cli_command_init(int argc, char **argv);
extern const kc__cli_flag_set kc__cli_init_flags;

int kc__cli_command_create(int argc, char **argv);
extern const kc__cli_flag_set kc__cli_create_flags;

int kc__cli_command_edit(int argc, char **argv);
extern const kc__cli_flag_set kc__cli_edit_flags;

int kc__cli_command_controllers(int argc, char **argv);
extern const kc__cli_flag_set kc__cli_controllers_flags;

int kc__cli_command_hub(int argc, char **argv);
extern const kc__cli_flag_set kc__cli_hub_flags;

int kc__cli_command_run(int argc, char **argv);
extern const kc__cli_flag_set kc__cli_run_flags;

int kc__cli_command_store(int argc, char **argv);
extern const kc__cli_flag_set kc__cli_store_flags;

int kc__cli_command_up(int argc, char **argv);
extern const kc__cli_flag_set kc__cli_up_flags;

int kc__cli_command_login(int argc, char **argv);
extern const kc__cli_flag_set kc__cli_login_flags;

int kc__cli_command_logout(int argc, char **argv);
extern const kc__cli_flag_set kc__cli_logout_flags;

int kc__cli_command_token(int argc, char **argv);
extern const kc__cli_flag_set kc__cli_token_flags;

int kc__cli_command_user(int argc, char **argv);
extern const kc__cli_flag_set kc__cli_user_flags;

int kc__cli_command_networks(int argc, char **argv);
extern const kc__cli_flag_set kc__cli_networks_flags;

int kc__cli_command_alpha(int argc, char **argv);
extern const kc__cli_flag_set kc__cli_alpha_flags;

int kc__cli_command_cel(int argc, char **argv);
extern const kc__cli_flag_set kc__cli_cel_flags;

int kc__cli_command_certs(int argc, char **argv);
extern const kc__cli_flag_set kc__cli_certs_flags;

int kc__cli_command_completion(int argc, char **argv);
extern const kc__cli_flag_set kc__cli_completion_flags;

int kc__cli_verb_help(int argc, char **argv);
extern const kc__cli_flag_set kc__cli_help_flags;

int kc__cli_verb_version(int argc, char **argv);
extern const kc__cli_flag_set kc__cli_version_flags;

/* Prints "kc VERB: MESSAGE" on standard error; returns 2, the exit code of a usage error. */
int kc__cli_usage_error(const char *verb, const kc_error *err);

#endif
