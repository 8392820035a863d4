/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema.h: structural schemas: OpenAPI v3 compiled once and applied to each write.
 *
 *     kc_auto(kc_schema) *robot = kc_schema_compile(openapi, NULL, err);
 *     …
 *     if (kc_schema_would_prune(robot, value, NULL) || kc_schema_would_default(robot, value)) {
 *         kc_auto(kc_edit) *edit = kc_edit_of_value(value);
 *         kc_schema_prune(robot, edit, NULL);
 *         if (kc_schema_default(robot, edit, NULL, err) < 0)
 *             return NULL;
 *         …
 *     }
 *     kc_scoped(kc_field_errors) errors = {0};
 *     kc_schema_validate(robot, value, NULL, &errors);
 *     kc_schema_validate_lists(robot, value, NULL, &errors);
 *     return kc_field_errors_to_error(&errors, group, kind, name, err);
 *
 * A kc_schema is one node of a compiled schema; kc_schema_compile returns the root. Nodes are
 * immutable, and any number of threads may use them. The root is reference-counted; all nodes live
 * as long as the root. Every function accepts a NULL schema, which describes nothing and allows
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

/* ---- compilation ---- */

typedef struct kc_schema_opts {
    /* Targets of "$ref": "#/definitions/NAME" and "#/components/schemas/NAME". Defaults to none: a
     * "$ref" is then an error, as in a CRD. The result keeps a reference. */
    const kc_schema_defs *defs;
    size_t max_nodes; /* Maximum number of schemas, subschemas included. Defaults to 100,000. */
} kc_schema_opts;

/*
 * Compiles the content of openAPIV3Schema. opts may be NULL. Stores equal subschemas once and drops
 * titles, descriptions and examples: a schema takes some kilobytes. Ignores unknown keywords. NULL
 * on error (KC_INVALID, with the path): a keyword with a value of the wrong type, an unknown type,
 * an invalid pattern, a limit. Does not check the structural rules of CRDs: see kc_schema_check.
 */
kc_schema *kc_schema_compile(const kc_value *openapi, const kc_schema_opts *opts, kc_error *err);
kc_schema *kc_schema_ref(const kc_schema *root);
kc_schema *kc_schema_unref(const kc_schema *root);
KC_AUTO_DEFINE(kc_schema, kc_schema_unref)

/* Bytes of memory, without the programs of patterns, which are compiled on first use. Takes a
 * root. */
size_t kc_schema_memory(const kc_schema *root);

/*
 * Compiles named schemas that refer to each other, also recursively: `definitions` is an object of
 * schemas, such as components.schemas of an OpenAPI document. Each definition is one node that all
 * references share. NULL on error.
 */
kc_schema_defs *kc_schema_defs_compile(const kc_value *definitions, const kc_schema_opts *opts,
                                       kc_error *err);
kc_schema_defs *kc_schema_defs_ref(const kc_schema_defs *defs);
kc_schema_defs *kc_schema_defs_unref(const kc_schema_defs *defs);
KC_AUTO_DEFINE(kc_schema_defs, kc_schema_defs_unref)
/* A definition by name; NULL when there is none. Lives as long as the definitions. */
const kc_schema *kc_schema_defs_get(const kc_schema_defs *defs, kc_str name);
size_t kc_schema_defs_memory(const kc_schema_defs *defs);

/* ---- rules for CRDs ---- */

/* Checks of CEL rules, which a layer above implements (kc/cel_rules.h). */
typedef struct kc_schema_rule_checks {
    /* Evaluates the rules of a default that is otherwise valid. `json` is the schema with the
     * default, `path` that of the default. */
    void (*check_default)(const kc_value *json, const kc_schema *schema, bool is_resource,
                          const char *path, kc_field_errors *errors, void *user);
    /* Checks the rules of a structural schema with valid defaults. Errors of the list from
     * `first_error` on are about keywords. */
    void (*check_rules)(const kc_value *openapi, const kc_schema *schema, const char *path,
                        size_t first_error, kc_field_errors *errors, void *user);
    void *user;
} kc_schema_rule_checks;

typedef struct kc_schema_check_opts {
    const char *base; /* Path of the schema. Defaults to "spec.validation.openAPIV3Schema". */
    bool status_subresource; /* The version has a status subresource: some keywords are then
                              * forbidden at the root. */
    const kc_schema_rule_checks *rules; /* Defaults to none: only the form of rules is checked. */
} kc_schema_check_opts;

/*
 * Adds an error for each rule that the schema of a CRD breaks: allowed OpenAPI keywords, structural
 * form, valid defaults without unknown fields that do not turn an empty object into more than
 * KC_SCHEMA_DEFAULT_MAX_BYTES, consistent list and map types. Errors and their messages are those
 * of apiextensions-apiserver. CEL rules (x-kubernetes-validations) are checked for form, and by
 * opts->rules. True when nothing was added. opts may be NULL.
 */
bool kc_schema_check(const kc_value *openapi, const kc_schema_check_opts *opts,
                     kc_field_errors *errors);

/* Checks only the structural rules, for a stored schema at `base` that was not checked. True when
 * nothing was added. */
bool kc_schema_check_structural(const kc_value *openapi, const char *base, kc_field_errors *errors);

/* ---- processing of an object, in this order ---- */

typedef struct kc_schema_walk_opts {
    bool fragment; /* The value is a part of an object. By default it is a whole object, whose
                    * apiVersion, kind and metadata are never unknown. */
} kc_schema_walk_opts;

typedef struct kc_schema_unknown_opts {
    bool fragment;
    bool in_order; /* In the order of the object. Defaults to sorted, as for a CRD. */
    size_t limit;  /* Maximum number of paths. Defaults to 100. */
} kc_schema_unknown_opts;

/* Adds the path of each field that is not in the schema: spec.foo, spec.containers[0].bar. Returns
 * their number, including those beyond the limit. opts may be NULL. */
size_t kc_schema_unknown(const kc_schema *schema, const kc_value *value,
                         const kc_schema_unknown_opts *opts, kc_paths *paths);

/* Removes the unknown fields of the edit's tree. opts may be NULL. */
void kc_schema_prune(const kc_schema *schema, kc_edit *edit, const kc_schema_walk_opts *opts);
bool kc_schema_would_prune(const kc_schema *schema, const kc_value *value,
                           const kc_schema_walk_opts *opts);

/* Removes null members where the schema neither allows null nor has a default: such a null means
 * "not set". Call it after pruning and before defaulting. */
void kc_schema_drop_nulls(const kc_schema *schema, kc_edit *edit);
bool kc_schema_would_drop_nulls(const kc_schema *schema, const kc_value *value);

/* Maximum size that defaults may add to one object: the maximum size of a stored object. */
#define KC_SCHEMA_DEFAULT_MAX_BYTES  ((size_t)3 << 19)
#define KC_SCHEMA_DEFAULT_MAX_VALUES ((size_t)200 * 1000)

/* The budget of one call of kc_schema_default. */
typedef struct kc_schema_default_opts {
    size_t max_bytes;  /* Bytes of JSON text added. Defaults to KC_SCHEMA_DEFAULT_MAX_BYTES. */
    size_t max_values; /* Values and names added. Defaults to KC_SCHEMA_DEFAULT_MAX_VALUES. */
} kc_schema_default_opts;

/*
 * Adds defaults for absent members, and for nulls where null is not allowed. opts may be NULL. A
 * small schema can produce gigabytes (lists in the defaults of list items), so the budget is
 * checked before a default is copied. Negative when the budget is exceeded (KC_TOO_LARGE, with one
 * cause that names the field); the edit is then incomplete and can only be freed.
 */
int kc_schema_default(const kc_schema *schema, kc_edit *edit, const kc_schema_default_opts *opts,
                      kc_error *err) KC_MUST_CHECK;
bool kc_schema_would_default(const kc_schema *schema, const kc_value *value);

typedef struct kc_schema_validate_opts {
    const char *base; /* Path prefix of every field, such as "status". Defaults to none. */
    /* The value that is replaced. Errors about unchanged parts are ignored, so that an object that
     * was valid under an older schema can be changed elsewhere. Parts correspond by the names of
     * members and, in lists of type map, by their keys. Defaults to none. Not for
     * kc_schema_validate_lists. */
    const kc_value *old;
} kc_schema_validate_opts;

/*
 * Adds an error for each violation, with Kubernetes' messages. True when nothing was added; that
 * path allocates nothing. Time is bounded: patterns by a match limit, anyOf and oneOf by a budget
 * of visited values; exceeding either is an error. opts may be NULL. Does not evaluate
 * x-kubernetes-validations (kc/cel_rules.h).
 */
bool kc_schema_validate(const kc_schema *schema, const kc_value *value,
                        const kc_schema_validate_opts *opts, kc_field_errors *errors);

/* Adds an error for each duplicate element of a list of type set or map. True when nothing was
 * added. */
bool kc_schema_validate_lists(const kc_schema *schema, const kc_value *value,
                              const kc_schema_validate_opts *opts, kc_field_errors *errors);

/* ---- inspection of a schema: for patches, managed fields, CEL ---- */

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

/* The schema of a member: from properties, else additionalProperties, else NULL. */
const kc_schema *kc_schema_field(const kc_schema *schema, kc_str name);
/* Of properties only. */
const kc_schema *kc_schema_property(const kc_schema *schema, kc_str name);
const kc_schema *kc_schema_additional(const kc_schema *schema);
const kc_schema *kc_schema_items(const kc_schema *schema);
/* Iterates over the properties, in no particular order; NULL after the last. *at starts as 0. */
const kc_schema *kc_schema_property_next(const kc_schema *schema, size_t *at, kc_str *ret_name);

/* "object", "array", "string", "integer", "number", "boolean", "integer,string" for an
 * int-or-string; "" without a type. */
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
/* A set of KC_STRATEGY_*; 0 without one. */
unsigned kc_schema_patch_strategy(const kc_schema *schema);
/* x-kubernetes-patch-merge-key; empty without one. */
kc_str kc_schema_patch_merge_key(const kc_schema *schema);
/* The default, or NULL. */
const kc_value *kc_schema_default_value(const kc_schema *schema);
/* Bounds of a value's size; -1 without one. */
int64_t kc_schema_max_length(const kc_schema *schema);
int64_t kc_schema_max_items(const kc_schema *schema);
int64_t kc_schema_max_properties(const kc_schema *schema);
/* The format as written; "" without one. */
const char *kc_schema_format(const kc_schema *schema);
/* The array of `enum`, or NULL. */
const kc_value *kc_schema_enum(const kc_schema *schema);
/* x-kubernetes-validations, unchanged: an array of rules, or NULL. */
const kc_value *kc_schema_validations(const kc_schema *schema);

#endif
