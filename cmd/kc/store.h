/* SPDX-License-Identifier: Apache-2.0 */
/* store.h: the commands of `kc store`: their options, and one function each. */
#ifndef KC_CMD_STORE_H
#define KC_CMD_STORE_H

#include "flags.h"

typedef struct kc__cli_store_options {
    kc__cli_flag_operands operands; /* The command and its arguments. */
    const char *root, *encryption;
    const char *kubeconfig, *context, *server;
    const char *output, *resource, *namespace;
    const char *file;
    const char *from, *to;
    const char *etcd_prefix, *etcd_ca, *etcd_cert, *etcd_key;
    int64_t event_ttl;
    bool with_secrets, for_apply, overwrite, skip_existing;
    size_t revision_bump;
    /* Which flags are on the command line. */
    struct {
        bool root, encryption, kubeconfig, context, server, output, resource, namespace, file, from,
            to, with_secrets, for_apply, overwrite, skip_existing, revision_bump, etcd_prefix,
            etcd_ca, etcd_cert, etcd_key, event_ttl;
    } given;
} kc__cli_store_options;

/* Each returns 0, negative with an error, or 1 if it has reported problems itself. The options are
 * those of the command. They block. */
int kc__cli_store_rewrite(const kc__cli_store_options *o, kc_error *err);
int kc__cli_store_check(const kc__cli_store_options *o, kc_error *err);
int kc__cli_store_export(const kc__cli_store_options *o, kc_error *err);
int kc__cli_store_import(const kc__cli_store_options *o, kc_error *err);
int kc__cli_store_backup(const kc__cli_store_options *o, kc_error *err);
int kc__cli_store_restore(const kc__cli_store_options *o, kc_error *err);
int kc__cli_store_migrate(const kc__cli_store_options *o, kc_error *err);

#endif
