/* SPDX-License-Identifier: Apache-2.0 */
/* Cached results of authorization webhooks. */
#include "apiserver/authz/webhook_results.h"
#include "testing.h"

#include <stdio.h>

static void put_result(kc__authz_result_cache *cache, const char *review,
                       kc__authz_decision decision, int64_t ttl)
{
    kc__authz_result *result = kc__authz_result_new(decision, KC_STR("because"), (kc_str){0});
    kc__authz_result_cache_put(cache, kc_cstr(review), result, ttl);
    kc__authz_result_unref(result);
}

static bool is_cached(kc__authz_result_cache *cache, const char *review)
{
    kc__authz_result *result = kc__authz_result_cache_get(cache, kc_cstr(review));
    const bool cached = result;
    kc__authz_result_unref(result);
    return cached;
}

static void result_is_cached_with_its_reason(void **state)
{
    (void)state;
    kc__authz_result_cache *cache = kc__authz_result_cache_new(NULL);
    put_result(cache, "q", KC__AUTHZ_ALLOW, KC_MINUTE);
    kc__authz_result *result = kc__authz_result_cache_get(cache, KC_STR("q"));
    assert_non_null(result);
    assert_int_equal(kc__authz_result_decision(result), KC__AUTHZ_ALLOW);
    assert_true(kc_str_is(kc__authz_result_reason(result), "because"));
    assert_true(kc_str_empty(kc__authz_result_error(result)));
    kc__authz_result_unref(result);
    put_result(cache, "none", KC__AUTHZ_ALLOW, 0);
    assert_false(is_cached(cache, "none"));
    kc__authz_result_cache_free(cache);
}

static void least_recently_used_result_is_dropped(void **state)
{
    (void)state;
    char review[32];
    kc__authz_result_cache *cache = kc__authz_result_cache_new(NULL);
    put_result(cache, "first", KC__AUTHZ_ALLOW, KC_MINUTE);
    put_result(cache, "second", KC__AUTHZ_ALLOW, KC_MINUTE);
    for (int i = 0; i < KC__AUTHZ_MAX_CACHED_RESULTS - 2; i++) {
        snprintf(review, sizeof(review), "q%d", i);
        put_result(cache, review, KC__AUTHZ_DENY, KC_MINUTE);
    }
    assert_true(is_cached(cache, "first"));
    put_result(cache, "more", KC__AUTHZ_ALLOW, KC_MINUTE);
    assert_true(is_cached(cache, "first"));
    assert_false(is_cached(cache, "second"));
    kc__authz_result_cache_free(cache);
}

TESTS(result_is_cached_with_its_reason, least_recently_used_result_is_dropped)
