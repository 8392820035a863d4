/* SPDX-License-Identifier: Apache-2.0 */
/* Names in JSON, in Go and in URLs from names in C. */
#include "testing.h"

#include "generate/model/names.h"

static void snake_case_becomes_camel_case(void **state)
{
    (void)state;
    kc_scoped(kc_arena) a = {0};
    assert_str(kc__gen_json_name(&a, KC_STR("deployment_name")), "deploymentName");
    assert_str(kc__gen_json_name(&a, KC_STR("cluster_ip")), "clusterIp");
    assert_str(kc__gen_json_name(&a, KC_STR("replicas")), "replicas");
    assert_str(kc__gen_json_name(&a, KC_STR("default_")), "default");
    assert_str(kc__gen_json_name(&a, KC_STR("_x_y_")), "xY");
    assert_str(kc__gen_json_name(&a, KC_STR("already_camelCase")), "alreadyCamelCase");
}

static void types_are_camel_case_without_version(void **state)
{
    (void)state;
    kc_scoped(kc_arena) a = {0};
    assert_str(kc__gen_go_name(&a, KC_STR("robot_spec"), KC_STR("v1")), "RobotSpec");
    assert_str(kc__gen_go_name(&a, KC_STR("robot_v1alpha1"), KC_STR("v1alpha1")), "Robot");
    assert_str(kc__gen_go_name(&a, KC_STR("v1_robot"), KC_STR("v1")), "Robot");
    assert_str(kc__gen_go_name(&a, KC_STR("robot_t"), KC_STR("v1")), "Robot");
    assert_str(kc__gen_go_name(&a, KC_STR("v1"), KC_STR("v1")), "V1");
    assert_str(kc__gen_go_name(&a, KC_STR("CronJob"), KC_STR("v1")), "CronJob");
}

static void enumerators_lose_their_prefix(void **state)
{
    (void)state;
    kc_scoped(kc_arena) a = {0};
    assert_str(kc__gen_enum_text(&a, KC_STR("NOT_READY")), "NotReady");
    assert_int_equal(kc__gen_common_prefix(KC_STR("PHASE_RUN"), KC_STR("PHASE_REST")), 6);
    assert_int_equal(kc__gen_common_prefix(KC_STR("PHASE"), KC_STR("PHASE_REST")), 0);
}

static void plurals_are_english(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        {"Robot", "robots"},      {"Policy", "policies"},
        {"Gateway", "gateways"},  {"Ingress", "ingresses"},
        {"Box", "boxes"},         {"Switch", "switches"},
        {"Status", "statuses"},   {"TestQuota", "testquotas"},
        {"Settings", "settings"}, {"Leaf", "leaves"},
        {"Key", "keys"},          {"Analysis", "analyses"},
        {"Person", "people"},     {"Database", "databases"},
        {"Metadata", "metadata"},
    };
    kc_scoped(kc_arena) a = {0};
    for (size_t i = 0; i < KC_COUNT(pairs); i++)
        assert_str(kc__gen_plural(&a, kc_cstr(pairs[i][0])), pairs[i][1]);
}

TESTS(snake_case_becomes_camel_case, types_are_camel_case_without_version,
      enumerators_lose_their_prefix, plurals_are_english)
