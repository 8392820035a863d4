/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recover.c: recovery from a batch of unknown outcome.
 *
 *     commit: unknown ─▶ its writes get 500; its changes are undone in the trees and kept here
 *          ─▶ every further write gets 500, /readyz reports why
 *          ─▶ the storage recovers: after 0.1 s, 0.2 s, … 30 s
 *               revision before the batch   the batch is not stored: drop it
 *               revision of the batch       it is stored: reapply its changes, publish them
 *               any other                   memory and storage differ: only a restart helps, so
 *                                           the owner of the store ends the process
 *
 * No other batch is stored meanwhile, so the trees are as they were before the batch, and
 * reapplying it is exact. Watchers receive its events late, but in order. Runs on the committer's
 * thread.
 */
#include "apiserver/store/store_internal.h"

#define FIRST_DELAY (100 * KC_MILLISECOND)
#define MOST_DELAY  (30 * KC_SECOND)

void kc__store_recovery_begin(kc__store_batch *batch)
{
    kc__store *store = batch->store;
    kc__store_recovery *recovery = &store->recovery;
    if (!store->storage->backend->recover)
        return;
    kc_vec_each (&batch->changes, change)
        kc_vec_push(&recovery->changes,
                    ((kc__store_change){change->cache, kc__store_event_ref(change->event)}));
    recovery->open = true;
    recovery->delay = FIRST_DELAY;
    recovery->next = kc_clock_deadline(store->opts.clock, recovery->delay);
}

void kc__store_recovery_done(kc__store_recovery *recovery)
{
    kc_vec_each (&recovery->changes, change)
        kc__store_event_unref(change->event);
    kc_vec_done(&recovery->changes);
    *recovery = (kc__store_recovery){0};
}

int64_t kc__store_recovery_deadline(const kc__store *store)
{
    return store->recovery.open ? store->recovery.next : KC_FOREVER;
}

static void wait_longer(kc__store *store, const kc_error *err)
{
    kc__store_recovery *recovery = &store->recovery;
    kc_log_warn(store->opts.log, "storage recovery failed; retrying", kc_kv("err", err),
                kc_kv_duration("after", recovery->delay));
    recovery->delay = KC_MIN(2 * recovery->delay, MOST_DELAY);
    recovery->next = kc_clock_deadline(store->opts.clock, recovery->delay);
}

static void redo_changes(kc__store_batch *batch, const kc__store_change *changes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        kc__store_batch_change(batch, changes[i].cache, kc__store_event_ref(changes[i].event));
    if (n)
        kc__store_batch_publish(batch, changes[n - 1].event->revision);
}

static void resolve(kc__store_batch *batch, bool stored)
{
    kc__store *store = batch->store;
    kc__store_recovery *recovery = &store->recovery;
    if (stored)
        redo_changes(batch, recovery->changes.items, recovery->changes.n);
    kc_log_info(store->opts.log, "storage recovered", kc_kv("last_batch_stored", stored),
                kc_kv("revision", kc__store_revision(store)));
    kc__store_recovery_done(recovery);
    kc_counter_inc(store->metrics.recoveries);
    kc__store_set_health(store, NULL);
}

/* Marks the store as failed until it is opened again. */
static void abandon_recovery(kc__store *store, uint64_t revision)
{
    kc_scoped(kc_error) err = {0};
    kc_error_set(
        &err, KC_INTERNAL,
        "the storage is at revision %llu and the store at %llu: the server must be restarted",
        (unsigned long long)revision, (unsigned long long)kc__store_revision(store));
    kc__store_recovery_done(&store->recovery);
    kc__store_set_inconsistent(store, &err);
}

void kc__store_recovery_resolve(kc__store_batch *batch)
{
    kc__store *store = batch->store;
    const kc__store_recovery *recovery = &store->recovery;
    if (!recovery->open || kc_clock_now(store->opts.clock) < recovery->next)
        return;
    kc_scoped(kc_error) err = {0};
    uint64_t revision = 0;
    if (kc__storage_recover(store->storage, &revision, &err) < 0) {
        wait_longer(store, &err);
        return;
    }
    const uint64_t before = kc__store_revision(store);
    if (revision == before || revision == before + recovery->changes.n)
        resolve(batch, revision != before);
    else
        abandon_recovery(store, revision);
}
