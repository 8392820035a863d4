/* SPDX-License-Identifier: Apache-2.0 */
/* table.h: the table of markers: their scopes and arguments. */
#ifndef KC_GENERATE_MARKERS_TABLE_H
#define KC_GENERATE_MARKERS_TABLE_H

#include "kc/str.h"

/* Scopes of a marker, as bits. */
typedef enum kc__gen_marker_scope {
    KC__GEN_SCOPE_PACKAGE = 1,
    KC__GEN_SCOPE_TYPE = 2,
    KC__GEN_SCOPE_FIELD = 4,
    KC__GEN_SCOPE_ENUMERATOR = 8,
    KC__GEN_SCOPE_ANY = 15,
} kc__gen_marker_scope;

typedef enum kc__gen_marker_type {
    KC__GEN_MARKER_STRING,
    KC__GEN_MARKER_BOOL,
    KC__GEN_MARKER_INT,
    KC__GEN_MARKER_NUMBER,
    KC__GEN_MARKER_STRINGS, /* a;b or {a,b} */
    KC__GEN_MARKER_ANY,     /* Guessed: a number, a boolean, text, a list or {key: value}. */
    KC__GEN_MARKER_ANYS,
    KC__GEN_MARKER_JSON, /* JSON, or ref(…), which is ignored. */
    KC__GEN_MARKER_REST, /* The rest of the line as it is. */
} kc__gen_marker_type;

typedef struct kc__gen_marker_arg_def {
    const char *name; /* "": the marker has only a value. */
    kc__gen_marker_type type;
    bool optional;
} kc__gen_marker_arg_def;

enum { KC__GEN_MARKER_MAX_ARGS = 20 };

typedef struct kc__gen_marker_def {
    const char *name;
    uint8_t scope;
    bool of_items; /* Also under kubebuilder:validation:items:. */
    kc__gen_marker_arg_def args[KC__GEN_MARKER_MAX_ARGS]; /* Terminated by an entry without a
                                                           * name. */
} kc__gen_marker_def;

extern const kc__gen_marker_def kc__gen_marker_defs[];
extern const size_t kc__gen_n_marker_defs;

/* By full name ("kubebuilder:validation:items:MaxLength" finds MaxLength); NULL: none. */
const kc__gen_marker_def *kc__gen_marker_def_find(kc_str name);
/* Whether it is, or looks like, a marker of another program: ignored. */
bool kc__gen_marker_is_foreign(kc_str name);
/* The nearest known name; NULL: none is near. */
const char *kc__gen_marker_nearest(kc_str name);

static inline size_t kc__gen_marker_n_args(const kc__gen_marker_def *def)
{
    size_t n = 0;
    while (n < KC__GEN_MARKER_MAX_ARGS && def->args[n].name)
        n++;
    return n;
}

#endif
