/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_history.c: watches: the events after a revision, past and future.
 *
 * Every revision after `compacted` has its record, in LMDB's log or among the pending changes,
 * without a gap, and so has the record that a change replaced (file_compact.c). History is
 * therefore a walk over revisions. Records below `compacted` are live values, not history.
 *
 * storage_watch.c keeps the open watches; the commit that stores a change delivers it to them.
 */
#include "apiserver/storage/file/file_internal.h"

typedef struct event_walk {
    const kc__storage_file *file;
    MDB_txn *txn;
    kc__storage_event_fn *each;
    void *user;
} event_walk;

/* Returns 0, an LMDB code in *ret_code, or the callback's return value. */
static int walk_one(const event_walk *w, uint64_t revision, int *ret_code)
{
    kc__storage_record record = {0}, previous = {0};
    *ret_code = kc__storage_file_record(w->file, w->txn, revision, &record);
    if (!*ret_code && record.previous)
        *ret_code = kc__storage_file_record(w->file, w->txn, record.previous, &previous);
    if (*ret_code)
        return 0;
    const kc__storage_event event = {
        .verb = record.verb,
        .revision = revision,
        .key = record.key,
        .value = record.value,
        .previous_revision = record.previous,
        .previous_value = previous.value,
    };
    return w->each(&event, w->user);
}

int kc__storage_file_walk_events(void *user_file, uint64_t since, kc__storage_event_fn *each,
                                 void *user, kc_error *err)
{
    kc__storage_file *file = user_file;
    event_walk w = {.file = file, .each = each, .user = user};
    if (since < file->state.compacted)
        return kc_error_set(err, KC_EXPIRED,
                            "revision %llu is too old: history is kept since revision %llu",
                            (unsigned long long)since, (unsigned long long)file->state.compacted);
    int stopped = 0, code = kc__storage_file_begin_read(file, &w.txn);
    if (code)
        return kc__storage_file_error(file, code, "read the history of", err);
    for (uint64_t at = since; !code && !stopped && at < file->state.revision; at++)
        stopped = walk_one(&w, at + 1, &code);
    kc__storage_file_release_pages(file);
    mdb_txn_abort(w.txn);
    return code ? kc__storage_file_error(file, code, "read the history of", err) : stopped;
}

int kc__storage_file_watch(kc__storage *storage, const kc__storage_watch_opts *opts,
                           kc__storage_watch **ret_watch, kc_error *err)
{
    kc__storage_file *file = kc__storage_file_of(storage);
    int failed = 0;
    kc_locked (&file->lock)
        failed =
            kc__storage_watches_add(&file->watches, opts, file->state.revision, ret_watch, err);
    return failed;
}

void kc__storage_file_unwatch(kc__storage *storage, kc__storage_watch *watch)
{
    kc__storage_file *file = kc__storage_file_of(storage);
    kc_locked (&file->lock)
        kc__storage_watches_remove(watch);
}
