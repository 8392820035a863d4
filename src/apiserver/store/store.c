/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store.c: opens and closes the store; its revision and its health. The other parts:
 *
 *     cache.c                         reading the latest state
 *     caches.c                        how long the caches of deleted CRDs live
 *     history.c, snapshot_cache.c     reading older states
 *     holds.c                         memory of old snapshots that are still read
 *     committer.c, batch.c, complete.c  writing
 *     recover.c                       batches of unknown outcome
 *     replica*.c                      reading and writing over a shared storage
 *     event.c, ring.c, recent.c       recent events
 *     hub.c, watcher.c                delivery to watchers
 *     store_load.c, load_history.c    loading from the storage into memory
 *     overrides.c                     resources in another storage
 *     storage_read.c                  older states of a shared storage
 *     stored_form.c                   encrypted, stale and unreadable values
 *
 * Health. A failed commit leaves its error here until a commit succeeds. KC_INTERNAL from the
 * storage means that the outcome of a commit is unknown: the store then refuses writes until the
 * storage has recovered (recover.c).
 */
#include "apiserver/store/replica_internal.h"

#define EVENT_AGE      (5 * KC_MINUTE)
#define EVENT_BYTES    ((size_t)128 << 20)
#define SETTLE_AGE     (45 * KC_SECOND)
#define SETTLED_BYTES  ((size_t)4 << 20)
#define MAX_BATCH      512
#define SNAPSHOT_BYTES ((size_t)128 << 20)

static kc__store *store_new(const kc__store_opts *opts)
{
    kc__store *store = kc_new(kc__store);
    store->opts = *opts;
    kc__store_opts *o = &store->opts;
    o->clock = o->clock ? o->clock : kc_clock_real();
    o->event_age = o->event_age ? o->event_age : EVENT_AGE;
    o->event_bytes = o->event_bytes ? o->event_bytes : EVENT_BYTES;
    o->settle_age = o->settle_age ? o->settle_age : SETTLE_AGE;
    o->settled_bytes = o->settled_bytes ? o->settled_bytes : SETTLED_BYTES;
    o->max_batch = o->max_batch ? o->max_batch : MAX_BATCH;
    o->snapshot_bytes = o->snapshot_bytes ? o->snapshot_bytes : SNAPSHOT_BYTES;
    store->storage = opts->storage;
    kc_mutex_init(&store->naming);
    kc_mutex_init(&store->queue);
    kc_cond_init(&store->submitted);
    kc_mutex_init(&store->joining);
    kc_mutex_init(&store->health_mutex);
    kc_mutex_init(&store->holding);
    kc_mutex_init(&store->forms);
    kc_dlist_init(&store->holds);
    return store;
}

static void store_free(kc__store *store)
{
    kc__store_overrides_done(store);
    store->replica = kc__store_replica_free(store->replica);
    kc__storage_close(store->storage);
    kc_vec_each (&store->hubs, hub)
        kc__store_watch_hub_unref(*hub);
    kc_vec_done(&store->hubs);
    kc__store_recent_done(&store->recent);
    kc__store_recovery_done(&store->recovery);
    kc_map_done(&store->caches);
    kc_vec_each (&store->by_number, cache)
        if (*cache)
            kc__watch_cache_discard(*cache);
    kc_vec_done(&store->by_number);
    kc_error_done(&store->health_error);
    kc__memory_add(store->opts.memory, KC__MEMORY_SNAPSHOTS, -(int64_t)store->held_bytes);
    kc_mutex_done(&store->forms);
    kc_mutex_done(&store->holding);
    kc_mutex_done(&store->health_mutex);
    kc_mutex_done(&store->joining);
    kc_cond_done(&store->submitted);
    kc_mutex_done(&store->queue);
    kc_mutex_done(&store->naming);
    free(store);
}

/* The thread that writes: the committer, or the replica of a shared storage. */
static int start_writer(kc__store *store, kc_error *err)
{
    const bool exclusive = store->storage->backend->exclusive;
    if (!exclusive && kc__store_replica_start(store, err) < 0)
        return kc_error_result(err);
    store->committer =
        kc_thread_start(exclusive ? "committer" : "replica",
                        exclusive ? kc__store_committer_run : kc__store_replica_run, store, err);
    return store->committer ? 0 : kc_error_result(err);
}

/* Stores of one server share counters; gauges are of the first. */
static int init_metrics(kc__store *store, const kc__store_metrics *shared, kc_error *err)
{
    if (!shared)
        return kc__store_metrics_init(&store->metrics, store->opts.metrics, err);
    store->metrics = *shared;
    store->metrics.events = store->metrics.event_bytes = NULL;
    store->metrics.snapshots = store->metrics.snapshot_bytes = NULL;
    store->metrics.watch_caches = NULL;
    return 0;
}

kc__store *kc__store_open_with(const kc__store_opts *opts, const kc__store_metrics *metrics,
                               kc_error *err)
{
    kc__store *store = store_new(opts);
    if (init_metrics(store, metrics, err) < 0 || kc__store_overrides_open(store, err) < 0 ||
        kc__store_load(store, err) < 0 || start_writer(store, err) < 0) {
        store_free(store);
        return NULL;
    }
    kc_log_info(store->opts.log, "store is open", kc_kv("revision", kc__store_revision(store)),
                kc_kv("resources", store->caches.n));
    return store;
}

kc__store *kc__store_open(const kc__store_opts *opts, kc_error *err)
{
    kc__store *store = kc__store_open_with(opts, NULL, err);
    if (store)
        kc__store_forms_start(store);
    return store;
}

kc__store *kc__store_close(kc__store *store)
{
    if (!store)
        return NULL;
    kc__store_forms_stop(store);
    kc__store_overrides_close(store);
    kc_locked (&store->queue) {
        store->closing = true;
        kc_cond_signal(&store->submitted);
        if (store->replica)
            kc_cond_broadcast(&store->replica->taken);
    }
    kc_thread_join(store->committer);
    store_free(store);
    return NULL;
}

uint64_t kc__store_revision(const kc__store *store)
{
    return atomic_load_explicit(&store->revision, memory_order_acquire);
}

/* ---- health ---- */

void kc__store_error_copy(kc_error *to, const kc_error *from)
{
    kc_error_set(to, from->reason, "%s", kc_error_text(from));
    to->code = from->code;
    to->retry_after_seconds = from->retry_after_seconds;
}

void kc__store_set_health(kc__store *store, const kc_error *health_error)
{
    kc_locked (&store->health_mutex) {
        kc_error_done(&store->health_error);
        store->outcome_unknown = false;
        if (health_error) {
            kc__store_error_copy(&store->health_error, health_error);
            store->failed_since = kc_clock_now(store->opts.clock);
            store->outcome_unknown = kc_error_has_reason(health_error, KC_INTERNAL);
        }
    }
    if (health_error)
        kc_log_error(store->opts.log, "commit failed", kc_kv("err", health_error));
}

void kc__store_set_inconsistent(kc__store *store, const kc_error *health_error)
{
    kc__store_set_health(store, health_error);
    if (store->opts.inconsistent)
        store->opts.inconsistent(store->opts.user, health_error);
}

bool kc__store_is_failed(kc__store *store, kc_error *ret_error)
{
    bool outcome_unknown = false;
    kc_locked (&store->health_mutex) {
        outcome_unknown = store->outcome_unknown;
        if (outcome_unknown)
            kc__store_error_copy(ret_error, &store->health_error);
    }
    return outcome_unknown;
}

/* A possibly transient failure is reported for this long: only a write would show that it has
 * passed, and a server that is not ready receives none. */
#define FAILURE_REPORTED_FOR (10 * KC_SECOND)

int kc__store_health(kc__store *store, kc_error *err)
{
    const int64_t now = kc_clock_now(store->opts.clock);
    int failed = 0;
    if (store->replica)
        kc__store_replica_probe(store->replica); /* For the next call. */
    kc_locked (&store->health_mutex)
        if (store->outcome_unknown ||
            (store->health_error.reason && now - store->failed_since < FAILURE_REPORTED_FOR))
            failed = kc_error_set(err, store->health_error.reason, "%s",
                                  kc_error_text(&store->health_error));
    kc_vec_each (&store->others, other)
        if (!failed)
            failed = kc__store_health(*other, err);
    return failed;
}
