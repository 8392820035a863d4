/* SPDX-License-Identifier: Apache-2.0 */
/*
 * webhook_authorizer.h: the mode Webhook: another server decides (--authorization-webhook-*,
 * --authorization-config).
 *
 *     POST URL   {"kind":"SubjectAccessReview","spec":{"user":"jane","resourceAttributes":{…}}}
 *     ◀──        {"kind":"SubjectAccessReview","status":{"allowed":true}}
 *
 * The question is the text of a spec (access_spec.h). Answers are kept for a while. A question
 * without a kept answer is sent on behalf of an event loop, which goes on meanwhile. Match
 * conditions select the requests about which a webhook is asked.
 */
#ifndef KC_APISERVER_AUTHZ_WEBHOOK_AUTHORIZER_H
#define KC_APISERVER_AUTHZ_WEBHOOK_AUTHORIZER_H

#include "apiserver/authz/match_conditions.h"
#include "apiserver/authz/webhook_answers.h"
#include "http/client/http_post.h"
#include "kc/log.h"

#define KC__AUTHZ_WEBHOOK_TIMEOUT      (30 * KC_SECOND)
#define KC__AUTHZ_WEBHOOK_MAX_RESPONSE ((size_t)1 << 20)

/* ---- all webhooks of a server ---- */

/* What the webhooks of a server share: connections and metrics. */
typedef struct kc__authz_webhooks kc__authz_webhooks;

typedef struct kc__authz_webhooks_opts {
    const kc_clock *clock; /* Of kept answers. Defaults to the real clock. */
    kc_log *log;           /* Defaults to no log. */
    kc_metrics *metrics;   /* Defaults to none. */
} kc__authz_webhooks_opts;

/* NULL if a metric cannot be registered. */
kc__authz_webhooks *kc__authz_webhooks_new(const kc__authz_webhooks_opts *opts, kc_error *err);
/* All questions end at this time (monotonic, real clock) at the latest. Any thread. */
void kc__authz_webhooks_end_by(kc__authz_webhooks *webhooks, int64_t deadline);
/* Aborts all questions; must be called while the event loops still run. Blocks. */
void kc__authz_webhooks_stop(kc__authz_webhooks *webhooks);
/* After the last webhook. NULL is allowed; returns NULL. */
kc__authz_webhooks *kc__authz_webhooks_free(kc__authz_webhooks *webhooks);
KC_AUTO_DEFINE(kc__authz_webhooks, kc__authz_webhooks_free)

/* ---- one webhook ---- */

/* Everything is copied. */
typedef struct kc__authz_webhook_opts {
    const char *name; /* In metrics. Defaults to "default". */
    kc__http_target target;
    const char *version; /* "v1" or "v1beta1" of SubjectAccessReview. */
    int64_t timeout;     /* Of one attempt. Defaults to KC__AUTHZ_WEBHOOK_TIMEOUT. */
    int64_t authorized_ttl, unauthorized_ttl; /* How long answers are kept. 0: not at all. */
    bool denies_on_error;             /* A webhook that fails denies. Defaults to no opinion. */
    kc__authz_conditions *conditions; /* Defaults to none: all requests match. */
} kc__authz_webhook_opts;

/* Reference-counted; any thread. */
typedef struct kc__authz_webhook kc__authz_webhook;

kc__authz_webhook *kc__authz_webhook_new(kc__authz_webhooks *webhooks,
                                         const kc__authz_webhook_opts *opts);
kc__authz_webhook *kc__authz_webhook_ref(kc__authz_webhook *webhook);
/* NULL is allowed; returns NULL. */
kc__authz_webhook *kc__authz_webhook_unref(kc__authz_webhook *webhook);
KC_AUTO_DEFINE(kc__authz_webhook, kc__authz_webhook_unref)

/* Appends the question about a request. */
void kc__authz_webhook_question(const kc__authz_webhook *webhook, const kc__authz_attributes *a,
                                kc_buf *out);
bool kc__authz_webhook_has_conditions(const kc__authz_webhook *webhook);
/* Evaluates the match conditions (kc__authz_conditions_evaluate) and counts the result. Without a
 * match *ret is the answer, with a reference, instead of one of the webhook. */
kc__authz_match kc__authz_webhook_match(const kc__authz_webhook *webhook,
                                        const kc__authz_attributes *a, bool on_worker,
                                        kc__authz_answer **ret);
/* A kept answer with a reference; NULL: the webhook must be asked. Any thread. */
kc__authz_answer *kc__authz_webhook_known(kc__authz_webhook *webhook, kc_str question);

/* The answer, borrowed, on the loop. */
typedef void kc__authz_answered_fn(kc__authz_answer *answer, void *user);
/* Asks, with retries. `keeps`: the answer may be kept. On the loop's thread; `answered` is called
 * once, later. */
void kc__authz_webhook_ask(kc__authz_webhook *webhook, kc_str question, bool keeps, kc__loop *loop,
                           kc__authz_answered_fn *answered, void *user);

#endif
