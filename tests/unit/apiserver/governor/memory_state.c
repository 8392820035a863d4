/* SPDX-License-Identifier: Apache-2.0 */
/* memory_state.c: the decisions of the governor for given readings. */
#include "apiserver/governor/memory_state.h"
#include "testing.h"

#define MIB ((size_t)1 << 20)

static kc__memory_level level(size_t resident, size_t counted, size_t then, size_t more)
{
    return kc__memory_judge(&(kc__memory_state){.soft = 100 * MIB,
                                                .hard = 200 * MIB,
                                                .resident = resident * MIB,
                                                .counted = counted * MIB,
                                                .counted_at_reading = then * MIB},
                            more * MIB);
}

static void level_follows_soft_and_hard_limit(void **state)
{
    (void)state;
    assert_int_equal(level(100, 0, 0, 0), KC__MEMORY_OK);
    assert_int_equal(level(101, 0, 0, 0), KC__MEMORY_SOFT);
    assert_int_equal(level(200, 0, 0, 0), KC__MEMORY_SOFT);
    assert_int_equal(level(201, 0, 0, 0), KC__MEMORY_HARD);
}

static void bytes_accounted_since_the_reading_are_added(void **state)
{
    (void)state;
    assert_int_equal(level(50, 60, 0, 0), KC__MEMORY_SOFT);
    assert_int_equal(level(50, 60, 60, 0), KC__MEMORY_OK);
    assert_int_equal(level(50, 10, 60, 0), KC__MEMORY_OK); /* Given back: the reading stands. */
    assert_int_equal(level(50, 0, 0, 60), KC__MEMORY_SOFT);
    assert_int_equal(level(0, 300, 0, 0), KC__MEMORY_HARD); /* Without a reading. */
}

static void level_without_limits_is_ok(void **state)
{
    (void)state;
    const kc__memory_state none = {.resident = SIZE_MAX / 2};
    assert_int_equal(kc__memory_judge(&none, 0), KC__MEMORY_OK);
    assert_int_equal(kc__memory_excess(&none), 0);
}

static kc__governor_request_class class_of(const char *verb, const char *group,
                                           const char *resource, size_t body, int64_t limit)
{
    return kc__governor_request_class_of(
        &(kc__governor_request_traits){verb, kc_cstr(group), kc_cstr(resource), body, limit});
}

static void requests_are_classified_by_cost(void **state)
{
    (void)state;
    assert_int_equal(class_of("get", "", "pods", 0, 0), KC__GOVERNOR_CLASS_EXEMPT);
    assert_int_equal(class_of("delete", "", "pods", 0, 0), KC__GOVERNOR_CLASS_EXEMPT);
    assert_int_equal(class_of("deletecollection", "", "pods", 0, 0), KC__GOVERNOR_CLASS_EXEMPT);
    assert_int_equal(class_of("get", "", "", 0, 0), KC__GOVERNOR_CLASS_EXEMPT); /* /readyz */
    assert_int_equal(class_of("update", "coordination.k8s.io", "leases", 500, 0),
                     KC__GOVERNOR_CLASS_EXEMPT);
    assert_int_equal(class_of("create", "", "pods", 1000, 0), KC__GOVERNOR_CLASS_LIGHT);
    assert_int_equal(class_of("patch", "apps", "deployments", KC__GOVERNOR_LIGHT_BODY, 0),
                     KC__GOVERNOR_CLASS_LIGHT);
    assert_int_equal(class_of("create", "", "pods", KC__GOVERNOR_LIGHT_BODY + 1, 0),
                     KC__GOVERNOR_CLASS_HEAVY);
    assert_int_equal(class_of("create", "apiextensions.k8s.io", "customresourcedefinitions", 10, 0),
                     KC__GOVERNOR_CLASS_HEAVY);
    assert_int_equal(class_of("list", "", "pods", 0, 500), KC__GOVERNOR_CLASS_LIGHT);
    assert_int_equal(class_of("list", "", "pods", 0, 501), KC__GOVERNOR_CLASS_HEAVY);
    assert_int_equal(class_of("list", "", "pods", 0, 0), KC__GOVERNOR_CLASS_HEAVY);
    assert_int_equal(class_of("list", "", "pods", 0, -1), KC__GOVERNOR_CLASS_HEAVY);
    assert_int_equal(class_of("watch", "", "pods", 0, 0), KC__GOVERNOR_CLASS_HEAVY);
}

static void level_decides_which_classes_are_refused(void **state)
{
    (void)state;
    for (int c = KC__GOVERNOR_CLASS_EXEMPT; c <= KC__GOVERNOR_CLASS_HEAVY; c++)
        assert_false(kc__memory_refuses(KC__MEMORY_OK, (kc__governor_request_class)c));
    assert_false(kc__memory_refuses(KC__MEMORY_SOFT, KC__GOVERNOR_CLASS_EXEMPT));
    assert_false(kc__memory_refuses(KC__MEMORY_SOFT, KC__GOVERNOR_CLASS_LIGHT));
    assert_true(kc__memory_refuses(KC__MEMORY_SOFT, KC__GOVERNOR_CLASS_HEAVY));
    assert_false(kc__memory_refuses(KC__MEMORY_HARD, KC__GOVERNOR_CLASS_EXEMPT));
    assert_true(kc__memory_refuses(KC__MEMORY_HARD, KC__GOVERNOR_CLASS_LIGHT));
    assert_true(kc__memory_refuses(KC__MEMORY_HARD, KC__GOVERNOR_CLASS_HEAVY));
}

static void excess_leads_to_the_middle_of_the_limits(void **state)
{
    (void)state;
    kc__memory_state s = {.soft = 100 * MIB, .hard = 200 * MIB, .resident = 200 * MIB};
    assert_int_equal(kc__memory_excess(&s), 0);
    s.resident = 210 * MIB;
    assert_int_equal(kc__memory_excess(&s), 60 * MIB);
    s.soft = 0;
    assert_int_equal(kc__memory_excess(&s), 10 * MIB);
}

TESTS(level_follows_soft_and_hard_limit, bytes_accounted_since_the_reading_are_added,
      level_without_limits_is_ok, requests_are_classified_by_cost,
      level_decides_which_classes_are_refused, excess_leads_to_the_middle_of_the_limits)
