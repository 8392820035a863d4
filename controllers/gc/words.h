/* SPDX-License-Identifier: Apache-2.0 */
/*
 * words.h: texts that many nodes share, kept once and counted: kinds, namespaces, names of owners.
 * Two words of one set are the same text if, and only if, they are the same pointer.
 */
#ifndef KC_CONTROLLERS_GC_WORDS_H
#define KC_CONTROLLERS_GC_WORDS_H

#include "kc/map.h"

typedef struct kc__gc_word {
    uint32_t users;
    uint32_t n;
    char text[];
} kc__gc_word;

typedef struct kc__gc_words {
    kc_map by_text;
} kc__gc_words;

/* Frees all of them, whoever uses them. */
void kc__gc_words_done(kc__gc_words *words);

/* The word of a text, with one user more. The empty text is NULL. */
kc__gc_word *kc__gc_word_of(kc__gc_words *words, kc_str text);
kc__gc_word *kc__gc_word_ref(kc__gc_word *word);
void kc__gc_word_unref(kc__gc_words *words, kc__gc_word *word);

static inline kc_str kc__gc_text(const kc__gc_word *word)
{
    return word ? kc_str_of(word->text, word->n) : (kc_str){0};
}

#endif
