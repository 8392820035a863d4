/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ciphers, with published vectors: NIST's of AES-GCM (the test case with additional data) and
 * of AES-CBC (SP 800-38A, F.2.5), NaCl's of secretbox.
 */
#include "testing.h"

#include "apiserver/storage/encryption/encryption_cipher.h"

#include <stdio.h>

typedef struct vector {
    const char *cipher, *key, *nonce, *context, *plain, *sealed;
} vector;

static const vector vectors[] = {
    {"aesgcm", "feffe9928665731c6d6a8f9467308308", "cafebabefacedbaddecaf888",
     "feedfacedeadbeeffeedfacedeadbeefabaddad2",
     "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6"
     "b525b16aedf5aa0de657ba637b39",
     "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e21d514b25466931c7d8f6a5aac84"
     "aa051ba30b396a0aac973d58e0915bc94fbc3221a5db94fae95ae7121a47"},
    {"aesgcm", "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308",
     "cafebabefacedbaddecaf888", "feedfacedeadbeeffeedfacedeadbeefabaddad2",
     "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6"
     "b525b16aedf5aa0de657ba637b39",
     "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828"
     "838c5f61e6393ba7a0abcc9f66276fc6ece0f4e1768cddf8853bb2d551b"},
    {"aescbc", "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4",
     "000102030405060708090a0b0c0d0e0f", "",
     "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e5130c81c46a35ce411e5fbc1191a0a"
     "52eff69f2445df4f9b17ad2b417be66c3710",
     "f58c4c04d6e5f1ba779eabfb5f7bfbd69cfc4e967edb808d679f777bc6702c7d39f23369a9d9bacfa530e2630423"
     "1461b2eb05e2c39be9fcda6c19078c6a9d1b"},
    {"secretbox", "1b27556473e985d462cd51197a9a46c76009549eac6474f206c4ee0844f68389",
     "69696ee955b62b73cd62bda875fc73d68219e0036b7a0b37", "",
     "be075fc53c81f2d5cf141316ebeb0c7b5228c52a4c62cbd44b66849b64244ffce5ecbaaf33bd751a1ac728d45e6c"
     "61296cdc3c01233561f41db66cce314adb310e3be8250c46f06dceea3a7fa1348057e2f6556ad6b1318a024a838f"
     "21af1fde048977eb48f59ffd4924ca1c60902e52f0a089bc76897040e082f937763848645e0705",
     "f3ffc7703f9400e52a7dfb4b3d3305d98e993b9f48681273c29650ba32fc76ce48332ea7164d96a4476fb8c531a1"
     "186ac0dfc17c98dce87b4da7f011ec48c97271d2c20f9b928fe2270d6fb863d51738b48eeee314a7cc8ab9321645"
     "48e526ae90224368517acfeabd6bb3732bc0e9da99832b61ca01b6de56244a9e88d5f9b37973f622a43d14a6599b"
     "1f654cb45a74e355a5"},
};

static void from_hex(kc_buf *out, const char *hex)
{
    for (; hex[0] && hex[1]; hex += 2) {
        unsigned byte = 0;
        assert_int_equal(sscanf(hex, "%2x", &byte), 1);
        kc_buf_putc(out, (char)byte);
    }
}

typedef struct decoded {
    const kc__encryption_cipher *cipher;
    kc_buf key, nonce, context, plain, sealed;
} decoded;

static void decoded_done(decoded *d)
{
    kc_buf_done(&d->key);
    kc_buf_done(&d->nonce);
    kc_buf_done(&d->context);
    kc_buf_done(&d->plain);
    kc_buf_done(&d->sealed);
}

static decoded decode(const vector *v)
{
    decoded d = {.cipher = kc__encryption_cipher_named(kc_cstr(v->cipher))};
    assert_non_null(d.cipher);
    from_hex(&d.key, v->key);
    from_hex(&d.nonce, v->nonce);
    from_hex(&d.context, v->context);
    from_hex(&d.plain, v->plain);
    from_hex(&d.sealed, v->nonce);
    from_hex(&d.sealed, v->sealed);
    return d;
}

static kc__encryption_secret key_of(const decoded *d)
{
    return (kc__encryption_secret){(const unsigned char *)d->key.p, d->key.n};
}

static void seal(const decoded *d, kc_buf *out)
{
    assert_int_equal(d->nonce.n, d->cipher->nonce);
    assert_true(d->cipher->seal(key_of(d), (const unsigned char *)d->nonce.p,
                                kc_buf_str(&d->context), kc_buf_str(&d->plain), out));
}

/* AES-CBC adds a block of padding, which the vector does not have. */
static void sealed_bytes_are_those_of_published_vectors(void **state)
{
    (void)state;
    for (size_t i = 0; i < KC_COUNT(vectors); i++) {
        kc_scoped(decoded) d = decode(&vectors[i]);
        kc_scoped(kc_buf) out = {0};
        seal(&d, &out);
        assert_true(out.n >= d.sealed.n);
        assert_memory_equal(out.p, d.sealed.p, d.sealed.n);
        assert_int_equal(out.n - d.sealed.n, !strcmp(vectors[i].cipher, "aescbc") ? 16 : 0);
    }
}

static void sealed_bytes_open_to_plain_bytes_of_any_size(void **state)
{
    (void)state;
    for (size_t i = 0; i < KC_COUNT(vectors); i++)
        for (size_t n = 0; n < 50; n++) {
            kc_scoped(decoded) d = decode(&vectors[i]);
            kc_scoped(kc_buf) sealed = {0}, plain = {0};
            d.plain.n = n;
            seal(&d, &sealed);
            assert_null(
                d.cipher->open(key_of(&d), kc_buf_str(&sealed), kc_buf_str(&d.context), &plain));
            assert_int_equal(plain.n, n);
            assert_memory_equal(plain.p ? plain.p : "", d.plain.p, n);
        }
}

/* AES-CBC authenticates nothing: a changed byte may decrypt to other text. */
static void changed_byte_is_detected_by_authenticating_ciphers(void **state)
{
    (void)state;
    for (size_t i = 0; i < KC_COUNT(vectors); i++) {
        kc_scoped(decoded) d = decode(&vectors[i]);
        for (size_t at = 0; at < d.sealed.n && strcmp(vectors[i].cipher, "aescbc"); at++) {
            kc_scoped(kc_buf) plain = {0};
            d.sealed.p[at] ^= 1;
            assert_non_null(
                d.cipher->open(key_of(&d), kc_buf_str(&d.sealed), kc_buf_str(&d.context), &plain));
            assert_int_equal(plain.n, 0);
            d.sealed.p[at] ^= 1;
        }
    }
}

static void value_moved_to_another_key_is_detected_by_aesgcm(void **state)
{
    (void)state;
    kc_scoped(decoded) d = decode(&vectors[0]);
    kc_scoped(kc_buf) plain = {0};
    assert_string_equal(d.cipher->open(key_of(&d), kc_buf_str(&d.sealed),
                                       KC_STR("/registry/secrets/other/one"), &plain),
                        "cipher: message authentication failed");
}

static void truncated_value_is_refused_with_the_words_of_kubernetes(void **state)
{
    (void)state;
    static const struct {
        const char *cipher;
        size_t n;
        const char *error;
    } cases[] = {
        {"aesgcm", 11, "the stored data was shorter than the required size"},
        {"aesgcm", 12, "cipher: message authentication failed"},
        {"aescbc", 15, "the stored data was shorter than the required size"},
        {"aescbc", 16, "invalid PKCS7 data (empty or not padded)"},
        {"aescbc", 17, "the stored data is not a multiple of the block size"},
        {"secretbox", 39, "the stored data was shorter than the required size"},
        {"secretbox", 40, "output array was not large enough for encryption"},
    };
    static const char zeros[64];
    for (size_t i = 0; i < KC_COUNT(cases); i++) {
        const kc__encryption_cipher *cipher = kc__encryption_cipher_named(kc_cstr(cases[i].cipher));
        kc_scoped(kc_buf) plain = {0};
        const kc__encryption_secret key = {(const unsigned char *)zeros, 32};
        assert_string_equal(cipher->open(key, kc_str_of(zeros, cases[i].n), KC_STR("k"), &plain),
                            cases[i].error);
    }
}

TESTS(sealed_bytes_are_those_of_published_vectors, sealed_bytes_open_to_plain_bytes_of_any_size,
      changed_byte_is_detected_by_authenticating_ciphers,
      value_moved_to_another_key_is_detected_by_aesgcm,
      truncated_value_is_refused_with_the_words_of_kubernetes)
