/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_lifecycle.c: detects lost nodes, marks them and evicts their pods.
 *
 *     heartbeats ──▶ nodes.c: time of the last heartbeat
 *                       │ grace period is over
 *                       ▼
 *     status: Ready Unknown ──▶ taint NoSchedule ──▶ its pods: not ready
 *                       │ rate limiter of its zone (zones.c)
 *                       ▼
 *     taint NoExecute ──▶ taint_eviction.c: deletes pods that do not tolerate it
 *
 * A node is reconciled when it changes in a relevant way, when its grace period ends, or when its
 * zone allows its eviction. Each reconcile does what is still missing, from the state of the server
 * and of the table; so a crash at any point is repaired by the next reconcile. Only the table is
 * lost with the process: then every node gets a full grace period again.
 */
#include "internal.h"

#include "nodelifecycle/lifecycle.h"

#include "kc/kinds.h"

#define COMPONENT "node-controller"

/* ---- health ---- */

static bool lifecycle_controller_is_ready(const kc_cluster_node *node)
{
    const kc_node_condition *ready = kc__lifecycle_node_condition(node, "Ready");
    return ready && !strcmp(ready->status, "True");
}

/* The grace period is over. 1: status written; 0: it is Unknown already. */
static int lose(kc_context *ctx, kc_cluster_node *node, kc_error *err)
{
    kc__lifecycle_controller *l = ctx->user;
    if (!kc__lifecycle_node_mark_lost(node, kc_clock_wall(ctx->clock)))
        return 0;
    kc_log_info(ctx->log, "Node hasn't been updated");
    if (kc_cluster_node_update_status(ctx->client, node, err) < 0)
        return kc_error_result(err);
    kc__lifecycle_nodes_observe(&l->nodes, node->metadata.origin);
    return 1;
}

/* ---- taints ---- */

/* Selects the NoExecute taint that the node gets now. */
static const char *no_execute(kc__lifecycle_controller *l, const kc_cluster_node *node)
{
    const kc_node_condition *ready = kc__lifecycle_node_condition(node, "Ready");
    const kc_str name = kc_cstr(node->metadata.name);
    if (!ready || !strcmp(ready->status, "True")) {
        kc__lifecycle_nodes_leave_queue(&l->nodes, name);
        return NULL;
    }
    const bool has =
        kc__lifecycle_has_taint(node, KC__LIFECYCLE_NOT_READY, KC__LIFECYCLE_NO_EXECUTE) ||
        kc__lifecycle_has_taint(node, KC__LIFECYCLE_UNREACHABLE, KC__LIFECYCLE_NO_EXECUTE);
    if (kc__lifecycle_nodes_may_evict(&l->nodes, name, has) != KC__LIFECYCLE_EVICT_NOW)
        return NULL;
    return !strcmp(ready->status, "False") ? KC__LIFECYCLE_NOT_READY : KC__LIFECYCLE_UNREACHABLE;
}

static int repair_node(kc_context *ctx, kc_cluster_node *node, kc_error *err)
{
    kc__lifecycle_controller *l = ctx->user;
    const char *evicting = no_execute(l, node);
    const bool taints = kc__lifecycle_node_set_taints(node, evicting, kc_clock_wall(ctx->clock));
    const bool labels = kc__lifecycle_node_set_labels(node);
    if (!taints && !labels)
        return 0;
    if (kc_cluster_node_update(ctx->client, node, err) < 0)
        return kc_error_result(err);
    kc__lifecycle_nodes_observe(&l->nodes, node->metadata.origin);
    return 0;
}

/* ---- events ---- */

static void lifecycle_controller_notify(kc_context *ctx, const kc_cluster_node *node,
                                        const kc__lifecycle_node_change *change)
{
    const char *name = node->metadata.name;
    if (change->is_new)
        kc_recorder_event(ctx->recorder, node->metadata.origin, KC_EVENT_TYPE_NORMAL,
                          "RegisteredNode", "Node %s event: Registered Node %s in Controller", name,
                          name);
    if (change->went_down)
        kc_recorder_event(ctx->recorder, node->metadata.origin, KC_EVENT_TYPE_NORMAL,
                          "NodeNotReady", "Node %s status is now: NodeNotReady", name);
}

/* ---- reconcile ---- */

/* Conflict with another writer: requeue. */
static kc_result lifecycle_controller_later(kc__lifecycle_controller *l, kc_str name,
                                            const kc__lifecycle_node_change *change, kc_error *err)
{
    if (change->pods_pending)
        kc__lifecycle_nodes_redo_pods(&l->nodes, name);
    if (kc_is_conflict(err)) {
        kc_error_done(err);
        return kc_requeue();
    }
    return kc_done_if_not_found(err);
}

static kc_result lifecycle_controller_inspect(kc_context *ctx, kc_cluster_node *node, kc_error *err)
{
    kc__lifecycle_controller *l = ctx->user;
    const kc_str name = kc_cstr(node->metadata.name);
    kc__lifecycle_node_change change;
    if (!kc__lifecycle_nodes_check(&l->nodes, name, &change))
        return kc_done();
    lifecycle_controller_notify(ctx, node, &change);
    const int lost = change.left <= 0 ? lose(ctx, node, err) : 0;
    if (lost < 0)
        return lifecycle_controller_later(l, name, &change, err);
    if (lost) {
        const bool pending = change.pods_pending;
        kc__lifecycle_nodes_check(&l->nodes, name, &change);
        change.pods_pending |= pending;
        lifecycle_controller_notify(ctx, node, &change);
    }
    if (repair_node(ctx, node, err) < 0)
        return lifecycle_controller_later(l, name, &change, err);
    if (change.pods_pending && !lifecycle_controller_is_ready(node) &&
        kc__lifecycle_mark_pods_not_ready(ctx, name, err) < 0)
        return lifecycle_controller_later(l, name, &change, err);
    return kc_requeue_after(change.left);
}

static kc_result lifecycle_controller_reconcile(kc_context *ctx, const kc_request *request,
                                                kc_error *err)
{
    kc__lifecycle_controller *l = ctx->user;
    const int64_t start = kc_clock_now(ctx->clock);
    kc_auto(kc_cluster_node) *node = kc_cluster_node_get(ctx->client, request->key, err);
    if (!node)
        return kc_done_if_not_found(err);
    const kc_result result = lifecycle_controller_inspect(ctx, node, err);
    kc_histogram_observe_duration(l->duration, kc_clock_now(ctx->clock) - start);
    return result;
}

/* ---- setup ---- */

static int lifecycle_controller_register_metrics(kc__lifecycle_controller *l, kc_metrics *metrics,
                                                 kc_error *err)
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
        return kc_error_result(err);
    l->duration = kc_metric_histogram(duration);
    return kc__lifecycle_nodes_metrics(&l->nodes, metrics, err);
}

static void lifecycle_free(void *state)
{
    kc__lifecycle_controller *l = state;
    kc__lifecycle_nodes_done(&l->nodes);
    free(l);
}

int kc__lifecycle_setup(kc_manager *manager, const kc_controllers_opts *opts, kc_error *err)
{
    kc__lifecycle_controller *l = kc_new(kc__lifecycle_controller);
    l->cache = kc_manager_cache(manager);
    l->recorder = kc_recorder_with_component(kc_manager_recorder(manager), COMPONENT,
                                             KC__CONTROLLERS_MANAGER);
    kc__lifecycle_nodes_init(&l->nodes, kc_manager_clock(manager), kc_manager_log(manager),
                             opts->node_grace);
    kc_manager_defer(manager, l, lifecycle_free);
    if (lifecycle_controller_register_metrics(l, kc_manager_metrics(manager), err) < 0 ||
        kc__lifecycle_taint_eviction_setup(manager, opts, err) < 0)
        return kc_error_result(err);
    kc_controller *made =
        kc_controller_new(manager,
                          &(kc_controller_opts){
                              .name = "node_lifecycle_controller",
                              .field_manager = KC__CONTROLLERS_MANAGER,
                              .component = COMPONENT,
                              .sources = KC_SOURCES(kc__lifecycle_node_watch(l)),
                              .reconcile = lifecycle_controller_reconcile,
                              .user = l,
                              .act_as = kc__common_identity(opts, KC__COMMON_NODE),
                              .workers = opts->workers,
                          },
                          err);
    return made ? 0 : kc_error_result(err);
}
