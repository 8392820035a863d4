/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/kinds/registry.h"
#include "kc/thread.h"
#include "testing.h"

static void a_snapshot_survives_its_replacement(void **state)
{
    (void)state;
    kc__kinds *first = kc__kinds_new(NULL), *second = kc__kinds_new(NULL);
    kc_auto(kc__registry) *registry = kc__registry_new(first);
    kc_auto(kc__kinds) *taken = kc__registry_snapshot(registry);
    kc__registry_replace(registry, second);
    assert_ptr_equal(taken, first);
    assert_non_null(kc__kinds_find(taken, KC_STR(""), KC_STR("v1"), KC_STR("pods")));
    kc_auto(kc__kinds) *newer = kc__registry_snapshot(registry);
    assert_ptr_equal(newer, second);
}

static void a_held_snapshot_is_exchanged_only_when_there_is_a_newer_one(void **state)
{
    (void)state;
    kc__kinds *first = kc__kinds_new(NULL), *second = kc__kinds_new(NULL);
    kc_auto(kc__registry) *registry = kc__registry_new(first);
    kc_auto(kc__kinds) *held = NULL;
    assert_ptr_equal(kc__registry_current(registry, &held), first);
    assert_ptr_equal(kc__registry_current(registry, &held), first);
    kc__registry_replace(registry, second);
    assert_ptr_equal(kc__registry_current(registry, &held), second);
    assert_ptr_equal(held, second);
}

static void a_registry_may_be_freed_before_its_snapshots(void **state)
{
    (void)state;
    kc__registry *registry = kc__registry_new(kc__kinds_new(NULL));
    kc_auto(kc__kinds) *taken = kc__registry_snapshot(registry);
    assert_null(kc__registry_free(registry));
    assert_non_null(kc__kinds_find_group(taken, KC_STR("apps")));
    assert_null(kc__registry_free(NULL));
    assert_null(kc__kinds_unref(NULL));
}

typedef struct reader {
    kc__registry *registry;
    size_t found;
} reader;

enum { ROUNDS = 2000 };

static void read_all_the_time(void *user)
{
    reader *self = user;
    kc_auto(kc__kinds) *held = NULL;
    for (int i = 0; i < ROUNDS; i++) {
        const kc__kinds *kinds = kc__registry_current(self->registry, &held);
        self->found +=
            kc__kinds_find(kinds, KC_STR("apps"), KC_STR("v1"), KC_STR("deployments")) != NULL;
    }
}

static void readers_do_not_notice_replacements(void **state)
{
    (void)state;
    kc_auto(kc__registry) *registry = kc__registry_new(kc__kinds_new(NULL));
    reader readers[2] = {{.registry = registry}, {.registry = registry}};
    kc_thread *threads[2];
    for (int i = 0; i < 2; i++)
        threads[i] = kc_thread_start("reader", read_all_the_time, &readers[i], NULL);
    for (int i = 0; i < 50; i++)
        kc__registry_replace(registry, kc__kinds_new(NULL));
    for (int i = 0; i < 2; i++) {
        kc_thread_join(threads[i]);
        assert_int_equal(readers[i].found, ROUNDS);
    }
}

TESTS(a_snapshot_survives_its_replacement,
      a_held_snapshot_is_exchanged_only_when_there_is_a_newer_one,
      a_registry_may_be_freed_before_its_snapshots, readers_do_not_notice_replacements)
