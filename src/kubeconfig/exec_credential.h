/* SPDX-License-Identifier: Apache-2.0 */
/* exec_credential.h: input and output of a credential plugin. */
#ifndef KC_KUBECONFIG_EXEC_CREDENTIAL_H
#define KC_KUBECONFIG_EXEC_CREDENTIAL_H

#include "kc/kubeconfig.h"

/* The credential that a plugin returned. Zero-initialized it is empty. */
typedef struct kc__exec_credential {
    char *token;      /* NULL: none. */
    char *cert, *key; /* PEM; both or none. */
    int64_t expires;  /* Wall time; KC_FOREVER if the plugin does not set it. */
} kc__exec_credential;

void kc__exec_credential_done(kc__exec_credential *credential);

/* Parses the output of a plugin. Fails with KC_UNAUTHORIZED if it is not a valid ExecCredential. */
int kc__exec_credential_parse(kc_str json, const char *api_version, kc__exec_credential *ret,
                              kc_error *err);

/*
 * Runs the plugin of config->exec, for at most one minute (ten minutes if it may prompt the user).
 * Terminates it when `stop_fd` becomes readable; -1: never. Blocks. *ret_status is set as by
 * kc__exec_process_run.
 */
int kc__exec_credential_get(const kc_config *config, int stop_fd, kc__exec_credential *ret,
                            int *ret_status, kc_error *err);

/* Returns the value of KUBERNETES_EXEC_INFO: NUL-terminated JSON that the caller frees. */
char *kc__exec_info(const kc_config *config, bool interactive, kc_error *err);

#endif
