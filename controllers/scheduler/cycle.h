/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cycle.h: one scheduling decision: the node for a pod, now.
 *
 * Plugins filter and score nodes. They are rows of a table (plugins.c) with the names, order,
 * weights and texts of kube-scheduler's default plugins:
 *
 *     prepare        once per pod: computes what is the same for all nodes
 *     filter         whether the pod fits the node, and if not, why
 *     prepare_score  once, when the feasible nodes are known
 *     score          rates a node; normalize scales the scores to 0 … 100
 *
 * All are functions of the cycle and the sched node alone: no clock, no requests, no memory except
 * the cycle's arena. To add a plugin: a file with its functions, declared below, and a row in the
 * table.
 */
#ifndef KC_SCHEDULER_CYCLE_H
#define KC_SCHEDULER_CYCLE_H

#include "kc/rand.h"
#include "scheduler/cluster.h"

enum { KC__SCHED_MAX_SCORE = 100, KC__SCHED_MAX_REASONS = 8 };

typedef enum kc__sched_filter_code {
    KC__SCHED_FITS,
    KC__SCHED_UNFIT,        /* Unschedulable because of other pods: preemption may help. */
    KC__SCHED_UNRESOLVABLE, /* Preemption does not help. */
} kc__sched_filter_code;

typedef struct kc__sched_reasons {
    const char *texts[KC__SCHED_MAX_REASONS]; /* Texts are valid as long as the cycle and the
                                               * cluster. */
    size_t n;
} kc__sched_reasons;

/* A number for each domain of a topology. */
typedef struct kc__sched_domain_sums {
    const kc__sched_domains *domains;
    int64_t *sums; /* By id. */
} kc__sched_domain_sums;

typedef KC_VEC(kc__sched_domain_sums) kc__sched_sums_list;

typedef struct kc__sched_spread_state {
    const kc__sched_spread *spread;
    const kc__sched_tally *tally;
    kc__sched_domain_sums in;
    bool *counts; /* By id: the domain has an eligible node. */
    int64_t least;
    double weight;
} kc__sched_spread_state;

typedef struct kc__sched_cycle {
    kc__sched_cluster *cluster;
    const kc__sched_demand *demand;
    kc_arena *arena; /* Arena of the decision. */
    int64_t now;     /* Monotonic time, for the tallies' last use. */
    char *refusal;   /* Set by a prepare function: no node fits. */
    uint8_t *wanted; /* By slot, the results of kc__sched_cycle_wants. */

    kc__sched_spread_state *hard;
    size_t n_hard;
    /* Required pod affinity by term; and whether any pod matches at all. */
    kc__sched_domain_sums *near;
    size_t n_near;
    bool near_any, near_itself;
    kc__sched_sums_list forbidden_own, forbidden_by; /* Anti-affinity: above 0 excludes the
                                                      * domain. */

    kc__sched_node **feasible;
    size_t n_feasible;
    kc__sched_spread_state *soft;
    size_t n_soft;
    kc__sched_sums_list preferred;
} kc__sched_cycle;

typedef struct kc__sched_plugin {
    const char *name;
    /* False with cycle->refusal: no node fits. */
    bool (*prepare)(kc__sched_cycle *cycle);
    kc__sched_filter_code (*filter)(kc__sched_cycle *cycle, const kc__sched_node *host,
                                    kc__sched_reasons *why);
    /* False: the plugin does not affect this pod. */
    bool (*prepare_score)(kc__sched_cycle *cycle);
    int64_t (*score)(kc__sched_cycle *cycle, const kc__sched_node *host);
    void (*normalize)(kc__sched_cycle *cycle, int64_t *scores, size_t n);
    int weight;
    unsigned helped_by; /* Events after which a pod refused by this plugin is retried. */
} kc__sched_plugin;

/* Event that may help. */
enum {
    KC__SCHED_NODE_CHANGED = 1,
    KC__SCHED_POD_REMOVED = 2, /* A pod left its node, or uses less of it. */
    KC__SCHED_POD_ADDED = 4,   /* A pod was assigned to a node, or its labels there changed. */
    KC__SCHED_CLAIM_ADDED = 8,
    KC__SCHED_NAMESPACE_CHANGED = 16,
};

extern const kc__sched_plugin kc__sched_plugins[];
extern const size_t kc__sched_n_plugins;

void kc__sched_reasons_add(kc__sched_reasons *why, const char *text);
/* Whether the node matches the pod's node selector and required node affinity; several plugins need
 * it. */
bool kc__sched_cycle_wants(kc__sched_cycle *cycle, const kc__sched_node *host);

/* ---- plugins ---- */

bool kc__sched_tolerates(const kc_pod *pod, const kc__sched_taint *taint);
/* The first taint that the pod does not tolerate; NULL: none. */
const kc__sched_taint *kc__sched_untolerated(const kc_pod *pod, const kc__sched_node *host);

kc__sched_filter_code kc__sched_filter_unschedulable(kc__sched_cycle *, const kc__sched_node *,
                                                     kc__sched_reasons *);
kc__sched_filter_code kc__sched_filter_taints(kc__sched_cycle *, const kc__sched_node *,
                                              kc__sched_reasons *);
bool kc__sched_prepare_score_taints(kc__sched_cycle *);
int64_t kc__sched_score_taints(kc__sched_cycle *, const kc__sched_node *);
kc__sched_filter_code kc__sched_filter_affinity(kc__sched_cycle *, const kc__sched_node *,
                                                kc__sched_reasons *);
bool kc__sched_prepare_score_affinity(kc__sched_cycle *);
int64_t kc__sched_score_affinity(kc__sched_cycle *, const kc__sched_node *);
kc__sched_filter_code kc__sched_filter_ports(kc__sched_cycle *, const kc__sched_node *,
                                             kc__sched_reasons *);
kc__sched_filter_code kc__sched_filter_fit(kc__sched_cycle *, const kc__sched_node *,
                                           kc__sched_reasons *);
int64_t kc__sched_score_least_allocated(kc__sched_cycle *, const kc__sched_node *);
bool kc__sched_prepare_score_balance(kc__sched_cycle *);
int64_t kc__sched_score_balance(kc__sched_cycle *, const kc__sched_node *);
bool kc__sched_prepare_claims(kc__sched_cycle *);
bool kc__sched_prepare_spread(kc__sched_cycle *);
kc__sched_filter_code kc__sched_filter_spread(kc__sched_cycle *, const kc__sched_node *,
                                              kc__sched_reasons *);
bool kc__sched_prepare_score_spread(kc__sched_cycle *);
int64_t kc__sched_score_spread(kc__sched_cycle *, const kc__sched_node *);
void kc__sched_normalize_spread(kc__sched_cycle *, int64_t *scores, size_t n);
bool kc__sched_prepare_pod_affinity(kc__sched_cycle *);
kc__sched_filter_code kc__sched_filter_pod_affinity(kc__sched_cycle *, const kc__sched_node *,
                                                    kc__sched_reasons *);
bool kc__sched_prepare_score_pod_affinity(kc__sched_cycle *);
int64_t kc__sched_score_pod_affinity(kc__sched_cycle *, const kc__sched_node *);
void kc__sched_normalize_pod_affinity(kc__sched_cycle *, int64_t *scores, size_t n);

/* Scales to 0 … 100 by the maximum; optionally inverted, where less is better. */
void kc__sched_normalize_up(kc__sched_cycle *, int64_t *scores, size_t n);
void kc__sched_normalize_down(kc__sched_cycle *, int64_t *scores, size_t n);

/* ---- a decision (decide.c) ---- */

typedef struct kc__sched_decision {
    kc__sched_node *host;               /* NULL: no node fits. */
    uint32_t refused_by;                /* Bit set of the plugins that refused a node. */
    char *message;                      /* Why no node fits. The caller frees it. */
    KC_VEC(kc__sched_node *) contested; /* Nodes on which preemption may help. */
    size_t evaluated, feasible;
} kc__sched_decision;

void kc__sched_decision_done(kc__sched_decision *decision);

/* Decides for a waiting pod. `rand` breaks ties. */
void kc__sched_decide(kc__sched_cluster *cluster, kc__sched_pod *place, kc_rand *rand, int64_t now,
                      kc__sched_decision *ret);

/* Prepares a cycle; false if no node fits. The caller owns the arena. */
bool kc__sched_cycle_begin(kc__sched_cycle *cycle, kc__sched_cluster *cluster,
                           const kc__sched_demand *demand, kc_arena *arena, int64_t now,
                           uint32_t *ret_refused_by);
void kc__sched_cycle_end(kc__sched_cycle *cycle);
/* Whether the pod fits the node, together with nominated pods of higher or equal priority. */
kc__sched_filter_code kc__sched_cycle_filter(kc__sched_cycle *cycle, kc__sched_node *host,
                                             kc__sched_reasons *why, uint32_t *ret_refused_by);
/* Filters that look at the node alone: cheap. Used to tell whether an event may help. */
bool kc__sched_fits_alone(kc__sched_cluster *cluster, const kc__sched_demand *demand,
                          const kc__sched_node *host);

#endif
