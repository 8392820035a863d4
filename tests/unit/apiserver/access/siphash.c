/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/access/siphash.h"

#include "testing.h"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>

/* The same by OpenSSL. */
static void siphash_by_openssl(const unsigned char key[16], const unsigned char *text, size_t n,
                               unsigned char out[16])
{
    size_t size = 16, written = 0;
    OSSL_PARAM params[] = {OSSL_PARAM_construct_size_t(OSSL_MAC_PARAM_SIZE, &size),
                           OSSL_PARAM_construct_end()};
    EVP_MAC *mac = EVP_MAC_fetch(NULL, "SIPHASH", NULL);
    EVP_MAC_CTX *ctx = EVP_MAC_CTX_new(mac);
    assert_int_equal(EVP_MAC_init(ctx, key, 16, params), 1);
    assert_int_equal(EVP_MAC_update(ctx, text, n), 1);
    assert_int_equal(EVP_MAC_final(ctx, out, &written, 16), 1);
    EVP_MAC_CTX_free(ctx);
    EVP_MAC_free(mac);
}

static void hash_of_each_length_equals_that_of_openssl(void **state)
{
    unsigned char bytes[16], text[200], expected[16], actual[16];
    kc__siphash_key key;
    (void)state;
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (unsigned char)(i * 7 + 1);
    for (size_t i = 0; i < sizeof(text); i++)
        text[i] = (unsigned char)(i * 31);
    memcpy(&key, bytes, sizeof(key)); /* Little-endian machines. */
    for (size_t n = 0; n <= sizeof(text); n++) {
        const kc__siphash_result result = kc__siphash_of(&key, kc_str_of((char *)text, n));
        siphash_by_openssl(bytes, text, n, expected);
        memcpy(actual, result.words, sizeof(actual));
        assert_memory_equal(actual, expected, sizeof(actual));
    }
}

TESTS(hash_of_each_length_equals_that_of_openssl)
