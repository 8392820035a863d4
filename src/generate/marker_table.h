/* SPDX-License-Identifier: Apache-2.0 */
/* marker_table.h: the markers there are: where each may stand and what its arguments are. */
#ifndef KC_GENERATE_MARKER_TABLE_H
#define KC_GENERATE_MARKER_TABLE_H

#include "kc/str.h"

/* Where a marker may stand, as bits. */
typedef enum kc__marker_scope {
    KC__ON_PACKAGE = 1,
    KC__ON_TYPE = 2,
    KC__ON_FIELD = 4,
    KC__ON_ENUMERATOR = 8,
    KC__ON_ANYTHING = 15,
} kc__marker_scope;

typedef enum kc__marker_type {
    KC__MARKER_STRING,
    KC__MARKER_BOOL,
    KC__MARKER_INT,
    KC__MARKER_NUMBER,
    KC__MARKER_STRINGS, /* a;b or {a,b} */
    KC__MARKER_ANY,     /* Guessed: a number, true, text, a list or {key: value}. */
    KC__MARKER_ANYS,
    KC__MARKER_JSON, /* JSON, or ref(…), which is taken for nothing. */
    KC__MARKER_REST, /* All that is left, as it is. */
} kc__marker_type;

typedef struct kc__marker_arg_def {
    const char *name; /* "": the marker has only a value. */
    kc__marker_type type;
    bool optional;
} kc__marker_arg_def;

enum { KC__MARKER_MAX_ARGS = 20 };

typedef struct kc__marker_def {
    const char *name;
    uint8_t scope;
    bool of_items;                                /* Also under kubebuilder:validation:items:. */
    kc__marker_arg_def args[KC__MARKER_MAX_ARGS]; /* End with the first that has no name. */
} kc__marker_def;

extern const kc__marker_def kc__marker_defs[];
extern const size_t kc__n_marker_defs;

/* By whole name ("kubebuilder:validation:items:MaxLength" finds MaxLength); NULL: none. */
const kc__marker_def *kc__marker_def_find(kc_str name);
/* It is one that other programs read, or looks like one: to be left alone. */
bool kc__marker_is_foreign(kc_str name);
/* What may have been meant; NULL: nothing is near. */
const char *kc__marker_nearest(kc_str name);

static inline size_t kc__marker_n_args(const kc__marker_def *def)
{
    size_t n = 0;
    while (n < KC__MARKER_MAX_ARGS && def->args[n].name)
        n++;
    return n;
}

#endif
