/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jws.c: parses, verifies and signs tokens in compact serialization.
 *
 * The parser accepts what RFC 7515 allows and no more: base64url without padding and without unused
 * bits, three parts, a header object without duplicate members. So a token has one spelling: a
 * changed byte anywhere is another token, or none.
 *
 * JOSE signatures of elliptic curves are two integers of fixed size, one after the other; OpenSSL
 * reads and writes them as DER. The functions below convert between the two.
 *
 * Pure: no state, no time. Any thread.
 */
#include "apiserver/jose/jws.h"

#include "kc/base64.h"
#include "kc/json.h"

#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/rsa.h>

void kc__jws_done(kc__jws *jws)
{
    kc_buf_done(&jws->text);
    *jws = (kc__jws){0};
}

/* ---- parsing ---- */

static int malformed_token(kc_error *err, const char *why)
{
    return kc_error_set(err, KC_INVALID, "malformed token: %s", why);
}

static kc_view *parse_jws_header(kc_str json, kc_error *err)
{
    kc_scoped(kc_paths) duplicates = {0};
    kc_scoped(kc_error) why = {0};
    kc_auto(kc_view) *view = kc_view_parse(
        json, &(kc_json_opts){.max_depth = KC__JWS_MAX_DEPTH, .duplicates = &duplicates}, &why);
    if (view && !duplicates.n && kc_value_type(kc_view_root(view)) == KC_JSON_OBJECT)
        return kc_take(view);
    malformed_token(err, "the header is not a JSON object with distinct members");
    return NULL;
}

/* Reads "alg" and "kid"; `key_id` becomes a copy at the end of the text. */
static int read_jws_header(kc_str json, kc__jws *jws, kc_buf *key_id, kc_error *err)
{
    kc_auto(kc_view) *view = parse_jws_header(json, err);
    if (!view)
        return kc_error_result(err);
    const kc_value *root = kc_view_root(view), *kid = kc_value_get(root, "kid");
    if (!kc__jose_algorithm_parse(kc_value_as_str(kc_value_get(root, "alg")), &jws->algorithm))
        return kc_error_set(err, KC_INVALID, "unsupported signature algorithm");
    if (kc_value_get(root, "crit") || kc_value_get(root, "b64"))
        return kc_error_set(err, KC_INVALID, "unsupported critical header parameters");
    if (kid && kc_value_type(kid) != KC_JSON_STRING)
        return malformed_token(err, "the key id is not a string");
    kc_buf_append(key_id, kc_value_as_str(kid));
    return 0;
}

/* The three parts; false if there are more or fewer. */
static bool split_token(kc_str token, kc_str parts[3])
{
    kc_str rest = token;
    for (size_t i = 0; i < 3; i++) {
        if (!rest.p)
            return false;
        parts[i] = kc_str_cut(&rest, '.');
    }
    return !rest.p && parts[0].n && parts[1].n && parts[2].n;
}

/* Decodes a part to the end of the text; its length is *ret. */
static bool decode_token_part(kc__jws *jws, kc_str part, size_t *ret)
{
    const size_t before = jws->text.n;
    if (!kc_base64_read(&jws->text, part, KC_BASE64_URL))
        return false;
    *ret = jws->text.n - before;
    return true;
}

/* Fills the text: payload, signature, key id. The header is decoded apart, and dropped. */
static int decode_token(kc_str parts[3], kc__jws *jws, kc_error *err)
{
    size_t payload = 0, signature = 0;
    kc_scoped(kc_buf) header = {0}, key_id = {0};
    if (parts[0].n > KC__JWS_MAX_HEADER)
        return kc_error_set(err, KC_TOO_LARGE, "token header of more than %zu bytes",
                            KC__JWS_MAX_HEADER);
    if (!kc_base64_read(&header, parts[0], KC_BASE64_URL) ||
        !decode_token_part(jws, parts[1], &payload) ||
        !decode_token_part(jws, parts[2], &signature))
        return malformed_token(err, "a part is not base64url");
    if (read_jws_header(kc_buf_str(&header), jws, &key_id, err) < 0)
        return kc_error_result(err);
    kc_buf_append(&jws->text, kc_buf_str(&key_id));
    jws->payload = kc_str_of(jws->text.p, payload);
    jws->signature = kc_str_of(jws->text.p + payload, signature);
    jws->key_id = kc_str_of(jws->text.p + payload + signature, key_id.n);
    return 0;
}

int kc__jws_parse(kc_str token, kc__jws *ret, kc_error *err)
{
    kc_str parts[3];
    kc_scoped(kc__jws) jws = {0};
    if (token.n > KC__JWS_MAX_BYTES)
        return kc_error_set(err, KC_TOO_LARGE, "token of more than %zu bytes", KC__JWS_MAX_BYTES);
    if (!token.n || !split_token(token, parts))
        return malformed_token(err, "it does not have three parts");
    if (decode_token(parts, &jws, err) < 0)
        return kc_error_result(err);
    jws.signed_text = kc_str_of(token.p, parts[0].n + 1 + parts[1].n);
    *ret = jws;
    jws = (kc__jws){0};
    return 0;
}

/* ---- signatures of elliptic curves ---- */

/* The DER form of two integers of `size` bytes; the caller frees it with OPENSSL_free. Returns its
 * length, or 0. */
static int ecdsa_to_der(kc_str raw, size_t size, unsigned char **ret)
{
    const unsigned char *bytes = (const unsigned char *)raw.p;
    if (raw.n != 2 * size)
        return 0;
    ECDSA_SIG *sig = ECDSA_SIG_new();
    BIGNUM *r = BN_bin2bn(bytes, (int)size, NULL), *s = BN_bin2bn(bytes + size, (int)size, NULL);
    int n = 0;
    if (sig && r && s && ECDSA_SIG_set0(sig, r, s)) {
        r = s = NULL;
        n = i2d_ECDSA_SIG(sig, ret);
    }
    BN_free(r);
    BN_free(s);
    ECDSA_SIG_free(sig);
    return n > 0 ? n : 0;
}

static bool ecdsa_from_der(const unsigned char *der, size_t n, size_t size, kc_buf *out)
{
    ECDSA_SIG *sig = d2i_ECDSA_SIG(NULL, &der, (long)n);
    unsigned char raw[2 * 66];
    const bool fits = sig && BN_bn2binpad(ECDSA_SIG_get0_r(sig), raw, (int)size) == (int)size &&
                      BN_bn2binpad(ECDSA_SIG_get0_s(sig), raw + size, (int)size) == (int)size;
    if (fits)
        kc_buf_append(out, kc_str_of((const char *)raw, 2 * size));
    ECDSA_SIG_free(sig);
    return fits;
}

/* ---- verifying and signing ---- */

static bool set_padding(EVP_PKEY_CTX *ctx, kc__jose_algorithm algorithm)
{
    if (!kc__jose_algorithm_is_pss(algorithm))
        return true;
    return EVP_PKEY_CTX_set_rsa_padding(ctx, RSA_PKCS1_PSS_PADDING) > 0 &&
           EVP_PKEY_CTX_set_rsa_pss_saltlen(ctx, RSA_PSS_SALTLEN_DIGEST) > 0;
}

static bool verify_bytes(const kc__jws *jws, const kc__jose_key *key,
                         const unsigned char *signature, size_t n)
{
    EVP_PKEY_CTX *pctx = NULL; /* Owned by ctx. */
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    const bool valid =
        ctx &&
        EVP_DigestVerifyInit_ex(ctx, &pctx, kc__jose_algorithm_digest(jws->algorithm), NULL, NULL,
                                key->pkey, NULL) > 0 &&
        set_padding(pctx, jws->algorithm) &&
        EVP_DigestVerify(ctx, signature, n, (const unsigned char *)jws->signed_text.p,
                         jws->signed_text.n) == 1;
    EVP_MD_CTX_free(ctx);
    ERR_clear_error();
    return valid;
}

bool kc__jws_verify(const kc__jws *jws, const kc__jose_key *key)
{
    const size_t size = kc__jose_algorithm_size(jws->algorithm);
    if (kc__jose_algorithm_key_type(jws->algorithm) != key->type)
        return false;
    if (!size)
        return verify_bytes(jws, key, (const unsigned char *)jws->signature.p, jws->signature.n);
    unsigned char *der = NULL;
    const int n = ecdsa_to_der(jws->signature, size, &der);
    const bool valid = n > 0 && verify_bytes(jws, key, der, (size_t)n);
    OPENSSL_free(der);
    return valid;
}

/* Appends the signature of `text` as JOSE writes it. */
static bool sign_bytes(const kc__jose_key *key, kc_str text, kc_buf *out)
{
    unsigned char raw[KC__JOSE_MAX_RSA_BITS / 8];
    size_t n = sizeof(raw);
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    const bool signed_it =
        ctx &&
        EVP_DigestSignInit_ex(ctx, NULL, kc__jose_algorithm_digest(key->algorithm), NULL, NULL,
                              key->pkey, NULL) > 0 &&
        EVP_DigestSign(ctx, raw, &n, (const unsigned char *)text.p, text.n) > 0;
    EVP_MD_CTX_free(ctx);
    ERR_clear_error();
    const size_t size = kc__jose_algorithm_size(key->algorithm);
    if (signed_it && size)
        return ecdsa_from_der(raw, n, size, out);
    kc_buf_append(out, kc_str_of((const char *)raw, signed_it ? n : 0));
    return signed_it;
}

int kc__jws_sign(const kc__jose_key *key, kc_str payload, kc_buf *out, kc_error *err)
{
    kc_scoped(kc_buf) header = {0}, token = {.limit = KC__JWS_MAX_BYTES}, signature = {0};
    kc_buf_printf(&header, "{\"alg\":\"%s\",\"kid\":\"%s\"}",
                  kc__jose_algorithm_name(key->algorithm), key->id);
    kc_base64_write(&token, kc_buf_str(&header), KC_BASE64_URL);
    kc_buf_putc(&token, '.');
    kc_base64_write(&token, payload, KC_BASE64_URL);
    if (!token.failed && (!key->is_private || !sign_bytes(key, kc_buf_str(&token), &signature)))
        return kc_error_set(err, KC_INTERNAL, "cannot sign with the key %s", key->id);
    kc_buf_putc(&token, '.');
    kc_base64_write(&token, kc_buf_str(&signature), KC_BASE64_URL);
    if (token.failed)
        return kc_error_set(err, KC_TOO_LARGE, "token of more than %zu bytes", KC__JWS_MAX_BYTES);
    kc_buf_append(out, kc_buf_str(&token));
    return 0;
}
