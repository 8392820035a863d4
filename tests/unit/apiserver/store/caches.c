/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of how long watch caches live: store/caches.c. */
#include "store_testing.h"

#define ROBOTS KC_STR("/registry/example.io/robots/")

static void setup(stage **ret_s, kc_clock *clock, kc_metrics *metrics)
{
    *ret_s = stage_make();
    (*ret_s)->opts.clock = clock;
    (*ret_s)->opts.metrics = metrics;
    stage_open(*ret_s);
}

/* Longer than the committer waits between two sweeps, and shorter than events are kept. */
static void sweep(kc_clock *clock)
{
    kc_clock_run(clock, 2 * KC_MINUTE, 1);
}

/* And until the events so far have left the rings. */
static void outlive_events(kc_clock *clock)
{
    kc_clock_run(clock, 8 * KC_MINUTE, 1);
}

static void expect_caches(kc_metrics *metrics, int n)
{
    kc_scoped(kc_buf) text = {0}, line = {0};
    kc_metrics_write(metrics, &text);
    kc_buf_printf(&line, "kc_store_watch_caches %d\n", n);
    assert_contains(kc_buf_cstr(&text), kc_buf_cstr(&line));
}

static void write_robot(stage *s, const char *value)
{
    kc_auto(kc__watch_cache) *robots = kc__store_watch_cache_ref(s->store, ROBOTS);
    kc_scoped(attempt) a = try_write(s, robots, "a", KC__STORAGE_ANY, value);
    assert_int_equal(a.write.outcome, KC__STORAGE_STORED);
}

#define STAGE_WITH_CLOCK(s)                             \
    kc_auto(kc_clock) *clock = kc_clock_virtual_new(0); \
    kc_auto(kc_metrics) *metrics = kc_metrics_new();    \
    kc_auto(stage) *s = NULL;                           \
    setup(&s, clock, metrics)

static void cache_with_a_reference_stays(void **state)
{
    (void)state;
    STAGE_WITH_CLOCK(s);
    kc__watch_cache *robots = kc__store_watch_cache_ref(s->store, ROBOTS);
    outlive_events(clock);
    expect_caches(metrics, 3);
    kc_auto(kc__watch_cache) *again = kc__store_watch_cache_ref(s->store, ROBOTS);
    assert_ptr_equal(again, robots);
    kc__watch_cache_unref(robots);
    sweep(clock);
    expect_caches(metrics, 3);
}

static void cache_without_references_is_freed(void **state)
{
    (void)state;
    STAGE_WITH_CLOCK(s);
    kc__watch_cache_unref(kc__store_watch_cache_ref(s->store, ROBOTS));
    sweep(clock);
    expect_caches(metrics, 2); /* Those of the stage itself are permanent. */
}

static void cache_with_objects_stays(void **state)
{
    (void)state;
    STAGE_WITH_CLOCK(s);
    write_robot(s, "1");
    put(s, "a", "1");
    outlive_events(clock);
    expect_caches(metrics, 3);
    kc_auto(kc__watch_cache) *robots = kc__store_watch_cache_ref(s->store, ROBOTS);
    kc_auto(kc_object) *found = kc__watch_cache_get(robots, KC_STR("a"));
    assert_non_null(found);
}

static void cache_stays_until_its_events_have_left(void **state)
{
    (void)state;
    STAGE_WITH_CLOCK(s);
    write_robot(s, "1");
    write_robot(s, NULL);
    put(s, "a", "1");
    sweep(clock);
    expect_caches(metrics, 3);
    outlive_events(clock);
    expect_caches(metrics, 2);
}

static void cache_stays_until_its_pages_have_left(void **state)
{
    (void)state;
    STAGE_WITH_CLOCK(s);
    write_robot(s, "1");
    kc__watch_cache *robots = kc__store_watch_cache_ref(s->store, ROBOTS);
    kc_auto(kc__cow_snapshot) *then = kc__watch_cache_snapshot_at(robots, 2, NULL);
    write_robot(s, NULL);
    kc_clock_run(clock, 4 * KC_MINUTE, 1);
    kc__watch_cache_keep(robots, 2, then);
    kc__watch_cache_unref(robots);
    put(s, "a", "1");
    sweep(clock);
    expect_caches(metrics, 3);
    outlive_events(clock);
    expect_caches(metrics, 2);
}

/* Its ring would otherwise claim that nothing happened. */
static void later_cache_does_not_know_the_events_of_a_freed_one(void **state)
{
    (void)state;
    STAGE_WITH_CLOCK(s);
    write_robot(s, "1");
    write_robot(s, NULL);
    const uint64_t gone = put(s, "a", "1") - 1;
    outlive_events(clock);
    expect_caches(metrics, 2);
    kc_auto(kc__watch_cache) *robots = kc__store_watch_cache_ref(s->store, ROBOTS);
    assert_int_equal(kc__watch_cache_oldest(robots), gone);
    assert_null(kc__watch_cache_get(robots, KC_STR("a")));
}

static void name_that_comes_back_works_again(void **state)
{
    (void)state;
    STAGE_WITH_CLOCK(s);
    for (int i = 0; i < 20; i++) {
        kc_auto(kc__watch_cache) *robots = kc__store_watch_cache_ref(s->store, ROBOTS);
        kc_scoped(attempt) create = try_write(s, robots, "a", KC__STORAGE_ABSENT, "1");
        assert_int_equal(create.write.outcome, KC__STORAGE_STORED);
        kc_scoped(attempt) delete = try_write(s, robots, "a", KC__STORAGE_ANY, NULL);
        assert_int_equal(delete.write.outcome, KC__STORAGE_STORED);
        put(s, "a", "1");
        kc_clock_run(clock, (i % 5) * 2 * KC_MINUTE, 1);
    }
}

static void number_of_caches_is_bounded_whatever_names_come(void **state)
{
    (void)state;
    STAGE_WITH_CLOCK(s);
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < 1000; i++) {
            char prefix[64];
            snprintf(prefix, sizeof(prefix), "/registry/example.io/robots%d-%d/", round, i);
            kc__watch_cache_unref(kc__store_watch_cache_ref(s->store, kc_cstr(prefix)));
        }
        sweep(clock);
        expect_caches(metrics, 2);
    }
}

static void reference_outlives_the_store(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    kc_auto(kc__watch_cache) *robots = kc__store_watch_cache_ref(s->store, ROBOTS);
    stage_close(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cache_with_a_reference_stays),
        cmocka_unit_test(cache_without_references_is_freed),
        cmocka_unit_test(cache_with_objects_stays),
        cmocka_unit_test(cache_stays_until_its_events_have_left),
        cmocka_unit_test(cache_stays_until_its_pages_have_left),
        cmocka_unit_test(later_cache_does_not_know_the_events_of_a_freed_one),
        cmocka_unit_test(name_that_comes_back_works_again),
        cmocka_unit_test(number_of_caches_is_bounded_whatever_names_come),
        cmocka_unit_test(reference_outlives_the_store),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
