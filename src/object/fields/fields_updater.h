/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fields_updater.h: who owns which fields, before and after a write.
 *
 * Managers own sets of fields. An update gives the fields it adds or changes to its manager and
 * takes them from all others. An apply merges a configuration into the live object: it owns exactly
 * the fields of the configuration, shares those it does not change, conflicts with the owners of
 * those it changes (or takes them, with force), and removes those it owned before and that have no
 * other owner.
 *
 * Nothing here knows metadata.managedFields: see fields_managed.h. Results live in the caller's
 * arena and share the memory of the inputs. Any number of threads may call the functions, each with
 * its own arena.
 */
#ifndef KC_FIELDS_UPDATER_H
#define KC_FIELDS_UPDATER_H

#include "object/fields/fields_typed.h"

typedef struct kc__fields_manager {
    kc_str id; /* Unique among the managers of an object. */
    kc_str version;
    const kc__fields_set *set;
    bool applied;
} kc__fields_manager;

/* Managers in any order. */
typedef struct kc__fields_managers {
    kc__fields_manager *items;
    size_t n;
} kc__fields_managers;

/* A value, which is an object, with its version and its type in that version. */
typedef struct kc__fields_typed {
    const kc_value *value;
    const kc__fields_type *type;
    kc_str version;
    bool unchecked; /* A new object that may be invalid for its type: an update checks it. */
} kc__fields_typed;

typedef enum kc__fields_converted {
    KC__FIELDS_CONVERTED,
    KC__FIELDS_NO_VERSION, /* The kind has no such version (any more). */
    KC__FIELDS_NOT_CONVERTED,
} kc__fields_converted;

/* Converts a value to another version; allocates in the arena. Sets err only with
 * KC__FIELDS_NOT_CONVERTED. The updater validates the result. */
typedef kc__fields_converted kc__fields_convert(kc_arena *arena, const kc__fields_typed *from,
                                                kc_str version, kc__fields_typed *ret,
                                                kc_error *err, void *user);

/* Fields that a request cannot own in a version, with all that is in them (reset fields). */
typedef struct kc__fields_ignored {
    kc_str version;
    const kc__fields_set *set;
    /* Instead of the set: patterns of the only fields that it can own (kc__fields_set_only). */
    const char *const *only;
    size_t n_only;
} kc__fields_ignored;

typedef struct kc__fields_updater {
    kc__fields_convert *convert; /* Defaults to: the kind has one version. */
    void *user;                  /* Of convert. */
    const kc__fields_ignored *ignored;
    size_t n_ignored;
} kc__fields_updater;

typedef struct kc__fields_conflict {
    kc_str manager; /* The id. */
    const kc__fields_set *set;
} kc__fields_conflict;

typedef struct kc__fields_result {
    const kc_value *value; /* Of an apply: the new object, or NULL when it equals the live one. */
    kc__fields_managers managers;
    /* An apply that is not forced and has conflicts; sorted by manager. `value` and `managers` are
     * then not set. */
    const kc__fields_conflict *conflicts;
    size_t n_conflicts;
} kc__fields_result;

/*
 * The managers after `manager` has changed `live` to `object`, both valid for their type and of the
 * same version. An object that is `unchecked` may be invalid, and `live` is then an empty object.
 * ret->value is not set. Negative when a conversion fails, or with KC_INVALID.
 */
int kc__fields_update(kc_arena *arena, const kc__fields_updater *updater,
                      const kc__fields_typed *live, const kc__fields_typed *object,
                      const kc__fields_managers *managers, kc_str manager, kc__fields_result *ret,
                      kc_error *err) KC_MUST_CHECK;
/*
 * The object and its managers after `manager` has applied `config`. Both values are valid for their
 * type, the configuration without duplicates, and of the same version. Returns 0 with conflicts,
 * too; negative when a conversion fails.
 */
int kc__fields_apply(kc_arena *arena, const kc__fields_updater *updater,
                     const kc__fields_typed *live, const kc__fields_typed *config,
                     const kc__fields_managers *managers, kc_str manager, bool force,
                     kc__fields_result *ret, kc_error *err) KC_MUST_CHECK;

#endif
