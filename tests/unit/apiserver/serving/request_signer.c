/* SPDX-License-Identifier: Apache-2.0 */
/* Certificates for requests, by the rules of the built-in signers. */
#include "files_testing.h"
#include "testing.h"

#include "apiserver/serving/certificates.h"
#include "apiserver/serving/request_signer.h"
#include "kc/clock.h"

#include <openssl/pem.h>
#include <openssl/x509v3.h>

typedef struct signing {
    scratch *files;
    kc__serving_certificates certs;
    kc__serving_signer *signer;
} signing;

static void signing_done(signing *s)
{
    kc__serving_signer_free(s->signer);
    kc__serving_certificates_done(&s->certs);
    scratch_free(s->files);
}

static signing make_signing(void)
{
    kc_scoped(kc_error) err = {0};
    signing s = {.files = scratch_new()};
    kc_autofree char *dir = scratch_path(s.files, "certs");
    assert_int_equal(kc__serving_certificates_prepare(&(kc__serving_certificates_opts){.dir = dir},
                                                      &s.certs, &err),
                     0);
    s.signer = kc__serving_signer_new(s.certs.ca_cert, s.certs.ca_key, &err);
    assert_non_null(s.signer);
    return s;
}

/* A request of a new key. `name` has one common name or several ("a;b"); `names` are alternative
 * names ("DNS:a"), NULL: none. */
static char *make_request(const char *organization, const char *name, const char *names)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509_REQ *request = X509_REQ_new();
    X509_NAME *subject = X509_REQ_get_subject_name(request);
    if (organization)
        X509_NAME_add_entry_by_txt(subject, "O", MBSTRING_UTF8, (const unsigned char *)organization,
                                   -1, -1, 0);
    for (kc_str rest = kc_cstr(name); rest.p;) {
        const kc_str one = kc_str_cut(&rest, ';');
        X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8, (const unsigned char *)one.p,
                                   (int)one.n, -1, 0);
    }
    X509_REQ_set_pubkey(request, key);
    if (names) {
        STACK_OF(X509_EXTENSION) *list = sk_X509_EXTENSION_new_null();
        sk_X509_EXTENSION_push(list, X509V3_EXT_conf_nid(NULL, NULL, NID_subject_alt_name, names));
        sk_X509_EXTENSION_push(
            list, X509V3_EXT_conf_nid(NULL, NULL, NID_basic_constraints, "critical,CA:TRUE"));
        X509_REQ_add_extensions(request, list);
        sk_X509_EXTENSION_pop_free(list, X509_EXTENSION_free);
    }
    X509_REQ_sign(request, key, EVP_sha256());
    BIO *out = BIO_new(BIO_s_mem());
    PEM_write_bio_X509_REQ(out, request);
    char *bytes;
    const long n = BIO_get_mem_data(out, &bytes);
    char *pem = kc_str_dup(kc_str_of(bytes, (size_t)n));
    BIO_free(out);
    X509_REQ_free(request);
    EVP_PKEY_free(key);
    return pem;
}

static X509 *sign_request(const signing *s, const char *signer, const char *pem,
                          const kc_str *usages, size_t n_usages, int64_t lifetime, kc_error *err)
{
    kc_scoped(kc_buf) out = {0};
    const kc__serving_signing_request request = {.name = kc_cstr(signer),
                                                 .pem = kc_cstr(pem),
                                                 .usages = usages,
                                                 .n_usages = n_usages,
                                                 .lifetime = lifetime,
                                                 .now = kc_clock_wall(kc_clock_real())};
    if (kc__serving_sign_request(s->signer, &request, &out, err) < 0)
        return NULL;
    BIO *in = BIO_new_mem_buf(out.p, (int)out.n);
    X509 *cert = PEM_read_bio_X509(in, NULL, NULL, NULL);
    BIO_free(in);
    return cert;
}

static const kc_str client[] = {KC_STR_INIT("client auth"), KC_STR_INIT("digital signature")};
static const kc_str server[] = {KC_STR_INIT("server auth"), KC_STR_INIT("digital signature")};
static const kc_str code[] = {KC_STR_INIT("code signing")};

static void certificate_has_subject_names_and_usages_of_its_request(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc_scoped(signing) s = make_signing();
    kc_autofree char *pem = make_request("system:nodes", "system:node:n1", "DNS:n1,IP:10.0.0.1");
    X509 *cert = sign_request(&s, "kubernetes.io/kubelet-serving", pem, server, 2, KC_HOUR, &err);
    assert_non_null(cert);
    assert_int_equal(X509_check_host(cert, "n1", 0, 0, NULL), 1);
    assert_int_equal(X509_check_ip_asc(cert, "10.0.0.1", 0), 1);
    assert_int_equal(X509_check_ca(cert), 0);
    assert_true(X509_get_extended_key_usage(cert) == XKU_SSL_SERVER);
    assert_true(X509_get_key_usage(cert) == KU_DIGITAL_SIGNATURE);
    X509_free(cert);
}

static void certificate_never_outlives_the_ca(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc_scoped(signing) s = make_signing();
    kc_autofree char *pem = make_request(NULL, "jane", NULL);
    X509 *cert = sign_request(&s, "kubernetes.io/kube-apiserver-client", pem, client, 2,
                              INT64_C(200) * 365 * 24 * KC_HOUR, &err);
    X509 *ca = NULL;
    assert_non_null(cert);
    BIO *in = BIO_new_file(s.certs.ca_cert, "r");
    ca = PEM_read_bio_X509(in, NULL, NULL, NULL);
    BIO_free(in);
    assert_int_equal(ASN1_TIME_compare(X509_get0_notAfter(cert), X509_get0_notAfter(ca)), 0);
    X509_free(cert);
    X509_free(ca);
}

static void requests_against_the_rules_are_refused(void **state)
{
    (void)state;
    kc_scoped(signing) s = make_signing();
    static const struct {
        const char *signer, *organization, *name, *names;
        const kc_str *usages;
        size_t n_usages;
        const char *problem;
    } wrong[] = {
        {"kubernetes.io/kube-apiserver-client", NULL, "x", NULL, code, 1,
         "invalid usage for client certificate: code signing"},
        {"kubernetes.io/kube-apiserver-client-kubelet", "other", "system:node:x", NULL, client, 2,
         "subject organization is not system:nodes"},
        {"kubernetes.io/kube-apiserver-client-kubelet", "system:nodes", "x", NULL, client, 2,
         "subject common name does not begin with system:node:"},
        {"kubernetes.io/kube-apiserver-client-kubelet", "system:nodes", "system:node:x", "DNS:x",
         client, 2, "DNS subjectAltNames are not allowed"},
        {"kubernetes.io/kube-apiserver-client-kubelet", "system:nodes", "system:node:x", NULL,
         server, 2, "usages did not match [client auth digital signature key encipherment]"},
        {"kubernetes.io/kubelet-serving", "system:nodes", "system:node:x", NULL, server, 2,
         "DNS or IP subjectAltName is required"},
        {"kubernetes.io/kubelet-serving", "system:nodes", "system:node:x", "DNS:x,email:a@b",
         server, 2, "Email subjectAltNames are not allowed"},
    };
    for (size_t i = 0; i < KC_COUNT(wrong); i++) {
        kc_scoped(kc_error) err = {0};
        kc_autofree char *pem = make_request(wrong[i].organization, wrong[i].name, wrong[i].names);
        assert_null(sign_request(&s, wrong[i].signer, pem, wrong[i].usages, wrong[i].n_usages,
                                 KC_HOUR, &err));
        assert_error(&err, KC_INVALID, wrong[i].problem);
    }
}

/* Clients are authenticated as the last common name. */
static void last_common_name_decides_about_a_node(void **state)
{
    (void)state;
    kc_scoped(signing) s = make_signing();
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc_buf) name = {0};
    kc_autofree char *disguised = make_request("system:nodes", "system:node:x;admin", NULL),
                     *node = make_request("system:nodes", "admin;system:node:x", NULL);
    kc__serving_signing_request request = {
        .name = KC_STR("kubernetes.io/kube-apiserver-client-kubelet"),
        .pem = kc_cstr(disguised),
        .usages = client,
        .n_usages = 2};
    assert_false(kc__serving_is_node_client(&request, &name));
    assert_null(sign_request(&s, "kubernetes.io/kube-apiserver-client-kubelet", disguised, client,
                             2, KC_HOUR, &err));
    assert_error(&err, KC_INVALID, "subject common name does not begin with system:node:");
    request.pem = kc_cstr(node);
    kc_buf_clear(&name);
    assert_true(kc__serving_is_node_client(&request, &name));
    assert_string_equal(kc_buf_cstr(&name), "system:node:x");
}

static void end_of_a_certificate_is_read_from_its_text(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc_scoped(signing) s = make_signing();
    kc_scoped(kc_buf) cert = {0};
    kc_autofree char *pem = make_request(NULL, "jane", NULL);
    const kc_time now = kc_clock_wall(kc_clock_real());
    kc_time end = 0;
    const kc__serving_signing_request request = {.name =
                                                     KC_STR("kubernetes.io/kube-apiserver-client"),
                                                 .pem = kc_cstr(pem),
                                                 .usages = client,
                                                 .n_usages = 2,
                                                 .lifetime = KC_HOUR,
                                                 .now = now};
    assert_int_equal(kc__serving_sign_request(s.signer, &request, &cert, &err), 0);
    assert_true(kc__serving_certificate_end(kc_buf_str(&cert), &end));
    assert_int_equal(end / KC_SECOND, (now + KC_HOUR) / KC_SECOND);
    assert_false(kc__serving_certificate_end(KC_STR("no certificate"), &end));
}

static void legacy_signer_has_no_rules(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc_scoped(signing) s = make_signing();
    kc_autofree char *pem = make_request(NULL, "x", "DNS:x");
    X509 *cert = sign_request(&s, "kubernetes.io/legacy-unknown", pem, code, 1, KC_HOUR, &err);
    assert_non_null(cert);
    X509_free(cert);
}

TESTS(certificate_has_subject_names_and_usages_of_its_request, certificate_never_outlives_the_ca,
      requests_against_the_rules_are_refused, last_common_name_decides_about_a_node,
      end_of_a_certificate_is_read_from_its_text, legacy_signer_has_no_rules)
