/* SPDX-License-Identifier: Apache-2.0 */
/* exec_credential.h: what a program that gives credentials is told, and what it answers. */
#ifndef KC_CLIENT_EXEC_CREDENTIAL_H
#define KC_CLIENT_EXEC_CREDENTIAL_H

#include "kc/kubeconfig.h"

/* The answer. A zeroed one is empty. */
typedef struct kc__exec_credential {
    char *token;      /* NULL: none. */
    char *cert, *key; /* PEM; both or none. */
    int64_t expires;  /* Wall time; KC_FOREVER if it does not say. */
} kc__exec_credential;

void kc__exec_credential_done(kc__exec_credential *credential);

/* Reads what a program printed. KC_UNAUTHORIZED when it is not what it should be. */
int kc__exec_credential_parse(kc_str json, const char *api_version, kc__exec_credential *ret,
                              kc_error *err);

/*
 * Runs the program of config->exec, for at most a minute (ten, if it may ask its user). `stop_fd`
 * ends it early when it can be read; -1: none. Blocks. *ret_status as of kc__process_run.
 */
int kc__exec_credential_get(const kc_config *config, int stop_fd, kc__exec_credential *ret,
                            int *ret_status, kc_error *err);

/* What the program finds in KUBERNETES_EXEC_INFO: JSON, terminated; the caller frees it. */
char *kc__exec_info(const kc_config *config, bool interactive, kc_error *err);

#endif
