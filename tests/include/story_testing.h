/* SPDX-License-Identifier: Apache-2.0 */
/*
 * story_testing.h: a story of a controller, told again and again while things go wrong: what
 * somebody does, how long it may take, what must be true in the end.
 *
 *     static const story deleted = {.controllers = {.names = "namespace"},
 *                                   .before = a_full_namespace, .event = it_is_deleted,
 *                                   .takes = KC_MINUTE, .end = nothing_is_left};
 *     it_ends_well(&deleted);                    nothing goes wrong
 *     it_survives_a_crash_after_any_write(&deleted);
 *     it_survives_a_stale_cache(&deleted);
 *     it_survives_missed_events(&deleted);
 *     it_survives_a_bad_network(&deleted);
 *
 * All of it in virtual time, each kind of fault with three seeds; KC_STORY_SEEDS says another
 * number. A file that defines STORY_OF_RECONCILERS before it includes this tells of reconcilers
 * (kc/app.h) instead: .reconcilers = "banana".
 */
#ifndef KC_STORY_TESTING_H
#define KC_STORY_TESTING_H

#include "plane_testing.h"

#ifdef STORY_OF_RECONCILERS
#include "kc/app.h"
#else
#include "kc/controllers.h"
#endif

typedef struct story {
#ifdef STORY_OF_RECONCILERS
    const char *reconcilers;
    const char *config;           /* Of the config file. May be NULL. */
    const kc_reconciler *instead; /* One of the test's own, instead of those that are linked in. */
#else
    kc_controllers_opts controllers;
#endif
    void (*before)(kc_testenv *env);  /* What is there when the controllers start. May be NULL. */
    void (*event)(kc_testenv *env);   /* What then happens. May be NULL. */
    void (*outside)(kc_testenv *env); /* Every second: what others do meanwhile. May be NULL. */
    int64_t takes;                    /* By then it must be as `end` says. */
    void (*end)(kc_testenv *env);
} story;

static inline KC_UNUSED void story_add(const story *s, kc_manager *manager)
{
    kc_scoped(kc_error) err = {0};
#ifdef STORY_OF_RECONCILERS
    kc_auto(kc_app_config) *config = kc_app_config_parse(kc_cstr(s->config), &err);
    kc_auto(kc_app) *app = kc_app_new(&(kc_app_opts){.config = config, .names = s->reconcilers});
    OK(!config      ? -1
       : s->instead ? kc_app_with(app, s->instead, &err)
                    : kc_app_with_linked(app, &err),
       &err);
    OK(kc_app_setup(app, manager, &err), &err);
#else
    OK(kc_controllers_add(manager, &s->controllers, &err), &err);
#endif
}

static inline KC_UNUSED void story_pass(const story *s, kc_testenv *env, int64_t time)
{
    for (int64_t t = 0; t < time; t += KC_SECOND) {
        if (s->outside)
            s->outside(env);
        kc_testenv_advance(env, KC_SECOND);
    }
}

/* Up to the event, which has just happened when it returns. */
static inline KC_UNUSED kc_testenv *story_begin(const story *s, uint64_t seed)
{
    kc_scoped(kc_error) err = {0};
    kc_testenv *env = plane(seed);
    story_add(s, kc_testenv_manager(env));
    if (s->before)
        s->before(env);
    OK(kc_testenv_run(env, &err), &err);
    return env;
}

static inline KC_UNUSED void story_event(const story *s, kc_testenv *env)
{
    story_pass(s, env, KC_SECOND);
    if (s->event)
        s->event(env);
}

static inline KC_UNUSED void it_ends_well(const story *s)
{
    kc_auto(kc_testenv) *env = story_begin(s, 1);
    story_event(s, env);
    story_pass(s, env, s->takes);
    settle(env);
    s->end(env);
}

/* Until so many writes were allowed that none was left to crash after. */
static inline KC_UNUSED void it_survives_a_crash_after_any_write(const story *s)
{
    bool crashed = true;
    size_t writes = 0;
    while (crashed) {
        kc_scoped(kc_error) err = {0};
        kc_auto(kc_testenv) *env = story_begin(s, 2);
        kc_testenv_crash_after(env, writes += CRASH_STEP);
        story_event(s, env);
        story_pass(s, env, s->takes);
        crashed = kc_testenv_crashed(env);
        if (crashed) {
            kc_manager *next = kc_testenv_restart(env, &err);
            OK(next ? 0 : -1, &err);
            story_add(s, next);
            OK(kc_testenv_run(env, &err), &err);
            story_pass(s, env, s->takes);
        }
        settle(env);
        s->end(env);
    }
    assert_true(writes > 1);
}

static inline KC_UNUSED void story_with(const story *s, uint64_t seed, const kc_fault_opts *faults)
{
    kc_auto(kc_testenv) *env = story_begin(s, seed);
    for (; faults->fault; faults++)
        kc_testenv_fault(env, faults);
    story_event(s, env);
    story_pass(s, env, s->takes);
    kc_testenv_clear_faults(env);
    story_pass(s, env, s->takes);
    settle(env);
    s->end(env);
}

static inline KC_UNUSED uint64_t story_seeds(void)
{
    const char *text = getenv("KC_STORY_SEEDS");
    return text ? strtoull(text, NULL, 10) : SEEDS_OF(3);
}

static inline KC_UNUSED void it_survives_a_stale_cache(const story *s)
{
    for (uint64_t seed = 1; seed <= story_seeds(); seed++)
        story_with(s, seed, (kc_fault_opts[]){{KC_FAULT_STALE_READ, .chance = 1}, {0}});
}

static inline KC_UNUSED void it_survives_missed_events(const story *s)
{
    for (uint64_t seed = 1; seed <= story_seeds(); seed++)
        story_with(s, seed,
                   (kc_fault_opts[]){{KC_FAULT_DROP_WATCH, .chance = 0.5},
                                     {KC_FAULT_EXPIRE_WATCH, .chance = 0.5},
                                     {0}});
}

static inline KC_UNUSED void it_survives_a_bad_network(const story *s)
{
    for (uint64_t seed = 1; seed <= story_seeds(); seed++)
        story_with(s, seed,
                   (kc_fault_opts[]){{KC_FAULT_UNAVAILABLE, .chance = 0.2},
                                     {KC_FAULT_LOST_ANSWER, .chance = 0.2},
                                     {KC_FAULT_CONFLICT, .chance = 0.2},
                                     {0}});
}

#endif
