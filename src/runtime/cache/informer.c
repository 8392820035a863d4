/* SPDX-License-Identifier: Apache-2.0 */
/*
 * informer.c: caches one kind: reflectors, the fifo of deltas, the cache store.
 *
 *     reflector (a namespace) ─┐
 *     reflector (another one) ─┼─► fifo ──► store, event handlers
 *     reflector …             ─┘
 *
 * An informer is one serial task (executor.h): a step runs its reflectors, applies the deltas they
 * pushed, and calls the event handlers. Changes of a kind are therefore applied in order, on
 * whichever thread of the pool is free.
 *
 * This file is the lifecycle of an informer: create, start, wait, stop. A new informer has
 * everything that it needs and starts nothing by itself; the cache counts its users.
 *
 * Locks: one mutex, held only for short operations; only the executor's mutex is locked under it,
 * and no event handler is called under it. Only steps change the store, so steps read it without
 * the lock.
 */
#include "runtime/cache/informer_internal.h"

/* Expiry of an own write that the watch does not deliver: longer than it takes to detect and
 * restart a stalled watch. */
#define OWN_WRITE_GRACE KC_MINUTE

/* Called by a reflector's stream, which ends before `serial` is freed. */
static void wake_serial(void *user)
{
    kc_informer *i = user;
    kc__serial_wake(i->serial);
}

static int origin_init(kc_informer *i, kc__informer_source *origin, const char *ns, kc_error *err)
{
    const kc__informer_opts *o = &i->opts;
    kc__overlay_init(&origin->own, o->watch_stall_timeout + OWN_WRITE_GRACE);
    if (kc__cache_scope_init(&origin->scope, ns, o->labels, o->fields, err) < 0)
        return kc_error_result(err);
    origin->reflector = kc__reflector_new(&(kc__reflector_opts){
        .client = o->client,
        .kind = o->kind,
        .scope = &origin->scope,
        .metadata_only = o->metadata_only,
        .transform = o->transform,
        .transform_user = o->transform_user,
        .shares = &i->shares_objects,
        .fifo = &i->fifo,
        .origin = (uint32_t)(origin - i->origins),
        .not_older = o->not_older,
        .list_deadline = o->list_deadline,
        .watch_stall_timeout = o->watch_stall_timeout,
        .plain_lists = o->plain_lists,
        .clock = o->clock,
        .rand = kc_rand_split(&i->opts.rand),
        .log = o->log,
        .metrics = i->metrics,
        .wake = wake_serial,
        .wake_user = i,
    });
    return 0;
}

static size_t informer_count(const char *const *names)
{
    size_t n = 0;
    while (names && names[n])
        n++;
    return n;
}

static int origins_init(kc_informer *i, kc_error *err)
{
    const char *const *namespaces = i->opts.kind->namespaced ? i->opts.namespaces : NULL;
    const size_t n = informer_count(namespaces);
    i->origins = kc_calloc(KC_MAX(n, 1u), sizeof(kc__informer_source));
    i->n_origins = KC_MAX(n, 1u);
    for (size_t k = 0; k < i->n_origins; k++)
        if (origin_init(i, &i->origins[k], n ? namespaces[k] : NULL, err) < 0)
            return kc_error_result(err);
    return 0;
}

static void show_staleness(kc_metrics_hook *hook)
{
    kc_informer *i = kc_container_of(hook, kc_informer, staleness);
    for (size_t k = 0; k < i->n_origins; k++)
        kc__reflector_show_staleness(i->origins[k].reflector);
}

kc_informer *kc__informer_new(const kc__informer_opts *opts, kc_error *err)
{
    kc_informer *i = kc_new(kc_informer);
    i->opts = *opts;
    kc__cache_metrics_init(&i->metrics, opts->metrics, opts->kind);
    kc_mutex_init(&i->mutex);
    kc_cond_init(&i->changed);
    kc__cache_store_init(&i->store, 0, NULL, 0);
    if (origins_init(i, err) < 0) {
        kc_error_wrap(err, "cache %s", opts->kind->plural);
        return kc__informer_free(i);
    }
    i->staleness.before = show_staleness;
    if (opts->metrics)
        kc_metrics_add_hook(opts->metrics, &i->staleness);
    return i;
}

kc_informer *kc__informer_free(kc_informer *i)
{
    if (!i)
        return NULL;
    kc__informer_stop(i);
    if (i->staleness.before && i->opts.metrics)
        kc_metrics_remove_hook(i->opts.metrics, &i->staleness);
    for (size_t k = 0; k < i->n_origins; k++) {
        kc__informer_source *origin = &i->origins[k];
        kc__reflector_free(origin->reflector);
        kc__overlay_done(&origin->own);
        kc__cache_scope_done(&origin->scope);
    }
    free(i->origins);
    kc_gauge_add(i->metrics.objects, -(double)i->store.n);
    kc__cache_metrics_done(&i->metrics);
    kc__fifo_done(&i->fifo);
    kc__fifo_deltas_done(&i->batch);
    kc__cache_store_done(&i->store);
    kc__index_values_done(&i->before);
    kc__index_values_done(&i->after);
    kc_vec_done(&i->active);
    kc_vec_done(&i->joining);
    kc_cond_done(&i->changed);
    kc_mutex_done(&i->mutex);
    free(i);
    return NULL;
}

/* ---- start and stop ---- */

static void store_init(kc_informer *i, const kc__index_def *indexes, size_t n_indexes)
{
    KC_VEC(kc__index_def) defs = {0};
    if (i->opts.kind->namespaced)
        kc_vec_push(&defs, kc__index_namespace);
    for (size_t k = 0; k < n_indexes; k++)
        kc_vec_push(&defs, indexes[k]);
    kc__cache_store_done(&i->store);
    kc__cache_store_init(&i->store, kc_rand_u64(&i->opts.rand), defs.items, defs.n);
    kc_vec_done(&defs);
}

void kc__informer_start(kc_informer *i, kc__executor *executor, const kc__index_def *indexes,
                        size_t n_indexes)
{
    kc_locked (&i->mutex) {
        store_init(i, indexes, n_indexes);
        i->started = i->running = true;
        i->serial = kc__serial_new(executor, kc__informer_step, i);
        kc__serial_wake(i->serial);
    }
}

void kc__informer_wake(kc_informer *i)
{
    kc_locked (&i->mutex)
        if (i->serial)
            kc__serial_wake(i->serial);
}

void kc__informer_stop(kc_informer *i)
{
    kc__serial *serial = NULL;
    kc__executor_block_begin();
    kc_locked (&i->mutex) {
        i->stopping = true;
        if (i->serial)
            kc__serial_wake(i->serial);
        while (i->running)
            kc_cond_wait_until(&i->changed, &i->mutex, i->opts.clock, KC_FOREVER);
        serial = kc_take(i->serial);
    }
    kc__executor_block_end();
    kc__serial_free(serial);
}

/* ---- waiting ---- */

typedef struct informer_waiter {
    kc_cancel_hook hook;
    kc_informer *informer;
} informer_waiter;

static void informer_wake(kc_cancel_hook *hook)
{
    kc_informer *i = kc_container_of(hook, informer_waiter, hook)->informer;
    kc_locked (&i->mutex)
        kc_cond_broadcast(&i->changed);
}

/* Waits until *flag is set. False if it is not set by the deadline, or cannot be set any more. */
static bool informer_wait(kc_informer *i, const _Atomic bool *flag, int64_t deadline,
                          kc_cancel *cancel)
{
    informer_waiter w = {.hook.fire = informer_wake, .informer = i};
    bool reached = false;
    if (!kc_cancel_add_hook(cancel, &w.hook))
        return false;
    /* An event handler of another kind may wait here, on a thread that this kind needs. */
    kc__executor_block_begin();
    kc_locked (&i->mutex) {
        while (!*flag && !kc_cancel_fired(cancel) && (i->running || !i->started))
            if (!kc_cond_wait_until(&i->changed, &i->mutex, i->opts.clock, deadline))
                break;
        reached = *flag;
    }
    kc__executor_block_end();
    kc_cancel_remove_hook(cancel, &w.hook);
    return reached;
}

bool kc_informer_wait_synced(kc_informer *i, int64_t deadline, kc_cancel *cancel)
{
    return informer_wait(i, &i->synced, deadline, cancel);
}

static int informer_explain(kc_informer *i, kc_error *err)
{
    kc_scoped(kc_error) failure = {0};
    const bool failed = kc_informer_last_error(i, &failure);
    return kc_error_set(err, KC_TIMEOUT, "the cache of %s has not completed its first list%s%s",
                        i->opts.kind->plural, failed ? ": " : "",
                        failed ? kc_error_text(&failure) : "");
}

int kc__informer_await(kc_informer *i, int64_t timeout, kc_cancel *cancel, kc_error *err)
{
    if (atomic_load_explicit(&i->readable, memory_order_acquire) ||
        informer_wait(i, &i->readable, kc_clock_deadline(i->opts.clock, timeout), cancel))
        return 0;
    return kc_cancel_fired(cancel) ? kc_cancel_check(cancel, err) : informer_explain(i, err);
}

/* ---- accessors ---- */

kc__informer_source *kc__informer_reflector_for(kc_informer *i, kc_str ns)
{
    for (size_t k = 0; k < i->n_origins; k++)
        if (!i->origins[k].scope.ns || kc_str_is(ns, i->origins[k].scope.ns))
            return &i->origins[k];
    return NULL;
}

bool kc_informer_has_synced(const kc_informer *i)
{
    return atomic_load(&i->synced);
}

bool kc__informer_started(const kc_informer *i)
{
    return atomic_load(&i->started);
}

uint64_t kc_informer_revision(const kc_informer *informer)
{
    kc_informer *i = (kc_informer *)informer;
    uint64_t revision = UINT64_MAX;
    kc_locked (&i->mutex)
        for (size_t k = 0; k < i->n_origins; k++)
            revision = KC_MIN(revision, i->origins[k].revision);
    return revision;
}

bool kc_informer_last_error(const kc_informer *i, kc_error *ret)
{
    for (size_t k = 0; k < i->n_origins; k++)
        if (kc__reflector_failure(i->origins[k].reflector, ret))
            return true;
    return false;
}

int kc__informer_check(kc_informer *i, kc_error *err)
{
    for (size_t k = 0; k < i->n_origins; k++)
        if (kc__reflector_check(i->origins[k].reflector, err) < 0)
            return kc_error_result(err);
    return 0;
}

const kc_kind *kc_informer_kind(const kc_informer *i)
{
    return i->opts.kind;
}

size_t kc_informer_count(const kc_informer *informer)
{
    kc_informer *i = (kc_informer *)informer;
    size_t n = 0;
    kc_locked (&i->mutex)
        n = i->store.n;
    return n;
}

kc_cache *kc__informer_cache(const kc_informer *i)
{
    return i->opts.cache;
}

bool kc__informer_metadata_only(const kc_informer *i)
{
    return i->opts.metadata_only;
}
