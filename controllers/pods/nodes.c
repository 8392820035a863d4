/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nodes.c: the nodes of ours, one or thousands, and the few threads that keep them.
 *
 * Each node is due every ten seconds: it is registered if it is not, its status reported if that
 * is due, its lease renewed. Nodes are dealt out to shards, each with a thread and a heap of due
 * times, spread over the ten seconds. A Node that somebody deletes is due at once.
 *
 * Threads: a shard's thread is the only one that writes its nodes at the server. The informer's
 * thread only moves due times.
 */
#include "pods/nodes.h"

#include "kc/kinds.h"

#include <stdio.h>
#include <sys/statvfs.h>

#define PERIOD          (10 * KC_SECOND)
#define RETRY           KC_SECOND
#define PATIENCE        (10 * KC_SECOND) /* With the server: others of the shard are due too. */
#define NODES_PER_SHARD 1000

static bool earlier(const kc_heap_node *a, const kc_heap_node *b, void *user)
{
    (void)user;
    const kc__node *x = kc_container_of(a, const kc__node, timer);
    const kc__node *y = kc_container_of(b, const kc__node, timer);
    return x->due != y->due ? x->due < y->due : x < y;
}

kc__node *kc__nodes_find(const kc__nodes *nodes, kc_str name)
{
    return kc_map_get(&nodes->by_name, name);
}

kc_cluster_node *kc__node_get(const kc__node *node)
{
    return kc_cluster_node_lister_get(node->nodes->cache, KC_KEY("", node->name), NULL);
}

/* ---- keeping them ---- */

static kc__node_shard *shard_of(kc__node *node)
{
    kc__nodes *nodes = node->nodes;
    return &nodes->shards[(size_t)(node - nodes->items) % nodes->n_shards];
}

/* Waits for the next node that is due, and takes it out. NULL: it is over. */
static kc__node *next_due(kc__node_shard *shard, const kc_clock *clock)
{
    kc__node *node = NULL;
    kc_locked (&shard->mutex) {
        while (!shard->stopping) {
            kc_heap_node *first = kc_heap_peek(&shard->timers);
            const int64_t due = first ? kc_container_of(first, kc__node, timer)->due : KC_FOREVER;
            if (first && due <= kc_clock_now(clock)) {
                node = kc_container_of(kc_heap_pop(&shard->timers), kc__node, timer);
                break;
            }
            kc_cond_wait_until(&shard->wake, &shard->mutex, clock, due);
        }
    }
    return node;
}

static int keep(kc__node *node, kc_error *err)
{
    if (!node->uid && kc__node_register(node, err) < 0)
        return -1;
    if (kc__node_report(node, err) < 0)
        return -1;
    return kc__node_renew_lease(node, err);
}

/* Does something for a node with a client that does not wait for ever. */
static int with_client(kc__node *node, kc_cancel *cancel, int (*what)(kc__node *, kc_error *),
                       kc_error *err)
{
    const kc_client_bind bind = {.cancel = cancel,
                                 .deadline = kc_clock_deadline(node->nodes->clock, PATIENCE)};
    kc_auto(kc_client) *client = kc_client_with(node->nodes->client, &bind);
    node->client = client;
    const int result = what(node, err);
    node->client = NULL;
    return result;
}

/* Spreads nodes over the period, so that they are not all due at the same time. */
static int64_t share_of_period(const kc__node *node)
{
    const int64_t i = node - node->nodes->items;
    return PERIOD * (i + 1) / (int64_t)node->nodes->n;
}

static void keep_and_put_back(kc__node_shard *shard, kc__node *node)
{
    kc_scoped(kc_error) err = {0};
    const bool first = !node->uid;
    const bool ok = with_client(node, shard->stop, keep, &err) == 0;
    if (!ok && !kc_cancel_fired(shard->stop))
        kc_log_warn(node->nodes->log, "cannot keep a node", kc_kv("node", node->name),
                    kc_kv("err", &err));
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
    kc__node_shard *shard = kc_container_of(hook, kc__node_shard, hook);
    kc_locked (&shard->mutex) {
        shard->stopping = true;
        kc_cond_broadcast(&shard->wake);
    }
}

static void leave(kc__node_shard *shard)
{
    kc__nodes *nodes = shard->nodes;
    for (size_t i = 0; i < nodes->n; i++) {
        kc_scoped(kc_error) err = {0};
        if (shard_of(&nodes->items[i]) == shard && nodes->items[i].uid &&
            with_client(&nodes->items[i], NULL, kc__node_leave, &err) < 0)
            kc_log_warn(nodes->log, "cannot say that a node leaves",
                        kc_kv("node", nodes->items[i].name), kc_kv("err", &err));
    }
}

static int run(kc_cancel *stop, void *user, kc_error *err)
{
    (void)err;
    kc__node_shard *shard = user;
    kc__node *node;
    shard->hook.fire = wake_shard;
    shard->stop = stop;
    if (!kc_cancel_hang(stop, &shard->hook))
        return 0;
    while ((node = next_due(shard, shard->nodes->clock)))
        keep_and_put_back(shard, node);
    if (shard->nodes->say_goodbye)
        leave(shard);
    kc_cancel_unhang(stop, &shard->hook);
    return 0;
}

/* ---- what others do to them ---- */

static void node_deleted(const kc_change *change, void *user)
{
    kc__node *node = kc__nodes_find(user, kc_object_name(change->object));
    if (!node)
        return;
    kc__node_shard *shard = shard_of(node);
    kc_locked (&shard->mutex) {
        if (!kc_heap_has(&node->timer))
            break;
        node->due = kc_clock_now(node->nodes->clock);
        kc_heap_fix(&shard->timers, &node->timer);
        kc_cond_signal(&shard->wake);
    }
}

static const kc_listener_ops listening = {.deleted = node_deleted};

/* ---- life ---- */

static void make_node(kc__nodes *nodes, size_t i, const kc_pods_opts *opts)
{
    kc__node *node = &nodes->items[i];
    node->nodes = nodes;
    node->name = kc_pods_node_name(opts, (int)i);
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

static int add_shards(kc__nodes *nodes, kc_manager *manager, kc_error *err)
{
    for (size_t i = 0; i < nodes->n_shards; i++) {
        const kc_runnable keeper = {
            .name = "nodes", .group = KC_GROUP_OTHERS, .run = run, .user = &nodes->shards[i]};
        if (kc_manager_add(manager, &keeper, err) < 0)
            return -1;
    }
    return 0;
}

static void init_shards(kc__nodes *nodes)
{
    nodes->n_shards = KC_MIN(1 + nodes->n / NODES_PER_SHARD, (size_t)KC__NODE_SHARDS);
    for (size_t i = 0; i < KC__NODE_SHARDS; i++) {
        kc__node_shard *shard = &nodes->shards[i];
        shard->nodes = nodes;
        shard->timers.less = earlier;
        kc_mutex_init(&shard->mutex);
        kc_cond_init(&shard->wake);
    }
}

/* Of volumes and logs; nobody counts it. */
static int64_t storage_of(const kc_pods_opts *opts)
{
    struct statvfs about;
    if (opts->mode == KC_PODS_SIMULATE)
        return INT64_C(1) << 40;
    return statvfs(opts->folder ? opts->folder : "/", &about) == 0 || statvfs("/", &about) == 0
               ? (int64_t)about.f_blocks * (int64_t)about.f_frsize
               : 0;
}

kc__nodes *kc__nodes_new(kc_manager *manager, const kc_pods_opts *opts, const char *runtime_name,
                         const char *runtime_version, kc_error *err)
{
    kc__nodes *nodes = kc_new(kc__nodes);
    nodes->client = kc_manager_live_client(manager);
    nodes->cache = kc_manager_cache(manager);
    nodes->clock = kc_manager_clock(manager);
    nodes->log = kc_log_child(kc_manager_log(manager), "nodes");
    nodes->runtime_name = runtime_name;
    nodes->runtime_version = runtime_version;
    nodes->cpu = opts->node_cpu;
    nodes->memory = opts->node_memory;
    nodes->storage = storage_of(opts);
    nodes->say_goodbye = opts->say_goodbye;
    nodes->pods = opts->node_pods;
    nodes->n = opts->mode == KC_PODS_SIMULATE ? (size_t)opts->nodes : 1;
    nodes->items = kc_calloc(nodes->n, sizeof(*nodes->items));
    kc_mutex_init(&nodes->mutex);
    init_shards(nodes);
    for (size_t i = 0; i < nodes->n; i++)
        make_node(nodes, i, opts);
    nodes->informer = kc_cache_informer(nodes->cache, &kc_kind_node, err);
    if (!nodes->informer || add_shards(nodes, manager, err) < 0)
        return kc__nodes_free(nodes);
    nodes->listener = kc_informer_listen(nodes->informer, &listening, nodes, -1);
    return nodes;
}

kc__nodes *kc__nodes_free(kc__nodes *nodes)
{
    if (!nodes)
        return NULL;
    kc_listener_remove(nodes->listener);
    if (nodes->informer)
        kc_informer_release(nodes->informer);
    for (size_t i = 0; i < nodes->n; i++) {
        kc_object_unref(nodes->items[i].lease);
        free(nodes->items[i].uid);
        free(nodes->items[i].name);
    }
    for (size_t i = 0; i < KC__NODE_SHARDS; i++) {
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
