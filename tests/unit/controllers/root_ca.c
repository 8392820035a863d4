/* SPDX-License-Identifier: Apache-2.0 */
/* The ConfigMap with the server's authority that every namespace has. */
#include "story_testing.h"

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
    const kc_value *data = kc_get(kc_view_root(view), "data");
    assert_int_equal(kc_len(data), 1);
    assert_str(kc_as_str(kc_get(data, "ca.crt")), PEM);
    kc_scoped(kc_arena) arena = {0};
    const kc_str text = kc_object_annotation(map, KC_STR("kubernetes.io/description"), &arena);
    assert_true(kc_str_starts(text, KC_STR("Contains a CA bundle that can be used to verify the "
                                           "kube-apiserver when using internal endpoints")));
}

static void a_namespace(kc_testenv *env)
{
    kc_auto(kc_object) *made =
        make(env, "{'apiVersion':'v1','kind':'Namespace','metadata':{'name':'one'}}");
}

static void both_have_it(kc_testenv *env)
{
    assert_right(env, "default");
    assert_right(env, "one");
}

static const story published = {
    .controllers = {.names = "root-ca", .root_ca = PEM, .workers = 2},
    .event = a_namespace,
    .takes = 20 * KC_SECOND,
    .end = both_have_it,
};

static void every_namespace_gets_it(void **state)
{
    (void)state;
    it_ends_well(&published);
}

static void patch(kc_testenv *env, const char *json)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_object) *now = kc_client_patch(kc_testenv_client(env), &kc_kind_config_map,
                                              KC_KEY("default", "kube-root-ca.crt"), KC_PATCH_MERGE,
                                              kc_cstr(json), NULL, &err);
    OK(now ? 0 : -1, &err);
}

static void it_is_put_right_when_somebody_changed_it(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = story_begin(&published, 1);
    settle(env);
    patch(env, "{\"data\":{\"ca.crt\":\"another\",\"more\":\"x\"}}");
    settle(env);
    assert_right(env, "default");
    patch(env, "{\"metadata\":{\"annotations\":{\"kubernetes.io/description\":null}}}");
    settle(env);
    assert_right(env, "default");
}

static void it_is_made_again_when_it_was_deleted(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = story_begin(&published, 1);
    settle(env);
    kc_client_delete(kc_testenv_client(env), &kc_kind_config_map,
                     KC_KEY("default", "kube-root-ca.crt"), NULL, NULL);
    settle(env);
    assert_right(env, "default");
}

static void labels_and_a_description_of_ones_own_stay(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = story_begin(&published, 1);
    settle(env);
    patch(env, "{\"metadata\":{\"labels\":{\"mine\":\"yes\"},\"annotations\":"
               "{\"kubernetes.io/description\":\"ours\"}}}");
    kc_auto(kc_object) *before = map_of(env, "default");
    settle(env);
    kc_auto(kc_object) *after = map_of(env, "default");
    assert_true(kc_object_revision(before) == kc_object_revision(after));
}

static void without_an_authority_there_is_none(void **state)
{
    (void)state;
    static const story without = {.controllers = {.names = "root-ca", .root_ca = ""}};
    kc_auto(kc_testenv) *env = story_begin(&without, 1);
    settle(env);
    kc_auto(kc_object) *map = map_of(env, "default");
    assert_null(map);
}

static void syncs_are_counted_by_code(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = story_begin(&published, 1);
    settle(env);
    kc_scoped(kc_buf) text = {0};
    kc_metrics_write(kc_manager_metrics(kc_testenv_manager(env)), &text);
    assert_contains(kc_buf_cstr(&text), "root_ca_cert_publisher_sync_total{code=\"200\"}");
}

static void it_runs_in_real_time_too(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = story_begin(&published, 0);
    a_namespace(env);
    settle(env);
    both_have_it(env);
}

static void it_survives_faults(void **state)
{
    (void)state;
    it_survives_a_crash_after_any_write(&published);
    it_survives_a_stale_cache(&published);
    it_survives_missed_events(&published);
    it_survives_a_bad_network(&published);
}

TESTS(every_namespace_gets_it, it_is_put_right_when_somebody_changed_it,
      it_is_made_again_when_it_was_deleted, labels_and_a_description_of_ones_own_stay,
      without_an_authority_there_is_none, syncs_are_counted_by_code, it_survives_faults,
      it_runs_in_real_time_too)
