/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_inputs.h: what containers are given from elsewhere: environment and files, from ConfigMaps,
 * Secrets, the pod itself and its containers' resources.
 */
#ifndef KC_CONTROLLERS_POD_INPUTS_H
#define KC_CONTROLLERS_POD_INPUTS_H

#include "kc/client.h"

#include "pods/nodes.h"
#include "pods/pod_record.h"

/* What it is worked out with. Results live in the arena. */
typedef struct kc__inputs {
    kc_client *client; /* Reads from the cache. */
    const kc_pod *pod;
    const kc__pod_record *state;
    kc_arena *arena;
} kc__inputs;

typedef struct kc__entry {
    const char *key;
    kc_str value; /* Bytes. */
} kc__entry;

typedef KC_VEC(kc__entry) kc__entries;

/* What a ConfigMap (with its binaryData or without) or Secret has, in the order of its keys.
 * KC_NOT_FOUND: `configmap "x" not found`. */
int kc__entries_of(const kc__inputs *in, const kc_kind *kind, const char *name, bool binary,
                   kc__entries *ret, kc_error *err);
const kc__entry *kc__entry_find(const kc__entries *entries, const char *key);
/* "configmap", "secret". */
const char *kc__source_name(const kc_kind *kind);

/* spec.nodeName, metadata.labels['x'] and the like. */
int kc__field_value(const kc__inputs *in, const char *path, const char **ret, kc_error *err);
/* limits.cpu and the like, in units of its divisor; of `own` if it names no container. */
int kc__resource_value(const kc__inputs *in, const kc_resource_field_ref *ref,
                       const kc_container *own, const char **ret, kc_error *err);

/* A container's whole environment. */
int kc__env_make(const kc__inputs *in, const kc_container *container, kc_string_pair **ret,
                 size_t *ret_n, kc_error *err);

/* Replaces $(NAME) in the command and arguments of a copy of a container. */
void kc__env_expand(const kc__inputs *in, kc_container *container, const kc_string_pair *env,
                    size_t n);

/* All files of a volume. 1; 0 if it is not one of those that have files of ours. */
int kc__volume_files(const kc__inputs *in, const kc_volume *volume, kc__volume_file **ret,
                     size_t *ret_n, kc_error *err);

/* Calls `name` for each ConfigMap and Secret that the pod names. */
void kc__each_source(const kc_pod *pod, void (*name)(const kc_kind *kind, const char *name, void *),
                     void *user);

#endif
