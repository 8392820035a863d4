/* SPDX-License-Identifier: Apache-2.0 */
/*
 * taint_eviction.c: deletes pods that do not tolerate a NoExecute taint of their node: at once, or
 * after their tolerationSeconds. Admission gives pods 300 seconds for not-ready and unreachable. If
 * the taint is removed earlier, the deletion is cancelled.
 *
 * Keys are nodes. A reconcile goes over the pods of one node, only if the node has such a taint,
 * and requeues the key for the first pod that is due. The table records since when each pod is
 * scheduled for deletion, by uid; only one worker has a node's key at a time, so only that worker
 * uses the entries of its pods. The table is lost with the process: tolerationSeconds then start
 * again.
 */
#include "nodelifecycle/lifecycle.h"

#include "common/disruption.h"
#include "common/indexes.h"
#include "common/taints.h"
#include "internal.h"

#include "kc/kinds.h"
#include "kc/view.h"

/* A pod scheduled for deletion. */
typedef struct threat {
    char *uid;
    int64_t since;
    bool there; /* Seen by the current reconcile. */
} threat;

/* A node with pods scheduled for deletion. */
typedef struct tainted {
    char *node;
    kc_map threats; /* By uid. */
} tainted;

typedef struct evictor {
    kc_counter *deletions;
    kc_histogram *latency;
    kc_mutex mutex; /* Guards nodes. */
    kc_map nodes;   /* To tainted. */
} evictor;

/* ---- table ---- */

static void threat_free(threat *t)
{
    free(t->uid);
    free(t);
}

static void tainted_free(tainted *t)
{
    kc_map_each (&t->threats, entry)
        threat_free(entry->value);
    kc_map_done(&t->threats);
    free(t->node);
    free(t);
}

/* Used only by the worker that has the node's key. Never NULL. */
static tainted *take_tainted(evictor *e, kc_str node)
{
    tainted *t = NULL;
    kc_locked (&e->mutex) {
        t = kc_map_get(&e->nodes, node);
        if (t)
            break;
        t = kc_new(tainted);
        t->node = kc_str_dup(node);
        kc_map_put(&e->nodes, kc_cstr(t->node), t);
    }
    return t;
}

/* Removes entries that the current reconcile has not seen. */
static void put_tainted(evictor *e, tainted *t)
{
    kc_map_each (&t->threats, entry) {
        threat *one = entry->value;
        if (one->there) {
            one->there = false;
            continue;
        }
        kc_map_remove(&t->threats, entry->key);
        threat_free(one);
    }
    if (t->threats.n)
        return;
    kc_locked (&e->mutex)
        kc_map_remove(&e->nodes, kc_cstr(t->node));
    tainted_free(t);
}

static threat *need_threat(tainted *t, const kc_pod *pod, int64_t now)
{
    threat *one = kc_map_get(&t->threats, kc_cstr(pod->metadata.uid));
    if (one)
        return one;
    one = kc_new(threat);
    one->uid = kc_strdup(pod->metadata.uid);
    one->since = now;
    kc_map_put(&t->threats, kc_cstr(one->uid), one);
    return one;
}

/* ---- one pod ---- */

/* Seconds for which a pod tolerates all NoExecute taints of a node; -1: forever. */
static int64_t tolerated_for(const kc_pod *pod, const kc_cluster_node *node)
{
    int64_t shortest = -1;
    for (size_t i = 0; i < node->spec.n_taints; i++) {
        const kc_taint *taint = &node->spec.taints[i];
        if (strcmp(taint->effect, KC__LIFECYCLE_NO_EXECUTE) != 0)
            continue;
        const kc_toleration *t = kc__common_find_toleration(pod, taint);
        if (!t)
            return 0;
        if (!t->toleration_seconds)
            continue;
        const int64_t seconds = KC_MAX(0, *t->toleration_seconds);
        shortest = shortest < 0 ? seconds : KC_MIN(shortest, seconds);
    }
    return shortest;
}

static void lifecycle_taint_eviction_report(kc_context *ctx, const kc_pod *pod, const char *what)
{
    kc_recorder_event(ctx->recorder, pod->metadata.origin, KC_EVENT_TYPE_NORMAL,
                      "TaintManagerEviction", "%s %s/%s", what, pod->metadata.ns,
                      pod->metadata.name);
}

static int lifecycle_taint_eviction_evict(kc_context *ctx, const kc_pod *pod, int64_t due,
                                          kc_error *err)
{
    static const kc__common_disruption how = {.reason = "DeletionByTaintManager",
                                              .message =
                                                  "Taint manager: deleting due to NoExecute taint"};
    const evictor *e = ctx->user;
    if (kc__common_evict_pod(ctx->client, pod->metadata.origin, &how, err) < 0)
        return kc_error_result(err);
    lifecycle_taint_eviction_report(ctx, pod, "Marking for deletion Pod");
    kc_counter_inc(e->deletions);
    kc_histogram_observe_duration(e->latency, kc_clock_now(ctx->clock) - due);
    return 0;
}

/* One reconcile of a node. */
typedef struct round {
    kc_context *ctx;
    tainted *tainted;
    const kc_cluster_node *node;
    int64_t now, next; /* Time at which the next pod is due; KC_FOREVER: none. */
} round;

static int lifecycle_taint_eviction_inspect(round *r, const kc_pod *pod, kc_error *err)
{
    threat *known = kc_map_get(&r->tainted->threats, kc_cstr(pod->metadata.uid));
    if (pod->metadata.deletion_timestamp.at)
        return 0;
    const int64_t seconds = tolerated_for(pod, r->node);
    if (seconds < 0) {
        if (known)
            lifecycle_taint_eviction_report(r->ctx, pod, "Cancelling deletion of Pod");
        return 0;
    }
    threat *one = need_threat(r->tainted, pod, r->now);
    one->there = true;
    /* The sum may overflow: tolerationSeconds can be any number. */
    const bool for_ever = seconds > (KC_FOREVER - one->since) / KC_SECOND;
    const int64_t due = for_ever ? KC_FOREVER : one->since + seconds * KC_SECOND;
    if (due <= r->now) {
        one->there = false;
        if (lifecycle_taint_eviction_evict(r->ctx, pod, due, err) == 0)
            return 0;
        one->there = true;
        return kc_error_result(err);
    }
    r->next = KC_MIN(r->next, due);
    return 0;
}

/* ---- one node ---- */

static bool has_no_execute(const kc_cluster_node *node)
{
    for (size_t i = 0; i < node->spec.n_taints; i++)
        if (!strcmp(node->spec.taints[i].effect, KC__LIFECYCLE_NO_EXECUTE))
            return true;
    return false;
}

static int check_all_pods(round *r, kc_error *err)
{
    kc_scoped(kc_pod_list) pods = {0};
    if (!r->tainted->threats.n && !has_no_execute(r->node))
        return 0;
    int result = kc_pod_lister_list(
        r->ctx->cache,
        &(kc_list_opts){.index = KC__COMMON_INDEX_NODE, .value = r->node->metadata.name}, &pods,
        err);
    for (size_t i = 0; i < pods.n; i++)
        if (lifecycle_taint_eviction_inspect(r, pods.items[i], err) < 0)
            result = kc_error_result(err);
    return result;
}

static kc_result lifecycle_taint_eviction_reconcile(kc_context *ctx, const kc_request *request,
                                                    kc_error *err)
{
    kc_auto(kc_cluster_node) *node = kc_cluster_node_get(ctx->client, request->key, err);
    if (!node && !kc_is_not_found(err))
        return kc_retry(err);
    round r = {ctx, take_tainted(ctx->user, request->key.name), node, kc_clock_now(ctx->clock),
               KC_FOREVER};
    const int looked = node ? check_all_pods(&r, err) : 0;
    put_tainted(ctx->user, r.tainted);
    if (looked < 0)
        return kc_is_conflict(err) ? kc_requeue() : kc_retry(err);
    kc_error_done(err);
    return r.next == KC_FOREVER ? kc_done() : kc_requeue_after(r.next - r.now);
}

/* ---- keys ---- */

static bool evicts(const kc_value *taint)
{
    return kc_str_is(kc_value_as_str(kc_value_get(taint, "effect")), KC__LIFECYCLE_NO_EXECUTE);
}

static uint64_t hash_of_taints(const kc_object *node)
{
    uint64_t hash = 0;
    kc_auto(kc_view) *view = kc_view_of(node);
    kc_value_each_item (kc_value_nested(kc_view_root(view), "spec.taints"), taint)
        if (evicts(taint)) {
            hash = kc_str_hash(kc_value_as_str(kc_value_get(taint, "key")), hash + 1);
            hash = kc_str_hash(kc_value_as_str(kc_value_get(taint, "value")), hash);
        }
    return hash;
}

static bool taints_change(kc_change_type type, const kc_change *change, void *user)
{
    (void)user;
    return type != KC_CHANGE_UPDATE ||
           hash_of_taints(change->old) != hash_of_taints(change->object);
}

/* Hash of the pod's node and tolerations. */
static uint64_t hash_of_pod(const kc_object *pod)
{
    kc_auto(kc_view) *view = kc_view_of(pod);
    const kc_value *spec = kc_value_get(kc_view_root(view), "spec");
    uint64_t hash = kc_str_hash(kc_value_as_str(kc_value_get(spec, "nodeName")), 1);
    kc_value_each_item (kc_value_get(spec, "tolerations"), t)
        kc_value_each_member (t, name, value) {
            hash = kc_str_hash(name, hash);
            hash =
                kc_str_hash(kc_value_as_str(value), hash) + (uint64_t)kc_value_as_i64_or(value, 0);
        }
    return hash;
}

static bool pod_changes(kc_change_type type, const kc_change *change, void *user)
{
    (void)user;
    return type == KC_CHANGE_CREATE ||
           (type == KC_CHANGE_UPDATE && hash_of_pod(change->old) != hash_of_pod(change->object));
}

/* ---- setup ---- */

/* Called when this process becomes the leader and when it stops. */
static void forget_all(void *state)
{
    evictor *e = state;
    kc_map_each (&e->nodes, entry)
        tainted_free(entry->value);
    kc_map_done(&e->nodes);
    e->nodes = (kc_map){0};
}

static void evictor_free(void *state)
{
    evictor *e = state;
    forget_all(e);
    kc_mutex_done(&e->mutex);
    free(e);
}

static int lifecycle_taint_eviction_add_metrics(evictor *e, kc_metrics *metrics, kc_error *err)
{
    static const double buckets[] = {0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 30, 60, 120, 180, 240};
    kc_metric *deletions = kc_metrics_counter(
        metrics,
        &(kc_metric_opts){.name = "taint_eviction_controller_pod_deletions_total",
                          .help = "Total number of Pods deleted by TaintEvictionController since "
                                  "its start."},
        err);
    kc_metric *latency = kc_metrics_histogram(
        metrics,
        &(kc_metric_opts){.name = "taint_eviction_controller_pod_deletion_duration_seconds",
                          .help = "Latency, in seconds, between the time when a taint effect has "
                                  "been activated for the Pod and its deletion via "
                                  "TaintEvictionController.",
                          .buckets = buckets,
                          .n_buckets = KC_COUNT(buckets)},
        err);
    if (!deletions || !latency)
        return kc_error_result(err);
    e->deletions = kc_metric_counter(deletions);
    e->latency = kc_metric_histogram(latency);
    return 0;
}

int kc__lifecycle_taint_eviction_setup(kc_manager *manager, const kc_controllers_opts *opts,
                                       kc_error *err)
{
    evictor *e = kc_new(evictor);
    kc_mutex_init(&e->mutex);
    kc_manager_defer(manager, e, evictor_free);
    if (lifecycle_taint_eviction_add_metrics(e, kc_manager_metrics(manager), err) < 0)
        return kc_error_result(err);
    kc_controller *made = kc_controller_new(
        manager,
        &(kc_controller_opts){
            .name = "noexec_taint_node",
            .field_manager = KC__CONTROLLERS_MANAGER,
            .component = "taint-eviction-controller",
            .watches = KC_WATCHES(
                {.kind = &kc_kind_node, .predicate = kc_predicate_new(taints_change, NULL)},
                {.kind = &kc_kind_pod,
                 .map = kc__common_node_of_pod,
                 .predicate = kc_predicate_new(pod_changes, NULL)}),
            .on_start = forget_all,
            .reconcile = lifecycle_taint_eviction_reconcile,
            .user = e,
            .act_as = kc__common_identity(opts, KC__COMMON_NODE),
            .workers = opts->workers,
        },
        err);
    return made ? 0 : kc_error_result(err);
}
