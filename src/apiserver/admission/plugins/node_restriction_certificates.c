/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_restriction_certificates.c: a node may request certificates of kubelets for itself only: the
 * common name must be its own user name. Other signers check requests themselves.
 */
#include "apiserver/admission/plugins/node_restriction_internal.h"
#include "kc/base64.h"

#include <openssl/pem.h>
#include <openssl/x509.h>

/* The subject's common name; the last one counts, if there are several. */
static kc_str common_name(const X509_REQ *request, kc_arena *arena)
{
    X509_NAME *subject = X509_REQ_get_subject_name(request);
    int at = -1, last = -1;
    while ((at = X509_NAME_get_index_by_NID(subject, NID_commonName, at)) >= 0)
        last = at;
    unsigned char *text = NULL;
    const int n = last < 0 ? -1
                           : ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(
                                                            X509_NAME_get_entry(subject, last)));
    const kc_str name =
        n < 0 ? (kc_str){0} : kc_arena_str(arena, kc_str_of((const char *)text, (size_t)n));
    OPENSSL_free(text);
    return name;
}

/* Reads the first PEM block of the request; NULL and why, if it is none. */
static X509_REQ *read_request(kc_str base64, const char **ret_why)
{
    kc_scoped(kc_buf) pem = {0};
    char *type = NULL, *header = NULL;
    unsigned char *der = NULL;
    long n = 0;
    X509_REQ *request = NULL;
    *ret_why = "PEM block type must be CERTIFICATE REQUEST";
    if (!kc_base64_read(&pem, base64, KC_BASE64))
        return NULL;
    BIO *in = BIO_new_mem_buf(kc_buf_cstr(&pem), (int)pem.n);
    if (PEM_read_bio(in, &type, &header, &der, &n) && !strcmp(type, PEM_STRING_X509_REQ)) {
        const unsigned char *at = der;
        request = d2i_X509_REQ(NULL, &at, n);
        *ret_why = "malformed certificate request";
    }
    BIO_free(in);
    OPENSSL_free(type);
    OPENSSL_free(header);
    OPENSSL_free(der);
    return request;
}

kc__rest_verdict kc__admission_node_certificate(const kc__admission_node_write *w)
{
    static const char *const signers[] = {"kubernetes.io/kubelet-serving",
                                          "kubernetes.io/kube-apiserver-client-kubelet", NULL};
    const kc_value *spec = kc_value_get(w->object, "spec");
    const char *why;
    if (w->operation != KC__ADMISSION_NODE_CREATE ||
        !kc_str_is_any(kc_value_as_str(kc_value_get(spec, "signerName")), signers))
        return KC__REST_NEXT;
    X509_REQ *request = read_request(kc_value_as_str(kc_value_get(spec, "request")), &why);
    if (!request)
        return kc__admission_forbid(w->call, "unable to parse csr: %s", why);
    const kc_str name = common_name(request, w->call->arena);
    X509_REQ_free(request);
    if (kc_str_eq(name, w->call->user.name))
        return KC__REST_NEXT;
    return kc__admission_forbid(w->call, "can only create a node CSR with CN=system:node:%.*s",
                                KC_ARG(w->node));
}
