/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request_state.h: the results of authorization webhooks for one request.
 *
 *     decision = kc__authz_authorize(authz, &call->authz_state, &attributes, &reason);
 *     if (decision == KC__AUTHZ_PENDING && call->authz_state.needs_worker)
 *         …                                                         decide again on a worker
 *     if (decision == KC__AUTHZ_PENDING)
 *         kc__authz_request_state_call_webhook(&call->authz_state, loop, decide_again, call);
 *
 * A decision that needs a webhook without a cached result is pending, and the state holds the
 * review to send. When the response has arrived, the request decides again: the state then has the
 * result, whatever the cache of the webhook holds. A request may need several reviews, one after
 * the other. The state also has the results of match conditions, so that they are evaluated once.
 */
#ifndef KC_APISERVER_AUTHZ_REQUEST_STATE_H
#define KC_APISERVER_AUTHZ_REQUEST_STATE_H

#include "apiserver/authz/webhook_authorizer.h"
#include "kc/vec.h"

typedef struct kc__authz_webhook_result {
    kc__authz_webhook *webhook; /* A reference. */
    char *review;               /* The spec of the SubjectAccessReview. */
    kc__authz_result *result;   /* NULL: the match conditions are met; there is no response yet. */
} kc__authz_webhook_result;

/* Zero is empty. Belongs to the thread that runs the request. */
struct kc__authz_request_state {
    KC_VEC(kc__authz_webhook_result) results;
    bool on_worker;        /* Set by the caller: expensive match conditions may be evaluated. */
    bool repeats;          /* Set by the caller: the next decision is not counted again. */
    bool needs_worker;     /* After a pending decision: a worker thread must decide. */
    size_t pending_review; /* After a pending decision: 1 + the index of the review in `results`. */
    bool cacheable;        /* The result of that review may be cached. */
    KC_VEC(char *) errors; /* Of authorizers that failed in the last decision. */
    void (*resume)(void *user);
    void *user;
};

/* Frees what it holds. No review may be in flight. */
void kc__authz_request_state_done(kc__authz_request_state *state);

/* The decision of a webhook, and its reason, appended to `reason`, which may be NULL. */
kc__authz_decision kc__authz_request_state_decide(kc__authz_request_state *state,
                                                  kc__authz_webhook *webhook,
                                                  const kc__authz_attributes *a, kc_buf *reason);

/* Drops the first `n` errors. */
void kc__authz_request_state_drop_errors(kc__authz_request_state *state, size_t n);
/* Appends the errors of the last decision as an aggregate of Go: "a", or "[a, b]", each once.
 * Nothing if there are none. */
void kc__authz_request_state_write_errors(const kc__authz_request_state *state, kc_buf *out);

/* After a pending decision with a review: sends the review to the webhook. `resume` runs on the
 * loop when the result has arrived. On the loop's thread. */
void kc__authz_request_state_call_webhook(kc__authz_request_state *state, kc__loop *loop,
                                          void (*resume)(void *user), void *user);

/*
 * Decides as kc__authz_authorize, and waits for webhooks. For worker threads: it blocks until all
 * responses have arrived or failed, at most the timeout of the webhook for each attempt. `loop` is
 * any loop of the server. Without webhooks it does not block.
 */
kc__authz_decision kc__authz_wait(kc__authz *authz, kc__loop *loop, const kc__authz_attributes *a,
                                  kc_buf *reason);
/* The same with the state of the caller, which has the errors of the decision afterwards. */
kc__authz_decision kc__authz_request_state_wait(kc__authz_request_state *state, kc__authz *authz,
                                                kc__loop *loop, const kc__authz_attributes *a,
                                                kc_buf *reason);

#endif
