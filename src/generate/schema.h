/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema.h: an OpenAPI schema as CRDs have it, while it is put together.
 *
 * What is simple in a schema is one piece of JSON each ("maxLength" → 10), so that setting, merging
 * and writing go by a table. A piece with p == NULL is absent. All of it lives in one arena.
 */
#ifndef KC_GENERATE_SCHEMA_H
#define KC_GENERATE_SCHEMA_H

#include "generate/model.h"

#include "kc/buf.h"
#include "kc/map.h"

/* What becomes of a piece that two schemas have which are merged: the type's and the field's. */
typedef enum kc__schema_merge {
    KC__MERGE_BEFORE, /* Decided before: the field's, else the type's. */
    KC__MERGE_FIRST,  /* The type's. */
    KC__MERGE_LAST,   /* The field's. */
    KC__MERGE_ALIKE,  /* They must be the same. */
    KC__MERGE_EQUAL,  /* If they are not the same, both, in allOf. */
    KC__MERGE_BOTH,   /* Both, in allOf, even if they are the same. */
} kc__schema_merge;

/* Piece, name in JSON, merging. */
#define KC__SCHEMA_PIECES(X)                                          \
    X(TYPE, "type", ALIKE)                                            \
    X(FORMAT, "format", EQUAL)                                        \
    X(DESCRIPTION, "description", BEFORE)                             \
    X(TITLE, "title", BEFORE)                                         \
    X(EXAMPLE, "example", BEFORE)                                     \
    X(EXTERNAL_DOCS, "externalDocs", BEFORE)                          \
    X(DEFAULT, "default", BOTH)                                       \
    X(ENUM, "enum", FIRST)                                            \
    X(NULLABLE, "nullable", EQUAL)                                    \
    X(MAXIMUM, "maximum", BOTH)                                       \
    X(EXCLUSIVE_MAXIMUM, "exclusiveMaximum", EQUAL)                   \
    X(MINIMUM, "minimum", BOTH)                                       \
    X(EXCLUSIVE_MINIMUM, "exclusiveMinimum", EQUAL)                   \
    X(MULTIPLE_OF, "multipleOf", BOTH)                                \
    X(MAX_LENGTH, "maxLength", BOTH)                                  \
    X(MIN_LENGTH, "minLength", BOTH)                                  \
    X(PATTERN, "pattern", EQUAL)                                      \
    X(MAX_ITEMS, "maxItems", BOTH)                                    \
    X(MIN_ITEMS, "minItems", BOTH)                                    \
    X(UNIQUE_ITEMS, "uniqueItems", EQUAL)                             \
    X(MAX_PROPERTIES, "maxProperties", EQUAL)                         \
    X(MIN_PROPERTIES, "minProperties", EQUAL)                         \
    X(ANY_OF, "anyOf", FIRST)                                         \
    X(PRESERVE_UNKNOWN, "x-kubernetes-preserve-unknown-fields", LAST) \
    X(EMBEDDED_RESOURCE, "x-kubernetes-embedded-resource", EQUAL)     \
    X(INT_OR_STRING, "x-kubernetes-int-or-string", EQUAL)             \
    X(LIST_TYPE, "x-kubernetes-list-type", BOTH)                      \
    X(LIST_MAP_KEYS, "x-kubernetes-list-map-keys", BOTH)              \
    X(MAP_TYPE, "x-kubernetes-map-type", LAST)

typedef enum kc__schema_piece {
#define KC__SCHEMA_PIECE(id, name, merge) KC__SCHEMA_##id,
    KC__SCHEMA_PIECES(KC__SCHEMA_PIECE)
#undef KC__SCHEMA_PIECE
        KC__SCHEMA_N_PIECES,
} kc__schema_piece;

typedef struct kc__schema kc__schema;

typedef struct kc__schema_property {
    kc_str name;
    kc__schema *schema;
} kc__schema_property;

struct kc__schema {
    kc_str pieces[KC__SCHEMA_N_PIECES];
    kc__schema *items, *values; /* Of an array; of a map (additionalProperties). */
    kc__schema_property *properties;
    size_t n_properties;
    kc_str *required; /* Sorted. */
    size_t n_required;
    kc_str *rules; /* x-kubernetes-validations, each as JSON. */
    size_t n_rules;
    kc__schema **all_of;
    size_t n_all_of;
};

kc__schema *kc__schema_new(kc_arena *arena);
/* Pieces from text, which becomes a JSON string, and from JSON. */
void kc__schema_set_text(kc__schema *schema, kc__schema_piece piece, kc_str text, kc_arena *arena);
void kc__schema_set_json(kc__schema *schema, kc__schema_piece piece, kc_str json, kc_arena *arena);
/* Whether a piece is this JSON: kc__schema_is(s, KC__SCHEMA_TYPE, "\"array\""). */
bool kc__schema_is(const kc__schema *schema, kc__schema_piece piece, const char *json);

void kc__schema_add_property(kc__schema *schema, kc_str name, kc__schema *property,
                             kc_arena *arena);
void kc__schema_require(kc__schema *schema, kc_str name, kc_arena *arena);
void kc__schema_add_rule(kc__schema *schema, kc_str json, kc_arena *arena);

/* A field of a named type: the type's schema and what the field says, as one. Neither is changed.
 * False where they contradict each other in their type. */
bool kc__schema_combine(const kc__schema *type, const kc__schema *field, kc__schema **ret,
                        kc_arena *arena);
/* Adds what `from` has, as the members of an inlined struct are. */
bool kc__schema_merge_into(kc__schema *to, const kc__schema *from, kc_arena *arena);

/* Cuts descriptions to `most` bytes, at the end of a sentence if there is one; 0: drops them. Cut
 * schemas are new ones. */
kc__schema *kc__schema_cut(const kc__schema *schema, size_t most, kc_arena *arena);

/* Appends it as JSON. */
void kc__schema_write(const kc__schema *schema, kc_buf *out);

#endif
