/* SPDX-License-Identifier: Apache-2.0 */
/*
 * definition.h: the types of the built-in kinds, as constant tables.
 *
 * tools/definitions reads the published API definitions when the server is built (generated.proto
 * for fields, numbers and markers; types.go beside it for what Go leaves out of JSON) and writes C
 * source of these tables into the build folder: read-only data, shared by all processes, nothing to
 * parse at start. Whoever works on typed objects walks them: the protobuf decoder, the reader that
 * finds unknown and mistyped fields, strategic patches, OpenAPI.
 *
 *     const kc__message *pod = kc__definition_find(KC_STR("io.k8s.api.core.v1.Pod"));
 *     const kc__field *spec = kc__message_field(pod, KC_STR("spec"));
 */
#ifndef KC_APISERVER_DEFINITION_H
#define KC_APISERVER_DEFINITION_H

#include "kc/str.h"

/* What a value is, in JSON and in protobuf. */
typedef enum kc__field_kind {
    KC__FIELD_BOOL,
    KC__FIELD_INT32,
    KC__FIELD_INT64,
    KC__FIELD_UINT32,
    KC__FIELD_UINT64,
    KC__FIELD_FLOAT,
    KC__FIELD_DOUBLE,
    KC__FIELD_STRING,
    KC__FIELD_BYTES,   /* Base64 in JSON. */
    KC__FIELD_MESSAGE, /* `message` says which. */
    /* Messages whose JSON is something else: */
    KC__FIELD_TIME,          /* "2006-01-02T15:04:05Z" or null; seconds and nanos. */
    KC__FIELD_MICRO_TIME,    /* The same with six digits of fraction. */
    KC__FIELD_DURATION,      /* "1h0m0s"; nanoseconds. */
    KC__FIELD_QUANTITY,      /* "500m" or a number; a string. */
    KC__FIELD_INT_OR_STRING, /* 8080 or "http". */
    KC__FIELD_RAW,           /* Any JSON object: RawExtension. */
    KC__FIELD_ANY,           /* Any JSON value: JSON of CRDs. */
    KC__FIELD_FIELDS_V1,     /* Any JSON object; its text as bytes. */
    KC__FIELD_LIST, /* A message with only `items`, in JSON the array itself (Verbs, ExtraValue). */
    KC__FIELD_EITHER, /* An object of `message`, or another JSON value: items of a CRD's schema. */
} kc__field_kind;

typedef enum kc__field_shape {
    KC__SINGLE,
    KC__REPEATED,
    KC__MAPPED
} kc__field_shape; /* Maps: by strings. */

/* Markers, a set. */
enum {
    KC__OMIT_EMPTY = 1 << 0, /* Go leaves it out of JSON when it is "", 0, false, [] or {} of a
                                map; a struct (and so a time, a quantity …) never … */
    KC__POINTER = 1 << 1,    /* … but here only when it is null: a pointer in Go. */
    KC__REQUIRED = 1 << 2,   /* In OpenAPI: marked +required, or neither +optional nor omitempty. */
    KC__PATCH_MERGES = 1 << 3,  /* patchStrategy=merge */
    KC__PATCH_RETAINS = 1 << 4, /* patchStrategy=retainKeys */
    KC__PATCH_REPLACES = 1 << 5,
    KC__LIST_IS_SET = 1 << 6, /* listType=set */
    KC__LIST_IS_MAP = 1 << 7, /* listType=map, by `list_keys` */
    KC__LIST_IS_ATOMIC = 1 << 8,
    KC__MAP_IS_ATOMIC = 1 << 9,    /* mapType or structType=atomic */
    KC__INLINE = 1 << 10,          /* An embedded struct whose fields are the parent's in JSON. */
    KC__OMIT_ZERO = 1 << 11,       /* Left out of JSON when it is no time (creationTimestamp). */
    KC__MAP_IS_GRANULAR = 1 << 12, /* mapType or structType=granular, where its type is atomic. */
    KC__DISCRIMINATOR = 1 << 13,   /* unionDiscriminator: says which of the others is set. */
};

typedef struct kc__message kc__message;

typedef struct kc__field {
    kc_str name;     /* In JSON. Empty where KC__INLINE. */
    uint16_t number; /* In protobuf; 0: in JSON only. */
    uint8_t kind;    /* kc__field_kind; of a map, of its values. */
    uint8_t shape;   /* kc__field_shape */
    uint16_t marks;
    const kc__message *message; /* Of KC__FIELD_MESSAGE, _LIST and _EITHER. */
    const char *go_type;        /* As errors of Go's decoder name it, without a pointer's star:
                                   "string", "[]v1.Container", "map[string]string", "v1.Protocol". */
    const char *merge_key;      /* patchMergeKey, or NULL. */
    const char *list_keys;      /* listMapKey, space-separated, or NULL. */
    const char *fallback;       /* +default=, as JSON text, or NULL. */
} kc__field;

struct kc__message {
    kc_str name;             /* "io.k8s.api.core.v1.PodSpec": as OpenAPI has it. */
    const char *go_name;     /* "v1.PodSpec": as errors of Go's decoder name it. */
    const kc__field *fields; /* In the order of the Go struct, which is the order of JSON. */
    uint16_t n_fields;
    uint16_t marks;            /* KC__MAP_IS_ATOMIC */
    const uint16_t *by_name;   /* Indexes into fields, sorted by name (bytes); inline ones first. */
    const uint16_t *by_number; /* The same by number; those in JSON only first. */
};

/* By its full name; NULL when there is none. O(log n). */
const kc__message *kc__definition_find(kc_str name);
/* All of them, sorted by name. */
extern const kc__message *const kc__definitions[];
extern const size_t kc__n_definitions;

/*
 * The message of a kind: of {"apps/v1", "Deployment"} io.k8s.api.apps.v1.Deployment. Kinds of every
 * group (DeleteOptions …) and of none (Status …) are those of meta/v1. NULL when there is none, and
 * for messages that are no kind, having no apiVersion and kind of their own. O(log n).
 */
const kc__message *kc__definition_of_kind(kc_str api_version, kc_str kind);

/*
 * A field of the message's JSON, one of an inline struct included; NULL when there is none. Names
 * are matched exactly.
 *
 * An embedded struct stands in `fields` at its place, marked KC__INLINE, without a name, and with
 * its message: in protobuf it is a field like any other, in JSON its fields stand in its place. So
 * whoever looks names up calls this, and whoever walks `fields` to see JSON goes into the inline
 * ones. TypeMeta (kind and apiVersion) is an inline struct with the number 0: protobuf has it only
 * in the envelope.
 */
const kc__field *kc__message_field(const kc__message *message, kc_str name);
/* A field of protobuf; NULL when there is none. */
const kc__field *kc__message_numbered(const kc__message *message, uint32_t number);

#endif
