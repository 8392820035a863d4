/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "kc/map.h"

#include <stdio.h>

static int values[20000];

/* Keys "k0", "k1" … in one text that lives as long as the test. */
static kc_str key_of(size_t i)
{
    static char keys[KC_COUNT(values)][8];
    snprintf(keys[i], sizeof(keys[i]), "k%zu", i);
    return kc_cstr(keys[i]);
}

static void fill(kc_map *map, size_t n)
{
    for (size_t i = 0; i < n; i++)
        assert_null(kc_map_put(map, key_of(i), &values[i]));
}

static void inserted_values_are_found(void **state)
{
    (void)state;
    kc_scoped(kc_map) map = {0};
    fill(&map, KC_COUNT(values));
    assert_int_equal(map.n, KC_COUNT(values));
    for (size_t i = 0; i < KC_COUNT(values); i++)
        assert_ptr_equal(kc_map_get(&map, key_of(i)), &values[i]);
    assert_null(kc_map_get(&map, KC_STR("k")));
}

static void empty_map_has_no_entries(void **state)
{
    (void)state;
    kc_scoped(kc_map) map = {0};
    assert_null(kc_map_get(&map, KC_STR("a")));
    assert_null(kc_map_remove(&map, KC_STR("a")));
    kc_map_clear(&map);
    kc_map_each (&map, entry)
        fail_msg("an entry: %.*s", KC_ARG(entry->key));
}

static void keys_may_contain_any_byte_or_be_empty(void **state)
{
    (void)state;
    kc_scoped(kc_map) map = {0};
    kc_map_put(&map, KC_STR(""), &values[0]);
    kc_map_put(&map, KC_STR("a\0b"), &values[1]);
    kc_map_put(&map, KC_STR("a\0c"), &values[2]);
    assert_ptr_equal(kc_map_get(&map, (kc_str){0}), &values[0]);
    assert_ptr_equal(kc_map_get(&map, KC_STR("a\0b")), &values[1]);
    assert_ptr_equal(kc_map_get(&map, KC_STR("a\0c")), &values[2]);
    assert_null(kc_map_get(&map, KC_STR("a")));
}

static void put_of_existing_key_replaces_value_in_place(void **state)
{
    (void)state;
    kc_scoped(kc_map) map = {0};
    fill(&map, 3);
    kc_str another = KC_STR("k0");
    assert_ptr_equal(kc_map_put(&map, another, &values[9]), &values[0]);
    assert_int_equal(map.n, 3);
    kc_map_each (&map, entry) {
        assert_ptr_equal(entry->value, &values[9]);
        assert_ptr_equal(entry->key.p,
                         another.p); /* The old key may have been freed with its value. */
        break;
    }
}

static void iteration_follows_insertion_and_skips_removed_entries(void **state)
{
    (void)state;
    kc_scoped(kc_map) map = {0};
    fill(&map, 100);
    for (size_t i = 0; i < 100; i += 2)
        assert_ptr_equal(kc_map_remove(&map, key_of(i)), &values[i]);
    kc_map_put(&map, key_of(0), &values[0]);
    size_t expected = 1;
    kc_map_each (&map, entry) {
        assert_ptr_equal(entry->value, &values[expected]);
        expected = expected == 99 ? 0 : expected + 2;
    }
    assert_int_equal(expected, 2);
    assert_int_equal(map.n, 51);
}

static void current_entry_may_be_removed(void **state)
{
    (void)state;
    kc_scoped(kc_map) map = {0};
    fill(&map, 50);
    kc_map_each (&map, entry)
        assert_non_null(kc_map_remove(&map, entry->key));
    assert_int_equal(map.n, 0);
    assert_null(kc_map_get(&map, key_of(0)));
}

static void loop_in_if_keeps_its_else(void **state)
{
    (void)state;
    kc_scoped(kc_map) map = {0};
    bool other = false;
    if (map.n)
        kc_map_each (&map, entry)
            assert_non_null(entry->value);
    else
        other = true;
    assert_true(other);
}

static void key_of_a_removed_entry_may_be_freed(void **state)
{
    (void)state;
    kc_scoped(kc_map) map = {0};
    for (int round = 0; round < 100; round++) {
        char *key = kc_strdup("the same key");
        assert_null(kc_map_put(&map, kc_cstr(key), &values[round]));
        assert_ptr_equal(kc_map_remove(&map, kc_cstr(key)), &values[round]);
        free(key);
        assert_null(kc_map_get(&map, KC_STR("the same key")));
        assert_null(kc_map_remove(&map, KC_STR("the same key")));
    }
}

static void repeated_insert_and_remove_does_not_grow(void **state)
{
    (void)state;
    kc_scoped(kc_map) map = {0};
    fill(&map, 4);
    for (size_t i = 4; i < KC_COUNT(values); i++) {
        kc_map_put(&map, key_of(i), &values[i]);
        assert_ptr_equal(kc_map_remove(&map, key_of(i - 4)), &values[i - 4]);
    }
    assert_int_equal(map.n, 4);
    assert_true(map.cap <= 16);
}

static void cleared_map_is_empty_and_usable(void **state)
{
    (void)state;
    kc_scoped(kc_map) map = {0};
    fill(&map, 100);
    kc_map_clear(&map);
    assert_int_equal(map.n, 0);
    assert_null(kc_map_get(&map, key_of(1)));
    fill(&map, 10);
    assert_ptr_equal(kc_map_get(&map, key_of(1)), &values[1]);
}

TESTS(inserted_values_are_found, empty_map_has_no_entries, keys_may_contain_any_byte_or_be_empty,
      put_of_existing_key_replaces_value_in_place,
      iteration_follows_insertion_and_skips_removed_entries, current_entry_may_be_removed,
      loop_in_if_keeps_its_else, key_of_a_removed_entry_may_be_freed,
      repeated_insert_and_remove_does_not_grow, cleared_map_is_empty_and_usable)
