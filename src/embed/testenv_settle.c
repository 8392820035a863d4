/* SPDX-License-Identifier: Apache-2.0 */
/*
 * testenv_settle.c: until nothing is left to do.
 *
 * Settled is: no controller has a key that is ready, worked on, or waiting after a failure; nothing is
 * held back by a fault; and every cache has what the server has, object by object. The last is looked
 * at last, and in full: a test would rather wait than go on with a cache that is one event behind.
 *
 * In a simulation the others first run until none of them can without time passing; then time moves, a
 * step at a time. In real time it looks again every few milliseconds.
 */
#include "embed/testenv_internal.h"

#include "runtime/manager_internal.h"

#define DEFAULT_LIMIT KC_MINUTE
#define STEP          (5 * KC_MILLISECOND)

/* ---- queues ---- */

static bool is_idle(kc_controller *controller, kc_error *err)
{
    kc_queue *queue = kc_controller_queue(controller);
    kc_queue_counts n = queue ? kc_queue_count(queue) : (kc_queue_counts){0};
    if (!kc__controller_running(controller)) {
        kc_error_set(err, KC_TIMEOUT, "controller %s is not running", kc_controller_name(controller));
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

typedef struct comparison {
    kc_testenv *env;
    bool same;
    kc_error *err;
} comparison;

static bool cache_has(kc_testenv *env, const kc_kind *kind, const kc_object *object)
{
    kc_auto(kc_object) *cached =
        kc_cache_get(kc_manager_cache(env->manager), kind, kc_object_key(object), NULL);
    return cached && kc_object_revision(cached) >= kc_object_revision(object);
}

/* Every object of the server is in the cache as new, and there are no others. */
static void compare(kc_informer *informer, void *user)
{
    comparison *c = user;
    const kc_kind *kind = kc_informer_kind(informer);
    kc_scoped(kc_objects) list = {0};
    if (!c->same || kc__informer_is_partial(informer))
        return;
    c->same = kc_client_list(c->env->client, kind, &(kc_list_opts){.metadata_only = true}, &list,
                             c->err) == 0 &&
              list.n == kc_informer_count(informer);
    for (size_t i = 0; c->same && i < list.n; i++)
        c->same = cache_has(c->env, kind, list.items[i]);
    if (!c->same)
        kc_error_set(c->err, KC_TIMEOUT, "the cache of %s is behind the server", kind->plural);
}

static bool caches_are_current(kc_testenv *env, kc_error *err)
{
    comparison c = {env, true, err};
    kc__cache_each_informer(kc_manager_cache(env->manager), compare, &c);
    return c.same;
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
