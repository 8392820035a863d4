/* SPDX-License-Identifier: Apache-2.0 */
/* struct_meta.c: the tables of the types in api.h: metadata of objects, conditions. */
#include "kc/struct.h"

#define FIELD(in, json, member, a_type, a_shape, ...) \
    {.name = json,                                    \
     .offset = offsetof(in, member),                  \
     .type = KC_MEMBER_##a_type,                      \
     .shape = KC_SHAPE_##a_shape,                     \
     __VA_ARGS__}
#define OMIT         .flags = KC_MEMBER_OMIT_EMPTY
#define IF_SET       .flags = KC_MEMBER_IF_SET
#define COUNT(in, n) .count_offset = offsetof(in, n)

static const kc_member owner_fields[] = {
    FIELD(kc_owner_reference, "apiVersion", api_version, TEXT, VALUE),
    FIELD(kc_owner_reference, "kind", kind, TEXT, VALUE),
    FIELD(kc_owner_reference, "name", name, TEXT, VALUE),
    FIELD(kc_owner_reference, "uid", uid, TEXT, VALUE),
    FIELD(kc_owner_reference, "controller", controller, BOOLEAN, POINTER),
    FIELD(kc_owner_reference, "blockOwnerDeletion", block_owner_deletion, BOOLEAN, POINTER),
};

const kc_struct kc_struct_owner_reference = {"kc_owner_reference", sizeof(kc_owner_reference),
                                             owner_fields, KC_COUNT(owner_fields), -1};

static const kc_member meta_fields[] = {
    FIELD(kc_object_meta, "name", name, TEXT, VALUE, OMIT),
    FIELD(kc_object_meta, "generateName", generate_name, TEXT, VALUE, OMIT),
    FIELD(kc_object_meta, "namespace", ns, TEXT, VALUE, OMIT),
    FIELD(kc_object_meta, "uid", uid, TEXT, VALUE, OMIT),
    FIELD(kc_object_meta, "resourceVersion", resource_version, TEXT, VALUE, OMIT),
    FIELD(kc_object_meta, "generation", generation, INT64, VALUE, OMIT),
    FIELD(kc_object_meta, "creationTimestamp", creation_timestamp, TIME, VALUE, OMIT),
    FIELD(kc_object_meta, "deletionTimestamp", deletion_timestamp, TIME, VALUE, OMIT),
    FIELD(kc_object_meta, "deletionGracePeriodSeconds", deletion_grace_period_seconds, INT64,
          POINTER),
    FIELD(kc_object_meta, "labels", labels, TEXT, MAP),
    FIELD(kc_object_meta, "annotations", annotations, TEXT, MAP),
    FIELD(kc_object_meta, "ownerReferences", owner_references, STRUCT, LIST,
          COUNT(kc_object_meta, n_owner_references), .of = &kc_struct_owner_reference),
    FIELD(kc_object_meta, "finalizers", finalizers, TEXT, LIST,
          COUNT(kc_object_meta, n_finalizers)),
};

const kc_struct kc_struct_object_meta = {"kc_object_meta", sizeof(kc_object_meta), meta_fields,
                                         KC_COUNT(meta_fields), -1};

static const kc_member condition_fields[] = {
    FIELD(kc_status_condition, "type", type, TEXT, VALUE),
    FIELD(kc_status_condition, "status", status, TEXT, VALUE),
    FIELD(kc_status_condition, "observedGeneration", observed_generation, INT64, VALUE, OMIT),
    FIELD(kc_status_condition, "lastTransitionTime", last_transition_time, TIME, VALUE, OMIT),
    FIELD(kc_status_condition, "reason", reason, TEXT, VALUE),
    FIELD(kc_status_condition, "message", message, TEXT, VALUE),
};

const kc_struct kc_struct_status_condition = {"kc_status_condition", sizeof(kc_status_condition),
                                              condition_fields, KC_COUNT(condition_fields), -1};

#define CONFIG kc_status_condition_apply_config

static const kc_member condition_config_fields[] = {
    FIELD(CONFIG, "type", type, TEXT, VALUE, IF_SET),
    FIELD(CONFIG, "status", status, TEXT, VALUE, IF_SET),
    FIELD(CONFIG, "observedGeneration", observed_generation, INT64, POINTER),
    FIELD(CONFIG, "lastTransitionTime", last_transition_time, TIME, VALUE, IF_SET),
    FIELD(CONFIG, "reason", reason, TEXT, VALUE, IF_SET),
    FIELD(CONFIG, "message", message, TEXT, VALUE, IF_SET),
};

const kc_struct kc_struct_status_condition_apply_config = {"kc_status_condition_apply_config",
                                                           sizeof(CONFIG), condition_config_fields,
                                                           KC_COUNT(condition_config_fields), -1};
