/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_compact.c: drops old history.
 *
 * A change with record R that replaced P leaves the history when `compacted` moves past R. The
 * previous value of R can no longer be requested, so P is removed; if R is a deletion, R is removed
 * too. If R is a put, it stays: it is live, or a later change names it as its previous record and
 * removes it eventually. So dropping costs the same for each change, whatever the size of the
 * store.
 *
 *     log     2 put a   3 put b   4 put a   5 delete b   6 put a
 *     compacted 4:       drops 2 (4 replaced it). 3 stays: 5 still needs it as its previous.
 *     compacted 5:       drops 3 and 5.
 *
 * Every commit advances `compacted` in memory a little faster than it adds changes; the next fold
 * removes the records. A crash before that fold resets `compacted`, which only makes history
 * longer.
 *
 * Raising the revision of a store (advance) drops all of its history.
 */
#include "apiserver/storage/file/file_internal.h"

/* Changes that an explicit compaction drops per transaction. */
#define COMPACT_STEP 5000

int kc__storage_file_history_drop_oldest(const kc__storage_file *file, MDB_txn *txn,
                                         kc__storage_file_state *state)
{
    const uint64_t revision = state->compacted + 1;
    kc__storage_record record = {0};
    int code = kc__storage_file_log_get(file, txn, revision, &record);
    if (code)
        return code;
    const uint64_t size = kc__storage_record_size(&record), previous = record.previous;
    const bool deletion = record.verb == KC__STORAGE_DELETE;
    if (previous)
        code = kc__storage_file_log_delete(file, txn, previous);
    if (!code && deletion)
        code = kc__storage_file_log_delete(file, txn, revision);
    if (code)
        return code;
    state->compacted = revision;
    state->history_bytes -= KC_MIN(size, state->history_bytes);
    return 0;
}

static bool is_too_old(const kc__storage_file *file, const kc__storage_record *record)
{
    return kc_clock_wall(file->opts.clock) - record->wall > file->opts.history_age;
}

static bool is_too_much(const kc__storage_file *file, const kc__storage_file_state *state)
{
    const uint64_t events = state->revision - state->compacted;
    return file->pressed || state->history_bytes > file->opts.history_bytes ||
           (file->opts.history_events && events > file->opts.history_events);
}

int kc__storage_file_history_trim(kc__storage_file *file, MDB_txn *txn, size_t limit)
{
    kc__storage_file_state *state = &file->state;
    kc__storage_record oldest;
    while (limit-- > 0 && state->compacted < state->revision) {
        const int code = kc__storage_file_record(file, txn, state->compacted + 1, &oldest);
        if (code)
            return code;
        if (!is_too_much(file, state) && !is_too_old(file, &oldest))
            break;
        state->compacted++;
        state->history_bytes -= KC_MIN(kc__storage_record_size(&oldest), state->history_bytes);
    }
    return 0;
}

/* Compacts in steps, each a transaction. */
static int compact_to(kc__storage_file *file, uint64_t revision)
{
    int code = kc__storage_file_fold(file);
    while (!code && file->state.compacted < revision) {
        file->state.compacted = KC_MIN(file->state.compacted + COMPACT_STEP, revision);
        code = kc__storage_file_fold(file);
        file->state = file->folded;
    }
    return code;
}

static int compact_locked(kc__storage_file *file, uint64_t revision, kc_error *err)
{
    if (revision > file->state.revision)
        return kc_error_set(err, KC_BAD_REQUEST,
                            "cannot compact up to revision %llu: the latest is %llu",
                            (unsigned long long)revision, (unsigned long long)file->state.revision);
    const int code = file->state.compacted < revision ? compact_to(file, revision) : 0;
    kc__storage_file_metrics_update(file);
    return code ? kc__storage_file_error(file, code, "compact", err) : 0;
}

int kc__storage_file_compact(kc__storage *storage, uint64_t revision, kc_error *err)
{
    kc__storage_file *file = kc__storage_file_of(storage);
    int failed = 0;
    kc_locked (&file->lock)
        failed = compact_locked(file, revision, err);
    return failed;
}

/* ---- raising the revision ---- */

/* Once everything up to the latest revision is compacted, no record is history: a gap in the
 * numbers after it is never walked. */
static int advance_locked(kc__storage_file *file, uint64_t revision)
{
    if (revision <= file->state.revision)
        return 0;
    const int code = compact_to(file, file->state.revision);
    if (code)
        return code;
    kc__storage_file_state next = file->folded;
    next.revision = next.compacted = revision;
    next.history_bytes = 0;
    return kc__storage_file_set_state(file, &next);
}

int kc__storage_file_advance(kc__storage *storage, uint64_t revision, kc_error *err)
{
    kc__storage_file *file = kc__storage_file_of(storage);
    int code = 0;
    kc_locked (&file->lock)
        code = advance_locked(file, revision);
    return code ? kc__storage_file_error(file, code, "raise the revision of", err) : 0;
}
