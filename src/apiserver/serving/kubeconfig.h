/* SPDX-License-Identifier: Apache-2.0 */
/* kubeconfig.h: the file with the server's address and the client's credentials for kubectl. */
#ifndef KC_APISERVER_KUBECONFIG_H
#define KC_APISERVER_KUBECONFIG_H

#include "kc/error.h"

typedef struct kc__serving_kubeconfig_opts {
    const char *server;      /* "https://127.0.0.1:6443" */
    const char *server_name; /* Verify the server by this name. Defaults to its address. */
    /* Files whose contents are embedded: PEM. */
    const char *ca_file, *cert_file, *key_file;
} kc__serving_kubeconfig_opts;

/* Writes `path` with mode 0600, atomically: it contains a private key. Blocks. */
int kc__serving_kubeconfig_write(const char *path, const kc__serving_kubeconfig_opts *opts,
                                 kc_error *err);

#endif
