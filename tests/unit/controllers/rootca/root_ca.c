/* SPDX-License-Identifier: Apache-2.0 */
/* The ConfigMap with the CA of the server that every namespace has. */
#include "scenario_testing.h"

#include "kc/view.h"

#define PEM "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"

static kc_object *map_of(kc_testenv *env, const char *ns)
{
    return kc_client_get(kc_testenv_client(env), &kc_kind_config_map,
                         KC_KEY(ns, "kube-root-ca.crt"), NULL, NULL);
}

static void assert_right(kc_testenv *env, const char *ns)
{
    kc_auto(kc_object) *map = map_of(env, ns);
    assert_non_null(map);
    kc_auto(kc_view) *view = kc_view_of(map);
    const kc_value *data = kc_value_get(kc_view_root(view), "data");
    assert_int_equal(kc_value_len(data), 1);
    assert_str(kc_value_as_str(kc_value_get(data, "ca.crt")), PEM);
    kc_scoped(kc_arena) arena = {0};
    const kc_str text = kc_object_annotation(map, KC_STR("kubernetes.io/description"), &arena);
    assert_true(kc_str_starts(text, KC_STR("Contains a CA bundle that can be used to verify the "
                                           "kube-apiserver when using internal endpoints")));
}

static void create_namespace(kc_testenv *env)
{
    kc_auto(kc_object) *made =
        make(env, "{'apiVersion':'v1','kind':'Namespace','metadata':{'name':'one'}}");
}

static void assert_both_have_the_map(kc_testenv *env)
{
    assert_right(env, "default");
    assert_right(env, "one");
}

static const scenario published = {
    .controllers = {.names = "root-ca", .root_ca = PEM, .workers = 2},
    .event = create_namespace,
    .takes = 20 * KC_SECOND,
    .end = assert_both_have_the_map,
};

static void every_namespace_gets_the_config_map(void **state)
{
    (void)state;
    scenario_converges(&published);
}

static void patch(kc_testenv *env, const char *json)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_object) *now = kc_client_patch(kc_testenv_client(env), &kc_kind_config_map,
                                              KC_KEY("default", "kube-root-ca.crt"), KC_PATCH_MERGE,
                                              kc_cstr(json), NULL, &err);
    OK(now ? 0 : -1, &err);
}

static void changed_config_map_is_restored(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scenario_begin(&published, 1);
    settle(env);
    patch(env, "{\"data\":{\"ca.crt\":\"another\",\"more\":\"x\"}}");
    settle(env);
    assert_right(env, "default");
    patch(env, "{\"metadata\":{\"annotations\":{\"kubernetes.io/description\":null}}}");
    settle(env);
    assert_right(env, "default");
}

static void deleted_config_map_is_recreated(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scenario_begin(&published, 1);
    settle(env);
    kc_client_delete(kc_testenv_client(env), &kc_kind_config_map,
                     KC_KEY("default", "kube-root-ca.crt"), NULL, NULL);
    settle(env);
    assert_right(env, "default");
}

static void custom_labels_and_description_stay(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scenario_begin(&published, 1);
    settle(env);
    patch(env, "{\"metadata\":{\"labels\":{\"mine\":\"yes\"},\"annotations\":"
               "{\"kubernetes.io/description\":\"ours\"}}}");
    kc_auto(kc_object) *before = map_of(env, "default");
    settle(env);
    kc_auto(kc_object) *after = map_of(env, "default");
    assert_true(kc_object_revision(before) == kc_object_revision(after));
}

static void server_without_ca_publishes_nothing(void **state)
{
    (void)state;
    static const scenario without = {.controllers = {.names = "root-ca", .root_ca = ""}};
    kc_auto(kc_testenv) *env = scenario_begin(&without, 1);
    settle(env);
    kc_auto(kc_object) *map = map_of(env, "default");
    assert_null(map);
}

static void syncs_are_counted_by_code(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scenario_begin(&published, 1);
    settle(env);
    kc_scoped(kc_buf) text = {0};
    kc_metrics_write(kc_manager_metrics(kc_testenv_manager(env)), &text);
    assert_contains(kc_buf_cstr(&text), "root_ca_cert_publisher_sync_total{code=\"200\"}");
}

static void works_with_real_clock_and_threads(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scenario_begin(&published, 0);
    create_namespace(env);
    settle(env);
    assert_both_have_the_map(env);
}

static void converges_under_faults(void **state)
{
    (void)state;
    scenario_converges_after_crashes(&published);
    scenario_converges_with_stale_cache(&published);
    scenario_converges_with_missed_events(&published);
    scenario_converges_with_bad_network(&published);
}

TESTS(every_namespace_gets_the_config_map, changed_config_map_is_restored,
      deleted_config_map_is_recreated, custom_labels_and_description_stay,
      server_without_ca_publishes_nothing, syncs_are_counted_by_code, converges_under_faults,
      works_with_real_clock_and_threads)
