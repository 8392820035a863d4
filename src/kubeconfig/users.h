/* SPDX-License-Identifier: Apache-2.0 */
/*
 * users.h: the users of a kubeconfig whose contexts do not matter: one file has the credentials for
 * many servers, such as those of admission webhooks.
 */
#ifndef KC_KUBECONFIG_USERS_H
#define KC_KUBECONFIG_USERS_H

#include "kc/kubeconfig.h"
#include "kc/vec.h"

typedef struct kc__kubeconfig_user {
    char *name;
    kc_config *config; /* The credentials; without a server. */
} kc__kubeconfig_user;

/* Zero is empty. */
typedef struct kc__kubeconfig_users {
    KC_VEC(kc__kubeconfig_user) users; /* In the order of the file. */
    char *current;                     /* Name of the user of the current context; NULL: none. */
} kc__kubeconfig_users;

/* Reads a file. *ret is unchanged on failure; the error names the file. Blocks. */
int kc__kubeconfig_users_read(const char *path, kc__kubeconfig_users *ret, kc_error *err);
/* Wipes keys and tokens and frees everything. */
void kc__kubeconfig_users_done(kc__kubeconfig_users *users);

#endif
