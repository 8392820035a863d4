/* SPDX-License-Identifier: Apache-2.0 */
/* write_rbac.h: what a project's controllers may do, as roles. */
#ifndef KC_GENERATE_WRITE_RBAC_H
#define KC_GENERATE_WRITE_RBAC_H

#include "generate/model.h"
#include "generate/output.h"

typedef struct kc__rbac_opts {
    const char *role_name; /* Of roles whose markers name none. Defaults to "manager-role". */
    const char *header;    /* Text before the first document; NULL: none. */
} kc__rbac_opts;

/*
 * Writes role.yaml with a ClusterRole, and a Role for each namespace that markers name; nothing
 * where there is no marker. Negative with KC_INVALID and a line for each mistake; then nothing was
 * put.
 */
int kc__write_rbac(const kc__gen_model *model, const kc__rbac_opts *opts, kc__gen_put *put,
                   void *user, kc_error *err);

#endif
