/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.c: the hash table of a schema's property names. It is built once and then read-only, so it
 * is one block: header, rows, slots, rows with defaults. At most half of the slots are taken. The
 * seed is random per document, so that the author of a CRD cannot choose colliding names.
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

void kc__schema_table_index(kc__schema_property_table *table)
{
    uint16_t *slots = (uint16_t *)(table->rows + table->n);
    table->mask = (uint32_t)slots_for(table->n) - 1;
    for (uint32_t i = 0; i < table->n; i++) {
        kc__schema_property_row *row = &table->rows[i];
        row->hash = kc__schema_name_hash(row->name, row->n, table->seed);
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
