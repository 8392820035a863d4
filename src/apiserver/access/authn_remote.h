/* SPDX-License-Identifier: Apache-2.0 */
/*
 * authn_remote.h: remote authenticators of bearer tokens: they call another server, or compute for
 * longer than an I/O loop may. Their results are cached.
 *
 *     loop ─▶ kc__authn_remote_cached ─▶ cached result
 *               └─(none)─▶ kc__authn_remote_verify ─▶ kc__authn_verification_end ─▶ `done`, loop
 *
 * Requests with the same token share a verification. To add a remote authenticator: a table of
 * kc__authn_remote_ops, and a call of kc__authn_add_remote.
 */
#ifndef KC_APISERVER_AUTHN_REMOTE_H
#define KC_APISERVER_AUTHN_REMOTE_H

#include "apiserver/access/authn.h"
#include "kc/clock.h"
#include "kc/metrics.h"
#include "kc/ref.h"

/* Limits: cached results of one authenticator, bytes of them, and requests that wait for it. */
#define KC__AUTHN_MAX_CACHED_RESULTS 4096
#define KC__AUTHN_MAX_CACHED_BYTES   ((size_t)16 << 20)
#define KC__AUTHN_MAX_WAITING        1024

/* Remote authenticators do not verify longer tokens. */
#define KC__AUTHN_MAX_TOKEN ((size_t)64 << 10)

/* The result of a verification. Immutable and counted. */
typedef struct kc__authn_result {
    kc_ref refs;
    kc_arena arena; /* Holds the identity and the error. */
    int found;      /* 1: the user is `identity`; 0: not its token; -1: not valid, or unknown. */
    kc__user_identity identity;
    const char *error;   /* With -1. */
    int64_t valid_until; /* Wall time after which the result must not be used; 0: the time to live
                            alone decides. */
    bool busy;           /* Too many requests wait: the client may try again. */
} kc__authn_result;

kc__authn_result *kc__authn_result_new(int found);
/* A result with found -1, which is not cached; printf. */
kc__authn_result *kc__authn_result_error(const char *format, ...) KC_PRINTF(1, 2);
kc__authn_result *kc__authn_result_ref(kc__authn_result *result);
/* NULL is allowed; returns NULL. */
kc__authn_result *kc__authn_result_unref(kc__authn_result *result);

/* A verification in flight: one token. */
typedef struct kc__authn_verification kc__authn_verification;

kc_str kc__authn_verification_token(const kc__authn_verification *verification);
/* The audiences of the server that received the token. */
kc__user_audiences kc__authn_verification_wanted(const kc__authn_verification *verification);
/* Ends the verification, once, with a result whose reference passes to it. Any thread. */
void kc__authn_verification_end(kc__authn_verification *verification, kc__authn_result *result);

typedef struct kc__authn_remote_ops {
    const char *name; /* Label of the metrics. */
    /* Whether the token may belong to this authenticator. On an I/O loop; does not block. NULL:
     * every token. */
    bool (*accepts)(void *self, kc_str token);
    /* Starts a verification. On an I/O loop, which it may use for callbacks. */
    void (*verify)(void *self, kc__authn_verification *verification, kc__loop *loop);
    /* Verifications end at this time (monotonic, real clock) at the latest. NULL: they end by
     * themselves. */
    void (*end_by)(void *self, int64_t deadline);
    /* Ends all verifications, while the loops still run, and accepts no more. Blocks. */
    void (*stop)(void *self);
    void (*free)(void *self);
} kc__authn_remote_ops;

typedef struct kc__authn_remote_opts {
    const kc__authn_remote_ops *ops;
    void *self;                       /* Owned by the remote authenticator from now on. */
    int64_t success_ttl, failure_ttl; /* TTL of cached results with 1, and with 0. 0: none. */
    const kc_clock *clock;
    kc_metrics *metrics; /* Defaults to none. */
} kc__authn_remote_opts;

typedef struct kc__authn_remote kc__authn_remote;

/* NULL if a metric exists with another definition; `self` is then freed. */
kc__authn_remote *kc__authn_remote_new(const kc__authn_remote_opts *opts, kc_error *err);
/* After the last verification. NULL is allowed; returns NULL. */
kc__authn_remote *kc__authn_remote_free(kc__authn_remote *remote);

bool kc__authn_remote_accepts(kc__authn_remote *remote, kc_str token);
/* A cached result, with a reference, or NULL. Any thread. */
kc__authn_result *kc__authn_remote_cached(kc__authn_remote *remote, kc_str token,
                                          kc__user_audiences wanted);
/* Calls `done` once on the loop, from a later turn, with a result that is valid during the call.
 * Token and audiences are copied. */
void kc__authn_remote_verify(kc__authn_remote *remote, kc_str token, kc__user_audiences wanted,
                             kc__loop *loop, void (*done)(kc__authn_result *result, void *user),
                             void *user);
/* Drops all cached results: the configuration has changed. Any thread. */
void kc__authn_remote_clear_cache(kc__authn_remote *remote);
void kc__authn_remote_end_by(kc__authn_remote *remote, int64_t deadline);
void kc__authn_remote_stop(kc__authn_remote *remote);

#endif
