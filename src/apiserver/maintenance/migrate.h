/* SPDX-License-Identifier: Apache-2.0 */
/* migrate.h: copies a store to another location, also of another backend. */
#ifndef KC_APISERVER_MAINTENANCE_MIGRATE_H
#define KC_APISERVER_MAINTENANCE_MIGRATE_H

#include "apiserver/storage/storage.h"

typedef struct kc__maintenance_migrate_opts {
    /* How far the revision of the target is raised above that of the source. Defaults to 1. */
    uint64_t margin;
    int64_t event_ttl; /* Seconds after which etcd deletes Events. Defaults to 1 h. */
    /* Called after each batch. May be NULL. */
    void (*progress)(size_t objects, void *user);
    void *user;
} kc__maintenance_migrate_opts;

typedef struct kc__maintenance_migrated {
    size_t objects;   /* In the target. */
    size_t copied;    /* By this run. */
    size_t converted; /* Of those: to the form of the other backend, … */
    size_t lossy;     /* … without fields that this program does not know. */
    size_t left_out;  /* Not copied: records of servers. */
    bool resumed;     /* An earlier run was interrupted, and this one continued it. */
    uint64_t source_revision, target_revision;
} kc__maintenance_migrated;

/*
 * Copies every object in the form that its backend has, and compares number and SHA-256 of both
 * sides at the end. Encrypted values stay as they are. Records of servers that
 * are no objects are left out (object_keys.h). The revision of the target is raised above that of
 * the source, and its history begins there. KC_CONFLICT if the target has objects, or a server
 * writes to the source meanwhile. An interrupted run leaves a target that no server opens; the next
 * run continues it, or starts from the beginning if the source has changed. Blocks.
 */
int kc__maintenance_migrate(kc__storage *source, kc__storage *target,
                            const kc__maintenance_migrate_opts *opts, kc__maintenance_migrated *ret,
                            kc_error *err);

#endif
