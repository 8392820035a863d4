/* SPDX-License-Identifier: Apache-2.0 */
/*
 * committer.c: the queue of writes, and the one thread that takes from it.
 *
 * While a batch waits for the disk, the next one gathers in the queue: one writer alone gets a
 * commit for each write, many share one. A batch is limited in operations and in bytes, so that
 * nobody waits long behind a large one and the storage's transactions stay within their limits.
 *
 * The thread also lets old events and kept snapshots go, when it commits and now and then in
 * between. It ends when the store is closing and every write's `done` has returned: they may submit
 * more.
 */
#include "apiserver/store/store_internal.h"

#define BATCH_BYTES ((size_t)32 << 20)
/* Of the age of events: how often it looks for old ones when there is nothing else to do. */
#define SWEEPS 8

void kc__store_submit(kc__store *store, kc__write *write)
{
    assert(write->cache->store == store && write->loop && write->done);
    assert(write->verb == KC_STORAGE_DELETE || write->object);
    write->next = NULL;
    kc_locked (&store->queue) {
        if (store->last)
            store->last->next = write;
        else
            store->first = write;
        if (!store->last)
            kc_cond_signal(&store->submitted); /* Else it is at work, or was told. */
        store->last = write;
        store->unfinished++;
    }
}

void kc__store_finished(kc__store *store, size_t n)
{
    kc_locked (&store->queue) {
        store->unfinished -= n;
        if (store->closing && store->unfinished == 0)
            kc_cond_signal(&store->submitted);
    }
}

/* Moves what fits into one batch out of the queue. */
static void take_writes(kc__store *store, kc__batch *batch)
{
    size_t bytes = 0;
    while (store->first && batch->writes.n < store->opts.max_batch && bytes < BATCH_BYTES) {
        kc__write *write = store->first;
        store->first = write->next;
        if (write->object)
            bytes += kc_object_size(write->object);
        kc_vec_push(&batch->writes, write);
    }
    if (!store->first)
        store->last = NULL;
}

/* Waits for work, for a while. False when there will be none any more. */
static bool next_batch(kc__store *store, kc__batch *batch)
{
    const kc__store_opts *o = &store->opts;
    const int64_t sweep = kc_clock_deadline(o->clock, o->event_age / SWEEPS);
    bool over = false;
    kc_vec_clear(&batch->writes);
    kc_locked (&store->queue) {
        while (!store->first && !(over = store->closing && store->unfinished == 0))
            if (!kc_cond_wait_until(&store->submitted, &store->queue, o->clock, sweep))
                break;
        take_writes(store, batch);
    }
    return !over;
}

static void sweep_kept(kc__store *store, int64_t before)
{
    for (size_t i = 0;; i++) {
        kc__cache *cache = NULL;
        kc_locked (&store->naming)
            cache = i < store->by_number.n ? store->by_number.items[i] : NULL;
        if (!cache)
            return;
        kc__kept_sweep(&cache->kept, before);
    }
}

/* Lets go what is too old; kept snapshots only now and then. */
static void sweep(kc__store *store, int64_t *swept)
{
    const kc__store_opts *o = &store->opts;
    const int64_t now = kc_clock_now(o->clock);
    kc__recent_trim(&store->recent, now, o->event_age, o->event_bytes);
    kc_gauge_set(store->metrics.events, (double)store->recent.n);
    kc_gauge_set(store->metrics.event_bytes, (double)store->recent.bytes);
    if (now - *swept < o->event_age / SWEEPS)
        return;
    *swept = now;
    sweep_kept(store, now - o->event_age);
}

void kc__committer_run(void *user)
{
    kc__store *store = user;
    kc__batch batch = {.store = store, .revision = kc__store_revision(store)};
    int64_t swept = kc_clock_now(store->opts.clock);
    while (next_batch(store, &batch)) {
        if (batch.writes.n) {
            kc__batch_run(&batch);
            kc__answer(&batch);
        }
        sweep(store, &swept);
    }
    kc__batch_done(&batch);
}
