/* SPDX-License-Identifier: Apache-2.0 */
/* merge_internal.h: what merge.c and merge_list.c share. */
#ifndef KC_FIELDS_MERGE_INTERNAL_H
#define KC_FIELDS_MERGE_INTERNAL_H

#include "object/fields/fields_internal.h"
#include "object/fields/fields_typed.h"

typedef struct kc__fields_merging {
    kc_arena *arena;
    kc__fields_out out;
    bool changed; /* The result differs from the live object. */
    kc__fields_merge_notes notes;
} kc__fields_merging;

/* Writes the merge of two values, of which one may be NULL. */
void kc__fields_merge_values(kc__fields_merging *merging, const kc__fields_type *type,
                             const kc_value *live, const kc_value *config);
/* The same for associative lists, of which not both are empty. */
void kc__fields_merge_lists(kc__fields_merging *merging, const kc__fields_type *type,
                            const kc_value *live, const kc_value *config);

#endif
