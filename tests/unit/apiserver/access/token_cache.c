/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/access/token_cache.h"

#include "testing.h"

#include "kc/thread.h"

#include <stdio.h>

static kc__sa_claims *claims_of(const char *json)
{
    kc__sa_claims *claims = kc__sa_claims_parse(kc_cstr(json), NULL);
    assert_non_null(claims);
    return claims;
}

static void put_token(kc__token_cache *cache, const char *token, const kc__sa_claims *claims)
{
    kc__token_cache_key key;
    kc_auto(kc__sa_claims) *found = kc__token_cache_get(cache, kc_cstr(token), &key);
    kc__token_cache_put(cache, &key, claims);
}

static bool has_token(kc__token_cache *cache, const char *token)
{
    kc__token_cache_key key;
    kc_auto(kc__sa_claims) *found = kc__token_cache_get(cache, kc_cstr(token), &key);
    return found != NULL;
}

static void token_is_found_for_ten_seconds(void **state)
{
    (void)state;
    kc_auto(kc_clock) *clock = kc_clock_virtual_new(0);
    kc_auto(kc__token_cache) *cache = kc__token_cache_new(clock, NULL, NULL);
    kc_auto(kc__sa_claims) *claims = claims_of("{\"iss\":\"a\"}");
    put_token(cache, "t", claims);
    assert_true(has_token(cache, "t"));
    assert_false(has_token(cache, "T"));
    kc_clock_advance(clock, KC__TOKEN_CACHE_TTL - 1);
    assert_true(has_token(cache, "t"));
    kc_clock_advance(clock, 1);
    assert_false(has_token(cache, "t"));
    assert_int_equal(kc__token_cache_count(cache), 0);
}

static void cache_never_exceeds_its_limits(void **state)
{
    (void)state;
    kc_auto(kc_clock) *clock = kc_clock_virtual_new(0);
    kc_auto(kc_metrics) *metrics = kc_metrics_new();
    kc_auto(kc__token_cache) *cache = kc__token_cache_new(clock, metrics, NULL);
    kc_auto(kc__sa_claims) *claims = claims_of("{\"iss\":\"a\"}");
    kc_scoped(kc_buf) large = {0}, text = {0};
    char token[32];
    for (size_t i = 0; i < 3 * KC__TOKEN_CACHE_ENTRIES; i++) {
        snprintf(token, sizeof(token), "token-%zu", i);
        put_token(cache, token, claims);
        assert_true(has_token(cache, token));
    }
    assert_true(kc__token_cache_count(cache) <= KC__TOKEN_CACHE_ENTRIES);
    assert_true(kc__token_cache_count(cache) > KC__TOKEN_CACHE_ENTRIES / 2);
    kc_buf_puts(&large, "{\"sub\":\"");
    for (size_t i = 0; i < 32 << 10; i++)
        kc_buf_putc(&large, 'x');
    kc_buf_puts(&large, "\"}");
    kc_auto(kc__sa_claims) *big = claims_of(kc_buf_cstr(&large));
    for (size_t i = 0; i < 2000; i++) {
        snprintf(token, sizeof(token), "large-%zu", i);
        put_token(cache, token, big);
    }
    assert_true(kc__token_cache_count(cache) * (32 << 10) <= 2 * KC__TOKEN_CACHE_BYTES);
    kc_metrics_write(metrics, &text);
    assert_contains(kc_buf_cstr(&text), "authentication_token_cache_request_total{status=\"hit\"}");
    assert_contains(kc_buf_cstr(&text), "authentication_token_cache_entries ");
}

/* ---- threads ---- */

static void hammer(void *user)
{
    kc__token_cache *cache = user;
    kc_auto(kc__sa_claims) *claims = claims_of("{\"iss\":\"a\"}");
    char token[32];
    for (size_t i = 0; i < 20000; i++) {
        snprintf(token, sizeof(token), "t%zu", i % 6000);
        put_token(cache, token, claims);
        has_token(cache, token);
    }
}

static void threads_share_the_cache(void **state)
{
    kc_thread *threads[4];
    (void)state;
    kc_auto(kc__token_cache) *cache = kc__token_cache_new(kc_clock_real(), NULL, NULL);
    for (size_t i = 0; i < KC_COUNT(threads); i++)
        threads[i] = kc_thread_start("hammer", hammer, cache, NULL);
    for (size_t i = 0; i < KC_COUNT(threads); i++)
        kc_thread_join(threads[i]);
    assert_true(kc__token_cache_count(cache) <= KC__TOKEN_CACHE_ENTRIES);
}

TESTS(token_is_found_for_ten_seconds, cache_never_exceeds_its_limits, threads_share_the_cache)
