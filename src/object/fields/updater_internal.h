/* SPDX-License-Identifier: Apache-2.0 */
/* updater_internal.h: what updater.c, prune.c and prune_scope.c share. */
#ifndef KC_FIELDS_UPDATER_INTERNAL_H
#define KC_FIELDS_UPDATER_INTERNAL_H

#include "object/fields/fields_updater.h"

/* Converts a value to a version and validates it; a value of that version is returned as it is. */
kc__fields_converted kc__fields_convert_to(kc_arena *arena, const kc__fields_updater *updater,
                                           const kc__fields_typed *from, kc_str version,
                                           kc__fields_typed *ret, kc_error *err);

typedef struct kc__fields_pruning {
    kc_arena *arena;
    const kc__fields_updater *updater;
    const kc__fields_managers *managers; /* With the new set of the applying manager. */
    const kc__fields_set *last;          /* The fields that the manager applied last time … */
    kc_str last_version;                 /* … in this version. */
    const kc__fields_set *set;           /* The fields of the configuration. */
    kc_str version;                      /* Of the configuration. */
    bool uncertain;                      /* kc__fields_merge_notes. */
} kc__fields_pruning;

/*
 * Removes from *merged the fields that the manager applied last time and that nothing owns any
 * more. Negative when a conversion fails.
 */
int kc__fields_prune(const kc__fields_pruning *pruning, kc__fields_typed *merged,
                     kc_error *err) KC_MUST_CHECK;

/* ---- prune_scope.c ---- */

/*
 * The part of a merged object that pruning has to look at: the object reduced to it, and its paths,
 * of which a member is a whole branch; none when the manager gives up nothing. Both in the arena.
 * For managers of one version and a merge that is not uncertain. False when the whole object is to
 * be pruned.
 */
bool kc__fields_prune_scope(const kc__fields_pruning *pruning, const kc__fields_typed *merged,
                            const kc_value **ret_value, const kc__fields_set **ret_scope);
/* The paths of a set that are in a scope. */
const kc__fields_set *kc__fields_set_in_scope(kc_arena *arena, const kc__fields_set *set,
                                              const kc__fields_set *scope);

#endif
