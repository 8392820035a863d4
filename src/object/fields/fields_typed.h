/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fields_typed.h: operations on values of a type: validation, sets of fields, comparison, merge.
 *
 * Values are parsed JSON (view.h). Results are values, too: they are allocated in the caller's
 * arena and share the strings of their inputs, which must live as long. An unchanged result is the
 * input itself. Only kc__fields_validate and kc__fields_compare fail; what the others do with
 * values that are not valid for the type is what upstream does.
 *
 * Time is linear in the size of the values, n log n for associative lists and for the members of
 * objects. Recursion is as deep as the values: at most KC_JSON_MAX_DEPTH levels. Functions may be
 * called by any number of threads, each with its own arena.
 */
#ifndef KC_FIELDS_TYPED_H
#define KC_FIELDS_TYPED_H

#include "object/fields/fields_set.h"
#include "object/fields/fields_type.h"

/* Errors of one validation beyond this number, or after this many bytes of text, are not listed:
 * paths contain keys, which can be long. */
enum { KC__FIELDS_MAX_ERRORS = 64, KC__FIELDS_MAX_ERROR_BYTES = 64 * 1024 };

/*
 * Checks a value against its type. `allow_duplicates` permits items with equal keys in associative
 * lists, as for stored objects. Fails with KC_INVALID; the message lists the errors as upstream
 * does: ".spec.ports: duplicate entries for key [port=80]", or several lines after "errors:".
 */
int kc__fields_validate(const kc__fields_type *type, const kc_value *value, bool allow_duplicates,
                        kc_error *err) KC_MUST_CHECK;

/* The set of all fields that a value has. */
const kc__fields_set *kc__fields_set_of_value(kc_arena *arena, const kc__fields_type *type,
                                              const kc_value *value);

/* A path is in at most one of the sets. */
typedef struct kc__fields_comparison {
    const kc__fields_set *added, *removed, *modified;
} kc__fields_comparison;

/* Neither value is NULL. Fails with KC_INVALID when an associative list has an item without a valid
 * key. */
int kc__fields_compare(kc_arena *arena, const kc__fields_type *type, const kc_value *from,
                       const kc_value *to, kc__fields_comparison *ret, kc_error *err) KC_MUST_CHECK;

/* The same for a new object, which may be invalid for its type (KC_INVALID, with the message of
 * kc__fields_validate): `empty` is a valid object, and both are objects. Costs less than validating
 * it first. */
int kc__fields_compare_new(kc_arena *arena, const kc__fields_type *type, const kc_value *empty,
                           const kc_value *value, kc__fields_comparison *ret,
                           kc_error *err) KC_MUST_CHECK;

typedef struct kc__fields_merge_notes {
    /* The configuration has a null or an empty container where the live object has content, or an
     * associative list has duplicates, or other items with several keys or keys with defaults. If
     * not set, removing fields without an owner removes no field of the configuration (prune.c). */
    bool uncertain;
} kc__fields_merge_notes;

/* The live object with the fields of the configuration. Members keep the order of the live object;
 * new ones follow. Returns `live` itself when nothing changes. ret_notes may be NULL. */
const kc_value *kc__fields_merge(kc_arena *arena, const kc__fields_type *type, const kc_value *live,
                                 const kc_value *config, kc__fields_merge_notes *ret_notes);

/* The value without the fields of the set, and all that is in them. Containers that become empty
 * become null. */
const kc_value *kc__fields_remove(kc_arena *arena, const kc__fields_type *type,
                                  const kc_value *value, const kc__fields_set *set);
/* Only the leaves of the set. Null when there are none. No caller yet. */
const kc_value *kc__fields_extract(kc_arena *arena, const kc__fields_type *type,
                                   const kc_value *value, const kc__fields_set *set);

/* A set recorded under an older schema, under this one: paths into what is now atomic become the
 * path of the atomic value. Returns `set` itself when nothing changes. */
const kc__fields_set *kc__fields_reconcile(kc_arena *arena, const kc__fields_type *type,
                                           const kc__fields_set *set);
/* Adds each field that has a field of its own in the type and paths below it. */
const kc__fields_set *kc__fields_ensure_named(kc_arena *arena, const kc__fields_type *type,
                                              const kc__fields_set *set);

/* Equal values: numbers by their value, objects in any order. NULL equals only NULL. */
bool kc__fields_equal(const kc_value *a, const kc_value *b);

#endif
