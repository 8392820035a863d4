/* SPDX-License-Identifier: Apache-2.0 */
/* crd_rules_metrics.h: the number and the memory of compiled CEL rules, as metrics. */
#ifndef KC_APISERVER_CRD_RULES_METRICS_H
#define KC_APISERVER_CRD_RULES_METRICS_H

#include "apiserver/crd/crd_resource.h"
#include "kc/cel_rules.h"
#include "kc/metrics.h"
#include "kc/thread.h"
#include "kc/vec.h"

/* References to the rules of CRDs. */
typedef KC_VEC(kc_cel_rules *) kc__crd_rules_list;

typedef struct kc__crd_rules_metrics {
    kc_metrics *registry;
    kc_metrics_hook hook;
    kc_gauge *count, *memory; /* NULL without a registry. */
    kc_mutex lock;            /* Guards `published`. Innermost lock. */
    kc__crd_rules_list published;
} kc__crd_rules_metrics;

/* `metrics` may be NULL. Negative with `err` set on failure; kc__crd_rules_metrics_done is allowed
 * then. */
int kc__crd_rules_metrics_init(kc__crd_rules_metrics *m, kc_metrics *metrics, kc_error *err);
void kc__crd_rules_metrics_done(kc__crd_rules_metrics *m);

/* Adds the rules of a CRD, each once. */
void kc__crd_rules_list_add(kc__crd_rules_list *list, const kc__crd *crd);
/* Makes the list the one that is measured, and empties it. */
void kc__crd_rules_metrics_replace(kc__crd_rules_metrics *m, kc__crd_rules_list *list);

#endif
