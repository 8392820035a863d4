/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cycle.h: one decision: which node for this pod, now.
 *
 * What can be said for or against a node is said by plugins, rows of a table (plugins.c) whose
 * names, order, weights and words are those of kube-scheduler's default ones:
 *
 *     prepare        once for a pod: whatever is the same for all nodes is computed here
 *     filter         whether a node will do, and if not, why
 *     prepare_score  once, when the nodes that will do are known
 *     score          how good a node is; normalize brings all of them to 0 … 100
 *
 * All are functions of the cycle and the host alone: no clock, no calls, no memory but the cycle's
 * arena. To add one: a file with its functions, declared below, and a row in the table.
 */
#ifndef KC_SCHEDULER_CYCLE_H
#define KC_SCHEDULER_CYCLE_H

#include "kc/rand.h"
#include "scheduler/cluster.h"

enum { KC__MAX_SCORE = 100, KC__MAX_REASONS = 8 };

typedef enum kc__code {
    KC__FITS,
    KC__NOT_NOW, /* Other pods are in the way: preempting them could help. */
    KC__NEVER,   /* It could not. */
} kc__code;

typedef struct kc__reasons {
    const char *texts[KC__MAX_REASONS]; /* Live as long as the cycle and the cluster do. */
    size_t n;
} kc__reasons;

/* A number for each domain of a topology. */
typedef struct kc__domain_sums {
    const kc__domains *domains;
    int64_t *sums; /* By id. */
} kc__domain_sums;

typedef KC_VEC(kc__domain_sums) kc__sums_list;

typedef struct kc__spread_state {
    const kc__spread *spread;
    const kc__tally *tally;
    kc__domain_sums in;
    bool *counts; /* By id: some host of the domain counts. */
    int64_t least;
    double weight;
} kc__spread_state;

typedef struct kc__cycle {
    kc__cluster *cluster;
    const kc__demand *demand;
    kc_arena *arena; /* Of the decision. */
    int64_t now;     /* Monotonic: when tallies were used. */
    char *refusal;   /* Set by a prepare: no node will do. */
    uint8_t *wanted; /* By slot, what kc__cycle_wants found. */

    kc__spread_state *hard;
    size_t n_hard;
    /* Pods it must be with, each term; and whether there are any at all. */
    kc__domain_sums *near;
    size_t n_near;
    bool near_any, near_itself;
    kc__sums_list forbidden_own, forbidden_by; /* Above 0: not there. */

    kc__host **feasible;
    size_t n_feasible;
    kc__spread_state *soft;
    size_t n_soft;
    kc__sums_list liked;
} kc__cycle;

typedef struct kc__plugin {
    const char *name;
    /* False, with cycle->refusal: no node will do. */
    bool (*prepare)(kc__cycle *cycle);
    kc__code (*filter)(kc__cycle *cycle, const kc__host *host, kc__reasons *why);
    /* False: it makes no difference for this pod. */
    bool (*prepare_score)(kc__cycle *cycle);
    int64_t (*score)(kc__cycle *cycle, const kc__host *host);
    void (*normalize)(kc__cycle *cycle, int64_t *scores, size_t n);
    int weight;
    unsigned helped_by; /* Changes after which a pod it refused is worth another try. */
} kc__plugin;

/* What may happen that helps. */
enum {
    KC__NODE_CHANGED = 1,
    KC__POD_LEFT = 2, /* A node, or takes less of it. */
    KC__POD_CAME = 4, /* To a node, or has other labels there. */
    KC__CLAIM_CAME = 8,
    KC__NAMESPACE_CHANGED = 16,
};

extern const kc__plugin kc__plugins[];
extern const size_t kc__n_plugins;

void kc__reasons_add(kc__reasons *why, const char *text);
/* Whether the pod's selector and required affinity want the host; several plugins ask. */
bool kc__cycle_wants(kc__cycle *cycle, const kc__host *host);

/* ---- plugins ---- */

bool kc__tolerates(const kc_pod *pod, const kc__taint *taint);
/* The first taint that keeps the pod away; NULL: none. */
const kc__taint *kc__untolerated(const kc_pod *pod, const kc__host *host);

kc__code kc__filter_unschedulable(kc__cycle *, const kc__host *, kc__reasons *);
kc__code kc__filter_taints(kc__cycle *, const kc__host *, kc__reasons *);
bool kc__prepare_score_taints(kc__cycle *);
int64_t kc__score_taints(kc__cycle *, const kc__host *);
kc__code kc__filter_affinity(kc__cycle *, const kc__host *, kc__reasons *);
bool kc__prepare_score_affinity(kc__cycle *);
int64_t kc__score_affinity(kc__cycle *, const kc__host *);
kc__code kc__filter_ports(kc__cycle *, const kc__host *, kc__reasons *);
kc__code kc__filter_fit(kc__cycle *, const kc__host *, kc__reasons *);
int64_t kc__score_least_allocated(kc__cycle *, const kc__host *);
bool kc__prepare_score_balance(kc__cycle *);
int64_t kc__score_balance(kc__cycle *, const kc__host *);
bool kc__prepare_claims(kc__cycle *);
bool kc__prepare_spread(kc__cycle *);
kc__code kc__filter_spread(kc__cycle *, const kc__host *, kc__reasons *);
bool kc__prepare_score_spread(kc__cycle *);
int64_t kc__score_spread(kc__cycle *, const kc__host *);
void kc__normalize_spread(kc__cycle *, int64_t *scores, size_t n);
bool kc__prepare_relations(kc__cycle *);
kc__code kc__filter_relations(kc__cycle *, const kc__host *, kc__reasons *);
bool kc__prepare_score_relations(kc__cycle *);
int64_t kc__score_relations(kc__cycle *, const kc__host *);
void kc__normalize_relations(kc__cycle *, int64_t *scores, size_t n);

/* Scales to 0 … 100 by the largest; and turned round, where less is better. */
void kc__normalize_up(kc__cycle *, int64_t *scores, size_t n);
void kc__normalize_down(kc__cycle *, int64_t *scores, size_t n);

/* ---- a decision (decide.c) ---- */

typedef struct kc__decision {
    kc__host *host;               /* NULL: none will do. */
    uint32_t refused_by;          /* Plugins that kept it from a node, as bits. */
    char *message;                /* Why none will do. The caller's. */
    KC_VEC(kc__host *) contested; /* Hosts where other pods are in the way. */
    size_t evaluated, feasible;
} kc__decision;

void kc__decision_done(kc__decision *decision);

/* For a pod that waits. `rand` chooses among the best. */
void kc__decide(kc__cluster *cluster, kc__place *place, kc_rand *rand, int64_t now,
                kc__decision *ret);

/* Prepares a cycle, false if no node will do. The arena is the caller's. */
bool kc__cycle_begin(kc__cycle *cycle, kc__cluster *cluster, const kc__demand *demand,
                     kc_arena *arena, int64_t now, uint32_t *ret_refused_by);
void kc__cycle_end(kc__cycle *cycle);
/* Whether a host will do, with the pods that wait for room there and come before this one. */
kc__code kc__cycle_filter(kc__cycle *cycle, kc__host *host, kc__reasons *why,
                          uint32_t *ret_refused_by);
/* Of plugins that look at the host alone: quick. For "could this change help?". */
bool kc__fits_alone(kc__cluster *cluster, const kc__demand *demand, const kc__host *host);

#endif
