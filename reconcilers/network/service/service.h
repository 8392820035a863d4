/* SPDX-License-Identifier: Apache-2.0 */
/*
 * service.h: a small network service behind HTTP, as a cloud has one. `kc networks` is it.
 *
 *     GET     /v1/networks[?owner=NAME]                  {"generation":7,"networks":[…]}
 *     GET     /v1/networks/NAMESPACE/NAME                a network; its generation is its ETag
 *     PUT     /v1/networks/NAMESPACE/NAME                {"cidr":…,"gateway":…,"owner":…}
 *     DELETE  /v1/networks/NAMESPACE/NAME[?owner=NAME]
 *     GET     /healthz
 *
 * A PUT is answered with 201 or 200; If-Match: "7" and If-None-Match: * say what it is to find.
 * What is refused is answered with {"code":…,"reason":…,"message":…}, "causes" where there are
 * some: 422 for what is no network, 409 for one that overlaps with another or is another owner's,
 * 412 where If-Match says otherwise. A change that was answered survives whatever happens to the
 * process.
 *
 * Nobody is asked who he is, but web pages are not answered: it is for this machine, or a network
 * that is trusted.
 */
#ifndef KC_NETWORK_SERVICE_H
#define KC_NETWORK_SERVICE_H

#include "kc/buf.h"
#include "kc/error.h"
#include "kc/log.h"

typedef struct kc__network_service kc__network_service;

typedef struct kc__network_service_opts {
    const char *file;    /* Where networks are kept. Defaults to memory. */
    const char *address; /* "127.0.0.1:6090". Defaults to nowhere: see kc__network_service_call. */
    kc_log *log;         /* Defaults to silence. */
} kc__network_service_opts;

/* Serves when it returns. NULL on error. */
kc__network_service *kc__network_service_start(const kc__network_service_opts *opts, kc_error *err);
/* NULL is allowed; returns NULL. Blocks until calls under way are over. */
kc__network_service *kc__network_service_stop(kc__network_service *service);
KC_AUTO_DEFINE(kc__network_service, kc__network_service_stop)

int kc__network_service_port(const kc__network_service *service);

/* One call, however it came. */
typedef struct kc__network_call {
    kc_str method, path; /* The path without its query, escapes resolved. */
    kc_str owner;        /* Of the query. */
    kc_str if_match, if_none_match;
    kc_str body;
} kc__network_call;

typedef struct kc__network_reply {
    int status;
    uint64_t generation; /* For the ETag; 0: none. */
    const char *allow;   /* NULL: does not matter. */
    kc_buf body;
} kc__network_reply;

void kc__network_reply_done(kc__network_reply *reply);

/* `reply` is zeroed before. Any thread. */
void kc__network_service_call(kc__network_service *service, const kc__network_call *call,
                              kc__network_reply *reply);

#endif
