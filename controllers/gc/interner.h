/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interner.h: reference-counted strings that many nodes share: kinds, namespaces, names of owners.
 * Two strings of one interner are equal if and only if their pointers are.
 */
#ifndef KC_CONTROLLERS_GC_INTERNER_H
#define KC_CONTROLLERS_GC_INTERNER_H

#include "kc/map.h"

typedef struct kc__gc_interned {
    uint32_t users;
    uint32_t n;
    char text[];
} kc__gc_interned;

typedef struct kc__gc_interner {
    kc_map by_text;
} kc__gc_interner;

/* Frees all strings, whatever their reference counts. */
void kc__gc_interner_done(kc__gc_interner *words);

/* Returns the interned string with one more reference. The empty string is NULL. */
kc__gc_interned *kc__gc_interned_of(kc__gc_interner *words, kc_str text);
kc__gc_interned *kc__gc_interned_ref(kc__gc_interned *word);
void kc__gc_interned_unref(kc__gc_interner *words, kc__gc_interned *word);

static inline kc_str kc__gc_text(const kc__gc_interned *word)
{
    return word ? kc_str_of(word->text, word->n) : (kc_str){0};
}

#endif
