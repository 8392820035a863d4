/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_intern.c: storing equal parts of a schema once.
 *
 * Parts are built on the stack, zeroed first so that padding is equal too, from pointers that are
 * interned themselves; so two parts are equal exactly when their bytes are. Most leaves of a CRD
 * are
 * {"type":"string"}: they become one node.
 *
 * To intern one more kind of thing: add it to kc__kind and hand its bytes to kc__intern.
 */
#include "object/schema_internal.h"

#include "object/go_json.h"
#include "object/go_quote.h"

#include <sys/random.h>

void kc__interner_done(kc__interner *interner)
{
    for (size_t i = 0; i < KC__N_KINDS; i++)
        kc_map_done(&interner->seen[i]);
    kc_arena_done(&interner->keys);
}

const void *kc__intern(kc__interner *interner, kc__kind kind, const void *bytes, size_t n)
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

const char *kc__intern_str(kc__interner *interner, kc_str text)
{
    kc_map *seen = &interner->seen[KC__K_STRING];
    char *copy = kc_map_get(seen, text);
    if (copy)
        return copy;
    copy = kc_arena_strndup(&interner->document->arena, text.p, text.n);
    kc_map_put(seen, kc_str_of(copy, text.n), copy);
    return copy;
}

/*
 * A value of a yyjson document is a run of cells, containers before their content, with distances
 * instead of pointers: it can be copied as a block, after which only strings have to be moved.
 */
static const kc_value *copy_value(kc__interner *interner, const kc_value *value)
{
    yyjson_val *from = (yyjson_val *)value;
    size_t n = (size_t)(unsafe_yyjson_get_next(from) - from);
    yyjson_val *cells = kc_arena_alloc(&interner->document->arena, n * sizeof(*cells));
    memcpy(cells, from, n * sizeof(*cells));
    for (size_t i = 0; i < n; i++)
        if (yyjson_is_str(&cells[i]))
            cells[i].uni.str = kc__intern_str(interner, kc_as_str(&cells[i]));
    return cells;
}

const kc_value *kc__intern_value(kc__interner *interner, const kc_value *value)
{
    if (!value)
        return NULL;
    kc_map *seen = &interner->seen[KC__K_VALUE];
    kc_scoped(kc_buf) text = {0};
    kc_json_write(&text, value);
    const kc_value *copy = kc_map_get(seen, kc_buf_str(&text));
    if (copy)
        return copy;
    copy = copy_value(interner, value);
    kc_map_put(seen, kc_arena_str(&interner->keys, kc_buf_str(&text)), (void *)copy);
    return copy;
}

const kc__pattern *kc__intern_pattern(kc__interner *interner, kc_str source, kc_buf *why)
{
    kc_map *seen = &interner->seen[KC__K_PATTERN];
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

const kc__table *kc__intern_table(kc__interner *interner, const kc__row *rows, size_t n,
                                  size_t n_required)
{
    size_t size = kc__table_size(n);
    kc_autofree kc__table *table = kc_calloc(1, size);
    if (!interner->seed && getrandom(&interner->seed, sizeof(interner->seed), GRND_NONBLOCK) < 0)
        interner->seed = (uintptr_t)interner;
    table->seed = interner->seed;
    table->n = (uint32_t)n;
    table->n_required = (uint32_t)n_required;
    for (size_t i = 0; i < n; i++) {
        table->rows[i] = rows[i];
        const kc_schema *schema = rows[i].schema;
        table->n_defaults += schema && (schema->flags & KC__NAMED || kc__default_of(schema));
    }
    kc__table_index(table);
    return kc__intern(interner, KC__K_TABLE, table, size);
}
