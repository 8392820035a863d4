/* SPDX-License-Identifier: Apache-2.0 */
/*
 * demand.h: the scheduling requirements of a pod, extracted once when it arrives.
 *
 * There are two parts. What a pod uses on its node (resources, ports) and what other pods match
 * (its labels, its affinities) is small and kept for every pod. What it requires of a node
 * (tolerations, selectors, spread) matters only until it is assigned: only waiting pods have
 * `wants`.
 */
#ifndef KC_SCHEDULER_DEMAND_H
#define KC_SCHEDULER_DEMAND_H

#include "common/resources.h"
#include "scheduler/term.h"

typedef struct kc__sched_port {
    char *ip, *protocol; /* Never empty: "0.0.0.0" is any address. */
    int32_t port;
} kc__sched_port;

typedef enum kc__sched_rule_kind {
    KC__SCHED_REQUIRE, /* Required affinity. */
    KC__SCHED_FORBID,  /* Required anti-affinity. */
    KC__SCHED_PREFER,  /* Preferred by weight; a negative weight is preferred anti-affinity. */
} kc__sched_rule_kind;

/* A pod's affinity term for other pods. */
typedef struct kc__sched_rule {
    kc__sched_rule_kind kind;
    kc__sched_term *term;
    int32_t weight;
} kc__sched_rule;

typedef struct kc__sched_spread {
    kc__sched_term *term;
    int32_t max_skew, min_domains;
    bool hard;            /* DoNotSchedule. */
    bool ignore_affinity; /* Nodes count even if the pod's node affinity excludes them. */
    bool honor_taints;    /* Nodes with untolerated taints do not count. */
    bool counts_itself;   /* The pod matches its own selector. */
} kc__sched_spread;

/* One node selector term: all its requirements must match. */
typedef struct kc__sched_node_term {
    kc_selector *labels; /* NULL: no requirements. */
    const kc_selector_requirement *fields;
    size_t n_fields;
    int32_t weight;
    bool never; /* Empty or invalid: matches no node. */
} kc__sched_node_term;

/* What a waiting pod requires of a node. */
typedef struct kc__sched_wants {
    kc_pod *pod; /* Tolerations, claims and texts point into it. */
    kc_selector *node_selector;
    bool restricted; /* Has required terms: one of them must match. */
    KC_VEC(kc__sched_node_term) required;
    KC_VEC(kc__sched_node_term) preferred;
    KC_VEC(kc__sched_spread) spreads;
    bool default_spread; /* Default constraints over the pods of its owner; the pod has none of its
                          * own. */
    size_t n_gates;
    bool never_preempts;
    char *nominated; /* The node it is nominated to; NULL: none. */
} kc__sched_wants;

typedef struct kc__sched_demand {
    kc_object *object;
    kc_key key; /* Point into the object. */
    kc_str uid, owner;
    int32_t priority;
    int64_t created, started; /* Wall clock. */
    bool leaving;             /* The pod is terminating. */
    bool preempted;           /* …because the scheduler preempted it. */
    bool finished;            /* The pod is terminated and uses no resources. */
    bool ours;                /* spec.schedulerName is this scheduler. */
    char *node;               /* Its node; NULL: unassigned. */
    kc__common_resources requests;
    int64_t assumed_cpu, assumed_memory; /* With defaults for containers without requests. */
    KC_VEC(kc__sched_port) ports;
    KC_VEC(kc__sched_rule) rules;
    kc__sched_wants *wants; /* NULL for assigned pods. */
} kc__sched_demand;

#define KC__SCHED_SCHEDULER_NAME "default-scheduler"

/* NULL on error: invalid pod. Takes a reference to the object. */
kc__sched_demand *kc__sched_demand_of(const kc_object *pod, kc__sched_terms *terms, kc_error *err);
kc__sched_demand *kc__sched_demand_free(kc__sched_demand *demand);
KC_AUTO_DEFINE(kc__sched_demand, kc__sched_demand_free)

/* Whether a node's labels and name match the node selector and the required node affinity. */
bool kc__sched_wants_node(const kc__sched_wants *wants, const kc_object *node);
bool kc__sched_node_term_matches(const kc__sched_node_term *term, const kc_object *node);

#endif
