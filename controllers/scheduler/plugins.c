/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plugins.c: the table of plugins. Order, names and weights are those of kube-scheduler v1.34's
 * default profile. Not included: NodeName (a pod that names its node is not scheduled here), volume
 * plugins except the check for missing claims, ImageLocality, DynamicResources.
 */
#include "scheduler/cycle.h"

const kc__sched_plugin kc__sched_plugins[] = {
    {"NodeUnschedulable", .filter = kc__sched_filter_unschedulable,
     .helped_by = KC__SCHED_NODE_CHANGED},
    {"TaintToleration", .filter = kc__sched_filter_taints,
     .prepare_score = kc__sched_prepare_score_taints, .score = kc__sched_score_taints,
     .normalize = kc__sched_normalize_down, .weight = 3, .helped_by = KC__SCHED_NODE_CHANGED},
    {"NodeAffinity", .filter = kc__sched_filter_affinity,
     .prepare_score = kc__sched_prepare_score_affinity, .score = kc__sched_score_affinity,
     .normalize = kc__sched_normalize_up, .weight = 2, .helped_by = KC__SCHED_NODE_CHANGED},
    {"NodePorts", .filter = kc__sched_filter_ports,
     .helped_by = KC__SCHED_NODE_CHANGED | KC__SCHED_POD_REMOVED},
    {"NodeResourcesFit", .filter = kc__sched_filter_fit, .score = kc__sched_score_least_allocated,
     .weight = 1, .helped_by = KC__SCHED_NODE_CHANGED | KC__SCHED_POD_REMOVED},
    {"VolumeBinding", .prepare = kc__sched_prepare_claims, .helped_by = KC__SCHED_CLAIM_ADDED},
    {"PodTopologySpread", .prepare = kc__sched_prepare_spread, .filter = kc__sched_filter_spread,
     .prepare_score = kc__sched_prepare_score_spread, .score = kc__sched_score_spread,
     .normalize = kc__sched_normalize_spread, .weight = 2,
     .helped_by = KC__SCHED_NODE_CHANGED | KC__SCHED_POD_REMOVED | KC__SCHED_POD_ADDED},
    {"InterPodAffinity", .prepare = kc__sched_prepare_pod_affinity,
     .filter = kc__sched_filter_pod_affinity, .prepare_score = kc__sched_prepare_score_pod_affinity,
     .score = kc__sched_score_pod_affinity, .normalize = kc__sched_normalize_pod_affinity,
     .weight = 2,
     .helped_by = KC__SCHED_NODE_CHANGED | KC__SCHED_POD_REMOVED | KC__SCHED_POD_ADDED |
                  KC__SCHED_NAMESPACE_CHANGED},
    {"NodeResourcesBalancedAllocation", .prepare_score = kc__sched_prepare_score_balance,
     .score = kc__sched_score_balance, .weight = 1},
};

const size_t kc__sched_n_plugins = KC_COUNT(kc__sched_plugins);

void kc__sched_reasons_add(kc__sched_reasons *why, const char *text)
{
    if (why && why->n < KC__SCHED_MAX_REASONS)
        why->texts[why->n++] = text;
}

static int64_t largest(const int64_t *scores, size_t n)
{
    int64_t max = 0;
    for (size_t i = 0; i < n; i++)
        max = KC_MAX(max, scores[i]);
    return max;
}

void kc__sched_normalize_up(kc__sched_cycle *cycle, int64_t *scores, size_t n)
{
    (void)cycle;
    const int64_t max = largest(scores, n);
    for (size_t i = 0; i < n && max; i++)
        scores[i] = KC__SCHED_MAX_SCORE * scores[i] / max;
}

void kc__sched_normalize_down(kc__sched_cycle *cycle, int64_t *scores, size_t n)
{
    kc__sched_normalize_up(cycle, scores, n);
    for (size_t i = 0; i < n; i++)
        scores[i] = KC__SCHED_MAX_SCORE - scores[i];
}
