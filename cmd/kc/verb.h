/* SPDX-License-Identifier: Apache-2.0 */
/* verb.h: what kc can do: one row, one file each. */
#ifndef KC_CMD_VERB_H
#define KC_CMD_VERB_H

#include "flags.h"

typedef struct kc_verb {
    const char *name, *summary;
    /* Gets the arguments from the verb's name on and returns the exit code: 0 done, 1 failed, 2
     * called wrongly. */
    int (*run)(int argc, char **argv);
    const kc_flag_set *flags; /* For completion; NULL: it has none. */
    const char *words;        /* What may follow it: "bash zsh fish"; NULL: nothing. */
} kc_verb;

extern const kc_verb kc_verbs[];
extern const size_t kc_n_verbs;

int kc_verb_apiserver(int argc, char **argv);
extern const kc_flag_set kc_apiserver_flags;

int kc_verb_generate(int argc, char **argv);
extern const kc_flag_set kc_generate_flags;

int kc_verb_init(int argc, char **argv);
extern const kc_flag_set kc_init_flags;

int kc_verb_create(int argc, char **argv);
extern const kc_flag_set kc_create_flags;

int kc_verb_edit(int argc, char **argv);
extern const kc_flag_set kc_edit_flags;

int kc_verb_controllers(int argc, char **argv);
extern const kc_flag_set kc_controllers_flags;

int kc_verb_hub(int argc, char **argv);
extern const kc_flag_set kc_hub_flags;

int kc_verb_run(int argc, char **argv);
extern const kc_flag_set kc_run_flags;

int kc_verb_up(int argc, char **argv);
extern const kc_flag_set kc_up_flags;

int kc_verb_networks(int argc, char **argv);
extern const kc_flag_set kc_networks_flags;

int kc_verb_alpha(int argc, char **argv);
extern const kc_flag_set kc_alpha_flags;

int kc_verb_completion(int argc, char **argv);

/* Prints "kc VERB: sentence" and where to read more; returns 2. For wrong calls. */
int kc_called_wrongly(const char *verb, const kc_error *err);

#endif
