/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_fold.c: writes the pending changes to LMDB in one transaction (a fold).
 *
 * LMDB writes the changed pages, syncs, and then writes and syncs one of two header pages: from
 * that moment on the changes are in LMDB, before it the previous state is. The journal is not
 * touched; when the store is opened, its records up to LMDB's revision are skipped, and the next
 * batch overwrites them.
 *
 * A transaction that finds no room is divided into smaller ones: each frees pages for the next but
 * one. A batch that is not in the journal must be stored as a whole or not at all, so it is not
 * divided. Pages that a failed transaction wrote are not referenced.
 */
#include "apiserver/storage/file/file_internal.h"

#include <errno.h>

/* Changes per transaction if there is little room. */
#define SMALL_FOLD 32

static int fold_change(const kc__storage_file *file, MDB_txn *txn, MDB_cursor *index, size_t number)
{
    const kc__storage_pending_change *change = &file->pending.changes.items[number];
    const uint64_t revision = file->folded.revision + 1 + number;
    uint64_t current = 0;
    kc__storage_record record;
    if (!kc__storage_record_read(change->record, revision, &record))
        return MDB_CORRUPTED;
    int code = kc__storage_file_index_find(index, record.key, &current);
    if (code && code != MDB_NOTFOUND)
        return code;
    if (current != record.previous)
        return MDB_CORRUPTED; /* The journal belongs to another store. */
    code = kc__storage_file_log_append(file, txn, revision, change->record);
    if (code)
        return code;
    return record.verb == KC__STORAGE_PUT
               ? kc__storage_file_index_put(index, record.key, revision, current != 0)
               : mdb_cursor_del(index, 0);
}

/* Writes the first `n` changes and drops the trimmed history. */
static int fill_transaction(kc__storage_file *file, MDB_txn *txn, size_t n,
                            kc__storage_file_state *next)
{
    MDB_cursor *index;
    int code = mdb_cursor_open(txn, file->index_db, &index);
    if (code)
        return code;
    for (size_t i = 0; !code && i < n; i++) {
        code = fold_change(file, txn, index, i);
        next->revision++;
        next->history_bytes += file->pending.changes.items[i].record.n;
    }
    mdb_cursor_close(index);
    const uint64_t compacted = KC_MIN(file->state.compacted, next->revision);
    while (!code && next->compacted < compacted)
        code = kc__storage_file_history_drop_oldest(file, txn, next);
    return code ? code : kc__storage_file_log_put_state(file, txn, next);
}

/*
 * After a commit that failed at its header page, LMDB does not know its own state and refuses every
 * operation. Returns MDB_PANIC then, so that the caller learns it now and not with the next commit.
 */
static int known_or_panic(kc__storage_file *file, int code)
{
    MDB_txn *txn;
    const int probe = kc__storage_file_begin_write(file, &txn);
    if (probe == 0)
        mdb_txn_abort(txn);
    if (probe != MDB_PANIC)
        return code;
    file->unknown = true;
    return MDB_PANIC;
}

static int fold_first(kc__storage_file *file, size_t n)
{
    MDB_txn *txn;
    kc__storage_file_state next = file->folded;
    kc__storage_file_write_ahead(file);
    int code = kc__storage_file_begin_write(file, &txn);
    if (code)
        return code;
    code = fill_transaction(file, txn, n, &next);
    if (code) {
        mdb_txn_abort(txn);
        return code;
    }
    code = mdb_txn_commit(txn);
    if (code)
        return known_or_panic(file, code);
    file->folded = next;
    kc__storage_pending_forget(&file->pending, n);
    return 0;
}

static int fold_and_grow(kc__storage_file *file, size_t n)
{
    int code;
    while ((code = fold_first(file, n)) == MDB_MAP_FULL)
        if ((code = kc__storage_file_grow(file)))
            break;
    return code;
}

static int fold_in_steps(kc__storage_file *file)
{
    int code = 0;
    while (!code && file->pending.changes.n)
        code = fold_and_grow(file, KC_MIN(file->pending.changes.n, SMALL_FOLD));
    return code;
}

int kc__storage_file_fold(kc__storage_file *file)
{
    const kc__storage_pending *pending = &file->pending;
    if (!pending->changes.n && file->folded.compacted == file->state.compacted)
        return 0;
    const bool journal_holds_changes = pending->end > 0;
    const bool journaled = pending->batch == pending->changes.n;
    int code = fold_and_grow(file, pending->changes.n);
    if (journaled && (code == ENOSPC || code == MDB_MAP_FULL))
        code = fold_in_steps(file);
    if (!code && journal_holds_changes)
        kc__storage_file_metrics_folded(file);
    return code;
}

static int write_state(kc__storage_file *file, const kc__storage_file_state *next)
{
    MDB_txn *txn;
    int code = kc__storage_file_begin_write(file, &txn);
    if (code)
        return code;
    code = kc__storage_file_log_put_state(file, txn, next);
    if (code) {
        mdb_txn_abort(txn);
        return code;
    }
    code = mdb_txn_commit(txn);
    return code ? known_or_panic(file, code) : 0;
}

int kc__storage_file_set_state(kc__storage_file *file, const kc__storage_file_state *next)
{
    int code;
    while ((code = write_state(file, next)) == MDB_MAP_FULL)
        if ((code = kc__storage_file_grow(file)))
            break;
    if (!code)
        file->state = file->folded = *next;
    return code;
}
