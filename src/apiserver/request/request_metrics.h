/* SPDX-License-Identifier: Apache-2.0 */
/* request_metrics.h: counters of the REST layer. */
#ifndef KC_APISERVER_API_METRICS_H
#define KC_APISERVER_API_METRICS_H

#include "apiserver/request/phases.h"
#include "kc/metrics.h"

typedef struct kc__rest_metrics {
    kc_metric *requests, *durations;
    kc_counter *no_memory;      /* Requests rejected because memory is short. */
    kc_counter *unservable;     /* Reads of stored objects that cannot be served. */
    kc_counter *lost_owners;    /* Writes whose managedFields could not be computed. */
    kc_counter *dropped_owners; /* Writes that were too large with managedFields. */
} kc__rest_metrics;

/* Drops the metrics of resources that are no longer served. */
void kc__rest_metrics_retain(kc__rest_metrics *m, const kc__rest_catalog *served);

int kc__rest_metrics_init(kc__rest_metrics *m, kc_metrics *metrics, kc_error *err);

#endif
