/* SPDX-License-Identifier: Apache-2.0 */
/* quota_internal.h: the evaluators of resources whose usage is more than a count of objects. */
#ifndef KC_QUOTA_INTERNAL_H
#define KC_QUOTA_INTERNAL_H

#include "kc/quota.h"

/* The functions of one resource; NULL: as for a count of objects. */
typedef struct kc__usage_evaluator {
    const char *group, *plural;
    const char *alias; /* A further name of the count: "configmaps" for "count/configmaps". */
    /* Whether a name of a quota is tracked, besides the count of objects and its alias. */
    bool (*tracks)(kc_str name);
    /* Adds usage besides the count of objects. */
    void (*measure)(const kc_value *object, kc_time now, kc_quota_amounts *ret);
    bool (*is_in_scope)(const kc_quota_scope *scope, const kc_value *object);
    bool (*is_freed_by)(const kc_value *old, const kc_value *object, kc_time now);
} kc__usage_evaluator;

/* ---- pod_usage.c ---- */
bool kc__usage_pod_tracks(kc_str name);
void kc__usage_pod_measure(const kc_value *pod, kc_time now, kc_quota_amounts *ret);
bool kc__usage_pod_is_freed_by(const kc_value *old, const kc_value *pod, kc_time now);

/* ---- claim_usage.c ---- */
bool kc__usage_claim_tracks(kc_str name);
void kc__usage_claim_measure(const kc_value *claim, kc_time now, kc_quota_amounts *ret);
bool kc__usage_claim_is_freed_by(const kc_value *old, const kc_value *claim, kc_time now);
bool kc__usage_device_claim_tracks(kc_str name);
void kc__usage_device_claim_measure(const kc_value *claim, kc_time now, kc_quota_amounts *ret);

/* ---- service_usage.c ---- */
bool kc__usage_service_tracks(kc_str name);
void kc__usage_service_measure(const kc_value *service, kc_time now, kc_quota_amounts *ret);
bool kc__usage_service_is_freed_by(const kc_value *old, const kc_value *service, kc_time now);

/* ---- scopes.c ---- */
bool kc__usage_pod_is_in_scope(const kc_quota_scope *scope, const kc_value *pod);
bool kc__usage_claim_is_in_scope(const kc_quota_scope *scope, const kc_value *claim);

/* ---- evaluators.c ---- */
/* The evaluator of a resource; one without functions if its objects are only counted. */
const kc__usage_evaluator *kc__usage_evaluator_of(const kc_quota_resource *resource);

#endif
