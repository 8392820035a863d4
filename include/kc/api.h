/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api.h: building blocks for headers that declare API types.
 *
 *     /// RobotSpec is the desired state of a robot.
 *     typedef struct robot_spec {
 *         /// +kubebuilder:validation:Minimum=0
 *         /// +kubebuilder:default=1
 *         int32_t *replicas;                 a pointer is optional
 *         char *deployment_name;             JSON name by rule: deploymentName
 *         robot_arm *arms; size_t n_arms;    a list
 *         kc_string_map labels;              a map; KC_MAP_OF and KC_LIST_OF nest
 *         kc_int_or_string port;             80 or "http"
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
 * `kc generate` reads such headers and generates field tables (struct.h), CRDs and typed clients.
 *
 * Ownership. An object that robot_get or another typed function returns lives in its own arena
 * (kc_object_meta.arena). robot_free frees the object and the arena. Strings, lists and pointers
 * inside the object are never freed one by one, so a field may point to any memory that lives long
 * enough: a literal, a buffer of the caller, memory of the same arena
 * (kc_arena_strndup(robot->metadata.arena, …)).
 */
#ifndef KC_API_H
#define KC_API_H

#include "kc/arena.h"
#include "kc/int_or_string.h"
#include "kc/meta.h"
#include "kc/quantity.h"
#include "kc/time.h"

/* A map from string to string. Entries are not sorted: they keep the order of the input. */
typedef struct kc_string_pair {
    char *key, *value;
} kc_string_pair;
typedef struct kc_string_map {
    kc_string_pair *items;
    size_t n;
} kc_string_map;

/*
 * Maps from string to any type, and lists where no n_NAME member is possible: inside a map or
 * another list.
 *
 *     KC_MAP_OF(robot_arm) arms;
 *     KC_MAP_OF(KC_LIST_OF(char *)) groups;     groups.items[0].value.items[0]
 *     KC_LIST_OF(KC_LIST_OF(int32_t)) matrix;
 *
 * Each use declares a distinct C type. To pass such a value to functions, give the type a name. The
 * markers of a named type apply wherever the type is used:
 *
 *     /// +kubebuilder:validation:MaxItems=8
 *     typedef KC_LIST_OF(char *) name_list;
 *     KC_MAP_OF(name_list) groups;
 */
#define KC_LIST_OF(type) \
    struct {             \
        type *items;     \
        size_t n;        \
    }
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

/* A quantity as text: "100m". kc_quantity_parse (quantity.h) converts it to a number. */
typedef struct kc_quantity_text {
    char *text;
} kc_quantity_text;

/* A point in time in nanoseconds since 1970; 0: not set. kc_timestamp is written with seconds,
 * kc_micro_timestamp with microseconds. */
typedef struct kc_timestamp {
    kc_time at;
} kc_timestamp;
typedef struct kc_micro_timestamp {
    kc_time at;
} kc_micro_timestamp;

/* A duration, written as Go prints it: "1h30m". */
typedef struct kc_duration_field {
    int64_t ns;
} kc_duration_field;

/* Any JSON value, as text; NULL: not set. With the marker +kubebuilder:validation:EmbeddedResource
 * the value is an object with apiVersion, kind and metadata. */
typedef struct kc_raw {
    char *json;
} kc_raw;

/* Not formatted: a marker ends at the end of its line. */
/* clang-format off */
/// OwnerReference contains enough information to let you identify an owning
/// object. An owning object must be in the same namespace as the dependent, or
/// be cluster-scoped, so there is no namespace field.
/// +structType=atomic
typedef struct kc_owner_reference {
    /// API version of the referent.
    char *api_version;
    /// Kind of the referent.
    /// More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds
    char *kind;
    /// Name of the referent.
    /// More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names
    char *name;
    /// UID of the referent.
    /// More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/names#uids
    char *uid;
    /// If true, this reference points to the managing controller.
    bool *controller;
    /// If true, AND if the owner has the "foregroundDeletion" finalizer, then
    /// the owner cannot be deleted from the key-value store until this
    /// reference is removed.
    /// See https://kubernetes.io/docs/concepts/architecture/garbage-collection/#foreground-deletion
    /// for how the garbage collector interacts with this field and enforces the foreground deletion.
    /// Defaults to false.
    /// To set this field, a user needs "delete" permission of the owner,
    /// otherwise 422 (Unprocessable Entity) will be returned.
    bool *block_owner_deletion;
} kc_owner_reference;
/* clang-format on */

/* Metadata of an object. Fields that are missing here (managedFields) stay in `origin`. */
typedef struct kc_object_meta {
    char *name, *generate_name, *ns; /* Not `namespace`, which is a keyword of C++. */
    char *uid, *resource_version;
    int64_t generation;
    kc_timestamp creation_timestamp, deletion_timestamp;
    int64_t *deletion_grace_period_seconds;
    kc_string_map labels, annotations;
    kc_owner_reference *owner_references;
    size_t n_owner_references;
    char **finalizers;
    size_t n_finalizers;
    /* Not part of the API: */
    kc_arena *arena;         /* The object's arena, if the object was decoded. */
    const kc_object *origin; /* The object that this one was decoded from. Encoding keeps the fields
                              * that this program does not know. */
} kc_object_meta;

/* A condition, as metav1.Condition; conditions.h has functions for untyped objects. In a status:
 *
 *     /// +listType=map
 *     /// +listMapKey=type
 *     kc_status_condition *conditions; size_t n_conditions;
 *
 * The documentation and limits are those that Kubernetes publishes: they become part of CRDs. */
/* clang-format off */

/// Condition contains details for one aspect of the current state of this API Resource.
typedef struct kc_status_condition {
    /// type of condition in CamelCase or in foo.example.com/CamelCase.
    /// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$`
    /// +kubebuilder:validation:MaxLength=316
    char *type;
    /// status of the condition, one of True, False, Unknown.
    /// +kubebuilder:validation:Enum="True";"False";Unknown
    char *status;
    /// observedGeneration represents the .metadata.generation that the condition was set based upon.
    /// For instance, if .metadata.generation is currently 12, but the .status.conditions[x].observedGeneration is 9, the condition is out of date
    /// with respect to the current state of the instance.
    /// +optional
    /// +kubebuilder:validation:Minimum=0
    int64_t observed_generation;
    /// lastTransitionTime is the last time the condition transitioned from one status to another.
    /// This should be when the underlying condition changed.  If that is not known, then using the time when the API field changed is acceptable.
    kc_timestamp last_transition_time;
    /// reason contains a programmatic identifier indicating the reason for the condition's last transition.
    /// Producers of specific condition types may define expected values and meanings for this field,
    /// and whether the values are considered a guaranteed API.
    /// The value should be a CamelCase string.
    /// This field may not be empty.
    /// +kubebuilder:validation:MaxLength=1024
    /// +kubebuilder:validation:MinLength=1
    /// +kubebuilder:validation:Pattern=`^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$`
    char *reason;
    /// message is a human readable message indicating details about the transition.
    /// This may be an empty string.
    /// +kubebuilder:validation:MaxLength=32768
    char *message;
} kc_status_condition;
/* clang-format on */

/* A condition in an apply configuration (typed.h): only the members that are set are sent. */
typedef struct kc_status_condition_apply_config {
    const char *type, *status;
    int64_t *observed_generation;
    kc_timestamp last_transition_time;
    const char *reason, *message;
} kc_status_condition_apply_config;

#endif
