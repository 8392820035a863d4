/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storage_file_commit.c: a batch of operations becomes one LMDB transaction.
 *
 * LMDB writes the changed pages, syncs, and then writes one of two header pages: the batch exists
 * from that moment on, and before it the former state does. The same sync covers a second copy of
 * the batch, in case the header page is lost (storage_file_redo.c). Results go to a scratch
 * array and the state to a copy first, because a transaction may have to be tried again under a
 * larger map, or fail altogether.
 *
 * A batch in which nothing is stored writes nothing.
 */
#include "apiserver/storage/storage_file_internal.h"

/* A commit forgets at most this much: old history goes away in small steps, faster than it comes.
 */
#define TRIM_PER_OP 4
#define TRIM_LEAST  16

/* Pages are released once this much was written. It takes some 50 us, a tenth of what one object
 * takes in the whole; and each page touched brings 15 neighbours. */
#define RELEASE_EVERY (UINT64_C(512) << 10)

/* One try. */
typedef struct batch {
    kc__file *file;
    MDB_txn *txn;
    MDB_cursor *index;
    kc__state state;
    int64_t wall;
} batch;

static int store(batch *b, const kc_storage_op *op, uint64_t previous)
{
    const kc__record record = {
        .verb = op->verb,
        .previous = previous,
        .wall = b->wall,
        .key = op->key,
        .value = op->verb == KC_STORAGE_PUT ? op->value : (kc_str){0},
    };
    const uint64_t revision = b->state.revision + 1;
    int code = kc__log_append(b->file, b->txn, revision, &record);
    if (code)
        return code;
    kc__redo_add(b->file, revision, &record);
    code = op->verb == KC_STORAGE_PUT
               ? kc__file_index_put(b->index, op->key, revision, previous != 0)
               : mdb_cursor_del(b->index, 0);
    b->state.revision = revision;
    b->state.history_bytes += kc__record_size(&record);
    return code;
}

static int run(batch *b, const kc_storage_op *op, kc_storage_result *result)
{
    if (kc_storage_op_problem(op)) {
        *result = (kc_storage_result){.outcome = KC_STORAGE_REFUSED};
        return 0;
    }
    uint64_t current = 0;
    int code = kc__file_index_find(b->index, op->key, &current);
    if (code && code != MDB_NOTFOUND)
        return code;
    if ((op->expected != KC_STORAGE_ANY && op->expected != current) ||
        (op->verb == KC_STORAGE_DELETE && current == 0)) {
        *result = (kc_storage_result){.outcome = KC_STORAGE_CONFLICT, .revision = current};
        return 0;
    }
    code = store(b, op, current);
    *result = (kc_storage_result){.outcome = KC_STORAGE_STORED, .revision = b->state.revision};
    return code;
}

static int run_all(batch *b, const kc_storage_op *ops, size_t n_ops, kc_storage_result *results)
{
    int code = mdb_cursor_open(b->txn, b->file->index_db, &b->index);
    for (size_t i = 0; !code && i < n_ops; i++)
        code = run(b, &ops[i], &results[i]);
    if (code || b->state.revision == b->file->state.revision)
        return code;
    code = kc__history_trim(b->file, b->txn, &b->state, TRIM_LEAST + TRIM_PER_OP * n_ops);
    return code ? code : kc__log_put_state(b->file, b->txn, &b->state);
}

/*
 * A commit that failed at its header page leaves LMDB not knowing what it holds. It then refuses
 * everything, which the caller is to hear at once and not the next time. One that failed before
 * must not come back by its redo.
 */
static int known_or_panic(kc__file *file, int code)
{
    MDB_txn *txn;
    const int probe = kc__file_begin_write(file, &txn);
    if (probe == 0)
        mdb_txn_abort(txn);
    if (probe != MDB_PANIC && kc__redo_strike_out(file) == 0)
        return code;
    file->unknown = true;
    return MDB_PANIC;
}

/* The end of a try in which something was stored. */
static int finish(batch *b)
{
    kc__file *file = b->file;
    int code = kc__redo_write(file);
    if (code) {
        mdb_txn_abort(b->txn);
        return code; /* Half a redo has no valid checksum. */
    }
    code = mdb_txn_commit(b->txn);
    if (code)
        return known_or_panic(file, code);
    code = kc__redo_end(file);
    if (code) {
        file->unknown = true;
        return MDB_PANIC;
    }
    file->state = b->state;
    return 0;
}

static int attempt(kc__file *file, const kc_storage_op *ops, size_t n_ops)
{
    batch b = {.file = file, .state = file->state, .wall = kc_clock_wall(file->opts.clock)};
    kc__file_write_ahead(file);
    int code = kc__file_begin_write(file, &b.txn);
    if (code)
        return code;
    kc__redo_begin(file);
    code = run_all(&b, ops, n_ops, file->results.items);
    if (code || b.state.revision == file->state.revision) {
        mdb_txn_abort(b.txn);
        return code;
    }
    return finish(&b);
}

static void release_now_and_then(kc__file *file, const kc_storage_op *ops, size_t n_ops)
{
    for (size_t i = 0; i < n_ops; i++)
        file->written += ops[i].value.n;
    if (file->written < RELEASE_EVERY)
        return;
    file->written = 0;
    kc__file_release_pages(file);
}

int kc__file_commit(kc_storage *storage, const kc_storage_op *ops, size_t n_ops,
                    kc_storage_result *ret_results, uint64_t *ret_revision, kc_error *err)
{
    kc__file *file = kc__file_of(storage);
    int code;
    kc_vec_clear(&file->results);
    kc_vec_reserve(&file->results, n_ops);
    while ((code = attempt(file, ops, n_ops)) == MDB_MAP_FULL)
        if ((code = kc__file_grow(file)))
            break;
    if (code)
        return kc__file_error(file, code, "write to", err);
    release_now_and_then(file, ops, n_ops);
    if (n_ops)
        memcpy(ret_results, file->results.items, n_ops * sizeof(*ret_results));
    if (ret_revision)
        *ret_revision = file->state.revision;
    return 0;
}
