/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jose_testing.h: keys and hand-made tokens for tests.
 *
 *     kc_scoped(kc__jose_keys) keys = {0};
 *     add_test_key(&keys, "P-256");                     a new private key
 *     char *token = signed_with(keys.items[0], "{\"iss\":\"me\"}");
 *     char *forged = token_of("{\"alg\":\"none\"}", "{\"iss\":\"me\"}", "");
 */
#ifndef KC_JOSE_TESTING_H
#define KC_JOSE_TESTING_H

#include "testing.h"

#include "apiserver/jose/jws.h"
#include "kc/base64.h"

#include <openssl/ec.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

KC_UNUSED static EVP_PKEY *new_test_key(const char *type)
{
    EVP_PKEY *pkey = !strcmp(type, "RSA") ? EVP_RSA_gen(2048) : EVP_EC_gen(type);
    assert_non_null(pkey);
    return pkey;
}

/* "RSA", "P-256", "P-384" or "P-521". */
KC_UNUSED static const kc__jose_key *add_test_key(kc__jose_keys *keys, const char *type)
{
    assert_int_equal(kc__jose_keys_add(keys, new_test_key(type), true, (kc_str){0}, NULL), 0);
    return keys->items[keys->n - 1];
}

/* The PEM of a key: "PUBLIC KEY" or "PRIVATE KEY". The caller frees it. */
KC_UNUSED static char *pem_of(EVP_PKEY *pkey, bool is_private)
{
    char *text = NULL;
    BIO *bio = BIO_new(BIO_s_mem());
    assert_true(is_private ? PEM_write_bio_PrivateKey(bio, pkey, NULL, NULL, 0, NULL, NULL)
                           : PEM_write_bio_PUBKEY(bio, pkey));
    const long n = BIO_get_mem_data(bio, &text);
    char *copy = kc_strndup(text, (size_t)n);
    BIO_free(bio);
    return copy;
}

/* The caller frees the tokens. */
KC_UNUSED static char *signed_with(const kc__jose_key *key, const char *payload)
{
    kc_buf token = {0};
    assert_int_equal(kc__jws_sign(key, kc_cstr(payload), &token, NULL), 0);
    return kc_buf_take(&token);
}

KC_UNUSED static char *token_of(const char *header, const char *payload, kc_str signature)
{
    kc_buf token = {0};
    kc_base64_write(&token, kc_cstr(header), KC_BASE64_URL);
    kc_buf_putc(&token, '.');
    kc_base64_write(&token, kc_cstr(payload), KC_BASE64_URL);
    kc_buf_putc(&token, '.');
    kc_base64_write(&token, signature, KC_BASE64_URL);
    return kc_buf_take(&token);
}

/* A token whose HMAC key is the text of a public key: the classic confusion of algorithms. */
KC_UNUSED static char *hmac_token_of(const char *header, const char *payload, const char *secret)
{
    unsigned char mac[EVP_MAX_MD_SIZE];
    unsigned n = 0;
    kc_autofree char *unsigned_token = token_of(header, payload, KC_STR("x"));
    const size_t length = (size_t)(strrchr(unsigned_token, '.') - unsigned_token);
    HMAC(EVP_sha256(), secret, (int)strlen(secret), (unsigned char *)unsigned_token, length, mac,
         &n);
    return token_of(header, payload, kc_str_of((char *)mac, n));
}

#endif
