/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_copies.c: `kc store backup`, `restore` and `migrate`: flags and printing. The work is in
 * src/apiserver/maintenance.
 */
#include "store_location.h"

#include "apiserver/maintenance/backup_socket.h"
#include "apiserver/maintenance/migrate.h"
#include "apiserver/maintenance/restore.h"
#include "apiserver/maintenance/snapshot.h"

#include <errno.h>

static void print_key_needed(uint64_t encrypted, const char *what)
{
    if (encrypted)
        printf(
            "encrypted values: %llu; %s needs the encryption configuration with their key, which "
            "is not part of the backup\n",
            (unsigned long long)encrypted, what);
}

/* ---- backup ---- */

static int write_backup(const kc__maintenance_location *location, const kc__cli_store_options *o,
                        kc__maintenance_backup_header *ret, kc_error *err)
{
    const char *path = o->output;
    kc_scoped(kc_error) why = {0};
    kc_auto(kc__storage) *storage = NULL;
    if (kc__cli_store_open_at(location, true, o, &storage, &why) == 0)
        return kc__maintenance_backup(storage, path, ret, err);
    if (!kc_error_has_reason(&why, KC_CONFLICT))
        return kc_error_move(err, &why);
    if (kc__maintenance_backup_running(location->root, path, ret, err) < 0)
        return kc_error_wrap(err, "%s is in use", location->storage);
    return 0;
}

/* Opens the first member that responds: its snapshot contains what it has reported. A snapshot of
 * another member might be older. */
static int open_member(const kc__maintenance_location *location, const kc__cli_store_options *o,
                       kc__storage **ret_storage, kc_error *err)
{
    kc__maintenance_location member = *location;
    member.n_urls = 1;
    for (size_t i = 0; i < location->n_urls; i++) {
        kc_error_done(err);
        member.urls[0] = location->urls[i];
        if (kc__cli_store_open_at(&member, true, o, ret_storage, err) == 0)
            return 0;
    }
    return kc_error_result(err);
}

static int back_up_etcd(const kc__maintenance_location *location, const kc__cli_store_options *o,
                        kc_error *err)
{
    kc_auto(kc__storage) *storage = NULL;
    kc__maintenance_snapshot snapshot;
    if (open_member(location, o, &storage, err) < 0 ||
        kc__maintenance_snapshot_write(storage, o->output, &snapshot, err) < 0)
        return kc_error_result(err);
    printf("wrote a snapshot of etcd at revision %llu or later, %llu bytes, to %s\n"
           "restore it with: etcdutl snapshot restore %s --data-dir=NEW "
           "--bump-revision=1000000000 --mark-compacted\n",
           (unsigned long long)snapshot.revision, (unsigned long long)snapshot.bytes, o->output,
           o->output);
    return 0;
}

int kc__cli_store_backup(const kc__cli_store_options *o, kc_error *err)
{
    kc_scoped(kc__maintenance_location) location = {0};
    kc__maintenance_backup_header header;
    if (kc__maintenance_location_parse(o->operands.items[1], &location, err) < 0)
        return kc_error_result(err);
    if (kc__maintenance_location_is_etcd(&location))
        return back_up_etcd(&location, o, err);
    if (write_backup(&location, o, &header, err) < 0)
        return kc_error_result(err);
    printf("wrote %llu objects at revision %llu to %s\n", (unsigned long long)header.entries,
           (unsigned long long)header.revision, o->output);
    print_key_needed(header.encrypted, "a restored server");
    return 0;
}

/* ---- restore ---- */

static int restore_from(FILE *backup, const kc__cli_store_options *o, kc_error *err)
{
    kc_scoped(kc__maintenance_location) location = {0};
    kc__maintenance_backup_header header;
    kc__maintenance_restored restored;
    if (kc__maintenance_is_snapshot(backup))
        return kc__maintenance_snapshot_refuse(o->operands.items[1], err);
    /* A file that is no backup creates no directory. */
    if (kc__maintenance_backup_read(backup, NULL, NULL, &header, err) < 0)
        return kc_error_wrap(err, "%s", o->operands.items[1]);
    rewind(backup);
    kc_auto(kc__storage) *storage = NULL;
    if (kc__maintenance_location_parse(o->operands.items[2], &location, err) < 0 ||
        kc__cli_store_open_at(&location, false, o, &storage, err) < 0)
        return kc_error_result(err);
    const kc__maintenance_restore_opts opts = {
        .margin = o->given.revision_bump ? o->revision_bump : KC__MAINTENANCE_RESTORE_MARGIN,
        .event_ttl = o->event_ttl / KC_SECOND,
        .progress = kc__cli_store_progress,
        .user = (void *)"objects"};
    const int failed = kc__maintenance_restore(storage, backup, &opts, &restored, err);
    kc__cli_store_progress_end();
    if (failed < 0)
        return kc_error_wrap(err, "%s", location.storage);
    printf("restored %llu objects of revision %llu; the store is at revision %llu, older ones "
           "answer 410\n",
           (unsigned long long)header.entries, (unsigned long long)header.revision,
           (unsigned long long)restored.revision);
    print_key_needed(header.encrypted, "the server");
    return 0;
}

int kc__cli_store_restore(const kc__cli_store_options *o, kc_error *err)
{
    const char *path = o->operands.items[1];
    FILE *backup = fopen(path, "re");
    if (!backup)
        return kc_error_set(err, KC_NOT_FOUND, "cannot open %s: %s", path, strerror(errno));
    const int failed = restore_from(backup, o, err);
    fclose(backup);
    return failed;
}

/* ---- migrate ---- */

static int migrate_opened(kc__storage *source, kc__storage *target, const kc__cli_store_options *o,
                          kc_error *err)
{
    kc__maintenance_migrated result;
    const kc__maintenance_migrate_opts opts = {.margin = o->revision_bump,
                                               .event_ttl = o->event_ttl / KC_SECOND,
                                               .progress = kc__cli_store_progress,
                                               .user = (void *)"objects"};
    const int failed = kc__maintenance_migrate(source, target, &opts, &result, err);
    kc__cli_store_progress_end();
    if (failed < 0)
        return failed;
    if (result.resumed)
        printf("continued a migration that was interrupted\n");
    if (result.lossy)
        printf("left out fields of %zu objects that this program does not know\n", result.lossy);
    if (result.left_out)
        printf("left out %zu keys of servers that are no objects\n", result.left_out);
    printf("migrated %zu objects (%zu copied now), verified; revision %llu became %llu, older ones "
           "answer 410\n",
           result.objects, result.copied, (unsigned long long)result.source_revision,
           (unsigned long long)result.target_revision);
    return 0;
}

int kc__cli_store_migrate(const kc__cli_store_options *o, kc_error *err)
{
    kc_scoped(kc__maintenance_location) from = {0}, to = {0};
    kc_auto(kc__storage) *source = NULL, *target = NULL;
    if (kc__maintenance_location_parse(o->from, &from, err) < 0)
        return kc_error_wrap(err, "--from");
    if (kc__maintenance_location_parse(o->to, &to, err) < 0)
        return kc_error_wrap(err, "--to");
    if (strcmp(from.storage, to.storage) == 0)
        return kc_error_set(err, KC_INVALID, "--from and --to name the same store");
    if (kc__cli_store_open_at(&from, true, o, &source, err) < 0)
        return kc_error_wrap(err, "--from");
    if (kc__cli_store_open_at(&to, false, o, &target, err) < 0)
        return kc_error_wrap(err, "--to");
    if (migrate_opened(source, target, o, err) < 0)
        return kc_error_wrap(err, "%s to %s", from.storage, to.storage);
    return 0;
}
