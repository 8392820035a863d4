/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario_testing.h: runs a scenario of a controller repeatedly while faults are injected: an
 * event, how long its handling may take, and what must hold in the end.
 *
 *     static const scenario deleted = {.controllers = {.names = "namespace"},
 *                                      .before = create_full_namespace,
 *                                      .event = delete_namespace,
 *                                      .takes = KC_MINUTE,
 *                                      .end = assert_namespace_is_gone};
 *     scenario_converges(&deleted);               without faults
 *     scenario_converges_after_crashes(&deleted);
 *     scenario_converges_with_stale_cache(&deleted);
 *     scenario_converges_with_missed_events(&deleted);
 *     scenario_converges_with_bad_network(&deleted);
 *
 * Everything runs in virtual time, each kind of fault with three seeds; KC_SCENARIO_SEEDS sets
 * another number. A file that defines SCENARIO_OF_RECONCILERS before it includes this header tests
 * reconcilers (kc/app.h) instead: .reconcilers = "banana".
 */
#ifndef KC_SCENARIO_TESTING_H
#define KC_SCENARIO_TESTING_H

#include "plane_testing.h"

#ifdef SCENARIO_OF_RECONCILERS
#include "kc/app.h"
#else
#include "kc/controllers.h"
#endif

typedef struct scenario {
#ifdef SCENARIO_OF_RECONCILERS
    const char *reconcilers;
    const char *config; /* Content of the config file. May be NULL. */
    const kc_reconciler
        *instead; /* The test's own reconciler, instead of those that are linked in. */
#else
    kc_controllers_opts controllers;
#endif
    void (*before)(
        kc_testenv *env); /* Creates the state in which the controllers start. May be NULL. */
    void (*event)(kc_testenv *env); /* The event. May be NULL. */
    void (*outside)(
        kc_testenv *env); /* Called every second: actions of other clients. May be NULL. */
    int64_t takes;        /* The time by which `end` must hold. */
    void (*end)(kc_testenv *env);
} scenario;

static inline KC_UNUSED void scenario_add(const scenario *s, kc_manager *manager)
{
    kc_scoped(kc_error) err = {0};
#ifdef SCENARIO_OF_RECONCILERS
    kc_auto(kc_app_config) *config = kc_app_config_parse(kc_cstr(s->config), &err);
    kc_auto(kc_app) *app = kc_app_new(&(kc_app_opts){.config = config, .names = s->reconcilers});
    OK(!config      ? -1
       : s->instead ? kc_app_add_reconciler(app, s->instead, &err)
                    : kc_app_add_linked(app, &err),
       &err);
    OK(kc_app_setup(app, manager, &err), &err);
#else
    OK(kc_controllers_add(manager, &s->controllers, &err), &err);
#endif
}

static inline KC_UNUSED void scenario_advance(const scenario *s, kc_testenv *env, int64_t time)
{
    for (int64_t t = 0; t < time; t += KC_SECOND) {
        if (s->outside)
            s->outside(env);
        kc_testenv_advance(env, KC_SECOND);
    }
}

/* Runs up to the event, which has just happened when it returns. */
static inline KC_UNUSED kc_testenv *scenario_begin(const scenario *s, uint64_t seed)
{
    kc_scoped(kc_error) err = {0};
    kc_testenv *env = plane(seed);
    scenario_add(s, kc_testenv_manager(env));
    if (s->before)
        s->before(env);
    OK(kc_testenv_run(env, &err), &err);
    return env;
}

static inline KC_UNUSED void scenario_event(const scenario *s, kc_testenv *env)
{
    scenario_advance(s, env, KC_SECOND);
    if (s->event)
        s->event(env);
}

static inline KC_UNUSED void scenario_converges(const scenario *s)
{
    kc_auto(kc_testenv) *env = scenario_begin(s, 1);
    scenario_event(s, env);
    scenario_advance(s, env, s->takes);
    settle(env);
    s->end(env);
}

/* Repeats with more writes allowed before the crash each time, until no write is left to crash
 * after. */
static inline KC_UNUSED void scenario_converges_after_crashes(const scenario *s)
{
    bool crashed = true;
    size_t writes = 0;
    while (crashed) {
        kc_scoped(kc_error) err = {0};
        kc_auto(kc_testenv) *env = scenario_begin(s, 2);
        kc_testenv_crash_after(env, writes += CRASH_STEP);
        scenario_event(s, env);
        scenario_advance(s, env, s->takes);
        crashed = kc_testenv_crashed(env);
        if (crashed) {
            kc_manager *next = kc_testenv_restart(env, &err);
            OK(next ? 0 : -1, &err);
            scenario_add(s, next);
            OK(kc_testenv_run(env, &err), &err);
            scenario_advance(s, env, s->takes);
        }
        settle(env);
        s->end(env);
    }
    assert_true(writes > 1);
}

static inline KC_UNUSED void scenario_run_with_faults(const scenario *s, uint64_t seed,
                                                      const kc_fault_opts *faults)
{
    kc_auto(kc_testenv) *env = scenario_begin(s, seed);
    for (; faults->fault; faults++)
        kc_testenv_fault(env, faults);
    scenario_event(s, env);
    scenario_advance(s, env, s->takes);
    kc_testenv_clear_faults(env);
    scenario_advance(s, env, s->takes);
    settle(env);
    s->end(env);
}

static inline KC_UNUSED uint64_t scenario_seeds(void)
{
    const char *text = getenv("KC_SCENARIO_SEEDS");
    return text ? strtoull(text, NULL, 10) : SEEDS_OF(3);
}

static inline KC_UNUSED void scenario_converges_with_stale_cache(const scenario *s)
{
    for (uint64_t seed = 1; seed <= scenario_seeds(); seed++)
        scenario_run_with_faults(s, seed,
                                 (kc_fault_opts[]){{KC_FAULT_STALE_READ, .chance = 1}, {0}});
}

static inline KC_UNUSED void scenario_converges_with_missed_events(const scenario *s)
{
    for (uint64_t seed = 1; seed <= scenario_seeds(); seed++)
        scenario_run_with_faults(s, seed,
                                 (kc_fault_opts[]){{KC_FAULT_DROP_WATCH, .chance = 0.5},
                                                   {KC_FAULT_EXPIRE_WATCH, .chance = 0.5},
                                                   {0}});
}

static inline KC_UNUSED void scenario_converges_with_bad_network(const scenario *s)
{
    for (uint64_t seed = 1; seed <= scenario_seeds(); seed++)
        scenario_run_with_faults(s, seed,
                                 (kc_fault_opts[]){{KC_FAULT_UNAVAILABLE, .chance = 0.2},
                                                   {KC_FAULT_LOST_RESPONSE, .chance = 0.2},
                                                   {KC_FAULT_CONFLICT, .chance = 0.2},
                                                   {0}});
}

#endif
