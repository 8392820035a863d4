/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nodes.h: state of nodes that the cache does not have: the time of the last heartbeat by our own
 * clock, and the state of each zone.
 *
 *     node_watch.c ──▶ kc__lifecycle_nodes_observe, kc__lifecycle_nodes_renewed
 *                      for every heartbeat: O(1), queues no key
 *     reconcile    ──▶ kc__lifecycle_nodes_check, kc__lifecycle_nodes_may_evict
 *                      when a node changed or its grace period ended
 *
 * Informer threads write to it before the first reconcile, so that the state of zones includes all
 * nodes from the first key on.
 */
#ifndef KC_CONTROLLERS_NODES_H
#define KC_CONTROLLERS_NODES_H

#include "kc/dlist.h"
#include "kc/log.h"
#include "kc/map.h"
#include "kc/queue.h"
#include "kc/thread.h"

typedef enum kc__lifecycle_ready_state {
    KC__LIFECYCLE_READY_ABSENT, /* The node has no such condition. */
    KC__LIFECYCLE_READY_TRUE,
    KC__LIFECYCLE_READY_FALSE,
    KC__LIFECYCLE_READY_UNKNOWN,
} kc__lifecycle_ready_state;

typedef enum kc__lifecycle_zone_state {
    KC__LIFECYCLE_ZONE_EMPTY,
    KC__LIFECYCLE_ZONE_NORMAL,
    KC__LIFECYCLE_ZONE_PARTIAL, /* At least 55 % and more than two of its nodes are not ready. */
    KC__LIFECYCLE_ZONE_FULL,    /* No node is ready. */
} kc__lifecycle_zone_state;

typedef struct kc__lifecycle_zone {
    char *name;
    size_t n, not_ready; /* Number of nodes that are not excluded. */
    kc__lifecycle_zone_state state;
    double rate;      /* Rate of NoExecute taints in nodes per second; 0: none. */
    int64_t next;     /* Time at which the next taint is allowed. */
    kc_dlist waiting; /* Queue of kc__lifecycle_node.turn, in order. */
    kc_gauge *size, *health, *unhealthy;
    kc_counter *evictions;
} kc__lifecycle_zone;

typedef struct kc__lifecycle_node {
    char *name;
    bool seen;         /* The node exists, not only its lease. */
    uint64_t revision; /* Revision of the last observation. */
    kc__lifecycle_zone *zone;
    bool excluded; /* The node does not count in its zone. */
    kc__lifecycle_ready_state ready;
    uint64_t print;              /* Hash of all fields that a reconcile reads. */
    uint64_t heartbeat, renewal; /* Hashes of the last heartbeat times. */
    int64_t probe;               /* Time of the last change of these, by our clock. */
    bool is_new;                 /* The event RegisteredNode is pending. */
    bool went_down;              /* The event NodeNotReady is pending. */
    bool pods_pending;           /* Its pods must be marked as not ready. */
    bool may_evict;              /* The zone allows its eviction now, or has allowed it. */
    kc_dlist_link turn;
} kc__lifecycle_node;

typedef struct kc__lifecycle_nodes {
    const kc_clock *clock;
    kc_log *log;
    int64_t grace;
    kc_metric *size, *health, *unhealthy, *evictions; /* Labelled by zone. */

    kc_mutex mutex;              /* Guards the rest. Holders take only the lock of the queue. */
    kc_map by_name;              /* To kc__lifecycle_node. */
    kc_map zones;                /* To kc__lifecycle_zone. */
    size_t populated, disrupted; /* Number of zones with nodes, and of zones without a ready
                                  * node. */
    bool complete;               /* The first list is complete: zone states are valid. */
    bool stopped;                /* All zones are fully disrupted: probably this process is
                                  * disconnected. No evictions. */
    kc_queue *queue;             /* The controller's queue, while it runs. */
} kc__lifecycle_nodes;

void kc__lifecycle_nodes_init(kc__lifecycle_nodes *nodes, const kc_clock *clock, kc_log *log,
                              int64_t grace);
int kc__lifecycle_nodes_metrics(kc__lifecycle_nodes *nodes, kc_metrics *metrics, kc_error *err);
void kc__lifecycle_nodes_done(kc__lifecycle_nodes *nodes);
/* Sets the queue that receives keys; NULL: no workers, and the state is reset. */
void kc__lifecycle_nodes_run(kc__lifecycle_nodes *nodes, kc_queue *queue);

/* ---- from informers ---- */

/* Queues the node's key if a relevant field has changed. */
void kc__lifecycle_nodes_observe(kc__lifecycle_nodes *nodes, const kc_object *node);
void kc__lifecycle_nodes_remove(kc__lifecycle_nodes *nodes, kc_str name);
void kc__lifecycle_nodes_complete(kc__lifecycle_nodes *nodes);
void kc__lifecycle_nodes_renewed(kc__lifecycle_nodes *nodes, const kc_object *lease);
void kc__lifecycle_nodes_lease_removed(kc__lifecycle_nodes *nodes, kc_str name);
/* A pod was assigned to a node: if the node is not ready, the pod must be marked. */
void kc__lifecycle_nodes_add_pod(kc__lifecycle_nodes *nodes, kc_str name);

/* ---- for the reconciler ---- */

/* Pending actions; each is returned once, and again after kc__nodes_redo. */
typedef struct kc__lifecycle_node_change {
    int64_t left; /* Time until the node is lost; 0 or less: it is lost. */
    bool is_new, went_down, pods_pending;
} kc__lifecycle_node_change;

/* False if the node does not exist. */
bool kc__lifecycle_nodes_check(kc__lifecycle_nodes *nodes, kc_str name,
                               kc__lifecycle_node_change *ret);
/* Not all of its pods could be marked. */
void kc__lifecycle_nodes_redo_pods(kc__lifecycle_nodes *nodes, kc_str name);

typedef enum kc__lifecycle_may_evict {
    KC__LIFECYCLE_EVICT_NOT_YET, /* Queues its key when the eviction is allowed. */
    KC__LIFECYCLE_EVICT_NOW,
    KC__LIFECYCLE_EVICT_NEVER, /* All evictions are stopped: NoExecute taints must be removed. */
} kc__lifecycle_may_evict;
/* Whether a node that is not ready may get a NoExecute taint. `has`: it has one already. */
kc__lifecycle_may_evict kc__lifecycle_nodes_may_evict(kc__lifecycle_nodes *nodes, kc_str name,
                                                      bool has);
/* The node is ready again. */
void kc__lifecycle_nodes_leave_queue(kc__lifecycle_nodes *nodes, kc_str name);

/* ---- zones.c; the caller holds the mutex ---- */

kc__lifecycle_zone *kc__lifecycle_zone_of(kc__lifecycle_nodes *nodes, const kc_object *node);
void kc__lifecycle_zone_free(kc__lifecycle_zone *zone);
/* Adds the node's current state to the counts of its zone, or subtracts it. */
void kc__lifecycle_zone_count(const kc__lifecycle_node *node, int by);
/* Recomputes zone states after the counts have changed. */
void kc__lifecycle_zone_evaluate(kc__lifecycle_nodes *nodes, kc__lifecycle_zone *zone);
/* All nodes are counted: zone states are valid from now on. */
void kc__lifecycle_zones_begin(kc__lifecycle_nodes *nodes);
bool kc__lifecycle_zone_next(kc__lifecycle_nodes *nodes, kc__lifecycle_node *node);
void kc__lifecycle_zone_leave(kc__lifecycle_nodes *nodes, kc__lifecycle_node *node);
void kc__lifecycle_nodes_add_key(kc__lifecycle_nodes *nodes, const kc__lifecycle_node *node,
                                 int64_t after);

#endif
