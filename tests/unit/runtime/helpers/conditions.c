/* SPDX-License-Identifier: Apache-2.0 */
/* Conditions: one of each type, and a transition time that moves only with the status. */
#include "testing.h"

#include "kc/conditions.h"

#define START (INT64_C(1767323045) * KC_SECOND) /* 2026-01-02T03:04:05Z */

static kc_condition ready(const char *status, const char *message)
{
    return (kc_condition){.type = KC_STR("Ready"),
                          .status = kc_cstr(status),
                          .reason = KC_STR("Checked"),
                          .message = kc_cstr(message),
                          .observed_generation = 3};
}

static void new_condition_gets_transition_time(void **state)
{
    (void)state;
    kc_auto(kc_clock) *clock = kc_clock_virtual_new(START);
    kc_auto(kc_edit) *edit = edit_of("{'status':{}}");
    kc_condition c = ready("True", "all is well");
    assert_true(kc_condition_set(edit, clock, &c));
    assert_node_json(kc_edit_root(edit),
                     "{\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\","
                     "\"observedGeneration\":3,\"lastTransitionTime\":\"2026-01-02T03:04:05Z\","
                     "\"reason\":\"Checked\",\"message\":\"all is well\"}]}}");
}

static const char *transition(const kc_edit *edit, kc_arena *arena)
{
    kc_auto(kc_object) *object = kc_edit_freeze(edit, NULL);
    kc_condition c;
    assert_true(kc_condition_get(object, KC_STR("Ready"), arena, &c));
    return c.last_transition.p;
}

static void transition_time_changes_with_status_only(void **state)
{
    (void)state;
    kc_scoped(kc_arena) arena = {0};
    kc_auto(kc_clock) *clock = kc_clock_virtual_new(START);
    kc_auto(kc_edit) *edit = edit_of("{}");
    kc_condition c = ready("True", "one");
    kc_condition_set(edit, clock, &c);
    kc_clock_advance(clock, KC_MINUTE);
    c = ready("True", "two");
    assert_true(kc_condition_set(edit, clock, &c));
    assert_string_equal(transition(edit, &arena), "2026-01-02T03:04:05Z");
    assert_false(kc_condition_set(edit, clock, &c));
    c = ready("False", "two");
    assert_true(kc_condition_set(edit, clock, &c));
    assert_string_equal(transition(edit, &arena), "2026-01-02T03:05:05Z");
}

static void other_conditions_and_members_stay(void **state)
{
    (void)state;
    kc_auto(kc_clock) *clock = kc_clock_virtual_new(START);
    kc_auto(kc_edit) *edit = edit_of("{'status':{'conditions':[{'type':'Other','status':'True'},"
                                     "{'type':'Ready','status':'True','lastProbeTime':null}]}}");
    kc_condition c = ready("True", "m");
    kc_condition_set(edit, clock, &c);
    kc_auto(kc_object) *object = kc_edit_freeze(edit, NULL);
    assert_contains(kc_object_json(object).p, "\"lastProbeTime\":null");
    assert_true(kc_condition_true(object, KC_STR("Other")));
    assert_true(kc_condition_true(object, KC_STR("Ready")));
    assert_false(kc_condition_true(object, KC_STR("Missing")));
}

static void condition_is_removed(void **state)
{
    (void)state;
    kc_auto(kc_edit) *edit =
        edit_of("{'status':{'conditions':[{'type':'A'},{'type':'B'},{'type':'C'}]}}");
    assert_true(kc_condition_remove(edit, KC_STR("B")));
    assert_false(kc_condition_remove(edit, KC_STR("B")));
    assert_node_json(kc_edit_root(edit),
                     "{\"status\":{\"conditions\":[{\"type\":\"A\"},{\"type\":\"C\"}]}}");
}

static void typed_condition_keeps_its_time_until_its_status_changes(void **state)
{
    (void)state;
    kc_auto(kc_clock) *clock = kc_clock_virtual_new(START);
    kc_scoped(kc_arena) arena = {0};
    kc_status_condition other = {.type = (char *)"Other", .status = (char *)"False"},
                        *list = &other;
    size_t n = 1;
    kc_status_condition c = {.type = (char *)"Ready",
                             .status = (char *)"True",
                             .reason = (char *)"Checked",
                             .observed_generation = 3};
    assert_true(kc_status_condition_set(&list, &n, &arena, clock, &c));
    assert_int_equal(n, 2);
    assert_string_equal(list[0].type, "Other");
    assert_int_equal(list[1].last_transition_time.at, START);
    kc_clock_advance(clock, KC_MINUTE);
    assert_false(kc_status_condition_set(&list, &n, &arena, clock, &c));
    c.message = (char *)"more";
    assert_true(kc_status_condition_set(&list, &n, &arena, clock, &c));
    assert_int_equal(list[1].last_transition_time.at, START);
    c.status = (char *)"False";
    assert_true(kc_status_condition_set(&list, &n, &arena, clock, &c));
    assert_int_equal(list[1].last_transition_time.at, START + KC_MINUTE);
    assert_int_equal(n, 2);
}

static void condition_to_apply_keeps_its_time_until_its_status_changes(void **state)
{
    (void)state;
    kc_auto(kc_clock) *clock = kc_clock_virtual_new(START);
    kc_status_condition stored[] = {
        {.type = (char *)"Other", .status = (char *)"True", .last_transition_time.at = 1},
        {.type = (char *)"Ready", .status = (char *)"True", .last_transition_time.at = 2}};
    kc_status_condition c = {.type = (char *)"Ready", .status = (char *)"True"};
    kc_status_condition_apply_config config = kc_status_condition_config(stored, 2, clock, &c);
    assert_int_equal(config.last_transition_time.at, 2);
    assert_string_equal(config.type, "Ready");
    assert_string_equal(config.message, ""); /* Required by the schema of conditions. */
    assert_null(config.reason);
    assert_null(config.observed_generation);
    c.status = (char *)"False";
    c.observed_generation = 3;
    config = kc_status_condition_config(stored, 2, clock, &c);
    assert_int_equal(config.last_transition_time.at, START);
    assert_int_equal(*config.observed_generation, 3);
    assert_int_equal(kc_status_condition_config(NULL, 0, clock, &c).last_transition_time.at, START);
}

TESTS(condition_to_apply_keeps_its_time_until_its_status_changes,
      typed_condition_keeps_its_time_until_its_status_changes, new_condition_gets_transition_time,
      transition_time_changes_with_status_only, other_conditions_and_members_stay,
      condition_is_removed)
