/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jwk.c: writes and parses JSON Web Key Sets.
 *
 * Integers of a key are base64url of their big-endian bytes: the modulus and exponent of an RSA key
 * without leading zeros, the coordinates of a point in the size of its curve.
 *
 * To add a type of key: a case in write_jwk and a row of `key_readers`.
 */
#include "apiserver/jose/jwk.h"

#include "kc/base64.h"
#include "kc/json.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/param_build.h>

static const struct {
    kc__jose_key_type type;
    const char *name;  /* "crv" */
    const char *group; /* OpenSSL's name. */
    int size;          /* Of a coordinate, in bytes. */
} jwk_curves[] = {
    {KC__JOSE_P256, "P-256", "prime256v1", 32},
    {KC__JOSE_P384, "P-384", "secp384r1", 48},
    {KC__JOSE_P521, "P-521", "secp521r1", 66},
};

/* ---- writing ---- */

/* ,"name":"base64url", padded to `size` bytes; 0: without leading zeros. */
static bool write_jwk_number(kc_buf *out, const EVP_PKEY *pkey, const char *param, const char *name,
                             int size)
{
    BIGNUM *number = NULL;
    unsigned char bytes[KC__JOSE_MAX_RSA_BITS / 8];
    if (!EVP_PKEY_get_bn_param(pkey, param, &number))
        return false;
    const int n = size ? size : BN_num_bytes(number);
    const bool fits = n <= (int)sizeof(bytes) && BN_bn2binpad(number, bytes, n) == n;
    BN_free(number);
    if (!fits)
        return false;
    kc_buf_printf(out, ",\"%s\":\"", name);
    kc_base64_write(out, kc_str_of((const char *)bytes, (size_t)n), KC_BASE64_URL);
    kc_buf_putc(out, '"');
    return true;
}

static bool write_jwk(const kc__jose_key *key, kc_buf *out)
{
    const char *alg = kc__jose_algorithm_name(key->algorithm);
    kc_buf_printf(
        out, "{\"use\":\"sig\",\"kty\":\"%s\",\"kid\":", key->type == KC__JOSE_RSA ? "RSA" : "EC");
    kc_json_quote(out, kc_cstr(key->id));
    bool written = key->type == KC__JOSE_RSA;
    if (written) {
        kc_buf_printf(out, ",\"alg\":\"%s\"", alg);
        written = write_jwk_number(out, key->pkey, OSSL_PKEY_PARAM_RSA_N, "n", 0) &&
                  write_jwk_number(out, key->pkey, OSSL_PKEY_PARAM_RSA_E, "e", 0);
    }
    for (size_t i = 0; i < KC_COUNT(jwk_curves); i++) {
        if (jwk_curves[i].type != key->type)
            continue;
        const int size = jwk_curves[i].size;
        kc_buf_printf(out, ",\"crv\":\"%s\",\"alg\":\"%s\"", jwk_curves[i].name, alg);
        written = write_jwk_number(out, key->pkey, OSSL_PKEY_PARAM_EC_PUB_X, "x", size) &&
                  write_jwk_number(out, key->pkey, OSSL_PKEY_PARAM_EC_PUB_Y, "y", size);
    }
    kc_buf_putc(out, '}');
    return written;
}

int kc__jwk_set_write(const kc__jose_keys *keys, kc_buf *out, kc_error *err)
{
    kc_buf_puts(out, "{\"keys\":[");
    for (size_t i = 0; i < keys->n; i++) {
        if (i)
            kc_buf_putc(out, ',');
        if (!write_jwk(keys->items[i], out))
            return kc_error_set(err, KC_INTERNAL, "cannot write the key %s", keys->items[i]->id);
    }
    kc_buf_puts(out, "]}");
    return 0;
}

/* ---- parsing ---- */

static bool read_jwk_bytes(const kc_value *jwk, const char *name, size_t most, kc_buf *out)
{
    const kc_str text = kc_value_as_str(kc_value_get(jwk, name));
    return text.n && text.n / 4 * 3 <= most && kc_base64_read(out, text, KC_BASE64_URL) && out->n &&
           out->n <= most;
}

/* The key of parameters, which it frees. NULL if they are not a key. */
static EVP_PKEY *key_of_params(const char *type, OSSL_PARAM_BLD *builder)
{
    EVP_PKEY *pkey = NULL;
    OSSL_PARAM *params = OSSL_PARAM_BLD_to_param(builder);
    EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_name(NULL, type, NULL);
    if (!params || !ctx || EVP_PKEY_fromdata_init(ctx) <= 0 ||
        EVP_PKEY_fromdata(ctx, &pkey, EVP_PKEY_PUBLIC_KEY, params) <= 0)
        pkey = NULL;
    EVP_PKEY_CTX_free(ctx);
    OSSL_PARAM_free(params);
    OSSL_PARAM_BLD_free(builder);
    return pkey;
}

static EVP_PKEY *read_rsa_jwk(const kc_value *jwk)
{
    kc_scoped(kc_buf) n = {0}, e = {0};
    if (!read_jwk_bytes(jwk, "n", KC__JOSE_MAX_RSA_BITS / 8, &n) ||
        !read_jwk_bytes(jwk, "e", 8, &e))
        return NULL;
    BIGNUM *modulus = BN_bin2bn((const unsigned char *)n.p, (int)n.n, NULL);
    BIGNUM *exponent = BN_bin2bn((const unsigned char *)e.p, (int)e.n, NULL);
    OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
    OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_N, modulus);
    OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_E, exponent);
    EVP_PKEY *pkey = key_of_params("RSA", builder);
    BN_free(modulus);
    BN_free(exponent);
    return pkey;
}

/* OpenSSL checks that the point is on the curve. */
static EVP_PKEY *read_ec_jwk(const kc_value *jwk)
{
    const kc_str crv = kc_value_as_str(kc_value_get(jwk, "crv"));
    kc_scoped(kc_buf) point = {0}, y = {0};
    for (size_t i = 0; i < KC_COUNT(jwk_curves); i++) {
        const size_t size = (size_t)jwk_curves[i].size;
        if (!kc_str_is(crv, jwk_curves[i].name))
            continue;
        kc_buf_putc(&point, 4); /* An uncompressed point: both coordinates follow. */
        kc_scoped(kc_buf) x = {0};
        if (!read_jwk_bytes(jwk, "x", size, &x) || !read_jwk_bytes(jwk, "y", size, &y) ||
            x.n != size || y.n != size)
            return NULL;
        kc_buf_append(&point, kc_buf_str(&x));
        kc_buf_append(&point, kc_buf_str(&y));
        OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
        OSSL_PARAM_BLD_push_utf8_string(builder, OSSL_PKEY_PARAM_GROUP_NAME, jwk_curves[i].group,
                                        0);
        OSSL_PARAM_BLD_push_octet_string(builder, OSSL_PKEY_PARAM_PUB_KEY, point.p, point.n);
        return key_of_params("EC", builder);
    }
    return NULL;
}

static const struct {
    const char *kty;
    EVP_PKEY *(*read)(const kc_value *jwk);
} key_readers[] = {{"RSA", read_rsa_jwk}, {"EC", read_ec_jwk}};

/* The key, or NULL if this server cannot verify with it. */
static EVP_PKEY *read_jwk(const kc_value *jwk)
{
    kc__jose_algorithm ignored;
    const kc_value *use = kc_value_get(jwk, "use"), *alg = kc_value_get(jwk, "alg");
    const kc_str kty = kc_value_as_str(kc_value_get(jwk, "kty"));
    if ((use && !kc_str_is(kc_value_as_str(use), "sig")) ||
        (alg && !kc__jose_algorithm_parse(kc_value_as_str(alg), &ignored)))
        return NULL;
    for (size_t i = 0; i < KC_COUNT(key_readers); i++)
        if (kc_str_is(kty, key_readers[i].kty))
            return key_readers[i].read(jwk);
    return NULL;
}

int kc__jwk_set_parse(kc_str json, kc__jose_keys *keys, kc_error *err)
{
    if (json.n > KC__JWK_MAX_BYTES)
        return kc_error_set(err, KC_TOO_LARGE, "key set of more than %zu bytes", KC__JWK_MAX_BYTES);
    kc_auto(kc_view) *view = kc_view_parse(json, &(kc_json_opts){.max_depth = 8}, err);
    if (!view)
        return kc_error_wrap(err, "key set");
    const kc_value *list = kc_value_get(kc_view_root(view), "keys");
    if (kc_value_type(list) != KC_JSON_ARRAY)
        return kc_error_set(err, KC_INVALID, "key set without an array of keys");
    if (kc_value_len(list) > KC__JOSE_MAX_KEYS - keys->n)
        return kc_error_set(err, KC_INVALID, "more than %d keys", KC__JOSE_MAX_KEYS);
    kc_value_each_item (list, jwk) {
        EVP_PKEY *pkey = read_jwk(jwk);
        const kc_str id = kc_value_as_str(kc_value_get(jwk, "kid"));
        if (pkey && id.n <= KC__JOSE_MAX_KEY_ID)
            kc__jose_keys_add(keys, pkey, false, id, NULL); /* Skipped if of another size. */
        else
            EVP_PKEY_free(pkey);
    }
    ERR_clear_error();
    return 0;
}
