/* SPDX-License-Identifier: Apache-2.0 */
/* check.h: reads everything in a store and reports what a server could not use. */
#ifndef KC_APISERVER_MAINTENANCE_CHECK_H
#define KC_APISERVER_MAINTENANCE_CHECK_H

#include "apiserver/maintenance/stored_kinds.h"
#include "kc/vec.h"

/* The objects of one resource. */
typedef struct kc__maintenance_count {
    kc_str name; /* "deployments.apps" */
    size_t objects, encrypted, problems;
    uint64_t bytes; /* Of stored values. */
} kc__maintenance_count;

typedef struct kc__maintenance_checked {
    kc_arena arena;
    KC_VEC(kc__maintenance_count) counts; /* By key prefix, in the order of the keys. */
    kc__storage_state state;
    size_t objects, events, problems;
    size_t records; /* Keys of servers that are no objects (object_keys.h). */
} kc__maintenance_checked;

void kc__maintenance_checked_done(kc__maintenance_checked *checked);

typedef struct kc__maintenance_check_opts {
    kc__encryption *encryption; /* Defaults to none. */
    /* Receives each problem: the key, empty for the store as a whole, and the reason. */
    void (*problem)(kc_str key, const char *reason, void *user);
    void *user;
} kc__maintenance_check_opts;

/* Checks every key, value and event. Problems of the contents are counted in *ret and are no error;
 * negative: the check could not be completed. Blocks. */
int kc__maintenance_check(kc__storage *storage, const kc__maintenance_check_opts *opts,
                          kc__maintenance_checked *ret, kc_error *err);

#endif
