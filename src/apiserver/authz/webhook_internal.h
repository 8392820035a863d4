/* SPDX-License-Identifier: Apache-2.0 */
/* webhook_internal.h: what webhook_authorizer.c and webhook_metrics.c share. */
#ifndef KC_APISERVER_AUTHZ_WEBHOOK_INTERNAL_H
#define KC_APISERVER_AUTHZ_WEBHOOK_INTERNAL_H

#include "apiserver/authz/webhook_authorizer.h"

/* Maximum number of names of webhooks in metrics; further ones count as "other". */
#define KC__AUTHZ_WEBHOOK_NAMES 64

/* NULL members count nothing. */
typedef struct kc__authz_webhook_metrics {
    kc_metric *evaluations, *duration, *fail_open;
    kc_metric *match_errors, *match_exclusions, *match_seconds;
} kc__authz_webhook_metrics;

/* Registers the metrics. `registry` may be NULL. */
int kc__authz_webhook_metrics_init(kc__authz_webhook_metrics *ret, kc_metrics *registry,
                                   kc_error *err);
/* One round-trip. `result`: "success", "timeout", "error". */
void kc__authz_webhook_count_attempt(const kc__authz_webhook_metrics *metrics, const char *name,
                                     const char *result, int64_t took);
/* A failure that became no opinion. */
void kc__authz_webhook_count_fail_open(const kc__authz_webhook_metrics *metrics, const char *name,
                                       const char *result);
void kc__authz_webhook_count_match(const kc__authz_webhook_metrics *metrics, const char *name,
                                   kc__authz_match result, int64_t took);

#endif
