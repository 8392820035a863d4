/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storage_file_history.c: the changes after a revision, so that a watch goes on where it was.
 *
 * Every revision after `compacted` has its record in the log, without a gap, and the record that a
 * change replaced is there as well (storage_file_compact.c): history is a walk of the log. What
 * stands below `compacted` are live values that nobody has touched since, and no history.
 */
#include "apiserver/storage/storage_file_internal.h"

typedef struct telling {
    kc__file *file;
    MDB_txn *txn;
    kc_storage_event_fn *each;
    void *user;
} telling;

/* 0, an LMDB code in *ret_code, or what the callback returned. */
static int tell(const telling *t, uint64_t revision, int *ret_code)
{
    kc__record record = {0}, previous = {0};
    *ret_code = kc__log_get(t->file, t->txn, revision, &record);
    if (!*ret_code && record.previous)
        *ret_code = kc__log_get(t->file, t->txn, record.previous, &previous);
    if (*ret_code)
        return 0;
    const kc_storage_event event = {
        .verb = record.verb,
        .revision = revision,
        .key = record.key,
        .value = record.value,
        .previous_revision = record.previous,
        .previous_value = previous.value,
    };
    return t->each(&event, t->user);
}

static int expired(uint64_t since, uint64_t compacted, kc_error *err)
{
    return kc_error_set(err, KC_EXPIRED,
                        "revision %llu is too old: history is kept since revision %llu",
                        (unsigned long long)since, (unsigned long long)compacted);
}

int kc__file_history(kc_storage *storage, uint64_t since, kc_storage_event_fn *each, void *user,
                     kc_error *err)
{
    telling t = {.file = kc__file_of(storage), .each = each, .user = user};
    kc__state state = {0};
    int stopped = 0, code = kc__file_begin_read(t.file, &t.txn);
    if (code)
        return kc__file_error(t.file, code, "read the history of", err);
    code = kc__log_get_state(t.file, t.txn, &state);
    const bool too_old = !code && since < state.compacted;
    if (!code && !too_old)
        for (uint64_t at = since; !code && !stopped && at < state.revision; at++)
            stopped = tell(&t, at + 1, &code);
    kc__file_release_pages(t.file);
    kc__file_end_read(t.file, t.txn);
    if (code)
        return kc__file_error(t.file, code, "read the history of", err);
    return too_old ? expired(since, state.compacted, err) : stopped;
}
