/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request_signer.c: see request_signer.h. A certificate has the subject, the key and the
 * alternative names of its request, the usages that the CertificateSigningRequest states, and no
 * other extension: a client cannot ask for a CA. It begins five minutes ago, for clocks that are
 * late, and never outlives the CA.
 */
#include "apiserver/serving/request_signer.h"

#include "apiserver/serving/pem_files.h"
#include "kc/clock.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#define BACKDATE    (5 * KC_MINUTE)
#define SHORT_LIVED (8 * KC_HOUR)
#define NODE_PREFIX "system:node:"

struct kc__serving_signer {
    X509 *cert;
    EVP_PKEY *key;
};

kc__serving_signer *kc__serving_signer_free(kc__serving_signer *signer)
{
    if (!signer)
        return NULL;
    X509_free(signer->cert);
    EVP_PKEY_free(signer->key);
    free(signer);
    return NULL;
}

kc__serving_signer *kc__serving_signer_new(const char *cert_file, const char *key_file,
                                           kc_error *err)
{
    kc_auto(kc__serving_signer) *signer = kc_new(kc__serving_signer);
    if (kc__serving_cert_read(cert_file, &signer->cert, err) < 0 ||
        kc__serving_key_read(key_file, &signer->key, err) < 0)
        return NULL;
    if (!kc__cert_has_key(signer->cert, signer->key)) {
        kc_error_set(err, KC_INVALID, "%s is not the key of %s", key_file, cert_file);
        return NULL;
    }
    return kc_take(signer);
}

/* ---- usages ---- */

static const struct {
    const char *usage, *key, *extended; /* Names of OpenSSL; one of both is set. */
} usage_names[] = {
    {"signing", "digitalSignature", NULL},
    {"digital signature", "digitalSignature", NULL},
    {"content commitment", "nonRepudiation", NULL},
    {"key encipherment", "keyEncipherment", NULL},
    {"key agreement", "keyAgreement", NULL},
    {"data encipherment", "dataEncipherment", NULL},
    {"cert sign", "keyCertSign", NULL},
    {"crl sign", "cRLSign", NULL},
    {"encipher only", "encipherOnly", NULL},
    {"decipher only", "decipherOnly", NULL},
    {"any", NULL, "anyExtendedKeyUsage"},
    {"server auth", NULL, "serverAuth"},
    {"client auth", NULL, "clientAuth"},
    {"code signing", NULL, "codeSigning"},
    {"email protection", NULL, "emailProtection"},
    {"s/mime", NULL, "emailProtection"},
    {"ipsec end system", NULL, "ipsecEndSystem"},
    {"ipsec tunnel", NULL, "ipsecTunnel"},
    {"ipsec user", NULL, "ipsecUser"},
    {"timestamping", NULL, "timeStamping"},
    {"ocsp signing", NULL, "OCSPSigning"},
    {"microsoft sgc", NULL, "msSGC"},
    {"netscape sgc", NULL, "nsSGC"},
};

static bool has_usage(const kc__serving_signing_request *request, const char *usage)
{
    for (size_t i = 0; i < request->n_usages; i++)
        if (kc_str_is(request->usages[i], usage))
            return true;
    return false;
}

/* Appends the names of OpenSSL, separated by commas. */
static void name_usages(const kc__serving_signing_request *request, kc_buf *key, kc_buf *extended)
{
    for (size_t i = 0; i < KC_COUNT(usage_names); i++) {
        const char *name = usage_names[i].key ? usage_names[i].key : usage_names[i].extended;
        kc_buf *out = usage_names[i].key ? key : extended;
        if (has_usage(request, usage_names[i].usage) &&
            !kc_str_contains(kc_buf_str(out), kc_cstr(name)))
            kc_buf_printf(out, "%s%s", out->n ? "," : "", name);
    }
}

/* ---- the rules of signers ---- */

/* Whether the usages are digital signature, `own`, and perhaps key encipherment. */
static bool has_node_usages(const kc__serving_signing_request *request, const char *own)
{
    const size_t optional = has_usage(request, "key encipherment");
    return has_usage(request, "digital signature") && has_usage(request, own) &&
           request->n_usages == 2 + optional;
}

/* Appends the text of an entry of a name, in UTF-8, with NUL bytes if it has any. */
static bool read_name_entry(const X509_NAME *name, int at, kc_buf *out)
{
    unsigned char *utf8 = NULL;
    const int n =
        ASN1_STRING_to_UTF8(&utf8, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, at)));
    if (n >= 0)
        kc_buf_append(out, kc_str_of((const char *)utf8, (size_t)n));
    OPENSSL_free(utf8);
    ERR_clear_error();
    return n >= 0;
}

static bool is_of_nodes(X509_REQ *pkcs10)
{
    kc_scoped(kc_buf) text = {0};
    const X509_NAME *subject = X509_REQ_get_subject_name(pkcs10);
    const int first = X509_NAME_get_index_by_NID(subject, NID_organizationName, -1);
    return first >= 0 && read_name_entry(subject, first, &text) &&
           kc_str_is(kc_buf_str(&text), "system:nodes") &&
           X509_NAME_get_index_by_NID(subject, NID_organizationName, first) < 0;
}

/* Of several common names the last one counts, as in the authentication of clients
 * (http/tls/tls.c): a request must not be judged by another name than its certificate has. */
static bool is_named_node(X509_REQ *pkcs10, kc_buf *ret_name)
{
    kc_scoped(kc_buf) text = {0};
    const X509_NAME *subject = X509_REQ_get_subject_name(pkcs10);
    int last = -1;
    for (int i = -1; (i = X509_NAME_get_index_by_NID(subject, NID_commonName, i)) >= 0;)
        last = i;
    if (last < 0 || !read_name_entry(subject, last, &text))
        return false;
    if (ret_name)
        kc_buf_append(ret_name, kc_buf_str(&text));
    return kc_str_starts(kc_buf_str(&text), KC_STR(NODE_PREFIX));
}

static GENERAL_NAMES *alternative_names(X509_REQ *pkcs10)
{
    STACK_OF(X509_EXTENSION) *extensions = X509_REQ_get_extensions(pkcs10);
    GENERAL_NAMES *names =
        extensions ? X509V3_get_d2i(extensions, NID_subject_alt_name, NULL, NULL) : NULL;
    sk_X509_EXTENSION_pop_free(extensions, X509_EXTENSION_free);
    return names;
}

static size_t count_names(X509_REQ *pkcs10, int type)
{
    GENERAL_NAMES *names = alternative_names(pkcs10);
    size_t n = 0;
    for (int i = 0; names && i < sk_GENERAL_NAME_num(names); i++)
        n += sk_GENERAL_NAME_value(names, i)->type == type;
    GENERAL_NAMES_free(names);
    return n;
}

/* What is wrong with a request of a node; NULL: nothing. */
static const char *problem_of_node(const kc__serving_signing_request *request, X509_REQ *pkcs10,
                                   bool serving)
{
    const size_t addresses = count_names(pkcs10, GEN_DNS) + count_names(pkcs10, GEN_IPADD);
    if (!is_of_nodes(pkcs10))
        return "subject organization is not system:nodes";
    if (serving && !addresses)
        return "DNS or IP subjectAltName is required";
    if (!serving && count_names(pkcs10, GEN_DNS))
        return "DNS subjectAltNames are not allowed";
    if (count_names(pkcs10, GEN_EMAIL))
        return "Email subjectAltNames are not allowed";
    if (!serving && count_names(pkcs10, GEN_IPADD))
        return "IP subjectAltNames are not allowed";
    if (count_names(pkcs10, GEN_URI))
        return "URI subjectAltNames are not allowed";
    if (!serving && !is_named_node(pkcs10, NULL))
        return "subject common name does not begin with system:node:";
    if (!has_node_usages(request, serving ? "server auth" : "client auth"))
        return serving ? "usages did not match [digital signature key encipherment server auth]"
                       : "usages did not match [client auth digital signature key encipherment]";
    if (serving && !is_named_node(pkcs10, NULL))
        return "subject common name does not begin with system:node:";
    return NULL;
}

static int check_client_usages(const kc__serving_signing_request *request, kc_error *err)
{
    static const char *const allowed[] = {"digital signature", "key encipherment", "client auth",
                                          NULL};
    for (size_t i = 0; i < request->n_usages; i++)
        if (!kc_str_is_any(request->usages[i], allowed))
            return kc_error_set(err, KC_INVALID, "invalid usage for client certificate: %.*s",
                                KC_ARG(request->usages[i]));
    if (!has_usage(request, "client auth"))
        return kc_error_set(err, KC_INVALID,
                            "missing required usage for client certificate: client auth");
    return 0;
}

static int check_signer_rules(const kc__serving_signing_request *request, X509_REQ *pkcs10,
                              kc_error *err)
{
    const bool serving = kc_str_is(request->name, "kubernetes.io/kubelet-serving");
    if (kc_str_is(request->name, "kubernetes.io/kube-apiserver-client"))
        return check_client_usages(request, err);
    if (!serving && !kc_str_is(request->name, "kubernetes.io/kube-apiserver-client-kubelet"))
        return 0;
    const char *problem = problem_of_node(request, pkcs10, serving);
    return problem ? kc_error_set(err, KC_INVALID, "%s", problem) : 0;
}

/* ---- signing ---- */

static X509_REQ *parse_signed_request(kc_str pem, kc_error *err)
{
    BIO *in = BIO_new_mem_buf(pem.p, (int)pem.n);
    X509_REQ *pkcs10 = PEM_read_bio_X509_REQ(in, NULL, NULL, NULL);
    EVP_PKEY *key = pkcs10 ? X509_REQ_get0_pubkey(pkcs10) : NULL;
    BIO_free(in);
    if (key && X509_REQ_verify(pkcs10, key) == 1)
        return pkcs10;
    X509_REQ_free(pkcs10);
    ERR_clear_error();
    kc_error_set(err, KC_INVALID, "the request is not a signed PKCS#10 request");
    return NULL;
}

bool kc__serving_is_node_client(const kc__serving_signing_request *request, kc_buf *ret_name)
{
    X509_REQ *pkcs10 = parse_signed_request(request->pem, NULL);
    const bool is_node =
        pkcs10 && kc_str_is(request->name, "kubernetes.io/kube-apiserver-client-kubelet") &&
        !problem_of_node(request, pkcs10, false) && is_named_node(pkcs10, ret_name);
    X509_REQ_free(pkcs10);
    return is_node;
}

static bool add_extension(X509 *cert, X509 *issuer, int nid, const char *text)
{
    X509V3_CTX context;
    X509V3_set_ctx_nodb(&context);
    X509V3_set_ctx(&context, issuer, cert, NULL, NULL, 0);
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, nid, text);
    const bool added = extension && X509_add_ext(cert, extension, -1);
    X509_EXTENSION_free(extension);
    return added;
}

static bool add_names(X509 *cert, X509_REQ *pkcs10)
{
    GENERAL_NAMES *names = alternative_names(pkcs10);
    const bool added =
        !names || X509_add1_ext_i2d(cert, NID_subject_alt_name, names, 0, X509V3_ADD_DEFAULT) == 1;
    GENERAL_NAMES_free(names);
    return added;
}

static bool add_all_extensions(X509 *cert, X509 *issuer, X509_REQ *pkcs10,
                               const kc__serving_signing_request *request)
{
    kc_scoped(kc_buf) key = {0}, extended = {0}, critical = {0};
    name_usages(request, &key, &extended);
    kc_buf_printf(&critical, "critical,%s", kc_buf_cstr(&key));
    return (!key.n || add_extension(cert, issuer, NID_key_usage, kc_buf_cstr(&critical))) &&
           (!extended.n ||
            add_extension(cert, issuer, NID_ext_key_usage, kc_buf_cstr(&extended))) &&
           add_extension(cert, issuer, NID_basic_constraints, "critical,CA:FALSE") &&
           add_extension(cert, issuer, NID_authority_key_identifier, "keyid") &&
           add_names(cert, pkcs10);
}

static bool set_serial(X509 *cert)
{
    unsigned char random[16];
    if (RAND_bytes(random, sizeof(random)) != 1)
        return false;
    random[0] &= 0x7f;
    BIGNUM *number = BN_bin2bn(random, sizeof(random), NULL);
    const bool set = number && BN_to_ASN1_INTEGER(number, X509_get_serialNumber(cert));
    BN_free(number);
    return set;
}

/* Sets the times; KC_INVALID: the CA has expired. */
static int set_times(X509 *cert, const X509 *issuer, const kc__serving_signing_request *request,
                     kc_error *err)
{
    const int64_t end_of_issuer = kc__cert_not_after(issuer),
                  begin = (request->now - BACKDATE) / KC_SECOND;
    int64_t end = (request->now + request->lifetime) / KC_SECOND;
    if (request->lifetime >= SHORT_LIVED)
        end -= BACKDATE / KC_SECOND;
    end = KC_MIN(end, end_of_issuer);
    if (request->now / KC_SECOND >= end_of_issuer)
        return kc_error_set(err, KC_INTERNAL, "the CA of the signer has expired");
    ASN1_TIME_set(X509_getm_notBefore(cert), (time_t)begin);
    ASN1_TIME_set(X509_getm_notAfter(cert), (time_t)end);
    return 0;
}

static X509 *make_certificate(const kc__serving_signer *signer,
                              const kc__serving_signing_request *request, X509_REQ *pkcs10,
                              kc_error *err)
{
    X509 *cert = X509_new();
    int result = set_times(cert, signer->cert, request, err);
    const bool made =
        result == 0 && X509_set_version(cert, X509_VERSION_3) && set_serial(cert) &&
        X509_set_subject_name(cert, X509_REQ_get_subject_name(pkcs10)) &&
        X509_set_issuer_name(cert, X509_get_subject_name(signer->cert)) &&
        X509_set_pubkey(cert, X509_REQ_get0_pubkey(pkcs10)) &&
        add_all_extensions(cert, signer->cert, pkcs10, request) &&
        X509_sign(cert, signer->key,
                  EVP_PKEY_base_id(signer->key) == EVP_PKEY_ED25519 ? NULL : EVP_sha256());
    if (made)
        return cert;
    X509_free(cert);
    ERR_clear_error();
    if (result == 0)
        kc_error_set(err, KC_INTERNAL, "failed to sign certificate");
    return NULL;
}

int kc__serving_sign_request(const kc__serving_signer *signer,
                             const kc__serving_signing_request *request, kc_buf *out, kc_error *err)
{
    X509_REQ *pkcs10 = parse_signed_request(request->pem, err);
    if (!pkcs10)
        return kc_error_result(err);
    X509 *cert = check_signer_rules(request, pkcs10, err) == 0
                     ? make_certificate(signer, request, pkcs10, err)
                     : NULL;
    const int result = cert ? kc__cert_write(cert, out, err) : kc_error_result(err);
    X509_free(cert);
    X509_REQ_free(pkcs10);
    return result;
}

bool kc__serving_certificate_end(kc_str pem, kc_time *ret)
{
    BIO *in = BIO_new_mem_buf(pem.p, (int)pem.n);
    X509 *cert = PEM_read_bio_X509(in, NULL, NULL, NULL);
    if (cert)
        *ret = kc__cert_not_after(cert) * KC_SECOND;
    X509_free(cert);
    BIO_free(in);
    ERR_clear_error();
    return cert;
}
