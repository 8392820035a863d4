/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replica.c: the thread of a store over a shared storage, and its inbox.
 *
 * Each round takes everything that has arrived: events, decided groups, new writes, readers. Events
 * are applied first, so that a reader that waits for a revision of this round is completed in it.
 *
 * Catching up. An outcome or a query names a revision that the events may not have reached, because
 * the last changes were made below another prefix. While a request waits, the thread requests the
 * progress of the storage, after PROGRESS_AFTER and then repeatedly.
 *
 * Idle stores. Every PROBE_EVERY the thread queries the revision of the storage and catches up with
 * it, so that bookmarks of idle resources advance while others write elsewhere in the storage.
 */
#include "apiserver/store/replica_internal.h"

#define PROGRESS_AFTER (5 * KC_MILLISECOND)
#define RELOAD_AFTER   (1 * KC_SECOND)
/* More often than a watch gets a bookmark. */
#define PROBE_EVERY (10 * KC_SECOND)

/* ---- the inbox ---- */

static bool is_inbox_empty(const kc__store_replica *r)
{
    const kc__store_replica_inbox *in = &r->inbox;
    return !in->first && kc_dlist_empty(&in->decided) && !in->queried && !in->expired &&
           (!in->probed || r->querying) && in->complete <= kc__store_revision(r->store);
}

void kc__store_replica_wake(kc__store_replica *r)
{
    kc_cond_signal(&r->store->submitted);
}

/* With store.queue locked. Readers without a query stay (replica_sync.c). */
static void take_inbox(kc__store_replica *r)
{
    kc__store_replica_inbox *in = &r->inbox, *out = &r->taken_inbox;
    kc__store_arrival **end = &out->first; /* Of a revision that is not complete yet. */
    while (*end)
        end = &(*end)->next;
    *end = kc_take(in->first);
    in->last = NULL;
    out->complete = in->complete;
    kc_dlist_splice(&out->decided, &in->decided);
    out->behind = kc_take(in->behind);
    out->queried = in->queried;
    in->queried = 0;
    out->expired = in->expired;
    in->expired = false;
    r->arrived_bytes = 0;
    kc_gauge_set(r->store->metrics.inbox_bytes, 0);
    kc_cond_broadcast(&r->taken);
}

/* With store.queue locked. */
static void probe_if_due(kc__store_replica *r)
{
    const kc_clock *clock = r->store->opts.clock;
    if (kc_clock_now(clock) < r->next_probe)
        return;
    r->inbox.probed = true;
    r->next_probe = kc_clock_deadline(clock, PROBE_EVERY);
}

/* Waits for work, with a timeout. Returns false when the store is closed and nothing is left: no
 * write, no reader, and no query in flight. */
static bool next_round(kc__store_replica *r)
{
    kc__store *store = r->store;
    const kc_clock *clock = store->opts.clock;
    const int64_t until =
        KC_MIN(KC_MIN(kc_clock_deadline(clock, kc__store_sweep_interval(store)), r->next_progress),
               r->next_probe);
    bool over = false;
    kc_vec_clear(&r->batch.writes);
    kc_locked (&store->queue) {
        while (!store->first && is_inbox_empty(r) &&
               !(over = store->closing && store->unfinished == 0 && !r->querying))
            if (!kc_cond_wait_until(&store->submitted, &store->queue, clock, until))
                break;
        probe_if_due(r);
        take_inbox(r);
        kc__store_take_writes(store, &r->batch);
    }
    return !over;
}

/* ---- catching up ---- */

void kc__store_replica_want(kc__store_replica *r, uint64_t revision)
{
    r->wanted = KC_MAX(r->wanted, revision);
}

static void request_progress(kc__store_replica *r)
{
    const kc_clock *clock = r->store->opts.clock;
    if (r->wanted <= kc__store_revision(r->store)) {
        r->next_progress = KC_FOREVER;
        return;
    }
    if (r->next_progress == KC_FOREVER) {
        r->next_progress = kc_clock_deadline(clock, PROGRESS_AFTER);
    } else if (kc_clock_now(clock) >= r->next_progress) {
        if (r->watch)
            kc__storage_request_progress(r->store->storage, r->watch, r->wanted);
        r->next_progress = kc_clock_deadline(clock, 4 * PROGRESS_AFTER);
    }
}

/* ---- the watch ---- */

static int start_watch(kc__store_replica *r, kc_error *err)
{
    const kc__storage_watch_opts opts = {.since = kc__store_revision(r->store),
                                         .event = kc__store_replica_arrive,
                                         .progress = kc__store_replica_progress,
                                         .failed = kc__store_replica_expire,
                                         .user = r};
    return kc__storage_watch_start(r->store->storage, &opts, &r->watch, err);
}

/* After events were lost: reads everything, and watches from there. Retries until it succeeds;
 * meanwhile reads that need the latest state wait or fail, and writes are not acknowledged. */
static void restart_watch(kc__store_replica *r)
{
    kc_scoped(kc_error) err = {0};
    kc_locked (&r->store->queue) {
        r->discarding = true;
        kc_cond_broadcast(&r->taken);
    }
    r->watch = kc__storage_watch_stop(r->store->storage, r->watch);
    kc_locked (&r->store->queue) {
        kc__store_arrivals_free(kc_take(r->inbox.first));
        r->inbox.last = NULL;
        r->discarding = false;
    }
    if (kc__store_replica_reload(r, &err) == 0 && start_watch(r, &err) == 0)
        return;
    kc_log_warn(r->store->opts.log, "reloading the store failed; retrying", kc_kv("err", &err));
    kc__store_set_health(r->store, &err);
    kc_clock_sleep(r->store->opts.clock, RELOAD_AFTER);
    kc_locked (&r->store->queue)
        r->inbox.expired = true;
}

/* ---- the thread ---- */

void kc__store_replica_run(void *user)
{
    kc__store *store = user;
    kc__store_replica *r = store->replica;
    int64_t swept = kc_clock_now(store->opts.clock);
    while (next_round(r)) {
        if (r->taken_inbox.expired) {
            kc__store_arrivals_free(kc_take(r->taken_inbox.first));
            restart_watch(r);
        }
        kc__store_replica_apply(r);
        kc__store_replica_send(r);
        kc__store_replica_settle(r);
        kc__store_replica_sync(r);
        if (r->batch.writes.n)
            kc__store_complete_writes(&r->batch);
        request_progress(r);
        kc__store_sweep(store, &swept);
    }
}

int kc__store_replica_start(kc__store *store, kc_error *err)
{
    kc__store_replica *r = store->replica = kc_new(kc__store_replica);
    r->store = store;
    r->batch.store = store;
    r->batch.revision = r->inbox.complete = kc__store_revision(store);
    r->next_progress = KC_FOREVER;
    r->next_probe = kc_clock_deadline(store->opts.clock, PROBE_EVERY);
    r->storage_read = kc__store_storage_read_pool(store->opts.clock);
    kc_cond_init(&r->taken);
    kc_dlist_init(&r->inbox.decided);
    kc_dlist_init(&r->taken_inbox.decided);
    kc_dlist_init(&r->waiting);
    kc_dlist_init(&r->settling);
    return start_watch(r, err);
}

/* The thread has ended. */
kc__store_replica *kc__store_replica_free(kc__store_replica *r)
{
    if (!r)
        return NULL;
    r->storage_read = kc_thread_pool_stop(r->storage_read, NULL);
    r->watch = kc__storage_watch_stop(r->store->storage, r->watch);
    kc__store_arrivals_free(r->inbox.first);
    kc__store_batch_done(&r->batch);
    kc_map_done(&r->sent);
    kc_cond_done(&r->taken);
    free(r);
    return NULL;
}
