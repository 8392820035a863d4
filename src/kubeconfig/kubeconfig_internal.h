/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kubeconfig_internal.h: shared by the files of kubeconfig: the merged content of the files, and
 * its resolution to a kc_config.
 *
 *     files ──kc__kubeconfig_add──▶ kc__kubeconfig ──kc__kubeconfig_resolve──▶ kc_config
 */
#ifndef KC_KUBECONFIG_INTERNAL_H
#define KC_KUBECONFIG_INTERNAL_H

#include "kc/arena.h"
#include "kc/kubeconfig.h"
#include "kc/map.h"
#include "kc/view.h"

#define KC__KUBECONFIG_MAX_BYTES           ((size_t)4 << 20) /* Maximum size of one file. */
#define KC__KUBECONFIG_MAX_FILES           64 /* Maximum number of files in $KUBECONFIG. */
#define KC__KUBECONFIG_SERVICE_ACCOUNT_DIR "/var/run/secrets/kubernetes.io/serviceaccount"

/* One file. */
typedef struct kc__kubeconfig_file {
    char *name; /* For error messages. */
    char *dir;  /* Base of relative paths; NULL: they are used unchanged. */
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

/* All files, merged. Zero-initialized it is empty. */
typedef struct kc__kubeconfig {
    kc_arena arena; /* Memory of the entries. */
    kc__kubeconfig_file *files;
    kc_map clusters, users, contexts; /* Name to entry; the first file that defines a name wins. */
    kc_str current_context;           /* p is NULL if no file sets it. */
} kc__kubeconfig;

void kc__kubeconfig_done(kc__kubeconfig *config);

/* Merges the text of another file, with lower precedence than those before. After a failure
 * `config` may only be passed to kc__kubeconfig_done. */
int kc__kubeconfig_add(kc__kubeconfig *config, const char *name, const char *dir, kc_str yaml,
                       kc_error *err);
/* Merges a file; relative paths in it are relative to its directory. */
int kc__kubeconfig_add_file(kc__kubeconfig *config, const char *path, kc_error *err);

/* Resolves a context; opts override its fields. Returns NULL on error. */
kc_config *kc__kubeconfig_resolve(const kc__kubeconfig *config, const kc_config_opts *opts,
                                  kc_error *err);
/* Returns the credentials of a user, without a server. Returns NULL on error. */
kc_config *kc__kubeconfig_resolve_user(const kc__kubeconfig_entry *user, kc_error *err);

/* ---- a configuration and its memory ---- */

typedef struct kc__kubeconfig_config {
    kc_config config; /* First: the public part. */
    kc_arena arena;
} kc__kubeconfig_config;

/* Returns an empty configuration. */
kc__kubeconfig_config *kc__kubeconfig_config_new(void);
/* Returns a deep copy, for users that outlive the original. */
kc_config *kc__kubeconfig_config_copy(const kc_config *config);
/* Applies the overrides in opts and normalizes the server URL. `from` (names of files) is used
 * in error messages. */
int kc__kubeconfig_config_finish(kc__kubeconfig_config *c, const kc_config_opts *opts,
                                 const char *from, kc_error *err);

/* Returns the configuration of a pod's service account, mounted at `dir`. */
kc_config *kc__kubeconfig_config_in_cluster(const char *dir, const kc_config_opts *opts,
                                            kc_error *err);
/* Returns whether the process seems to run in a pod. */
bool kc__kubeconfig_in_cluster(const char *dir);

/* ---- reading entries ---- */

/*
 * Reads the fields of an entry into an arena. The first error is kept, and later reads return empty
 * values, so callers check `failed` once at the end.
 */
typedef struct kc__kubeconfig_fields {
    const kc__kubeconfig_entry *entry;
    const kc_value *at; /* The object whose fields are read. */
    const char *in;     /* Path prefix of `at`, such as "exec."; "" at the entry itself. */
    kc_arena *arena;
    kc_error *err;
    bool failed;
} kc__kubeconfig_fields;

/* Sets the error, prefixed with file and entry. */
void kc__kubeconfig_fields_fail(kc__kubeconfig_fields *f, const char *fmt, ...) KC_PRINTF(2, 3);
/* Returns NULL if the field is absent, null or empty. */
const char *kc__kubeconfig_field_text(kc__kubeconfig_fields *f, const char *name);
bool kc__kubeconfig_field_bool(kc__kubeconfig_fields *f, const char *name);
/* Returns a file name; a relative one is resolved against the kubeconfig's directory. */
const char *kc__kubeconfig_field_path(kc__kubeconfig_fields *f, const char *name);
/* Decodes base64; empty if the field is absent. */
kc_str kc__kubeconfig_field_data(kc__kubeconfig_fields *f, const char *name);
/* NULL-terminated; NULL if the field is absent or empty. */
const char *const *kc__kubeconfig_field_texts(kc__kubeconfig_fields *f, const char *name);
/* Returns an object, or NULL. */
const kc_value *kc__kubeconfig_field_object(kc__kubeconfig_fields *f, const char *name);

/* Reads the exec section of a user; NULL if it has none. `cluster` may be NULL. */
const kc_exec_config *kc__kubeconfig_exec_read(const kc__kubeconfig_entry *user,
                                               const kc__kubeconfig_entry *cluster, kc_arena *arena,
                                               kc_error *err, bool *ret_failed);

#endif
