/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/jose/jws.h"

#include "jose_testing.h"

#define PAYLOAD "{\"iss\":\"me\",\"sub\":\"you\"}"

static bool verifies(const char *token, const kc__jose_key *key)
{
    kc_scoped(kc__jws) jws = {0};
    return kc__jws_parse(kc_cstr(token), &jws, NULL) == 0 && kc__jws_verify(&jws, key);
}

static void assert_refused(const char *token, kc_reason reason, const char *part)
{
    kc_scoped(kc__jws) jws = {0};
    kc_scoped(kc_error) err = {0};
    assert_true(kc__jws_parse(kc_cstr(token), &jws, &err) < 0);
    assert_error(&err, reason, part);
}

/* ---- signing and verifying ---- */

static void signed_token_of_each_key_type_verifies(void **state)
{
    static const struct {
        const char *type, *header;
    } rows[] = {{"RSA", "{\"alg\":\"RS256\",\"kid\":\"%s\"}"},
                {"P-256", "{\"alg\":\"ES256\",\"kid\":\"%s\"}"},
                {"P-384", "{\"alg\":\"ES384\",\"kid\":\"%s\"}"},
                {"P-521", "{\"alg\":\"ES512\",\"kid\":\"%s\"}"}};
    (void)state;
    for (size_t i = 0; i < KC_COUNT(rows); i++) {
        kc_scoped(kc__jose_keys) keys = {0};
        kc_scoped(kc__jws) jws = {0};
        kc_scoped(kc_buf) header = {0};
        const kc__jose_key *key = add_test_key(&keys, rows[i].type);
        kc_autofree char *token = signed_with(key, PAYLOAD);
        assert_int_equal(kc__jws_parse(kc_cstr(token), &jws, NULL), 0);
        assert_true(kc__jws_verify(&jws, key));
        assert_str(jws.payload, PAYLOAD);
        assert_str(jws.key_id, key->id);
        kc_autofree char *expected = NULL;
        assert_true(kc_base64_read(&header, kc_str_of(token, strcspn(token, ".")), KC_BASE64_URL));
        expected = kc_asprintf("{\"alg\":\"%s\",\"kid\":\"%s\"}",
                               kc__jose_algorithm_name(key->algorithm), key->id);
        assert_str(kc_buf_str(&header), expected);
    }
}

/* Signs with any algorithm of an RSA key, as another issuer would. */
static char *rsa_signed(const kc__jose_key *key, const char *alg, const char *digest, bool pss)
{
    kc_autofree char *header = kc_asprintf("{\"alg\":\"%s\"}", alg);
    kc_autofree char *unsigned_token = token_of(header, PAYLOAD, KC_STR("x"));
    const size_t length = (size_t)(strrchr(unsigned_token, '.') - unsigned_token);
    unsigned char signature[1024];
    size_t n = sizeof(signature);
    EVP_PKEY_CTX *pctx = NULL;
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    assert_int_equal(EVP_DigestSignInit_ex(ctx, &pctx, digest, NULL, NULL, key->pkey, NULL), 1);
    if (pss) {
        EVP_PKEY_CTX_set_rsa_padding(pctx, RSA_PKCS1_PSS_PADDING);
        EVP_PKEY_CTX_set_rsa_pss_saltlen(pctx, RSA_PSS_SALTLEN_DIGEST);
    }
    assert_int_equal(EVP_DigestSign(ctx, signature, &n, (unsigned char *)unsigned_token, length),
                     1);
    EVP_MD_CTX_free(ctx);
    return token_of(header, PAYLOAD, kc_str_of((char *)signature, n));
}

static void rsa_key_verifies_all_its_algorithms(void **state)
{
    static const struct {
        const char *alg, *digest;
        bool pss;
    } rows[] = {{"RS256", "SHA256", false}, {"RS384", "SHA384", false}, {"RS512", "SHA512", false},
                {"PS256", "SHA256", true},  {"PS384", "SHA384", true},  {"PS512", "SHA512", true}};
    kc_scoped(kc__jose_keys) keys = {0};
    (void)state;
    const kc__jose_key *key = add_test_key(&keys, "RSA"), *other = add_test_key(&keys, "RSA");
    for (size_t i = 0; i < KC_COUNT(rows); i++) {
        kc_autofree char *token = rsa_signed(key, rows[i].alg, rows[i].digest, rows[i].pss);
        assert_true(verifies(token, key));
        assert_false(verifies(token, other));
        /* The padding is part of the algorithm. */
        kc_autofree char *wrong = rsa_signed(key, rows[i].alg, rows[i].digest, !rows[i].pss);
        assert_false(verifies(wrong, key));
    }
}

static void token_of_another_key_is_invalid(void **state)
{
    kc_scoped(kc__jose_keys) keys = {0};
    (void)state;
    const kc__jose_key *rsa = add_test_key(&keys, "RSA"), *p256 = add_test_key(&keys, "P-256"),
                       *other = add_test_key(&keys, "P-256"), *p384 = add_test_key(&keys, "P-384");
    kc_autofree char *token = signed_with(p256, PAYLOAD);
    assert_true(verifies(token, p256));
    assert_false(verifies(token, other));
    assert_false(verifies(token, rsa));
    assert_false(verifies(token, p384));
}

static void changed_byte_anywhere_invalidates_token(void **state)
{
    kc_scoped(kc__jose_keys) keys = {0};
    (void)state;
    const kc__jose_key *key = add_test_key(&keys, "P-256");
    kc_autofree char *token = signed_with(key, PAYLOAD);
    for (size_t i = 0; token[i]; i++) {
        const char kept = token[i];
        token[i] = kept == 'A' ? 'B' : 'A';
        assert_false(verifies(token, key));
        token[i] = kept;
    }
    assert_true(verifies(token, key));
}

/* ---- confusion of algorithms ---- */

static void token_without_signature_algorithm_is_refused(void **state)
{
    static const char *const headers[] = {
        "{\"alg\":\"none\"}", "{\"alg\":\"None\"}", "{\"alg\":\"NONE\"}",  "{\"alg\":\"\"}", "{}",
        "{\"alg\":null}",     "{\"alg\":1}",        "{\"alg\":\"rs256\"}",
    };
    (void)state;
    for (size_t i = 0; i < KC_COUNT(headers); i++) {
        kc_autofree char *token = token_of(headers[i], PAYLOAD, KC_STR("x"));
        assert_refused(token, KC_INVALID, "unsupported signature algorithm");
        kc_autofree char *bare = token_of(headers[i], PAYLOAD, KC_STR(""));
        assert_refused(bare, KC_INVALID, "three parts");
    }
}

static void token_signed_by_hmac_with_the_public_key_is_refused(void **state)
{
    kc_scoped(kc__jose_keys) keys = {0};
    (void)state;
    const kc__jose_key *key = add_test_key(&keys, "RSA");
    kc_autofree char *pem = pem_of(key->pkey, false);
    kc_autofree char *token = hmac_token_of("{\"alg\":\"HS256\"}", PAYLOAD, pem);
    assert_refused(token, KC_INVALID, "unsupported signature algorithm");
    kc_autofree char *renamed = hmac_token_of("{\"alg\":\"RS256\"}", PAYLOAD, pem);
    assert_false(verifies(renamed, key));
}

static void ecdsa_signature_of_wrong_form_is_invalid(void **state)
{
    kc_scoped(kc__jose_keys) keys = {0};
    char zeros[64] = {0}, ones[64];
    (void)state;
    memset(ones, 0xff, sizeof(ones));
    const kc__jose_key *key = add_test_key(&keys, "P-256");
    const kc_str wrong[] = {{zeros, 64}, {ones, 64}, {zeros, 1}, {zeros, 63}};
    for (size_t i = 0; i < KC_COUNT(wrong); i++) {
        kc_autofree char *token = token_of("{\"alg\":\"ES256\"}", PAYLOAD, wrong[i]);
        assert_false(verifies(token, key));
    }
}

/* ---- limits and form ---- */

static void malformed_token_is_refused(void **state)
{
    static const struct {
        const char *token, *why;
    } rows[] = {
        {"", "three parts"},
        {".", "three parts"},
        {"..", "three parts"},
        {"a.b", "three parts"},
        {"a.b.c.d", "three parts"},
        {"{\"payload\":\"x\"}", "three parts"},
        {"e30.e30.*", "base64url"},
        {"e30=.e30.e30", "base64url"},
        {"e30.e31.e30", "base64url"},
        {"e30.e30.e30", "algorithm"},
        {"W10.e30.e30", "JSON object"},
        {"eA.e30.e30", "JSON object"},
    };
    (void)state;
    for (size_t i = 0; i < KC_COUNT(rows); i++)
        assert_refused(rows[i].token, KC_INVALID, rows[i].why);
}

static void header_with_critical_or_duplicate_members_is_refused(void **state)
{
    static const struct {
        const char *header, *why;
    } rows[] = {
        {"{\"alg\":\"RS256\",\"crit\":[\"exp\"]}", "critical"},
        {"{\"alg\":\"RS256\",\"b64\":false}", "critical"},
        {"{\"alg\":\"RS256\",\"alg\":\"none\"}", "distinct"},
        {"{\"alg\":\"RS256\",\"kid\":1}", "key id"},
    };
    (void)state;
    for (size_t i = 0; i < KC_COUNT(rows); i++) {
        kc_autofree char *token = token_of(rows[i].header, PAYLOAD, KC_STR("x"));
        assert_refused(token, KC_INVALID, rows[i].why);
    }
}

static void token_above_limits_is_refused(void **state)
{
    kc_scoped(kc_buf) header = {0}, payload = {0}, out = {0};
    kc_scoped(kc__jose_keys) keys = {0};
    kc_scoped(kc_error) err = {0};
    (void)state;
    for (size_t i = 0; i < KC__JWS_MAX_BYTES; i++)
        kc_buf_putc(&payload, 'x');
    kc_autofree char *large = token_of("{\"alg\":\"RS256\"}", kc_buf_cstr(&payload), KC_STR("x"));
    assert_refused(large, KC_TOO_LARGE, "token of more than");
    kc_buf_puts(&header, "{\"alg\":\"RS256\",\"x\":\"");
    kc_buf_append(&header, kc_str_of(payload.p, KC__JWS_MAX_HEADER));
    kc_buf_puts(&header, "\"}");
    kc_autofree char *wide = token_of(kc_buf_cstr(&header), PAYLOAD, KC_STR("x"));
    assert_refused(wide, KC_TOO_LARGE, "token header of more than");
    assert_true(kc__jws_sign(add_test_key(&keys, "P-256"), kc_buf_str(&payload), &out, &err) < 0);
    assert_error(&err, KC_TOO_LARGE, "token of more than");
    assert_int_equal(out.n, 0);
}

static void public_key_cannot_sign(void **state)
{
    kc_scoped(kc__jose_keys) keys = {0};
    kc_scoped(kc_buf) out = {0};
    kc_scoped(kc_error) err = {0};
    (void)state;
    EVP_PKEY *pkey = new_test_key("P-256");
    assert_int_equal(kc__jose_keys_add(&keys, pkey, false, (kc_str){0}, NULL), 0);
    assert_true(kc__jws_sign(keys.items[0], KC_STR(PAYLOAD), &out, &err) < 0);
    assert_error(&err, KC_INTERNAL, "cannot sign");
}

TESTS(signed_token_of_each_key_type_verifies, rsa_key_verifies_all_its_algorithms,
      token_of_another_key_is_invalid, changed_byte_anywhere_invalidates_token,
      token_without_signature_algorithm_is_refused,
      token_signed_by_hmac_with_the_public_key_is_refused, ecdsa_signature_of_wrong_form_is_invalid,
      malformed_token_is_refused, header_with_critical_or_duplicate_members_is_refused,
      token_above_limits_is_refused, public_key_cannot_sign)
