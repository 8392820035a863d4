/* SPDX-License-Identifier: Apache-2.0 */
/*
 * webhook_internal.h: the internals of a webhook server: server.c runs it, paths.c holds its hooks,
 * maintain.c maintains its certificates.
 */
#ifndef KC_RUNTIME_WEBHOOK_INTERNAL_H
#define KC_RUNTIME_WEBHOOK_INTERNAL_H

#include "http/server/server.h"
#include "runtime/webhook/certs.h"
#include "runtime/webhook/pool.h"

struct kc_webhook_server {
    kc_webhook_server_opts opts; /* Defaults filled in; strings are in the arena. */
    kc_arena arena;
    kc_manager *manager;
    kc_client *client; /* Bound to `stop` while the server runs. */
    kc_log *log;
    kc_metrics *metrics;
    const kc_clock *clock;

    kc_mutex mutex; /* Guards `hooks` and their converters while they grow, `pause` and
                       `skip_pause`; no callback runs under it. */
    KC_VEC(kc__webhook_handler *) hooks;
    kc_cancel *pause; /* Firing it ends the pause between two checks. */
    bool skip_pause;  /* Skip the next pause. */

    /* Used only by the thread that runs the server. */
    kc__webhook_certs certs;
    kc_buf served; /* The part of `certs` that `tls` uses. */
    kc__tls *tls;
    kc__http_server *http;
    kc__webhook_pool *pool;

    _Atomic int port;
    _Atomic bool ready;
    _Atomic unsigned publications_requested,
        publications_done; /* Number of publications requested and done. */
    _Atomic int64_t end;   /* Expiry of the serving certificate, in seconds since 1970. */
};

/* ---- paths.c ---- */

/* NULL: no hook at this path. */
const kc__webhook_handler *kc__webhook_find(kc_webhook_server *server, kc_str path);
void kc__webhook_remove_all(kc_webhook_server *server);

/* ---- maintain.c ---- */

/* Checks whether certificates exist, have changed or are due for renewal, and serves the result.
 * Blocks. */
int kc__webhook_check_certs(kc_webhook_server *server, kc_error *err);
/* Patches the caBundles, like kc__webhook_ca_bundle_publish. Blocks. */
int kc__webhook_publish(kc_webhook_server *server, kc_error *err);
/* Time until the next check. */
int64_t kc__webhook_pause(const kc_webhook_server *server, bool failed);

#endif
