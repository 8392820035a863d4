/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api_types.h: the types of the built-in kinds, as constant tables.
 *
 * At build time tools/definitions reads the published API definitions (generated.proto for fields,
 * numbers and markers; types.go beside it for what Go omits from JSON) and generates C source with
 * these tables in the build directory. They are read-only data, shared by all processes, with
 * nothing to parse at start. All code for typed objects uses them: the protobuf decoder, the typed
 * decoder that finds unknown and mistyped fields, strategic merge patches, OpenAPI.
 *
 *     const kc__type_message *pod = kc__type_lookup(KC_STR("io.k8s.api.core.v1.Pod"));
 *     const kc__type_field *spec = kc__type_message_field(pod, KC_STR("spec"));
 */
#ifndef KC_APISERVER_DEFINITION_H
#define KC_APISERVER_DEFINITION_H

#include "kc/str.h"

/* The kind of a value, in JSON and in protobuf. */
typedef enum kc__type_field_kind {
    KC__FIELD_BOOL,
    KC__FIELD_INT32,
    KC__FIELD_INT64,
    KC__FIELD_UINT32,
    KC__FIELD_UINT64,
    KC__FIELD_FLOAT,
    KC__FIELD_DOUBLE,
    KC__FIELD_STRING,
    KC__FIELD_BYTES,   /* Base64 in JSON. */
    KC__FIELD_MESSAGE, /* `message` is its type. */
    /* Messages whose JSON is not an object of their fields: */
    KC__FIELD_TIME,          /* JSON "2006-01-02T15:04:05Z" or null; protobuf: seconds and nanos. */
    KC__FIELD_MICRO_TIME,    /* The same with six fractional digits. */
    KC__FIELD_DURATION,      /* JSON "1h0m0s"; protobuf: nanoseconds. */
    KC__FIELD_QUANTITY,      /* JSON "500m" or a number; protobuf: a string. */
    KC__FIELD_INT_OR_STRING, /* 8080 or "http". */
    KC__FIELD_RAW,           /* Any JSON object: RawExtension. */
    KC__FIELD_ANY,           /* Any JSON value: JSON of CRDs. */
    KC__FIELD_FIELDS_V1,     /* Any JSON object; protobuf: its text as bytes. */
    KC__FIELD_LIST, /* A message with only `items`; in JSON the array itself (Verbs, ExtraValue). */
    KC__FIELD_EITHER, /* An object of `message`, or other JSON: `items` of a CRD's schema. */
} kc__type_field_kind;

typedef enum kc__type_field_shape {
    KC__SINGLE,
    KC__REPEATED,
    KC__MAPPED
} kc__type_field_shape; /* Map keys are strings. */

/* Markers, a bit set. */
enum {
    KC__OMIT_EMPTY = 1 << 0, /* Go omits the field from JSON when it is "", 0, false, [] or {} of a
                                map, but never a struct (including times, quantities …). */
    KC__POINTER = 1 << 1,    /* A pointer in Go: with KC__OMIT_EMPTY, only null is omitted. */
    KC__REQUIRED = 1 << 2, /* Required in OpenAPI: +required, or neither +optional nor omitempty. */
    KC__PATCH_MERGES = 1 << 3,  /* patchStrategy=merge */
    KC__PATCH_RETAINS = 1 << 4, /* patchStrategy=retainKeys */
    KC__PATCH_REPLACES = 1 << 5,
    KC__LIST_IS_SET = 1 << 6, /* listType=set */
    KC__LIST_IS_MAP = 1 << 7, /* listType=map, by `list_keys` */
    KC__LIST_IS_ATOMIC = 1 << 8,
    KC__MAP_IS_ATOMIC = 1 << 9, /* mapType or structType=atomic */
    KC__INLINE = 1 << 10,       /* An embedded struct; in JSON its fields are the parent's. */
    KC__OMIT_ZERO = 1 << 11,    /* Omitted from JSON when the time is zero (creationTimestamp). */
    KC__MAP_IS_GRANULAR = 1 << 12, /* mapType or structType=granular, where its type is atomic. */
    KC__DISCRIMINATOR = 1 << 13, /* unionDiscriminator: selects which of the other fields is set. */
    KC__DISABLED = 1 << 14,  /* Field of a feature that is off by default in Kubernetes v1.34: it is
                                known and type-checked, but dropped. */
    KC__ANY_VALUE = 1 << 15, /* On a message: its JSON is any value. */
};

typedef struct kc__type_message kc__type_message;

typedef struct kc__type_field {
    kc_str name;     /* Name in JSON. Empty for KC__INLINE. */
    uint16_t number; /* Number in protobuf; 0: only in JSON. */
    uint8_t kind;    /* kc__type_field_kind; for a map, the kind of its values. */
    uint8_t shape;   /* kc__type_field_shape */
    uint16_t marks;
    uint16_t enumeration; /* Index of its values in kc__type_enumerations; 0: any value. */
    const kc__type_message *message; /* Set for KC__FIELD_MESSAGE, _LIST and _EITHER. */
    const char *go_type;   /* The type as in errors of Go's decoder, without the star of a pointer:
                              "string", "[]v1.Container", "map[string]string", "v1.Protocol". */
    const char *merge_key; /* patchMergeKey, or NULL. */
    const char *list_keys; /* listMapKey, space-separated, or NULL. */
    const char *fallback;  /* +default=, as JSON text, or NULL. */
} kc__type_field;

struct kc__type_message {
    kc_str name;                  /* The name in OpenAPI: "io.k8s.api.core.v1.PodSpec". */
    const char *go_name;          /* The name in errors of Go's decoder: "v1.PodSpec". */
    const kc__type_field *fields; /* In the order of the Go struct, which is the order in JSON. */
    uint16_t n_fields;
    uint16_t marks;            /* KC__MAP_IS_ATOMIC, KC__ANY_VALUE */
    const uint16_t *by_name;   /* Indexes into fields, sorted by name (bytes); inline ones first. */
    const uint16_t *by_number; /* The same sorted by number; JSON-only fields first. */
};

/* Finds a message by its full name; NULL if there is none. O(log n). */
const kc__type_message *kc__type_lookup(kc_str name);
/* All messages, sorted by name. */
extern const kc__type_message *const kc__type_messages[];
extern const size_t kc__type_n_messages;

/* The values of string types with a fixed set of values. Each set is a JSON array in the order
 * of its values: "[\"SCTP\",\"TCP\",\"UDP\"]". OpenAPI lists them; validation has its own
 * tables. */
extern const char *const kc__type_enumerations[];

/*
 * Finds the message of a kind: {"apps/v1", "Deployment"} gives io.k8s.api.apps.v1.Deployment. Kinds
 * that belong to every group (DeleteOptions …) or to none (Status …) are those of meta/v1. NULL if
 * there is none, and for messages that are not kinds because they have no apiVersion and kind of
 * their own. O(log n).
 */
const kc__type_message *kc__type_lookup_kind(kc_str api_version, kc_str kind);

/*
 * Finds a field of the message's JSON, including fields of inline structs; NULL if there is none.
 * Names are matched exactly.
 *
 * An embedded struct is an entry of `fields` at its position, marked KC__INLINE, without a name but
 * with its message: in protobuf it is an ordinary field, in JSON its fields appear in its place. So
 * code that looks up a name calls this function, and code that walks `fields` in JSON order
 * descends into the inline entries. TypeMeta (kind and apiVersion) is an inline struct with the
 * number 0: protobuf has it only in the envelope.
 */
const kc__type_field *kc__type_message_field(const kc__type_message *message, kc_str name);
/* Finds a field by its protobuf number; NULL if there is none. */
const kc__type_field *kc__type_message_field_by_number(const kc__type_message *message,
                                                       uint32_t number);

#endif
