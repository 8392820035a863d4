/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nodes.c: this process's nodes, one or thousands, and the few threads that maintain them.
 *
 * Each node is due every ten seconds: the thread registers it if necessary, writes its status if
 * due and renews its lease. Nodes are distributed over shards, each with a thread and a heap of due
 * times, spread over the ten seconds. A deleted Node is due at once.
 *
 * Threads: a shard's thread is the only writer of its nodes on the server. The informer's thread
 * only changes due times.
 */
#include "pods/nodes.h"

#include "internal.h"
#include "kc/kinds.h"

#include <stdio.h>
#include <sys/statvfs.h>

#define PERIOD (10 * KC_SECOND)
#define RETRY  KC_SECOND
#define REQUEST_TIMEOUT                                                        \
    (10 * KC_SECOND) /* Request timeout: other nodes of the shard are due too. \
                      * \ */
#define NODES_PER_SHARD 1000

static bool pods_nodes_earlier(const kc_heap_node *a, const kc_heap_node *b, void *user)
{
    (void)user;
    const kc__pods_node *x = kc_container_of(a, const kc__pods_node, timer);
    const kc__pods_node *y = kc_container_of(b, const kc__pods_node, timer);
    return x->due != y->due ? x->due < y->due : x < y;
}

kc__pods_node *kc__pods_nodes_find(const kc__pods_nodes *nodes, kc_str name)
{
    return kc_map_get(&nodes->by_name, name);
}

kc_cluster_node *kc__pods_node_get(const kc__pods_node *node)
{
    return kc_cluster_node_lister_get(node->nodes->cache, KC_KEY("", node->name), NULL);
}

/* ---- maintenance ---- */

static kc__pods_node_shard *shard_of(kc__pods_node *node)
{
    kc__pods_nodes *nodes = node->nodes;
    return &nodes->shards[(size_t)(node - nodes->items) % nodes->n_shards];
}

/* Waits for the next due node and removes it from the heap. NULL: stopping. */
static kc__pods_node *next_due(kc__pods_node_shard *shard, const kc_clock *clock)
{
    kc__pods_node *node = NULL;
    kc_locked (&shard->mutex) {
        while (!shard->stopping) {
            kc_heap_node *first = kc_heap_peek(&shard->timers);
            const int64_t due =
                first ? kc_container_of(first, kc__pods_node, timer)->due : KC_FOREVER;
            if (first && due <= kc_clock_now(clock)) {
                node = kc_container_of(kc_heap_pop(&shard->timers), kc__pods_node, timer);
                break;
            }
            kc_cond_wait_until(&shard->wake, &shard->mutex, clock, due);
        }
    }
    return node;
}

static int pods_nodes_retain(kc__pods_node *node, kc_error *err)
{
    if (!node->uid && kc__pods_node_register(node, err) < 0)
        return kc_error_result(err);
    if (kc__pods_node_report(node, err) < 0)
        return kc_error_result(err);
    return kc__pods_node_renew_lease(node, err);
}

/* Runs a function for a node with a client that has a deadline. */
static int with_client(kc__pods_node *node, kc_cancel *cancel,
                       int (*what)(kc__pods_node *, kc_error *), kc_error *err)
{
    const kc_client_overrides bind = {.cancel = cancel,
                                      .deadline =
                                          kc_clock_deadline(node->nodes->clock, REQUEST_TIMEOUT),
                                      .field_manager = KC__CONTROLLERS_KUBELET,
                                      .act_as = node->act_as};
    kc_auto(kc_client) *client = kc_client_with(node->nodes->client, &bind);
    node->client = client;
    const int result = what(node, err);
    node->client = NULL;
    return result;
}

/* Spreads the due times of nodes over the period. */
static int64_t share_of_period(const kc__pods_node *node)
{
    const int64_t i = node - node->nodes->items;
    return PERIOD * (i + 1) / (int64_t)node->nodes->n;
}

static void keep_and_put_back(kc__pods_node_shard *shard, kc__pods_node *node)
{
    kc_scoped(kc_error) err = {0};
    const bool first = !node->uid;
    const bool ok = with_client(node, shard->stop, pods_nodes_retain, &err) == 0;
    if (!ok && !kc_cancel_fired(shard->stop))
        kc_log_warn(node->nodes->log, "failed to update node status or lease",
                    kc_kv("node", node->name), kc_kv("err", &err));
    kc_locked (&shard->mutex) {
        const int64_t now = kc_clock_now(node->nodes->clock);
        node->due = !ok     ? now + RETRY
                    : first ? now + share_of_period(node)
                            : KC_MAX(node->due + PERIOD, now);
        kc_heap_push(&shard->timers, &node->timer);
    }
}

static void wake_shard(kc_cancel_hook *hook)
{
    kc__pods_node_shard *shard = kc_container_of(hook, kc__pods_node_shard, hook);
    kc_locked (&shard->mutex) {
        shard->stopping = true;
        kc_cond_broadcast(&shard->wake);
    }
}

static void pods_nodes_leave(kc__pods_node_shard *shard)
{
    kc__pods_nodes *nodes = shard->nodes;
    for (size_t i = 0; i < nodes->n; i++) {
        kc_scoped(kc_error) err = {0};
        if (shard_of(&nodes->items[i]) == shard && nodes->items[i].uid &&
            with_client(&nodes->items[i], NULL, kc__pods_node_leave, &err) < 0)
            kc_log_warn(nodes->log, "failed to mark node as shutting down",
                        kc_kv("node", nodes->items[i].name), kc_kv("err", &err));
    }
}

static int pods_nodes_run(kc_cancel *stop, void *user, kc_error *err)
{
    (void)err;
    kc__pods_node_shard *shard = user;
    kc__pods_node *node;
    shard->hook.fire = wake_shard;
    shard->stop = stop;
    if (!kc_cancel_add_hook(stop, &shard->hook))
        return 0;
    while ((node = next_due(shard, shard->nodes->clock)))
        keep_and_put_back(shard, node);
    if (shard->nodes->report_stop)
        pods_nodes_leave(shard);
    kc_cancel_remove_hook(stop, &shard->hook);
    return 0;
}

/* ---- changes by others ---- */

static void node_deleted(const kc_change *change, void *user)
{
    kc__pods_node *node = kc__pods_nodes_find(user, kc_object_name(change->object));
    if (!node)
        return;
    kc__pods_node_shard *shard = shard_of(node);
    kc_locked (&shard->mutex) {
        if (!kc_heap_has(&node->timer))
            break;
        node->due = kc_clock_now(node->nodes->clock);
        kc_heap_fix(&shard->timers, &node->timer);
        kc_cond_signal(&shard->wake);
    }
}

static const kc_event_handler_ops listening = {.deleted = node_deleted};

/* ---- start and stop ---- */

static void identify_node(kc__pods_node *node, const kc_pods_opts *opts)
{
    static const char *const groups[] = {"system:nodes", NULL};
    node->user_name = kc_asprintf("system:node:%s", node->name);
    node->user = (kc_client_user){node->user_name, groups};
    node->act_as = opts->own_identity ? &node->user : NULL;
}

static void make_node(kc__pods_nodes *nodes, size_t i, const kc_pods_opts *opts)
{
    kc__pods_node *node = &nodes->items[i];
    node->nodes = nodes;
    node->name = kc_pods_node_name(opts, (int)i);
    identify_node(node, opts);
    if (opts->mode == KC_PODS_SIMULATE) {
        const size_t n = i + 1;
        snprintf(node->ip, sizeof(node->ip), "172.%u.%u.%u", 16 + (unsigned)(n >> 16 & 15),
                 (unsigned)(n >> 8 & 255), (unsigned)(n & 255));
    } else {
        snprintf(node->ip, sizeof(node->ip), "%s", "127.0.0.1");
    }
    kc_map_put(&nodes->by_name, kc_cstr(node->name), node);
    node->due = kc_clock_now(nodes->clock);
    kc_heap_push(&shard_of(node)->timers, &node->timer);
}

static int add_shards(kc__pods_nodes *nodes, kc_manager *manager, kc_error *err)
{
    for (size_t i = 0; i < nodes->n_shards; i++) {
        const kc_runnable keeper = {.name = "nodes",
                                    .group = KC_RUNNABLE_OTHERS,
                                    .run = pods_nodes_run,
                                    .user = &nodes->shards[i]};
        if (kc_manager_add(manager, &keeper, err) < 0)
            return kc_error_result(err);
    }
    return 0;
}

static void init_shards(kc__pods_nodes *nodes)
{
    nodes->n_shards = KC_MIN(1 + nodes->n / NODES_PER_SHARD, (size_t)KC__PODS_NODE_SHARDS);
    for (size_t i = 0; i < KC__PODS_NODE_SHARDS; i++) {
        kc__pods_node_shard *shard = &nodes->shards[i];
        shard->nodes = nodes;
        shard->timers.less = pods_nodes_earlier;
        kc_mutex_init(&shard->mutex);
        kc_cond_init(&shard->wake);
    }
}

/* Reported capacity for volumes and logs; not enforced. */
static int64_t storage_of(const kc_pods_opts *opts)
{
    struct statvfs about;
    if (opts->mode == KC_PODS_SIMULATE)
        return INT64_C(1) << 40;
    return statvfs(opts->dir ? opts->dir : "/", &about) == 0 || statvfs("/", &about) == 0
               ? (int64_t)about.f_blocks * (int64_t)about.f_frsize
               : 0;
}

kc__pods_nodes *kc__pods_nodes_new(kc_manager *manager, const kc_pods_opts *opts,
                                   const char *runtime_name, const char *runtime_version,
                                   kc_error *err)
{
    kc__pods_nodes *nodes = kc_new(kc__pods_nodes);
    nodes->client = kc_manager_live_client(manager);
    nodes->cache = kc_manager_cache(manager);
    nodes->clock = kc_manager_clock(manager);
    nodes->log = kc_log_child(kc_manager_log(manager), "nodes");
    nodes->runtime_name = runtime_name;
    nodes->runtime_version = runtime_version;
    nodes->cpu = opts->node_cpu;
    nodes->memory = opts->node_memory;
    nodes->storage = storage_of(opts);
    nodes->report_stop = opts->report_stop;
    nodes->pods = opts->node_pods;
    nodes->n = opts->mode == KC_PODS_SIMULATE ? (size_t)opts->nodes : 1;
    nodes->items = kc_calloc(nodes->n, sizeof(*nodes->items));
    kc_mutex_init(&nodes->mutex);
    init_shards(nodes);
    for (size_t i = 0; i < nodes->n; i++)
        make_node(nodes, i, opts);
    nodes->informer = kc_cache_informer(nodes->cache, &kc_kind_node, err);
    if (!nodes->informer || add_shards(nodes, manager, err) < 0)
        return kc__pods_nodes_free(nodes);
    nodes->listener = kc_informer_add_handler(nodes->informer, &listening, nodes, -1);
    return nodes;
}

kc__pods_nodes *kc__pods_nodes_free(kc__pods_nodes *nodes)
{
    if (!nodes)
        return NULL;
    kc_event_handler_remove(nodes->listener);
    if (nodes->informer)
        kc_informer_release(nodes->informer);
    for (size_t i = 0; i < nodes->n; i++) {
        kc_object_unref(nodes->items[i].lease);
        free(nodes->items[i].uid);
        free(nodes->items[i].user_name);
        free(nodes->items[i].name);
    }
    for (size_t i = 0; i < KC__PODS_NODE_SHARDS; i++) {
        kc_heap_done(&nodes->shards[i].timers);
        kc_cond_done(&nodes->shards[i].wake);
        kc_mutex_done(&nodes->shards[i].mutex);
    }
    kc_map_done(&nodes->by_name);
    kc_mutex_done(&nodes->mutex);
    kc_log_free(nodes->log);
    free(nodes->items);
    free(nodes);
    return NULL;
}
