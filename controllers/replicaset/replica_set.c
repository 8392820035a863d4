/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replica_set.c: the controller of replica sets: as many pods of a template as are wanted, no more,
 * whatever becomes of them.
 *
 *     a set, or a pod of it, or an orphan it selects has changed
 *       ─▶ its pods, from the cache (replicas.c)
 *       ─▶ made or deleted until there are enough (scale.c)
 *       ─▶ status (status.c)
 *
 * Nothing is remembered between calls but doubts (doubts.c): upstream's expectations, which keep a
 * controller from acting on a list that does not show yet what it did, are not needed where the
 * cache reads its own writes.
 *
 * One worker has a set at a time; several sets are looked at at once.
 */
#include "replicaset/replica_set.h"

#include "common/adoption.h"
#include "common/indexes.h"
#include "internal.h"

#include "kc/controller.h"

/* ---- whose pod ---- */

static void sets_of_pod(const kc_object *pod, kc_enqueuer *to, void *user)
{
    const kc__rs_controller *c = user;
    kc__enqueue_claimants(c->cache, c->sets, pod, to);
}

/* ---- one set ---- */

static void kc__rs_call_done(kc__rs_call *call)
{
    free(call->active);
    kc_objects_done(&call->pods);
    kc_selector_free(call->selector);
    kc_replica_set_free(call->rs);
}

static int read_set(kc__rs_call *call, kc_error *err)
{
    call->rs = kc_replica_set_of(call->object, err);
    if (!call->rs)
        return -1;
    call->wanted = call->rs->spec.replicas ? *call->rs->spec.replicas : 1;
    call->min_ready = call->rs->spec.min_ready_seconds * KC_SECOND;
    call->selector = kc__selector_in(call->object, err);
    return call->selector ? 0 : -1;
}

static kc_result look_at(kc__rs_call *call, kc_error *err)
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
    /* What was made or deleted comes back with the watch, but need not be waited for. */
    return more ? kc_again_after(KC_MILLISECOND) : kc_again_after(kc__rs_next_look(call));
}

static kc_result reconcile(kc_context *ctx, const kc_request *request, kc_error *err)
{
    kc__rs_controller *c = ctx->user;
    kc_auto(kc_object) *object =
        kc_client_get(ctx->client, &kc_kind_replica_set, request->key, NULL, err);
    if (!object) {
        kc__doubts_remove(&c->doubts, request->key);
        return kc_done_if_not_found(err);
    }
    kc_scoped(kc__rs_call) call = {.ctx = ctx, .controller = c, .object = object};
    if (read_set(&call, err) < 0)
        return kc_give_up(err);
    return look_at(&call, err);
}

/* ---- setting up ---- */

static void controller_free(void *state)
{
    kc__rs_controller *c = state;
    kc_informer_release(c->sets);
    kc__doubts_done(&c->doubts);
    free(c);
}

static void register_metrics(kc__rs_controller *c, kc_metrics *metrics)
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
    c->age_ratio = metric ? kc_histogram_of(metric) : NULL;
}

int kc__replica_set_setup(kc_manager *manager, const kc_controllers_opts *opts, kc_error *err)
{
    kc__rs_controller *c = kc_new(kc__rs_controller);
    kc__doubts_init(&c->doubts);
    kc_manager_keep(manager, c, controller_free);
    c->cache = kc_manager_cache(manager);
    c->sets = kc_cache_informer(c->cache, &kc_kind_replica_set, err);
    if (!c->sets)
        return -1;
    register_metrics(c, kc_manager_metrics(manager));
    const kc_controller_opts controller = {
        .name = "replicaset",
        .component = "replicaset-controller",
        .kind = &kc_kind_replica_set,
        .watches = KC_WATCHES({.kind = &kc_kind_pod, .map = sets_of_pod, .map_user = c}),
        .reconcile = reconcile,
        .user = c,
        .workers = opts->workers,
        .hot_loop = 6000, /* A set of thousands of pods is looked at often while they start. */
    };
    return kc_controller_new(manager, &controller, err) ? 0 : -1;
}
