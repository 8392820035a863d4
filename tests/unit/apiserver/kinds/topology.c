/* SPDX-License-Identifier: Apache-2.0 */
/* topology.c: types of field ownership of built-in kinds, and the fields that requests cannot own.
 */
#include "apiserver/kinds/topology.h"

#include "apiserver/codec/type_fields.h"
#include "apiserver/kinds/registry.h"
#include "testing.h"

static const kc__type_message *message(const char *name)
{
    const kc__type_message *found = kc__type_lookup(kc_cstr(name));
    assert_non_null(found);
    return found;
}

/* The type at a path of names; "*" is an item of a list. */
static const kc__fields_type *type_at(const kc__fields_type *type, const char *path)
{
    for (kc_str rest = kc_cstr(path); rest.p && type;) {
        kc_str name = kc_str_cut(&rest, '.');
        type = kc_str_is(name, "*") ? type->items : kc__fields_type_member(type, name);
    }
    assert_non_null(type);
    return type;
}

static void assert_keys(const kc__fields_type *list, const char *keys)
{
    kc_scoped(kc_buf) all = {0};
    assert_int_equal(list->list_relation, KC__FIELDS_ASSOCIATIVE);
    for (size_t i = 0; i < list->n_keys; i++)
        kc_buf_printf(&all, "%s%.*s%s", i ? " " : "", KC_ARG(list->keys[i].name),
                      list->keys[i].default_value ? "=" : "");
    assert_string_equal(kc_buf_cstr(&all), keys);
}

static void markers_of_lists_and_maps_become_relations(void **state)
{
    (void)state;
    kc__resource_topology_cache *cache = kc__resource_topology_cache_new();
    const kc__fields_type *pod =
        kc__resource_topology_cache_get(cache, message("io.k8s.api.core.v1.Pod"))->type;
    assert_keys(type_at(pod, "spec.containers"), "name=");
    assert_keys(type_at(pod, "spec.containers.*.ports"), "containerPort= protocol=");
    assert_keys(type_at(pod, "metadata.ownerReferences"), "uid=");
    assert_keys(type_at(pod, "metadata.finalizers"), "");
    assert_int_equal(type_at(pod, "spec.tolerations")->list_relation, KC__FIELDS_ATOMIC);
    assert_int_equal(type_at(pod, "spec.nodeSelector")->object_relation, KC__FIELDS_ATOMIC);
    assert_int_equal(type_at(pod, "metadata.labels")->object_relation, KC__FIELDS_GRANULAR);
    assert_int_equal(type_at(pod, "spec.containers.*.resources.limits.cpu")->scalar,
                     KC__FIELDS_UNTYPED);
    assert_int_equal(type_at(pod, "spec.hostNetwork")->scalar, KC__FIELDS_BOOLEAN);
    assert_null(kc__fields_type_member(pod, KC_STR("unknown")));
    kc__resource_topology_cache_free(cache);
}

static void recursive_message_is_one_type(void **state)
{
    (void)state;
    kc_auto(kc__fields_types) *types = kc__fields_types_new();
    const kc__type_message *pod = message("io.k8s.api.core.v1.Pod");
    assert_ptr_equal(kc__type_fields_add(types, pod), kc__type_fields_add(types, pod));
    kc__fields_types_finish(types);
}

static void topology_is_built_once(void **state)
{
    (void)state;
    kc__resource_topology_cache *cache = kc__resource_topology_cache_new();
    const kc__type_message *map = message("io.k8s.api.core.v1.ConfigMap");
    const kc__resource_topology *first = kc__resource_topology_cache_get(cache, map);
    assert_ptr_equal(kc__resource_topology_cache_get(cache, map), first);
    assert_ptr_not_equal(
        kc__resource_topology_cache_get(cache, message("io.k8s.api.core.v1.Secret")), first);
    kc__resource_topology_cache_free(cache);
}

static void empty_object_has_structs_that_go_always_writes(void **state)
{
    (void)state;
    kc__resource_topology_cache *cache = kc__resource_topology_cache_new();
    const kc__resource_topology *deployment =
        kc__resource_topology_cache_get(cache, message("io.k8s.api.apps.v1.Deployment"));
    const kc_value *empty = kc_view_root(deployment->empty);
    assert_int_equal(kc_value_type(kc_value_nested(empty, "spec.strategy")), KC_JSON_OBJECT);
    assert_int_equal(kc_value_type(kc_value_get(empty, "status")), KC_JSON_OBJECT);
    assert_int_equal(kc_value_type(kc_value_nested(empty, "spec.selector")), KC_JSON_NULL);
    kc__resource_topology_cache_free(cache);
}

/* FieldsV1 of what a request cannot own; "" for nothing. */
static void assert_reset(const kc__resource *r, const char *subresource, const char *expected)
{
    kc_scoped(kc_arena) arena = {0};
    kc_scoped(kc_buf) text = {0};
    kc__fields_ignored ignored;
    if (kc__resource_reset_fields(r, subresource, KC_STR("v1"), &arena, &ignored))
        kc__fields_v1_write(&text, ignored.set);
    assert_string_equal(kc_buf_cstr(&text), expected);
}

static void requests_cannot_own_what_strategies_reset(void **state)
{
    (void)state;
    static const kc__resource_subresource parts[] = {{.name = "status"}, {0}};
    kc__resource deployment = {.group = "apps", .kind = "Deployment", .subresources = parts};
    kc__resource pod = {.group = "", .kind = "Pod", .subresources = parts};
    kc__resource map = {.group = "", .kind = "ConfigMap"};
    kc__resource crd = {
        .group = "apiextensions.k8s.io", .kind = "CustomResourceDefinition", .subresources = parts};
    assert_reset(&deployment, NULL, "{\"f:status\":{}}");
    assert_reset(&deployment, "status", "{\"f:metadata\":{\"f:labels\":{}},\"f:spec\":{}}");
    assert_reset(&pod, "resize", "");
    assert_reset(&pod, "ephemeralcontainers", "");
    assert_reset(&map, NULL, "");
    assert_reset(&crd, "status", "{\"f:metadata\":{},\"f:spec\":{}}");
}

TESTS(markers_of_lists_and_maps_become_relations, recursive_message_is_one_type,
      topology_is_built_once, empty_object_has_structs_that_go_always_writes,
      requests_cannot_own_what_strategies_reset)
