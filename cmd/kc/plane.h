/* SPDX-License-Identifier: Apache-2.0 */
/* plane.h: a server with everything it stands on, opened as its flags say. */
#ifndef KC_CMD_PLANE_H
#define KC_CMD_PLANE_H

#include "apiserver_options.h"

#include "apiserver/apiserver.h"
#include "apiserver/serving/certificates.h"

/* Zero is closed. */
typedef struct kc__plane {
    const kc__apiserver_options *options;
    kc_log *log;         /* The caller's. */
    kc_metrics *metrics; /* The same. */
    kc_rand rand;
    kc_storage *storage;
    kc__authn *authn;
    kc__certificates certs;
    kc__tls *tls;
    kc_buf client_ca;
    char *secure_url, *insecure_url; /* NULL: that port is off. */
    char *kubeconfig;                /* NULL: there is none. */
    kc__listener listeners[2];
    size_t n_listeners;
    kc_apiserver *server;
} kc__plane;

/* Serves when it returns. It keeps the options, the log and the metrics, which outlive it. On error
 * it is to be closed all the same. Blocks. */
int kc__plane_open(kc__plane *plane, const kc__apiserver_options *options, kc_log *log,
                   kc_metrics *metrics, kc_error *err);
/* PEM file of the authority by which clients know the server. */
const char *kc__plane_authority(const kc__plane *plane);
/* Drains, waits for the last requests, closes storage, and zeroes it. */
void kc__plane_close(kc__plane *plane);

#endif
