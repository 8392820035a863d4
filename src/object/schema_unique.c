/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_unique.c: finding equal values: for uniqueItems, for lists that are sets or maps, for
 * enums.
 *
 * A few scalars are compared pairwise. Otherwise each value becomes its canonical
 * JSON text, with sorted names, that is looked up in a hash map, so a long list costs no more
 * than reading it.
 */
#include "object/schema_internal.h"

#include "object/go_json.h"
#include "object/go_quote.h"

enum { PAIRWISE = 12 };

static bool is_scalar(const kc_value *value)
{
    return !value || !(kc__bits_of(value) & (KC__ARRAY | KC__OBJECT));
}

static bool same_number(const kc_value *a, const kc_value *b)
{
    int64_t i, j;
    double x, y;
    if (kc_as_i64(a, &i) && kc_as_i64(b, &j))
        return i == j;
    return kc_as_f64(a, &x) && kc_as_f64(b, &y) && x == y;
}

static bool same_scalar(const kc_value *a, const kc_value *b)
{
    if (!a || !b)
        return a == b;
    kc_type type = kc_type_of(a);
    if (type == KC_INT || type == KC_FLOAT)
        return same_number(a, b);
    if (type != kc_type_of(b))
        return false;
    if (type == KC_STRING)
        return kc_str_eq(kc_as_str(a), kc_as_str(b));
    return type != KC_BOOL || kc_as_bool(a, false) == kc_as_bool(b, false);
}

bool kc__same_value(const kc_value *a, const kc_value *b)
{
    if (is_scalar(a) || is_scalar(b))
        return is_scalar(a) && is_scalar(b) && same_scalar(a, b);
    if (kc_type_of(a) != kc_type_of(b) || kc_len(a) != kc_len(b))
        return false;
    kc_scoped(kc_buf) one = {0};
    kc_scoped(kc_buf) two = {0};
    kc__go_json(&one, a);
    kc__go_json(&two, b);
    return kc_str_eq(kc_buf_str(&one), kc_buf_str(&two));
}

/* How many of the keys before `at` equal it, 2 standing for more. */
static int times_before(const kc_value *const *keys, size_t at)
{
    int times = 0;
    for (size_t i = 0; i < at && times < 2; i++)
        times += same_scalar(keys[i], keys[at]);
    return times;
}

static size_t find_pairwise(const kc_value *const *keys, size_t n, size_t *again)
{
    size_t found = 0;
    for (size_t i = 1; i < n; i++)
        if (times_before(keys, i) == 1)
            again[found++] = i;
    return found;
}

void kc__seen_done(kc__seen *seen)
{
    kc_map_done(&seen->times);
    kc_arena_done(&seen->texts);
}

unsigned kc__seen_before(kc__seen *seen, kc_str text)
{
    uintptr_t times = (uintptr_t)kc_map_get(&seen->times, text);
    if (times < 2)
        kc_map_put(&seen->times, kc_arena_str(&seen->texts, text), (void *)(times + 1));
    return (unsigned)times;
}

static size_t find_hashed(const kc_value *const *keys, size_t n, size_t *again)
{
    kc_scoped(kc__seen) seen = {0};
    kc_scoped(kc_buf) text = {0};
    size_t found = 0;
    for (size_t i = 0; i < n; i++) {
        kc_buf_clear(&text);
        if (keys[i])
            kc__go_json(&text, keys[i]);
        if (kc__seen_before(&seen, kc_buf_str(&text)) == 1)
            again[found++] = i;
    }
    return found;
}

size_t kc__find_repeated(const kc_value *const *keys, size_t n, size_t *again)
{
    bool pairwise = n <= PAIRWISE;
    for (size_t i = 0; pairwise && i < n; i++)
        pairwise = is_scalar(keys[i]);
    return pairwise ? find_pairwise(keys, n, again) : find_hashed(keys, n, again);
}
