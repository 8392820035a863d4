/* SPDX-License-Identifier: Apache-2.0 */
/*
 * apiserver.c: a stand-in that listens on nothing, so that the command can be built and its flags,
 * files and signals tested before the server is there. To be replaced as a whole by the wiring of
 * kc__server, store and handlers; with it goes the weak stand-in for TLS below.
 */
#include "apiserver/apiserver.h"

struct kc_apiserver {
    kc_log *log;
    const kc__listener *listeners;
};

__attribute__((weak)) kc__tls *kc__tls_new(const kc__tls_opts *opts, kc_error *err)
{
    (void)opts;
    (void)err;
    return (kc__tls *)kc_alloc(1);
}

__attribute__((weak)) kc__tls *kc__tls_free(kc__tls *tls)
{
    free(tls);
    return NULL;
}

kc_apiserver *kc_apiserver_start(const kc_apiserver_opts *opts, kc_error *err)
{
    (void)err;
    kc_apiserver *server = kc_new(kc_apiserver);
    server->log = opts->log;
    server->listeners = opts->listeners;
    kc_log_warn(server->log, "this build listens on nothing yet");
    return server;
}

void kc_apiserver_drain(kc_apiserver *server)
{
    kc_log_verbose(server->log, 1, "draining");
}

kc_apiserver *kc_apiserver_stop(kc_apiserver *server, int64_t grace)
{
    (void)grace;
    free(server);
    return NULL;
}

int kc_apiserver_port(const kc_apiserver *server, size_t listener)
{
    return server->listeners[listener].port;
}
