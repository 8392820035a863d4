/* SPDX-License-Identifier: Apache-2.0 */
/*
 * key_table.h: a hash table of keys whose links are embedded in the elements: adding and removing
 * allocate nothing (except the array of buckets, which doubles), and an element at hand is removed
 * without hashing its key again.
 *
 * The hash is seeded by the operating system, so that clients cannot choose names that collide;
 * nothing may depend on the order of the buckets. Not thread-safe.
 */
#ifndef KC_RUNTIME_KEY_TABLE_H
#define KC_RUNTIME_KEY_TABLE_H

#include "kc/meta.h"

/* Embedded in an element, which owns the key's strings. */
typedef struct kc__key_node {
    struct kc__key_node *next;
    uint64_t hash;
    kc_key key;
} kc__key_node;

typedef struct kc__key_table {
    kc__key_node **buckets;
    size_t mask, n;
    uint64_t seed;
} kc__key_table;

void kc__key_table_init(kc__key_table *table);
/* Frees the buckets; the elements are not touched. */
void kc__key_table_done(kc__key_table *table);

static inline uint64_t kc__key_hash(uint64_t seed, kc_key key)
{
    return kc_str_hash(key.name, kc_str_hash(key.ns, seed));
}

static inline bool kc__key_same(kc_key a, kc_key b)
{
    return kc_str_eq(a.name, b.name) && kc_str_eq(a.ns, b.ns);
}

/* NULL if it does not exist. */
static inline kc__key_node *kc__key_table_find(const kc__key_table *table, kc_key key,
                                               uint64_t hash)
{
    kc__key_node *node = table->buckets[hash & table->mask];
    while (node && !(node->hash == hash && kc__key_same(node->key, key)))
        node = node->next;
    return node;
}

/* The node's hash and key must be set, and the key must not be in the table yet. */
void kc__key_table_insert(kc__key_table *table, kc__key_node *node);
void kc__key_table_remove(kc__key_table *table, kc__key_node *node);

/* Runs the block for each kc__key_node *, in no particular order; the current one may be
 * removed. */
#define kc__key_table_each(table, it)                                                           \
    for (size_t it##_at_ = 0; it##_at_ <= (table)->mask; it##_at_++)                            \
        for (kc__key_node *it = (table)->buckets[it##_at_], *it##_next_ = it ? it->next : NULL; \
             it; it = it##_next_, it##_next_ = it ? it->next : NULL)

#endif
