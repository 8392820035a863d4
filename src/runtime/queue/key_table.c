/* SPDX-License-Identifier: Apache-2.0 */
/*
 * key_table.c: growing, adding and removing; lookup is inline, in the header. The table uses
 * chaining, because an element is then removed without a tombstone, and a queue adds and removes
 * all the time.
 */
#include "runtime/queue/key_table.h"

#include "kc/rand.h"

#include <assert.h>

enum { FIRST_BUCKETS = 64 };

void kc__key_table_init(kc__key_table *table)
{
    kc_rand rand;
    kc_rand_seed_os(&rand);
    *table = (kc__key_table){
        .buckets = kc_calloc(FIRST_BUCKETS, sizeof(*table->buckets)),
        .mask = FIRST_BUCKETS - 1,
        .seed = kc_rand_u64(&rand),
    };
}

void kc__key_table_done(kc__key_table *table)
{
    free(table->buckets);
    *table = (kc__key_table){0};
}

static void link_in(kc__key_table *table, kc__key_node *node)
{
    kc__key_node **bucket = &table->buckets[node->hash & table->mask];
    node->next = *bucket;
    *bucket = node;
}

static void key_table_grow(kc__key_table *table)
{
    kc__key_table old = *table;
    table->mask = old.mask * 2 + 1;
    table->buckets = kc_calloc(table->mask + 1, sizeof(*table->buckets));
    kc__key_table_each(&old, node) link_in(table, node);
    free(old.buckets);
}

void kc__key_table_insert(kc__key_table *table, kc__key_node *node)
{
    if (table->n++ > table->mask)
        key_table_grow(table);
    link_in(table, node);
}

void kc__key_table_remove(kc__key_table *table, kc__key_node *node)
{
    kc__key_node **at = &table->buckets[node->hash & table->mask];
    while (*at != node) {
        assert(*at && "the element is in the table");
        at = &(*at)->next;
    }
    *at = node->next;
    table->n--;
}
