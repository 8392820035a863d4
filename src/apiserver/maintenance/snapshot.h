/* SPDX-License-Identifier: Apache-2.0 */
/*
 * snapshot.h: a backup of an etcd: the file that etcd's own tools restore. It has the whole
 * database of the cluster, with all prefixes, leases and revisions.
 */
#ifndef KC_APISERVER_MAINTENANCE_SNAPSHOT_H
#define KC_APISERVER_MAINTENANCE_SNAPSHOT_H

#include "apiserver/storage/storage.h"

#include <stdio.h>

typedef struct kc__maintenance_snapshot {
    uint64_t revision; /* At least this one; etcd does not say which. */
    uint64_t bytes;
} kc__maintenance_snapshot;

/* Writes a snapshot, also while servers run. The storage should have one endpoint: the revision is
 * that of one member, the snapshot is that of one. The file has mode 0600 and gets its name when it
 * is complete and its SHA-256, which etcd appends, is verified. The storage is one of etcd. Blocks.
 */
int kc__maintenance_snapshot_write(kc__storage *storage, const char *path,
                                   kc__maintenance_snapshot *ret, kc_error *err);

/* Whether a file is a snapshot of etcd. Reads from its beginning, and goes back there. */
bool kc__maintenance_is_snapshot(FILE *file);
/* Sets the error of a command that got a snapshot instead of a backup: what restores it. Returns
 * -KC_INVALID. */
int kc__maintenance_snapshot_refuse(const char *path, kc_error *err);

#endif
