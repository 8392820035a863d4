/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_inputs.h: environment and volume files of containers, from ConfigMaps, Secrets, the pod's
 * fields and its containers' resources.
 */
#ifndef KC_CONTROLLERS_POD_INPUTS_H
#define KC_CONTROLLERS_POD_INPUTS_H

#include "kc/client.h"

#include "pods/nodes.h"
#include "pods/pod_record.h"

/* The context of the functions below. Results are allocated from the arena. */
typedef struct kc__pod_inputs {
    kc_client *client; /* Reads from the cache. */
    const kc_pod *pod;
    kc__pod_record *state;
    kc_arena *arena;
    kc_time now;
    const char *api_server; /* URL of the API server for containers; NULL: none. */
    bool issues_tokens;     /* Volumes get tokens of the service account. */
    bool has_root_ca;       /* The server's CA is published in every namespace. */
} kc__pod_inputs;

typedef struct kc__pod_data_entry {
    const char *key;
    kc_str value; /* Bytes. */
} kc__pod_data_entry;

typedef KC_VEC(kc__pod_data_entry) kc__pod_data_entries;

/* The data of a ConfigMap (optionally with binaryData) or Secret, sorted by key. KC_NOT_FOUND:
 * `configmap "x" not found`. */
int kc__pod_data_entries_of(const kc__pod_inputs *in, const kc_kind *kind, const char *name,
                            bool binary, kc__pod_data_entries *ret, kc_error *err);
const kc__pod_data_entry *kc__pod_data_entry_find(const kc__pod_data_entries *entries,
                                                  const char *key);
/* "configmap", "secret". */
const char *kc__pod_source_name(const kc_kind *kind);

/* The value of a field path: spec.nodeName, metadata.labels['x'] and so on. */
int kc__pod_field_value(const kc__pod_inputs *in, const char *path, const char **ret,
                        kc_error *err);
/* The value of limits.cpu and so on in units of the divisor; of `own` if the selector names no
 * container. */
int kc__pod_resource_value(const kc__pod_inputs *in, const kc_resource_field_ref *ref,
                           const kc_container *own, const char **ret, kc_error *err);

/* The complete environment of a container. */
int kc__pod_env_make(const kc__pod_inputs *in, const kc_container *container, kc_string_pair **ret,
                     size_t *ret_n, kc_error *err);

/* Expands $(NAME) in command and arguments of a copy of a container, and replaces subPathExpr by
 * the resulting subPath. KC_INVALID: a name is undefined, or the path leaves the volume. */
int kc__pod_env_expand(const kc__pod_inputs *in, kc_container *container, const kc_string_pair *env,
                       size_t n, kc_error *err);

/* All files of a volume. Returns 1; 0 if the volume type has no generated files. */
int kc__pod_volume_files(const kc__pod_inputs *in, const kc_volume *volume,
                         kc__pod_volume_file **ret, size_t *ret_n, kc_error *err);

/* The token of a projected volume: issued, or kept from before (pod_tokens.c). */
int kc__pod_token_text(const kc__pod_inputs *in, const kc_token_projection *source, kc_str *ret,
                       kc_error *err);
/* When the first of the pod's tokens is to be renewed; KC_FOREVER: it has none. */
kc_time kc__pod_tokens_renewal(const kc__pod_record *state);

/* Calls `name` for each ConfigMap and Secret that the pod references. */
void kc__pod_each_source(const kc_pod *pod,
                         void (*name)(const kc_kind *kind, const char *name, void *), void *user);

#endif
