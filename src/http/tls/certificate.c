/* SPDX-License-Identifier: Apache-2.0 */
/*
 * certificate.c: creates and parses certificates and keys with OpenSSL.
 *
 * Keys are ECDSA on P-256: all clients support them, and a handshake costs the server a tenth of
 * what RSA would. Keys and serial numbers use OpenSSL's random numbers, not a kc_rand, because they
 * are secrets. Alternative names are set as values, never through OpenSSL's configuration language,
 * in which a host name could contain more than a name. The validity of a certificate begins some
 * minutes before its creation, because clocks of clients differ.
 *
 * The function that reports an error empties OpenSSL's error queue (`failed`).
 */
#include "http/tls/certificate.h"

#include <arpa/inet.h>
#include <limits.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <time.h>

static int certificate_failed(kc_error *err, const char *what)
{
    char text[256] = "unknown reason";
    const unsigned long code = ERR_peek_last_error();
    if (code)
        ERR_error_string_n(code, text, sizeof(text));
    ERR_clear_error();
    return kc_error_set(err, KC_INTERNAL, "cannot %s: %s", what, text);
}

void kc__cert_keypair_done(kc__cert_keypair *pair)
{
    X509_free(pair->cert);
    EVP_PKEY_free(pair->key);
    *pair = (kc__cert_keypair){0};
}

/* ---- creation ---- */

/* Extensions of each use; the strings are constant, so OpenSSL's configuration language is safe
 * here. */
static const struct {
    int nid;
    const char *value[3]; /* By kc__cert_use; NULL: omitted. */
} extensions[] = {
    {NID_basic_constraints,
     {"critical,CA:TRUE,pathlen:0", "critical,CA:FALSE", "critical,CA:FALSE"}},
    {NID_key_usage,
     {"critical,keyCertSign,cRLSign", "critical,digitalSignature", "critical,digitalSignature"}},
    {NID_ext_key_usage, {NULL, "serverAuth", "clientAuth"}},
    {NID_subject_key_identifier, {"hash", NULL, NULL}},
    {NID_authority_key_identifier, {NULL, "keyid:always", "keyid:always"}},
};

static bool add_extensions(X509 *cert, X509 *issuer, kc__cert_use use)
{
    X509V3_CTX context;
    X509V3_set_ctx(&context, issuer, cert, NULL, NULL, 0);
    X509V3_set_ctx_nodb(&context);
    for (size_t i = 0; i < KC_COUNT(extensions); i++) {
        const char *value = extensions[i].value[use];
        if (!value)
            continue;
        X509_EXTENSION *made = X509V3_EXT_conf_nid(NULL, &context, extensions[i].nid, value);
        const bool added = made && X509_add_ext(cert, made, -1);
        X509_EXTENSION_free(made);
        if (!added)
            return false;
    }
    return true;
}

/* Takes ownership of `value` in any case. */
static bool push_name(GENERAL_NAMES *names, int type, ASN1_STRING *value)
{
    GENERAL_NAME *name = value ? GENERAL_NAME_new() : NULL;
    if (!name) {
        ASN1_STRING_free(value);
        return false;
    }
    GENERAL_NAME_set0_value(name, type, value);
    if (sk_GENERAL_NAME_push(names, name))
        return true;
    GENERAL_NAME_free(name);
    return false;
}

static bool add_name(GENERAL_NAMES *names, const char *text)
{
    ASN1_OCTET_STRING *address = a2i_IPADDRESS(text);
    if (address)
        return push_name(names, GEN_IPADD, address);
    ASN1_IA5STRING *name = ASN1_IA5STRING_new();
    if (name && !ASN1_STRING_set(name, text, -1)) {
        ASN1_STRING_free(name);
        name = NULL;
    }
    return push_name(names, GEN_DNS, name);
}

static bool add_names(X509 *cert, const kc__cert_spec *spec)
{
    if (!spec->n_names)
        return true;
    GENERAL_NAMES *names = GENERAL_NAMES_new();
    bool ok = names != NULL;
    for (size_t i = 0; ok && i < spec->n_names; i++)
        ok = add_name(names, spec->names[i]);
    ok = ok && X509_add1_ext_i2d(cert, NID_subject_alt_name, names, 0, 0) == 1;
    GENERAL_NAMES_free(names);
    ERR_clear_error(); /* From names that are not addresses. */
    return ok;
}

static bool set_serial(X509 *cert)
{
    unsigned char bytes[16];
    if (RAND_bytes(bytes, sizeof(bytes)) != 1)
        return false;
    bytes[0] = (unsigned char)((bytes[0] & 0x3F) | 0x40); /* Positive, and 16 bytes long. */
    BIGNUM *number = BN_bin2bn(bytes, sizeof(bytes), NULL);
    const bool ok = number && BN_to_ASN1_INTEGER(number, X509_get_serialNumber(cert));
    BN_free(number);
    return ok;
}

static bool set_subject(X509 *cert, const kc__cert_spec *spec)
{
    X509_NAME *subject = X509_get_subject_name(cert);
    const unsigned char *name = (const unsigned char *)spec->common_name;
    const unsigned char *organization = (const unsigned char *)spec->organization;
    return (!organization ||
            X509_NAME_add_entry_by_txt(subject, "O", MBSTRING_UTF8, organization, -1, -1, 0)) &&
           X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8, name, -1, -1, 0);
}

static bool set_validity(X509 *cert, int64_t wall, int64_t lifetime)
{
    return ASN1_TIME_set(X509_getm_notBefore(cert),
                         (time_t)((wall - KC__CERT_BACKDATED) / KC_SECOND)) &&
           ASN1_TIME_set(X509_getm_notAfter(cert), (time_t)((wall + lifetime) / KC_SECOND));
}

static bool fill_certificate(const kc__cert_keypair *pair, const kc__cert_spec *spec,
                             const kc__cert_keypair *issuer, int64_t wall)
{
    X509 *cert = pair->cert;
    return X509_set_version(cert, X509_VERSION_3) && set_serial(cert) && set_subject(cert, spec) &&
           X509_set_issuer_name(cert, X509_get_subject_name(issuer->cert)) &&
           set_validity(cert, wall, spec->lifetime) && X509_set_pubkey(cert, pair->key) &&
           add_extensions(cert, issuer->cert, spec->use) && add_names(cert, spec) &&
           X509_sign(cert, issuer->key, EVP_sha256()) > 0;
}

int kc__cert_keypair_generate(const kc__cert_spec *spec, const kc__cert_keypair *issuer,
                              int64_t wall, kc__cert_keypair *ret, kc_error *err)
{
    kc__cert_keypair pair = {.cert = X509_new(), .key = EVP_EC_gen("P-256")};
    if (!pair.cert || !pair.key || !fill_certificate(&pair, spec, issuer ? issuer : &pair, wall)) {
        kc__cert_keypair_done(&pair);
        return certificate_failed(err, "create a certificate");
    }
    *ret = pair;
    return 0;
}

/* ---- parsing and writing ---- */

/* Rejects an encrypted key instead of prompting for its password on the terminal. */
static int no_password(char *out, int size, int writing, void *user)
{
    (void)out;
    (void)size;
    (void)writing;
    (void)user;
    return -1;
}

static BIO *open_pem(kc_str pem)
{
    return pem.n < INT_MAX ? BIO_new_mem_buf(pem.n ? pem.p : "", (int)pem.n) : NULL;
}

int kc__cert_parse(kc_str pem, X509 **ret, kc_error *err)
{
    BIO *bio = open_pem(pem);
    X509 *cert = bio ? PEM_read_bio_X509(bio, NULL, no_password, NULL) : NULL;
    BIO_free(bio);
    ERR_clear_error();
    if (!cert)
        return kc_error_set(err, KC_INVALID, "no certificate found");
    *ret = cert;
    return 0;
}

int kc__cert_key_parse(kc_str pem, EVP_PKEY **ret, kc_error *err)
{
    BIO *bio = open_pem(pem);
    EVP_PKEY *key = bio ? PEM_read_bio_PrivateKey(bio, NULL, no_password, NULL) : NULL;
    BIO_free(bio);
    ERR_clear_error();
    if (!key)
        return kc_error_set(err, KC_INVALID, "no unencrypted private key found");
    *ret = key;
    return 0;
}

size_t kc__cert_each(kc_str pem, bool (*each)(X509 *cert, void *user), void *user)
{
    size_t n = 0;
    BIO *bio = open_pem(pem);
    bool more = bio != NULL;
    for (X509 *cert; more && (cert = PEM_read_bio_X509(bio, NULL, no_password, NULL)); n++) {
        more = each(cert, user);
        X509_free(cert);
    }
    BIO_free(bio);
    ERR_clear_error();
    return n;
}

/* Frees the BIO. */
static int take_pem(BIO *bio, bool written, kc_buf *out, kc_error *err)
{
    char *text = NULL;
    const long n = written ? BIO_get_mem_data(bio, &text) : 0;
    if (n > 0)
        kc_buf_append(out, kc_str_of(text, (size_t)n));
    BIO_free(bio);
    return n > 0 ? 0 : certificate_failed(err, "write PEM");
}

int kc__cert_write(X509 *cert, kc_buf *out, kc_error *err)
{
    BIO *bio = BIO_new(BIO_s_mem());
    return take_pem(bio, bio && PEM_write_bio_X509(bio, cert), out, err);
}

int kc__cert_key_write(EVP_PKEY *key, kc_buf *out, kc_error *err)
{
    BIO *bio = BIO_new(BIO_s_secmem());
    return take_pem(bio, bio && PEM_write_bio_PrivateKey(bio, key, NULL, NULL, 0, NULL, NULL), out,
                    err);
}

/* ---- inspection ---- */

static int64_t seconds_of(const ASN1_TIME *when)
{
    struct tm fields = {0};
    return ASN1_TIME_to_tm(when, &fields) == 1 ? (int64_t)timegm(&fields) : 0;
}

int64_t kc__cert_not_before(const X509 *cert)
{
    return seconds_of(X509_get0_notBefore(cert));
}

int64_t kc__cert_not_after(const X509 *cert)
{
    return seconds_of(X509_get0_notAfter(cert));
}

bool kc__cert_names(X509 *cert, const char *name)
{
    const int by_address = X509_check_ip_asc(cert, name, 0);
    const bool named =
        by_address == -2 ? X509_check_host(cert, name, 0, 0, NULL) == 1 : by_address == 1;
    ERR_clear_error();
    return named;
}

void kc__cert_each_name(const X509 *cert, void (*each)(const char *name, void *user), void *user)
{
    GENERAL_NAMES *names = X509_get_ext_d2i(cert, NID_subject_alt_name, NULL, NULL);
    for (int i = 0; i < sk_GENERAL_NAME_num(names); i++) {
        int type = 0;
        const ASN1_STRING *value = GENERAL_NAME_get0_value(sk_GENERAL_NAME_value(names, i), &type);
        const unsigned char *bytes = ASN1_STRING_get0_data(value);
        const int n = ASN1_STRING_length(value);
        char text[256] = "";
        if (type == GEN_DNS && n < (int)sizeof(text))
            memcpy(text, bytes, (size_t)n);
        else if (type == GEN_IPADD && (n == 4 || n == 16))
            inet_ntop(n == 4 ? AF_INET : AF_INET6, bytes, text, sizeof(text));
        if (*text)
            each(text, user);
    }
    GENERAL_NAMES_free(names);
}

bool kc__cert_is_of(X509 *cert, X509 *authority)
{
    EVP_PKEY *key = X509_get0_pubkey(authority);
    const bool signed_by =
        key && X509_verify(cert, key) == 1 &&
        !X509_NAME_cmp(X509_get_issuer_name(cert), X509_get_subject_name(authority));
    ERR_clear_error();
    return signed_by;
}

bool kc__cert_has_key(X509 *cert, EVP_PKEY *key)
{
    const bool fits = X509_check_private_key(cert, key) == 1;
    ERR_clear_error();
    return fits;
}
