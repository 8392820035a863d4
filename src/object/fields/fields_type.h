/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fields_type.h: types: how the fields of a kind of object merge.
 *
 * A type says which of scalar, list and object a value may be (one, several, or all for untyped
 * values), and for containers, whether their content has one owner (atomic) or each part has its
 * own: an associative list identifies its items by keys (a map) or by value (a set).
 *
 *     type ─┬─ scalar: numeric, string, boolean, untyped
 *           ├─ list:   atomic or associative, keys ──▶ items
 *           └─ object: granular or atomic ───────────▶ fields, rest
 *
 * Types form a graph and may be recursive. A kc__fields_types owns the types of one schema. It is
 * filled by one thread, by hand (kc__fields_type_…) or from OpenAPI (kc__fields_types_add_openapi),
 * then finished; after that it is immutable, reference-counted, and shared by threads.
 *
 *     kc__fields_types *types = kc__fields_types_new();
 *     kc__fields_type *port = kc__fields_type_new(types, KC_STR("Port"));
 *     kc__fields_type_set_object(port, NULL, KC__FIELDS_GRANULAR);
 *     kc__fields_type_add_field(types, port, KC_STR("port"), kc__fields_scalar_type(types,
 *                               KC__FIELDS_NUMERIC), NULL);
 *     kc__fields_types_finish(types);
 */
#ifndef KC_FIELDS_TYPE_H
#define KC_FIELDS_TYPE_H

#include "kc/arena.h"
#include "kc/error.h"
#include "kc/view.h"

typedef struct kc__fields_types kc__fields_types;
typedef struct kc__fields_type kc__fields_type;

typedef enum kc__fields_scalar {
    KC__FIELDS_NO_SCALAR,
    KC__FIELDS_NUMERIC,
    KC__FIELDS_STRING,
    KC__FIELDS_BOOLEAN,
    KC__FIELDS_UNTYPED, /* Any scalar. */
} kc__fields_scalar;

typedef enum kc__fields_relation {
    KC__FIELDS_GRANULAR,    /* Objects: each member has its own owners. */
    KC__FIELDS_ATOMIC,      /* The content has one owner. */
    KC__FIELDS_ASSOCIATIVE, /* Lists: items are identified by keys, or by value without keys. */
} kc__fields_relation;

/* A field of an object type. */
typedef struct kc__fields_field {
    kc_str name;
    const kc__fields_type *type;
    const kc_value *default_value; /* Or NULL. */
    uint32_t hash;
} kc__fields_field;

/* A key of an associative list. */
typedef struct kc__fields_list_key {
    kc_str name;
    const kc_value *default_value; /* Of the key's field in the items; NULL for none. */
} kc__fields_list_key;

typedef struct kc__fields_table kc__fields_table;

/* Read-only outside src/object/fields. */
struct kc__fields_type {
    kc_str name; /* For messages; empty for an inlined type. */
    uint8_t scalar;
    bool has_list, has_object;
    uint8_t list_relation, object_relation;
    uint8_t shapes;                /* Set of kc__fields_shape; set when the graph is finished. */
    bool untyped_members;          /* An object without fields whose members may be anything. */
    const kc__fields_type *items;  /* Of a list. */
    const kc__fields_type *rest;   /* Of members without a field; NULL: they are not allowed. */
    const kc__fields_table *table; /* The fields; NULL for none. */
    const kc__fields_list_key *keys;
    uint32_t n_keys;
};

/* ---- the graph ---- */

kc__fields_types *kc__fields_types_new(void);
/* NULL is allowed; returns NULL. */
kc__fields_types *kc__fields_types_free(kc__fields_types *types);
KC_AUTO_DEFINE(kc__fields_types, kc__fields_types_free)

/* Completes the graph: tables of fields, defaults of keys. Call once, before any use of a type. */
void kc__fields_types_finish(kc__fields_types *types);
/* A named type, or NULL. Lives as long as the graph. */
const kc__fields_type *kc__fields_types_get(const kc__fields_types *types, kc_str name);
/* For tests. */
size_t kc__fields_types_memory(const kc__fields_types *types);

/* The types of values without a schema: objects are granular, lists atomic. Every graph has its
 * own. */
const kc__fields_type *kc__fields_types_deduced(const kc__fields_types *types);
/* The same, but everything is atomic. */
const kc__fields_type *kc__fields_types_atomic(const kc__fields_types *types);

/* ---- construction by hand: before kc__fields_types_finish ---- */

/* The type `name`, created without content if it does not exist; an empty name makes an inlined
 * type. Names are copied. */
kc__fields_type *kc__fields_type_new(kc__fields_types *types, kc_str name);
/* A shared type of scalars. */
const kc__fields_type *kc__fields_scalar_type(kc__fields_types *types, kc__fields_scalar scalar);
void kc__fields_type_set_list(kc__fields_type *type, const kc__fields_type *items,
                              kc__fields_relation relation);
/* Adds a key of the list. */
void kc__fields_type_add_key(kc__fields_types *types, kc__fields_type *type, kc_str name);
/* `rest` may be NULL. */
void kc__fields_type_set_object(kc__fields_type *type, const kc__fields_type *rest,
                                kc__fields_relation relation);
/* Copies the default, which may be NULL. Of fields with the same name the last counts. */
void kc__fields_type_add_field(kc__fields_types *types, kc__fields_type *type, kc_str name,
                               const kc__fields_type *field, const kc_value *default_value);
/* A copy of a type, made when the graph is finished, whose object (or else list) has another
 * relation. */
const kc__fields_type *kc__fields_type_with_relation(kc__fields_types *types,
                                                     const kc__fields_type *target,
                                                     kc__fields_relation relation);

/* ---- construction from OpenAPI ---- */

typedef struct kc__fields_openapi_opts {
    bool preserve_unknown; /* Unknown members are allowed everywhere. */
    /* Name of the type of metadata: added with apiVersion and kind to each embedded resource.
     * Defaults to none: embedded resources are ordinary objects. */
    kc_str metadata;
} kc__fields_openapi_opts;

/* Maximum number of schemas that one call converts, and of keys of one list. */
enum { KC__FIELDS_MAX_SCHEMAS = 200000, KC__FIELDS_MAX_KEYS = 64 };

/*
 * Adds a type for each definition of an object of OpenAPI schemas (definitions of v2,
 * components.schemas of v3), as kube-openapi's schemaconv does: list types and their keys, map
 * types, patch strategies, preserved unknown fields, references (also in an allOf of one, with
 * another map type beside it). opts may be NULL. Fails with KC_INVALID and upstream's messages. For
 * tests: the server builds types from its tables.
 */
int kc__fields_types_add_openapi(kc__fields_types *types, const kc_value *definitions,
                                 const kc__fields_openapi_opts *opts, kc_error *err) KC_MUST_CHECK;
/* Adds one schema as the type `name`. The schema of a custom resource: apiVersion, kind and (if
 * opts->metadata is set) metadata get their types. */
int kc__fields_types_add_custom(kc__fields_types *types, kc_str name, const kc_value *schema,
                                const kc__fields_openapi_opts *opts, kc_error *err) KC_MUST_CHECK;

/* ---- lookups ---- */

/* The field of an object type, or NULL. */
const kc__fields_field *kc__fields_type_field(const kc__fields_type *type, kc_str name);
/* The type of a member: that of its field, else `rest`; NULL when it is not allowed. */
const kc__fields_type *kc__fields_type_member(const kc__fields_type *type, kc_str name);

#endif
