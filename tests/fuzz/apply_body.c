/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bodies of server-side apply, as YAML or JSON, to a Deployment with an owner. Beyond that nothing
 * goes wrong, applying the same configuration a second time must change nothing, and the words of
 * Kubernetes' decoder must be found only for text that the parser refuses.
 */
#include "fuzzing.h"

#include "apiserver/codec/typed.h"
#include "apiserver/kinds/topology.h"
#include "kc/yaml.h"
#include "object/fields/fields_managed.h"
#include "object/yaml/yaml_duplicates.h"
#include "object/yaml/yaml_go_error.h"

static const char deployment[] =
    "{\"kind\":\"Deployment\",\"apiVersion\":\"apps/v1\",\"metadata\":{\"name\":\"w\",\"uid\":\"u\","
    "\"managedFields\":[{\"manager\":\"o\",\"operation\":\"Apply\",\"apiVersion\":\"apps/v1\","
    "\"fieldsType\":\"FieldsV1\",\"fieldsV1\":{\"f:spec\":{\"f:replicas\":{}}}}]},\"spec\":{"
    "\"replicas\":1,\"selector\":{\"matchLabels\":{\"a\":\"b\"}},\"template\":{\"metadata\":{"
    "\"labels\":{\"a\":\"b\"}},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\","
    "\"ports\":[{\"containerPort\":80,\"protocol\":\"TCP\"}]}]}},\"strategy\":{}},\"status\":{}}";

static const kc__fields_updater one_version;

/* Applies; the object is replaced. False when the configuration cannot be applied. */
static bool apply_once(const kc__resource_topology *topology, const kc__type_message *type,
                       const kc_value *config, kc_object **object, bool *ret_changed)
{
    kc_arena arena = {0};
    kc_scoped(kc__fields_managed) managed = {.arena = &arena};
    kc_scoped(kc_buf) text = {0}, fields = {0};
    const kc_value *value = NULL;
    kc_auto(kc_view) *live = kc__fields_managed_take(&managed, *object, NULL);
    kc__fields_request request = {.updater = &one_version,
                                  .live = {kc_view_root(live), topology->type, KC_STR("apps/v1")},
                                  .object = {config, topology->type, KC_STR("apps/v1")},
                                  .manager = KC_STR("m"),
                                  .now = KC_STR("2026-01-01T00:00:00Z"),
                                  .force = true};
    assert(live);
    bool done = kc__fields_managed_apply(&managed, &request, &value, NULL) == 0;
    if (done && value) {
        kc_json_write(&text, value);
        kc_auto(kc_object) *merged = kc_object_parse(kc_buf_str(&text), NULL, NULL);
        kc_auto(kc_object) *typed = merged ? kc__typed_decode(type, merged, NULL, NULL) : NULL;
        done = typed != NULL;
        if (managed.owners.n)
            kc__fields_managed_write(&fields, &managed);
        if (done) {
            kc_object_unref(*object);
            *object = kc_object_with_managed_fields(typed, kc_buf_str(&fields));
        }
    }
    *ret_changed = value != NULL;
    kc_arena_done(&arena);
    return done;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static kc__resource_topology_cache *cache;
    const kc__type_message *type = kc__type_lookup(KC_STR("io.k8s.api.apps.v1.Deployment"));
    kc_str body = kc_str_of((const char *)data, size);
    kc_scoped(kc_paths) duplicates = {0};
    kc_scoped(kc_buf) lines = {0}, refusal = {0};
    bool changed = false;
    if (!cache)
        cache = kc__resource_topology_cache_new();
    const kc__resource_topology *topology = kc__resource_topology_cache_get(cache, type);
    kc_auto(kc_view) *config =
        kc_yaml_parse_first(body, &(kc_json_opts){.duplicates = &duplicates}, NULL);
    kc__yaml_go_error(&refusal, body);
    /* Text that starts with a brace may be JSON that is not YAML. */
    assert(!config || !refusal.n || kc_str_starts(kc_str_trim(body), KC_STR("{")));
    if (!config || kc_value_type(kc_view_root(config)) != KC_JSON_OBJECT)
        return 0;
    kc__yaml_list_duplicates(&lines, body);
    kc_auto(kc_object) *object =
        kc_object_parse(kc_str_of(deployment, sizeof(deployment) - 1), NULL, NULL);
    if (kc__fields_validate(topology->type, kc_view_root(config), false, NULL) < 0 ||
        !apply_once(topology, type, kc_view_root(config), &object, &changed) ||
        !apply_once(topology, type, kc_view_root(config), &object, &changed))
        return 0;
    /* Decoding may normalise what was applied (quantities, times, empty containers), once. */
    if (apply_once(topology, type, kc_view_root(config), &object, &changed) && changed) {
        kc_auto(kc_object) *before = kc_object_ref(object);
        apply_once(topology, type, kc_view_root(config), &object, &changed);
        assert(kc_str_eq(kc_object_json(before), kc_object_json(object)));
    }
    return 0;
}
