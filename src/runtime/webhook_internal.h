/* SPDX-License-Identifier: Apache-2.0 */
/*
 * webhook_internal.h: a webhook server inside: webhook_server.c runs it, webhook_paths.c knows what
 * it serves, webhook_keep.c keeps its certificates.
 */
#ifndef KC_RUNTIME_WEBHOOK_INTERNAL_H
#define KC_RUNTIME_WEBHOOK_INTERNAL_H

#include "http/server.h"
#include "runtime/webhook_certs.h"
#include "runtime/webhook_pool.h"

struct kc_webhook_server {
    kc_webhook_server_opts opts; /* Defaults filled in; all text is the arena's. */
    kc_arena arena;
    kc_manager *manager;
    kc_client *client; /* Bound to `stop` while it runs. */
    kc_log *log;
    kc_metrics *metrics;
    const kc_clock *clock;

    kc_mutex mutex; /* Guards `hooks` and their converters while they grow, `pause` and `hurry`;
                       nothing is called under it. */
    KC_VEC(kc__hook *) hooks;
    kc_cancel *pause; /* Between two looks: fired, it ends. */
    bool hurry;       /* The next pause is none. */

    /* Of the thread that runs it. */
    kc__hook_certs certs;
    kc_buf served; /* What of them `tls` has. */
    kc__tls *tls;
    kc__server *http;
    kc__hook_pool *pool;

    _Atomic int port;
    _Atomic bool ready;
    _Atomic unsigned asked, answered; /* How often it was asked to publish, and has. */
    _Atomic int64_t end;              /* Of what is served, in seconds since 1970. */
};

/* ---- webhook_paths.c ---- */

/* NULL: nothing is served there. */
const kc__hook *kc__webhook_find(kc_webhook_server *server, kc_str path);
void kc__webhook_forget_all(kc_webhook_server *server);

/* ---- webhook_keep.c ---- */

/* Looks whether certificates are there, new or due, and serves what it finds. Blocks. */
int kc__webhook_look(kc_webhook_server *server, kc_error *err);
/* Patches the caBundles, as kc__hook_bundle_publish. Blocks. */
int kc__webhook_publish(kc_webhook_server *server, kc_error *err);
/* Until the next look. */
int64_t kc__webhook_pause(const kc_webhook_server *server, bool failed);

#endif
