/* SPDX-License-Identifier: Apache-2.0 */
/*
 * testing: tests the controller of Websites (../owns/website.c) against the real API server, in
 * this process, in virtual time. No cluster, no mock, no sleep; a hundred of these take some
 * seconds.
 *
 * A seed determines everything: scheduling, faults, generated names. A failing test fails again
 * with its seed. Any test framework works; this uses assert.
 */
#undef NDEBUG
#include "kc/conditions.h"
#include "kc/kinds.h"
#include "kc/testenv.h"
#include "website.h"

#include <assert.h>
#include <stdio.h>

static const char *const DEFINITIONS[] = {"../website.yaml", NULL};
static const kc_str HOME = KC_STR_INIT(
    "{apiVersion: example.com/v1, kind: Website, metadata: {name: home}, spec: {title: Hi}}");

static kc_testenv *start(uint64_t seed)
{
    kc_testenv *env =
        kc_testenv_start(&(kc_testenv_opts){.seed = seed, .apply = DEFINITIONS}, NULL);
    assert(website_setup(kc_testenv_manager(env), NULL) == 0);
    return env;
}

/* The page exists, and the status reports it. */
static bool is_ready(kc_testenv *env)
{
    kc_client *client = kc_testenv_client(env);
    kc_auto(kc_object) *page =
        kc_client_get(client, &kc_kind_config_map, KC_KEY("default", "home-page"), NULL, NULL);
    kc_auto(kc_object) *site =
        kc_client_get(client, &website_kind, KC_KEY("default", "home"), NULL, NULL);
    return page && site && kc_condition_true(site, KC_STR("Ready"));
}

static void website_gets_its_page(void)
{
    kc_auto(kc_testenv) *env = start(1);
    assert(kc_testenv_apply(env, HOME, NULL) == 0);
    assert(kc_testenv_settle(env, NULL) == 0); /* Waits until all queues are empty. */
    assert(is_ready(env));
}

static void website_converges_over_bad_network(uint64_t seed)
{
    kc_auto(kc_testenv) *env = start(seed);
    kc_testenv_fault(env, &(kc_fault_opts){KC_FAULT_UNAVAILABLE, .chance = 0.3});
    kc_testenv_fault(env, &(kc_fault_opts){KC_FAULT_LOST_RESPONSE, .chance = 0.2});
    kc_testenv_fault(env, &(kc_fault_opts){KC_FAULT_DROP_WATCH, .chance = 0.2});
    assert(kc_testenv_apply(env, HOME, NULL) == 0);
    assert(kc_testenv_settle_within(env, 10 * KC_MINUTE, NULL) == 0);
    assert(is_ready(env));
}

/* The controller writes the page and crashes before the status; a new process continues. */
static void crash_between_two_writes_is_recovered(uint64_t seed)
{
    kc_auto(kc_testenv) *env = start(seed);
    kc_testenv_crash_after(env, 1);
    assert(kc_testenv_apply(env, HOME, NULL) == 0);
    kc_testenv_run(env, NULL);
    while (!kc_testenv_crashed(env))
        kc_testenv_advance(env, KC_SECOND);
    assert(!is_ready(env));

    kc_manager *next = kc_testenv_restart(env, NULL);
    assert(next && website_setup(next, NULL) == 0);
    assert(kc_testenv_settle(env, NULL) == 0);
    assert(is_ready(env));
}

int main(void)
{
    website_gets_its_page();
    for (uint64_t seed = 1; seed <= 20; seed++) {
        website_converges_over_bad_network(seed);
        crash_between_two_writes_is_recovered(seed);
    }
    puts("all well");
    return 0;
}
