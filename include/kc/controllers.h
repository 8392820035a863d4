/* SPDX-License-Identifier: Apache-2.0 */
/*
 * controllers.h: the controllers that a control plane runs beside its API server: garbage
 * collection, namespaces, deployments, a scheduler, nodes that run pods, and others.
 *
 *     kc_scoped(kc_error) err = {0};
 *     kc_auto(kc_manager) *manager = kc_manager_new(NULL, &err);
 *     kc_controllers_add(manager, &(kc_controllers_opts){.names = "*,-scheduler"}, &err);
 *     kc_manager_run(manager, &err);
 *
 * They work with any server of the Kubernetes API. A test that adds them to kc_testenv_manager(env)
 * behaves like a cluster: deleting an owner deletes its dependents, deployments get pods, pods run.
 * `kc controllers` is a program that runs them.
 */
#ifndef KC_CONTROLLERS_H
#define KC_CONTROLLERS_H

#include "kc/manager.h"
#include "kc/pods.h"
#include "kc/time.h"

/* A token of a service account that does not expire, for the Secret that holds it. */
typedef struct kc_account_token {
    kc_str ns, account, account_uid, secret;
} kc_account_token;

/* Appends the signed token. Any thread. */
typedef int kc_sign_account_token_fn(const kc_account_token *about, kc_buf *out, void *user,
                                     kc_error *err);

/* A request for a certificate: a CertificateSigningRequest. */
typedef struct kc_certificate_request {
    kc_str signer; /* "kubernetes.io/kube-apiserver-client" */
    kc_str pem;    /* PKCS#10. */
    const kc_str *usages;
    size_t n_usages;
    int64_t expiration_seconds; /* 0: not requested. */
} kc_certificate_request;

/* Signs certificates with the CA of a cluster. Any thread. */
typedef struct kc_certificate_signer {
    /* Appends the certificate, PEM. KC_INVALID: the rules of the signer forbid it. */
    int (*sign)(const kc_certificate_request *request, kc_buf *out, void *user, kc_error *err);
    /* Whether the request is for a client certificate of a node; appends its common name. */
    bool (*is_node_client)(const kc_certificate_request *request, kc_buf *ret_name, void *user);
    /* When a certificate (PEM) expires; false: it cannot be parsed. NULL: not known. */
    bool (*certificate_end)(kc_str pem, kc_time *ret, void *user);
    void *user;
} kc_certificate_signer;

/* Zero means the default in every field. */
typedef struct kc_controllers_opts {
    /* Comma-separated list of controllers, by the names of kc_controllers_name; "*" selects all,
     * "-name" excludes one. Defaults to all. */
    const char *names;
    /* Each controller writes as the user whose role every cluster has: its service account, the
     * scheduler, the node. The manager's client then needs the rights of
     * system:kube-controller-manager only, which reads for the cache; over HTTP it must be allowed
     * to impersonate these users. By default all requests are those of the manager's client. */
    bool own_identities;
    int workers; /* Of each controller that can use several. Defaults to 5. */
    /* PEM of the server's CA (kc_config_authority returns it), for kube-root-ca.crt in every
     * namespace. Without it, that ConfigMap is not created. */
    const char *root_ca;
    /* Signs tokens for Secrets of the type kubernetes.io/service-account-token, with a key that the
     * API server accepts. Without it, such Secrets are not filled. */
    kc_sign_account_token_fn *sign_account_token;
    void *sign_account_token_user;
    /* Signs CertificateSigningRequests of the signers of Kubernetes; copied. Without it, such
     * requests are neither signed nor approved. */
    const kc_certificate_signer *certificate_signer;
    int64_t node_grace; /* A node without a heartbeat for this time is lost. Defaults to 40 s. */
    int ended_pods;     /* Terminated pods above this number are deleted. Defaults to 12500. */
    kc_pods_opts pods;  /* Nodes that this process runs: pods.h. */
} kc_controllers_opts;

/* Call before the manager starts. KC_INVALID for an unknown name; nothing is added on error. */
int kc_controllers_add(kc_manager *manager, const kc_controllers_opts *opts, kc_error *err);

/* Names and descriptions of the controllers, by index; NULL past the last. */
const char *kc_controllers_name(size_t i);
const char *kc_controllers_summary(size_t i);

#endif
