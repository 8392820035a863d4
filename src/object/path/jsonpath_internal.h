/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jsonpath_internal.h: a compiled JSONPath.
 *
 * A template is a sequence of parts: texts and pairs of braces. Braces contain a list of nodes;
 * each node maps the list of values of the previous node to another.
 *
 *     Name: {.items[*].name}      part: "Name: " │ part: FIELD items → SLICE : → FIELD name
 */
#ifndef KC_JSONPATH_INTERNAL_H
#define KC_JSONPATH_INTERNAL_H

#include "kc/arena.h"
#include "kc/jsonpath.h"
#include "object/model/object_internal.h"

typedef enum kc__jsonpath_node_type {
    KC__JSONPATH_FIELD,
    KC__JSONPATH_SLICE, /* [1], [1:4:2], [*] */
    KC__JSONPATH_FILTER,
    KC__JSONPATH_UNION,
    KC__JSONPATH_WILDCARD,
    KC__JSONPATH_RECURSIVE,
    KC__JSONPATH_TEXT,    /* Yields itself once… */
    KC__JSONPATH_LITERAL, /* …and a number or boolean once for each input value. */
    KC__JSONPATH_WORD,    /* range, end; any other is an error when evaluated. */
} kc__jsonpath_node_type;

typedef struct kc__jsonpath_node kc__jsonpath_node;

typedef struct kc__jsonpath_list {
    kc__jsonpath_node *first, *last;
} kc__jsonpath_list;

struct kc__jsonpath_node {
    kc__jsonpath_node_type type;
    kc__jsonpath_node *next;
    union {
        kc_str name;      /* FIELD, WORD */
        kc_value literal; /* TEXT, LITERAL */
        struct {
            int64_t from, to, step;
            bool has_from, has_to, has_step;
            bool single; /* `to` is from + 1, and 0 means the end: [-1]. */
        } slice;
        struct {
            kc__jsonpath_list left, right;
            kc_str op; /* Empty: tests only whether left exists. */
        } filter;
        struct {
            kc__jsonpath_list *lists;
            size_t n;
        } choice; /* UNION */
    };
};

typedef enum kc__jsonpath_value_kind {
    KC__JSONPATH_PRINTS,
    KC__JSONPATH_RANGE,
    KC__JSONPATH_END
} kc__jsonpath_value_kind;

typedef struct kc__jsonpath_part {
    kc__jsonpath_value_kind kind;
    kc__jsonpath_list list;
    /* For a range: the part after its last one, and the part to continue with. */
    size_t body_end, resume;
} kc__jsonpath_part;

struct kc_jsonpath {
    kc_arena arena;
    kc__jsonpath_part *parts;
    size_t n;
};

typedef KC_VEC(kc__jsonpath_list) kc__jsonpath_lists;

/* Parses a template into one list per text or pair of braces. */
int kc__jsonpath_parse(kc_arena *arena, kc_str text, kc__jsonpath_lists *out, kc_error *err);

/* Receives the values of one part. A negative return ends the evaluation. */
typedef int (*kc__jsonpath_sink)(const kc_values *values, kc_error *err, void *user);
int kc__jsonpath_run(const kc_jsonpath *path, const kc_value *root, const kc_jsonpath_opts *opts,
                     kc__jsonpath_sink sink, void *user, kc_error *err);

/* The result of a filter's comparison: 1, 0, or negative with an error. */
int kc__jsonpath_compare(const kc_value *left, kc_str op, const kc_value *right, kc_error *err);

#endif
