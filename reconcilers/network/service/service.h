/* SPDX-License-Identifier: Apache-2.0 */
/*
 * service.h: a small HTTP network service, like one of a cloud provider. `kc networks` runs it.
 *
 *     GET     /v1/networks[?owner=NAME]                  {"generation":7,"networks":[…]}
 *     GET     /v1/networks/NAMESPACE/NAME                a network; its generation is its ETag
 *     PUT     /v1/networks/NAMESPACE/NAME                {"cidr":…,"gateway":…,"owner":…}
 *     DELETE  /v1/networks/NAMESPACE/NAME[?owner=NAME]
 *     GET     /healthz
 *
 * A PUT responds with 201 or 200; If-Match: "7" and If-None-Match: * are preconditions. Errors have
 * the body {"code":…,"reason":…,"message":…}, with "causes" if there are some: 422 for an invalid
 * network, 409 for one that overlaps or has another owner, 412 for a failed precondition. An
 * acknowledged change is durable.
 *
 * Requests carry a bearer token; without it the response is 401. /healthz needs none. Requests from
 * web pages are refused.
 */
#ifndef KC_NETWORK_SERVICE_H
#define KC_NETWORK_SERVICE_H

#include "kc/buf.h"
#include "kc/error.h"
#include "kc/log.h"

typedef struct kc__network_service kc__network_service;

typedef struct kc__network_service_opts {
    const char *file;    /* File of the networks. Defaults to memory. */
    const char *address; /* "127.0.0.1:6090". Defaults to none: see kc__network_service_call. */
    const char *token;   /* The bearer token. Required with an address. */
    kc_log *log;         /* Defaults to no log. */
} kc__network_service_opts;

/* Listens when it returns. NULL on error. */
kc__network_service *kc__network_service_start(const kc__network_service_opts *opts, kc_error *err);
/* NULL is allowed; returns NULL. Waits for running calls. */
kc__network_service *kc__network_service_stop(kc__network_service *service);
KC_AUTO_DEFINE(kc__network_service, kc__network_service_stop)

int kc__network_service_port(const kc__network_service *service);

/* One call, over HTTP or direct. */
typedef struct kc__network_call {
    kc_str method, path; /* The path without query, unescaped. */
    kc_str owner;        /* From the query. */
    kc_str if_match, if_none_match;
    kc_str body;
} kc__network_call;

typedef struct kc__network_reply {
    int status;
    uint64_t generation; /* For the ETag; 0: none. */
    const char *allow;   /* NULL: unused. */
    kc_buf body;
} kc__network_reply;

void kc__network_reply_done(kc__network_reply *reply);

/* `reply` must be zeroed. Thread-safe. */
void kc__network_service_call(kc__network_service *service, const kc__network_call *call,
                              kc__network_reply *reply);

#endif
