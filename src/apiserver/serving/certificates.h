/* SPDX-License-Identifier: Apache-2.0 */
/*
 * certificates.h: the certificates a server needs, made where they are missing.
 *
 *     kc_scoped(kc__certificates) certs = {0};
 *     if (kc__certificates_prepare(&(kc__certificates_opts){.folder = "/var/lib/kc/certs"}, &certs,
 *                                  err) < 0)
 *         return …;
 *     kc__tls_new(&(kc__tls_opts){.cert_file = certs.server_cert, …
 *
 * In the folder: ca.crt and ca.key, an authority of our own; apiserver.crt and .key, what the
 * server shows; admin.crt and .key, a client's, of system:masters;
 * apiserver-kubelet-client.crt and .key, what the server shows when it asks nodes.
 * docs/internals/access.md says when they are made again.
 */
#ifndef KC_APISERVER_CERTIFICATES_H
#define KC_APISERVER_CERTIFICATES_H

#include "kc/log.h"

typedef struct kc__certificates_opts {
    const char *folder;       /* Made, mode 0700, where it is not there. */
    const char *bind_address; /* The server's certificate names it, unless it stands for all. */
    const char *host_name;    /* Named as well. Defaults to the machine's. */
    bool without_server;      /* The operator has a serving certificate: leave ours alone. */
    /* PEM of the operator's authorities for clients, trusted beside our own. Defaults to none. */
    const char *client_ca_file;
    const kc_clock *clock; /* Defaults to the real one. */
    kc_log *log;           /* Defaults to silence. */
} kc__certificates_opts;

/* Paths. */
typedef struct kc__certificates {
    char *ca_cert, *ca_key;
    char *server_cert, *server_key;
    char *admin_cert, *admin_key;
    char *node_client_cert, *node_client_key;
    char *client_ca; /* Of all authorities whose clients are welcome. */
} kc__certificates;

/* Looks at what there is and makes what is missing, ends soon or no longer fits. *ret is untouched
 * on failure. Blocks; one process to a folder at a time, the others wait. */
int kc__certificates_prepare(const kc__certificates_opts *opts, kc__certificates *ret,
                             kc_error *err);
void kc__certificates_done(kc__certificates *certs);

/* A name by which clients can verify a server at `address` that shows this certificate: NULL where
 * the address will do, or where nothing will; otherwise the first DNS name in it, the caller's to
 * free. */
char *kc__certificate_other_name(const char *cert_file, const char *address);

#endif
