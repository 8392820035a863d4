/* SPDX-License-Identifier: Apache-2.0 */
/*
 * restore.c: `kc store restore`.
 *
 *     verify the file ─▶ marker, revision + margin ─▶ objects ─▶ history dropped, marker removed
 *
 * Every object gets a revision above all that clients of the old store can know, so neither a
 * resourceVersion nor a watch of theirs can be mistaken for one of the restored store.
 */
#include "apiserver/maintenance/restore.h"

#include "apiserver/maintenance/batch.h"
#include "apiserver/maintenance/contents.h"
#include "apiserver/maintenance/marker.h"
#include "apiserver/storage/file/file_backend.h"

typedef struct restoring {
    kc__storage *storage;
    const kc__maintenance_restore_opts *opts;
    kc__maintenance_batch batch;
    size_t objects;
    kc_error *err;
} restoring;

/* Backups are of files: JSON, below "/registry/". */
static const kc__storage backup_storage = {.backend = &kc__storage_file_backend};

static int restore_batch(restoring *r)
{
    r->objects += r->batch.ops.n;
    const int failed = kc__maintenance_batch_commit(&r->batch, r->storage, r->err);
    if (!failed && r->opts->progress)
        r->opts->progress(r->objects, r->opts->user);
    return failed;
}

static int restore_entry(const kc__storage_entry *entry, void *user)
{
    restoring *r = user;
    kc_scoped(kc_buf) out = {0};
    kc__maintenance_copied copied;
    if (kc__maintenance_copy_value(&backup_storage, r->storage, entry, &out, &copied, r->err) < 0)
        return kc_error_result(r->err);
    kc__maintenance_batch_put(&r->batch, entry->key, copied.value);
    return kc__maintenance_batch_is_full(&r->batch) ? restore_batch(r) : 0;
}

static int verify_backup(FILE *backup, kc__maintenance_backup_header *ret, kc_error *err)
{
    if (kc__maintenance_backup_read(backup, NULL, NULL, ret, err) < 0)
        return kc_error_result(err);
    if (fseek(backup, 0, SEEK_SET) < 0)
        return kc_error_set(err, KC_INVALID, "the backup is not a regular file");
    return 0;
}

static int fill_from_backup(kc__storage *storage, FILE *backup,
                            const kc__maintenance_restore_opts *opts, kc_error *err)
{
    restoring r = {
        .storage = storage, .opts = opts, .batch.event_ttl = opts->event_ttl, .err = err};
    kc__maintenance_backup_header header;
    int failed = kc__maintenance_backup_read(backup, restore_entry, &r, &header, err);
    if (!failed)
        failed = restore_batch(&r);
    kc__maintenance_batch_done(&r.batch);
    return failed ? failed : kc__maintenance_end_fill(storage, err);
}

int kc__maintenance_restore(kc__storage *storage, FILE *backup,
                            const kc__maintenance_restore_opts *opts, kc__maintenance_restored *ret,
                            kc_error *err)
{
    kc__maintenance_restored restored = {0};
    kc__storage_state state;
    if (verify_backup(backup, &restored.backup, err) < 0)
        return kc_error_result(err);
    const uint64_t revision = restored.backup.revision, margin = opts->margin;
    if (margin > INT64_MAX - revision)
        return kc_error_set(err, KC_INVALID, "the revision %llu cannot be raised by %llu",
                            (unsigned long long)revision, (unsigned long long)margin);
    if (kc__maintenance_begin_fill(storage, "restore", revision, revision + margin, NULL, err) <
            0 ||
        fill_from_backup(storage, backup, opts, err) < 0 ||
        kc__storage_progress(storage, &state, err) < 0)
        return kc_error_result(err);
    restored.revision = state.revision;
    *ret = restored;
    return 0;
}
