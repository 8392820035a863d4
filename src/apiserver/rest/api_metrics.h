/* SPDX-License-Identifier: Apache-2.0 */
/* api_metrics.h: counters of the REST layer. */
#ifndef KC_APISERVER_API_METRICS_H
#define KC_APISERVER_API_METRICS_H

#include "apiserver/rest/call.h"
#include "kc/metrics.h"

typedef struct kc__api_metrics {
    kc_metric *requests, *durations;
} kc__api_metrics;

int kc__api_metrics_init(kc__api_metrics *m, kc_metrics *metrics, kc_error *err);

#endif
