/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import.h: stores the objects of a file of JSON lines, as `kc store export` writes it, in a store
 * that no server uses. Objects keep their uid, creationTimestamp and owners.
 */
#ifndef KC_APISERVER_MAINTENANCE_IMPORT_H
#define KC_APISERVER_MAINTENANCE_IMPORT_H

#include "apiserver/storage/encryption/encryption.h"
#include "apiserver/storage/storage.h"

#include <stdio.h>

/* What happens to an object whose key exists. */
typedef enum kc__maintenance_existing {
    KC__MAINTENANCE_REFUSE,
    KC__MAINTENANCE_SKIP,
    KC__MAINTENANCE_OVERWRITE,
} kc__maintenance_existing;

typedef struct kc__maintenance_import_opts {
    kc__encryption *encryption; /* Encrypts values. Defaults to none. */
    kc__maintenance_existing existing;
    /* Check everything, store nothing. */
    bool check_only;
    int64_t event_ttl; /* Seconds after which etcd deletes Events. Defaults to 1 h. */
    /* Called after each group. May be NULL. */
    void (*progress)(size_t lines, void *user);
    void *user;
} kc__maintenance_import_opts;

typedef struct kc__maintenance_imported {
    size_t stored, skipped;
    size_t lines; /* All objects of the lines up to this one are in the store. */
} kc__maintenance_imported;

/*
 * Stores the objects in groups of at most 64 lines; a group is stored as a whole or not at all. An
 * error names its line; *ret then says which lines are stored, and a second run with
 * KC__MAINTENANCE_SKIP continues. KC_ALREADY_EXISTS for an existing key, KC_INVALID or
 * KC_BAD_REQUEST for an invalid line. The fields of built-in kinds are checked, those of custom
 * kinds are not. Blocks.
 */
int kc__maintenance_import(kc__storage *storage, FILE *in, const kc__maintenance_import_opts *opts,
                           kc__maintenance_imported *ret, kc_error *err);

#endif
