/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema.h: an OpenAPI schema of a CRD under construction.
 *
 * Each simple part of a schema is one piece of JSON ("maxLength" → 10), so that setting, merging
 * and writing use a table. A piece with p == NULL is absent. Everything is allocated from one
 * arena.
 */
#ifndef KC_GENERATE_SCHEMA_H
#define KC_GENERATE_SCHEMA_H

#include "generate/model/model.h"

#include "kc/buf.h"
#include "kc/map.h"

/* How a piece is merged that both schemas have: the type's and the field's. */
typedef enum kc__gen_schema_merge {
    KC__GEN_MERGE_BEFORE, /* Resolved separately: the field's, else the type's. */
    KC__GEN_MERGE_FIRST,  /* The type's. */
    KC__GEN_MERGE_LAST,   /* The field's. */
    KC__GEN_MERGE_ALIKE,  /* They must be equal. */
    KC__GEN_MERGE_EQUAL,  /* If they differ, both, in allOf. */
    KC__GEN_MERGE_BOTH,   /* Both, in allOf, even if they are equal. */
} kc__gen_schema_merge;

/* Piece, name in JSON, merging. */
#define KC__GEN_SCHEMA_PIECES(X)                                      \
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

typedef enum kc__gen_schema_piece {
#define KC__GEN_SCHEMA_PIECE(id, name, merge) KC__GEN_SCHEMA_##id,
    KC__GEN_SCHEMA_PIECES(KC__GEN_SCHEMA_PIECE)
#undef KC__GEN_SCHEMA_PIECE
        KC__GEN_SCHEMA_N_PIECES,
} kc__gen_schema_piece;

typedef struct kc__gen_schema kc__gen_schema;

typedef struct kc__gen_schema_property {
    kc_str name;
    kc__gen_schema *schema;
} kc__gen_schema_property;

/* A rule of x-kubernetes-validations. */
typedef struct kc__gen_schema_cel_rule {
    kc_str json;
    kc__gen_at at; /* Of its marker. */
} kc__gen_schema_cel_rule;

struct kc__gen_schema {
    kc_str pieces[KC__GEN_SCHEMA_N_PIECES];
    kc__gen_schema *items, *values; /* Items of an array; values of a map (additionalProperties). */
    kc__gen_schema_property *properties;
    size_t n_properties;
    kc_str *required; /* Sorted. */
    size_t n_required;
    kc__gen_schema_cel_rule *rules;
    size_t n_rules;
    kc__gen_schema **all_of;
    size_t n_all_of;
};

kc__gen_schema *kc__gen_schema_new(kc_arena *arena);
/* Set pieces from text, which becomes a JSON string, or from JSON. */
void kc__gen_schema_set_text(kc__gen_schema *schema, kc__gen_schema_piece piece, kc_str text,
                             kc_arena *arena);
void kc__gen_schema_set_json(kc__gen_schema *schema, kc__gen_schema_piece piece, kc_str json,
                             kc_arena *arena);

void kc__gen_schema_add_property(kc__gen_schema *schema, kc_str name, kc__gen_schema *property,
                                 kc_arena *arena);
void kc__gen_schema_require(kc__gen_schema *schema, kc_str name, kc_arena *arena);
void kc__gen_schema_add_rule(kc__gen_schema *schema, kc_str json, kc__gen_at at, kc_arena *arena);

/* Merges the schema of a named type with that of a field. Neither is changed. False if their types
 * contradict each other. */
bool kc__gen_schema_combine(const kc__gen_schema *type, const kc__gen_schema *field,
                            kc__gen_schema **ret, kc_arena *arena);
/* Adds the members of `from`, as for an inlined struct. */
bool kc__gen_schema_merge_into(kc__gen_schema *to, const kc__gen_schema *from, kc_arena *arena);

/* Cuts descriptions to `most` bytes, at the end of a sentence if possible; 0: drops them. Returns
 * new schemas. */
kc__gen_schema *kc__gen_schema_cut(const kc__gen_schema *schema, size_t most, kc_arena *arena);

/* Appends it as JSON. */
void kc__gen_schema_write(const kc__gen_schema *schema, kc_buf *out);

#endif
