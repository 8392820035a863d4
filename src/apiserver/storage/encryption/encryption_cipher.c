/* SPDX-License-Identifier: Apache-2.0 */
/*
 * encryption_cipher.c: AES-GCM and AES-CBC with OpenSSL, secretbox with libsodium.
 *
 * OpenSSL keeps the expanded key in the context, on the ordinary heap. A context therefore lives
 * for one operation only; freeing it wipes it. Setting it up costs less than a microsecond.
 *
 * AES-CBC verifies nothing, and secretbox does not bind a value to its storage key: a program that
 * can write to the store can copy the value of one Secret over another. AES-GCM detects that. Its
 * random nonces of 96 bits limit a key to 2^32 writes (NIST SP 800-38D); secretbox has no such
 * limit in practice.
 *
 * To add a cipher: a row of `ciphers`, with a prefix that kube-apiserver uses.
 */
#include "apiserver/storage/encryption/encryption_cipher.h"

#include <openssl/evp.h>
#include <sodium.h>

enum { GCM_TAG = 16, BLOCK = 16 };

static const char too_short[] = "the stored data was shorter than the required size";

static unsigned char *bytes_in(char *text)
{
    return (unsigned char *)text;
}

static const unsigned char *bytes_of(kc_str text)
{
    return (const unsigned char *)(text.p ? text.p : "");
}

/* ---- AES ---- */

static const EVP_CIPHER *aes(const EVP_CIPHER *const by_size[3], size_t key_bytes)
{
    return by_size[key_bytes == 16 ? 0 : key_bytes == 24 ? 1 : 2];
}

static const EVP_CIPHER *gcm_of(size_t key_bytes)
{
    const EVP_CIPHER *const by_size[] = {EVP_aes_128_gcm(), EVP_aes_192_gcm(), EVP_aes_256_gcm()};
    return aes(by_size, key_bytes);
}

static const EVP_CIPHER *cbc_of(size_t key_bytes)
{
    const EVP_CIPHER *const by_size[] = {EVP_aes_128_cbc(), EVP_aes_192_cbc(), EVP_aes_256_cbc()};
    return aes(by_size, key_bytes);
}

static bool gcm_encrypt(EVP_CIPHER_CTX *ctx, kc__encryption_secret key, const unsigned char *nonce,
                        kc_str context, kc_str plain, unsigned char *out)
{
    int n = 0, last = 0;
    return EVP_EncryptInit_ex(ctx, gcm_of(key.n), NULL, key.bytes, nonce) == 1 &&
           EVP_EncryptUpdate(ctx, NULL, &n, bytes_of(context), (int)context.n) == 1 &&
           EVP_EncryptUpdate(ctx, out, &n, bytes_of(plain), (int)plain.n) == 1 &&
           EVP_EncryptFinal_ex(ctx, out + n, &last) == 1 && (size_t)(n + last) == plain.n &&
           EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_GCM_GET_TAG, GCM_TAG, out + plain.n) == 1;
}

static bool seal_gcm(kc__encryption_secret key, const unsigned char *nonce, kc_str context,
                     kc_str plain, kc_buf *out)
{
    enum { NONCE = 12 };
    const size_t before = out->n;
    kc_buf_append(out, kc_str_of((const char *)nonce, NONCE));
    char *room = kc_buf_reserve(out, plain.n + GCM_TAG);
    EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
    const bool sealed = room && ctx && gcm_encrypt(ctx, key, nonce, context, plain, bytes_in(room));
    EVP_CIPHER_CTX_free(ctx);
    out->n = sealed ? out->n + plain.n + GCM_TAG : before;
    return sealed;
}

static bool gcm_decrypt(EVP_CIPHER_CTX *ctx, kc__encryption_secret key, const unsigned char *nonce,
                        kc_str context, kc_str text, unsigned char *tag, unsigned char *out)
{
    int n = 0, last = 0;
    return EVP_DecryptInit_ex(ctx, gcm_of(key.n), NULL, key.bytes, nonce) == 1 &&
           EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_GCM_SET_TAG, GCM_TAG, tag) == 1 &&
           EVP_DecryptUpdate(ctx, NULL, &n, bytes_of(context), (int)context.n) == 1 &&
           EVP_DecryptUpdate(ctx, out, &n, bytes_of(text), (int)text.n) == 1 &&
           EVP_DecryptFinal_ex(ctx, out + n, &last) == 1;
}

static const char *open_gcm(kc__encryption_secret key, kc_str sealed, kc_str context, kc_buf *out)
{
    enum { NONCE = 12 };
    unsigned char tag[GCM_TAG];
    if (sealed.n < NONCE)
        return too_short;
    if (sealed.n < NONCE + GCM_TAG)
        return "cipher: message authentication failed";
    const kc_str text = kc_str_sub(sealed, NONCE, sealed.n - GCM_TAG);
    memcpy(tag, sealed.p + sealed.n - GCM_TAG, GCM_TAG);
    char *room = kc_buf_reserve(out, text.n + 1);
    EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
    const bool opened =
        room && ctx && gcm_decrypt(ctx, key, bytes_of(sealed), context, text, tag, bytes_in(room));
    EVP_CIPHER_CTX_free(ctx);
    if (opened)
        out->n += text.n;
    else if (room)
        sodium_memzero(room, text.n);
    return opened ? NULL : "cipher: message authentication failed";
}

static bool seal_cbc(kc__encryption_secret key, const unsigned char *nonce, kc_str context,
                     kc_str plain, kc_buf *out)
{
    int n = 0, last = 0;
    const size_t before = out->n;
    (void)context;
    kc_buf_append(out, kc_str_of((const char *)nonce, BLOCK));
    unsigned char *room = bytes_in(kc_buf_reserve(out, plain.n + BLOCK));
    EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
    const bool sealed = room && ctx &&
                        EVP_EncryptInit_ex(ctx, cbc_of(key.n), NULL, key.bytes, nonce) == 1 &&
                        EVP_EncryptUpdate(ctx, room, &n, bytes_of(plain), (int)plain.n) == 1 &&
                        EVP_EncryptFinal_ex(ctx, room + n, &last) == 1;
    EVP_CIPHER_CTX_free(ctx);
    out->n = sealed ? out->n + (size_t)n + (size_t)last : before;
    return sealed;
}

/* The size without PKCS#7 padding; -1, with the error, if the padding is wrong. As in
 * kube-apiserver, which accepts more bytes of padding than a block has. */
static ptrdiff_t unpadded_size(const unsigned char *bytes, size_t n, const char **ret_error)
{
    const size_t padding = n ? bytes[n - 1] : 0;
    if (padding == 0 || padding > n) {
        *ret_error = "invalid PKCS7 data (empty or not padded)";
        return -1;
    }
    for (size_t i = n - padding; i < n; i++)
        if (bytes[i] != padding) {
            *ret_error = "invalid padding on input";
            return -1;
        }
    return (ptrdiff_t)(n - padding);
}

static const char *open_cbc(kc__encryption_secret key, kc_str sealed, kc_str context, kc_buf *out)
{
    int n = 0;
    const char *error = "the stored data could not be decrypted";
    (void)context;
    if (sealed.n < BLOCK)
        return too_short;
    const kc_str text = kc_str_sub(sealed, BLOCK, sealed.n);
    if (text.n % BLOCK)
        return "the stored data is not a multiple of the block size";
    if (!text.n)
        return "invalid PKCS7 data (empty or not padded)";
    unsigned char *room = bytes_in(kc_buf_reserve(out, text.n + BLOCK));
    EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
    const bool decrypted =
        room && ctx &&
        EVP_DecryptInit_ex(ctx, cbc_of(key.n), NULL, key.bytes, bytes_of(sealed)) == 1 &&
        EVP_CIPHER_CTX_set_padding(ctx, 0) == 1 &&
        EVP_DecryptUpdate(ctx, room, &n, bytes_of(text), (int)text.n) == 1;
    EVP_CIPHER_CTX_free(ctx);
    const ptrdiff_t size = decrypted ? unpadded_size(room, (size_t)n, &error) : -1;
    if (size >= 0)
        out->n += (size_t)size;
    else if (room)
        sodium_memzero(room, text.n);
    return size >= 0 ? NULL : error;
}

/* ---- secretbox ---- */

static bool seal_box(kc__encryption_secret key, const unsigned char *nonce, kc_str context,
                     kc_str plain, kc_buf *out)
{
    const size_t before = out->n, n = plain.n + crypto_secretbox_MACBYTES;
    (void)context;
    kc_buf_append(out, kc_str_of((const char *)nonce, crypto_secretbox_NONCEBYTES));
    char *room = kc_buf_reserve(out, n);
    const bool sealed = room && crypto_secretbox_easy(bytes_in(room), bytes_of(plain), plain.n,
                                                      nonce, key.bytes) == 0;
    out->n = sealed ? out->n + n : before;
    return sealed;
}

static const char *open_box(kc__encryption_secret key, kc_str sealed, kc_str context, kc_buf *out)
{
    enum { OVERHEAD = crypto_secretbox_NONCEBYTES + crypto_secretbox_MACBYTES };
    (void)context;
    if (sealed.n < OVERHEAD)
        return too_short;
    const kc_str text = kc_str_sub(sealed, crypto_secretbox_NONCEBYTES, sealed.n);
    char *room = kc_buf_reserve(out, text.n);
    if (!room || crypto_secretbox_open_easy(bytes_in(room), bytes_of(text), text.n,
                                            bytes_of(sealed), key.bytes) != 0)
        return "output array was not large enough for encryption"; /* Kubernetes' words. */
    out->n += sealed.n - OVERHEAD;
    return NULL;
}

/* ---- the table ---- */

static const kc__encryption_cipher ciphers[] = {
    {.name = "aesgcm",
     .prefix = "k8s:enc:aesgcm:v1:",
     .no_key = "no matching key was found for the provided AES transformer",
     .key_sizes = {16, 24, 32},
     .key_text = "[16 24 32]",
     .nonce = 12,
     .seal = seal_gcm,
     .open = open_gcm},
    {.name = "aescbc",
     .prefix = "k8s:enc:aescbc:v1:",
     .no_key = "no matching key was found for the provided AES transformer",
     .key_sizes = {16, 24, 32},
     .key_text = "[16 24 32]",
     .nonce = BLOCK,
     .seal = seal_cbc,
     .open = open_cbc},
    {.name = "secretbox",
     .prefix = "k8s:enc:secretbox:v1:",
     .no_key = "no matching key was found for the provided Secretbox transformer",
     .key_sizes = {32},
     .key_text = "[32]",
     .nonce = crypto_secretbox_NONCEBYTES,
     .seal = seal_box,
     .open = open_box},
};

const kc__encryption_cipher *kc__encryption_cipher_named(kc_str name)
{
    for (size_t i = 0; i < KC_COUNT(ciphers); i++)
        if (kc_str_is(name, ciphers[i].name))
            return &ciphers[i];
    return NULL;
}
