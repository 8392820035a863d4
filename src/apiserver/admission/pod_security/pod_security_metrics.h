/* SPDX-License-Identifier: Apache-2.0 */
/* pod_security_metrics.h: counts the decisions of the plugin PodSecurity. */
#ifndef KC_APISERVER_POD_SECURITY_METRICS_H
#define KC_APISERVER_POD_SECURITY_METRICS_H

#include "apiserver/admission/pod_security/pod_security_policy.h"
#include "apiserver/call/call.h"

typedef struct kc__pod_security_metrics {
    kc_metric *evaluations, *exemptions, *errors;
} kc__pod_security_metrics;

/* Registers the metrics. */
int kc__pod_security_metrics_init(kc__pod_security_metrics *metrics, kc_metrics *registry,
                                  kc_error *err);

/* Count a decision about the call's object: in a mode, an exemption, an error. A fatal error is one
 * that decided the request. */
void kc__pod_security_count_evaluation(const kc__rest_call *call,
                                       const kc__pod_security_standard *standard, const char *mode,
                                       bool allowed);
void kc__pod_security_count_exemption(const kc__rest_call *call);
void kc__pod_security_count_error(const kc__rest_call *call, bool fatal);

#endif
