/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unique.c: finds equal values, for uniqueItems, for lists that are sets or maps, and for enums.
 *
 * Nearly always the values are a few strings that differ, which their hashes prove. Other scalars
 * are compared pairwise if they are few. Otherwise each value is converted to canonical JSON text,
 * with sorted names, and looked up in a hash map, so the cost is linear in the size of a list.
 */
#include "object/schema/schema_internal.h"

#include "object/gofmt/go_json.h"
#include "object/gofmt/go_quote.h"

enum { PAIRWISE = 12, FEW_STRINGS = 64 };

static bool is_scalar(const kc_value *value)
{
    return !value || !(kc__schema_bits_of(value) & (KC__SCHEMA_ARRAY | KC__SCHEMA_OBJECT));
}

static bool same_number(const kc_value *a, const kc_value *b)
{
    int64_t i, j;
    double x, y;
    if (kc_value_as_i64(a, &i) && kc_value_as_i64(b, &j))
        return i == j;
    return kc_value_as_f64(a, &x) && kc_value_as_f64(b, &y) && x == y;
}

static bool same_scalar(const kc_value *a, const kc_value *b)
{
    if (!a || !b)
        return a == b;
    kc_json_type type = kc_value_type(a);
    if (type == KC_JSON_INT || type == KC_JSON_FLOAT)
        return same_number(a, b);
    if (type != kc_value_type(b))
        return false;
    if (type == KC_JSON_STRING)
        return kc_str_eq(kc_value_as_str(a), kc_value_as_str(b));
    return type != KC_JSON_BOOL || kc_value_as_bool(a, false) == kc_value_as_bool(b, false);
}

bool kc__schema_same_value(const kc_value *a, const kc_value *b)
{
    if (is_scalar(a) || is_scalar(b))
        return is_scalar(a) && is_scalar(b) && same_scalar(a, b);
    if (kc_value_type(a) != kc_value_type(b) || kc_value_len(a) != kc_value_len(b))
        return false;
    kc_scoped(kc_buf) one = {0};
    kc_scoped(kc_buf) two = {0};
    kc__go_json(&one, a);
    kc__go_json(&two, b);
    return kc_str_eq(kc_buf_str(&one), kc_buf_str(&two));
}

/* How many of the keys before `at` equal it; 2 means more than one. */
static int times_before(const kc_value *const *keys, size_t at)
{
    int times = 0;
    for (size_t i = 0; i < at && times < 2; i++)
        times += same_scalar(keys[i], keys[at]);
    return times;
}

static size_t find_pairwise(const kc_value *const *keys, size_t n, size_t *repeated)
{
    size_t found = 0;
    for (size_t i = 1; i < n; i++)
        if (times_before(keys, i) == 1)
            repeated[found++] = i;
    return found;
}

void kc__schema_seen_done(kc__schema_seen *seen)
{
    kc_map_done(&seen->times);
    kc_arena_done(&seen->texts);
}

unsigned kc__schema_seen_before(kc__schema_seen *seen, kc_str text)
{
    uintptr_t times = (uintptr_t)kc_map_get(&seen->times, text);
    if (times < 2)
        kc_map_put(&seen->times, kc_arena_str(&seen->texts, text), (void *)(times + 1));
    return (unsigned)times;
}

static size_t find_hashed(const kc_value *const *keys, size_t n, size_t *repeated)
{
    kc_scoped(kc__schema_seen) seen = {0};
    kc_scoped(kc_buf) text = {0};
    size_t found = 0;
    for (size_t i = 0; i < n; i++) {
        kc_buf_clear(&text);
        if (keys[i])
            kc__go_json(&text, keys[i]);
        if (kc__schema_seen_before(&seen, kc_buf_str(&text)) == 1)
            repeated[found++] = i;
    }
    return found;
}

/*
 * True when all keys are strings, and different: as many hashes differ. A few keys with equal
 * hashes are possible, so false means "not sure".
 */
static bool are_different_strings(const kc_value *const *keys, size_t n)
{
    uint32_t seen[4 * FEW_STRINGS] = {0};
    if (n > FEW_STRINGS)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (!keys[i] || !(kc__schema_bits_of(keys[i]) & KC__SCHEMA_STRING))
            return false;
        const uint32_t hash = kc__schema_name_hash(unsafe_yyjson_get_str((kc_value *)keys[i]),
                                                   unsafe_yyjson_get_len((kc_value *)keys[i]), 0) |
                              1; /* 0 is an empty place. */
        size_t at = hash / 2 % KC_COUNT(seen);
        for (; seen[at]; at = (at + 1) % KC_COUNT(seen))
            if (seen[at] == hash)
                return false;
        seen[at] = hash;
    }
    return true;
}

size_t kc__schema_find_repeated(const kc_value *const *keys, size_t n, size_t *repeated)
{
    if (are_different_strings(keys, n))
        return 0;
    bool pairwise = n <= PAIRWISE;
    for (size_t i = 0; pairwise && i < n; i++)
        pairwise = is_scalar(keys[i]);
    return pairwise ? find_pairwise(keys, n, repeated) : find_hashed(keys, n, repeated);
}
