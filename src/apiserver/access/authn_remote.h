/* SPDX-License-Identifier: Apache-2.0 */
/*
 * authn_remote.h: authenticators of bearer tokens that take their time: they ask another server, or
 * compute for longer than an I/O loop may. Their answers are kept for a while.
 *
 *     loop ─▶ kc__authn_remote_known ─▶ answer of the last seconds
 *               └─(none)─▶ kc__authn_remote_ask ─▶ flight ─▶ kc__authn_flight_end ─▶ `done`, loop
 *
 * Requests with the same token share a flight. To add such an authenticator: a table of
 * kc__authn_remote_ops, and a call of kc__authn_add_remote.
 */
#ifndef KC_APISERVER_AUTHN_REMOTE_H
#define KC_APISERVER_AUTHN_REMOTE_H

#include "apiserver/access/authn.h"
#include "kc/clock.h"
#include "kc/metrics.h"
#include "kc/ref.h"

/* Limits: answers that one authenticator keeps, bytes of them, and requests that wait for it. */
#define KC__AUTHN_MAX_ANSWERS      4096
#define KC__AUTHN_MAX_ANSWER_BYTES ((size_t)16 << 20)
#define KC__AUTHN_MAX_WAITING      1024

/* A longer token is not shown to these authenticators. */
#define KC__AUTHN_MAX_TOKEN ((size_t)64 << 10)

/* What an authenticator says about a token. Immutable and counted. */
typedef struct kc__authn_answer {
    kc_ref refs;
    kc_arena arena; /* Holds the identity and the error. */
    int found;      /* 1: the user is `identity`; 0: not its token; -1: not valid, or unknown. */
    kc__user_identity identity;
    const char *error;   /* With -1. */
    int64_t valid_until; /* Wall time after which the answer must not be used; 0: the time to live
                            alone decides. */
    bool busy;           /* Too many requests wait: the client may try again. */
} kc__authn_answer;

kc__authn_answer *kc__authn_answer_new(int found);
/* An answer with found -1, which is not kept; printf. */
kc__authn_answer *kc__authn_answer_error(const char *format, ...) KC_PRINTF(1, 2);
kc__authn_answer *kc__authn_answer_ref(kc__authn_answer *answer);
/* NULL is allowed; returns NULL. */
kc__authn_answer *kc__authn_answer_unref(kc__authn_answer *answer);

/* One token that is being verified. */
typedef struct kc__authn_flight kc__authn_flight;

kc_str kc__authn_flight_token(const kc__authn_flight *flight);
/* The audiences of the server that received the token. */
kc__user_audiences kc__authn_flight_wanted(const kc__authn_flight *flight);
/* Ends the flight, once, with an answer whose reference passes to it. Any thread. */
void kc__authn_flight_end(kc__authn_flight *flight, kc__authn_answer *answer);

typedef struct kc__authn_remote_ops {
    const char *name; /* Label of the metrics. */
    /* Whether the token may belong to this authenticator. On an I/O loop; does not block. NULL:
     * every token. */
    bool (*concerns)(void *self, kc_str token);
    /* Starts to verify the token of a flight. On an I/O loop, which it may use for callbacks. */
    void (*ask)(void *self, kc__authn_flight *flight, kc__loop *loop);
    /* Flights end at this time (monotonic, real clock) at the latest. NULL: they end by
     * themselves. */
    void (*end_by)(void *self, int64_t deadline);
    /* Ends all flights, while the loops still run, and accepts no more. Blocks. */
    void (*stop)(void *self);
    void (*free)(void *self);
} kc__authn_remote_ops;

typedef struct kc__authn_remote_opts {
    const kc__authn_remote_ops *ops;
    void *self;                       /* Owned by the remote authenticator from now on. */
    int64_t success_ttl, failure_ttl; /* How long answers with 1, and with 0, are kept. 0: not. */
    const kc_clock *clock;
    kc_metrics *metrics; /* Defaults to none. */
} kc__authn_remote_opts;

typedef struct kc__authn_remote kc__authn_remote;

/* NULL if a metric exists with another definition; `self` is then freed. */
kc__authn_remote *kc__authn_remote_new(const kc__authn_remote_opts *opts, kc_error *err);
/* After the last flight. NULL is allowed; returns NULL. */
kc__authn_remote *kc__authn_remote_free(kc__authn_remote *remote);

bool kc__authn_remote_concerns(kc__authn_remote *remote, kc_str token);
/* A kept answer, with a reference, or NULL. Any thread. */
kc__authn_answer *kc__authn_remote_known(kc__authn_remote *remote, kc_str token,
                                         kc__user_audiences wanted);
/* Calls `done` once on the loop, from a later turn, with an answer that is valid during the call.
 * Token and audiences are copied. */
void kc__authn_remote_ask(kc__authn_remote *remote, kc_str token, kc__user_audiences wanted,
                          kc__loop *loop, void (*done)(kc__authn_answer *answer, void *user),
                          void *user);
/* Forgets all answers: the configuration has changed. Any thread. */
void kc__authn_remote_forget(kc__authn_remote *remote);
void kc__authn_remote_end_by(kc__authn_remote *remote, int64_t deadline);
void kc__authn_remote_stop(kc__authn_remote *remote);

#endif
