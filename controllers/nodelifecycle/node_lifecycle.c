/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_lifecycle.c: notices nodes that are lost, says so, and drives their pods away.
 *
 *     heartbeats ──▶ nodes.c: when was it heard of?
 *                       │ too long ago
 *                       ▼
 *     status: Ready Unknown ──▶ taint NoSchedule ──▶ its pods: not ready
 *                       │ its turn in its zone (zones.c)
 *                       ▼
 *     taint NoExecute ──▶ taint_eviction.c: pods that do not tolerate it are deleted
 *
 * A key is looked at when its node changes in a way that matters, when its time is up, or when it
 * is its turn. Each look does what is still to be done and no more, from what the server has and
 * the table knows; so a crash anywhere is made good by the next look. Only the table is lost with
 * the process: every node then has its grace anew.
 */
#include "internal.h"

#include "nodelifecycle/lifecycle.h"

#include "kc/kinds.h"

#define COMPONENT "node-controller"

/* ---- health ---- */

static bool is_ready(const kc_cluster_node *node)
{
    const kc_node_condition *ready = kc__node_condition(node, "Ready");
    return ready && !strcmp(ready->status, "True");
}

/* Nothing of it was heard for too long. 1: written; 0: it says so already. */
static int lose(kc_context *ctx, kc_cluster_node *node, kc_error *err)
{
    kc__lifecycle *l = ctx->user;
    if (!kc__node_lose(node, kc_clock_wall(ctx->clock)))
        return 0;
    kc_log_info(ctx->log, "Node hasn't been updated");
    if (kc_cluster_node_update_status(ctx->client, node, err) < 0)
        return -1;
    kc__nodes_see(&l->nodes, node->metadata.origin);
    return 1;
}

/* ---- taints ---- */

/* Which of the two taints that drive pods away it gets now. */
static const char *no_execute(kc__lifecycle *l, const kc_cluster_node *node)
{
    const kc_node_condition *ready = kc__node_condition(node, "Ready");
    const kc_str name = kc_cstr(node->metadata.name);
    if (!ready || !strcmp(ready->status, "True")) {
        kc__nodes_leave_turn(&l->nodes, name);
        return NULL;
    }
    const bool has = kc__has_taint(node, KC__NOT_READY, KC__NO_EXECUTE) ||
                     kc__has_taint(node, KC__UNREACHABLE, KC__NO_EXECUTE);
    if (kc__nodes_may_evict(&l->nodes, name, has) != KC__EVICT_NOW)
        return NULL;
    return !strcmp(ready->status, "False") ? KC__NOT_READY : KC__UNREACHABLE;
}

static int mend(kc_context *ctx, kc_cluster_node *node, kc_error *err)
{
    kc__lifecycle *l = ctx->user;
    const char *evicting = no_execute(l, node);
    const bool taints = kc__node_set_taints(node, evicting, kc_clock_wall(ctx->clock));
    const bool labels = kc__node_set_labels(node);
    if (!taints && !labels)
        return 0;
    if (kc_cluster_node_update(ctx->client, node, err) < 0)
        return -1;
    kc__nodes_see(&l->nodes, node->metadata.origin);
    return 0;
}

/* ---- telling ---- */

static void tell(kc_context *ctx, const kc_cluster_node *node, const kc__node_news *news)
{
    const char *name = node->metadata.name;
    if (news->is_new)
        kc_event(ctx->recorder, node->metadata.origin, KC_NORMAL, "RegisteredNode",
                 "Node %s event: Registered Node %s in Controller", name, name);
    if (news->went_down)
        kc_event(ctx->recorder, node->metadata.origin, KC_NORMAL, "NodeNotReady",
                 "Node %s status is now: NodeNotReady", name);
}

/* ---- all of it ---- */

/* Somebody wrote at the same time: the next look sees it. */
static kc_result later(kc__lifecycle *l, kc_str name, const kc__node_news *news, kc_error *err)
{
    if (news->pods_pending)
        kc__nodes_redo_pods(&l->nodes, name);
    if (kc_is_conflict(err)) {
        kc_error_done(err);
        return kc_again();
    }
    return kc_done_if_not_found(err);
}

static kc_result look(kc_context *ctx, kc_cluster_node *node, kc_error *err)
{
    kc__lifecycle *l = ctx->user;
    const kc_str name = kc_cstr(node->metadata.name);
    kc__node_news news;
    if (!kc__nodes_look(&l->nodes, name, &news))
        return kc_done();
    tell(ctx, node, &news);
    const int lost = news.left <= 0 ? lose(ctx, node, err) : 0;
    if (lost < 0)
        return later(l, name, &news, err);
    if (lost) {
        const bool pending = news.pods_pending;
        kc__nodes_look(&l->nodes, name, &news);
        news.pods_pending |= pending;
        tell(ctx, node, &news);
    }
    if (mend(ctx, node, err) < 0)
        return later(l, name, &news, err);
    if (news.pods_pending && !is_ready(node) && kc__mark_pods_not_ready(ctx, name, err) < 0)
        return later(l, name, &news, err);
    return kc_again_after(news.left);
}

static kc_result reconcile(kc_context *ctx, const kc_request *request, kc_error *err)
{
    kc__lifecycle *l = ctx->user;
    const int64_t start = kc_clock_now(ctx->clock);
    kc_auto(kc_cluster_node) *node = kc_cluster_node_get(ctx->client, request->key, err);
    if (!node)
        return kc_done_if_not_found(err);
    const kc_result result = look(ctx, node, err);
    kc_histogram_observe_duration(l->duration, kc_clock_now(ctx->clock) - start);
    return result;
}

/* ---- setting up ---- */

static int register_metrics(kc__lifecycle *l, kc_metrics *metrics, kc_error *err)
{
    double buckets[8];
    kc_buckets_exponential(0.001, 4, KC_COUNT(buckets), buckets);
    kc_metric *duration = kc_metrics_histogram(
        metrics,
        &(kc_metric_opts){.name = "node_collector_update_node_health_duration_seconds",
                          .help = "Duration in seconds for NodeController to update the health of "
                                  "a single node.",
                          .buckets = buckets,
                          .n_buckets = KC_COUNT(buckets)},
        err);
    if (!duration)
        return -1;
    l->duration = kc_histogram_of(duration);
    return kc__nodes_metrics(&l->nodes, metrics, err);
}

static void lifecycle_free(void *state)
{
    kc__lifecycle *l = state;
    kc__nodes_done(&l->nodes);
    free(l);
}

int kc__node_lifecycle_setup(kc_manager *manager, const kc_controllers_opts *opts, kc_error *err)
{
    kc__lifecycle *l = kc_new(kc__lifecycle);
    l->cache = kc_manager_cache(manager);
    l->recorder = kc_recorder_as(kc_manager_recorder(manager), COMPONENT);
    kc__nodes_init(&l->nodes, kc_manager_clock(manager), kc_manager_log(manager), opts->node_grace);
    kc_manager_keep(manager, l, lifecycle_free);
    if (register_metrics(l, kc_manager_metrics(manager), err) < 0 ||
        kc__taint_eviction_setup(manager, opts->workers, err) < 0)
        return -1;
    kc_controller *made = kc_controller_new(manager,
                                            &(kc_controller_opts){
                                                .name = "node_lifecycle_controller",
                                                .component = COMPONENT,
                                                .sources = KC_SOURCES(kc__node_watch(l)),
                                                .reconcile = reconcile,
                                                .user = l,
                                                .workers = opts->workers,
                                            },
                                            err);
    return made ? 0 : -1;
}
