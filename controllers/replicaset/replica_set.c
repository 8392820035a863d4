/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replica_set.c: the ReplicaSet controller: keeps the desired number of pods of a template running.
 *
 *     a ReplicaSet, one of its pods, or an orphan that it selects has changed
 *       ─▶ list its pods from the cache (replicas.c)
 *       ─▶ create or delete pods (scale.c)
 *       ─▶ update status (status.c)
 *
 * The controller keeps no state between calls except for writes of unknown outcome
 * (expectations.c). Kubernetes' expectations, which keep a controller from acting on a list that
 * does not show its latest writes, are not needed otherwise: the cache provides read-your-writes.
 *
 * One worker reconciles a ReplicaSet at a time; several ReplicaSets are reconciled concurrently.
 */
#include "replicaset/replica_set.h"

#include "common/adoption.h"
#include "common/indexes.h"
#include "internal.h"

#include "kc/controller.h"

/* ---- map functions ---- */

static void sets_of_pod(const kc_object *pod, kc_enqueuer *to, void *user)
{
    const kc__rs_controller *c = user;
    kc__common_enqueue_claimants(c->cache, c->sets, pod, to);
}

/* ---- one ReplicaSet ---- */

static void kc__rs_call_done(kc__rs_call *call)
{
    free(call->active);
    kc_object_list_done(&call->pods);
    kc_selector_free(call->selector);
    kc_replica_set_free(call->rs);
}

static int read_set(kc__rs_call *call, kc_error *err)
{
    call->rs = kc_replica_set_of(call->object, err);
    if (!call->rs)
        return kc_error_result(err);
    call->wanted = call->rs->spec.replicas ? *call->rs->spec.replicas : 1;
    call->min_ready = call->rs->spec.min_ready_seconds * KC_SECOND;
    call->selector = kc__common_selector_in(call->object, err);
    return call->selector ? 0 : kc_error_result(err);
}

static kc_result rs_controller_inspect(kc__rs_call *call, kc_error *err)
{
    kc_scoped(kc_error) failure = {0};
    bool more = false;
    if (kc__rs_find_replicas(call, err) < 0)
        return kc_retry(err);
    if (!kc_object_being_deleted(call->object))
        kc__rs_scale(call, &more, &failure);
    const bool next = !more && call->n_changed;
    if (kc__rs_write_status(call, next, &failure, err) < 0)
        return kc_retry(err);
    if (failure.reason) {
        kc_error_move(err, &failure);
        return kc_retry(err);
    }
    /* The watch will report the created or deleted pods, but there is no need to wait for it. */
    return more ? kc_requeue_after(KC_MILLISECOND) : kc_requeue_after(kc__rs_requeue_after(call));
}

static kc_result rs_controller_reconcile(kc_context *ctx, const kc_request *request, kc_error *err)
{
    kc__rs_controller *c = ctx->user;
    kc_auto(kc_object) *object =
        kc_client_get(ctx->client, &kc_kind_replica_set, request->key, NULL, err);
    if (!object) {
        kc__rs_expectations_remove(&c->expectations, request->key);
        return kc_done_if_not_found(err);
    }
    kc_scoped(kc__rs_call) call = {.ctx = ctx, .controller = c, .object = object};
    if (read_set(&call, err) < 0)
        return kc_terminal(err);
    return rs_controller_inspect(&call, err);
}

/* ---- setup ---- */

static void rs_controller_free(void *state)
{
    kc__rs_controller *c = state;
    kc_informer_release(c->sets);
    kc__rs_expectations_done(&c->expectations);
    free(c);
}

static void rs_controller_register_metrics(kc__rs_controller *c, kc_metrics *metrics)
{
    double buckets[6];
    kc_buckets_exponential(0.25, 2, KC_COUNT(buckets), buckets);
    const kc_metric_opts ratio = {
        .name = "replicaset_controller_sorting_deletion_age_ratio",
        .help = "The ratio of chosen deleted pod's ages to the current youngest pod's age (at the "
                "time). Should be <2. The intent of this metric is to measure the rough efficacy "
                "of the LogarithmicScaleDown feature gate's effect on the sorting (and deletion) "
                "of pods when a replicaset scales down. This only considers Ready pods when "
                "calculating and reporting.",
        .buckets = buckets,
        .n_buckets = KC_COUNT(buckets),
    };
    kc_metric *metric = metrics ? kc_metrics_histogram(metrics, &ratio, NULL) : NULL;
    c->age_ratio = metric ? kc_metric_histogram(metric) : NULL;
}

int kc__rs_setup(kc_manager *manager, const kc_controllers_opts *opts, kc_error *err)
{
    kc__rs_controller *c = kc_new(kc__rs_controller);
    kc__rs_expectations_init(&c->expectations);
    kc_manager_defer(manager, c, rs_controller_free);
    c->cache = kc_manager_cache(manager);
    c->sets = kc_cache_informer(c->cache, &kc_kind_replica_set, err);
    if (!c->sets)
        return kc_error_result(err);
    rs_controller_register_metrics(c, kc_manager_metrics(manager));
    const kc_controller_opts controller = {
        .name = "replicaset",
        .field_manager = KC__CONTROLLERS_MANAGER,
        .component = "replicaset-controller",
        .kind = &kc_kind_replica_set,
        .watches = KC_WATCHES({.kind = &kc_kind_pod, .map = sets_of_pod, .map_user = c}),
        .reconcile = rs_controller_reconcile,
        .user = c,
        .act_as = kc__common_identity(opts, KC__COMMON_REPLICA_SET),
        .workers = opts->workers,
        .hot_loop = 6000, /* A ReplicaSet with thousands of pods is reconciled often while they
                           * start. */
    };
    return kc_controller_new(manager, &controller, err) ? 0 : kc_error_result(err);
}
