/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pkcs10.c: see pkcs10.h. OpenSSL parses; its limits bound the size of keys, and the text is
 * bounded before. Messages are those of Go where Go's depend only on the kind of the mistake.
 */
#include "apiserver/kinds/certificates/pkcs10.h"

#include "kc/base64.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

/* ---- PEM ---- */

/* One block, with everything that PEM_read_bio allocates. */
typedef struct pem_part {
    char *name, *header;
    unsigned char *data;
    long n;
} pem_part;

static void pem_part_done(pem_part *part)
{
    OPENSSL_free(part->name);
    OPENSSL_free(part->header);
    OPENSSL_free(part->data);
    ERR_clear_error();
}

/* False: no block is left. */
static bool read_pem_part(BIO *in, pem_part *ret)
{
    return PEM_read_bio(in, &ret->name, &ret->header, &ret->data, &ret->n) == 1;
}

/* ---- requests ---- */

static X509_REQ *parse_first_request(kc_str pem, kc_buf *why)
{
    kc_scoped(pem_part) part = {0};
    BIO *in = BIO_new_mem_buf(pem.p, (int)pem.n);
    const bool found = read_pem_part(in, &part) && !strcmp(part.name, "CERTIFICATE REQUEST");
    BIO_free(in);
    if (!found) {
        kc_buf_puts(why, "PEM block type must be CERTIFICATE REQUEST");
        return NULL;
    }
    const unsigned char *at = part.data;
    X509_REQ *request = d2i_X509_REQ(NULL, &at, part.n);
    if (request && at != part.data + part.n) {
        X509_REQ_free(request);
        request = NULL;
        kc_buf_puts(why, "asn1: syntax error: trailing data");
    } else if (!request) {
        kc_buf_puts(why, "asn1: structure error: malformed certificate request");
    }
    return request;
}

static X509_REQ *parse_request(kc_str base64, kc_buf *why)
{
    kc_scoped(kc_buf) pem = {0};
    if (base64.n / 4 * 3 > KC__PKCS10_MAX_BYTES) {
        kc_buf_printf(why, "must have at most %d bytes", KC__PKCS10_MAX_BYTES);
        return NULL;
    }
    if (!kc_base64_read(&pem, base64, KC_BASE64)) {
        kc_buf_puts(why, "must be base64");
        return NULL;
    }
    return parse_first_request(kc_buf_str(&pem), why);
}

/* What Go says about a signature that does not verify. */
static const char *signature_problem(EVP_PKEY *key)
{
    switch (key ? EVP_PKEY_base_id(key) : 0) {
    case EVP_PKEY_RSA: return "crypto/rsa: verification error";
    case EVP_PKEY_EC: return "x509: ECDSA verification failure";
    case EVP_PKEY_ED25519: return "x509: Ed25519 verification failure";
    default: return "x509: cannot verify signature: algorithm unimplemented";
    }
}

bool kc__pkcs10_check(kc_str base64, kc_buf *why)
{
    X509_REQ *request = parse_request(base64, why);
    if (!request)
        return false;
    EVP_PKEY *key = X509_REQ_get0_pubkey(request);
    const bool verified = key && X509_REQ_verify(request, key) == 1;
    if (!verified)
        kc_buf_puts(why, signature_problem(key));
    X509_REQ_free(request);
    ERR_clear_error();
    return verified;
}

/* ---- the subject ---- */

static bool entry_is(const X509_NAME_ENTRY *entry, const char *text)
{
    unsigned char *utf8 = NULL;
    const int n = ASN1_STRING_to_UTF8(&utf8, X509_NAME_ENTRY_get_data(entry));
    const bool same = n >= 0 && kc_str_is(kc_str_of((const char *)utf8, (size_t)n), text);
    OPENSSL_free(utf8);
    return same;
}

bool kc__pkcs10_has_organization(kc_str base64, const char *organization, bool *ret_found,
                                 kc_buf *why)
{
    X509_REQ *request = parse_request(base64, why);
    bool found = false;
    if (!request)
        return false;
    const X509_NAME *subject = X509_REQ_get_subject_name(request);
    for (int i = -1; (i = X509_NAME_get_index_by_NID(subject, NID_organizationName, i)) >= 0;)
        found = found || entry_is(X509_NAME_get_entry(subject, i), organization);
    X509_REQ_free(request);
    ERR_clear_error();
    *ret_found = found;
    return true;
}

/* ---- certificates ---- */

static bool check_certificate_part(const pem_part *part, kc_buf *why)
{
    const unsigned char *at = part->data;
    if (strcmp(part->name, "CERTIFICATE") != 0) {
        kc_buf_printf(why, "only CERTIFICATE PEM blocks are allowed, found \"%s\"", part->name);
        return false;
    }
    if (*part->header) {
        kc_buf_puts(why, "no PEM block headers are permitted");
        return false;
    }
    X509 *certificate = d2i_X509(NULL, &at, part->n);
    X509_free(certificate);
    if (!certificate)
        kc_buf_puts(why, "x509: malformed certificate");
    return certificate;
}

bool kc__pkcs10_check_certificates(kc_str base64, kc_buf *why)
{
    kc_scoped(kc_buf) pem = {0};
    if (!base64.n)
        return true;
    if (!kc_base64_read(&pem, base64, KC_BASE64)) {
        kc_buf_puts(why, "must be base64");
        return false;
    }
    BIO *in = BIO_new_mem_buf(pem.p, (int)pem.n);
    bool valid = true;
    size_t blocks = 0;
    for (bool more = true; valid && more;) {
        kc_scoped(pem_part) part = {0};
        more = read_pem_part(in, &part);
        valid = !more || check_certificate_part(&part, why);
        blocks += more;
    }
    BIO_free(in);
    if (valid && !blocks)
        kc_buf_puts(why, "must contain at least one CERTIFICATE PEM block");
    return valid && blocks;
}
