/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plugins.c: the table of what decides. Order, names and weights are those of kube-scheduler
 * v1.34's default profile. Not here: NodeName (a pod that names its node is not ours to place), the
 * plugins of volumes but for claims that are missing, ImageLocality, DynamicResources.
 */
#include "scheduler/cycle.h"

const kc__plugin kc__plugins[] = {
    {"NodeUnschedulable", .filter = kc__filter_unschedulable, .helped_by = KC__NODE_CHANGED},
    {"TaintToleration", .filter = kc__filter_taints, .prepare_score = kc__prepare_score_taints,
     .score = kc__score_taints, .normalize = kc__normalize_down, .weight = 3,
     .helped_by = KC__NODE_CHANGED},
    {"NodeAffinity", .filter = kc__filter_affinity, .prepare_score = kc__prepare_score_affinity,
     .score = kc__score_affinity, .normalize = kc__normalize_up, .weight = 2,
     .helped_by = KC__NODE_CHANGED},
    {"NodePorts", .filter = kc__filter_ports, .helped_by = KC__NODE_CHANGED | KC__POD_LEFT},
    {"NodeResourcesFit", .filter = kc__filter_fit, .score = kc__score_least_allocated, .weight = 1,
     .helped_by = KC__NODE_CHANGED | KC__POD_LEFT},
    {"VolumeBinding", .prepare = kc__prepare_claims, .helped_by = KC__CLAIM_CAME},
    {"PodTopologySpread", .prepare = kc__prepare_spread, .filter = kc__filter_spread,
     .prepare_score = kc__prepare_score_spread, .score = kc__score_spread,
     .normalize = kc__normalize_spread, .weight = 2,
     .helped_by = KC__NODE_CHANGED | KC__POD_LEFT | KC__POD_CAME},
    {"InterPodAffinity", .prepare = kc__prepare_relations, .filter = kc__filter_relations,
     .prepare_score = kc__prepare_score_relations, .score = kc__score_relations,
     .normalize = kc__normalize_relations, .weight = 2,
     .helped_by = KC__NODE_CHANGED | KC__POD_LEFT | KC__POD_CAME | KC__NAMESPACE_CHANGED},
    {"NodeResourcesBalancedAllocation", .prepare_score = kc__prepare_score_balance,
     .score = kc__score_balance, .weight = 1},
};

const size_t kc__n_plugins = KC_COUNT(kc__plugins);

void kc__reasons_add(kc__reasons *why, const char *text)
{
    if (why && why->n < KC__MAX_REASONS)
        why->texts[why->n++] = text;
}

static int64_t largest(const int64_t *scores, size_t n)
{
    int64_t max = 0;
    for (size_t i = 0; i < n; i++)
        max = KC_MAX(max, scores[i]);
    return max;
}

void kc__normalize_up(kc__cycle *cycle, int64_t *scores, size_t n)
{
    (void)cycle;
    const int64_t max = largest(scores, n);
    for (size_t i = 0; i < n && max; i++)
        scores[i] = KC__MAX_SCORE * scores[i] / max;
}

void kc__normalize_down(kc__cycle *cycle, int64_t *scores, size_t n)
{
    kc__normalize_up(cycle, scores, n);
    for (size_t i = 0; i < n; i++)
        scores[i] = KC__MAX_SCORE - scores[i];
}
