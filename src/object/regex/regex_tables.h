/* SPDX-License-Identifier: Apache-2.0 */
/* regex_tables.h: the form of the generated tables of Unicode (regex_tables.c). */
#ifndef KC_REGEX_TABLES_H
#define KC_REGEX_TABLES_H

#include "kc/mem.h"

typedef struct kc__regex_table {
    const char *name;
    uint16_t from, n; /* In `numbers`. */
} kc__regex_table;

typedef struct kc__regex_fold {
    uint32_t lo, hi;
    int32_t delta; /* 0: even and odd positions are pairs. */
} kc__regex_fold;

typedef struct kc__regex_unicode {
    const uint16_t *numbers;
    const kc__regex_table *tables; /* Sorted by name. */
    size_t n_tables;
    const kc__regex_fold *folds; /* Sorted. */
    size_t n_folds;
} kc__regex_unicode;

extern const kc__regex_unicode kc__regex_unicode_tables;

#endif
