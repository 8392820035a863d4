/* SPDX-License-Identifier: Apache-2.0 */
/*
 * committer.c: the queue of writes, and the committer thread that drains it.
 *
 * While a batch waits for the disk, the next batch collects in the queue: a single writer gets one
 * commit per write, many concurrent writers share a commit. A batch is limited in operations and in
 * bytes, so that no write waits long behind a large one and the storage's transactions stay within
 * their limits. The writes of a group are always in the same batch.
 *
 * The thread also drops old events and cached snapshots, after each commit and periodically. It
 * ends when the store is closing and the `done` callback of every write has returned, because
 * `done` may submit more writes.
 */
#include "apiserver/store/store_internal.h"

#define BATCH_BYTES ((size_t)32 << 20)
/* An idle committer looks for expired events this many times per event age. */
#define SWEEPS 8

static void prepare_write(const kc__store *store, kc__store_write *write, bool joined)
{
    assert(write->cache->store == store && write->loop && write->done);
    assert(write->verb == KC__STORAGE_DELETE || write->object);
    write->next = NULL;
    write->joined = joined;
}

/* Call it with `queue` locked. */
static void enqueue_write(kc__store *store, kc__store_write *write)
{
    if (store->last)
        store->last->next = write;
    else
        store->first = write;
    if (!store->last)
        kc_cond_signal(
            &store->submitted); /* Otherwise the committer is busy or already signalled. */
    store->last = write;
    store->unfinished++;
}

void kc__store_submit(kc__store *first, kc__store_write *write)
{
    kc__store *store = write->cache->store;
    assert(store == first || first->others.n);
    prepare_write(store, write, false);
    kc_locked (&store->queue)
        enqueue_write(store, write);
}

void kc__store_submit_group(kc__store *first, kc__store_write *const *writes, size_t n)
{
    assert(n >= 1 && n <= KC__STORAGE_MAX_GROUP);
    kc__store *store = writes[0]->cache->store;
    assert(store == first || first->others.n);
    for (size_t i = 0; i < n; i++) {
        prepare_write(store, writes[i], i > 0);
        assert(writes[i]->loop == writes[0]->loop);
    }
    kc_locked (&store->queue)
        for (size_t i = 0; i < n; i++)
            enqueue_write(store, writes[i]);
}

void kc__store_finished(kc__store *store, size_t n)
{
    kc_locked (&store->queue) {
        store->unfinished -= n;
        if (store->closing && store->unfinished == 0)
            kc_cond_signal(&store->submitted);
    }
}

/* Keeps groups together. */
void kc__store_take_writes(kc__store *store, kc__store_batch *batch)
{
    size_t bytes = 0;
    while (store->first && (store->first->joined ||
                            (batch->writes.n < store->opts.max_batch && bytes < BATCH_BYTES))) {
        kc__store_write *write = store->first;
        store->first = write->next;
        if (write->object)
            bytes += kc_object_size(write->object);
        kc_vec_push(&batch->writes, write);
    }
    if (!store->first)
        store->last = NULL;
}

/* Shorter while a burst of events settles. */
int64_t kc__store_sweep_interval(const kc__store *store)
{
    const kc__store_opts *o = &store->opts;
    const int64_t age = o->event_age / SWEEPS;
    return store->recent.bytes > o->settled_bytes ? KC_MIN(age, o->settle_age / SWEEPS) : age;
}

/* Waits for work, with a timeout. Returns false when the store is closed and no write is left. */
static bool next_batch(kc__store *store, kc__store_batch *batch)
{
    const kc__store_opts *o = &store->opts;
    const int64_t sweep = KC_MIN(kc_clock_deadline(o->clock, kc__store_sweep_interval(store)),
                                 kc__store_recovery_deadline(store));
    bool over = false;
    kc_vec_clear(&batch->writes);
    kc_locked (&store->queue) {
        while (!store->first && !(over = store->closing && store->unfinished == 0))
            if (!kc_cond_wait_until(&store->submitted, &store->queue, o->clock, sweep))
                break;
        kc__store_take_writes(store, batch);
    }
    return !over;
}

static void sweep_kept(kc__store *store, int64_t before)
{
    kc__watch_cache *cache;
    for (size_t i = 0; (cache = kc__store_next_cache(store, &i));)
        kc__store_snapshot_cache_sweep(&cache->snapshots, before);
}

void kc__store_sweep(kc__store *store, int64_t *swept)
{
    const kc__store_opts *o = &store->opts;
    const int64_t now = kc_clock_now(o->clock);
    kc__store_recent_trim(&store->recent, now, o);
    kc_gauge_set(store->metrics.events, (double)store->recent.n);
    kc_gauge_set(store->metrics.event_bytes, (double)store->recent.bytes);
    const bool due = now - *swept >= o->event_age / SWEEPS;
    kc__store_holds_check(store, due);
    if (!due)
        return;
    *swept = now;
    sweep_kept(store, now - o->event_age);
    kc__store_free_unused_caches(store);
}

void kc__store_committer_run(void *user)
{
    kc__store *store = user;
    kc__store_batch batch = {.store = store, .revision = kc__store_revision(store)};
    int64_t swept = kc_clock_now(store->opts.clock);
    while (next_batch(store, &batch)) {
        kc__store_recovery_resolve(&batch);
        if (batch.writes.n) {
            kc__store_batch_run(&batch);
            kc__store_complete_writes(&batch);
        }
        kc__store_sweep(store, &swept);
    }
    kc__store_batch_done(&batch);
}
