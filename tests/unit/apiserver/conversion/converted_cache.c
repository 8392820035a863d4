/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "apiserver/conversion/converted_cache.h"
#include "kc/thread.h"

#include <stdio.h>

static kc__converted_cache *cache_of(size_t limit, kc_metrics *metrics)
{
    kc__converted_cache *cache = kc__converted_cache_new(limit, NULL, metrics, NULL);
    assert_non_null(cache);
    return cache;
}

static double kept_bytes(kc_metrics *metrics)
{
    kc_scoped(kc_buf) out = {0};
    kc_metrics_write(metrics, &out);
    const char *line = strstr(kc_buf_cstr(&out), "\nkc_conversion_kept_bytes ");
    assert_non_null(line);
    return strtod(line + strlen("\nkc_conversion_kept_bytes "), NULL);
}

static void add_number(kc__converted_cache *cache, int number)
{
    char key[16];
    snprintf(key, sizeof(key), "%d", number);
    kc_auto(kc_object) *object = object_of("{'a':'0123456789012345678901234567890123456789'}");
    kc__remote_converted_unpin(kc__converted_cache_add(cache, kc_cstr(key), object));
}

static bool has_number(kc__converted_cache *cache, int number)
{
    char key[16];
    snprintf(key, sizeof(key), "%d", number);
    kc_auto(kc_object) *object = kc__converted_cache_get(cache, kc_cstr(key));
    return object != NULL;
}

static void added_object_is_found_by_its_key_only(void **state)
{
    (void)state;
    kc_auto(kc_metrics) *metrics = kc_metrics_new();
    kc__converted_cache *cache = cache_of(1 << 20, metrics);
    add_number(cache, 1);
    assert_true(has_number(cache, 1));
    assert_false(has_number(cache, 2));
    assert_null(kc__converted_cache_pin(cache, KC_STR("2")));
    kc__converted_cache_free(cache);
}

static void budget_evicts_unused_entries_first(void **state)
{
    (void)state;
    kc_auto(kc_metrics) *metrics = kc_metrics_new();
    kc__converted_cache *cache = cache_of(2000, metrics);
    add_number(cache, 0);
    for (int i = 1; i < 100; i++) {
        add_number(cache, i);
        assert_true(has_number(cache, 0)); /* Used again and again: kept. */
        assert_true(kept_bytes(metrics) <= 2000);
    }
    assert_false(has_number(cache, 1));
    assert_true(has_number(cache, 99));
    kc__converted_cache_free(cache);
    assert_true(kept_bytes(metrics) == 0);
}

static void pinned_entry_stays_beyond_the_budget(void **state)
{
    (void)state;
    kc_auto(kc_metrics) *metrics = kc_metrics_new();
    kc__converted_cache *cache = cache_of(1, metrics);
    kc_auto(kc_object) *object = object_of("{'a':1}");
    kc__remote_converted *pin = kc__converted_cache_add(cache, KC_STR("a"), object);
    kc__remote_converted *again = kc__converted_cache_pin(cache, KC_STR("a"));
    assert_ptr_equal(pin, again);
    add_number(cache, 1);
    kc__converted_cache_clear(cache);
    assert_ptr_equal(pin->object, object);
    kc__remote_converted_unpin(again);
    kc_auto(kc_object) *kept = kc__converted_cache_get(cache, KC_STR("a"));
    assert_non_null(kept);
    kc__remote_converted_unpin(pin);
    assert_null(kc__converted_cache_get(cache, KC_STR("a")));
    kc__converted_cache_free(cache);
}

static void second_addition_of_a_key_keeps_the_first(void **state)
{
    (void)state;
    kc_auto(kc_metrics) *metrics = kc_metrics_new();
    kc__converted_cache *cache = cache_of(1 << 20, metrics);
    kc_auto(kc_object) *a = object_of("{'a':1}"), *b = object_of("{'a':1}");
    kc__remote_converted *first = kc__converted_cache_add(cache, KC_STR("k"), a);
    kc__remote_converted *second = kc__converted_cache_add(cache, KC_STR("k"), b);
    assert_ptr_equal(first, second);
    assert_ptr_equal(first->object, a);
    kc__remote_converted_unpin(first);
    kc__remote_converted_unpin(second);
    kc__converted_cache_free(cache);
}

static void use_cache(void *user)
{
    for (int i = 0; i < 2000; i++) {
        add_number(user, i % 50);
        has_number(user, (i * 7) % 50);
    }
}

static void threads_share_the_cache(void **state)
{
    (void)state;
    kc_auto(kc_metrics) *metrics = kc_metrics_new();
    kc__converted_cache *cache = cache_of(4000, metrics);
    kc_thread *threads[4];
    for (size_t i = 0; i < KC_COUNT(threads); i++)
        threads[i] = kc_thread_start("user", use_cache, cache, NULL);
    for (size_t i = 0; i < KC_COUNT(threads); i++)
        kc_thread_join(threads[i]);
    assert_true(kept_bytes(metrics) <= 4000);
    kc__converted_cache_free(cache);
}

TESTS(added_object_is_found_by_its_key_only, budget_evicts_unused_entries_first,
      pinned_entry_stays_beyond_the_budget, second_addition_of_a_key_keeps_the_first,
      threads_share_the_cache)
