/* SPDX-License-Identifier: Apache-2.0 */
/*
 * certificates.h: the certificates of a server; missing ones are created.
 *
 *     kc_scoped(kc__serving_certificates) certs = {0};
 *     const kc__serving_certificates_opts opts = {.dir = "/var/lib/kc/certs"};
 *     if (kc__serving_certificates_prepare(&opts, &certs, err) < 0)
 *         return …;
 *     kc__tls_new(&(kc__tls_opts){.cert_file = certs.server_cert, …
 *
 * The directory contains ca.crt and ca.key, our own CA; apiserver.crt and .key, the serving
 * certificate; admin.crt and .key, a client certificate of system:masters; node-client-ca.crt and
 * .key, the CA that nodes trust; apiserver-kubelet-client.crt and .key, the server's client
 * certificate for nodes. docs/internals/access.md describes when they are renewed.
 */
#ifndef KC_APISERVER_CERTIFICATES_H
#define KC_APISERVER_CERTIFICATES_H

#include "kc/clock.h"
#include "kc/log.h"

/* Maximum number of further names of the serving certificate. */
#define KC__SERVING_MAX_NAMES 32

/* How often a running server looks for certificates that expire soon. */
#define KC__SERVING_RENEWAL_INTERVAL (6 * KC_HOUR)

typedef struct kc__serving_certificates_opts {
    const char *dir;          /* Created with mode 0700 if it does not exist. */
    const char *bind_address; /* A name in the server's certificate, unless it is the wildcard
                                 address. */
    const char *host_name;    /* Another name in it. Defaults to the machine's host name. */
    const char *const *names; /* Further addresses and DNS names in it, at most
                                 KC__SERVING_MAX_NAMES. */
    size_t n_names;
    bool without_server; /* The operator supplies the serving certificate: do not create
                            ours. */
    /* PEM of the operator's client CAs, trusted in addition to our own. Defaults to none. */
    const char *client_ca_file;
    bool shared_ca;        /* The CAs are those of several machines (kc certs create), which no
                              server replaces. */
    bool renew_leaves;     /* Replace all leaves, whether they expire soon or not. */
    bool renew_ca;         /* Go to the next step of the replacement of ca.crt (authority.h). */
    const kc_clock *clock; /* Defaults to the real clock. */
    kc_log *log;           /* Defaults to no log. */
} kc__serving_certificates_opts;

/* Paths. */
typedef struct kc__serving_certificates {
    char *ca_cert, *ca_key;
    char *server_cert, *server_key;
    char *admin_cert, *admin_key;
    char *node_client_ca_cert, *node_client_ca_key; /* The CA that nodes trust. */
    char *node_client_cert, *node_client_key;
    char *client_ca; /* PEM of all CAs of clients. */
} kc__serving_certificates;

/* Checks the existing certificates and creates those that are missing, expire soon or no longer
 * match. A running server calls it again and again (KC__SERVING_RENEWAL_INTERVAL). *ret is
 * unchanged on failure. Blocks; one process per directory at a time, the others wait. */
int kc__serving_certificates_prepare(const kc__serving_certificates_opts *opts,
                                     kc__serving_certificates *ret, kc_error *err);
void kc__serving_certificates_done(kc__serving_certificates *certs);

/* A name by which clients can verify a server at `address` that has this certificate: NULL if the
 * address itself verifies, or if no name does; otherwise the first DNS name of the certificate,
 * which the caller frees. */
char *kc__serving_certificate_other_name(const char *cert_file, const char *address);

#endif
