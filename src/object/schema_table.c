/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_table.c: the hash table of a schema's property names. It is built once and only read, so
 * it is one block: header, rows, slots. At most half of the slots are taken. The seed is random per
 * document: whoever writes a CRD cannot choose names that collide.
 */
#include "object/schema_internal.h"

static size_t slots_for(size_t n)
{
    size_t slots = 4;
    while (slots < n * 2)
        slots *= 2;
    return slots;
}

size_t kc__table_size(size_t n)
{
    return sizeof(kc__table) + n * sizeof(kc__row) + slots_for(n) * sizeof(uint16_t);
}

void kc__table_index(kc__table *table)
{
    uint16_t *slots = (uint16_t *)(table->rows + table->n);
    table->mask = (uint32_t)slots_for(table->n) - 1;
    for (uint32_t i = 0; i < table->n; i++) {
        kc__row *row = &table->rows[i];
        row->hash = kc__name_hash(row->name, row->n, table->seed);
        uint32_t at = row->hash & table->mask;
        while (slots[at])
            at = (at + 1) & table->mask;
        slots[at] = (uint16_t)(i + 1);
    }
}

const kc__row *kc__table_find_slowly(const kc__table *table, const char *p, size_t n, uint32_t hash)
{
    const uint16_t *slots = (const uint16_t *)(table->rows + table->n);
    for (uint32_t at = hash & table->mask; slots[at]; at = (at + 1) & table->mask) {
        const kc__row *row = &table->rows[slots[at] - 1];
        if (row->hash == hash && row->n == n && memcmp(row->name, p, n) == 0)
            return row;
    }
    return NULL;
}
