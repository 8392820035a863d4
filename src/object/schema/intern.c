/* SPDX-License-Identifier: Apache-2.0 */
/*
 * intern.c: stores equal parts of a schema once.
 *
 * Parts are built on the stack, zeroed first so that padding is equal, from pointers that are
 * themselves interned; so two parts are equal exactly when their bytes are. Most leaves of a CRD
 * are
 * {"type":"string"}: they become one node.
 *
 * To intern another kind of part: add it to kc__schema_block_kind and pass its bytes to
 * kc__schema_intern.
 */
#include "object/model/edit_value.h"
#include "object/schema/schema_internal.h"

#include "object/gofmt/go_json.h"
#include "object/gofmt/go_quote.h"

#include <sys/random.h>

void kc__schema_interner_done(kc__schema_interner *interner)
{
    for (size_t i = 0; i < KC__SCHEMA_N_KINDS; i++)
        kc_map_done(&interner->seen[i]);
    kc_arena_done(&interner->keys);
}

const void *kc__schema_intern(kc__schema_interner *interner, kc__schema_block_kind kind,
                              const void *bytes, size_t n)
{
    kc_map *seen = &interner->seen[kind];
    void *copy = kc_map_get(seen, kc_str_of(bytes, n));
    if (copy)
        return copy;
    copy = kc_arena_alloc(&interner->document->arena, n);
    memcpy(copy, bytes, n);
    kc_map_put(seen, kc_str_of(copy, n), copy);
    return copy;
}

const char *kc__schema_intern_str(kc__schema_interner *interner, kc_str text)
{
    kc_map *seen = &interner->seen[KC__SCHEMA_BLOCK_STRING];
    char *copy = kc_map_get(seen, text);
    if (copy)
        return copy;
    copy = kc_arena_strndup(&interner->document->arena, text.p, text.n);
    kc_map_put(seen, kc_str_of(copy, text.n), copy);
    return copy;
}

/*
 * A value of a yyjson document is a sequence of cells, containers before their content, with
 * distances instead of pointers: it can be copied as a block; then only strings must be moved, and
 * numbers get the type that a parser of canonical text gives them.
 */
static const kc_value *copy_value(kc__schema_interner *interner, const kc_value *value)
{
    yyjson_val *from = (yyjson_val *)value;
    size_t n = kc_value_count(value);
    yyjson_val *cells = kc_arena_alloc(&interner->document->arena, n * sizeof(*cells));
    memcpy(cells, from, n * sizeof(*cells));
    for (size_t i = 0; i < n; i++) {
        kc__value_settle_number(&cells[i]);
        if (yyjson_is_str(&cells[i]))
            cells[i].uni.str = kc__schema_intern_str(interner, kc_value_as_str(&cells[i]));
    }
    return cells;
}

const kc_value *kc__schema_intern_value(kc__schema_interner *interner, const kc_value *value,
                                        kc__schema_size *ret_size)
{
    if (!value)
        return NULL;
    kc_map *seen = &interner->seen[KC__SCHEMA_BLOCK_VALUE];
    kc_scoped(kc_buf) text = {0};
    kc_json_write(&text, value);
    if (ret_size)
        *ret_size = (kc__schema_size){
            .bytes = (uint32_t)KC_MIN(text.n, (size_t)UINT32_MAX),
            .values = (uint32_t)KC_MIN(kc_value_count(value), (size_t)UINT32_MAX)};
    const kc_value *copy = kc_map_get(seen, kc_buf_str(&text));
    if (copy)
        return copy;
    copy = copy_value(interner, value);
    kc_map_put(seen, kc_arena_str(&interner->keys, kc_buf_str(&text)), (void *)copy);
    return copy;
}

const kc__pattern *kc__schema_intern_pattern(kc__schema_interner *interner, kc_str source,
                                             kc_buf *why)
{
    kc_map *seen = &interner->seen[KC__SCHEMA_BLOCK_PATTERN];
    kc__pattern *pattern = kc_map_get(seen, source);
    if (pattern)
        return pattern;
    pattern = kc__pattern_new(&interner->document->arena, source, why);
    if (!pattern)
        return NULL;
    pattern->next = interner->document->patterns;
    interner->document->patterns = pattern;
    kc_map_put(seen, pattern->source, pattern);
    return pattern;
}

const kc__schema_property_table *kc__schema_intern_table(kc__schema_interner *interner,
                                                         const kc__schema_property_row *rows,
                                                         size_t n, size_t n_required)
{
    size_t n_defaults = 0;
    for (size_t i = 0; i < n; i++)
        n_defaults += kc__schema_row_may_default(&rows[i]);
    size_t size = kc__schema_table_size(n, n_defaults);
    kc_autofree kc__schema_property_table *table = kc_calloc(1, size);
    if (!interner->seed && getrandom(&interner->seed, sizeof(interner->seed), GRND_NONBLOCK) < 0)
        interner->seed = (uintptr_t)interner;
    table->seed = interner->seed;
    table->n = (uint32_t)n;
    table->n_required = (uint32_t)n_required;
    table->n_defaults = (uint32_t)n_defaults;
    memcpy(table->rows, rows, n * sizeof(*rows));
    kc__schema_table_index(table);
    return kc__schema_intern(interner, KC__SCHEMA_BLOCK_TABLE, table, size);
}
