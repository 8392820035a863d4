/* SPDX-License-Identifier: Apache-2.0 */
/* write_rbac.h: writes the roles of a project's controllers. */
#ifndef KC_GENERATE_WRITE_RBAC_H
#define KC_GENERATE_WRITE_RBAC_H

#include "generate/model/model.h"
#include "generate/write/output.h"

typedef struct kc__gen_rbac_opts {
    const char *role_name; /* Name of roles whose markers name none. Defaults to "manager-role". */
    const char *header;    /* Text before the first document; NULL: none. */
} kc__gen_rbac_opts;

/*
 * Writes role.yaml with a ClusterRole, and a Role for each namespace that markers name; nothing
 * without markers. Negative with KC_INVALID and a line for each mistake; then nothing is written.
 */
int kc__gen_write_rbac(const kc__gen_model *model, const kc__gen_rbac_opts *opts,
                       kc__gen_output_put *put, void *user, kc_error *err);

#endif
