/* SPDX-License-Identifier: Apache-2.0 */
/*
 * object_internal.h: the representation of objects, views and edits, shared by the files of
 * src/object.
 */
#ifndef KC_OBJECT_INTERNAL_H
#define KC_OBJECT_INTERNAL_H

#include "kc/edit.h"
#include "kc/object.h"
#include "kc/ref.h"
#include "object/model/node_fields.h"

#include <yyjson.h>

/*
 * The indexed parts of an object's text (each costs four bytes in every cached object that has it,
 * so only frequently read parts are here): a name, the parent of the member, its key and the key's
 * first letter, the type of its value.
 */
#define KC__OBJECT_PARTS(X)                                       \
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
    X(FINALIZERS, METADATA, "finalizers", 'f', ARRAY)             \
    X(MANAGED_FIELDS, METADATA, "managedFields", 'm', ARRAY)

enum kc__object_part_id {
#define KC__OBJECT_PART_ENUM(name, holder, key, letter, type) KC__OBJECT_PART_##name,
    KC__OBJECT_PARTS(KC__OBJECT_PART_ENUM)
#undef KC__OBJECT_PART_ENUM
        KC__N_PARTS
};

/* A range of an object's text; strings without their quotes. */
typedef struct kc__object_span {
    uint32_t at; /* 0: the member is absent. KC__OBJECT_PART_MISTYPED: it has the wrong type. */
    uint32_t n;
} kc__object_span;

enum { KC__OBJECT_PART_MISTYPED = 1 };

struct kc_object {
    kc_ref refs;
    uint32_t n;   /* Of the canonical text. */
    uint16_t has; /* Which parts exist (object_parts.c). */
    char text[];  /* Canonical JSON, a NUL, the positions of the parts; then, rarely, unescaped
                   * copies of string parts with escapes. */
};

/* ---- object_metadata.c ---- */

/* Finds the parts of metadata, which are at this position of an object's text. False when the
 * scanner has to see the whole text: strings with escapes, or too many levels. */
bool kc__object_metadata_parts(kc_str metadata, uint32_t at, kc__object_span *ret_parts);
/* An object of canonical text whose parts are known. */
kc_object *kc__object_of_parts(kc_str text, const kc__object_span *parts);

/* ---- object_parts.c ---- */

/* For `has`: which parts exist, in an object with this many bytes of text and copies. */
uint16_t kc__object_parts_shape(const kc__object_span *parts, size_t text);
/* The maximum number of bytes that parts take for a text of this size. */
size_t kc__object_parts_most(size_t text);
/* Bytes after the NUL that parts of this shape take. */
size_t kc__object_parts_size(uint16_t shape);
/* Writes the parts; `n` and `has` must be set. */
void kc__object_parts_pack(kc_object *object, const kc__object_span *parts);
void kc__object_parts_unpack(const kc_object *object, kc__object_span *ret_parts);
kc__object_span kc__object_part(const kc_object *object, int part);

/* The result of scanning a text. */
typedef struct kc__object_scan_result {
    size_t n; /* Bytes of canonical text. */
    kc__object_span parts[KC__N_PARTS];
    bool escapes; /* A string part has escapes. */
} kc__object_scan_result;

struct kc_view {
    yyjson_doc *doc;  /* May be NULL. */
    char *text;       /* Strings of the document and of `root` point into it; may be NULL. */
    kc_value *root;   /* The value, if it is not the root of the document; owned. */
    kc_view *base;    /* Strings of `root` point into it, too; may be NULL; owned. */
    kc_edit *edit;    /* So they do into this one. */
    const void *held; /* And into this, which `release` gives back; may be NULL. */
    void (*release)(const void *held);
};

struct kc_edit {
    yyjson_mut_doc *doc;
    /* Index of the long object that kc_node_set changed last (edit.c). */
    kc__node_fields set;
    size_t set_len;
    const kc_node *set_last;
};

/* yyjson's allocator for documents whose constructors return no error: kc_alloc, which uses the
 * reserve before it fails. Text from outside is parsed with yyjson's own allocator, and checked. */
extern const yyjson_alc kc__object_allocator;
/* The key node of the member `name`, or NULL; scans. (edit.c) */
kc_node *kc__node_find_key(kc_node *object, kc_str name);

/*
 * The fast path to canonical text (scan.c): validates, finds the parts and compacts, in place and
 * in one pass, but handles only the common cases. False means "not sure": the text may be invalid
 * or only unusual, and the full parser (read.c) must decide. text[n] must be NUL. With `trusted`,
 * the text is known to be canonical, and the result is always true.
 */
bool kc__json_scan(char *text, size_t n, unsigned max_depth, bool trusted,
                   kc__object_scan_result *ret);

/* The same for the canonical text of metadata alone: finds its parts, relative to its start. False
 * when the text nests too deeply. */
bool kc__json_scan_metadata(char *text, size_t n, unsigned max_depth, kc__object_scan_result *ret);

/* Bytes behind a text that kc__json_read_canonical may read and overwrite. */
enum { KC__JSON_PADDING = 16 };

/* Reads canonical text in place (cells.c). *ret takes the text over, which is from kc_alloc and has
 * KC__JSON_PADDING bytes behind it. */
void kc__json_read_canonical(char *text, size_t n, kc_view *ret);

/* The full parser (read.c): a document checked against all limits, without duplicates. */
int kc__json_read(kc_str json, const kc_json_opts *opts, kc_view *ret, kc_error *err);

/* memcmp(a, b, n) == 0 without a call for the short names that nearly all are. */
static inline bool kc__object_same_bytes(const char *a, const char *b, size_t n)
{
    uint64_t x, y, v, w;
    uint32_t first_a, first_b, last_a, last_b;
    if (n > 16)
        return memcmp(a, b, n) == 0;
    if (n >= 8) {
        memcpy(&x, a, 8);
        memcpy(&y, b, 8);
        memcpy(&v, a + n - 8, 8);
        memcpy(&w, b + n - 8, 8);
        return x == y && v == w;
    }
    if (n >= 4) {
        memcpy(&first_a, a, 4);
        memcpy(&first_b, b, 4);
        memcpy(&last_a, a + n - 4, 4);
        memcpy(&last_b, b + n - 4, 4);
        return first_a == first_b && last_a == last_b;
    }
    for (size_t i = 0; i < n; i++)
        if (a[i] != b[i])
            return false;
    return true;
}

/* True when a yyjson key and a slice are equal. */
static inline bool kc__object_key_is(const char *p, size_t n, kc_str name)
{
    return n == name.n && kc__object_same_bytes(p, name.p, n);
}

#endif
