/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_toleration_restriction.h: the admission plugin PodTolerationRestriction: default and allowed
 * tolerations of the pods of a namespace.
 */
#ifndef KC_APISERVER_POD_TOLERATION_RESTRICTION_H
#define KC_APISERVER_POD_TOLERATION_RESTRICTION_H

#include "apiserver/call/call.h"

/* The configuration: tolerations of namespaces without annotations. Any thread. */
typedef struct kc__admission_toleration_limits kc__admission_toleration_limits;

/* Reads a Configuration (podtolerationrestriction.admission.k8s.io/v1alpha1, YAML or JSON). NULL on
 * error: KC_INVALID. The caller frees it. */
kc__admission_toleration_limits *kc__admission_toleration_limits_parse(kc_str text, kc_error *err);
/* NULL is allowed. Returns NULL. */
kc__admission_toleration_limits *kc__admission_toleration_limits_free(
    kc__admission_toleration_limits *limits);
KC_AUTO_DEFINE(kc__admission_toleration_limits, kc__admission_toleration_limits_free)

kc__rest_phase_fn kc__admission_toleration_restriction_mutate,
    kc__admission_toleration_restriction_validate;

#endif
