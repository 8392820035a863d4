/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/jose/jwk.h"

#include "jose_testing.h"

static void written_keys_are_parsed_to_the_same_keys(void **state)
{
    static const char *const types[] = {"RSA", "P-256", "P-384", "P-521"};
    kc_scoped(kc__jose_keys) keys = {0}, again = {0};
    kc_scoped(kc_buf) json = {0};
    (void)state;
    for (size_t i = 0; i < KC_COUNT(types); i++)
        add_test_key(&keys, types[i]);
    assert_int_equal(kc__jwk_set_write(&keys, &json, NULL), 0);
    assert_int_equal(kc__jwk_set_parse(kc_buf_str(&json), &again, NULL), 0);
    assert_int_equal(again.n, keys.n);
    for (size_t i = 0; i < keys.n; i++) {
        kc_autofree char *token = signed_with(keys.items[i], "{}");
        kc_scoped(kc__jws) jws = {0};
        assert_string_equal(again.items[i]->id, keys.items[i]->id);
        assert_false(again.items[i]->is_private);
        assert_int_equal(kc__jws_parse(kc_cstr(token), &jws, NULL), 0);
        assert_true(kc__jws_verify(&jws, again.items[i]));
    }
}

static void key_set_has_the_members_of_kubernetes_and_no_private_part(void **state)
{
    kc_scoped(kc__jose_keys) keys = {0};
    kc_scoped(kc_buf) json = {0};
    (void)state;
    const kc__jose_key *rsa = add_test_key(&keys, "RSA"), *ec = add_test_key(&keys, "P-256");
    assert_int_equal(kc__jwk_set_write(&keys, &json, NULL), 0);
    kc_autofree char *first = kc_asprintf(
        "{\"keys\":[{\"use\":\"sig\",\"kty\":\"RSA\",\"kid\":\"%s\",\"alg\":\"RS256\",\"n\":\"",
        rsa->id);
    kc_autofree char *second =
        kc_asprintf("\",\"e\":\"AQAB\"},{\"use\":\"sig\",\"kty\":\"EC\",\"kid\":\"%s\","
                    "\"crv\":\"P-256\",\"alg\":\"ES256\",\"x\":\"",
                    ec->id);
    assert_true(kc_str_starts(kc_buf_str(&json), kc_cstr(first)));
    assert_contains(kc_buf_cstr(&json), second);
    assert_null(strstr(kc_buf_cstr(&json), "\"d\""));
    assert_int_equal(strlen(rsa->id), 43);
}

static void keys_for_other_uses_are_skipped(void **state)
{
    static const char *const keys_json[] = {
        "{\"keys\":[]}",
        "{\"keys\":[{\"kty\":\"oct\",\"k\":\"AAAA\"}]}",
        "{\"keys\":[{\"kty\":\"RSA\",\"use\":\"enc\",\"n\":\"AQAB\",\"e\":\"AQAB\"}]}",
        "{\"keys\":[{\"kty\":\"RSA\",\"n\":\"AQAB\",\"e\":\"AQAB\"}]}",
        "{\"keys\":[{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"AQAB\",\"y\":\"AQAB\"}]}",
        "{\"keys\":[{\"kty\":\"EC\",\"crv\":\"secp256k1\",\"x\":\"AQAB\",\"y\":\"AQAB\"}]}",
        "{\"keys\":[null,1,\"x\",[]]}",
    };
    (void)state;
    for (size_t i = 0; i < KC_COUNT(keys_json); i++) {
        kc_scoped(kc__jose_keys) keys = {0};
        assert_int_equal(kc__jwk_set_parse(kc_cstr(keys_json[i]), &keys, NULL), 0);
        assert_int_equal(keys.n, 0);
    }
}

static void point_beside_its_curve_is_skipped(void **state)
{
    char x[44], json[256];
    kc_scoped(kc__jose_keys) keys = {0};
    (void)state;
    memset(x, 'A', 43);
    x[43] = '\0';
    snprintf(json, sizeof(json),
             "{\"keys\":[{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"%s\",\"y\":\"%s\"}]}", x, x);
    assert_int_equal(kc__jwk_set_parse(kc_cstr(json), &keys, NULL), 0);
    assert_int_equal(keys.n, 0);
}

static void text_that_is_no_key_set_is_refused(void **state)
{
    kc_scoped(kc__jose_keys) keys = {0};
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc_buf) many = {0};
    (void)state;
    assert_true(kc__jwk_set_parse(KC_STR("{"), &keys, &err) < 0);
    assert_true(kc__jwk_set_parse(KC_STR("{\"keys\":{}}"), &keys, &err) < 0);
    assert_error(&err, KC_INVALID, "without an array of keys");
    kc_buf_puts(&many, "{\"keys\":[0");
    for (size_t i = 0; i < KC__JOSE_MAX_KEYS; i++)
        kc_buf_puts(&many, ",0");
    kc_buf_puts(&many, "]}");
    assert_true(kc__jwk_set_parse(kc_buf_str(&many), &keys, &err) < 0);
    assert_error(&err, KC_INVALID, "more than 64 keys");
}

TESTS(written_keys_are_parsed_to_the_same_keys,
      key_set_has_the_members_of_kubernetes_and_no_private_part, keys_for_other_uses_are_skipped,
      point_beside_its_curve_is_skipped, text_that_is_no_key_set_is_refused)
