/* SPDX-License-Identifier: Apache-2.0 */
/*
 * testenv_settle.c: until nothing is left to do.
 *
 * Settled is: no controller has a key that is ready, worked on, or waiting after a failure; nothing
 * is held back by a fault; and every cache has what the server has, object by object. The last is
 * looked at last, and in full: a test would rather wait than go on with a cache that is one event
 * behind.
 *
 * In a simulation the others first run until none of them can without time passing; then time
 * moves, a step at a time. In real time it looks again every few milliseconds.
 */
#include "embed/testenv_internal.h"

#include "runtime/cache_internal.h"
#include "runtime/controller_internal.h"
#include "runtime/informer_internal.h"
#include "runtime/manager_internal.h"

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
    kc_error_set(err, KC_TIMEOUT, "controller %s has %zu ready, %zu at work, %zu to retry: %s",
                 kc_controller_name(controller), n.ready, n.processing, n.retrying,
                 kc_buf_cstr(&text));
    return false;
}

static bool queues_are_idle(kc_testenv *env, kc_error *err)
{
    bool idle = true;
    if (!kc_manager_leads(env->manager)) {
        kc_error_set(err, KC_TIMEOUT, "the manager does not lead");
        return false;
    }
    kc_locked (&env->manager->mutex)
        kc_vec_each (&env->manager->controllers, c)
            idle = idle && is_idle(*c, err);
    return idle;
}

/* ---- caches ---- */

/* In the store: what a controller has written itself is seen earlier, but its listeners have not
 * been told yet. */
static bool informer_has(kc_informer *informer, const kc_object *object)
{
    bool has = false;
    kc_locked (&informer->mutex) {
        const kc_object *kept = kc__store_get(&informer->store, kc_object_key(object));
        has = kept && kc_object_revision(kept) >= kc_object_revision(object);
    }
    return has;
}

/* How many objects of a namespace (NULL: all) the server has for this informer; -1 when the
 * informer lacks one of them, or has it older. */
static ssize_t count_if_current(kc_testenv *env, kc_informer *informer, const char *ns,
                                kc_error *err)
{
    kc_scoped(kc_objects) list = {0};
    const kc_list_opts what = {.ns = ns,
                               .labels = informer->opts.labels,
                               .fields = informer->opts.fields,
                               .metadata_only = true};
    if (kc_client_list(env->client, kc_informer_kind(informer), &what, &list, err) < 0)
        return -1;
    for (size_t i = 0; i < list.n; i++)
        if (!informer_has(informer, list.items[i]))
            return -1;
    return (ssize_t)list.n;
}

/* Every object of the server is there, as new, and there are no others. */
static bool is_current(kc_testenv *env, kc_informer *informer, kc_error *err)
{
    static const char *const all[] = {NULL, NULL};
    const char *const *ns = informer->opts.namespaces ? informer->opts.namespaces : all;
    ssize_t total = 0;
    do {
        ssize_t n = count_if_current(env, informer, *ns, err);
        total = n < 0 ? -1 : total + n;
    } while (total >= 0 && *ns && *++ns);
    if (total == (ssize_t)kc_informer_count(informer))
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
        kc_error_set(err, KC_TIMEOUT, "a fault holds something back");
        return false;
    }
    return queues_are_idle(env, err) && caches_are_current(env, err) && queues_are_idle(env, err);
}

int kc_testenv_settle_within(kc_testenv *env, int64_t limit, kc_error *err)
{
    kc_scoped(kc_error) why = {0};
    int64_t deadline = kc_clock_deadline(env->clock, limit ? limit : DEFAULT_LIMIT);
    if (kc_testenv_run(env, err) < 0)
        return -1;
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
