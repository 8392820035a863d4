/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store.c: opening and closing the store, its revision and its health. The parts are elsewhere:
 *
 *     cache.c, history.c, kept.c    reading: now, and as it was
 *     committer.c, batch.c, answer.c  writing
 *     event.c, ring.c, recent.c     what happened lately
 *     hub.c, watcher.c              telling those who watch
 *     store_load.c                  from the storage into memory
 *
 * Health. A commit that fails leaves its reason here until one succeeds. KC_INTERNAL from the
 * storage means that it does not know what it holds: then the store gives up, since what it would
 * promise from then on could be wrong. A new process finds out what is there.
 */
#include "apiserver/store/store_internal.h"

#define EVENT_AGE   (5 * KC_MINUTE)
#define EVENT_BYTES ((size_t)128 << 20)
#define MAX_BATCH   512

static kc__store *store_new(const kc__store_opts *opts)
{
    kc__store *store = kc_new(kc__store);
    store->opts = *opts;
    kc__store_opts *o = &store->opts;
    o->clock = o->clock ? o->clock : kc_clock_real();
    o->event_age = o->event_age ? o->event_age : EVENT_AGE;
    o->event_bytes = o->event_bytes ? o->event_bytes : EVENT_BYTES;
    o->max_batch = o->max_batch ? o->max_batch : MAX_BATCH;
    store->storage = opts->storage;
    kc_mutex_init(&store->naming);
    kc_mutex_init(&store->queue);
    kc_cond_init(&store->submitted);
    kc_mutex_init(&store->joining);
    kc_mutex_init(&store->judging);
    return store;
}

static void store_free(kc__store *store)
{
    kc_storage_close(store->storage);
    kc_vec_each (&store->hubs, hub)
        kc__hub_unref(*hub);
    kc_vec_done(&store->hubs);
    kc__recent_done(&store->recent);
    kc_map_done(&store->caches);
    kc_vec_each (&store->by_number, cache)
        kc__cache_free(*cache);
    kc_vec_done(&store->by_number);
    kc_error_done(&store->trouble);
    kc_mutex_done(&store->judging);
    kc_mutex_done(&store->joining);
    kc_cond_done(&store->submitted);
    kc_mutex_done(&store->queue);
    kc_mutex_done(&store->naming);
    free(store);
}

kc__store *kc__store_open(const kc__store_opts *opts, kc_error *err)
{
    kc__store *store = store_new(opts);
    if (kc__store_metrics_init(&store->metrics, opts->metrics, err) == 0 &&
        kc__store_load(store, err) == 0)
        store->committer = kc_thread_start("committer", kc__committer_run, store, err);
    if (!store->committer) {
        store_free(store);
        return NULL;
    }
    kc_log_info(store->opts.log, "store is open", kc_kv("revision", kc__store_revision(store)),
                kc_kv("resources", store->by_number.n));
    return store;
}

kc__store *kc__store_close(kc__store *store)
{
    if (!store)
        return NULL;
    kc_locked (&store->queue) {
        store->closing = true;
        kc_cond_signal(&store->submitted);
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

void kc__error_copy(kc_error *to, const kc_error *from)
{
    kc_error_set(to, from->reason, "%s", kc_error_text(from));
    to->code = from->code;
    to->retry_after_seconds = from->retry_after_seconds;
}

void kc__store_judge(kc__store *store, const kc_error *trouble)
{
    kc_locked (&store->judging) {
        kc_error_done(&store->trouble);
        if (trouble) {
            kc__error_copy(&store->trouble, trouble);
            store->troubled = kc_clock_now(store->opts.clock);
            store->given_up = kc_failed_with(trouble, KC_INTERNAL);
        }
    }
    if (trouble)
        kc_log_error(store->opts.log, "cannot store", kc_kv("err", trouble));
}

bool kc__store_given_up(kc__store *store, kc_error *ret_trouble)
{
    bool given_up = false;
    kc_locked (&store->judging) {
        given_up = store->given_up;
        if (given_up)
            kc__error_copy(ret_trouble, &store->trouble);
    }
    return given_up;
}

/* A failure that may have passed counts for a while: only a write would tell, and a server that is
 * not ready gets none. */
#define TROUBLE_LASTS (10 * KC_SECOND)

int kc__store_health(kc__store *store, kc_error *err)
{
    const int64_t now = kc_clock_now(store->opts.clock);
    int failed = 0;
    kc_locked (&store->judging)
        if (store->given_up || (store->trouble.reason && now - store->troubled < TROUBLE_LASTS))
            failed = kc_error_set(err, store->trouble.reason, "%s", kc_error_text(&store->trouble));
    return failed;
}
