/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The controllers of CertificateSigningRequests: approver, signer, cleaner. The signer of the test
 * signs nothing: a certificate is a fixed PEM text, and the signer name decides what happens. The
 * API server, which verifies requests and certificates, is the real one.
 */
#include "scenario_testing.h"

#include "kc/base64.h"
#include "kc/edit.h"
#include "kc/time.h"
#include "kc/view.h"

#include <openssl/pem.h>
#include <openssl/x509v3.h>

static const kc_kind csr_kind = {.group = "certificates.k8s.io",
                                 .version = "v1",
                                 .kind = "CertificateSigningRequest",
                                 .plural = "certificatesigningrequests",
                                 .singular = "certificatesigningrequest"};
#define CLIENT  "kubernetes.io/kube-apiserver-client"
#define KUBELET "kubernetes.io/kube-apiserver-client-kubelet"

/* ---- requests and certificates ---- */

static char *base64_of_bio(BIO *out)
{
    kc_scoped(kc_buf) text = {0};
    char *bytes;
    const long n = BIO_get_mem_data(out, &bytes);
    kc_base64_write(&text, kc_str_of(bytes, (size_t)n), KC_BASE64);
    BIO_free(out);
    return kc_str_dup(kc_buf_str(&text));
}

/* A PKCS#10 request with this common name, PEM in base64. */
static char *pkcs10_of(const char *name)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509_REQ *request = X509_REQ_new();
    BIO *out = BIO_new(BIO_s_mem());
    X509_NAME_add_entry_by_txt(X509_REQ_get_subject_name(request), "CN", MBSTRING_UTF8,
                               (const unsigned char *)name, -1, -1, 0);
    X509_REQ_set_pubkey(request, key);
    X509_REQ_sign(request, key, EVP_sha256());
    PEM_write_bio_X509_REQ(out, request);
    X509_REQ_free(request);
    EVP_PKEY_free(key);
    return base64_of_bio(out);
}

/* A self-signed certificate, PEM. The server checks its syntax only. */
static void write_certificate(kc_buf *ret)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *cert = X509_new();
    BIO *out = BIO_new(BIO_s_mem());
    char *bytes;
    X509_set_version(cert, X509_VERSION_3);
    X509_gmtime_adj(X509_getm_notBefore(cert), 0);
    X509_gmtime_adj(X509_getm_notAfter(cert), 3600);
    X509_set_pubkey(cert, key);
    X509_sign(cert, key, EVP_sha256());
    PEM_write_bio_X509(out, cert);
    const long n = BIO_get_mem_data(out, &bytes);
    kc_buf_append(ret, kc_str_of(bytes, (size_t)n));
    BIO_free(out);
    X509_free(cert);
    EVP_PKEY_free(key);
}

/* ---- the signer of the test ---- */

/* Code signing is forbidden, as by kubernetes.io/kube-apiserver-client. */
static int test_sign(const kc_certificate_request *request, kc_buf *out, void *user, kc_error *err)
{
    (void)user;
    if (kc_str_is(request->usages[0], "code signing"))
        return kc_error_set(err, KC_INVALID, "invalid usage for client certificate: code signing");
    if (kc_str_is(request->usages[0], "any"))
        return kc_error_set(err, KC_INTERNAL, "the CA of the signer has expired");
    write_certificate(out);
    return 0;
}

/* Every request of the signer of nodes is one for node n1. */
static bool test_is_node_client(const kc_certificate_request *request, kc_buf *ret_name, void *user)
{
    (void)user;
    kc_buf_puts(ret_name, "system:node:n1");
    return kc_str_is(request->signer, KUBELET);
}

/* Certificates of the test expire ten minutes after it has begun. */
static bool test_certificate_end(kc_str pem, kc_time *ret, void *user)
{
    *ret = *(const kc_time *)user;
    return kc_str_contains(pem, KC_STR("BEGIN CERTIFICATE"));
}

static kc_time far_end = INT64_MAX, near_end;
static const kc_certificate_signer signer = {.sign = test_sign,
                                             .is_node_client = test_is_node_client,
                                             .certificate_end = test_certificate_end,
                                             .user = &far_end};
static const kc_certificate_signer short_signer = {
    .sign = test_sign, .certificate_end = test_certificate_end, .user = &near_end};

/* ---- helpers ---- */

static kc_object *make_csr(kc_testenv *env, const char *name, const char *signer_name,
                           const char *usage)
{
    kc_autofree char *pem = pkcs10_of("system:node:n1");
    kc_autofree char *json =
        kc_asprintf("{'apiVersion':'certificates.k8s.io/v1','kind':'CertificateSigningRequest',"
                    "'metadata':{'name':'%s'},'spec':{'request':'%s','signerName':'%s',"
                    "'usages':['%s']}}",
                    name, pem, signer_name, usage);
    return make(env, json);
}

static kc_object *find_csr(kc_testenv *env, const char *name)
{
    return kc_client_get(kc_testenv_client(env), &csr_kind, (kc_key){.name = kc_cstr(name)}, NULL,
                         NULL);
}

/* Adds a condition, as `kubectl certificate approve|deny` does. */
static void decide_csr(kc_testenv *env, const char *name, const char *type)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_object) *csr = find_csr(env, name);
    kc_auto(kc_edit) *edit = kc_edit_of(csr);
    kc_node *list = kc_node_array(edit), *one = kc_node_object(edit);
    kc_node_set(edit, one, KC_STR("type"), kc_node_str(edit, kc_cstr(type)));
    kc_node_set(edit, one, KC_STR("status"), kc_node_str(edit, KC_STR("True")));
    kc_node_append(list, one);
    kc_edit_set_nested(edit, "status.conditions", list);
    kc_auto(kc_object) *decided = kc_edit_freeze(edit, &err);
    kc_auto(kc_object) *written =
        kc_client_update(kc_testenv_client(env), decided,
                         &(kc_write_opts){.kind = &csr_kind, .subresource = "approval"}, &err);
    if (!written)
        fail_msg("%s", kc_error_text(&err));
}

/* A member of the status: "certificate", or "TYPE.reason" of a condition. Empty: absent. */
static char *status_text(kc_testenv *env, const char *name, const char *type, const char *member)
{
    kc_auto(kc_object) *csr = find_csr(env, name);
    assert_non_null(csr);
    kc_auto(kc_view) *view = kc_view_of(csr);
    const kc_value *status = kc_value_get(kc_view_root(view), "status");
    if (!type)
        return kc_str_dup(kc_value_as_str(kc_value_get(status, member)));
    kc_value_each_item (kc_value_get(status, "conditions"), condition)
        if (kc_str_is(kc_value_as_str(kc_value_get(condition, "type")), type))
            return kc_str_dup(kc_value_as_str(kc_value_get(condition, member)));
    return strdup("");
}

static bool has_certificate(kc_testenv *env, const char *name)
{
    kc_autofree char *text = status_text(env, name, NULL, "certificate");
    return *text;
}

static bool has_condition(kc_testenv *env, const char *name, const char *type)
{
    kc_autofree char *text = status_text(env, name, type, "status");
    return !strcmp(text, "True");
}

static bool csr_exists(kc_testenv *env, const char *name)
{
    kc_auto(kc_object) *csr = find_csr(env, name);
    return csr;
}

/* ---- signer ---- */

static const scenario signing = {
    .controllers = {.names = "csrsigning", .workers = 1, .certificate_signer = &signer},
    .takes = 20 * KC_SECOND};

static void approved_request_is_signed_and_others_are_not(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scenario_begin(&signing, 1);
    kc_auto(kc_object) *yes = make_csr(env, "yes", CLIENT, "client auth"),
                       *wait = make_csr(env, "wait", CLIENT, "client auth"),
                       *no = make_csr(env, "no", CLIENT, "client auth"),
                       *other = make_csr(env, "other", "example.com/own", "client auth");
    settle(env);
    assert_false(has_certificate(env, "yes"));
    decide_csr(env, "yes", "Approved");
    decide_csr(env, "no", "Denied");
    decide_csr(env, "other", "Approved");
    settle(env);
    assert_true(has_certificate(env, "yes"));
    assert_false(has_certificate(env, "wait"));
    assert_false(has_certificate(env, "no"));
    assert_false(has_certificate(env, "other"));
    assert_true(yes && wait && no && other);
}

static void request_against_the_rules_fails_and_is_not_signed(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scenario_begin(&signing, 1);
    kc_auto(kc_object) *csr = make_csr(env, "code", CLIENT, "code signing");
    decide_csr(env, "code", "Approved");
    settle(env);
    kc_autofree char *reason = status_text(env, "code", "Failed", "reason"),
                     *message = status_text(env, "code", "Failed", "message");
    assert_string_equal(reason, "SignerValidationFailure");
    assert_string_equal(message, "invalid usage for client certificate: code signing");
    assert_false(has_certificate(env, "code"));
    assert_non_null(csr);
}

/* An error of the signer is no property of the request: it is tried again. */
static void request_is_not_failed_by_an_error_of_the_signer(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scenario_begin(&signing, 1);
    kc_auto(kc_object) *csr = make_csr(env, "later", CLIENT, "any");
    decide_csr(env, "later", "Approved");
    kc_testenv_advance(env, 10 * KC_SECOND);
    assert_false(has_condition(env, "later", "Failed"));
    assert_false(has_certificate(env, "later"));
    assert_non_null(csr);
}

static void create_approved_csr(kc_testenv *env)
{
    kc_auto(kc_object) *csr = make_csr(env, "one", CLIENT, "client auth");
    decide_csr(env, "one", "Approved");
}

static void assert_csr_is_signed(kc_testenv *env)
{
    assert_true(has_certificate(env, "one"));
    assert_false(has_condition(env, "one", "Failed"));
}

static void signing_converges_under_faults(void **state)
{
    (void)state;
    static const scenario approved = {
        .controllers = {.names = "csrsigning", .workers = 1, .certificate_signer = &signer},
        .event = create_approved_csr,
        .takes = KC_MINUTE,
        .end = assert_csr_is_signed};
    scenario_converges(&approved);
    scenario_converges_with_stale_cache(&approved);
    scenario_converges_with_missed_events(&approved);
}

static void controllers_without_a_signer_decide_nothing(void **state)
{
    (void)state;
    static const scenario without = {
        .controllers = {.names = "csrsigning,csrapproving,csrcleaner", .workers = 1}};
    kc_auto(kc_testenv) *env = scenario_begin(&without, 1);
    kc_auto(kc_object) *csr = make_csr(env, "one", KUBELET, "client auth");
    settle(env);
    assert_false(has_condition(env, "one", "Approved"));
    decide_csr(env, "one", "Approved");
    settle(env);
    assert_false(has_certificate(env, "one"));
    assert_non_null(csr);
}

/* ---- approver ---- */

static const scenario approving = {
    .controllers = {.names = "csrapproving", .workers = 1, .certificate_signer = &signer},
    .takes = 20 * KC_SECOND};

/* The requester of the test environment may do everything, so every review allows. */
static void permitted_request_of_a_node_is_approved(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scenario_begin(&approving, 1);
    kc_auto(kc_object) *node = make_csr(env, "node", KUBELET, "client auth"),
                       *person = make_csr(env, "person", CLIENT, "client auth");
    settle(env);
    kc_autofree char *reason = status_text(env, "node", "Approved", "reason"),
                     *message = status_text(env, "node", "Approved", "message");
    assert_string_equal(reason, "AutoApproved");
    assert_string_equal(message,
                        "Auto approving kubelet client certificate after SubjectAccessReview.");
    assert_false(has_condition(env, "person", "Approved"));
    assert_true(node && person);
}

static void decided_request_is_left_alone(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = plane(1);
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_object) *csr = make_csr(env, "denied", KUBELET, "client auth");
    decide_csr(env, "denied", "Denied");
    scenario_add(&approving, kc_testenv_manager(env));
    OK(kc_testenv_run(env, &err), &err);
    settle(env);
    assert_true(has_condition(env, "denied", "Denied"));
    assert_false(has_condition(env, "denied", "Approved"));
    assert_non_null(csr);
}

/* ---- cleaner ---- */

static const scenario cleaning = {
    .controllers = {.names = "csrcleaner", .workers = 1, .certificate_signer = &signer}};

static void pending_request_is_deleted_after_a_day(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scenario_begin(&cleaning, 1);
    kc_auto(kc_object) *csr = make_csr(env, "pending", CLIENT, "client auth");
    kc_testenv_advance(env, 23 * KC_HOUR);
    assert_true(csr_exists(env, "pending"));
    kc_testenv_advance(env, 1 * KC_HOUR + KC_MINUTE);
    settle(env);
    assert_false(csr_exists(env, "pending"));
    assert_non_null(csr);
}

static void denied_request_is_deleted_after_an_hour(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scenario_begin(&cleaning, 1);
    kc_auto(kc_object) *csr = make_csr(env, "denied", CLIENT, "client auth");
    decide_csr(env, "denied", "Denied");
    kc_testenv_advance(env, 59 * KC_MINUTE);
    assert_true(csr_exists(env, "denied"));
    kc_testenv_advance(env, 2 * KC_MINUTE);
    settle(env);
    assert_false(csr_exists(env, "denied"));
    assert_non_null(csr);
}

/* An approved request waits for its signer, however long that takes. */
static void approved_request_without_certificate_is_kept(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scenario_begin(&cleaning, 1);
    kc_auto(kc_object) *csr = make_csr(env, "approved", CLIENT, "client auth");
    decide_csr(env, "approved", "Approved");
    kc_testenv_advance(env, 30 * KC_HOUR);
    settle(env);
    assert_true(csr_exists(env, "approved"));
    assert_non_null(csr);
}

static void begin_signed(const scenario *s, kc_testenv **ret_env)
{
    kc_testenv *env = scenario_begin(s, 1);
    near_end = kc_clock_wall(kc_testenv_clock(env)) + 10 * KC_MINUTE;
    create_approved_csr(env);
    settle(env);
    assert_true(has_certificate(env, "one"));
    *ret_env = env;
}

static void issued_request_is_deleted_after_an_hour(void **state)
{
    (void)state;
    static const scenario both = {.controllers = {.names = "csrsigning,csrcleaner",
                                                  .workers = 1,
                                                  .certificate_signer = &signer}};
    kc_auto(kc_testenv) *env = NULL;
    begin_signed(&both, &env);
    kc_testenv_advance(env, 59 * KC_MINUTE);
    assert_true(csr_exists(env, "one"));
    kc_testenv_advance(env, 2 * KC_MINUTE);
    settle(env);
    assert_false(csr_exists(env, "one"));
}

static void issued_request_is_deleted_when_its_certificate_expires(void **state)
{
    (void)state;
    static const scenario both = {.controllers = {.names = "csrsigning,csrcleaner",
                                                  .workers = 1,
                                                  .certificate_signer = &short_signer}};
    kc_auto(kc_testenv) *env = NULL;
    begin_signed(&both, &env);
    kc_testenv_advance(env, 9 * KC_MINUTE);
    assert_true(csr_exists(env, "one"));
    kc_testenv_advance(env, 2 * KC_MINUTE);
    settle(env);
    assert_false(csr_exists(env, "one"));
}

TESTS(approved_request_is_signed_and_others_are_not,
      request_against_the_rules_fails_and_is_not_signed,
      request_is_not_failed_by_an_error_of_the_signer, signing_converges_under_faults,
      controllers_without_a_signer_decide_nothing, permitted_request_of_a_node_is_approved,
      decided_request_is_left_alone, pending_request_is_deleted_after_a_day,
      denied_request_is_deleted_after_an_hour, approved_request_without_certificate_is_kept,
      issued_request_is_deleted_after_an_hour,
      issued_request_is_deleted_when_its_certificate_expires)
