/* SPDX-License-Identifier: Apache-2.0 */
/*
 * webhook_registry.h: the admission webhooks of a server: the configured set, how they are called,
 * and their metrics.
 *
 *     kc_auto(kc__admission_webhook_set) *set = kc__admission_webhooks_current(api->hooks);
 *     if (!set)
 *         return KC__REST_NEXT;                                        no webhook is configured
 */
#ifndef KC_APISERVER_HOOKS_H
#define KC_APISERVER_HOOKS_H

#include "apiserver/admission/webhooks/webhook_config.h"
#include "apiserver/store/store.h"
#include "apiserver/webhook/webhook_error.h"
#include "kc/metrics.h"
#include "kc/thread.h"

typedef struct kc__admission_webhooks {
    kc__http_client *http_client;
    kc__http_client_send_fn *send; /* Not changed while requests run. */
    kc_metric *durations, *rejections, *failed_open, *requests;
    kc__watch_cache *mutating, *validating; /* The stored configurations. */

    /* The revisions that `set` was compiled from, and whether it contains any webhook. Written
     * under the mutex. */
    _Atomic uint64_t mutating_seen, validating_seen;
    _Atomic bool any;
    kc_mutex mutex; /* Guards `set`. */
    kc__admission_webhook_set *set;
} kc__admission_webhooks;

/* NULL on error. */
kc__admission_webhooks *kc__admission_webhooks_new(kc__store *store, kc_metrics *metrics,
                                                   kc_error *err);
/* NULL is allowed; returns NULL. */
kc__admission_webhooks *kc__admission_webhooks_free(kc__admission_webhooks *hooks);

/* All configured webhooks, or NULL if there are none. Includes every configuration that was stored
 * before the call. Costs a few loads while nothing is configured. The caller drops the reference.
 * Any thread. */
kc__admission_webhook_set *kc__admission_webhooks_current(kc__admission_webhooks *hooks);

/* The result of a webhook call. */
typedef enum kc__admission_result {
    KC__ADMISSION_ALLOWED,
    KC__ADMISSION_DENIED,      /* By the webhook. */
    KC__ADMISSION_CALL_FAILED, /* The webhook could not be called, or its response is invalid. */
    KC__ADMISSION_REJECTED,    /* By the server, regardless of the webhook's failure policy. */
} kc__admission_result;

/* Counts one call; `code` is its HTTP status. */
void kc__admission_webhooks_count(const kc__admission_webhooks *hooks,
                                  const kc__admission_webhook *hook, const char *operation,
                                  kc__admission_result result, int code, int64_t took);

#endif
