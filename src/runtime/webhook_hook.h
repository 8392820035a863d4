/* SPDX-License-Identifier: Apache-2.0 */
/*
 * webhook_hook.h: what is served at a path, and one call of it. webhook_admission.c and
 * webhook_convert.c make and serve hooks; they know nothing of sockets and threads.
 */
#ifndef KC_RUNTIME_WEBHOOK_HOOK_H
#define KC_RUNTIME_WEBHOOK_HOOK_H

#include "kc/log.h"
#include "kc/webhook.h"
#include "runtime/guard.h"

#include <stdatomic.h>

typedef struct kc__converter {
    struct kc__converter *next;
    char *group, *kind;
    kc_convert_fn *convert;
    void *user;
} kc__converter;

/* A call: what came, and what goes back. */
typedef struct kc__hook_call {
    kc_str content_type, body;
    kc__guard *guard; /* NULL: a crash is a crash. */
    kc_log *log;
    kc_buf out;
    bool crashed;
} kc__hook_call;

typedef struct kc__hook kc__hook;

/* Answers; returns the HTTP status. Any thread. */
typedef int kc__serve_fn(const kc__hook *hook, kc__hook_call *call);
kc__serve_fn kc__serve_admission, kc__serve_conversion;

struct kc__hook {
    char *path;
    kc__serve_fn *serve;
    void *user;
    /* One of these. */
    kc_admit_fn *admit;
    kc_default_fn *set_defaults;
    kc_validate_fn *validate;
    const kc_kind *kind;                 /* Of the last two. */
    _Atomic(kc__converter *) converters; /* Of a conversion: the newest; only added to. */

    kc_metric *requests; /* By path and code. */
    kc_histogram *latency;
    kc_gauge *in_flight;
    kc_counter *panics;
};

/* Calls fn(user), guarded if the call is; false, and said in `err`, when it crashed. */
bool kc__hook_guarded(kc__hook_call *call, void (*fn)(void *user), void *user, kc_error *err);

#endif
