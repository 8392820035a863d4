/* SPDX-License-Identifier: Apache-2.0 */
/*
 * informer.c: one kind, kept: reflectors, the queue between, the thread that applies, the store.
 *
 *     reflector (a namespace) ─┐
 *     reflector (another one) ─┼─► fifo ──► its thread ──► store, listeners
 *     reflector …              ─┘
 *
 * This file is its life: made, started, waited for, stopped. It is made with everything it needs
 * and starts nothing by itself; who counts its users is the cache.
 *
 * Locks: one mutex, held for single steps only, under which nothing else is locked and nobody is
 * called. Since only its thread changes the store, that thread reads it without the lock.
 */
#include "runtime/informer_internal.h"

/* An own write that the watch does not show is given up after a stalled watch would have been
 * noticed and made anew. */
#define OWN_WRITE_GRACE KC_MINUTE

static int origin_init(kc_informer *i, kc__origin *origin, const char *ns, kc_error *err)
{
    const kc__informer_opts *o = &i->opts;
    kc__own_writes_init(&origin->own, o->stall + OWN_WRITE_GRACE);
    if (kc__scope_init(&origin->scope, ns, o->labels, o->fields, err) < 0)
        return -KC_BAD_REQUEST;
    origin->reflector = kc__reflector_new(&(kc__reflector_opts){
        .client = o->client,
        .kind = o->kind,
        .scope = &origin->scope,
        .metadata_only = o->metadata_only,
        .transform = o->transform,
        .transform_user = o->transform_user,
        .fifo = i->fifo,
        .origin = (uint32_t)(origin - i->origins),
        .not_older = o->not_older,
        .list_deadline = o->list_deadline,
        .stall = o->stall,
        .plain_lists = o->plain_lists,
        .clock = o->clock,
        .rand = kc_rand_split(&i->opts.rand),
        .log = o->log,
        .metrics = i->metrics,
    });
    return 0;
}

static size_t count(const char *const *names)
{
    size_t n = 0;
    while (names && names[n])
        n++;
    return n;
}

static int origins_init(kc_informer *i, kc_error *err)
{
    const char *const *namespaces = i->opts.kind->namespaced ? i->opts.namespaces : NULL;
    const size_t n = count(namespaces);
    i->origins = kc_calloc(KC_MAX(n, 1u), sizeof(kc__origin));
    i->n_origins = KC_MAX(n, 1u);
    for (size_t k = 0; k < i->n_origins; k++)
        if (origin_init(i, &i->origins[k], n ? namespaces[k] : NULL, err) < 0)
            return -KC_BAD_REQUEST;
    return 0;
}

kc_informer *kc__informer_new(const kc__informer_opts *opts, kc_error *err)
{
    kc_informer *i = kc_new(kc_informer);
    i->opts = *opts;
    i->metrics = kc__cache_metrics_of(opts->metrics, opts->kind);
    i->fifo = kc__fifo_new(opts->clock);
    kc_mutex_init(&i->mutex);
    kc_cond_init(&i->changed);
    kc__store_init(&i->store, 0, NULL, 0);
    if (origins_init(i, err) < 0) {
        kc_error_wrap(err, "cache %s", opts->kind->plural);
        return kc__informer_free(i);
    }
    return i;
}

kc_informer *kc__informer_free(kc_informer *i)
{
    if (!i)
        return NULL;
    kc__informer_stop(i);
    for (size_t k = 0; k < i->n_origins; k++) {
        kc__origin *origin = &i->origins[k];
        kc__reflector_free(origin->reflector);
        kc__own_writes_done(&origin->own);
        kc__scope_done(&origin->scope);
    }
    free(i->origins);
    kc_gauge_add(i->metrics.objects, -(double)i->store.n);
    kc__fifo_free(i->fifo);
    kc__store_done(&i->store);
    kc__index_values_done(&i->before);
    kc__index_values_done(&i->after);
    kc_vec_done(&i->active);
    kc_vec_done(&i->joining);
    kc_cond_done(&i->changed);
    kc_mutex_done(&i->mutex);
    free(i);
    return NULL;
}

/* ---- starting and stopping ---- */

static void store_init(kc_informer *i, const kc__index_def *indexes, size_t n_indexes)
{
    KC_VEC(kc__index_def) defs = {0};
    if (i->opts.kind->namespaced)
        kc_vec_push(&defs, kc__index_namespace);
    for (size_t k = 0; k < n_indexes; k++)
        kc_vec_push(&defs, indexes[k]);
    kc__store_done(&i->store);
    kc__store_init(&i->store, kc_rand_u64(&i->opts.rand), defs.items, defs.n);
    kc_vec_done(&defs);
}

int kc__informer_start(kc_informer *i, const kc__index_def *indexes, size_t n_indexes,
                       kc_error *err)
{
    kc_locked (&i->mutex) {
        store_init(i, indexes, n_indexes);
        i->started = i->running = true;
    }
    i->thread = kc_thread_start("kc-informer", kc__informer_run, i, err);
    if (!i->thread) {
        kc_locked (&i->mutex)
            i->running = false;
        return kc_error_wrap(err, "start the informer of %s", i->opts.kind->plural);
    }
    for (size_t k = 0; k < i->n_origins; k++)
        if (kc__reflector_start(i->origins[k].reflector, err) < 0)
            return -KC_UNKNOWN;
    return 0;
}

void kc__informer_stop(kc_informer *i)
{
    for (size_t k = 0; k < i->n_origins; k++)
        if (i->origins[k].reflector)
            kc__reflector_cancel(i->origins[k].reflector);
    kc__fifo_close(i->fifo);
    for (size_t k = 0; k < i->n_origins; k++)
        if (i->origins[k].reflector)
            kc__reflector_join(i->origins[k].reflector);
    i->thread = kc_thread_join(i->thread);
}

/* ---- waiting ---- */

typedef struct waiter {
    kc_cancel_hook hook;
    kc_informer *informer;
} waiter;

static void wake(kc_cancel_hook *hook)
{
    kc_informer *i = kc_container_of(hook, waiter, hook)->informer;
    kc_locked (&i->mutex)
        kc_cond_broadcast(&i->changed);
}

/* Until *flag is set. False when it is not by then, or never will. */
static bool await(kc_informer *i, const bool *flag, int64_t deadline, kc_cancel *cancel)
{
    waiter w = {.hook.fire = wake, .informer = i};
    bool reached = false;
    if (!kc_cancel_hang(cancel, &w.hook))
        return false;
    kc_locked (&i->mutex) {
        while (!*flag && !kc_cancel_fired(cancel) && (i->running || !i->started))
            if (!kc_cond_wait_until(&i->changed, &i->mutex, i->opts.clock, deadline))
                break;
        reached = *flag;
    }
    kc_cancel_unhang(cancel, &w.hook);
    return reached;
}

bool kc_informer_wait_synced(kc_informer *i, int64_t deadline, kc_cancel *cancel)
{
    return await(i, &i->synced, deadline, cancel);
}

static int explain(kc_informer *i, kc_error *err)
{
    kc_scoped(kc_error) failure = {0};
    const bool failed = kc_informer_failure(i, &failure);
    return kc_error_set(err, KC_TIMEOUT, "the cache of %s has not got its first list%s%s",
                        i->opts.kind->plural, failed ? ": " : "",
                        failed ? kc_error_text(&failure) : "");
}

int kc__informer_await(kc_informer *i, int64_t timeout, kc_cancel *cancel, kc_error *err)
{
    bool readable = false;
    kc_locked (&i->mutex)
        readable = i->readable;
    if (readable || await(i, &i->readable, kc_clock_deadline(i->opts.clock, timeout), cancel))
        return 0;
    return kc_cancel_fired(cancel) ? kc_cancel_check(cancel, err) : explain(i, err);
}

/* ---- asking ---- */

kc__origin *kc__informer_origin(kc_informer *i, kc_str ns)
{
    for (size_t k = 0; k < i->n_origins; k++)
        if (!i->origins[k].scope.ns || kc_str_is(ns, i->origins[k].scope.ns))
            return &i->origins[k];
    return NULL;
}

/* Reading a flag under the lock does not change the informer. */
static bool flag_of(const kc_informer *informer, const bool *flag)
{
    kc_informer *i = (kc_informer *)informer;
    bool is = false;
    kc_locked (&i->mutex)
        is = *flag;
    return is;
}

bool kc_informer_synced(const kc_informer *i)
{
    return flag_of(i, &i->synced);
}

bool kc__informer_started(const kc_informer *i)
{
    return flag_of(i, &i->started);
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

bool kc_informer_failure(const kc_informer *i, kc_error *ret)
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
            return -KC_SERVICE_UNAVAILABLE;
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
