/* SPDX-License-Identifier: Apache-2.0 */
/* selector_internal.h: shared by the files of the label selector. */
#ifndef KC_SELECTOR_INTERNAL_H
#define KC_SELECTOR_INTERNAL_H

#include "kc/arena.h"
#include "kc/selector.h"

struct kc_selector {
    kc_arena arena; /* Keys, values, requirements. */
    kc_requirement *requirements;
    size_t n;
    size_t n_present;     /* Number of requirements that need the label. */
    uint64_t key_lengths; /* Bit n % 64 is set when a key has n bytes. */
    bool nothing;
};

typedef KC_VEC(kc_requirement) kc__selector_requirements;

/* Appends the problems of a label's key or value, sentences joined by "; ". False if there is one.
 */
bool kc__selector_check_key(kc_str key, kc_buf *problems);
/* Validates key, values and their number; the message is that of apimachinery's NewRequirement. */
int kc__selector_check_requirement(const kc_requirement *requirement, kc_error *err);

/* Compiles validated requirements. */
kc_selector *kc__selector_make(const kc_requirement *requirements, size_t n);

/* Sorts the values of a requirement under construction; with `unique`, drops duplicates. */
void kc__selector_sort_values(kc_str *values, size_t *n, bool unique);

/* A decimal integer with an optional sign, as Go's ParseInt parses it. */
bool kc__selector_parse_number(kc_str text, int64_t *ret);

#endif
