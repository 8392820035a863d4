/* SPDX-License-Identifier: Apache-2.0 */
/* certs_sets.h: sets of certificates for several machines. */
#ifndef KC_CMD_CERTS_SETS_H
#define KC_CMD_CERTS_SETS_H

#include "flags.h"

typedef struct kc__cli_certs_options {
    kc__cli_flag_operands operands; /* The command; then, to create sets, the machines. */
    const char *dir, *out, *server;
    bool shared;
} kc__cli_certs_options;

/* Creates OUT/NAME for each machine, and OUT/admin.kubeconfig. Blocks. */
int kc__cli_certs_create(const kc__cli_certs_options *options, kc_error *err);

#endif
