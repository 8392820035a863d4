/* SPDX-License-Identifier: Apache-2.0 */
/*
 * testenv_settle.c: waits until no work is left.
 *
 * The environment is settled when no controller has a key that is ready, in progress, or backing
 * off; no fault holds anything back; and every cache equals the server, object by object. The
 * caches are compared last, and completely: a test should rather wait than continue with a cache
 * that is one event behind.
 *
 * In a simulation the other threads first run until none can continue without time passing; then
 * time advances, one step at a time. In real time the check is repeated every few milliseconds.
 */
#include "embed/testenv_internal.h"

#include "runtime/cache/cache_internal.h"
#include "runtime/cache/informer_internal.h"
#include "runtime/controller/controller_internal.h"
#include "runtime/manager/manager_internal.h"

#define DEFAULT_LIMIT KC_MINUTE
#define STEP          (5 * KC_MILLISECOND)

/* ---- queues ---- */

static bool is_idle(kc_controller *controller, kc_error *err)
{
    kc_queue *queue = kc_controller_queue(controller);
    kc_queue_counts n = queue ? kc_queue_count(queue) : (kc_queue_counts){0};
    if (!kc__controller_running(controller)) {
        kc_error_set(err, KC_TIMEOUT, "controller %s is not running",
                     kc_controller_name(controller));
        return false;
    }
    if (!n.ready && !n.processing && !n.retrying)
        return true;
    kc_scoped(kc_buf) text = {0};
    kc__controller_write(controller, &text);
    kc_error_set(err, KC_TIMEOUT, "controller %s has %zu ready, %zu in progress, %zu to retry: %s",
                 kc_controller_name(controller), n.ready, n.processing, n.retrying,
                 kc_buf_cstr(&text));
    return false;
}

static bool queues_are_idle(kc_testenv *env, kc_error *err)
{
    bool idle = true;
    if (!kc_manager_is_leader(env->manager)) {
        kc_error_set(err, KC_TIMEOUT, "the manager is not the leader");
        return false;
    }
    kc_locked (&env->manager->mutex)
        kc_vec_each (&env->manager->controllers, c)
            idle = idle && is_idle(*c, err);
    return idle;
}

/* ---- caches ---- */

/* Reads the cache store, not the overlay: a controller's own write is visible earlier, before its
 * event handlers were called. */
static bool informer_has(kc_informer *informer, const kc_object *object)
{
    bool has = false;
    kc_locked (&informer->mutex) {
        const kc_object *kept = kc__cache_store_get(&informer->store, kc_object_key(object));
        has = kept && kc_object_revision(kept) >= kc_object_revision(object);
    }
    return has;
}

/* Adds to *total the number of objects of a namespace (NULL: all) that the server has for this
 * informer. False if the list fails, or the informer lacks one of them or has an older version. */
static bool count_if_current(kc_testenv *env, kc_informer *informer, const char *ns, size_t *total,
                             kc_error *err)
{
    kc_scoped(kc_object_list) list = {0};
    const kc_list_opts what = {.ns = ns,
                               .labels = informer->opts.labels,
                               .fields = informer->opts.fields,
                               .metadata_only = true};
    if (kc_client_list(env->client, kc_informer_kind(informer), &what, &list, err) < 0)
        return false;
    for (size_t i = 0; i < list.n; i++)
        if (!informer_has(informer, list.items[i]))
            return false;
    *total += list.n;
    return true;
}

/* Whether the informer has every object of the server, equally new, and no others. */
static bool is_current(kc_testenv *env, kc_informer *informer, kc_error *err)
{
    static const char *const all[] = {NULL, NULL};
    const char *const *ns = informer->opts.namespaces ? informer->opts.namespaces : all;
    size_t total = 0;
    bool current;
    do
        current = count_if_current(env, informer, *ns, &total, err);
    while (current && *ns && *++ns);
    if (current && total == kc_informer_count(informer))
        return true;
    kc_error_set(err, KC_TIMEOUT, "the cache of %s is behind the server",
                 kc_informer_kind(informer)->plural);
    return false;
}

static bool caches_are_current(kc_testenv *env, kc_error *err)
{
    kc_cache *cache = kc_manager_cache(env->manager);
    KC_VEC(kc_informer *) informers = {0};
    bool current = true;
    kc_locked (&cache->mutex)
        kc_vec_each (&cache->informers, i)
            kc_vec_push(&informers, kc__informer_use(*i));
    kc_vec_each (&informers, i) {
        current = current && is_current(env, *i, err);
        kc_informer_release(*i);
    }
    kc_vec_done(&informers);
    return current;
}

/* ---- waiting ---- */

static bool is_settled(kc_testenv *env, kc_error *err)
{
    kc_error_done(err);
    if (kc__faults_held(env->faults)) {
        kc_error_set(err, KC_TIMEOUT, "an injected fault delays a response");
        return false;
    }
    return queues_are_idle(env, err) && caches_are_current(env, err) && queues_are_idle(env, err);
}

int kc_testenv_settle_within(kc_testenv *env, int64_t limit, kc_error *err)
{
    kc_scoped(kc_error) why = {0};
    int64_t deadline = kc_clock_deadline(env->clock, limit ? limit : DEFAULT_LIMIT);
    if (kc_testenv_run(env, err) < 0)
        return kc_error_result(err);
    for (;;) {
        if (env->sim)
            kc_sim_settle(env->sim);
        if (kc_testenv_crashed(env) || is_settled(env, &why))
            return 0;
        if (kc_clock_now(env->clock) >= deadline)
            return kc_error_move(err, &why);
        kc_testenv_advance(env, STEP);
    }
}
