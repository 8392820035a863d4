/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storage_file_compact.c: forgetting old history.
 *
 * A change with the record R that replaced P leaves the history when `compacted` moves past R. Then
 * nobody can ask for the previous value of R any more, so P goes; and if R is a deletion, it
 * goes too. If R is a put it stays: it is live, or a later change names it as its previous and
 * takes it along one day. So forgetting costs the same for each change, whatever the store holds,
 * and every commit forgets a little more than it adds.
 *
 *     log     2 put a   3 put b   4 put a   5 delete b   6 put a
 *     compacted 4:       drops 2 (4 replaced it). 3 stays: 5 still needs it as its previous.
 *     compacted 5:       drops 3 and 5.
 */
#include "apiserver/storage/storage_file_internal.h"

/* Changes dropped in one transaction by a compaction that was asked for. */
#define COMPACT_STEP 5000

int kc__history_drop_oldest(const kc__file *file, MDB_txn *txn, kc__state *state)
{
    const uint64_t revision = state->compacted + 1;
    kc__record record = {0};
    int code = kc__log_get(file, txn, revision, &record);
    if (code)
        return code;
    const uint64_t size = kc__record_size(&record), previous = record.previous;
    const bool deletion = record.verb == KC_STORAGE_DELETE;
    if (previous)
        code = kc__log_delete(file, txn, previous);
    if (!code && deletion)
        code = kc__log_delete(file, txn, revision);
    if (code)
        return code;
    state->compacted = revision;
    state->history_bytes -= KC_MIN(size, state->history_bytes);
    return 0;
}

static int is_too_old(const kc__file *file, MDB_txn *txn, const kc__state *state, bool *ret)
{
    kc__record record;
    const int code = kc__log_get(file, txn, state->compacted + 1, &record);
    if (code == 0)
        *ret = kc_clock_wall(file->opts.clock) - record.wall > file->opts.history_age;
    return code;
}

static bool is_too_much(const kc__file *file, const kc__state *state)
{
    const uint64_t events = state->revision - state->compacted;
    return state->history_bytes > file->opts.history_bytes ||
           (file->opts.history_events && events > file->opts.history_events);
}

int kc__history_trim(const kc__file *file, MDB_txn *txn, kc__state *state, size_t limit)
{
    while (limit-- > 0 && state->compacted < state->revision) {
        bool drop = is_too_much(file, state);
        int code = drop ? 0 : is_too_old(file, txn, state, &drop);
        if (code || !drop)
            return code;
        code = kc__history_drop_oldest(file, txn, state);
        if (code)
            return code;
    }
    return 0;
}

static int compact_step(kc__file *file, uint64_t revision)
{
    MDB_txn *txn;
    kc__state state = file->state;
    int code = kc__file_begin_write(file, &txn);
    if (code)
        return code;
    for (int i = 0; !code && i < COMPACT_STEP && state.compacted < revision; i++)
        code = kc__history_drop_oldest(file, txn, &state);
    if (!code)
        code = kc__log_put_state(file, txn, &state);
    if (code) {
        mdb_txn_abort(txn);
        return code;
    }
    code = mdb_txn_commit(txn);
    if (!code)
        file->state = state;
    return code;
}

int kc__file_compact(kc_storage *storage, uint64_t revision, kc_error *err)
{
    kc__file *file = kc__file_of(storage);
    if (revision > file->state.revision)
        return kc_error_set(err, KC_BAD_REQUEST,
                            "cannot compact up to revision %llu: the latest is %llu",
                            (unsigned long long)revision, (unsigned long long)file->state.revision);
    while (file->state.compacted < revision) {
        int code = compact_step(file, revision);
        if (code == MDB_MAP_FULL)
            code = kc__file_grow(file);
        if (code)
            return kc__file_error(file, code, "compact", err);
    }
    return 0;
}
