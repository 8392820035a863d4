/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policy_registry.c: compiles policies when they change.
 *
 *     stored policies, bindings ── watch ──▶ thread "policies" ── compile ──▶ set ──▶ requests
 *                     ▲                              │
 *                     └────── status (types) ◀───────┘
 *
 * Events of a watch only wake the thread, which then reads all four caches. Each event loop holds a
 * reference to the set that it used last and compares its address with that of the current one, so
 * a request takes no lock while policies do not change.
 */
#include "apiserver/admission/policies/policy_registry.h"

#include "apiserver/admission/policies/policy_status.h"
#include "apiserver/kinds/key_layout.h"
#include "apiserver/store/watch.h"
#include "kc/thread.h"

enum { VALIDATING, VALIDATING_BINDINGS, MUTATING, MUTATING_BINDINGS, N_SOURCES };

static const char *const plurals[N_SOURCES] = {
    [VALIDATING] = "validatingadmissionpolicies",
    [VALIDATING_BINDINGS] = "validatingadmissionpolicybindings",
    [MUTATING] = "mutatingadmissionpolicies",
    [MUTATING_BINDINGS] = "mutatingadmissionpolicybindings",
};

struct kc__admission_policies {
    kc__admission_policies_opts opts;
    kc__expression_env *env;
    kc__admission_policy_metrics metrics;
    kc__watch_cache *caches[N_SOURCES];

    kc_mutex mutex;                          /* Guards reading and replacing `now`. Taken last. */
    _Atomic(kc__admission_policy_set *) now; /* Without the lock it may be compared, but not
                                                dereferenced. NULL: no policy is in effect. */

    /* ---- the thread's ---- */
    kc__loop *loop;     /* That of the caller, or: */
    kc__loop *own_loop; /* NULL: none. */
    kc__store_watcher *watchers[N_SOURCES];
    kc__loop_timer timer;
    kc__admission_policy_set *last; /* The current set, even if it is empty. */
    kc__admission_policy_status *status;
};

/* ---- the set ---- */

static void add_bound_names(const kc__admission_bound_policies *bound, kc_map *policies,
                            kc_map *bindings)
{
    kc_vec_each (bound, one) {
        kc_map_put(policies, one->policy->name, one->policy);
        kc_vec_each (&one->bindings, binding)
            kc_map_put(bindings, (*binding)->name, *binding);
    }
}

/* A check that is under way may count once more; the next set removes that. */
static void retain_metrics(const kc__admission_policies *p, const kc__admission_policy_set *set)
{
    kc_scoped(kc_map) policies = {0}, bindings = {0};
    add_bound_names(&set->validating, &policies, &bindings);
    add_bound_names(&set->mutating, &policies, &bindings);
    kc__admission_policy_retain(&p->metrics, &policies, &bindings);
}

static void publish_set(kc__admission_policies *p, kc__admission_policy_set *set)
{
    const size_t n = set->validating.n + set->mutating.n;
    kc__admission_policy_set *next = n ? kc__admission_policy_set_ref(set) : NULL, *before = NULL;
    kc_locked (&p->mutex)
        before = atomic_exchange(&p->now, next);
    kc__admission_policy_set_unref(before); /* May free it, so not under the lock. */
    kc__admission_policy_set_unref(p->last);
    p->last = set;
    kc_gauge_set(p->metrics.policies, (double)n);
    kc_gauge_set(p->metrics.memory, (double)set->memory);
    retain_metrics(p, set);
    if (p->opts.published)
        p->opts.published(p->opts.user);
}

static void compile_set(kc__admission_policies *p)
{
    kc__cow_snapshot *stored[N_SOURCES];
    for (size_t i = 0; i < N_SOURCES; i++)
        stored[i] = kc__watch_cache_snapshot(p->caches[i], NULL);
    const kc__admission_policy_sources sources = {
        .validating = stored[VALIDATING],
        .validating_bindings = stored[VALIDATING_BINDINGS],
        .mutating = stored[MUTATING],
        .mutating_bindings = stored[MUTATING_BINDINGS],
    };
    publish_set(p, kc__admission_policy_set_new(p->env, &sources, p->last, p->opts.max_bytes));
    for (size_t i = 0; i < N_SOURCES; i++)
        kc__cow_snapshot_unref(stored[i]);
}

const kc__admission_policy_set *kc__admission_policies_current(kc__admission_policies *p,
                                                               kc__admission_policy_set **held)
{
    if (*held == atomic_load_explicit(&p->now, memory_order_acquire))
        return *held;
    kc__admission_policy_set *before = *held;
    kc_locked (&p->mutex) {
        kc__admission_policy_set *now = atomic_load(&p->now);
        *held = now ? kc__admission_policy_set_ref(now) : NULL;
    }
    kc__admission_policy_set_unref(before);
    return *held;
}

const kc__admission_policy_metrics *kc__admission_policies_metrics(const kc__admission_policies *p)
{
    return &p->metrics;
}

const kc__expression_env *kc__admission_policies_env(const kc__admission_policies *p)
{
    return p->env;
}

/* ---- watching ---- */

static void policy_changed(void *user)
{
    kc__admission_policies *p = user;
    kc__loop_timer_start(&p->timer, kc_clock_deadline(p->opts.clock, 0));
}

static void watch_source(kc__admission_policies *p, size_t i)
{
    uint64_t revision;
    kc__cow_snapshot_unref(kc__watch_cache_snapshot(p->caches[i], &revision));
    kc__store_watch_stop(p->watchers[i]);
    p->watchers[i] = kc__store_watch_start(&(kc__store_watch_opts){.cache = p->caches[i],
                                                                   .loop = p->loop,
                                                                   .since = revision,
                                                                   .ready = policy_changed,
                                                                   .user = p});
}

/* Discards the events: the caches have the objects. */
static void drain_source(kc__admission_policies *p, size_t i)
{
    for (;;) {
        kc_auto(kc__store_event) *event = NULL;
        const kc__store_watch_result state = kc__store_watch_next(p->watchers[i], &event);
        if (state == KC__STORE_WATCH_EMPTY)
            return;
        if (state != KC__STORE_WATCH_EVENT)
            watch_source(p, i);
    }
}

static void sync_policies(kc__loop_timer *timer)
{
    kc__admission_policies *p = kc_container_of(timer, kc__admission_policies, timer);
    for (size_t i = 0; i < N_SOURCES; i++)
        drain_source(p, i);
    compile_set(p);
    kc__admission_policy_status_sync(p->status);
}

/* ---- start and stop ---- */

kc__admission_policies *kc__admission_policies_new(const kc__admission_policies_opts *opts,
                                                   kc_error *err)
{
    kc__admission_policies *p = kc_new(kc__admission_policies);
    kc_mutex_init(&p->mutex);
    p->opts = *opts;
    if (!p->opts.max_bytes)
        p->opts.max_bytes = KC__ADMISSION_POLICIES_BYTES;
    p->env = kc__expression_env_new();
    for (size_t i = 0; i < N_SOURCES; i++)
        p->caches[i] = kc__store_watch_cache(
            opts->store,
            kc__resource_key_builtin_prefix("admissionregistration.k8s.io", plurals[i]));
    if (kc__admission_policy_metrics_init(&p->metrics, opts->metrics, err) < 0)
        return kc__admission_policies_free(p);
    compile_set(p);
    return p;
}

static void start_watches(void *user)
{
    kc__admission_policies *p = user;
    for (size_t i = 0; i < N_SOURCES; i++)
        watch_source(p, i);
    sync_policies(&p->timer);
}

static void stop_watches(void *user)
{
    kc__admission_policies *p = user;
    kc__loop_timer_stop(&p->timer);
    for (size_t i = 0; i < N_SOURCES; i++)
        p->watchers[i] = kc__store_watch_stop(p->watchers[i]);
    kc__admission_policy_status_stop(p->status);
}

int kc__admission_policies_start(kc__admission_policies *p, kc__loop *loop, kc_error *err)
{
    if (!loop)
        p->own_loop = kc__loop_start("policies", p->opts.clock, err);
    p->loop = loop ? loop : p->own_loop;
    if (!p->loop)
        return kc_error_result(err);
    p->timer = (kc__loop_timer){.loop = p->loop, .fire = sync_policies};
    p->status = kc__admission_policy_status_new(&(kc__admission_policy_status_opts){
        .store = p->opts.store,
        .policies = p->caches[VALIDATING],
        .catalog = p->opts.catalog,
        .topologies = p->opts.topologies,
        .env = p->env,
        .loop = p->loop,
        .log = p->opts.log,
        .clock = p->opts.clock,
    });
    kc__loop_call(p->loop, start_watches, p);
    return 0;
}

void kc__admission_policies_stop(kc__admission_policies *p)
{
    if (p && p->loop)
        kc__loop_call(p->loop, stop_watches, p);
}

kc__admission_policies *kc__admission_policies_free(kc__admission_policies *p)
{
    if (!p)
        return NULL;
    if (p->own_loop)
        kc__loop_stop(p->own_loop);
    kc__admission_policy_status_free(p->status);
    kc__admission_policy_set_unref(atomic_load(&p->now));
    kc__admission_policy_set_unref(p->last);
    kc__expression_env_free(p->env);
    kc_mutex_done(&p->mutex);
    free(p);
    return NULL;
}
