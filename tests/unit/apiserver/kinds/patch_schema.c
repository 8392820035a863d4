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
    const kc__type_message *type = kc__type_lookup(kc_cstr(kind));
    assert_non_null(type);
    kc_patch_schema schema = kc__strategy_patch_schema_of(type);
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

static void service_ports_are_merged_by_port(void **state)
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

static void map_members_are_merged_by_key(void **state)
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

/* Goes down both together; each field must be treated alike. */
static void compare(const kc__type_message *message, const void *node, const char *at)
{
    for (size_t i = 0; i < message->n_fields; i++) {
        const kc__type_field *field = &message->fields[i];
        if (field->marks & KC__INLINE) {
            compare(field->message, node, at);
            continue;
        }
        kc_autofree char *path = kc_asprintf("%s.%.*s", at, KC_ARG(field->name));
        kc_patch_field is = {0}, should_be = {0};
        kc_patch_schema theirs = kc__strategy_patch_schema_of(message);
        assert_true(theirs.field(theirs.root, field->name, &should_be));
        assert_true(kc_patch_schema_pod.field(node, field->name, &is));
        if (is.merge != should_be.merge || is.replace != should_be.replace ||
            is.retain_keys != should_be.retain_keys ||
            !kc_str_eq(is.merge_key, should_be.merge_key))
            fail_msg("%s has another result", path);
        const bool goes_on = field->kind == KC__FIELD_MESSAGE && field->shape != KC__MAPPED;
        const void *inner = is.element ? is.element : is.object;
        if (goes_on)
            compare(field->message, inner, path);
    }
}

static void patch_schema_of_clients_equals_that_of_the_server(void **state)
{
    (void)state;
    compare(kc__type_lookup(KC_STR(POD)), kc_patch_schema_pod.root, "pod");
    compare(kc__type_lookup(KC_STR("io.k8s.api.core.v1.PodTemplateSpec")), kc_patch_schema_pod.root,
            "template");
}

TESTS(patch_schema_of_clients_equals_that_of_the_server, containers_are_merged_by_name,
      service_ports_are_merged_by_port, tolerations_are_replaced, map_members_are_merged_by_key,
      fields_of_inline_structs_are_found)
