/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_commit.c: makes a batch of operations durable.
 *
 *     compare with LMDB and the pending changes ─▶ records in the image ─┬▶ journal, synced
 *                                                                       └▶ LMDB
 *
 * A batch goes to LMDB together with all pending changes if the journal is full, and alone if it is
 * large or the disk is full.
 *
 * Comparing changes nothing but the batch at the end of the image, which can be dropped: results go
 * to a scratch array, and the revision advances once the batch is durable. A batch in which no
 * operation is stored writes nothing.
 */
#include "apiserver/storage/file/file_internal.h"
#include "apiserver/storage/storage_group.h"

#include <errno.h>

/* Changes of history that a commit trims per operation: small steps, but faster than history
 * grows. */
#define TRIM_PER_OP 4
#define TRIM_LEAST  16
/* The same when the disk is full: history is what can be freed. */
#define TRIM_PRESSED 256

/* Pages are released after this many bytes were written: each touched page brings in 15
 * neighbours. */
#define RELEASE_EVERY (UINT64_C(512) << 10)

/* ---- comparing ---- */

typedef struct file_batch {
    kc__storage_file *file;
    MDB_txn *txn; /* Read transaction. */
    MDB_cursor *index;
    int64_t wall;
} file_batch;

static int current_revision(const file_batch *b, kc_str key, uint64_t *ret_revision)
{
    const kc__storage_pending_change *change = kc__storage_pending_find(b->file, key, ret_revision);
    if (change) {
        if (change->verb == KC__STORAGE_DELETE)
            *ret_revision = 0;
        return 0;
    }
    const int code = kc__storage_file_index_find(b->index, key, ret_revision);
    if (code == MDB_NOTFOUND)
        *ret_revision = 0;
    return code == MDB_NOTFOUND ? 0 : code;
}

static int run_file_op(void *user, const kc__storage_op *op, kc__storage_result *ret_result)
{
    file_batch *b = user;
    kc__storage_pending *pending = &b->file->pending;
    uint64_t current = 0;
    const int code = current_revision(b, op->key, &current);
    if (code)
        return code;
    if ((op->expected != KC__STORAGE_ANY && op->expected != current) ||
        (op->verb == KC__STORAGE_DELETE && current == 0)) {
        *ret_result = (kc__storage_result){.outcome = KC__STORAGE_CONFLICT, .revision = current};
        return 0;
    }
    const kc__storage_record record = {
        .verb = op->verb,
        .previous = current,
        .wall = b->wall,
        .key = op->key,
        .value = op->verb == KC__STORAGE_PUT ? op->value : (kc_str){0},
    };
    const uint64_t revision = b->file->folded.revision + pending->changes.n + 1;
    kc__storage_pending_add(pending, revision, &record);
    *ret_result = (kc__storage_result){.outcome = KC__STORAGE_STORED, .revision = revision};
    return 0;
}

static void undo_file_ops(void *user, size_t n)
{
    kc__storage_pending_undo(&((file_batch *)user)->file->pending, n);
}

/* Builds the batch and trims history. The batch is empty if no operation is to be stored. */
static int compare_batch(kc__storage_file *file, const kc__storage_op *ops, size_t n_ops)
{
    static const kc__storage_group_ops with = {.run = run_file_op, .undo = undo_file_ops};
    file_batch b = {.file = file, .wall = kc_clock_wall(file->opts.clock)};
    int code = kc__storage_file_begin_read(file, &b.txn);
    if (code)
        return code;
    code = mdb_cursor_open(b.txn, file->index_db, &b.index);
    if (!code) {
        code = kc__storage_run_groups(ops, n_ops, file->results.items, &with, &b);
        mdb_cursor_close(b.index);
    }
    mdb_txn_abort(b.txn);
    return code;
}

/* ---- storing ---- */

/* Called when the batch is durable. */
static void accept_batch(kc__storage_file *file, uint64_t revision, uint64_t bytes, size_t n_ops)
{
    MDB_txn *txn;
    file->state.revision = revision;
    file->state.history_bytes += bytes;
    if (kc__storage_file_begin_read(file, &txn))
        return; /* The next commit trims. */
    const size_t least = file->pressed ? TRIM_PRESSED : TRIM_LEAST;
    (void)kc__storage_file_history_trim(file, txn, least + TRIM_PER_OP * n_ops);
    mdb_txn_abort(txn);
}

/* Writes the batch to LMDB, and drops the trimmed history in the same transaction. */
static int store_directly(kc__storage_file *file, uint64_t revision, uint64_t bytes, size_t n_ops)
{
    const kc__storage_file_state before = file->state;
    accept_batch(file, revision, bytes, n_ops);
    const int code = kc__storage_file_fold(file);
    if (code)
        file->state = before;
    return code;
}

static uint64_t batch_bytes(const kc__storage_pending *pending)
{
    uint64_t bytes = 0;
    for (size_t i = pending->batch; i < pending->changes.n; i++)
        bytes += pending->changes.items[i].record.n;
    return bytes;
}

static int store_batch(kc__storage_file *file, bool journal, size_t n_ops)
{
    kc__storage_pending *pending = &file->pending;
    const uint64_t revision = file->folded.revision + pending->changes.n;
    const uint64_t bytes = batch_bytes(pending);
    int code = journal ? kc__storage_journal_append(file) : ENOSPC;
    if (code == 0) {
        kc__storage_pending_keep_batch(pending);
        accept_batch(file, revision, bytes, n_ops);
    } else if (code == ENOSPC) {
        code = store_directly(file, revision, bytes, n_ops);
    }
    return code;
}

static int commit_batch(kc__storage_file *file, const kc__storage_op *ops, size_t n_ops)
{
    if (file->unknown)
        return MDB_PANIC;
    kc__storage_file_write_ahead(file);
    const size_t bytes = kc__storage_pending_bound(ops, n_ops);
    const bool journal = kc__storage_journal_takes(file, bytes);
    int code = journal ? 0 : kc__storage_file_fold(file);
    if (!code)
        code = kc__storage_file_check_room(file, ops, n_ops);
    if (code)
        return code;
    if (!kc__storage_pending_begin(&file->pending, bytes))
        return ENOMEM;
    code = compare_batch(file, ops, n_ops);
    if (!code && file->pending.changes.n > file->pending.batch)
        code = store_batch(file, journal && kc__storage_journal_has_room(file, bytes), n_ops);
    if (code)
        kc__storage_pending_drop_batch(&file->pending);
    return code;
}

static void release_now_and_then(kc__storage_file *file, const kc__storage_op *ops, size_t n_ops)
{
    for (size_t i = 0; i < n_ops; i++)
        file->written += ops[i].value.n;
    if (file->written < RELEASE_EVERY)
        return;
    file->written = 0;
    kc__storage_file_release_pages(file);
}

static int commit_locked(kc__storage_file *file, const kc__storage_op *ops, size_t n_ops,
                         kc__storage_result *ret_results, uint64_t *ret_revision, kc_error *err)
{
    const uint64_t before = file->state.revision;
    kc_vec_clear(&file->results);
    kc_vec_reserve(&file->results, n_ops);
    const int code = commit_batch(file, ops, n_ops);
    kc__storage_file_metrics_update(file);
    if (code)
        return kc__storage_file_error(file, code, "write to", err);
    release_now_and_then(file, ops, n_ops);
    if (n_ops)
        memcpy(ret_results, file->results.items, n_ops * sizeof(*ret_results));
    if (ret_revision)
        *ret_revision = file->state.revision;
    if (file->state.revision != before)
        kc__storage_watches_tell(&file->watches, file->state.revision);
    return 0;
}

int kc__storage_file_commit(kc__storage *storage, const kc__storage_op *ops, size_t n_ops,
                            kc__storage_result *ret_results, uint64_t *ret_revision, kc_error *err)
{
    kc__storage_file *file = kc__storage_file_of(storage);
    int failed = 0;
    kc_locked (&file->lock)
        failed = commit_locked(file, ops, n_ops, ret_results, ret_revision, err);
    return failed;
}
