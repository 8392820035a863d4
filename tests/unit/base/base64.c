/* SPDX-License-Identifier: Apache-2.0 */
#include "kc/base64.h"
#include "testing.h"

static const struct {
    const char *bytes, *padded, *url;
} pairs[] = {
    {"", "", ""},
    {"f", "Zg==", "Zg"},
    {"fo", "Zm8=", "Zm8"},
    {"foo", "Zm9v", "Zm9v"},
    {"foobar", "Zm9vYmFy", "Zm9vYmFy"},
    {"\xfb\xff", "+/8=", "-_8"},
};

static void bytes_are_encoded(void **state)
{
    (void)state;
    for (size_t i = 0; i < KC_COUNT(pairs); i++) {
        kc_scoped(kc_buf) padded = {0}, url = {0};
        kc_base64_write(&padded, kc_cstr(pairs[i].bytes), KC_BASE64);
        kc_base64_write(&url, kc_cstr(pairs[i].bytes), KC_BASE64_URL);
        assert_string_equal(kc_buf_cstr(&padded), pairs[i].padded);
        assert_string_equal(kc_buf_cstr(&url), pairs[i].url);
    }
}

static void text_is_decoded(void **state)
{
    (void)state;
    for (size_t i = 0; i < KC_COUNT(pairs); i++) {
        kc_scoped(kc_buf) padded = {0}, url = {0};
        assert_true(kc_base64_read(&padded, kc_cstr(pairs[i].padded), KC_BASE64));
        assert_true(kc_base64_read(&url, kc_cstr(pairs[i].url), KC_BASE64_URL));
        assert_string_equal(kc_buf_cstr(&padded), pairs[i].bytes);
        assert_string_equal(kc_buf_cstr(&url), pairs[i].bytes);
    }
}

static void invalid_text_fails_and_leaves_buffer_unchanged(void **state)
{
    (void)state;
    static const char *const bad[] = {"Z", "Zg", "Zg=", "Zh==", "Zm9v=", "====", "Zm 9v", "-_8="};
    kc_scoped(kc_buf) out = {0};
    kc_buf_puts(&out, "kept");
    for (size_t i = 0; i < KC_COUNT(bad); i++)
        assert_false(kc_base64_read(&out, kc_cstr(bad[i]), KC_BASE64));
    assert_false(kc_base64_read(&out, KC_STR("Zg=="), KC_BASE64_URL));
    assert_string_equal(kc_buf_cstr(&out), "kept");
}

TESTS(bytes_are_encoded, text_is_decoded, invalid_text_fails_and_leaves_buffer_unchanged)
