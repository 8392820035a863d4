/* SPDX-License-Identifier: Apache-2.0 */
/*
 * FieldsV1: what is read must be written as text that reads as the same set; text that is said to
 * be canonical must be written as it was. The algebra of two sets (two lines) must hold.
 */
#include "fuzzing.h"

#include "kc/json.h"
#include "object/fields/fields_set.h"

/* The set is written as text that reads as the same set; canonical text as it was. */
static void check_round_trip(kc_arena *arena, kc_str json, const kc__fields_set *set,
                             bool canonical)
{
    kc_auto(kc_view) *view = kc_view_parse(json, NULL, NULL);
    const kc__fields_set *again = NULL;
    kc_scoped(kc_buf) stored = {0};
    kc_scoped(kc_buf) text = {0};
    if (!view) /* The reader relies on valid JSON: it does not check encodings. */
        return;
    kc_json_write(&stored, kc_view_root(view));
    kc__fields_v1_write(&text, set);
    if (canonical && kc_str_eq(kc_buf_str(&stored), json))
        assert(kc_str_eq(kc_buf_str(&text), json));
    kc_str copy = kc_arena_str(arena, kc_buf_str(&text));
    int failed = kc__fields_v1_read(arena, copy, &again, &canonical, NULL);
    assert(failed == 0 && kc__fields_set_equal(set, again));
}

static const kc__fields_set *check_text(kc_arena *arena, kc_str json)
{
    const kc__fields_set *set = NULL;
    bool canonical = false;
    if (kc__fields_v1_read(arena, json, &set, &canonical, NULL) < 0)
        return NULL;
    check_round_trip(arena, json, set, canonical);
    return set;
}

static void check_algebra(kc_arena *arena, const kc__fields_set *a, const kc__fields_set *b)
{
    const kc__fields_set *both = kc__fields_set_union(arena, a, b);
    const kc__fields_set *common = kc__fields_set_intersection(arena, a, b);
    const kc__fields_set *only = kc__fields_set_difference(arena, a, b);
    assert(kc__fields_set_within(a, both) && kc__fields_set_within(b, both));
    assert(kc__fields_set_within(common, a) && kc__fields_set_within(common, b));
    assert(kc__fields_set_equal(kc__fields_set_union(arena, only, common), a));
    assert(kc__fields_set_empty(kc__fields_set_intersection(arena, only, b)));
    assert(kc__fields_set_within(kc__fields_set_difference_below(arena, a, b), only));
    assert(kc__fields_set_count(both) + kc__fields_set_count(common) ==
           kc__fields_set_count(a) + kc__fields_set_count(b));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    kc_str rest = kc_str_of((const char *)data, size), line = kc_str_cut(&rest, '\n');
    kc_arena arena = {0};
    check_algebra(&arena, check_text(&arena, line), check_text(&arena, rest));
    kc_arena_done(&arena);
    return 0;
}
