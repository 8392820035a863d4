/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.c: the hash table of a schema's property names. It is built once and then read-only, so it
 * is one block: header, rows, slots, rows with defaults. At most half of the slots are taken.
 *
 * The seed is random per document, so that the author of a CRD cannot choose colliding names. From
 * it follow the seeds that a table tries until each of its names has a slot of its own: then the
 * first slot decides every look-up. Only small tables find such a seed, but nearly all are small.
 * Equal rows try the same seeds, so that equal tables stay equal bytes (intern.c).
 */
#include "object/schema/schema_internal.h"

static size_t slots_for(size_t n)
{
    size_t slots = 4;
    while (slots < n * 2)
        slots *= 2;
    return slots;
}

size_t kc__schema_table_size(size_t n, size_t n_defaults)
{
    size_t size = sizeof(kc__schema_property_table) + n * sizeof(kc__schema_property_row) +
                  slots_for(n) * sizeof(uint16_t);
    return n_defaults ? size + sizeof(kc__schema_size) + n_defaults * sizeof(uint16_t) : size;
}

static void index_defaults(kc__schema_property_table *table)
{
    uint16_t *defaults = (uint16_t *)kc__schema_table_defaults(table);
    if (table->n_defaults)
        *(kc__schema_size *)kc__schema_table_sum(table) =
            kc__schema_default_sum(table->rows, table->n);
    for (uint32_t i = 0; i < table->n; i++)
        if (kc__schema_row_may_default(&table->rows[i]))
            *defaults++ = (uint16_t)i;
}

/* The i-th seed that a table tries. */
static uint64_t seed_at(uint64_t first, unsigned i)
{
    return first + i * UINT64_C(0x9e3779b97f4a7c15);
}

static uint32_t hash_of(const kc__schema_property_table *table, uint32_t i)
{
    return kc__schema_name_hash(table->rows[i].name, table->rows[i].n, table->seed);
}

/* True when each name has a slot of its own; for at most 64 slots. */
static bool is_without_collisions(const kc__schema_property_table *table)
{
    uint64_t taken = 0; /* A bit for each slot. */
    for (uint32_t i = 0; i < table->n; i++) {
        const uint64_t slot = UINT64_C(1) << (hash_of(table, i) & table->mask);
        if (taken & slot)
            return false;
        taken |= slot;
    }
    return true;
}

/* Keeps the first seed if none is better: the more names, the more tries a table would take. */
static void choose_seed(kc__schema_property_table *table)
{
    enum { TRIES = 256, MOST_SLOTS = 64 };
    const uint64_t first = table->seed;
    if (table->mask >= MOST_SLOTS)
        return;
    for (unsigned i = 0; i < TRIES; i++) {
        table->seed = seed_at(first, i);
        if (is_without_collisions(table))
            return;
    }
    table->seed = first;
}

void kc__schema_table_index(kc__schema_property_table *table)
{
    uint16_t *slots = (uint16_t *)(table->rows + table->n);
    table->mask = (uint32_t)slots_for(table->n) - 1;
    choose_seed(table);
    for (uint32_t i = 0; i < table->n; i++) {
        kc__schema_property_row *row = &table->rows[i];
        row->hash = hash_of(table, i);
        uint32_t at = row->hash & table->mask;
        while (slots[at])
            at = (at + 1) & table->mask;
        slots[at] = (uint16_t)(i + 1);
    }
    index_defaults(table);
}

const kc__schema_property_row *kc__schema_table_find_slowly(const kc__schema_property_table *table,
                                                            const char *p, size_t n, uint32_t hash)
{
    const uint16_t *slots = (const uint16_t *)(table->rows + table->n);
    for (uint32_t at = hash & table->mask; slots[at]; at = (at + 1) & table->mask) {
        const kc__schema_property_row *row = &table->rows[slots[at] - 1];
        if (row->hash == hash && row->n == n && memcmp(row->name, p, n) == 0)
            return row;
    }
    return NULL;
}
