/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api.h: what the headers of API types are written with.
 *
 *     /// RobotSpec is what is wanted of a robot.
 *     typedef struct robot_spec {
 *         /// +kubebuilder:validation:Minimum=0
 *         /// +kubebuilder:default=1
 *         int32_t *replicas;                 a pointer is optional
 *         char *deployment_name;             JSON name by rule: deploymentName
 *         robot_arm *arms; size_t n_arms;    a list
 *         kc_string_map labels;              a map
 *     } robot_spec;
 *
 *     /// +kubebuilder:object:root=true
 *     /// +kubebuilder:subresource:status
 *     typedef struct robot {
 *         kc_object_meta metadata;
 *         robot_spec spec;
 *         robot_status status;
 *     } robot;
 *
 * `kc generate` reads such headers and writes all else: field tables (struct.h), CRDs, clients.
 *
 * Ownership. What robot_get and its kin give lives in an arena of the object (kc_object_meta.arena)
 * and is freed with it by robot_free: texts, lists and pointers inside are never freed one by one.
 * So any field may be made to point to whatever lives long enough: a literal, the caller's buffer,
 * memory of the same arena (kc_arena_strndup(robot->metadata.arena, …)).
 */
#ifndef KC_API_H
#define KC_API_H

#include "kc/arena.h"
#include "kc/meta.h"
#include "kc/quantity.h"
#include "kc/time.h"

/* A map from text to text; sorted by nobody: entries stand as they came. */
typedef struct kc_string_pair {
    char *key, *value;
} kc_string_pair;
typedef struct kc_string_map {
    kc_string_pair *items;
    size_t n;
} kc_string_map;

/* A map from text to something else: KC_MAP_OF(robot_arm) arms; */
#define KC_MAP_OF(type) \
    struct {            \
        struct {        \
            char *key;  \
            type value; \
        } *items;       \
        size_t n;       \
    }

/* Bytes; base64 in JSON. */
typedef struct kc_bytes {
    uint8_t *p;
    size_t n;
} kc_bytes;

/* A number or a text, as ports and "25%" are. */
typedef struct kc_int_or_text {
    bool is_text;
    int32_t number;
    char *text;
} kc_int_or_text;

/* A quantity as it was written: "100m". kc_quantity_parse of quantity.h computes with it. */
typedef struct kc_quantity_text {
    char *text;
} kc_quantity_text;

/* A point in time, nanoseconds since 1970; 0: none. Written to the second, or to the microsecond.
 */
typedef struct kc_timestamp {
    kc_time at;
} kc_timestamp;
typedef struct kc_micro_timestamp {
    kc_time at;
} kc_micro_timestamp;

/* A length of time as Go prints it: "1h30m". */
typedef struct kc_duration_field {
    int64_t ns;
} kc_duration_field;

/* Any JSON, as text; NULL: none. An object with apiVersion, kind and metadata where the field has
 * +kubebuilder:validation:EmbeddedResource. */
typedef struct kc_raw {
    char *json;
} kc_raw;

typedef struct kc_owner_reference {
    char *api_version, *kind, *name, *uid;
    bool *controller, *block_owner_deletion;
} kc_owner_reference;

/* Metadata of an object. What is not here (managedFields) stays in the object it came from. */
typedef struct kc_object_meta {
    char *name, *generate_name, *ns; /* namespace is a word of C++. */
    char *uid, *resource_version;
    int64_t generation;
    kc_timestamp creation_timestamp, deletion_timestamp;
    int64_t *deletion_grace_period_seconds;
    kc_string_map labels, annotations;
    kc_owner_reference *owner_references;
    size_t n_owner_references;
    char **finalizers;
    size_t n_finalizers;
    /* Not API: */
    kc_arena *arena; /* Of the object, if it was decoded. */
    const kc_object
        *origin; /* What it was decoded from: fields this program does not know survive. */
} kc_object_meta;

/* A condition, as metav1.Condition; conditions.h has functions for untyped ones. */
typedef struct kc_status_condition {
    char *type, *status;
    int64_t observed_generation;
    kc_timestamp last_transition_time;
    char *reason, *message;
} kc_status_condition;

#endif
