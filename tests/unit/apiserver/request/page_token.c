/* SPDX-License-Identifier: Apache-2.0 */
/* page_token.c: the values of `continue`. */
#include "testing.h"

#include "apiserver/request/page_token.h"
#include "kc/base64.h"

static int parse(const char *json, kc_arena *arena, kc__rest_page_token *ret, kc_error *err)
{
    kc_scoped(kc_buf) text = {0};
    kc_base64_write(&text, kc_cstr(json), KC_BASE64_URL);
    return kc__rest_page_token_parse(kc_buf_str(&text), arena, ret, err);
}

static void token_starts_after_the_last_key(void **state)
{
    (void)state;
    kc_scoped(kc_arena) arena = {0};
    kc__rest_page_token token;
    kc_str text = kc__rest_page_token_after(KC_STR("default/a"), 12, &arena);
    assert_int_equal(kc__rest_page_token_parse(text, &arena, &token, NULL), 0);
    assert_int_equal(token.revision, 12);
    assert_int_equal(token.start.n, strlen("default/a") + 1);
    assert_memory_equal(token.start.p, "default/a\0", token.start.n);
}

static void token_has_the_encoding_of_kubernetes(void **state)
{
    (void)state;
    kc_scoped(kc_arena) arena = {0};
    assert_str(kc__rest_page_token_after(KC_STR("a"), 5, &arena),
               "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6NSwic3RhcnQiOiJhXHUwMDAwIn0");
}

static void token_for_the_current_revision_keeps_its_key(void **state)
{
    (void)state;
    kc_scoped(kc_arena) arena = {0};
    kc__rest_page_token token;
    kc_str text = kc__rest_page_token_from(KC_STR("b"), KC__REST_PAGE_TOKEN_NOW, &arena);
    assert_int_equal(kc__rest_page_token_parse(text, &arena, &token, NULL), 0);
    assert_int_equal(token.revision, KC__REST_PAGE_TOKEN_NOW);
    assert_str(token.start, "b");
}

static void negative_revision_means_current(void **state)
{
    (void)state;
    kc_scoped(kc_arena) arena = {0};
    kc__rest_page_token token;
    assert_int_equal(
        parse("{\"v\":\"meta.k8s.io/v1\",\"rv\":-2,\"start\":\"a\"}", &arena, &token, NULL), 0);
    assert_int_equal(token.revision, KC__REST_PAGE_TOKEN_NOW);
}

static void invalid_base64_is_reported_with_position(void **state)
{
    (void)state;
    kc_scoped(kc_arena) arena = {0};
    kc_scoped(kc_error) err = {0};
    kc__rest_page_token token;
    assert_true(kc__rest_page_token_parse(KC_STR("abc!"), &arena, &token, &err) < 0);
    assert_error(&err, KC_BAD_REQUEST, "illegal base64 data at input byte 3");
}

static void invalid_token_is_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "",
        "x",
        "[]",
        "{}",
        "{\"v\":\"meta.k8s.io/v2\",\"rv\":1,\"start\":\"a\"}",
        "{\"v\":\"meta.k8s.io/v1\",\"rv\":0,\"start\":\"a\"}",
        "{\"v\":\"meta.k8s.io/v1\",\"rv\":1}",
        "{\"v\":\"meta.k8s.io/v1\",\"rv\":1,\"start\":\"../a\"}",
        "{\"v\":\"meta.k8s.io/v1\",\"rv\":1,\"start\":\"a/../../b\"}",
    };
    for (size_t i = 0; i < KC_COUNT(wrong); i++) {
        kc_scoped(kc_arena) arena = {0};
        kc_scoped(kc_error) err = {0};
        kc__rest_page_token token = {.revision = 77};
        assert_true(parse(wrong[i], &arena, &token, &err) < 0);
        assert_error(&err, KC_BAD_REQUEST, "continue key is not valid");
        assert_int_equal(token.revision, 77);
    }
}

TESTS(token_starts_after_the_last_key, token_has_the_encoding_of_kubernetes,
      token_for_the_current_revision_keeps_its_key, negative_revision_means_current,
      invalid_base64_is_reported_with_position, invalid_token_is_refused)
