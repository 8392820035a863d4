/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster.h: what the scheduler knows of nodes and of the pods on them, kept up to date change by
 * change, so that a decision looks at every node once and at no pod at all.
 *
 *     hosts    a node: what it has, what its pods take, their ports; a number (slot) for tables
 *     places   a pod on a node, or one that waits
 *     domains  for a topology key: which hosts share a value of that label
 *     tallies  how many pods that match a term are on each host; made when a decision first asks,
 *              then kept current, forgotten when nobody asks any more
 *     wishes   terms that pods on nodes have themselves, and how many of them each host has
 *
 * To keep the last two current without looking at all of them for each pod, both hang on anchors: a
 * label with its value that every match must have (or the owner). A pod touches the anchors of its
 * own labels only.
 *
 * One thread uses a cluster; nothing in it blocks.
 */
#ifndef KC_SCHEDULER_CLUSTER_H
#define KC_SCHEDULER_CLUSTER_H

#include "kc/heap.h"
#include "kc/list.h"
#include "scheduler/demand.h"

typedef struct kc__cluster kc__cluster;
typedef struct kc__place kc__place;

/* ---- hosts ---- */

typedef struct kc__taint {
    const char *key, *value, *effect; /* In the host's node, or literals. Never NULL. */
    char *reason;                     /* Why a pod that does not tolerate it cannot come. */
    bool refuses;                     /* NoSchedule or NoExecute; else PreferNoSchedule. */
} kc__taint;

typedef struct kc__host {
    size_t slot; /* In tables, as long as it lives. */
    size_t rank; /* In cluster->ready, if there is a node. */
    char *name;
    kc_object *node; /* NULL: pods are said to be there, but there is no such node (yet). */
    kc_cluster_node *decoded;
    char *gist;       /* What of the node matters here, as text… */
    uint64_t version; /* …and how often that has changed. */
    bool unschedulable;
    KC_VEC(kc__taint) taints;
    kc__resources allocatable, used;
    int64_t allowed_pods;
    int64_t assumed_cpu, assumed_memory; /* Used, with defaults. */
    kc_list pods;                        /* Of kc__place. */
    int64_t n_pods;
    KC_VEC(const kc__port *) ports; /* Of its pods. */
    bool touched; /* Something has changed here since the queue was looked through. */
    KC_VEC(kc__place *) nominated; /* Pods that wait for room that was made for them here. */
} kc__host;

/* ---- pods ---- */

/* Where a pod's label is found; see anchors. */
typedef struct kc__mention {
    kc_link link;
    struct kc__anchor *anchor;
    kc__place *place;
} kc__mention;

typedef enum kc__queue_state {
    KC__NOT_QUEUED,
    KC__ACTIVE,
    KC__BACKING_OFF,
    KC__STUCK, /* Unschedulable, until something changes. */
    KC__GATED,
} kc__queue_state;

/* A pod: on a host, or waiting for one. */
struct kc__place {
    char *key; /* "namespace/name" */
    kc__demand *demand;
    kc__host *host; /* Where it counts; NULL: nowhere. */
    bool assumed;   /* It counts there because we sent it there; nobody has told us yet. */
    kc__host *nominated;
    kc_link on_host;
    kc__mention *mentions;
    size_t n_mentions;
    KC_VEC(struct kc__wish *) wishes;
    /* In the queue (pending.h). */
    kc__queue_state state;
    kc_heap_node heap;
    kc_link stuck;
    uint32_t refused_by; /* Plugins, as bits. */
    int attempts;
    int64_t queued_at, first_queued_at, retry_at; /* Monotonic. */
    uint64_t sequence;
    /* What is said of it: one write at a time, so that the last one stays. */
    const char *reason;
    char *message;
    bool saying, say_again;
    bool nominated_there; /* The server was told where it is nominated. */
    char *said;           /* The last event. */
    int64_t said_at;
    bool preempting; /* Its victims are being deleted. */
};

/* ---- topologies ---- */

typedef struct kc__domains {
    char *key;
    kc_map ids;             /* By value; id + 1. Keys are `values`. */
    KC_VEC(char *) values;  /* By id; NULL: free. */
    KC_VEC(uint32_t) users; /* How many hosts have it, by id. */
    KC_VEC(int32_t) spare;  /* Ids that are free. */
    KC_VEC(int32_t) of;     /* By slot; -1: the host has no such label, or is no node. */
} kc__domains;

/* -1: it has no such label. */
static inline int32_t kc__domain_of(const kc__domains *domains, const kc__host *host)
{
    return host->slot < domains->of.n ? domains->of.items[host->slot] : -1;
}

/* ---- tallies and wishes ---- */

typedef KC_VEC(uint32_t) kc__counts; /* By slot; what is behind the end is 0. */

static inline uint32_t kc__count_at(const kc__counts *counts, size_t slot)
{
    return slot < counts->n ? counts->items[slot] : 0;
}

/* Pods that match all of some terms. */
typedef struct kc__tally {
    char *text;
    kc__term **terms;
    size_t n_terms;
    kc__counts counts;
    uint64_t total;
    int64_t used_at; /* Monotonic, of the last decision. */
    kc_link link;    /* At its anchor. */
} kc__tally;

/* Pods that have a term themselves. */
typedef struct kc__wish {
    char *text;
    kc__rule rule; /* Holds a reference to its term. */
    kc__counts counts;
    uint64_t total;
    kc_link link; /* At its anchor. */
} kc__wish;

typedef struct kc__anchor {
    char *text;
    kc_list mentions, tallies, wishes;
} kc__anchor;

/* ---- all of it ---- */

typedef struct kc__rank {
    int32_t priority;
    size_t n;
} kc__rank;

struct kc__cluster {
    kc__terms terms;
    kc_map hosts;             /* By name. */
    KC_VEC(kc__host *) slots; /* NULL: free. */
    KC_VEC(size_t) free_slots;
    KC_VEC(kc__host *) ready;    /* Those with a node: what decisions go over. */
    kc_map places;               /* By key. */
    kc_map domains;              /* By topology key. */
    kc_map anchors;              /* By text. */
    kc__anchor loose;            /* Of terms that have no anchor: all pods are mentioned. */
    kc_map tallies, wishes;      /* By text. */
    kc_map namespaces;           /* kc_object * by name. */
    kc_map claims;               /* kc_object * by "namespace/name". */
    KC_VEC(kc_object *) budgets; /* PodDisruptionBudgets. */
    KC_VEC(kc__rank) ranks;      /* Priorities of pods on hosts: few. */
    size_t next_start;           /* Where the next decision begins to look. */
};

void kc__cluster_init(kc__cluster *cluster);
void kc__cluster_done(kc__cluster *cluster);

/* Adds a node or changes it. Returns the host; NULL with why if it cannot be read. */
kc__host *kc__cluster_set_node(kc__cluster *cluster, const kc_object *node, kc_error *err);
void kc__cluster_remove_node(kc__cluster *cluster, kc_str name);
kc__host *kc__cluster_host(const kc__cluster *cluster, kc_str name); /* NULL: none. */

/* The place of a pod, made if there is none. The demand is taken over; the old one is freed, and
 * the pod counts where it counted. */
kc__place *kc__cluster_set_pod(kc__cluster *cluster, kc__demand *demand);
kc__place *kc__cluster_place(const kc__cluster *cluster, kc_str key); /* NULL: none. */
/* It is in no queue any more. */
void kc__cluster_remove_pod(kc__cluster *cluster, kc__place *place);

/* Counts a pod at a host: from now on it is there. Not while it counts elsewhere. */
void kc__place_put(kc__cluster *cluster, kc__place *place, kc_str host);
void kc__place_take(kc__cluster *cluster, kc__place *place);
void kc__place_nominate(kc__cluster *cluster, kc__place *place, kc__host *host); /* NULL: none. */

/* Whether some pod on a host matters less than that. */
bool kc__cluster_has_lesser(const kc__cluster *cluster, int32_t priority);

/* As if a pod were there, for resources and ports alone (1), and not any more (-1). */
void kc__host_reserve(kc__host *host, const kc__demand *demand, int times);

/* NULL removes it. */
void kc__cluster_set_namespace(kc__cluster *cluster, kc_str name, const kc_object *ns);
void kc__cluster_set_claim(kc__cluster *cluster, kc_key key, const kc_object *claim);
void kc__cluster_set_budget(kc__cluster *cluster, kc_key key, const kc_object *budget);
const kc_object *kc__cluster_claim(const kc__cluster *cluster, kc_str ns, kc_str name);

/* What terms look at in a pod. */
kc__labelled kc__cluster_labelled(const kc__cluster *cluster, const kc__demand *demand);

/* ---- what decisions ask (counts.c, domains.c) ---- */

const kc__domains *kc__cluster_domains(kc__cluster *cluster, const char *key);
/* Pods that match all of the terms. */
const kc__tally *kc__cluster_tally(kc__cluster *cluster, kc__term *const *terms, size_t n,
                                   int64_t now);
/* Calls `each` for every wish of pods on nodes whose term the pod matches. */
void kc__cluster_wishes(kc__cluster *cluster, const kc__demand *demand,
                        void (*each)(const kc__wish *wish, void *user), void *user);
/* Forgets tallies that no decision has asked for since. */
void kc__cluster_forget_tallies(kc__cluster *cluster, int64_t before);

/* ---- between the files of it ---- */

void kc__counts_enter(kc__cluster *cluster, kc__place *place);
void kc__counts_leave(kc__cluster *cluster, kc__place *place);
/* Before the labels of a namespace change. */
void kc__counts_namespaces_change(kc__cluster *cluster);
void kc__counts_init(kc__cluster *cluster);
void kc__counts_done(kc__cluster *cluster);
/* The labels of the host have changed, or it has come or gone. */
void kc__domains_update(kc__cluster *cluster, const kc__host *host);
void kc__domains_done(kc__cluster *cluster);

#endif
