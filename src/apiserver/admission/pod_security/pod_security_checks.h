/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_security_checks.h: evaluates a pod by a standard: all checks of its level, in the revision
 * that its version has. Pure.
 */
#ifndef KC_APISERVER_POD_SECURITY_CHECKS_H
#define KC_APISERVER_POD_SECURITY_CHECKS_H

#include "apiserver/admission/pod_security/pod_security_policy.h"

/* A pod, or the template of one. */
typedef struct kc__pod_security_pod {
    const kc_value *metadata, *spec;
} kc__pod_security_pod;

/* Zero: the pod is allowed. */
typedef struct kc__pod_security_result {
    kc_buf reasons; /* "privileged, host namespaces" */
    kc_buf details; /* The same, each reason with its details in parentheses. */
} kc__pod_security_result;

void kc__pod_security_result_done(kc__pod_security_result *result);

/* `ret` is zeroed. */
void kc__pod_security_evaluate(const kc__pod_security_standard *standard,
                               const kc__pod_security_pod *pod, kc__pod_security_result *ret);

#endif
