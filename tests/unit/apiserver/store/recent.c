/* SPDX-License-Identifier: Apache-2.0 */
/* recent.c: the shared limits of all rings: in which order events are dropped, and what they count.
 */
#include "store_testing.h"

#include "apiserver/store/store_internal.h"

/* Limits that hold for any number of events. */
static const kc__store_opts unlimited = {.event_bytes = SIZE_MAX,
                                         .settled_bytes = SIZE_MAX,
                                         .event_age = KC_HOUR,
                                         .settle_age = KC_HOUR};

static void add_events(kc__store_recent *recent, kc__watch_cache *cache, uint64_t first, size_t n,
                       int64_t now)
{
    kc_auto(kc_object) *object = object_of("{'metadata':{'name':'a'}}");
    for (size_t i = 0; i < n; i++) {
        kc_auto(kc__store_event) *event =
            kc__store_event_new(KC__STORE_ADDED, first + i, KC_STR("ns/a"), object, NULL);
        kc__store_recent_add(recent, cache, event, now);
    }
}

static void events_added_at_once_to_one_ring_take_one_run(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    kc__store_recent recent = {0};
    add_events(&recent, s->pods, 10, 1000, 1);
    assert_int_equal(recent.n, 1000);
    assert_int_equal(recent.n_runs, 1);
    add_events(&recent, s->pods, 1010, 1, 2);
    add_events(&recent, s->maps, 1011, 1, 2);
    add_events(&recent, s->maps, 1012, 1, 2);
    assert_int_equal(recent.n, 1003);
    assert_int_equal(recent.n_runs, 3);
    kc__store_recent_trim(&recent, 2, &(kc__store_opts){0});
    kc__store_recent_done(&recent);
}

static void oldest_event_of_all_rings_is_dropped_first(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    kc__store_recent recent = {0};
    kc__store_opts opts = unlimited;
    add_events(&recent, s->pods, 10, 3, 1);
    add_events(&recent, s->maps, 20, 2, 2);
    add_events(&recent, s->pods, 30, 1, 3);
    opts.event_age = 1;
    kc__store_recent_trim(&recent, 3, &opts);
    assert_int_equal(recent.n, 3);
    assert_int_equal(kc__watch_cache_oldest(s->pods), 12);
    assert_int_equal(kc__watch_cache_oldest(s->maps), 1);
    kc__store_recent_trim(&recent, 4, &opts);
    assert_int_equal(kc__watch_cache_oldest(s->pods), 12);
    assert_int_equal(kc__watch_cache_oldest(s->maps), 21);
    kc__store_recent_trim(&recent, 5, &opts);
    assert_int_equal(kc__watch_cache_oldest(s->pods), 30);
    assert_int_equal(recent.n, 0);
    kc__store_recent_done(&recent);
}

static void limit_of_bytes_drops_part_of_a_run(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    kc__store_recent recent = {0};
    kc__store_opts opts = unlimited;
    add_events(&recent, s->pods, 10, 100, 1);
    opts.event_bytes = recent.bytes / 2;
    kc__store_recent_trim(&recent, 1, &opts);
    assert_in_range(recent.n, 45, 55);
    assert_int_equal(recent.n_runs, 1);
    assert_true(recent.bytes <= opts.event_bytes);
    assert_int_equal(kc__watch_cache_oldest(s->pods), 10 + 100 - recent.n - 1);
    kc__store_recent_trim(&recent, 1, &(kc__store_opts){0});
    kc__store_recent_done(&recent);
}

static void all_bytes_are_returned_when_all_events_are_dropped(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    kc__store_recent recent = {0};
    for (uint64_t i = 0; i < 3000; i++)
        add_events(&recent, i % 3 ? s->pods : s->maps, 10 + i, 1, (int64_t)i);
    const size_t room = recent.room;
    kc__store_recent_trim(&recent, 3000, &(kc__store_opts){0});
    assert_int_equal(recent.n, 0);
    assert_int_equal(recent.n_runs, 0);
    assert_int_equal(recent.bytes, 0);
    assert_true(recent.room < room);
    kc__store_recent_done(&recent);
}

TESTS(events_added_at_once_to_one_ring_take_one_run, oldest_event_of_all_rings_is_dropped_first,
      limit_of_bytes_drops_part_of_a_run, all_bytes_are_returned_when_all_events_are_dropped)
