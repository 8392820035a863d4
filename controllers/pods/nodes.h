/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nodes.h: the nodes of ours: that the server knows them, that they are heard of, and how much of
 * each is taken.
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

typedef struct kc__nodes kc__nodes;

typedef struct kc__node {
    char *name;
    char ip[46];
    kc__nodes *nodes;
    /* Of the thread that keeps it: */
    kc_client *client; /* While it is being kept: gives up in time. */
    kc_object *lease;  /* As it was last written; NULL: not known. */
    char *uid;         /* Of the Node; NULL: not registered yet. */
    kc_time heartbeat;
    /* Under the shard's lock: */
    kc_heap_node timer;
    int64_t due; /* Monotonic. */
    /* Under nodes->mutex: */
    int64_t cpu, memory; /* Taken: thousandths, bytes. */
    int pods;
} kc__node;

/* Some of the nodes, and the thread that keeps them. */
typedef struct kc__node_shard {
    kc__nodes *nodes;
    kc_mutex mutex; /* Guards timers, and the due times in it. Nothing is called under it. */
    kc_cond wake;
    kc_heap timers;
    bool stopping;
    kc_cancel_hook hook;
    kc_cancel *stop; /* While its thread runs. */
} kc__node_shard;

#define KC__NODE_SHARDS 4

struct kc__nodes {
    kc_client *client; /* The manager's, which reads from the server. */
    kc_cache *cache;
    const kc_clock *clock;
    kc_log *log;
    kc_informer *informer;
    kc_listener *listener;
    kc_map by_name;
    kc__node *items;
    size_t n;
    const char *runtime_name, *runtime_version;
    const kc__node_server *server; /* NULL: they answer nobody. */
    /* What each of them has. */
    int64_t cpu, memory, storage;
    int pods;
    bool say_goodbye;
    kc__node_shard shards[KC__NODE_SHARDS];
    size_t n_shards;
    kc_mutex mutex; /* Guards what is taken of nodes. */
};

/* Before the manager starts: adds what keeps them to it. `opts` is complete. NULL on error. */
kc__nodes *kc__nodes_new(kc_manager *manager, const kc_pods_opts *opts, const char *runtime_name,
                         const char *runtime_version, kc_error *err);
/* After the manager has stopped. NULL is allowed; returns NULL. */
kc__nodes *kc__nodes_free(kc__nodes *nodes);

/* NULL: none of ours. Any thread. */
kc__node *kc__nodes_find(const kc__nodes *nodes, kc_str name);
/* The Node as the cache has it; NULL if it does not. The caller's. */
kc_cluster_node *kc__node_get(const kc__node *node);

/* The labels it registers with. */
kc_string_map kc__node_labels(const kc__node *node, kc_arena *arena);
/* The predicate by which the node does not take a pod, and why (static texts); NULL: it does. */
const char *kc__node_refuses(const kc_cluster_node *node, const kc_pod *pod, const char **ret_why);

/* Registers it, or puts right what is wrong with what the server has of it. */
int kc__node_register(kc__node *node, kc_error *err);
/* A heartbeat, if the last was long ago or the server's idea of the node is another. */
int kc__node_report(kc__node *node, kc_error *err);
/* Says that it is not ready any more: we stop. */
int kc__node_leave(kc__node *node, kc_error *err);
/* Renews its lease. */
int kc__node_renew_lease(kc__node *node, kc_error *err);

/* Of the machine of this name. The caller frees it. */
char *kc__node_name_of(kc_str host);

#endif
