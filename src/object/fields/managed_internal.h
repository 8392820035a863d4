/* SPDX-License-Identifier: Apache-2.0 */
/* managed_internal.h: what the files about metadata.managedFields share. */
#ifndef KC_FIELDS_MANAGED_INTERNAL_H
#define KC_FIELDS_MANAGED_INTERNAL_H

#include "object/fields/fields_internal.h"
#include "object/fields/fields_managed.h"

/* The identifier of an entry, in the arena. */
kc_str kc__fields_owner_id(kc_arena *arena, const kc__fields_owner *owner);
/* Sets the time from RFC 3339 text; none if it is not valid. */
void kc__fields_owner_set_time(kc_arena *arena, kc__fields_owner *owner, kc_str time);
/* Order of updaters, oldest first. */
int kc__fields_owner_cmp_age(const kc__fields_owner *a, const kc__fields_owner *b);

/* Merges the oldest entries of updates until KC__FIELDS_MAX_UPDATERS are left. */
void kc__fields_managed_cap(kc__fields_managed *managed);
/* Sets KC_CONFLICT with a message and a cause for each field. */
int kc__fields_conflict_error(const kc__fields_managed *managed,
                              const kc__fields_conflict *conflicts, size_t n, kc_error *err);

#endif
