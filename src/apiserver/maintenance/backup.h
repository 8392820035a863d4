/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backup.h: writes and reads backup files (backup_format.h).
 *
 *     kc__maintenance_backup_writer *writer = kc__maintenance_backup_create(path, revision, err);
 *     kc__maintenance_backup_add(writer, &entry, err);        for each key, in order
 *     kc__maintenance_backup_finish(writer, &header, err);    the file has its name now
 *
 * A file that is not finished leaves PATH.part, which no command accepts.
 */
#ifndef KC_APISERVER_MAINTENANCE_BACKUP_H
#define KC_APISERVER_MAINTENANCE_BACKUP_H

#include "apiserver/maintenance/backup_format.h"

/* ---- writing ---- */

typedef struct kc__maintenance_backup_writer kc__maintenance_backup_writer;

/* Creates the file, with mode 0600. NULL on error. */
kc__maintenance_backup_writer *kc__maintenance_backup_create(const char *path, uint64_t revision,
                                                             kc_error *err);
/* Removes the file, unless it is finished. NULL is allowed; returns NULL. */
kc__maintenance_backup_writer *kc__maintenance_backup_writer_free(
    kc__maintenance_backup_writer *writer);
KC_AUTO_DEFINE(kc__maintenance_backup_writer, kc__maintenance_backup_writer_free)

int kc__maintenance_backup_add(kc__maintenance_backup_writer *writer,
                               const kc__storage_entry *entry, kc_error *err);
/* Makes the file durable and gives it its name; a file of that name is replaced. */
int kc__maintenance_backup_finish(kc__maintenance_backup_writer *writer,
                                  kc__maintenance_backup_header *ret_header, kc_error *err);

/* Writes a backup of an open store. Blocks. */
int kc__maintenance_backup(kc__storage *storage, const char *path,
                           kc__maintenance_backup_header *ret_header, kc_error *err);

/* ---- reading ---- */

/* Reads a whole backup and calls `each` (NULL: only verifies) for its entries, in order. What
 * `each` returns other than 0 ends the walk, and is returned. An error says what is wrong with the
 * file: it is truncated, damaged, no backup, or of a newer program; entries before the damage have
 * been passed to `each`. Blocks. */
int kc__maintenance_backup_read(FILE *in, kc__storage_entry_fn *each, void *user,
                                kc__maintenance_backup_header *ret_header, kc_error *err);

#endif
