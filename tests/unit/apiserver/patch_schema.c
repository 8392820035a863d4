/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/kinds/patch_schema.h"
#include "testing.h"

/* The object of a kind after a strategic merge patch, as JSON. */
static char *patched(const char *kind, const char *object, const char *patch)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_object) *before = kc_object_parse(kc_cstr(object), NULL, &err);
    kc_auto(kc_view) *change = kc_view_parse(kc_cstr(patch), NULL, &err);
    assert_true(before && change);
    const kc__message *type = kc__definition_find(kc_cstr(kind));
    assert_non_null(type);
    kc_patch_schema schema = kc__patch_schema_of(type);
    kc_auto(kc_edit) *edit = kc_edit_of(before);
    assert_int_equal(kc_strategic_patch_apply(edit, kc_view_root(change), &schema, &err), 0);
    kc_auto(kc_object) *after = kc_edit_freeze(edit, &err);
    return kc_str_dup(kc_object_json(after));
}

#define POD        "io.k8s.api.core.v1.Pod"
#define SERVICE    "io.k8s.api.core.v1.Service"
#define CONFIG_MAP "io.k8s.api.core.v1.ConfigMap"

static void containers_are_merged_by_name(void **state)
{
    (void)state;
    kc_autofree char *json = patched(
        POD, "{\"spec\":{\"containers\":[{\"name\":\"a\",\"image\":\"x\"},{\"name\":\"b\"}]}}",
        "{\"spec\":{\"containers\":[{\"name\":\"a\",\"image\":\"y\"}]}}");
    assert_string_equal(
        json, "{\"spec\":{\"containers\":[{\"name\":\"a\",\"image\":\"y\"},{\"name\":\"b\"}]}}");
}

static void ports_of_a_service_are_merged_by_port(void **state)
{
    (void)state;
    kc_autofree char *json =
        patched(SERVICE, "{\"spec\":{\"ports\":[{\"port\":80,\"name\":\"a\"},{\"port\":90}]}}",
                "{\"spec\":{\"ports\":[{\"port\":80,\"name\":\"b\"}]}}");
    assert_string_equal(json,
                        "{\"spec\":{\"ports\":[{\"port\":80,\"name\":\"b\"},{\"port\":90}]}}");
}

static void tolerations_are_replaced(void **state)
{
    (void)state;
    kc_autofree char *json = patched(POD, "{\"spec\":{\"tolerations\":[{\"key\":\"a\"}]}}",
                                     "{\"spec\":{\"tolerations\":[{\"key\":\"b\"}]}}");
    assert_string_equal(json, "{\"spec\":{\"tolerations\":[{\"key\":\"b\"}]}}");
}

static void members_of_maps_are_merged_one_by_one(void **state)
{
    (void)state;
    kc_autofree char *json = patched(CONFIG_MAP, "{\"data\":{\"a\":\"1\",\"b\":\"2\"}}",
                                     "{\"data\":{\"a\":null,\"c\":\"3\"}}");
    assert_string_equal(json, "{\"data\":{\"b\":\"2\",\"c\":\"3\"}}");
}

static void fields_of_inline_structs_are_found(void **state)
{
    (void)state;
    kc_autofree char *json = patched(
        POD,
        "{\"spec\":{\"volumes\":[{\"name\":\"v\",\"configMap\":{\"name\":\"c\",\"optional\":true}}]}}",
        "{\"spec\":{\"volumes\":[{\"name\":\"v\",\"configMap\":{\"name\":\"d\"}}]}}");
    assert_string_equal(
        json,
        "{\"spec\":{\"volumes\":[{\"name\":\"v\",\"configMap\":{\"name\":\"d\",\"optional\":true}}]}}");
}

TESTS(containers_are_merged_by_name, ports_of_a_service_are_merged_by_port,
      tolerations_are_replaced, members_of_maps_are_merged_one_by_one,
      fields_of_inline_structs_are_found)
