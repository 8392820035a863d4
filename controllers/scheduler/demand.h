/* SPDX-License-Identifier: Apache-2.0 */
/*
 * demand.h: a pod as the scheduler sees it, read once when it comes.
 *
 * Two parts. What a pod takes from the node it is on (resources, ports) and what others look at
 * (its labels, its affinities) is kept for every pod, and is small. What it asks of a node
 * (tolerations, selectors, spread) only matters until it has one: `wants` is there for pods that
 * wait.
 */
#ifndef KC_SCHEDULER_DEMAND_H
#define KC_SCHEDULER_DEMAND_H

#include "common/resources.h"
#include "scheduler/term.h"

typedef struct kc__port {
    char *ip, *protocol; /* Never empty: "0.0.0.0" is any address. */
    int32_t port;
} kc__port;

typedef enum kc__rule_kind {
    KC__REQUIRE, /* Only where such pods are. */
    KC__FORBID,  /* Only where none are. */
    KC__PREFER,  /* Rather there, by weight; a negative one: rather not. */
} kc__rule_kind;

/* Of a pod about other pods. */
typedef struct kc__rule {
    kc__rule_kind kind;
    kc__term *term;
    int32_t weight;
} kc__rule;

typedef struct kc__spread {
    kc__term *term;
    int32_t max_skew, min_domains;
    bool hard;            /* DoNotSchedule. */
    bool ignore_affinity; /* Nodes count though the pod's affinity excludes them. */
    bool honor_taints;    /* Nodes with taints it does not tolerate do not count. */
    bool counts_itself;   /* The pod is one of those that are spread. */
} kc__spread;

/* One term of a node affinity: all of it must hold. */
typedef struct kc__node_term {
    kc_selector *labels; /* NULL: says nothing of them. */
    const kc_selector_requirement *fields;
    size_t n_fields;
    int32_t weight;
    bool never; /* It says nothing, or nothing that can be read: it matches no node. */
} kc__node_term;

/* What a pod that waits asks of a node. */
typedef struct kc__wants {
    kc_pod *pod; /* Tolerations, claims and texts are read from it. */
    kc_selector *node_selector;
    bool restricted; /* Has required terms: one of them must hold. */
    KC_VEC(kc__node_term) required;
    KC_VEC(kc__node_term) preferred;
    KC_VEC(kc__spread) spreads;
    bool default_spread; /* Of the pods of its owner, for it says none itself. */
    size_t n_gates;
    bool never_preempts;
    char *nominated; /* The node that was made free for it; NULL: none. */
} kc__wants;

typedef struct kc__demand {
    kc_object *object;
    kc_key key; /* Slices of the object. */
    kc_str uid, owner;
    int32_t priority;
    int64_t created, started; /* Wall time. */
    bool leaving;             /* It is being deleted. */
    bool preempted;           /* …because the scheduler chose it. */
    bool finished;            /* It takes nothing any more. */
    bool ours;                /* It names this scheduler. */
    char *node;               /* Where it is; NULL: it waits. */
    kc__resources requests;
    int64_t assumed_cpu, assumed_memory; /* With defaults for containers that say nothing. */
    KC_VEC(kc__port) ports;
    KC_VEC(kc__rule) rules;
    kc__wants *wants; /* NULL for pods that have a node. */
} kc__demand;

#define KC__SCHEDULER_NAME "default-scheduler"

/* NULL on error: it cannot be read. Takes its own reference to the object. */
kc__demand *kc__demand_of(const kc_object *pod, kc__terms *terms, kc_error *err);
kc__demand *kc__demand_free(kc__demand *demand);
KC_AUTO_DEFINE(kc__demand, kc__demand_free)

/* Whether the labels and the name of a node satisfy its selector and its required affinity. */
bool kc__wants_node(const kc__wants *wants, const kc_object *node);
bool kc__node_term_matches(const kc__node_term *term, const kc_object *node);

#endif
