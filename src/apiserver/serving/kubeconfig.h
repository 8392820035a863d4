/* SPDX-License-Identifier: Apache-2.0 */
/* kubeconfig.h: the file with which kubectl finds a server and shows who it is. */
#ifndef KC_APISERVER_KUBECONFIG_H
#define KC_APISERVER_KUBECONFIG_H

#include "kc/error.h"

typedef struct kc__kubeconfig_opts {
    const char *server;      /* "https://127.0.0.1:6443" */
    const char *server_name; /* Verify the server under this name. Defaults to its address. */
    /* Files whose contents are put in: PEM. */
    const char *ca_file, *cert_file, *key_file;
} kc__kubeconfig_opts;

/* Writes `path`, mode 0600, at once or not at all: it holds a private key. Blocks. */
int kc__kubeconfig_write(const char *path, const kc__kubeconfig_opts *opts, kc_error *err);

#endif
