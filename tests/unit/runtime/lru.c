/* SPDX-License-Identifier: Apache-2.0 */
/* A bounded table that forgets what was used longest ago. */
#include "testing.h"

#include "runtime/lru.h"

static void what_was_used_longest_ago_goes_first(void **state)
{
    (void)state;
    kc_scoped(kc__lru) lru;
    kc__lru_init(&lru, 2, sizeof(int), NULL);
    *(int *)kc__lru_get(&lru, KC_STR("a")) = 1;
    *(int *)kc__lru_get(&lru, KC_STR("b")) = 2;
    kc__lru_get(&lru, KC_STR("a"));
    kc__lru_get(&lru, KC_STR("c"));
    assert_null(kc__lru_peek(&lru, KC_STR("b")));
    assert_int_equal(*(int *)kc__lru_peek(&lru, KC_STR("a")), 1);
    assert_int_equal(*(int *)kc__lru_peek(&lru, KC_STR("c")), 0);
}

static int done;

static void count_done(void *value)
{
    (void)value;
    done++;
}

static void values_are_released(void **state)
{
    (void)state;
    done = 0;
    kc__lru lru;
    kc__lru_init(&lru, 2, 1, count_done);
    kc__lru_get(&lru, KC_STR("a"));
    kc__lru_get(&lru, KC_STR("b"));
    kc__lru_remove(&lru, KC_STR("a"));
    assert_int_equal(done, 1);
    kc__lru_remove(&lru, KC_STR("a"));
    kc__lru_done(&lru);
    assert_int_equal(done, 2);
}

TESTS(what_was_used_longest_ago_goes_first, values_are_released)
