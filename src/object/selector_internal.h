/* SPDX-License-Identifier: Apache-2.0 */
/* selector_internal.h: what the files of the label selector share. */
#ifndef KC_SELECTOR_INTERNAL_H
#define KC_SELECTOR_INTERNAL_H

#include "kc/arena.h"
#include "kc/selector.h"

struct kc_selector {
    kc_arena arena; /* Keys, values, requirements. */
    kc_requirement *requirements;
    size_t n;
    size_t n_present;     /* How many of them need the label to be there. */
    uint64_t key_lengths; /* Bit n % 64 is set when a key has n bytes. */
    bool nothing;
};

typedef KC_VEC(kc_requirement) kc__requirements;

/* Appends what is wrong with a label's key or value, sentences joined by "; ". False when something
 * is. */
bool kc__check_label_key(kc_str key, kc_buf *problems);
/* Checks key, values and their number; the message is that of apimachinery's NewRequirement. */
int kc__check_requirement(const kc_requirement *requirement, kc_error *err);

/* Compiles requirements that have been checked. */
kc_selector *kc__selector_make(const kc_requirement *requirements, size_t n);

/* Sorts the values of a requirement under construction; with `unique`, drops repeated ones. */
void kc__sort_values(kc_str *values, size_t *n, bool unique);

/* A whole decimal number with an optional sign, as Go's ParseInt reads it. */
bool kc__label_number(kc_str text, int64_t *ret);

#endif
