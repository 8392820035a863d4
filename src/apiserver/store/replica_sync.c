/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replica_sync.c: linearizable reads over a shared storage.
 *
 * A reader must see every write that any server acknowledged before the read began. It
 * queries the revision of the storage and reads from the trees once they have reached it. One query
 * serves all readers that arrived before it was sent; those that arrive later wait for the next
 * one. So at most one query is in flight, however many readers there are.
 *
 *     reader's loop ── query ──▶ storage's thread ──▶ done, on the loops: the trees have it
 *                                         └──▶ replica's thread ──▶ done: once they have it
 *
 * The trees have nearly always reached the revision when it arrives: then the replica's thread is
 * not woken. A loop sends a query at the end of its turn, so all requests that it read in that turn
 * share it; and the next one after the readers of the last query are completed, whose clients often
 * come back at once. So there are few queries: one costs the storage more processor time than
 * several reads do.
 *
 * `querying` is set from the first reader on, before the query is sent: only the reader whose
 * task was posted sends it. That reader cannot be completed before, so its task is free.
 */
#include "apiserver/store/replica_internal.h"

/* How long the trees may take to catch up. */
#define CATCH_UP_WITHIN (10 * KC_SECOND)
/* Readers that a loop completes in a row. */
enum { TURN = 16 };

bool kc__store_is_shared(const kc__store *store)
{
    return store->replica != NULL;
}

/* ---- completing ---- */

/* On the loop. The readers of one query, linked by `next`; each may be freed by its `done`. The
 * connections of some send their responses before the next ones are completed: while these are in
 * the processor's cache, and so that their clients need not wait for all. */
static void run_syncs(kc__loop_task *task)
{
    kc__store_sync *sync = kc_container_of(task, kc__store_sync, task);
    kc__store *store = sync->store;
    size_t n = 0;
    for (kc__store_sync *next; sync && n < TURN; sync = next, n++) {
        next = sync->next;
        sync->done(sync);
    }
    if (sync) {
        sync->task = (kc__loop_task){.run = run_syncs};
        kc__loop_post(sync->loop, &sync->task);
    }
    kc__store_finished(store, n);
}

/* Takes the readers of one loop from a list, in their order. */
static kc__store_sync *take_loop(kc__store_sync **list, const kc__loop *loop)
{
    kc__store_sync *first = NULL, **end = &first;
    for (kc__store_sync **link = list, *sync; (sync = *link);) {
        if (sync->loop != loop) {
            link = &sync->next;
            continue;
        }
        *link = sync->next;
        sync->next = NULL;
        *end = sync;
        end = &sync->next;
    }
    return first;
}

/* One task for each loop. */
static void complete_syncs(kc__store_sync *list)
{
    while (list) {
        kc__store_sync *first = take_loop(&list, list->loop);
        first->task = (kc__loop_task){.run = run_syncs};
        kc__loop_post(first->loop, &first->task);
    }
}

/* ---- the query ---- */

static void query_answered(kc__storage_query *query);

static void send_query(kc__store_replica *r)
{
    r->query = (kc__storage_query){.done = query_answered};
    kc__storage_query_start(r->store->storage, &r->query);
}

/* The query is for every reader that has arrived. */
static void run_query(kc__loop_task *task)
{
    const kc__store_sync *first = kc_container_of(task, kc__store_sync, task);
    kc__store_replica *r = first->store->replica;
    kc_locked (&r->store->queue) {
        r->served = kc_take(r->inbox.first_sync);
        r->inbox.last_sync = NULL;
        r->inbox.probed = false;
    }
    send_query(r);
}

/* The loop completes readers and reads sockets in this turn: they can share a query. */
static void end_turn_with_query(kc__loop_task *task)
{
    const kc__store_sync *first = kc_container_of(task, kc__store_sync, task);
    task->run = run_query;
    kc__loop_post(first->loop, task);
}

/* Ends a query. Readers whose revision is ahead of the trees wait for the replica. Returns the
 * reader whose loop sends the next query. */
static kc__store_sync *end_query(kc__store_replica *r, kc__store_sync *behind, uint64_t revision)
{
    kc__store_sync *next = NULL;
    kc_locked (&r->store->queue) {
        if (revision) {
            kc__store_sync **end = &r->inbox.behind;
            while (*end)
                end = &(*end)->next;
            *end = behind;
            r->inbox.queried = KC_MAX(r->inbox.queried, revision);
        }
        next = r->inbox.first_sync;
        r->querying = next != NULL;
        if (revision || r->store->closing || (r->inbox.probed && !next))
            kc__store_replica_wake(r);
    }
    return next;
}

/* On the storage's thread. A store that is closed waits for it: after the end of the query
 * without another one, the store may be gone. */
static void query_answered(kc__storage_query *query)
{
    kc__store_replica *r = kc_container_of(query, kc__store_replica, query);
    kc__store_sync *readers = kc_take(r->served);
    const bool failed = query->error.reason != 0;
    const bool behind = !failed && query->revision > kc__store_revision(r->store);
    kc__store_set_health(r->store, failed ? &query->error : NULL);
    for (kc__store_sync *sync = readers; sync; sync = sync->next) {
        sync->revision = query->revision;
        if (failed)
            kc__store_error_copy(&sync->error, &query->error);
    }
    kc_error_done(&query->error);
    const uint64_t revision = query->revision;
    if (!behind)
        complete_syncs(kc_take(readers));
    kc__store_sync *next = end_query(r, readers, behind ? revision : 0);
    if (next) {
        next->task = (kc__loop_task){.run = end_turn_with_query};
        kc__loop_post(next->loop, &next->task);
    }
}

void kc__store_sync_start(kc__store *store, kc__store_sync *sync)
{
    kc__store_replica *r = store->replica;
    bool first = false;
    sync->next = NULL;
    sync->error = (kc_error){0};
    sync->deadline = kc_clock_deadline(store->opts.clock, CATCH_UP_WITHIN);
    sync->store = store;
    kc_locked (&store->queue) {
        if (r->inbox.last_sync)
            r->inbox.last_sync->next = sync;
        else
            r->inbox.first_sync = sync;
        r->inbox.last_sync = sync;
        store->unfinished++;
        first = !r->querying;
        r->querying = true;
    }
    if (first) {
        sync->task = (kc__loop_task){.run = run_query};
        kc__loop_post(sync->loop, &sync->task);
    }
}

void kc__store_replica_probe(kc__store_replica *r)
{
    kc_locked (&r->store->queue) {
        r->inbox.probed = true;
        kc__store_replica_wake(r);
    }
}

/* ---- the replica's thread ---- */

static void complete_caught_up(kc__store_replica *r)
{
    const uint64_t revision = kc__store_revision(r->store);
    const int64_t now = r->syncing ? kc_clock_now(r->store->opts.clock) : 0;
    kc__store_sync *caught_up = NULL, **end = &caught_up;
    for (kc__store_sync **link = &r->syncing, *sync; (sync = *link);) {
        if (sync->revision > revision && now < sync->deadline) {
            link = &sync->next;
            continue;
        }
        if (sync->revision > revision)
            kc_error_set(&sync->error, KC_TIMEOUT,
                         "the watch cache is at revision %llu and has not reached %llu",
                         (unsigned long long)revision, (unsigned long long)sync->revision);
        *link = sync->next;
        sync->next = NULL;
        *end = sync;
        end = &sync->next;
    }
    complete_syncs(caught_up);
}

/* With store.queue locked. */
static bool begin_probe(kc__store_replica *r)
{
    const bool begun = r->inbox.probed && !r->querying && !r->store->closing;
    r->inbox.probed = r->inbox.probed && !begun && !r->store->closing;
    r->querying = r->querying || begun;
    return begun;
}

void kc__store_replica_sync(kc__store_replica *r)
{
    kc__store_sync **end = &r->syncing;
    bool begun = false;
    while (*end)
        end = &(*end)->next;
    *end = kc_take(r->taken_inbox.behind);
    kc__store_replica_want(r, r->taken_inbox.queried);
    complete_caught_up(r);
    kc_locked (&r->store->queue)
        begun = begin_probe(r);
    if (begun)
        send_query(r);
}
