/* SPDX-License-Identifier: Apache-2.0 */
/*
 * object_internal.h: what the files of src/object share about the representation of objects, views
 * and edits.
 */
#ifndef KC_OBJECT_INTERNAL_H
#define KC_OBJECT_INTERNAL_H

#include "kc/edit.h"
#include "kc/object.h"
#include "kc/ref.h"

#include <yyjson.h>

/* The parts of an object's text that its header knows: name, the member of metadata (or of the
 * root) it is, type of its value. */
#define KC__PARTS(X)                                         \
    X(API_VERSION, ROOT, "apiVersion", STRING)               \
    X(KIND, ROOT, "kind", STRING)                            \
    X(METADATA, ROOT, "metadata", OBJECT)                    \
    X(NAME, METADATA, "name", STRING)                        \
    X(NAMESPACE, METADATA, "namespace", STRING)              \
    X(UID, METADATA, "uid", STRING)                          \
    X(RESOURCE_VERSION, METADATA, "resourceVersion", STRING) \
    X(GENERATION, METADATA, "generation", NUMBER)            \
    X(CREATED, METADATA, "creationTimestamp", STRING)        \
    X(DELETED, METADATA, "deletionTimestamp", STRING)        \
    X(LABELS, METADATA, "labels", OBJECT)                    \
    X(ANNOTATIONS, METADATA, "annotations", OBJECT)          \
    X(OWNERS, METADATA, "ownerReferences", ARRAY)            \
    X(FINALIZERS, METADATA, "finalizers", ARRAY)             \
    X(MANAGED_FIELDS, METADATA, "managedFields", ARRAY)

enum kc__part {
#define KC__PART_ENUM(name, holder, key, type) KC__##name,
    KC__PARTS(KC__PART_ENUM)
#undef KC__PART_ENUM
        KC__N_PARTS
};

/* A run of an object's text; strings without their quotes. */
typedef struct kc__span {
    uint32_t at; /* 0: the member is absent. KC__MISTYPED: it is there with another type. */
    uint32_t n;
} kc__span;

enum { KC__MISTYPED = 1 };

struct kc_object {
    kc_ref refs;
    uint32_t n; /* Of the canonical text. */
    kc__span parts[KC__N_PARTS];
    char text[]; /* Canonical JSON, a NUL; then, rarely, unescaped copies of string parts that have
                    escapes. */
};

/* What the scanner found out about a text. */
typedef struct kc__scanned {
    size_t n; /* Bytes of canonical text. */
    kc__span parts[KC__N_PARTS];
    bool escapes; /* A string part has escapes in it. */
} kc__scanned;

struct kc_view {
    yyjson_doc *doc;
    char *text; /* Strings of the doc point into it; may be NULL. */
};

struct kc_edit {
    yyjson_mut_doc *doc;
};

/*
 * The fast way from text to canonical text (scan.c): checks, compacts and finds the parts in one
 * pass, but knows only the common cases. False means "not sure": the text may be wrong or just
 * unusual, and the thorough way (read.c) must decide. `out` must have room for in.n bytes. With
 * `trusted`, the text is known to be canonical and is taken as it is; then it never says false.
 */
bool kc__scan(kc_str in, unsigned max_depth, bool trusted, char *out, kc__scanned *ret);

/* The thorough way (read.c): a document checked against every limit, without duplicates. */
int kc__read(kc_str json, const kc_json_opts *opts, kc_view *ret, kc_error *err);

/* Length of the well-formed UTF-8 sequence at p (1 for ASCII), 0 if it is none. */
size_t kc__utf8_length(const unsigned char *p, size_t left);

/* True when two strings are equal: a yyjson key and a slice. */
static inline bool kc__key_is(const char *p, size_t n, kc_str name)
{
    return n == name.n && memcmp(p, name.p, n) == 0;
}

#endif
