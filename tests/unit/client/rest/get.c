/* SPDX-License-Identifier: Apache-2.0 */
#include "client_testing.h"

static void get_returns_the_stored_object(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    kc_auto(kc_object) *made = created(b, "a");
    kc_auto(kc_object) *read = got(b, "a");
    assert_non_null(read);
    assert_str(kc_object_json(read), kc_object_json(made).p);
    assert_str(kc_object_kind(read), "ConfigMap");
    assert_true(kc_object_revision(read) > 0);
}

static void get_of_missing_object_returns_not_found(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    kc_scoped(kc_error) err = {0};
    assert_null(kc_client_get(b->client, &kc_kind_config_map, KEY("a"), NULL, &err));
    assert_true(kc_is_not_found(&err));
    assert_int_equal(err.code, 404);
    assert_string_equal(kc_error_text(&err), "configmaps \"a\" not found");
    assert_string_equal(err.kind, "configmaps");
    assert_string_equal(err.name, "a");
    assert_int_equal(kc_ignore_not_found(&err), 0);
    assert_int_equal(err.reason, KC_OK);
    kc_error_set(&err, KC_CONFLICT, "another error");
    assert_true(kc_ignore_not_found(&err) < 0);
    assert_true(kc_is_conflict(&err));
}

static void cluster_scoped_key_with_namespace_is_refused(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_object) *ns =
        kc_client_get(b->client, &kc_kind_namespace, KC_KEY("", "default"), NULL, &err);
    assert_non_null(ns);
    assert_null(kc_client_get(b->client, &kc_kind_namespace, KEY("default"), NULL, &err));
    assert_error(&err, KC_BAD_REQUEST, "is cluster-scoped");
}

static void name_with_path_characters_is_refused(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    static const char *const names[] = {"../secrets/x", "..", ".", "a/b", "a%2fb"};
    for (size_t i = 0; i < KC_COUNT(names); i++) {
        kc_scoped(kc_error) err = {0};
        assert_null(kc_client_get(b->client, &kc_kind_config_map, KEY(names[i]), NULL, &err));
        assert_error(&err, KC_BAD_REQUEST, "invalid name");
        kc_error_done(&err);
        assert_null(
            kc_client_get(b->client, &kc_kind_config_map, KC_KEY(names[i], "a"), NULL, &err));
        assert_error(&err, KC_BAD_REQUEST, "invalid namespace");
    }
    assert_int_equal(bench_count(b), 0);
}

static void special_characters_are_escaped(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    kc_client_get(b->client, &kc_kind_role, KEY("system:a b?c#d"), NULL, NULL);
    assert_string_equal(bench_sent(b, 0), "GET /apis/rbac.authorization.k8s.io/v1/namespaces/"
                                          "default/roles/system%3Aa%20b%3Fc%23d");
}

static void empty_key_is_refused_before_any_request(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    kc_scoped(kc_error) err = {0};
    assert_null(kc_client_get(b->client, &kc_kind_config_map, KEY(""), NULL, &err));
    assert_error(&err, KC_BAD_REQUEST, "name may not be empty");
    kc_error_done(&err);
    assert_null(kc_client_get(b->client, &kc_kind_config_map, KC_KEY("", "a"), NULL, &err));
    assert_error(&err, KC_BAD_REQUEST, "an empty namespace");
    assert_int_equal(bench_count(b), 0);
}

static void metadata_only_get_returns_partial_object(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    kc_auto(kc_object) *made = created(b, "a");
    kc_auto(kc_object) *read = kc_client_get(b->client, &kc_kind_config_map, KEY("a"),
                                             &(kc_get_opts){.metadata_only = true}, NULL);
    assert_str(kc_object_kind(read), "PartialObjectMetadata");
    assert_str(kc_object_name(read), "a");
    assert_null(strstr(kc_object_json(read).p, "\"data\""));
}

static void subresource_is_read_at_its_path(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    kc_auto(kc_object) *ns = kc_client_get(b->client, &kc_kind_namespace, KC_KEY("", "default"),
                                           &(kc_get_opts){.subresource = "status"}, NULL);
    assert_non_null(ns);
    assert_string_equal(bench_sent(b, 0), "GET /api/v1/namespaces/default/status");
}

static void get_sends_resource_version(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    kc_auto(kc_object) *made = created(b, "a");
    bench_forget(b);
    kc_auto(kc_object) *read = kc_client_get(b->client, &kc_kind_config_map, KEY("a"),
                                             &(kc_get_opts){.resource_version = "0"}, NULL);
    assert_non_null(read);
    assert_string_equal(bench_sent(b, 0),
                        "GET /api/v1/namespaces/default/configmaps/a?resourceVersion=0");
}

/* ---- handles ---- */

static void client_namespace_is_used_for_keys_without_one(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    kc_auto(kc_object) *made = created(b, "a");
    kc_auto(kc_client) *in = kc_client_with(b->client, &(kc_client_overrides){.ns = "default"});
    kc_auto(kc_object) *read = kc_client_get(in, &kc_kind_config_map, KC_KEY("", "a"), NULL, NULL);
    assert_non_null(read);
    kc_auto(kc_object) *node =
        kc_client_get(in, &kc_kind_namespace, KC_KEY("", "default"), NULL, NULL);
    assert_non_null(node);
}

static void derived_client_inherits_unset_overrides(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    kc_auto(kc_cancel) *cancel = kc_cancel_new(NULL);
    kc_auto(kc_client) *first =
        kc_client_with(b->client, &(kc_client_overrides){.ns = "default", .cancel = cancel});
    kc_auto(kc_client) *second =
        kc_client_with(first, &(kc_client_overrides){.field_manager = "second"});
    kc_scoped(kc_error) err = {0};
    kc_cancel_fire(cancel);
    assert_null(kc_client_get(second, &kc_kind_config_map, KC_KEY("", "a"), NULL, &err));
    assert_error(&err, KC_TIMEOUT, "cancelled");
    assert_int_equal(bench_count(b), 0);
}

static void derived_client_outlives_its_parent(void **state)
{
    (void)state;
    kc_auto(kc_embedded_server) *server = kc_embedded_server_start(NULL, NULL);
    kc_client *client = kc_embedded_server_client(server, NULL);
    kc_auto(kc_client) *handle = kc_client_with(client, &(kc_client_overrides){0});
    kc_client_unref(client);
    kc_auto(kc_object) *ns =
        kc_client_get(handle, &kc_kind_namespace, KC_KEY("", "default"), NULL, NULL);
    assert_non_null(ns);
    assert_ptr_equal(kc_client_clock(handle), kc_clock_real());
}

static void expired_deadline_is_a_timeout(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    kc_auto(kc_client) *late = kc_client_with(
        b->client, &(kc_client_overrides){.deadline = kc_clock_now(kc_clock_real()) - 1});
    kc_scoped(kc_error) err = {0};
    assert_null(kc_client_get(late, &kc_kind_config_map, KEY("a"), NULL, &err));
    assert_true(kc_is_timeout(&err));
    assert_int_equal(bench_count(b), 0);
}

TESTS(get_returns_the_stored_object, get_of_missing_object_returns_not_found,
      cluster_scoped_key_with_namespace_is_refused, name_with_path_characters_is_refused,
      special_characters_are_escaped, empty_key_is_refused_before_any_request,
      metadata_only_get_returns_partial_object, subresource_is_read_at_its_path,
      get_sends_resource_version, client_namespace_is_used_for_keys_without_one,
      derived_client_inherits_unset_overrides, derived_client_outlives_its_parent,
      expired_deadline_is_a_timeout)
