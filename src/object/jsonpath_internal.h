/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jsonpath_internal.h: a compiled JSONPath.
 *
 * A template is a sequence of parts: texts and pairs of braces. What stands in braces is a list of
 * nodes; evaluating one maps a list of values to another, and each node works on what the one
 * before it gave.
 *
 *     Name: {.items[*].name}      part: "Name: " │ part: FIELD items → SLICE : → FIELD name
 */
#ifndef KC_JSONPATH_INTERNAL_H
#define KC_JSONPATH_INTERNAL_H

#include "kc/arena.h"
#include "kc/jsonpath.h"
#include "object/object_internal.h"

typedef enum kc__jp_type {
    KC__JP_FIELD,
    KC__JP_SLICE, /* [1], [1:4:2], [*] */
    KC__JP_FILTER,
    KC__JP_UNION,
    KC__JP_WILDCARD,
    KC__JP_RECURSIVE,
    KC__JP_TEXT,    /* Gives itself once… */
    KC__JP_LITERAL, /* …and a number or boolean once for each value it is given. */
    KC__JP_WORD,    /* range, end; any other is an error, but only when it is evaluated. */
} kc__jp_type;

typedef struct kc__jp_node kc__jp_node;

typedef struct kc__jp_list {
    kc__jp_node *first, *last;
} kc__jp_list;

struct kc__jp_node {
    kc__jp_type type;
    kc__jp_node *next;
    union {
        kc_str name;      /* FIELD, WORD */
        kc_value literal; /* TEXT, LITERAL */
        struct {
            int64_t from, to, step;
            bool has_from, has_to, has_step;
            bool single; /* `to` is from + 1, and 0 stands for the end: [-1]. */
        } slice;
        struct {
            kc__jp_list left, right;
            kc_str op; /* Empty: only whether left exists. */
        } filter;
        struct {
            kc__jp_list *lists;
            size_t n;
        } choice; /* UNION */
    };
};

typedef enum kc__jp_kind { KC__JP_PRINTS, KC__JP_RANGE, KC__JP_END } kc__jp_kind;

typedef struct kc__jp_part {
    kc__jp_kind kind;
    kc__jp_list list;
    /* Of a range: the part behind its last one, and the part to go on with afterwards. */
    size_t body_end, resume;
} kc__jp_part;

struct kc_jsonpath {
    kc_arena arena;
    kc__jp_part *parts;
    size_t n;
};

typedef KC_VEC(kc__jp_list) kc__jp_lists;

/* Reads a template into one list per text or pair of braces. */
int kc__jp_parse(kc_arena *arena, kc_str text, kc__jp_lists *out, kc_error *err);

/* Gets the values of one part. A negative return ends the evaluation. */
typedef int (*kc__jp_sink)(const kc_values *values, kc_error *err, void *user);
int kc__jp_run(const kc_jsonpath *path, const kc_value *root, const kc_jsonpath_opts *opts,
               kc__jp_sink sink, void *user, kc_error *err);

/* The result of a filter's comparison: 1, 0, or negative with an error. */
int kc__jp_compare(const kc_value *left, kc_str op, const kc_value *right, kc_error *err);

#endif
