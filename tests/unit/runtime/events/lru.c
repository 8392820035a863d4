/* SPDX-License-Identifier: Apache-2.0 */
/* A bounded table that evicts the least recently used entry. */
#include "testing.h"

#include "runtime/events/lru.h"

static void least_recently_used_entry_is_evicted(void **state)
{
    (void)state;
    kc_scoped(kc__lru) lru;
    kc__lru_init(&lru, 2, sizeof(int), NULL);
    *(int *)kc__lru_get(&lru, KC_STR("a")) = 1;
    *(int *)kc__lru_get(&lru, KC_STR("b")) = 2;
    kc__lru_get(&lru, KC_STR("a"));
    kc__lru_get(&lru, KC_STR("c"));
    assert_null(kc_map_get(&lru.by_key, KC_STR("b")));
    assert_int_equal(*(int *)kc__lru_get(&lru, KC_STR("a")), 1);
    assert_int_equal(*(int *)kc__lru_get(&lru, KC_STR("c")), 0);
}

static int done;

static void count_done(void *value)
{
    (void)value;
    done++;
}

static void removed_and_remaining_values_are_released(void **state)
{
    (void)state;
    done = 0;
    kc__lru lru;
    kc__lru_init(&lru, 2, 1, count_done);
    kc__lru_get(&lru, KC_STR("a"));
    kc__lru_get(&lru, KC_STR("b"));
    kc__lru_get(&lru, KC_STR("c"));
    assert_int_equal(done, 1);
    kc__lru_done(&lru);
    assert_int_equal(done, 3);
}

TESTS(least_recently_used_entry_is_evicted, removed_and_remaining_values_are_released)
