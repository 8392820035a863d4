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

/*
 * The parts of an object's text that it knows (each costs every cached object that has it four
 * bytes, so only what is asked for often is here): a name, where the member stands, its key and the
 * key's first letter, the type of its value.
 */
#define KC__PARTS(X)                                              \
    X(API_VERSION, ROOT, "apiVersion", 'a', STRING)               \
    X(KIND, ROOT, "kind", 'k', STRING)                            \
    X(METADATA, ROOT, "metadata", 'm', OBJECT)                    \
    X(NAME, METADATA, "name", 'n', STRING)                        \
    X(NAMESPACE, METADATA, "namespace", 'n', STRING)              \
    X(UID, METADATA, "uid", 'u', STRING)                          \
    X(RESOURCE_VERSION, METADATA, "resourceVersion", 'r', STRING) \
    X(GENERATION, METADATA, "generation", 'g', NUMBER)            \
    X(DELETED, METADATA, "deletionTimestamp", 'd', STRING)        \
    X(LABELS, METADATA, "labels", 'l', OBJECT)                    \
    X(ANNOTATIONS, METADATA, "annotations", 'a', OBJECT)          \
    X(OWNERS, METADATA, "ownerReferences", 'o', ARRAY)            \
    X(FINALIZERS, METADATA, "finalizers", 'f', ARRAY)

enum kc__part {
#define KC__PART_ENUM(name, holder, key, letter, type) KC__##name,
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
    uint32_t n;   /* Of the canonical text. */
    uint16_t has; /* Which parts (object_parts.c). */
    char text[];  /* Canonical JSON, a NUL, where the parts are; then, rarely, unescaped copies of
                     string parts that have escapes. */
};

/* ---- object_parts.c ---- */

/* For `has`: which parts there are, in an object of so many bytes of text and copies. */
uint16_t kc__parts_shape(const kc__span *parts, size_t text);
/* The most bytes that parts take behind so many of text. */
size_t kc__parts_most(size_t text);
/* Bytes behind the NUL that parts of this shape take. */
size_t kc__parts_size(uint16_t shape);
/* Writes them there; `n` and `has` are set. */
void kc__parts_pack(kc_object *object, const kc__span *parts);
void kc__parts_unpack(const kc_object *object, kc__span *ret_parts);
kc__span kc__part(const kc_object *object, int part);

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
 * The fast way to canonical text (scan.c): checks, finds the parts and compacts, in place and in
 * one pass, but knows only the common cases. False means "not sure": the text may be wrong or just
 * unusual, and the thorough way (read.c) must decide. text[n] must be NUL. With `trusted`, the text
 * is known to be canonical; then it never says false.
 */
bool kc__scan(char *text, size_t n, unsigned max_depth, bool trusted, kc__scanned *ret);

/* The thorough way (read.c): a document checked against every limit, without duplicates. */
int kc__read(kc_str json, const kc_json_opts *opts, kc_view *ret, kc_error *err);

/* True when two strings are equal: a yyjson key and a slice. */
static inline bool kc__key_is(const char *p, size_t n, kc_str name)
{
    return n == name.n && memcmp(p, name.p, n) == 0;
}

#endif
