/* SPDX-License-Identifier: Apache-2.0 */
/*
 * password_hash.c: see password_hash.h. OpenSSL computes scrypt. Parameters of a stored hash are
 * bounded before they are used, so that a damaged Secret cannot make the server allocate gigabytes.
 */
#include "apiserver/people/password_hash.h"

#include "kc/base64.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <openssl/rand.h>
#include <stdio.h>

#define SCHEME "$scrypt$"

enum {
    SALT_BYTES = 16,
    HASH_BYTES = 32,
    DEFAULT_LOG_N = 15,
    DEFAULT_R = 8,
    DEFAULT_P = 3,
    MAX_LOG_N = 20,
    MAX_R = 32,
    MAX_P = 16
};

/* Memory of one computation: 128 * N * r bytes, and some. */
#define MAX_MEMORY ((uint64_t)256 << 20)

typedef struct parsed_hash {
    kc__people_cost cost;
    unsigned char salt[SALT_BYTES], hash[HASH_BYTES];
} parsed_hash;

static kc__people_cost cost_or_default(const kc__people_cost *cost)
{
    if (cost && cost->log_n)
        return *cost;
    return (kc__people_cost){DEFAULT_LOG_N, DEFAULT_R, DEFAULT_P};
}

static bool cost_is_allowed(const kc__people_cost *cost)
{
    return cost->log_n >= 1 && cost->log_n <= MAX_LOG_N && cost->r >= 1 && cost->r <= MAX_R &&
           cost->p >= 1 && cost->p <= MAX_P &&
           ((uint64_t)128 << cost->log_n) * cost->r <= MAX_MEMORY;
}

/* ---- scrypt ---- */

static bool derive_hash(EVP_KDF_CTX *context, kc_str password, const parsed_hash *from,
                        unsigned char out[HASH_BYTES])
{
    uint64_t n = (uint64_t)1 << from->cost.log_n, r = from->cost.r, p = from->cost.p;
    uint64_t memory = 2 * MAX_MEMORY;
    const OSSL_PARAM params[] = {
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_PASSWORD, (void *)password.p, password.n),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SALT, (void *)from->salt, SALT_BYTES),
        OSSL_PARAM_construct_uint64(OSSL_KDF_PARAM_SCRYPT_N, &n),
        OSSL_PARAM_construct_uint64(OSSL_KDF_PARAM_SCRYPT_R, &r),
        OSSL_PARAM_construct_uint64(OSSL_KDF_PARAM_SCRYPT_P, &p),
        OSSL_PARAM_construct_uint64(OSSL_KDF_PARAM_SCRYPT_MAXMEM, &memory),
        OSSL_PARAM_construct_end(),
    };
    return EVP_KDF_derive(context, out, HASH_BYTES, params) == 1;
}

static bool compute_hash(kc_str password, const parsed_hash *from, unsigned char out[HASH_BYTES])
{
    EVP_KDF *kdf = EVP_KDF_fetch(NULL, "SCRYPT", NULL);
    EVP_KDF_CTX *context = kdf ? EVP_KDF_CTX_new(kdf) : NULL;
    const bool derived = context && derive_hash(context, password, from, out);
    EVP_KDF_CTX_free(context);
    EVP_KDF_free(kdf);
    return derived;
}

/* ---- text ---- */

static bool parse_cost(kc_str text, kc__people_cost *ret)
{
    char copy[32];
    unsigned log_n, r, p;
    int end = 0;
    if (text.n >= sizeof(copy))
        return false;
    memcpy(copy, text.p, text.n);
    copy[text.n] = 0;
    if (sscanf(copy, "ln=%2u,r=%2u,p=%2u%n", &log_n, &r, &p, &end) != 3 || (size_t)end != text.n)
        return false;
    *ret = (kc__people_cost){log_n, r, p};
    return cost_is_allowed(ret);
}

static bool parse_bytes(kc_str text, unsigned char *ret, size_t n)
{
    kc_scoped(kc_buf) bytes = {0};
    if (!kc_base64_read(&bytes, text, KC_BASE64_URL) || bytes.n != n)
        return false;
    memcpy(ret, bytes.p, n);
    return true;
}

static bool parse_hash(kc_str text, parsed_hash *ret)
{
    if (!kc_str_starts(text, KC_STR(SCHEME)))
        return false;
    kc_str rest = kc_str_sub(text, sizeof(SCHEME) - 1, text.n);
    const kc_str cost = kc_str_cut(&rest, '$'), salt = kc_str_cut(&rest, '$');
    return parse_cost(cost, &ret->cost) && parse_bytes(salt, ret->salt, SALT_BYTES) &&
           parse_bytes(rest, ret->hash, HASH_BYTES);
}

static void write_hash(kc_buf *out, const parsed_hash *hash)
{
    kc_buf_printf(out, SCHEME "ln=%u,r=%u,p=%u$", hash->cost.log_n, hash->cost.r, hash->cost.p);
    kc_base64_write(out, kc_str_of((const char *)hash->salt, SALT_BYTES), KC_BASE64_URL);
    kc_buf_putc(out, '$');
    kc_base64_write(out, kc_str_of((const char *)hash->hash, HASH_BYTES), KC_BASE64_URL);
}

/* ---- interface ---- */

int kc__people_hash_make(kc_str password, const kc__people_cost *cost, kc_buf *out, kc_error *err)
{
    parsed_hash hash = {.cost = cost_or_default(cost)};
    if (RAND_bytes(hash.salt, SALT_BYTES) != 1 || !compute_hash(password, &hash, hash.hash))
        return kc_error_set(err, KC_INTERNAL, "cannot compute the hash of a password");
    write_hash(out, &hash);
    explicit_bzero(&hash, sizeof(hash));
    return 0;
}

bool kc__people_hash_verify(kc_str password, kc_str text, const kc__people_cost *cost)
{
    unsigned char computed[HASH_BYTES] = {0};
    parsed_hash hash = {.cost = cost_or_default(cost)};
    const bool known = parse_hash(text, &hash);
    if (!known)
        hash = (parsed_hash){.cost = cost_or_default(cost)};
    const bool derived = compute_hash(password, &hash, computed);
    const bool same = CRYPTO_memcmp(computed, hash.hash, HASH_BYTES) == 0;
    explicit_bzero(computed, sizeof(computed));
    explicit_bzero(&hash, sizeof(hash));
    return known && derived && same;
}
