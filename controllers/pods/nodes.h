/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nodes.h: this process's nodes: their registration, heartbeats and allocated resources.
 */
#ifndef KC_CONTROLLERS_NODES_H
#define KC_CONTROLLERS_NODES_H

#include "kc/heap.h"
#include "kc/manager.h"
#include "kc/map.h"
#include "kc/pods.h"
#include "kc/thread.h"

#include "api/core_v1/zz_generated.h"
#include "pods/node_server.h"

typedef struct kc__pods_nodes kc__pods_nodes;

typedef struct kc__pods_node {
    char *name;
    char ip[46];
    kc__pods_nodes *nodes;
    char *user_name;              /* "system:node:NAME" */
    kc_client_user user;          /* With this name. */
    const kc_client_user *act_as; /* The user, or NULL: the user of the manager's client. */
    /* Used only by the shard's thread: */
    kc_client *client; /* Set during maintenance: has a deadline. */
    kc_object *lease;  /* As last written; NULL: unknown. */
    char *uid;         /* uid of the Node; NULL: not registered yet. */
    kc_time heartbeat;
    /* Guarded by the shard's lock: */
    kc_heap_node timer;
    int64_t due; /* Monotonic. */
    /* Guarded by nodes->mutex: */
    int64_t cpu, memory; /* Allocated: millicores, bytes. */
    int pods;
} kc__pods_node;

/* A subset of the nodes and the thread that maintains them. */
typedef struct kc__pods_node_shard {
    kc__pods_nodes *nodes;
    kc_mutex mutex; /* Guards timers and their due times. No calls are made under it. */
    kc_cond wake;
    kc_heap timers;
    bool stopping;
    kc_cancel_hook hook;
    kc_cancel *stop; /* Set while its thread runs. */
} kc__pods_node_shard;

#define KC__PODS_NODE_SHARDS 4

struct kc__pods_nodes {
    kc_client *client; /* The manager's live client. */
    kc_cache *cache;
    const kc_clock *clock;
    kc_log *log;
    kc_informer *informer;
    kc_event_handler *listener;
    kc_map by_name;
    kc__pods_node *items;
    size_t n;
    const char *runtime_name, *runtime_version;
    const kc__pods_node_server *server; /* NULL: no node server. */
    /* Capacity of each node. */
    int64_t cpu, memory, storage;
    int pods;
    bool report_stop;
    kc__pods_node_shard shards[KC__PODS_NODE_SHARDS];
    size_t n_shards;
    kc_mutex mutex; /* Guards the allocated resources of nodes. */
};

/* Call before the manager starts: adds the runnables that maintain the nodes. `opts` has all
 * defaults set. NULL on error. */
kc__pods_nodes *kc__pods_nodes_new(kc_manager *manager, const kc_pods_opts *opts,
                                   const char *runtime_name, const char *runtime_version,
                                   kc_error *err);
/* Call after the manager has stopped. NULL is allowed; returns NULL. */
kc__pods_nodes *kc__pods_nodes_free(kc__pods_nodes *nodes);

/* NULL: not one of this process's nodes. Thread-safe. */
kc__pods_node *kc__pods_nodes_find(const kc__pods_nodes *nodes, kc_str name);
/* The Node from the cache; NULL if it is not cached. The caller unrefs it. */
kc_cluster_node *kc__pods_node_get(const kc__pods_node *node);

/* The labels it registers with. */
kc_string_map kc__pods_node_labels(const kc__pods_node *node, kc_arena *arena);
/* The predicate that refuses the pod, and the reason (static texts); NULL: the pod fits. */
const char *kc__pods_node_refuses(const kc_cluster_node *node, const kc_pod *pod,
                                  const char **ret_why);

/* Registers the node, or corrects the server's copy. */
int kc__pods_node_register(kc__pods_node *node, kc_error *err);
/* Writes the status if it is due or the server's copy differs. */
int kc__pods_node_report(kc__pods_node *node, kc_error *err);
/* Sets Ready to False at shutdown. */
int kc__pods_node_leave(kc__pods_node *node, kc_error *err);
/* Renews its lease. */
int kc__pods_node_renew_lease(kc__pods_node *node, kc_error *err);

/* The node name for this host name. The caller frees it. */
char *kc__pods_node_name_of(kc_str host);

#endif
