/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export.h: the objects of a store as lines of JSON, which people, `kubectl apply` and `kc store
 * import` read.
 *
 *     {"apiVersion":"v1","kind":"Namespace","metadata":{"name":"default",…},…}
 */
#ifndef KC_APISERVER_MAINTENANCE_EXPORT_H
#define KC_APISERVER_MAINTENANCE_EXPORT_H

#include "apiserver/storage/encryption/encryption.h"
#include "apiserver/storage/storage.h"

#include <stdio.h>

typedef struct kc__maintenance_export_opts {
    kc__encryption *encryption; /* Defaults to none. */
    const char *resource;       /* "pods", "deployments.apps". Defaults to all. */
    const char *namespace;      /* Only objects of this namespace. Defaults to all objects. */
    /* Also Secrets, and objects that are encrypted in the store. */
    bool with_secrets;
    /* For `kubectl apply` to a server that may have the objects: without what a server sets (uid,
     * creationTimestamp, generation, managedFields, status), and without objects that have owners,
     * which their owners create again. */
    bool for_apply;
    /* Receives each object that cannot be exported. May be NULL. */
    void (*problem)(kc_str key, const char *reason, void *user);
    void *user;
} kc__maintenance_export_opts;

typedef struct kc__maintenance_exported {
    size_t objects;
    size_t secrets;  /* Left out: Secrets and encrypted objects. */
    size_t owned;    /* Left out for `kubectl apply`: objects with owners. */
    size_t problems; /* Objects that cannot be read. */
    uint64_t revision;
} kc__maintenance_exported;

/* Writes the objects at the latest revision: CustomResourceDefinitions first, then Namespaces, then
 * the others, so that each line can be applied after the ones before it. Without resourceVersion,
 * which has a meaning in this store only. KC_INVALID for an unknown resource. Blocks. */
int kc__maintenance_export(kc__storage *storage, const kc__maintenance_export_opts *opts, FILE *out,
                           kc__maintenance_exported *ret, kc_error *err);

#endif
