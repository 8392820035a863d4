/* SPDX-License-Identifier: Apache-2.0 */
/* restore.h: fills an empty store with a backup. */
#ifndef KC_APISERVER_MAINTENANCE_RESTORE_H
#define KC_APISERVER_MAINTENANCE_RESTORE_H

#include "apiserver/maintenance/backup.h"

/* How far the revision of a restored store is raised above that of the backup, unless the caller
 * says otherwise. Etcd recommends the same for its restores. */
#define KC__MAINTENANCE_RESTORE_MARGIN UINT64_C(1000000)

typedef struct kc__maintenance_restore_opts {
    uint64_t margin;   /* Above the revision of the backup. No default. */
    int64_t event_ttl; /* Seconds after which etcd deletes Events. Defaults to 1 h. */
    /* Called after each batch. May be NULL. */
    void (*progress)(size_t objects, void *user);
    void *user;
} kc__maintenance_restore_opts;

typedef struct kc__maintenance_restored {
    kc__maintenance_backup_header backup;
    uint64_t revision; /* Of the restored store. */
} kc__maintenance_restored;

/*
 * Restores a backup, a file that can be read twice: it is verified before anything is written. The
 * revision of the store is raised to that of the backup plus the margin, and history begins there:
 * requests with an older revision answer 410, so that clients list again, also those that saw
 * revisions after the backup. KC_CONFLICT if the store has objects. A restore that was interrupted
 * leaves a store that no server opens; the next one starts from the beginning. Blocks.
 */
int kc__maintenance_restore(kc__storage *storage, FILE *backup,
                            const kc__maintenance_restore_opts *opts, kc__maintenance_restored *ret,
                            kc_error *err);

#endif
