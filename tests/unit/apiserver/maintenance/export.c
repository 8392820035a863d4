/* SPDX-License-Identifier: Apache-2.0 */
#include "maintenance_testing.h"

#include "apiserver/maintenance/export.h"

static char *export_text(kc__storage *storage, kc__maintenance_export_opts opts,
                         kc__maintenance_exported *ret)
{
    kc_buf out = {0};
    kc_scoped(kc_error) err = {0};
    FILE *file = tmpfile();
    if (kc__maintenance_export(storage, &opts, file, ret, &err) < 0)
        fail_msg("%s", kc_error_text(&err));
    file_text(file, &out);
    fclose(file);
    return kc_buf_take(&out);
}

static kc__storage *filled_store(void)
{
    kc__storage *storage = memory_store();
    put_map(storage, "a");
    put_value(storage, SECRETS "s", SECRET("s"));
    put_value(storage, "/registry/example.com/robots/default/r2", ROBOT("r2"));
    put_value(storage, "/registry/namespaces/default", NAMESPACE("default"));
    put_value(storage, ROBOTS_KEY, ROBOTS);
    return storage;
}

static void definitions_and_namespaces_precede_other_objects(void **state)
{
    (void)state;
    kc_auto(kc__storage) *storage = filled_store();
    kc__maintenance_exported result = {0};
    kc_autofree char *text = export_text(storage, (kc__maintenance_export_opts){0}, &result);
    assert_string_equal(text, ROBOTS
                        "\n" NAMESPACE("default") "\n" CONFIG_MAP("a") "\n" ROBOT("r2") "\n");
    assert_int_equal(result.objects, 4);
    assert_int_equal(result.secrets, 1);
    assert_int_equal(result.revision, 6);
}

static void secrets_are_exported_on_request_only(void **state)
{
    (void)state;
    kc_auto(kc__storage) *storage = filled_store();
    kc__maintenance_exported result = {0};
    kc_autofree char *text = export_text(
        storage, (kc__maintenance_export_opts){.with_secrets = true, .resource = "secrets"},
        &result);
    assert_string_equal(text, SECRET("s") "\n");
    assert_int_equal(result.secrets, 0);
}

static void resource_and_namespace_select_objects(void **state)
{
    (void)state;
    kc_auto(kc__storage) *storage = filled_store();
    kc__maintenance_exported result = {0};
    put_value(storage, "/registry/configmaps/other/a", CONFIG_MAP("a"));
    kc_autofree char *maps = export_text(
        storage, (kc__maintenance_export_opts){.resource = "configmaps", .namespace = "default"},
        &result);
    assert_string_equal(maps, CONFIG_MAP("a") "\n");
    kc_autofree char *robots = export_text(
        storage, (kc__maintenance_export_opts){.resource = "robots.example.com"}, &result);
    assert_string_equal(robots, ROBOT("r2") "\n");
}

static void unknown_resource_is_an_error_with_the_nearest_name(void **state)
{
    (void)state;
    kc_auto(kc__storage) *storage = filled_store();
    kc__maintenance_exported result = {0};
    kc_scoped(kc_error) err = {0};
    const kc__maintenance_export_opts opts = {.resource = "configmap"};
    assert_true(kc__maintenance_export(storage, &opts, stderr, &result, &err) < 0);
    assert_error(&err, KC_INVALID,
                 "the store knows no resource \"configmap\"; did you mean 'configmaps'?");
}

static void resource_version_is_not_exported(void **state)
{
    (void)state;
    kc_auto(kc__storage) *storage = memory_store();
    kc__maintenance_exported result = {0};
    put_value(
        storage, "/registry/namespaces/a",
        "{\"kind\":\"Namespace\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"7\"}}");
    kc_autofree char *text = export_text(storage, (kc__maintenance_export_opts){0}, &result);
    assert_string_equal(
        text, "{\"kind\":\"Namespace\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"a\"}}\n");
}

static void export_for_apply_has_nothing_that_a_server_sets(void **state)
{
    (void)state;
    kc_auto(kc__storage) *storage = memory_store();
    kc__maintenance_exported result = {0};
    put_value(
        storage, "/registry/namespaces/a",
        "{\"kind\":\"Namespace\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"a\",\"uid\":\"u\",\"generation\":1,"
        "\"creationTimestamp\":\"2026-01-02T03:04:05Z\",\"managedFields\":[]},"
        "\"spec\":{},\"status\":{\"phase\":\"Active\"}}");
    put_value(
        storage, "/registry/pods/default/owned",
        "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"owned\",\"ownerReferences\":[{\"uid\":"
        "\"u\"}]}}");
    kc_autofree char *text =
        export_text(storage, (kc__maintenance_export_opts){.for_apply = true}, &result);
    assert_string_equal(
        text,
        "{\"kind\":\"Namespace\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"a\"},\"spec\":{}}\n");
    assert_int_equal(result.owned, 1);
}

static void unreadable_object_is_counted_and_the_others_are_exported(void **state)
{
    (void)state;
    kc_auto(kc__storage) *storage = memory_store();
    kc__maintenance_exported result = {0};
    put_value(storage, MAPS "0", "{");
    put_map(storage, "a");
    kc_autofree char *text = export_text(storage, (kc__maintenance_export_opts){0}, &result);
    assert_string_equal(text, CONFIG_MAP("a") "\n");
    assert_int_equal(result.problems, 1);
}

TESTS(definitions_and_namespaces_precede_other_objects, secrets_are_exported_on_request_only,
      resource_and_namespace_select_objects, unknown_resource_is_an_error_with_the_nearest_name,
      resource_version_is_not_exported, export_for_apply_has_nothing_that_a_server_sets,
      unreadable_object_is_counted_and_the_others_are_exported)
