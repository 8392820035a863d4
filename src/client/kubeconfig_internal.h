/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kubeconfig_internal.h: what the files of kubeconfig share: what was read of files, and the way
 * from that to a kc_config.
 *
 *     files ──kc__kubeconfig_add──▶ kc__kubeconfig ──kc__kubeconfig_resolve──▶ kc_config
 */
#ifndef KC_CLIENT_KUBECONFIG_INTERNAL_H
#define KC_CLIENT_KUBECONFIG_INTERNAL_H

#include "kc/arena.h"
#include "kc/kubeconfig.h"
#include "kc/map.h"
#include "kc/view.h"

#define KC__MAX_KUBECONFIG         ((size_t)4 << 20) /* Bytes of one file. */
#define KC__MAX_KUBECONFIGS        64                /* Files in $KUBECONFIG. */
#define KC__SERVICE_ACCOUNT_FOLDER "/var/run/secrets/kubernetes.io/serviceaccount"

/* One file. */
typedef struct kc__kubeconfig_file {
    char *name;   /* For messages. */
    char *folder; /* Relative paths start here; NULL: they stay as they are. */
    kc_view *view;
    struct kc__kubeconfig_file *next;
} kc__kubeconfig_file;

/* A cluster, a user or a context. */
typedef struct kc__kubeconfig_entry {
    const char *what; /* "cluster" */
    kc_str name;
    const kc_value *value;
    const kc__kubeconfig_file *file;
} kc__kubeconfig_entry;

/* All files, merged. A zeroed one is empty. */
typedef struct kc__kubeconfig {
    kc_arena arena; /* Of the entries. */
    kc__kubeconfig_file *files;
    kc_map clusters, users, contexts; /* Name to entry; of several files the first counts. */
    kc_str current_context;           /* p is NULL where none is said. */
} kc__kubeconfig;

void kc__kubeconfig_done(kc__kubeconfig *config);

/* Merges the text of one more file, which counts less than those before. On failure `config` is
 * only good for kc__kubeconfig_done. */
int kc__kubeconfig_add(kc__kubeconfig *config, const char *name, const char *folder, kc_str yaml,
                       kc_error *err);

/* What a context, and opts in its place, say. NULL on error. */
kc_config *kc__kubeconfig_resolve(const kc__kubeconfig *config, const kc_config_opts *opts,
                                  kc_error *err);

/* ---- a configuration and its memory ---- */

typedef struct kc__config {
    kc_config config; /* First: what the user has. */
    kc_arena arena;
} kc__config;

/* An empty one. */
kc__config *kc__config_new(void);
/* All of it, for whoever outlives what it was given. */
kc_config *kc__config_copy(const kc_config *config);
/* Applies what opts says in place of what was found, brings the server into shape. `from` (names of
 * files) is for messages. */
int kc__config_finish(kc__config *c, const kc_config_opts *opts, const char *from, kc_error *err);

/* The service account of a pod; `folder` is where it is mounted. */
kc_config *kc__config_in_cluster(const char *folder, const kc_config_opts *opts, kc_error *err);
/* Whether the process seems to run in a pod. */
bool kc__in_cluster(const char *folder);

/* ---- reading entries ---- */

/*
 * Reads the fields of an entry into an arena. The first error stays, and what is read after it is
 * empty, so whoever reads checks `failed` once.
 */
typedef struct kc__fields {
    const kc__kubeconfig_entry *entry;
    const kc_value *at; /* The object whose fields are read. */
    const char *in;     /* Where that is, as in "exec."; "" at the entry itself. */
    kc_arena *arena;
    kc_error *err;
    bool failed;
} kc__fields;

/* Sets the error: file, entry, and this. */
void kc__fields_fail(kc__fields *f, const char *fmt, ...) KC_PRINTF(2, 3);
/* NULL when it is absent, null or empty. */
const char *kc__field_text(kc__fields *f, const char *name);
bool kc__field_flag(kc__fields *f, const char *name);
/* The name of a file, from the kubeconfig's folder if it is relative. */
const char *kc__field_path(kc__fields *f, const char *name);
/* Base64; empty when it is absent. */
kc_str kc__field_data(kc__fields *f, const char *name);
/* Ends with NULL; NULL when it is absent or empty. */
const char *const *kc__field_texts(kc__fields *f, const char *name);
/* An object or NULL. */
const kc_value *kc__field_object(kc__fields *f, const char *name);

/* The exec section of a user, NULL if it has none. `cluster` may be NULL. */
const kc_exec_config *kc__exec_config_read(const kc__kubeconfig_entry *user,
                                           const kc__kubeconfig_entry *cluster, kc_arena *arena,
                                           kc_error *err, bool *ret_failed);

#endif
