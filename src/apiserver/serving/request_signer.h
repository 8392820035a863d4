/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request_signer.h: signs certificates for CertificateSigningRequests with a CA, by the rules of
 * Kubernetes' signers:
 *
 *     kubernetes.io/kube-apiserver-client           clients
 *     kubernetes.io/kube-apiserver-client-kubelet   nodes as clients: O=system:nodes, no names
 *     kubernetes.io/kubelet-serving                 nodes as servers: O=system:nodes, with names
 *     kubernetes.io/legacy-unknown                  no rules
 */
#ifndef KC_APISERVER_REQUEST_SIGNER_H
#define KC_APISERVER_REQUEST_SIGNER_H

#include "kc/buf.h"
#include "kc/error.h"
#include "kc/time.h"

typedef struct kc__serving_signer kc__serving_signer;

/* Reads the CA and its key, PEM. NULL on error. Blocks. */
kc__serving_signer *kc__serving_signer_new(const char *cert_file, const char *key_file,
                                           kc_error *err);
/* NULL is allowed; returns NULL. */
kc__serving_signer *kc__serving_signer_free(kc__serving_signer *signer);
KC_AUTO_DEFINE(kc__serving_signer, kc__serving_signer_free)

/* A request, as a CertificateSigningRequest has it. */
typedef struct kc__serving_signing_request {
    kc_str name;          /* Of the signer. */
    kc_str pem;           /* PKCS#10. */
    const kc_str *usages; /* "client auth" */
    size_t n_usages;
    int64_t lifetime; /* Nanoseconds. */
    kc_time now;
} kc__serving_signing_request;

/* Whether the request is for a client certificate of a node; appends its common name. For automatic
 * approval. */
bool kc__serving_is_node_client(const kc__serving_signing_request *request, kc_buf *ret_name);

/* Appends the certificate, PEM. KC_INVALID: the rules of the signer forbid it. Any thread. */
int kc__serving_sign_request(const kc__serving_signer *signer,
                             const kc__serving_signing_request *request, kc_buf *out,
                             kc_error *err);
/* When the first certificate of a PEM text expires. False: there is none. Any thread. */
bool kc__serving_certificate_end(kc_str pem, kc_time *ret);

#endif
