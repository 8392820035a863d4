/* SPDX-License-Identifier: Apache-2.0 */
/*
 * webhook_handler.h: a hook, which serves one path, and one call of it. admission.c and convert.c
 * implement hooks; they are independent of sockets and threads.
 */
#ifndef KC_RUNTIME_WEBHOOK_WEBHOOK_HANDLER_H
#define KC_RUNTIME_WEBHOOK_WEBHOOK_HANDLER_H

#include "kc/log.h"
#include "kc/webhook.h"
#include "runtime/crash/guard.h"

#include <stdatomic.h>

typedef struct kc__webhook_converter {
    struct kc__webhook_converter *next;
    char *group, *kind;
    kc_webhook_convert_fn *convert;
    void *user;
} kc__webhook_converter;

/* One call: the request and the response. */
typedef struct kc__webhook_call {
    kc_str content_type, body;
    kc__guard *guard; /* NULL: none; for callers outside of a pool. */
    kc_log *log;
    kc_buf out;
    bool crashed;
} kc__webhook_call;

typedef struct kc__webhook_handler kc__webhook_handler;

/* Writes the response; returns the HTTP status. Any thread. */
typedef int kc__webhook_serve_fn(const kc__webhook_handler *hook, kc__webhook_call *call);
kc__webhook_serve_fn kc__webhook_serve_admission, kc__webhook_serve_conversion;

struct kc__webhook_handler {
    char *path;
    kc__webhook_serve_fn *serve;
    void *user;
    /* Exactly one is set. */
    kc_webhook_admit_fn *admit;
    kc_webhook_default_fn *set_defaults;
    kc_webhook_validate_fn *validate;
    const kc_kind *kind; /* The kind of the last two. */
    _Atomic(kc__webhook_converter *)
        converters; /* Of a conversion hook: newest first; only added to. */

    kc_metric *requests; /* Labels: path and code. */
    kc_histogram *latency;
    kc_gauge *in_flight;
    kc_counter *panics;
};

/* Calls fn(user) under the call's guard. False, with `err` set, if it crashed and the guard
 * recovered. */
bool kc__webhook_call_guarded(kc__webhook_call *call, void (*fn)(void *user), void *user,
                              kc_error *err);

#endif
