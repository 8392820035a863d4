/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jose_key.c: keys that sign and verify tokens.
 *
 * The id of a key is base64url(SHA-256(SubjectPublicKeyInfo)), as Kubernetes derives it: tokens
 * name the key that verifies them by this id, and servers that share a key file agree on it.
 *
 * A key file may hold several keys: during a rotation the server still accepts tokens of the old
 * key. A private key in such a file verifies, too.
 *
 * To add an algorithm, add a row of KC__JOSE_ALGORITHMS; another type of key needs a row of
 * `curves` or a case in type_of_key.
 */
#include "apiserver/jose/jose_key.h"

#include "http/tls/certificate.h"
#include "kc/base64.h"
#include "kc/file.h"

#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

/* ---- algorithms ---- */

static const struct {
    const char *name;
    kc__jose_key_type type;
    const char *digest;
    size_t size;
    bool pss;
} algorithms[] = {
#define KC__JOSE_ALGORITHM_ROW(name, type, digest, size, pss) \
    {#name, KC__JOSE_##type, digest, size, pss},
    KC__JOSE_ALGORITHMS(KC__JOSE_ALGORITHM_ROW)
#undef KC__JOSE_ALGORITHM_ROW
};

bool kc__jose_algorithm_parse(kc_str name, kc__jose_algorithm *ret)
{
    for (size_t i = 0; i < KC_COUNT(algorithms); i++)
        if (kc_str_is(name, algorithms[i].name)) {
            *ret = (kc__jose_algorithm)i;
            return true;
        }
    return false;
}

const char *kc__jose_algorithm_name(kc__jose_algorithm algorithm)
{
    return algorithms[algorithm].name;
}

kc__jose_key_type kc__jose_algorithm_key_type(kc__jose_algorithm algorithm)
{
    return algorithms[algorithm].type;
}

const char *kc__jose_algorithm_digest(kc__jose_algorithm algorithm)
{
    return algorithms[algorithm].digest;
}

size_t kc__jose_algorithm_size(kc__jose_algorithm algorithm)
{
    return algorithms[algorithm].size;
}

bool kc__jose_algorithm_is_pss(kc__jose_algorithm algorithm)
{
    return algorithms[algorithm].pss;
}

/* ---- one key ---- */

/* OpenSSL's names of the curves, the type of a key on it, and what the key signs with. */
static const struct {
    const char *group;
    kc__jose_key_type type;
    kc__jose_algorithm signs;
} curves[] = {
    {"prime256v1", KC__JOSE_P256, KC__JOSE_ES256},
    {"secp384r1", KC__JOSE_P384, KC__JOSE_ES384},
    {"secp521r1", KC__JOSE_P521, KC__JOSE_ES512},
};

static int rsa_key_check(const EVP_PKEY *pkey, kc_error *err)
{
    const int bits = EVP_PKEY_get_bits(pkey);
    if (bits < KC__JOSE_MIN_RSA_BITS || bits > KC__JOSE_MAX_RSA_BITS)
        return kc_error_set(err, KC_INVALID, "RSA key of %d bits; must have %d to %d bits", bits,
                            KC__JOSE_MIN_RSA_BITS, KC__JOSE_MAX_RSA_BITS);
    return 0;
}

/* Sets type and algorithm of the key. */
static int type_of_key(kc__jose_key *key, kc_error *err)
{
    char group[64] = "";
    if (EVP_PKEY_is_a(key->pkey, "RSA")) {
        key->type = KC__JOSE_RSA;
        key->algorithm = KC__JOSE_RS256;
        return rsa_key_check(key->pkey, err);
    }
    if (EVP_PKEY_is_a(key->pkey, "EC"))
        EVP_PKEY_get_group_name(key->pkey, group, sizeof(group), NULL);
    for (size_t i = 0; i < KC_COUNT(curves); i++)
        if (!strcmp(group, curves[i].group)) {
            key->type = curves[i].type;
            key->algorithm = curves[i].signs;
            return 0;
        }
    return kc_error_set(err, KC_INVALID,
                        "unsupported key type; must be RSA, or EC on P-256, P-384 or P-521");
}

static int id_of_key(kc__jose_key *key, kc_error *err)
{
    unsigned char *der = NULL, digest[EVP_MAX_MD_SIZE];
    size_t length = 0;
    kc_scoped(kc_buf) text = {0};
    const int n = i2d_PUBKEY(key->pkey, &der);
    if (n <= 0 || !EVP_Q_digest(NULL, "SHA2-256", NULL, der, (size_t)n, digest, &length)) {
        OPENSSL_free(der);
        return kc_error_set(err, KC_INTERNAL, "cannot derive the id of a key");
    }
    OPENSSL_free(der);
    kc_base64_write(&text, kc_str_of((const char *)digest, length), KC_BASE64_URL);
    key->id = kc_buf_take(&text);
    return 0;
}

static kc__jose_key *jose_key_free(kc__jose_key *key)
{
    if (!key)
        return NULL;
    EVP_PKEY_free(key->pkey);
    free(key->id);
    free(key);
    return NULL;
}

/* ---- sets ---- */

void kc__jose_keys_done(kc__jose_keys *keys)
{
    for (size_t i = 0; i < keys->n; i++)
        jose_key_free(keys->items[i]);
    *keys = (kc__jose_keys){0};
}

int kc__jose_keys_add(kc__jose_keys *keys, EVP_PKEY *pkey, bool is_private, kc_str id,
                      kc_error *err)
{
    kc__jose_key *key = kc_new(kc__jose_key);
    key->pkey = pkey;
    key->is_private = is_private;
    key->id = kc_str_empty(id) ? NULL : kc_str_dup(id);
    int failed = 0;
    if (keys->n == KC__JOSE_MAX_KEYS)
        failed = kc_error_set(err, KC_INVALID, "more than %d keys", KC__JOSE_MAX_KEYS);
    if (!failed)
        failed = type_of_key(key, err);
    if (!failed && !key->id)
        failed = id_of_key(key, err);
    if (failed)
        jose_key_free(key);
    else
        keys->items[keys->n++] = key;
    return failed;
}

void kc__jose_keys_unique(kc__jose_keys *keys)
{
    kc__jose_keys all = *keys;
    keys->n = 0;
    for (size_t i = 0; i < all.n; i++) {
        if (kc__jose_keys_find(keys, kc_cstr(all.items[i]->id)))
            jose_key_free(all.items[i]);
        else
            keys->items[keys->n++] = all.items[i];
    }
}

const kc__jose_key *kc__jose_keys_find(const kc__jose_keys *keys, kc_str id)
{
    for (size_t i = 0; i < keys->n; i++)
        if (kc_str_is(id, keys->items[i]->id))
            return keys->items[i];
    return NULL;
}

/* ---- PEM ---- */

static EVP_PKEY *key_of_certificate(const unsigned char *der, long n)
{
    X509 *cert = d2i_X509(NULL, &der, n);
    EVP_PKEY *pkey = cert ? X509_get_pubkey(cert) : NULL;
    X509_free(cert);
    return pkey;
}

/* The key of one block. False if the block has another content than keys. */
static bool key_of_block(const char *name, const unsigned char *der, long n, EVP_PKEY **ret,
                         bool *ret_private)
{
    *ret_private = !strcmp(name, "RSA PRIVATE KEY") || !strcmp(name, "EC PRIVATE KEY") ||
                   !strcmp(name, "PRIVATE KEY") || !strcmp(name, "ENCRYPTED PRIVATE KEY");
    if (*ret_private)
        *ret = d2i_AutoPrivateKey(NULL, &der, n);
    else if (!strcmp(name, "PUBLIC KEY"))
        *ret = d2i_PUBKEY(NULL, &der, n);
    else if (!strcmp(name, "CERTIFICATE"))
        *ret = key_of_certificate(der, n);
    else
        return false;
    return true;
}

/* Adds the key of the next block. 0: the end of the text; 1: a block was read. */
static int next_pem_block(BIO *bio, kc__jose_keys *keys, kc_error *err)
{
    char *name = NULL, *header = NULL;
    unsigned char *der = NULL;
    long n = 0;
    if (!PEM_read_bio(bio, &name, &header, &der, &n))
        return 0;
    EVP_PKEY *pkey = NULL;
    bool is_private = false;
    const bool is_key = key_of_block(name, der, n, &pkey, &is_private);
    int result = 1;
    if (is_key && *header)
        result = kc_error_set(err, KC_INVALID, "the private key is encrypted");
    else if (is_key && !pkey)
        result = kc_error_set(err, KC_INVALID, "cannot read the PEM block %s", name);
    if (result > 0 && is_key)
        result = kc__jose_keys_add(keys, pkey, is_private, (kc_str){0}, err) < 0
                     ? kc_error_result(err)
                     : 1;
    else
        EVP_PKEY_free(pkey);
    OPENSSL_clear_free(der, (size_t)n);
    OPENSSL_free(name);
    OPENSSL_free(header);
    return result;
}

int kc__jose_keys_parse(kc_str pem, kc__jose_keys *keys, kc_error *err)
{
    const size_t before = keys->n;
    if (pem.n > KC_FILE_MAX)
        return kc_error_set(err, KC_TOO_LARGE, "key file of more than 16 MiB");
    BIO *bio = BIO_new_mem_buf(pem.p ? pem.p : "", (int)pem.n);
    int more = 1;
    while (bio && more > 0)
        more = next_pem_block(bio, keys, err);
    BIO_free(bio);
    ERR_clear_error();
    if (more < 0)
        return more;
    return keys->n > before ? 0 : kc_error_set(err, KC_INVALID, "no key found");
}

int kc__jose_keys_read(const char *path, kc__jose_keys *keys, kc_error *err)
{
    kc_buf text = {0};
    int failed = kc_file_read(path, KC_FILE_MAX, &text, err);
    if (!failed && kc__jose_keys_parse(kc_buf_str(&text), keys, err) < 0)
        failed = kc_error_wrap(err, "%s", path);
    kc_buf_wipe(&text);
    return failed;
}

int kc__jose_key_generate(kc_buf *out, kc_error *err)
{
    EVP_PKEY *pkey = EVP_EC_gen("P-256");
    if (!pkey)
        return kc_error_set(err, KC_INTERNAL, "cannot create a key");
    const int failed = kc__cert_key_write(pkey, out, err);
    EVP_PKEY_free(pkey);
    return failed;
}
