/* SPDX-License-Identifier: Apache-2.0 */
/*
 * apiserver.h: the API server as a command embeds it. The caller opens the storage and the
 * listeners; the server runs until it is stopped.
 *
 *     kc__apiserver *server = kc__apiserver_start(&(kc__apiserver_opts){
 *         .storage = storage, .listeners = listeners, .n_listeners = 2, .authn = authn,
 *         .log = log}, err);
 *     … wait for a signal …
 *     kc__apiserver_stop(server, 10 * KC_SECOND);
 */
#ifndef KC_APISERVER_APISERVER_H
#define KC_APISERVER_APISERVER_H

#include "apiserver/access/authn.h"
#include "apiserver/admission/plugin_selection.h"
#include "apiserver/authz/authz.h"
#include "apiserver/background/bootstrap.h"
#include "apiserver/services/node_ports.h"
#include "apiserver/storage/storage.h"
#include "apiserver/webhook/webhook_error.h"
#include "base/periodic.h"
#include "http/server/server.h"
#include "kc/rand.h"

typedef struct kc__apiserver kc__apiserver;

/* Borrowed pointers must outlive the server. */
typedef struct kc__apiserver_opts {
    kc__storage *storage; /* Open. The server closes it, also when start fails. */
    /* Resources in other storages (store/overrides.c); closed as `storage`. The arrays must outlive
     * the server. Defaults to none. */
    const struct kc__store_override *overrides;
    size_t n_overrides;
    const kc__http_listener *listeners;
    size_t n_listeners; /* May be 0: the server then serves only callers in the same process. */
    size_t loops;       /* Event loops, one thread each. Defaults to the number of processors. */
    unsigned request_workers; /* Worker threads for expensive requests. Defaults to half of the
                                 processors, at least 2, at most 4. */
    const kc__authn *authn;   /* Defaults to no authentication: every user is system:anonymous. */
    kc__authz_modes authorization; /* Without a chain. Defaults to AlwaysAllow. */
    kc__authz_chain *authz_chain;  /* Authorizers (authz/authz_chain.h). NULL: of the modes. */
    bool authz_reloads;            /* kc__apiserver_replace_authz may replace them. */
    struct kc__authz_webhooks *authz_webhooks; /* Of the chain. Borrowed. NULL: none. */
    /* Tokens of service accounts: issued by serviceaccounts/NAME/token, described by OIDC
     * discovery. NULL: none. Authentication accepts them if `authn` has them, too. */
    struct kc__sa_tokens *accounts;
    /* People: their logins, sessions and tokens (people/people.h). Needs `accounts`, and the
     * definitions of Users and Teams. */
    bool people;
    int64_t session_lifetime; /* Defaults to KC__PEOPLE_SESSION_LIFETIME. */
    unsigned password_log_n;  /* Cost of password hashes, for tests. Defaults to 15. */
    /* What kubectl may use; its duration defaults to an hour. */
    struct {
        bool disabled, ephemeral;
        int64_t duration;
    } kubectl;
    bool unrestricted_update; /* An update of an object writes its status, too. */
    bool portable;            /* Custom resources that are marked as not portable are not served. */
    /* PEM of the client certificate and key for requests to nodes (container logs). NULL: the
     * server sends no requests to nodes. */
    const char *node_client_cert, *node_client_key;
    /* The CAs of clients, and what else identifies clients. The server publishes it in a ConfigMap,
     * for other servers that accept the same clients. Defaults to not published. */
    kc__bootstrap_trust client_trust;
    /* CustomResourceDefinitions that belong to the server (background/system_crds.h). */
    const struct kc__bootstrap_crd *system_crds;
    size_t n_system_crds;
    int64_t request_timeout; /* Timeout of requests other than watches. Defaults to one minute. */
    kc__http_budget_opts budget; /* Limit of buffered request bytes. */
    /* Defaults to what the limit of open files allows, and to at most one for each 64 KiB of the
     * soft limit of memory, or 1,024 if that is more. */
    size_t max_connections;
    int64_t tls_handshake_timeout; /* Defaults to 10 s. */
    /* Runs jobs that may be late; the server adds its own. The caller starts it, and frees it
     * before it stops the server. Defaults to none. */
    kc__periodic *housekeeping;
    int64_t memory_trim_interval; /* How often freed memory is returned to the operating system, by
                                     a job of `housekeeping`. Defaults to never. */
    /* Events: time to live since the last write, maximum per namespace, maximum in total. Default
     * to 1 h, 20,000 and 60,000. */
    int64_t event_ttl;
    size_t max_namespace_events, max_events;
    size_t max_request_bytes; /* Maximum size of a request body. Defaults to 3 MiB. */
    size_t max_object_bytes; /* Maximum size of a stored object. Defaults to 1.5 MiB, as in etcd. */
    /* Maximum size of recent events; the same limit applies to old snapshots that list pages and
     * slow readers hold. Defaults to 128 MiB. */
    size_t history_bytes;
    size_t max_watches_per_user;      /* Defaults to KC__WATCH_QUOTA_PER_USER. */
    size_t max_reading, max_mutating; /* Requests in flight. Default to 400 and 200. */
    /* Maximum size of the objects that conversion webhooks have converted and that are kept.
     * Defaults to 64 MiB. */
    size_t conversion_bytes;
    kc__http_client_send_fn *conversion_send; /* For tests. Defaults to HTTP. */
    /* Limits of the process's memory (governor.h). Default to 50 % and 75 % of the available
     * memory. */
    size_t memory_soft_limit, memory_hard_limit;
    /* Admission plugins that run although they are off by default, and those that do not run. */
    kc__admission_selection enabled_plugins, disabled_plugins;
    /* Configuration of the plugins (admission_config.h). NULL: their defaults. */
    const struct kc__admission_config *admission_config;
    /* The network from which cluster IPs are allocated, CIDR notation; a stored ServiceCIDR has
     * precedence. Defaults to 10.96.0.0/12. */
    const char *service_range;
    kc__node_port_range node_ports; /* Defaults to 30000 to 32767. */
    /* The address and port at which clients in the cluster reach this server: an endpoint of the
     * Service "kubernetes" while the server runs. Default to none. */
    const char *advertise_address;
    int advertise_port;
    /* Encrypts stored values (storage/encryption/encryption.h). Defaults to none. */
    struct kc__encryption *encryption;
    struct kc__audit *audit; /* The audit log (audit/audit.h). Defaults to none. */
    /* Called on a thread of the server when every further write fails until the process is started
     * again: the storage and the memory of the server differ. Must not block. Defaults to nothing.
     */
    void (*inconsistent)(void *user, const kc_error *err);
    void *inconsistent_user;
    kc_log *log;           /* Defaults to no log. */
    kc_metrics *metrics;   /* Served at /metrics. Defaults to none. */
    const kc_clock *clock; /* Defaults to the real clock. */
    kc_rand *rand;         /* Source of generated names and jitter. Defaults to the system's. */
} kc__apiserver_opts;

/* Loads the stored objects and starts to listen. Both are done when it returns. NULL on error.
 * Blocks. */
kc__apiserver *kc__apiserver_start(const kc__apiserver_opts *opts, kc_error *err);

/* Fails /readyz for `delay` while everything is still served, so that load balancers notice; in its
 * second half the server sends clients to other connections. Before kc__apiserver_stop. Blocks for
 * `delay`. */
void kc__apiserver_leave(kc__apiserver *server, int64_t delay);
/* Fails /readyz, accepts no new connections and ends watches; open requests continue. Any thread;
 * does not block. */
void kc__apiserver_drain(kc__apiserver *server);
/* Drains, waits until the last request is answered or `grace` has passed, and frees the server.
 * Every acknowledged write is durable. Blocks. NULL is allowed; returns NULL. */
kc__apiserver *kc__apiserver_stop(kc__apiserver *server, int64_t grace);
KC_UNUSED static inline void kc__apiserver_kill(kc__apiserver *server)
{
    kc__apiserver_stop(server, 0);
}
KC_AUTO_DEFINE(kc__apiserver, kc__apiserver_kill)

/* Publishes other values than those of the options. The values are copied. Blocks for a moment; any
 * thread but those of the server. */
void kc__apiserver_publish_trust(kc__apiserver *server, const kc__bootstrap_trust *trust);

/* Installs other authorizers, for opts.authz_reloads (kc__authz_replace). Any thread. */
int kc__apiserver_replace_authz(kc__apiserver *server, kc__authz_chain *chain, kc_error *err);

/* The port of a listener, by its index. */
int kc__apiserver_port(const kc__apiserver *server, size_t listener);

/* The request handler (call.h), for callers in the same process: on one of the server's loops they
 * pass an exchange of their own to kc__rest_api_begin and kc__rest_api_handle. None of their
 * exchanges may be open when the server is stopped. */
struct kc__rest_api *kc__apiserver_api(kc__apiserver *server);

#endif
