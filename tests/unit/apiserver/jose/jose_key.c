/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/jose/jose_key.h"

#include "jose_testing.h"

static void file_with_several_keys_yields_all_in_order(void **state)
{
    kc_scoped(kc__jose_keys) keys = {0};
    kc_scoped(kc_buf) pem = {0};
    EVP_PKEY *rsa = new_test_key("RSA"), *ec = new_test_key("P-384");
    kc_autofree char *first = pem_of(rsa, true), *second = pem_of(ec, false);
    (void)state;
    kc_buf_printf(&pem,
                  "a comment\n%s\n-----BEGIN EC PARAMETERS-----\nBgUrgQQAIg==\n-----END EC "
                  "PARAMETERS-----\n%s%s",
                  first, second, first);
    assert_int_equal(kc__jose_keys_parse(kc_buf_str(&pem), &keys, NULL), 0);
    assert_int_equal(keys.n, 3);
    assert_true(keys.items[0]->is_private);
    assert_int_equal(keys.items[0]->algorithm, KC__JOSE_RS256);
    assert_false(keys.items[1]->is_private);
    assert_int_equal(keys.items[1]->algorithm, KC__JOSE_ES384);
    assert_string_equal(keys.items[0]->id, keys.items[2]->id);
    kc__jose_keys_unique(&keys);
    assert_int_equal(keys.n, 2);
    assert_ptr_equal(kc__jose_keys_find(&keys, kc_cstr(keys.items[1]->id)), keys.items[1]);
    assert_null(kc__jose_keys_find(&keys, KC_STR("other")));
    EVP_PKEY_free(rsa);
    EVP_PKEY_free(ec);
}

/* The id of this key as kube-apiserver publishes it. */
static void key_id_is_that_of_kubernetes(void **state)
{
    static const char pem[] = "-----BEGIN PUBLIC KEY-----\n"
                              "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEGdUIocak4ERnbiol3u0OJrw2Xvs2\n"
                              "l8GkTX/x3Rlx11bnYsh+BbJhGx2m5F4L5t/PoWLkiFY4x3DJfALL2T/3bA==\n"
                              "-----END PUBLIC KEY-----\n";
    kc_scoped(kc__jose_keys) keys = {0};
    (void)state;
    assert_int_equal(kc__jose_keys_parse(kc_cstr(pem), &keys, NULL), 0);
    assert_string_equal(keys.items[0]->id, "ppU6j6npyO-Yu2Cnz_WNPXXNNv16qsB6cVWEL6gJ6D8");
}

static void assert_keys_refused(const char *pem, const char *why)
{
    kc_scoped(kc__jose_keys) keys = {0};
    kc_scoped(kc_error) err = {0};
    assert_true(kc__jose_keys_parse(kc_cstr(pem), &keys, &err) < 0);
    assert_error(&err, KC_INVALID, why);
}

static void unusable_key_is_refused(void **state)
{
    EVP_PKEY *small = EVP_RSA_gen(1024), *curve = EVP_EC_gen("secp256k1"),
             *edwards = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
    kc_autofree char *a = pem_of(small, true), *b = pem_of(curve, false),
                     *c = pem_of(edwards, true);
    (void)state;
    assert_keys_refused(a, "RSA key of 1024 bits");
    assert_keys_refused(b, "unsupported key type");
    assert_keys_refused(c, "unsupported key type");
    assert_keys_refused("", "no key found");
    assert_keys_refused("-----BEGIN X-----\nAAAA\n-----END X-----\n", "no key found");
    assert_keys_refused("-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n",
                        "cannot read the PEM block PUBLIC KEY");
    EVP_PKEY_free(small);
    EVP_PKEY_free(curve);
    EVP_PKEY_free(edwards);
}

static void encrypted_key_is_refused(void **state)
{
    char *text = NULL;
    EVP_PKEY *pkey = new_test_key("P-256");
    BIO *bio = BIO_new(BIO_s_mem());
    (void)state;
    assert_true(PEM_write_bio_PrivateKey(bio, pkey, EVP_aes_128_cbc(), (unsigned char *)"secret", 6,
                                         NULL, NULL));
    const long n = BIO_get_mem_data(bio, &text);
    kc_autofree char *pem = kc_strndup(text, (size_t)n);
    assert_keys_refused(pem, "cannot read the PEM block ENCRYPTED PRIVATE KEY");
    BIO_free(bio);
    EVP_PKEY_free(pkey);
}

static void missing_file_is_named(void **state)
{
    kc_scoped(kc__jose_keys) keys = {0};
    kc_scoped(kc_error) err = {0};
    (void)state;
    assert_true(kc__jose_keys_read("/nonexistent/sa.key", &keys, &err) < 0);
    assert_error(&err, KC_NOT_FOUND, "/nonexistent/sa.key");
}

TESTS(file_with_several_keys_yields_all_in_order, key_id_is_that_of_kubernetes,
      unusable_key_is_refused, encrypted_key_is_refused, missing_file_is_named)
