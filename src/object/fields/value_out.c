/* SPDX-License-Identifier: Apache-2.0 */
/*
 * value_out.c: results that are values, and lookups of members in values.
 *
 * A result is written as yyjson's reader would have written it: a container's cell, then the cells
 * of its content, then the distance to the next value in the container's cell. The caller knows a
 * bound of the number of cells (a merge has at most those of both inputs), so the cells are one
 * block of the arena. Strings are shared with the inputs.
 */
#include "object/fields/fields_internal.h"

kc__fields_out kc__fields_out_of(kc_arena *arena, size_t room)
{
    return (kc__fields_out){.cells = kc_arena_alloc(arena, room * sizeof(yyjson_val)),
                            .room = room};
}

static yyjson_val *next_cells(kc__fields_out *out, size_t n)
{
    assert(out->room - out->n >= n);
    yyjson_val *cells = out->cells + out->n;
    out->n += n;
    return cells;
}

void kc__fields_out_copy(kc__fields_out *out, const kc_value *value)
{
    size_t n = (size_t)(kc__fields_after(value) - value);
    memcpy(next_cells(out, n), value, n * sizeof(*value));
}

void kc__fields_out_key(kc__fields_out *out, const kc_value *key)
{
    *next_cells(out, 1) = *key;
}

void kc__fields_out_null(kc__fields_out *out)
{
    *next_cells(out, 1) = (yyjson_val){.tag = YYJSON_TYPE_NULL};
}

size_t kc__fields_out_begin(kc__fields_out *out, bool object)
{
    size_t at = out->n;
    *next_cells(out, 1) = (yyjson_val){.tag = object ? YYJSON_TYPE_OBJ : YYJSON_TYPE_ARR};
    return at;
}

void kc__fields_out_end(kc__fields_out *out, size_t at, size_t n)
{
    out->cells[at].tag |= (uint64_t)n << YYJSON_TAG_BIT;
    out->cells[at].uni.ofs = (out->n - at) * sizeof(yyjson_val);
}

/* ---- lookups ---- */

enum { SHORT_MEMBERS = 16, MISSED_OFTEN = 4 };

kc__fields_finder kc__fields_finder_of(const kc_value *object)
{
    return (kc__fields_finder){.object = object, .next = object ? object + 1 : NULL};
}

static bool key_is(const kc_value *key, kc_str name)
{
    return kc__fields_same_text(kc__fields_text(key), name);
}

static const kc_value *scan_members(kc__fields_finder *finder, kc_str name)
{
    kc__fields_each_member(finder->object, key) if (key_is(key, name))
    {
        finder->next = kc__fields_after(key + 1);
        return key + 1;
    }
    return NULL;
}

static const kc_value *find_slowly(kc__fields_finder *finder, kc_str name)
{
    if (kc__fields_len(finder->object) <= SHORT_MEMBERS || ++finder->missed < MISSED_OFTEN)
        return scan_members(finder, name);
    if (!finder->map.n)
        kc__fields_each_member(finder->object, key)
            kc_map_put(&finder->map, kc__fields_text(key), (void *)(key + 1));
    const kc_value *value = kc_map_get(&finder->map, name);
    if (value)
        finder->next = kc__fields_after(value);
    return value;
}

const kc_value *kc__fields_find(kc__fields_finder *finder, kc_str name)
{
    if (!finder->object)
        return NULL;
    const kc_value *key = finder->next;
    if (key < kc__fields_after(finder->object) && key_is(key, name)) {
        finder->next = kc__fields_after(key + 1);
        return key + 1;
    }
    return find_slowly(finder, name);
}
