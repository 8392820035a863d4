/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model.h: the API types of a project, between reading headers (or CRDs) and writing everything
 * else. Readers fill a model; writers use nothing else.
 *
 *     headers ──libclang──▶ model ──▶ field tables, clients, CRDs, RBAC, webhooks, samples
 *     CRD YAML ───────────▶ model ──▶ headers
 *
 * Everything is allocated from the model's arena and constant after reading. Lists are in source
 * order, which makes the output deterministic.
 */
#ifndef KC_GENERATE_MODEL_H
#define KC_GENERATE_MODEL_H

#include "kc/arena.h"
#include "kc/buf.h"
#include "kc/error.h"
#include "kc/vec.h"
#include "kc/view.h"

/* A source location, for errors. */
typedef struct kc__gen_at {
    const char *file;
    unsigned line, column;
} kc__gen_at;

/* One argument of a marker: name=value; the name is "" if the marker has only a value. */
typedef struct kc__gen_arg {
    kc_str name, value; /* As written, unquoted. */
    kc_str json;        /* The value as JSON: "text", 10, ["a","b"], {"k":true}. */
    bool quoted;        /* It was a string in quotes or backticks. */
} kc__gen_arg;

/* "+kubebuilder:validation:Maximum=10". */
typedef struct kc__gen_marker {
    kc_str name; /* "kubebuilder:validation:Maximum" */
    kc_str text; /* Everything after the name's '=' or ':', as written. */
    const kc__gen_arg *args;
    size_t n_args;
    kc__gen_at at;
} kc__gen_marker;

typedef struct kc__gen_markers {
    const kc__gen_marker *items;
    size_t n;
} kc__gen_markers;

typedef enum kc__gen_base {
    KC__GEN_BOOL,
    KC__GEN_INT32,
    KC__GEN_INT64,
    KC__GEN_UINT32,
    KC__GEN_UINT64,
    KC__GEN_FLOAT32,
    KC__GEN_FLOAT64,
    KC__GEN_STRING,
    KC__GEN_ENUM,
    KC__GEN_BYTES,
    KC__GEN_INT_OR_STRING,
    KC__GEN_QUANTITY,
    KC__GEN_TIME,
    KC__GEN_MICRO_TIME,
    KC__GEN_DURATION,
    KC__GEN_RAW,
    KC__GEN_STRUCT,
    KC__GEN_INNER, /* A list or map, nested or behind a typedef: `inner`. */
} kc__gen_base;

typedef enum kc__gen_shape {
    KC__GEN_VALUE,
    KC__GEN_POINTER,
    KC__GEN_LIST,
    KC__GEN_MAP
} kc__gen_shape;

typedef struct kc__gen_type kc__gen_type;
typedef struct kc__gen_field kc__gen_field;

/* A field: a shape of a base. Nested ones have a base again: KC_MAP_OF(KC_LIST_OF(char *)) is a map
 * of KC__GEN_INNER, whose `inner` is a list of strings; a typedef of a map with markers is a value
 * of KC__GEN_INNER, and its type has the same `inner`. */
struct kc__gen_field {
    kc_str c_name;    /* deployment_name */
    kc_str json_name; /* deploymentName */
    kc_str count;     /* Of a list: the C name of its count, n_arms or arms.n. */
    kc__gen_base base;
    kc__gen_shape shape;
    bool pointers;              /* Items of the list or map are pointers. */
    bool is_inline;             /* +kc:inline: the struct's members are members of the parent. */
    bool optional;              /* By marker, pointer or package. */
    bool if_set;                /* Of an apply configuration: omitted only if it is not set. */
    const kc__gen_type *type;   /* Of KC__GEN_STRUCT and KC__GEN_ENUM, or a typedef with markers of
                                   its own; else NULL. */
    const kc__gen_field *inner; /* Of KC__GEN_INNER: a list or map without names, doc, markers. */
    kc_str doc;                 /* The comment without markers. */
    kc__gen_markers markers;
    kc__gen_at at;
};

typedef struct kc__gen_enum_value {
    kc_str c_name, text; /* ROBOT_PHASE_RUNNING, "Running" */
} kc__gen_enum_value;

/* A struct, an enum, or a typedef with documentation or markers. */
struct kc__gen_type {
    kc_str c_name;  /* robot_spec */
    kc_str go_name; /* RobotSpec: its name in CRDs and OpenAPI. */
    kc_str doc;
    kc__gen_markers markers;
    const kc__gen_type *second_of; /* Of a typedef of a type with markers: that type, */
    size_t n_inherited;            /* whose markers are the first of these. */
    kc__gen_at at;
    kc__gen_base base;          /* KC__GEN_STRUCT, KC__GEN_ENUM, or what a typedef stands for. */
    const kc__gen_field *inner; /* Of KC__GEN_INNER. */
    const kc__gen_field *fields;
    size_t n_fields;
    const kc__gen_enum_value *values;
    size_t n_values;
    bool is_root;     /* A kind: has kc_object_meta and is marked object:root. */
    bool from_sdk;    /* kc_object_meta and its like, from kc/api.h. */
    bool is_external; /* From a header that is not being generated. */
};

/* One folder api/GROUP/VERSION. */
typedef struct kc__gen_package {
    kc_str group, version; /* "apps.example.io", "v1alpha1" */
    kc_str dir;
    kc__gen_markers markers; /* Of groupversion_info.h. */
    const kc__gen_type *const *types;
    size_t n_types;
} kc__gen_package;

typedef struct kc__gen_model {
    kc_arena arena;
    KC_VEC(const kc__gen_package *) packages;
    kc__gen_markers rbac, webhooks; /* From anywhere in the project. */
} kc__gen_model;

void kc__gen_model_done(kc__gen_model *model);

/* The last marker with this name, or NULL. */
const kc__gen_marker *kc__gen_marker_find(const kc__gen_markers *markers, const char *name);
/* An argument's value by name; p == NULL if absent. The marker may be NULL. */
kc_str kc__gen_marker_arg(const kc__gen_marker *marker, const char *name);
/* The same as JSON, for lists and numbers. */
kc_str kc__gen_marker_json(const kc__gen_marker *marker, const char *name);

/* The field as it is in memory: a list or map, also behind a typedef. */
kc__gen_field kc__gen_flat(const kc__gen_field *field, kc_arena *arena);

/* KC_INVALID with "file:line:column: message". Adds a line to an error that is KC_INVALID already
 * (20 at most), so that readers continue after a mistake and return the error at the end. */
int kc__gen_error(kc_error *err, kc__gen_at at, const char *fmt, ...) KC_PRINTF(3, 4);

#endif
