/* SPDX-License-Identifier: Apache-2.0 */
/*
 * etcd.h: a client of etcd (3.5 or later) over gRPC.
 *
 *     kc_auto(kc__etcd) *etcd = kc__etcd_open(
 *         &(kc__etcd_opts){.endpoints = urls, .n_endpoints = 3, .ca_file = ca}, err);
 *
 *     kc_auto(kc__etcd_reply) *reply = kc__etcd_call(etcd, &(kc__etcd_request){
 *         .method = KC__ETCD_RANGE, .range = {.key = KC_STR("/a"), .limit = 10}});
 *     if (reply->code == KC__ETCD_OK)
 *         use(reply->range->kvs.items, reply->range->kvs.n);
 *
 * Requests and responses are structs (messages.h). A call ends with a reply in every case; its code
 * names the errors that a caller acts upon. A call that etcd certainly did not process is sent
 * again until its deadline; so is one that may be processed twice (`idempotent`) after any
 * temporary failure. Calls, and the streams of watches, are spread over the endpoints.
 *
 * Callbacks run on one thread, the channel's, and must not block: they may start calls and start
 * and stop watches, but not use the functions that block. All other functions may be called from
 * any thread.
 */
#ifndef KC_ETCD_ETCD_H
#define KC_ETCD_ETCD_H

#include "etcd/messages.h"
#include "kc/clock.h"
#include "kc/log.h"
#include "kc/metrics.h"

typedef struct kc__etcd kc__etcd;

/* Everything is copied, except what is marked as borrowed. */
typedef struct kc__etcd_opts {
    const char *const *endpoints; /* URLs, "https://10.0.0.7:2379"; https uses TLS. */
    size_t n_endpoints;           /* At least 1. */
    const char *ca_file;          /* PEM. Defaults to the CAs of the system. */
    const char *cert_file;        /* Client certificate, PEM. Defaults to none. */
    const char *key_file;
    const char *username, *password; /* Default to no authentication by password. */
    int64_t timeout;                 /* Of a call. Defaults to 10 s. */
    int64_t connect_timeout;         /* Defaults to 5 s. */
    int64_t keepalive_time;          /* Silence after which a connection is probed. Default 10 s. */
    int64_t keepalive_timeout;       /* Of a probe. Defaults to 2 s. */
    int64_t max_backoff;             /* Between attempts to connect. Defaults to 5 s. */
    size_t max_message;              /* Maximum size of a response. Defaults to 256 MiB. */
    const kc_clock *clock;           /* Borrowed. Defaults to the real one. */
    kc_log *log;                     /* Borrowed. Defaults to none. */
    kc_metrics *metrics;             /* Borrowed. Defaults to none. */
} kc__etcd_opts;

/* Opens a client; does not wait for a connection. NULL on error: an invalid endpoint, or files that
 * cannot be read. */
kc__etcd *kc__etcd_open(const kc__etcd_opts *opts, kc_error *err);
/* Ends all calls with KC__ETCD_CANCELLED and blocks until their callbacks have returned. Watches
 * must have been stopped. Not from a callback. NULL is allowed; returns NULL. */
kc__etcd *kc__etcd_close(kc__etcd *etcd);
KC_AUTO_DEFINE(kc__etcd, kc__etcd_close)

/* ---- errors ---- */

/* What a reply says: name, text, reason of the error. */
#define KC__ETCD_CODES(X)                                        \
    X(OK, "ok", OK)                                              \
    X(COMPACTED, "compacted", EXPIRED)                           \
    X(FUTURE_REVISION, "future_revision", BAD_REQUEST)           \
    X(LEASE_NOT_FOUND, "lease_not_found", NOT_FOUND)             \
    X(NO_SPACE, "no_space", INTERNAL)                            \
    X(NO_LEADER, "no_leader", SERVICE_UNAVAILABLE)               \
    X(TOO_MANY_REQUESTS, "too_many_requests", TOO_MANY_REQUESTS) \
    X(TOO_LARGE, "too_large", TOO_LARGE)                         \
    X(INVALID_TOKEN, "invalid_token", UNAUTHORIZED)              \
    X(AUTH_FAILED, "auth_failed", UNAUTHORIZED)                  \
    X(AUTH_NOT_ENABLED, "auth_not_enabled", BAD_REQUEST)         \
    X(PERMISSION_DENIED, "permission_denied", FORBIDDEN)         \
    X(INVALID, "invalid", BAD_REQUEST)                           \
    X(TIMEOUT, "timeout", TIMEOUT)                               \
    X(CANCELLED, "cancelled", SERVICE_UNAVAILABLE)               \
    X(UNAVAILABLE, "unavailable", SERVICE_UNAVAILABLE)           \
    X(INTERNAL, "internal", INTERNAL)

typedef enum kc__etcd_code {
#define KC__ETCD_CODE_ENUM(name, text, reason) KC__ETCD_##name,
    KC__ETCD_CODES(KC__ETCD_CODE_ENUM)
#undef KC__ETCD_CODE_ENUM
} kc__etcd_code;

/* ---- calls ---- */

/* Name, member of request and reply, path, structs of request and response, whether it may be
 * processed twice, whether it needs a leader. */
#define KC__ETCD_METHODS(X)                                                                        \
    X(RANGE, range, "KV/Range", range_request, range_response, true, true)                         \
    X(PUT, put, "KV/Put", put_request, put_response, false, true)                                  \
    X(DELETE_RANGE, delete_range, "KV/DeleteRange", delete_range_request, delete_range_response,   \
      false, true)                                                                                 \
    X(TXN, txn, "KV/Txn", txn_request, txn_response, false, true)                                  \
    X(COMPACT, compact, "KV/Compact", compaction_request, header_response, false, true)            \
    X(LEASE_GRANT, lease_grant, "Lease/LeaseGrant", lease_grant_request, lease_grant_response,     \
      false, true)                                                                                 \
    X(LEASE_REVOKE, lease_revoke, "Lease/LeaseRevoke", lease_request, header_response, false,      \
      true)                                                                                        \
    X(LEASE_KEEP_ALIVE, lease_keep_alive, "Lease/LeaseKeepAlive", lease_request,                   \
      lease_keep_alive_response, true, true)                                                       \
    X(LEASE_TIME_TO_LIVE, lease_time_to_live, "Lease/LeaseTimeToLive", lease_time_to_live_request, \
      lease_time_to_live_response, true, true)                                                     \
    X(STATUS, status, "Maintenance/Status", empty, status_response, true, false)                   \
    X(MEMBER_LIST, member_list, "Cluster/MemberList", member_list_request, member_list_response,   \
      true, false)                                                                                 \
    X(AUTHENTICATE, authenticate, "Auth/Authenticate", authenticate_request,                       \
      authenticate_response, true, false)

typedef enum kc__etcd_method {
#define KC__ETCD_METHOD_ENUM(name, member, path, request, response, idempotent, leader) \
    KC__ETCD_##name,
    KC__ETCD_METHODS(KC__ETCD_METHOD_ENUM)
#undef KC__ETCD_METHOD_ENUM
} kc__etcd_method;

/* A request: the method and the message of its name. */
typedef struct kc__etcd_request {
    kc__etcd_method method;
    int64_t timeout; /* Defaults to that of the client. */
    /* The server may process it twice. Defaults to the property of the method; for a transaction
     * whose repetition does no harm. */
    bool idempotent;
    /* A member should answer at once: an idempotent request moves to another one after 2 s. A
     * member that has lost the leader, or was stopped for a while, may take 7 s. */
    bool quick;
    union {
#define KC__ETCD_METHOD_REQUEST(name, member, path, request, response, idempotent, leader) \
    kc__etcd_##request member;
        KC__ETCD_METHODS(KC__ETCD_METHOD_REQUEST)
#undef KC__ETCD_METHOD_REQUEST
    };
} kc__etcd_request;

/* The end of a call. */
typedef struct kc__etcd_reply {
    kc__etcd_code code;
    kc_error err; /* Set unless the code is OK. */
    /* The call failed, and the server may have processed it nevertheless. */
    bool unknown_outcome;
    int64_t revision; /* Of the response's header. */
    /* The response, if the code is OK; valid as long as the reply. */
    union {
        const void *response;
#define KC__ETCD_METHOD_RESPONSE(name, member, path, request, response, idempotent, leader) \
    const kc__etcd_##response *member;
        KC__ETCD_METHODS(KC__ETCD_METHOD_RESPONSE)
#undef KC__ETCD_METHOD_RESPONSE
    };
    kc_buf bytes; /* The response points into this and the next; both are private. */
    kc_arena arena;
} kc__etcd_reply;

/* First chunk of an arena for a small message. It is among the sizes that the C library keeps for
 * each thread: no lock, no search. */
#define KC__ETCD_SMALL_ARENA ((size_t)960)

/* NULL is allowed; returns NULL. */
kc__etcd_reply *kc__etcd_reply_free(kc__etcd_reply *reply);
KC_AUTO_DEFINE(kc__etcd_reply, kc__etcd_reply_free)

/* Called once, with a reply that the callback owns. */
typedef void kc__etcd_done_fn(kc__etcd_reply *reply, void *user);

/* Starts a call; the request is copied. */
void kc__etcd_call_start(kc__etcd *etcd, const kc__etcd_request *request, kc__etcd_done_fn *done,
                         void *user);
/* The same, and blocks until it ends. Never NULL; the caller frees the reply. Not from a callback.
 */
kc__etcd_reply *kc__etcd_call(kc__etcd *etcd, const kc__etcd_request *request);

/* The range_end of all keys with a prefix: the prefix with its last byte below 0xff incremented;
 * "\0" (all keys) if there is none. In the arena. */
kc_str kc__etcd_prefix_end(kc_arena *arena, kc_str prefix);

/* ---- watches ---- */

typedef struct kc__etcd_watch kc__etcd_watch;

/* Events in the order of their revisions. Valid during the callback. */
typedef struct kc__etcd_batch {
    const kc__etcd_event *events; /* kv is never NULL. */
    size_t n;
    /* Every event of the watch up to this revision is delivered, those of the batch included. Less
     * than the revision of the last event if more events of that revision follow. */
    int64_t revision;
} kc__etcd_batch;

typedef struct kc__etcd_watch_opts {
    kc_str key, range_end;  /* As of a range. Copied. */
    int64_t start_revision; /* The first revision to deliver. Defaults to "from now on". */
    bool prev_kv;           /* Events have the previous value. */
    bool progress_notify;   /* The server reports progress of a quiet watch, every ten minutes. */
    bool fragment;          /* Large responses arrive in parts. */
    void (*events)(const kc__etcd_batch *batch, void *user);
    /* Every event up to this revision is delivered. Defaults to no callback. */
    void (*progress)(int64_t revision, void *user);
    /* The revision to resume from was compacted; the watch has ended. */
    void (*compacted)(int64_t compact_revision, void *user);
    /* The server refused or cancelled the watch, which has ended. */
    void (*failed)(kc__etcd_code code, const kc_error *err, void *user);
    void *user;
} kc__etcd_watch_opts;

/*
 * Starts a watch. Each event is delivered exactly once and in order, also when connections or
 * members fail: the watch resumes where it was, on another endpoint. All watches of a client share
 * one stream. Never NULL; kc__etcd_watch_stop frees the watch.
 */
kc__etcd_watch *kc__etcd_watch_start(kc__etcd *etcd, const kc__etcd_watch_opts *opts);
/* Stops and frees a watch, also one that has ended. No callback runs after it returns: it waits for
 * one that runs, unless it is called by that. NULL is allowed; returns NULL. */
kc__etcd_watch *kc__etcd_watch_stop(kc__etcd_watch *watch);
KC_AUTO_DEFINE(kc__etcd_watch, kc__etcd_watch_stop)
/* Returns whether the watch has delivered everything up to `revision`. If not, it asks the server
 * for progress until it has, and then calls `progress`. */
bool kc__etcd_watch_await(kc__etcd_watch *watch, int64_t revision);

/* ---- snapshots ---- */

/* Writes a snapshot of one member's database to a file descriptor: the file that `etcdutl snapshot
 * restore` reads, with its checksum. Sets its size (ret_size may be NULL). Blocks. Not from a
 * callback. */
int kc__etcd_snapshot(kc__etcd *etcd, int fd, uint64_t *ret_size, kc_error *err);

#endif
