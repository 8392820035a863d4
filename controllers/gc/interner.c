/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interner.c: see interner.h. 100,000 dependents of one owner share its kind, its name and their
 * namespace: three strings here. Guarded by the graph's lock.
 */
#include "gc/interner.h"

#include <assert.h>

void kc__gc_interner_done(kc__gc_interner *words)
{
    kc_map_each (&words->by_text, entry)
        free(entry->value);
    kc_map_done(&words->by_text);
}

kc__gc_interned *kc__gc_interned_ref(kc__gc_interned *word)
{
    if (word)
        word->users++;
    return word;
}

kc__gc_interned *kc__gc_interned_of(kc__gc_interner *words, kc_str text)
{
    if (!text.n)
        return NULL;
    kc__gc_interned *word = kc_map_get(&words->by_text, text);
    if (word)
        return kc__gc_interned_ref(word);
    word = kc_alloc(sizeof(*word) + text.n);
    word->users = 1;
    word->n = (uint32_t)text.n;
    memcpy(word->text, text.p, text.n);
    kc_map_put(&words->by_text, kc__gc_text(word), word);
    return word;
}

void kc__gc_interned_unref(kc__gc_interner *words, kc__gc_interned *word)
{
    if (!word)
        return;
    assert(word->users);
    if (--word->users)
        return;
    kc_map_remove(&words->by_text, kc__gc_text(word));
    free(word);
}
