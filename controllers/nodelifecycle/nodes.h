/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nodes.h: what this controller knows of nodes beyond what the cache has: when each was last heard
 * of, by our own clock, and how its zone is doing.
 *
 *     node_watch.c ──▶ kc__nodes_see, kc__nodes_renewed       every heartbeat: O(1), no key
 *     reconcile    ──▶ kc__nodes_look, kc__nodes_may_evict    when a node changed, or its time is
 * up
 *
 * Informers write into it on their threads, before anybody reconciles, so that the state of zones
 * is that of all nodes from the first key on.
 */
#ifndef KC_CONTROLLERS_NODES_H
#define KC_CONTROLLERS_NODES_H

#include "kc/list.h"
#include "kc/log.h"
#include "kc/map.h"
#include "kc/queue.h"
#include "kc/thread.h"

typedef enum kc__ready {
    KC__READY_UNSAID, /* There is no such condition. */
    KC__READY_TRUE,
    KC__READY_FALSE,
    KC__READY_UNKNOWN,
} kc__ready;

typedef enum kc__zone_state {
    KC__ZONE_EMPTY,
    KC__ZONE_NORMAL,
    KC__ZONE_PARTIAL, /* More than half of its nodes are not ready, and more than two. */
    KC__ZONE_FULL,    /* All are. */
} kc__zone_state;

typedef struct kc__zone {
    char *name;
    size_t n, not_ready; /* Nodes, but for those that are excluded. */
    kc__zone_state state;
    double rate;     /* Nodes a second that may be given a taint that evicts; 0: none. */
    int64_t next;    /* When the next one may be. */
    kc_list waiting; /* Of kc__node.turn; the first is next. */
    kc_gauge *size, *health, *unhealthy;
    kc_counter *evictions;
} kc__zone;

typedef struct kc__node {
    char *name;
    bool seen;         /* There is a node, not only a lease. */
    uint64_t revision; /* Of what was seen last. */
    kc__zone *zone;
    bool excluded; /* Does not count in its zone. */
    kc__ready ready;
    uint64_t print;              /* Hash of what reconciling depends on. */
    uint64_t heartbeat, renewal; /* Hashes of the times it said. */
    int64_t probe;               /* When one of these changed last. */
    bool is_new;                 /* Nobody was told that it is here. */
    bool went_down;              /* Nor that it is not ready any more. */
    bool pods_pending;           /* Its pods are to be marked as not ready. */
    bool may_evict;              /* It is or was its turn. */
    kc_link turn;
} kc__node;

typedef struct kc__nodes {
    const kc_clock *clock;
    kc_log *log;
    int64_t grace;
    kc_metric *size, *health, *unhealthy, *evictions; /* By zone. */

    kc_mutex mutex;              /* Guards what follows. Under it, only the queue's own. */
    kc_map by_name;              /* To kc__node. */
    kc_map zones;                /* To kc__zone. */
    size_t inhabited, disrupted; /* Zones that are not empty; that are full of lost nodes. */
    bool complete;               /* The first list was seen: the state of zones counts. */
    bool stopped;                /* All zones are disrupted: it is us who is lost. No evictions. */
    kc_queue *queue;             /* Of the controller, while it runs. */
} kc__nodes;

void kc__nodes_init(kc__nodes *nodes, const kc_clock *clock, kc_log *log, int64_t grace);
int kc__nodes_metrics(kc__nodes *nodes, kc_metrics *metrics, kc_error *err);
void kc__nodes_done(kc__nodes *nodes);
/* Keys go into this queue from now on; NULL: nobody works, and all is forgotten. */
void kc__nodes_run(kc__nodes *nodes, kc_queue *queue);

/* ---- from informers ---- */

/* Adds its key where something has changed that matters. */
void kc__nodes_see(kc__nodes *nodes, const kc_object *node);
void kc__nodes_gone(kc__nodes *nodes, kc_str name);
void kc__nodes_complete(kc__nodes *nodes);
void kc__nodes_renewed(kc__nodes *nodes, const kc_object *lease);
void kc__nodes_lease_gone(kc__nodes *nodes, kc_str name);
/* A pod came to a node: if that is not ready, the pod is not either. */
void kc__nodes_pod_came(kc__nodes *nodes, kc_str name);

/* ---- for the reconciler ---- */

/* What there is to do; each thing is told once, and again after kc__nodes_redo. */
typedef struct kc__node_news {
    int64_t left; /* Until it is lost; 0 or less: it is. */
    bool is_new, went_down, pods_pending;
} kc__node_news;

/* False when there is no such node (any more). */
bool kc__nodes_look(kc__nodes *nodes, kc_str name, kc__node_news *ret);
/* Its pods could not all be marked. */
void kc__nodes_redo_pods(kc__nodes *nodes, kc_str name);

typedef enum kc__may_evict {
    KC__EVICT_NOT_YET, /* Its key comes again when it may. */
    KC__EVICT_NOW,
    KC__EVICT_NEVER, /* Not while all nodes seem lost: what was done is to be undone. */
} kc__may_evict;
/* Whether a node that is not ready may be given a taint that drives its pods away. `has` says that
 * it has one already. */
kc__may_evict kc__nodes_may_evict(kc__nodes *nodes, kc_str name, bool has);
/* It is ready again. */
void kc__nodes_leave_turn(kc__nodes *nodes, kc_str name);

/* ---- zones.c, with the mutex held ---- */

kc__zone *kc__zone_of(kc__nodes *nodes, const kc_object *node);
void kc__zone_free(kc__zone *zone);
/* Counts a node in or out, as it is now. */
void kc__zone_count(const kc__node *node, int by);
/* Looks what follows from new counts. */
void kc__zone_judge(kc__nodes *nodes, kc__zone *zone);
/* All nodes are counted: from now on it counts what follows. */
void kc__zones_begin(kc__nodes *nodes);
bool kc__zone_turn(kc__nodes *nodes, kc__node *node);
void kc__zone_leave(kc__nodes *nodes, kc__node *node);
void kc__nodes_add_key(kc__nodes *nodes, const kc__node *node, int64_t after);

#endif
