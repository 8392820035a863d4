/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster.h: the scheduler's model of nodes and their pods. Every event updates it, so that a
 * decision visits each node once and no pod at all.
 *
 *     sched nodes  capacity, requests of the pods, ports; a number (slot) as index into tables
 *     sched pods   a pod on a node, or one that waits for a node
 *     domains      for a topology key: the nodes with the same value of that label
 *     tallies      number of pods per node that match a term; built on first use by a
 *                  decision, then kept current, dropped when unused
 *     pod terms    affinity terms of assigned pods, and their number on each node
 *
 * To update the last two without visiting all of them for each pod, both are registered at anchors:
 * a label with a value that every match must have (or the owner). A pod visits only the anchors of
 * its own labels.
 *
 * One thread uses a cluster; nothing in it blocks.
 */
#ifndef KC_SCHEDULER_CLUSTER_H
#define KC_SCHEDULER_CLUSTER_H

#include "kc/dlist.h"
#include "kc/heap.h"
#include "scheduler/demand.h"

typedef struct kc__sched_cluster kc__sched_cluster;
typedef struct kc__sched_pod kc__sched_pod;

/* ---- sched nodes ---- */

typedef struct kc__sched_taint {
    const char *key, *value, *effect; /* Point into the node object, or literals. Never NULL. */
    char *reason;                     /* The reason for pods that do not tolerate it. */
    bool refuses;                     /* NoSchedule or NoExecute; else PreferNoSchedule. */
} kc__sched_taint;

typedef struct kc__sched_node {
    size_t slot; /* Index into tables; constant for its lifetime. */
    size_t rank; /* Index in cluster->ready, if the node exists. */
    char *name;
    kc_object *node; /* NULL: pods name this node, but it does not exist (yet). */
    kc_cluster_node *decoded;
    char *summary;    /* The relevant fields of the node as text… */
    uint64_t version; /* …and the number of their changes. */
    bool unschedulable;
    KC_VEC(kc__sched_taint) taints;
    kc__common_resources allocatable, used;
    int64_t allowed_pods;
    int64_t assumed_cpu, assumed_memory; /* Requests of its pods, with defaults. */
    kc_dlist pods;                       /* List of kc__sched_pod. */
    int64_t n_pods;
    KC_VEC(const kc__sched_port *) ports; /* Host ports of its pods. */
    bool touched;                         /* Changed since the last pass over the queue. */
    KC_VEC(kc__sched_pod *) nominated;    /* Pods that are nominated to this node. */
} kc__sched_node;

/* ---- pods ---- */

/* A label of a pod, registered at its anchor. */
typedef struct kc__sched_mention {
    kc_dlist_link link;
    struct kc__sched_anchor *anchor;
    kc__sched_pod *place;
} kc__sched_mention;

typedef enum kc__sched_queue_state {
    KC__SCHED_NOT_QUEUED,
    KC__SCHED_ACTIVE,
    KC__SCHED_BACKING_OFF,
    KC__SCHED_UNSCHEDULABLE_QUEUED, /* Unschedulable, until an event may help. */
    KC__SCHED_GATED,
} kc__sched_queue_state;

/* A pod that is on a node or waits for one. */
struct kc__sched_pod {
    char *key; /* "namespace/name" */
    kc__sched_demand *demand;
    kc__sched_node *host; /* The node where it counts; NULL: none. */
    bool assumed;         /* It counts there after our decision; the watch has not confirmed it. */
    kc__sched_node *nominated;
    kc_dlist_link on_host;
    kc__sched_mention *mentions;
    size_t n_mentions;
    KC_VEC(struct kc__sched_pod_term *) pod_terms;
    /* State in the queue (queue.h). */
    kc__sched_queue_state state;
    kc_heap_node heap;
    kc_dlist_link stuck;
    uint32_t refused_by; /* Bit set of plugins. */
    int attempts;
    int64_t queued_at, first_queued_at, retry_at; /* Monotonic times. */
    uint64_t sequence;
    /* Condition and event: one write at a time, so that the last one wins. */
    const char *reason;
    char *message;
    bool writing_status, write_again;
    bool nominated_there; /* The server has the nomination. */
    char *last_event;     /* The text of the last event. */
    int64_t last_event_at;
    bool preempting; /* Its victims are being deleted. */
};

/* ---- topologies ---- */

typedef struct kc__sched_domains {
    char *key;
    kc_map ids;             /* Value to id + 1. Keys are `values`. */
    KC_VEC(char *) values;  /* By id; NULL: unused. */
    KC_VEC(uint32_t) users; /* Number of nodes with the value, by id. */
    KC_VEC(int32_t) spare;  /* Unused ids. */
    KC_VEC(int32_t) of;     /* Id by slot; -1: the node lacks the label or does not exist. */
} kc__sched_domains;

/* -1: the node lacks the label. */
static inline int32_t kc__sched_domain_of(const kc__sched_domains *domains,
                                          const kc__sched_node *host)
{
    return host->slot < domains->of.n ? domains->of.items[host->slot] : -1;
}

/* ---- tallies and pod terms ---- */

typedef KC_VEC(uint32_t) kc__sched_counts; /* By slot; slots behind the end are 0. */

static inline uint32_t kc__sched_count_at(const kc__sched_counts *counts, size_t slot)
{
    return slot < counts->n ? counts->items[slot] : 0;
}

/* Number of pods that match all of the terms. */
typedef struct kc__sched_tally {
    char *text;
    kc__sched_term **terms;
    size_t n_terms;
    kc__sched_counts counts;
    uint64_t total;
    int64_t used_at;    /* Monotonic time of the last decision that used it. */
    kc_dlist_link link; /* In the list of its anchor. */
} kc__sched_tally;

/* Number of pods that have this affinity term. */
typedef struct kc__sched_pod_term {
    char *text;
    kc__sched_rule rule; /* Holds a reference to its term. */
    kc__sched_counts counts;
    uint64_t total;
    kc_dlist_link link; /* In the list of its anchor. */
} kc__sched_pod_term;

typedef struct kc__sched_anchor {
    char *text;
    kc_dlist mentions, tallies, pod_terms;
} kc__sched_anchor;

/* ---- cluster ---- */

typedef struct kc__sched_rank {
    int32_t priority;
    size_t n;
} kc__sched_rank;

struct kc__sched_cluster {
    kc__sched_terms terms;
    kc_map hosts;                   /* By name. */
    KC_VEC(kc__sched_node *) slots; /* NULL: unused. */
    KC_VEC(size_t) free_slots;
    KC_VEC(kc__sched_node *) ready; /* Those whose node exists: the candidates of decisions. */
    kc_map places;                  /* By key. */
    kc_map domains;                 /* By topology key. */
    kc_map anchors;                 /* By text. */
    kc__sched_anchor loose;         /* Anchor of terms without a label: every pod is registered
                                     * there. */
    kc_map tallies, pod_terms;      /* By text. */
    kc_map namespaces;              /* kc_object * by name. */
    kc_map claims;                  /* kc_object * by "namespace/name". */
    KC_VEC(kc_object *) budgets;    /* PodDisruptionBudgets. */
    KC_VEC(kc__sched_rank) ranks;   /* Priorities of assigned pods; few distinct values. */
    size_t next_start;              /* Where the next decision starts. */
};

void kc__sched_cluster_init(kc__sched_cluster *cluster);
void kc__sched_cluster_done(kc__sched_cluster *cluster);

/* Adds or updates a node. Returns its sched node; NULL with an error if it cannot be decoded. */
kc__sched_node *kc__sched_cluster_set_node(kc__sched_cluster *cluster, const kc_object *node,
                                           kc_error *err);
void kc__sched_cluster_remove_node(kc__sched_cluster *cluster, kc_str name);
kc__sched_node *kc__sched_cluster_node(const kc__sched_cluster *cluster,
                                       kc_str name); /* NULL if there is none. */

/* Finds or creates the sched pod of a demand. Takes ownership of the demand and frees the old one;
 * the pod stays on its node. */
kc__sched_pod *kc__sched_cluster_set_pod(kc__sched_cluster *cluster, kc__sched_demand *demand);
kc__sched_pod *kc__sched_cluster_pod(const kc__sched_cluster *cluster,
                                     kc_str key); /* NULL if there is none. */
/* Removes the pod, which must not be queued. */
void kc__sched_cluster_remove_pod(kc__sched_cluster *cluster, kc__sched_pod *place);

/* Assigns a pod to a node, where it counts from now on. The pod must not count elsewhere. */
void kc__sched_pod_assign(kc__sched_cluster *cluster, kc__sched_pod *place, kc_str host);
void kc__sched_pod_unassign(kc__sched_cluster *cluster, kc__sched_pod *place);
void kc__sched_pod_nominate(kc__sched_cluster *cluster, kc__sched_pod *place,
                            kc__sched_node *host); /* NULL if there is none. */

/* Whether an assigned pod has a lower priority. */
bool kc__sched_cluster_has_lesser(const kc__sched_cluster *cluster, int32_t priority);

/* Adds (1) or removes (-1) a pod's resources and ports on a node, and nothing else of it. */
void kc__sched_node_reserve(kc__sched_node *host, const kc__sched_demand *demand, int times);

/* NULL removes it. */
void kc__sched_cluster_set_namespace(kc__sched_cluster *cluster, kc_str name, const kc_object *ns);
void kc__sched_cluster_set_claim(kc__sched_cluster *cluster, kc_key key, const kc_object *claim);
void kc__sched_cluster_set_budget(kc__sched_cluster *cluster, kc_key key, const kc_object *budget);
const kc_object *kc__sched_cluster_claim(const kc__sched_cluster *cluster, kc_str ns, kc_str name);

/* The fields of a pod that terms match. */
kc__sched_labelled kc__sched_cluster_labelled(const kc__sched_cluster *cluster,
                                              const kc__sched_demand *demand);

/* ---- queries of decisions (counts.c, domains.c) ---- */

const kc__sched_domains *kc__sched_cluster_domains(kc__sched_cluster *cluster, const char *key);
/* Number of pods per node that match all of the terms. */
const kc__sched_tally *kc__sched_cluster_tally(kc__sched_cluster *cluster,
                                               kc__sched_term *const *terms, size_t n, int64_t now);
/* Calls `each` for every pod term of assigned pods that matches the pod. */
void kc__sched_cluster_pod_terms(kc__sched_cluster *cluster, const kc__sched_demand *demand,
                                 void (*each)(const kc__sched_pod_term *pod_term, void *user),
                                 void *user);
/* Drops tallies that no decision has used since. */
void kc__sched_cluster_forget_tallies(kc__sched_cluster *cluster, int64_t before);

/* ---- shared by the files of the cluster ---- */

void kc__sched_counts_enter(kc__sched_cluster *cluster, kc__sched_pod *place);
void kc__sched_counts_leave(kc__sched_cluster *cluster, kc__sched_pod *place);
/* Must be called before the labels of a namespace change. */
void kc__sched_counts_namespaces_change(kc__sched_cluster *cluster);
void kc__sched_counts_init(kc__sched_cluster *cluster);
void kc__sched_counts_done(kc__sched_cluster *cluster);
/* The labels of the node have changed, or it was added or removed. */
void kc__sched_domains_update(kc__sched_cluster *cluster, const kc__sched_node *host);
void kc__sched_domains_done(kc__sched_cluster *cluster);

#endif
