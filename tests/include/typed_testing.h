/* SPDX-License-Identifier: Apache-2.0 */
/*
 * typed_testing.h: a small kind whose type has every kind and shape of field, written by hand as
 * the generator writes the tables of the real ones. Its spec contains itself.
 */
#ifndef KC_TYPED_TESTING_H
#define KC_TYPED_TESTING_H

#include "apiserver/codec/typed.h"

#define OE  KC__OMIT_EMPTY
#define PTR (KC__OMIT_EMPTY | KC__POINTER)

#define FIELD(json, type, field_shape, field_marks, go) \
    {.name = KC_STR_INIT(json),                         \
     .kind = KC__FIELD_##type,                          \
     .shape = field_shape,                              \
     .marks = field_marks,                              \
     .go_type = go}
#define MESSAGE(json, of, field_shape, field_marks, go) \
    {.name = KC_STR_INIT(json),                         \
     .kind = KC__FIELD_MESSAGE,                         \
     .shape = field_shape,                              \
     .marks = field_marks,                              \
     .message = &(of),                                  \
     .go_type = go}
#define LIST_TYPE(json, of, field_shape, field_marks, go) \
    {.name = KC_STR_INIT(json),                           \
     .kind = KC__FIELD_LIST,                              \
     .shape = field_shape,                                \
     .marks = field_marks,                                \
     .message = &(of),                                    \
     .go_type = go}

/* The order by name is filled in by the_thing(). */
#define TYPE(var, go)                                                        \
    static uint16_t var##_by_name[KC_COUNT(var##_fields)];                   \
    static const kc__type_message var = {.name = KC_STR_INIT(go),            \
                                         .go_name = go,                      \
                                         .fields = var##_fields,             \
                                         .n_fields = KC_COUNT(var##_fields), \
                                         .by_name = var##_by_name}

static const kc__type_field type_meta_fields[] = {
    FIELD("kind", STRING, KC__SINGLE, OE, "string"),
    FIELD("apiVersion", STRING, KC__SINGLE, OE, "string"),
};
TYPE(type_meta, "v1.TypeMeta");

static const kc__type_field managed_fields[] = {
    FIELD("manager", STRING, KC__SINGLE, OE, "string"),
    FIELD("time", TIME, KC__SINGLE, PTR, "v1.Time"),
    FIELD("fieldsV1", FIELDS_V1, KC__SINGLE, PTR, "v1.FieldsV1"),
};
TYPE(managed, "v1.ManagedFieldsEntry");

static const kc__type_field object_meta_fields[] = {
    FIELD("name", STRING, KC__SINGLE, OE, "string"),
    FIELD("generation", INT64, KC__SINGLE, OE, "int64"),
    FIELD("creationTimestamp", TIME, KC__SINGLE, OE | KC__OMIT_ZERO, "v1.Time"),
    FIELD("deletionTimestamp", TIME, KC__SINGLE, PTR, "v1.Time"),
    FIELD("labels", STRING, KC__MAPPED, OE, "map[string]string"),
    FIELD("finalizers", STRING, KC__REPEATED, OE, "[]string"),
    MESSAGE("managedFields", managed, KC__REPEATED, OE, "[]v1.ManagedFieldsEntry"),
};
TYPE(object_meta, "v1.ObjectMeta");

static const kc__type_field selector_fields[] = {
    FIELD("matchLabels", STRING, KC__MAPPED, OE, "map[string]string"),
};
TYPE(selector, "v1.LabelSelector");

static const kc__type_field port_fields[] = {
    FIELD("containerPort", INT32, KC__SINGLE, 0, "int32"),
    FIELD("target", INT_OR_STRING, KC__SINGLE, OE, "intstr.IntOrString"),
};
TYPE(port, "v1.ContainerPort");

static const kc__type_field resources_fields[] = {
    FIELD("limits", QUANTITY, KC__MAPPED, OE, "v1.ResourceList"),
};
TYPE(resources, "v1.ResourceRequirements");

static const kc__type_field container_fields[] = {
    FIELD("name", STRING, KC__SINGLE, 0, "string"),
    FIELD("image", STRING, KC__SINGLE, OE, "string"),
    MESSAGE("ports", port, KC__REPEATED, OE, "[]v1.ContainerPort"),
    MESSAGE("resources", resources, KC__SINGLE, OE, "v1.ResourceRequirements"),
    FIELD("imagePullPolicy", STRING, KC__SINGLE, OE, "v1.PullPolicy"),
};
TYPE(container, "v1.Container");

static const kc__type_field host_path_fields[] = {
    FIELD("path", STRING, KC__SINGLE, 0, "string"),
};
TYPE(host_path, "v1.HostPathVolumeSource");

static const kc__type_field volume_source_fields[] = {
    MESSAGE("hostPath", host_path, KC__SINGLE, PTR, "v1.HostPathVolumeSource"),
    MESSAGE("emptyDir", selector, KC__SINGLE, PTR, "v1.EmptyDirVolumeSource"),
};
TYPE(volume_source, "v1.VolumeSource");

static const kc__type_field volume_fields[] = {
    FIELD("name", STRING, KC__SINGLE, 0, "string"),
    MESSAGE("", volume_source, KC__SINGLE, KC__INLINE, "v1.VolumeSource"),
    FIELD("zone", STRING, KC__SINGLE, OE, "string"),
};
TYPE(volume, "v1.Volume");

static const kc__type_field list_fields[] = {
    FIELD("items", STRING, KC__REPEATED, 0, "[]string"),
};
TYPE(list, "v1.Verbs");

static const kc__type_message spec;

static const kc__type_field spec_fields[] = {
    FIELD("replicas", INT32, KC__SINGLE, PTR, "int32"),
    MESSAGE("selector", selector, KC__SINGLE, KC__POINTER, "v1.LabelSelector"),
    MESSAGE("containers", container, KC__REPEATED, 0, "[]v1.Container"),
    MESSAGE("volumes", volume, KC__REPEATED, OE, "[]v1.Volume"),
    FIELD("paused", BOOL, KC__SINGLE, OE, "bool"),
    FIELD("data", BYTES, KC__MAPPED, OE, "map[string][]uint8"),
    FIELD("bundle", BYTES, KC__SINGLE, OE, "[]uint8"),
    FIELD("due", TIME, KC__SINGLE, OE, "v1.Time"),
    FIELD("renewed", MICRO_TIME, KC__SINGLE, PTR, "v1.MicroTime"),
    FIELD("wait", DURATION, KC__SINGLE, PTR, "v1.Duration"),
    FIELD("pause", DURATION, KC__REPEATED, OE, "[]v1.Duration"),
    FIELD("size", QUANTITY, KC__SINGLE, PTR, "resource.Quantity"),
    FIELD("raw", RAW, KC__SINGLE, PTR, "runtime.RawExtension"),
    FIELD("any", ANY, KC__SINGLE, PTR, "v1.JSON"),
    LIST_TYPE("extra", list, KC__MAPPED, OE, "map[string]v1.ExtraValue"),
    LIST_TYPE("verbs", list, KC__SINGLE, OE, "v1.Verbs"),
    FIELD("count", UINT32, KC__SINGLE, OE, "uint32"),
    FIELD("total", UINT64, KC__SINGLE, OE, "uint64"),
    FIELD("ratio", DOUBLE, KC__SINGLE, OE, "float64"),
    FIELD("rate", FLOAT, KC__SINGLE, OE, "float32"),
    MESSAGE("inner", spec, KC__SINGLE, PTR, "v1.ThingSpec"),
    MESSAGE("more", spec, KC__MAPPED, OE, "map[string]v1.ThingSpec"),
};
TYPE(spec, "v1.ThingSpec");

static const kc__type_field status_fields[] = {
    FIELD("ready", BOOL, KC__SINGLE, 0, "bool"),
    FIELD("seen", TIME, KC__SINGLE, 0, "v1.Time"),
};
TYPE(status, "v1.ThingStatus");

static const kc__type_field thing_fields[] = {
    MESSAGE("", type_meta, KC__SINGLE, KC__INLINE, "v1.TypeMeta"),
    MESSAGE("metadata", object_meta, KC__SINGLE, OE, "v1.ObjectMeta"),
    MESSAGE("spec", spec, KC__SINGLE, PTR, "v1.ThingSpec"),
    MESSAGE("status", status, KC__SINGLE, PTR, "v1.ThingStatus"),
};
TYPE(thing, "v1.Thing");

static void order_by_name(const kc__type_message *message, uint16_t *by_name)
{
    for (uint16_t i = 0; i < message->n_fields; i++) {
        uint16_t to = i;
        for (; to && kc_str_cmp(message->fields[by_name[to - 1]].name, message->fields[i].name) > 0;
             to--)
            by_name[to] = by_name[to - 1];
        by_name[to] = i;
    }
}

static const kc__type_message *the_thing(void)
{
#define ORDER(var) order_by_name(&(var), var##_by_name)
    ORDER(type_meta);
    ORDER(managed);
    ORDER(object_meta);
    ORDER(selector);
    ORDER(port);
    ORDER(resources);
    ORDER(container);
    ORDER(host_path);
    ORDER(volume_source);
    ORDER(volume);
    ORDER(list);
    ORDER(spec);
    ORDER(status);
    ORDER(thing);
    return &thing;
}

#endif
