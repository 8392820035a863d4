/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema.h: structural schemas: OpenAPI v3 compiled once, then applied to each write.
 *
 *     kc_auto(kc_schema) *robot = kc_schema_compile(openapi, NULL, err);
 *     ...
 *     if (kc_schema_would_prune(robot, value, NULL) || kc_schema_would_default(robot, value)) {
 *         kc_auto(kc_edit) *edit = kc_edit_of_value(value);
 *         kc_schema_prune(robot, edit, NULL);
 *         kc_schema_default(robot, edit);
 *         ...
 *     }
 *     kc_scoped(kc_field_errors) errors = {0};
 *     kc_schema_validate(robot, value, NULL, &errors);
 *     kc_schema_validate_lists(robot, value, NULL, &errors);
 *     return kc_field_errors_to_error(&errors, group, kind, name, err);
 *
 * A kc_schema is one node of a compiled schema; what kc_schema_compile returns is its root. Nodes
 * are immutable, and any number of threads may use them. The root is counted; nodes reached from it
 * live as long as it does. Every function takes a NULL schema, which knows nothing and allows
 * everything (but pruning against NULL removes every field of a fragment).
 */
#ifndef KC_SCHEMA_H
#define KC_SCHEMA_H

#include "kc/edit.h"
#include "kc/field_error.h"
#include "kc/json.h"
#include "kc/view.h"

typedef struct kc_schema kc_schema;
typedef struct kc_schema_defs kc_schema_defs;

/* ---- Compiling ---- */

typedef struct kc_schema_opts {
    /* Where "$ref" leads: "#/definitions/NAME" and "#/components/schemas/NAME". Defaults to none:
     * a "$ref" is then an error, as in a CustomResourceDefinition. The result keeps a reference. */
    const kc_schema_defs *defs;
    size_t max_nodes; /* Of the schema, each subschema counted. Defaults to 100,000. */
} kc_schema_opts;

/*
 * Compiles the content of openAPIV3Schema. opts may be NULL. Equal subschemas are stored once, and
 * titles, descriptions and examples are not kept: a schema takes some kilobytes. Keywords it does
 * not know are ignored. NULL on error (KC_INVALID, with the place): a keyword with a value of the
 * wrong type, an unknown type, a pattern that is none, a limit. It does not ask for the structural
 * rules of CRDs: see kc_schema_check.
 */
kc_schema *kc_schema_compile(const kc_value *openapi, const kc_schema_opts *opts, kc_error *err);
kc_schema *kc_schema_ref(const kc_schema *root);
kc_schema *kc_schema_unref(const kc_schema *root);
KC_AUTO_DEFINE(kc_schema, kc_schema_unref)

/* Bytes it holds, without machine code made for patterns once they are used. Takes a root. */
size_t kc_schema_memory(const kc_schema *root);

/*
 * Named schemas that refer to each other, recursion included, compiled together: `definitions` is
 * an object of schemas, such as components.schemas of an OpenAPI document. Each definition is a
 * node that all who refer to it share. NULL on error.
 */
kc_schema_defs *kc_schema_defs_compile(const kc_value *definitions, const kc_schema_opts *opts,
                                       kc_error *err);
kc_schema_defs *kc_schema_defs_ref(const kc_schema_defs *defs);
kc_schema_defs *kc_schema_defs_unref(const kc_schema_defs *defs);
KC_AUTO_DEFINE(kc_schema_defs, kc_schema_defs_unref)
/* One by name; NULL when there is none. Lives as long as the definitions do. */
const kc_schema *kc_schema_defs_get(const kc_schema_defs *defs, kc_str name);
size_t kc_schema_defs_memory(const kc_schema_defs *defs);

/* ---- The rules of CRDs ---- */

typedef struct kc_schema_check_opts {
    const char *base;        /* Path of the schema. Defaults to
                                "spec.validation.openAPIV3Schema". */
    bool status_subresource; /* The version has one: some keywords are then refused at the root. */
} kc_schema_check_opts;

/*
 * Adds an error for each rule the schema of a CRD breaks: what OpenAPI keywords may be used, that
 * it is structural, that its defaults are valid and have no unknown fields, that list and map types
 * fit. Errors and their words are those of apiextensions-apiserver. Rules of CEL
 * (x-kubernetes-validations) are checked for form only. True when nothing was added. opts may be
 * NULL.
 */
bool kc_schema_check(const kc_value *openapi, const kc_schema_check_opts *opts,
                     kc_field_errors *errors);

/* The structural rules alone, about a schema at `base`: for one that was stored without them. True
 * when nothing was added. */
bool kc_schema_check_structural(const kc_value *openapi, const char *base, kc_field_errors *errors);

/* ---- What happens to an object, in this order ---- */

typedef struct kc_schema_walk_opts {
    bool fragment; /* The value is a part of an object. Defaults to a whole one, whose apiVersion,
                      kind and metadata are never unknown. */
} kc_schema_walk_opts;

typedef struct kc_schema_unknown_opts {
    bool fragment;
    bool in_order; /* As they stand in the object. Defaults to sorted, as a CRD's are reported. */
    size_t limit;  /* Paths kept. Defaults to 100. */
} kc_schema_unknown_opts;

/* Adds the path of each field the schema does not know: spec.foo, spec.containers[0].bar. Returns
 * how many there are, kept or not. opts may be NULL. */
size_t kc_schema_unknown(const kc_schema *schema, const kc_value *value,
                         const kc_schema_unknown_opts *opts, kc_paths *paths);

/* Removes those fields, from the edit's root down. opts may be NULL. */
void kc_schema_prune(const kc_schema *schema, kc_edit *edit, const kc_schema_walk_opts *opts);
bool kc_schema_would_prune(const kc_schema *schema, const kc_value *value,
                           const kc_schema_walk_opts *opts);

/* Removes members that are null where the schema neither allows null nor has a default: a client
 * that writes such a null means "not set". Belongs between pruning and defaults. */
void kc_schema_drop_nulls(const kc_schema *schema, kc_edit *edit);
bool kc_schema_would_drop_nulls(const kc_schema *schema, const kc_value *value);

/* Adds defaults for absent members, and for nulls where null is not allowed. */
void kc_schema_default(const kc_schema *schema, kc_edit *edit);
bool kc_schema_would_default(const kc_schema *schema, const kc_value *value);

typedef struct kc_schema_validate_opts {
    const char *base; /* Path before every field, such as "status". Defaults to none. */
    /* What the value replaces. Errors about parts that are the same in it are forgiven: an object
     * that was valid once can still be changed elsewhere. Parts are the same thing by the names of
     * members and, in lists of type map, by their keys. Defaults to nothing. Not for lists. */
    const kc_value *old;
} kc_schema_validate_opts;

/*
 * Adds an error for each thing wrong with the value, in Kubernetes' words. True when nothing was
 * added; that way allocates nothing. Time is bounded: patterns by a match limit, anyOf and oneOf by
 * a budget of values looked at, and reaching either is an error. opts may be NULL. The rules of
 * x-kubernetes-validations are not evaluated: CEL comes after this and after the lists, and only
 * when both found nothing.
 */
bool kc_schema_validate(const kc_schema *schema, const kc_value *value,
                        const kc_schema_validate_opts *opts, kc_field_errors *errors);

/* Adds an error for each repeated element of a list of type set or map. True when nothing was
 * added. */
bool kc_schema_validate_lists(const kc_schema *schema, const kc_value *value,
                              const kc_schema_validate_opts *opts, kc_field_errors *errors);

/* ---- Looking into a schema: for patches, managed fields, CEL ---- */

typedef enum kc_list_type {
    KC_LIST_UNSET, /* Treated as atomic. */
    KC_LIST_ATOMIC,
    KC_LIST_SET,
    KC_LIST_MAP,
} kc_list_type;

typedef enum kc_map_type {
    KC_MAP_UNSET, /* Treated as granular. */
    KC_MAP_GRANULAR,
    KC_MAP_ATOMIC,
} kc_map_type;

/* x-kubernetes-patch-strategy, a set. */
enum { KC_STRATEGY_MERGE = 1, KC_STRATEGY_REPLACE = 2, KC_STRATEGY_RETAIN_KEYS = 4 };

/* The schema of a member: of properties, else of additionalProperties, else NULL. */
const kc_schema *kc_schema_field(const kc_schema *schema, kc_str name);
/* Of properties only. */
const kc_schema *kc_schema_property(const kc_schema *schema, kc_str name);
const kc_schema *kc_schema_additional(const kc_schema *schema);
const kc_schema *kc_schema_items(const kc_schema *schema);
/* Properties by number, in no particular order; NULL beyond the last. */
const kc_schema *kc_schema_property_at(const kc_schema *schema, size_t index, kc_str *ret_name);

/* "object", "array", "string", "integer", "number", "boolean", "integer,string" for an
 * int-or-string; "" when it has none. */
const char *kc_schema_type(const kc_schema *schema);
bool kc_schema_nullable(const kc_schema *schema);
bool kc_schema_preserves_unknown(const kc_schema *schema);
bool kc_schema_embeds_resource(const kc_schema *schema);
bool kc_schema_int_or_string(const kc_schema *schema);
bool kc_schema_requires(const kc_schema *schema, kc_str name);

kc_list_type kc_schema_list_type(const kc_schema *schema);
kc_map_type kc_schema_map_type(const kc_schema *schema);
/* x-kubernetes-list-map-keys: an array of strings, or NULL. */
const kc_value *kc_schema_list_map_keys(const kc_schema *schema);
/* A set of KC_STRATEGY_*; 0 when it has none. */
unsigned kc_schema_patch_strategy(const kc_schema *schema);
/* x-kubernetes-patch-merge-key; empty when it has none. */
kc_str kc_schema_patch_merge_key(const kc_schema *schema);
/* The default, or NULL. */
const kc_value *kc_schema_default_value(const kc_schema *schema);
/* x-kubernetes-validations as it was written: an array of rules, or NULL. */
const kc_value *kc_schema_validations(const kc_schema *schema);

#endif
