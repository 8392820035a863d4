/* SPDX-License-Identifier: Apache-2.0 */
/*
 * words.c: see words.h. 100,000 dependents of one owner all name its kind, its name and their
 * namespace; here that is three words. Whoever takes the graph's lock may use them.
 */
#include "gc/words.h"

#include <assert.h>

void kc__gc_words_done(kc__gc_words *words)
{
    kc_map_each (&words->by_text, entry)
        free(entry->value);
    kc_map_done(&words->by_text);
}

kc__gc_word *kc__gc_word_ref(kc__gc_word *word)
{
    if (word)
        word->users++;
    return word;
}

kc__gc_word *kc__gc_word_of(kc__gc_words *words, kc_str text)
{
    if (!text.n)
        return NULL;
    kc__gc_word *word = kc_map_get(&words->by_text, text);
    if (word)
        return kc__gc_word_ref(word);
    word = kc_alloc(sizeof(*word) + text.n);
    word->users = 1;
    word->n = (uint32_t)text.n;
    memcpy(word->text, text.p, text.n);
    kc_map_put(&words->by_text, kc__gc_text(word), word);
    return word;
}

void kc__gc_word_unref(kc__gc_words *words, kc__gc_word *word)
{
    if (!word)
        return;
    assert(word->users);
    if (--word->users)
        return;
    kc_map_remove(&words->by_text, kc__gc_text(word));
    free(word);
}
