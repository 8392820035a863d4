/* SPDX-License-Identifier: Apache-2.0 */
/*
 * webhook_authorizer.h: the mode Webhook: another server decides (--authorization-webhook-*,
 * --authorization-config).
 *
 *     POST URL   {"kind":"SubjectAccessReview","spec":{"user":"jane","resourceAttributes":{…}}}
 *     ◀──        {"kind":"SubjectAccessReview","status":{"allowed":true}}
 *
 * Results are cached by the text of the spec (access_spec.h). A review without a cached result is
 * sent on behalf of an event loop, which goes on meanwhile. Match conditions select the requests
 * for which a webhook is called.
 */
#ifndef KC_APISERVER_AUTHZ_WEBHOOK_AUTHORIZER_H
#define KC_APISERVER_AUTHZ_WEBHOOK_AUTHORIZER_H

#include "apiserver/authz/match_conditions.h"
#include "apiserver/authz/webhook_results.h"
#include "http/client/http_post.h"
#include "kc/log.h"

#define KC__AUTHZ_WEBHOOK_TIMEOUT      (30 * KC_SECOND)
#define KC__AUTHZ_WEBHOOK_MAX_RESPONSE ((size_t)1 << 20)

/* ---- all webhooks of a server ---- */

/* What the webhooks of a server share: connections and metrics. */
typedef struct kc__authz_webhooks kc__authz_webhooks;

typedef struct kc__authz_webhooks_opts {
    const kc_clock *clock; /* Of cached results. Defaults to the real clock. */
    kc_log *log;           /* Defaults to no log. */
    kc_metrics *metrics;   /* Defaults to none. */
} kc__authz_webhooks_opts;

/* NULL if a metric cannot be registered. */
kc__authz_webhooks *kc__authz_webhooks_new(const kc__authz_webhooks_opts *opts, kc_error *err);
/* All calls end at this time (monotonic, real clock) at the latest. Any thread. */
void kc__authz_webhooks_end_by(kc__authz_webhooks *webhooks, int64_t deadline);
/* Aborts all calls; must be called while the event loops still run. Blocks. */
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
    int64_t authorized_ttl, unauthorized_ttl; /* TTLs of cached results. 0: not cached. */
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

/* Appends the spec of the SubjectAccessReview of a request. */
void kc__authz_webhook_review(const kc__authz_webhook *webhook, const kc__authz_attributes *a,
                              kc_buf *out);
bool kc__authz_webhook_has_conditions(const kc__authz_webhook *webhook);
/* Evaluates the match conditions (kc__authz_conditions_evaluate) and counts the result. Without a
 * match *ret is the result, with a reference, instead of one of the webhook. */
kc__authz_match kc__authz_webhook_match(const kc__authz_webhook *webhook,
                                        const kc__authz_attributes *a, bool on_worker,
                                        kc__authz_result **ret);
/* A cached result with a reference; NULL: the webhook must be called. Any thread. */
kc__authz_result *kc__authz_webhook_cached(kc__authz_webhook *webhook, kc_str review);

/* The result, borrowed, on the loop. */
typedef void kc__authz_webhook_done_fn(kc__authz_result *result, void *user);
/* Sends a review, with retries. `cacheable`: the result may be cached. On the loop's thread; `done`
 * is called once, later. */
void kc__authz_webhook_send(kc__authz_webhook *webhook, kc_str review, bool cacheable,
                            kc__loop *loop, kc__authz_webhook_done_fn *done, void *user);

#endif
