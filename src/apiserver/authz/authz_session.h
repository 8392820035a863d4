/* SPDX-License-Identifier: Apache-2.0 */
/*
 * authz_session.h: what one request has learned from authorization webhooks.
 *
 *     decision = kc__authz_authorize(authz, &call->authz_session, &attributes, &reason);
 *     if (decision == KC__AUTHZ_PENDING && call->authz_session.needs_worker)
 *         …                                                         decide again on a worker
 *     if (decision == KC__AUTHZ_PENDING)
 *         kc__authz_session_ask(&call->authz_session, loop, decide_again, call);
 *
 * A decision that needs a webhook without a kept answer is pending, and the session has the
 * question. When the webhook has answered, the request decides again: the session then has the
 * answer, whatever the cache of the webhook keeps. A request may ask several questions, one after
 * the other. The session also has the results of match conditions, so that they are evaluated once.
 */
#ifndef KC_APISERVER_AUTHZ_SESSION_H
#define KC_APISERVER_AUTHZ_SESSION_H

#include "apiserver/authz/webhook_authorizer.h"
#include "kc/vec.h"

typedef struct kc__authz_learned {
    kc__authz_webhook *webhook; /* A reference. */
    char *question;
    kc__authz_answer
        *answer; /* NULL: the match conditions are met; the webhook is not asked yet. */
} kc__authz_learned;

/* Zero is empty. Belongs to the thread that runs the request. */
struct kc__authz_session {
    KC_VEC(kc__authz_learned) learned;
    bool on_worker;    /* Set by the caller: expensive match conditions may be evaluated. */
    bool repeats;      /* Set by the caller: the next decision is not counted again. */
    bool needs_worker; /* After a pending decision: a worker thread must decide. */
    size_t asked;      /* After a pending decision: 1 + the index of the question in `learned`. */
    bool keeps;        /* The answer to that question may be kept. */
    KC_VEC(char *) errors; /* Of authorizers that failed in the last decision. */
    void (*resume)(void *user);
    void *user;
};

/* Frees what it holds. No question may be open. */
void kc__authz_session_done(kc__authz_session *session);

/* The decision of a webhook, and its reason, appended to `reason`, which may be NULL. */
kc__authz_decision kc__authz_session_decide(kc__authz_session *session, kc__authz_webhook *webhook,
                                            const kc__authz_attributes *a, kc_buf *reason);

/* Drops the first `n` errors. */
void kc__authz_session_drop_errors(kc__authz_session *session, size_t n);
/* Appends the errors of the last decision as an aggregate of Go: "a", or "[a, b]", each once.
 * Nothing if there are none. */
void kc__authz_session_write_errors(const kc__authz_session *session, kc_buf *out);

/* After a pending decision with a question: asks the webhook. `resume` runs on the loop when it has
 * answered. On the loop's thread. */
void kc__authz_session_ask(kc__authz_session *session, kc__loop *loop, void (*resume)(void *user),
                           void *user);

/*
 * Decides as kc__authz_authorize, and waits for webhooks. For worker threads: it blocks until they
 * have answered or failed, at most the timeout of the webhook for each attempt. `loop` is any loop
 * of the server. Without webhooks it does not block.
 */
kc__authz_decision kc__authz_wait(kc__authz *authz, kc__loop *loop, const kc__authz_attributes *a,
                                  kc_buf *reason);
/* The same with the session of the caller, which has the errors of the decision afterwards. */
kc__authz_decision kc__authz_session_wait(kc__authz_session *session, kc__authz *authz,
                                          kc__loop *loop, const kc__authz_attributes *a,
                                          kc_buf *reason);

#endif
