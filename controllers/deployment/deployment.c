/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deployment.c: the Deployment controller. It keeps a ReplicaSet for each template and moves pods
 * from the old ReplicaSets to the current one.
 *
 *     a Deployment or one of its ReplicaSets has changed
 *       ─▶ list its ReplicaSets (sets.c)
 *       ─▶ terminating: update status only
 *          paused, or scaled during a rollout: resize ReplicaSets (resize.c), create none
 *          otherwise: run the strategy (rolling.c, recreate.c)
 *       ─▶ update status (status.c)
 *
 * The controller keeps no state between calls: a rollout's state is in annotations of the objects.
 * Every write carries the resourceVersion it was computed from. So after a stale read or a lost
 * response the write fails with a conflict and the key is retried.
 */
#include "deployment/deployment.h"

#include "common/adoption.h"
#include "common/indexes.h"
#include "common/template.h"
#include "internal.h"

#include "kc/controller.h"

typedef struct watcher {
    kc_cache *cache;
    kc_informer *deployments, *sets; /* For waiting until the caches have synced. */
} watcher;

/* ---- map functions ---- */

static void deployments_of_set(const kc_object *set, kc_enqueuer *to, void *user)
{
    const watcher *w = user;
    kc__common_enqueue_claimants(w->cache, w->deployments, set, to);
}

/* The Recreate strategy waits for deletions of pods. */
static void deployment_of_gone_pod(const kc_object *pod, kc_enqueuer *to, void *user)
{
    const watcher *w = user;
    kc_scoped(kc_arena) arena = {0};
    kc_owner controller;
    if (!kc_informer_has_synced(w->sets) || !kc_object_controller(pod, &arena, &controller) ||
        !kc_owner_is(&controller, &kc_kind_replica_set))
        return;
    const kc_key key = {kc_object_namespace(pod), controller.name};
    kc_auto(kc_object) *set = kc_cache_get(w->cache, &kc_kind_replica_set, key, NULL);
    kc_owner owner;
    if (set && kc_object_controller(set, &arena, &owner) &&
        kc_owner_is(&owner, &kc_kind_deployment))
        kc_enqueue(to, (kc_key){kc_object_namespace(pod), owner.name});
}

static bool is_deletion(kc_change_type type, const kc_change *change, void *user)
{
    (void)change;
    (void)user;
    return type == KC_CHANGE_DELETE;
}

/* ---- one Deployment ---- */

static void kc__rollout_done(kc__rollout *r)
{
    kc_vec_each (&r->sets, set)
        kc_replica_set_free(*set);
    kc_vec_done(&r->sets);
    kc_vec_done(&r->old);
    free(r->template);
    kc_selector_free(r->selector);
    kc_deployment_free(r->d);
}

static int read_deployment(kc__rollout *r, const kc_object *object, kc_error *err)
{
    r->d = kc_deployment_of(object, err);
    if (!r->d)
        return kc_error_result(err);
    r->template = kc__common_template_text(kc_cstr(r->d->spec.template.json));
    r->selector = kc__common_selector_in(object, err);
    return r->selector ? 0 : kc_error_result(err);
}

/* Sets the condition Progressing to paused or resumed, so that the progress deadline does not
 * include the time of the pause. */
static int report_pause(kc__rollout *r, kc_error *err)
{
    const kc_workload_condition *progress = kc__rollout_progress(r->d);
    const char *reason = progress && progress->reason ? progress->reason : "";
    const bool reported = strcmp(reason, "DeploymentPaused") == 0;
    if (!kc__rollout_has_deadline(r->d) || strcmp(reason, "ProgressDeadlineExceeded") == 0 ||
        reported == r->d->spec.paused)
        return 0;
    if (r->d->spec.paused)
        kc__rollout_set_progress(r, "Unknown", "DeploymentPaused", "Deployment is paused");
    else
        kc__rollout_set_progress(r, "Unknown", "DeploymentResumed", "Deployment is resumed");
    return kc__rollout_write_status(r, err);
}

static int keep_status_only(kc__rollout *r, kc_error *err)
{
    if (kc__rollout_sync_current(r, false, err) < 0)
        return kc_error_result(err);
    return kc__rollout_sync_status(r, err);
}

static int scale_only(kc__rollout *r, kc_error *err)
{
    int64_t revision;
    if (kc__rollout_scale(r, err) < 0)
        return kc_error_result(err);
    if (r->d->spec.paused && !kc__rollout_back_to(r, &revision) && kc__rollout_clean_up(r, err) < 0)
        return kc_error_result(err);
    return kc__rollout_sync_status(r, err);
}

static int roll_out(kc__rollout *r, kc_error *err)
{
    int64_t revision;
    if (r->d->metadata.deletion_timestamp.at)
        return keep_status_only(r, err);
    if (report_pause(r, err) < 0)
        return kc_error_result(err);
    if (!r->d->spec.paused && kc__rollout_back_to(r, &revision))
        return kc__rollout_back(r, revision, err);
    if (kc__rollout_sync_current(r, false, err) < 0)
        return kc_error_result(err);
    if (r->d->spec.paused || kc__rollout_was_scaled(r))
        return scale_only(r, err);
    return kc__rollout_is_rolling(r) ? kc__rollout_roll(r, err) : kc__rollout_recreate(r, err);
}

static kc_result refuse_to_select_all(kc__rollout *r, kc_error *err)
{
    kc_recorder_event(r->ctx->recorder, r->d->metadata.origin, KC_EVENT_TYPE_WARNING,
                      "SelectingAll",
                      "This deployment is selecting all pods. A non-empty selector is required.");
    if (r->d->status.observed_generation >= r->d->metadata.generation)
        return kc_done();
    r->d->status.observed_generation = r->d->metadata.generation;
    return kc__rollout_write_status(r, err) < 0 ? kc_retry(err) : kc_done();
}

static kc_result deployment_reconcile(kc_context *ctx, const kc_request *request, kc_error *err)
{
    kc_auto(kc_object) *object =
        kc_client_get(ctx->client, &kc_kind_deployment, request->key, NULL, err);
    if (!object)
        return kc_done_if_not_found(err);
    kc_scoped(kc__rollout) r = {.ctx = ctx};
    if (read_deployment(&r, object, err) < 0)
        return kc_terminal(err);
    if (kc_selector_is_everything(r.selector))
        return refuse_to_select_all(&r, err);
    if (kc__rollout_find_sets(&r, err) < 0 || roll_out(&r, err) < 0) {
        kc__rollout_record_event(&r, NULL);
        return kc_retry(err);
    }
    return kc_requeue_after(kc__rollout_requeue_after(&r));
}

/* ---- setup ---- */

static void watcher_free(void *state)
{
    watcher *w = state;
    kc_informer_release(w->sets);
    kc_informer_release(w->deployments);
    free(w);
}

int kc__deployment_setup(kc_manager *manager, const kc_controllers_opts *opts, kc_error *err)
{
    watcher *w = kc_new(watcher);
    kc_manager_defer(manager, w, watcher_free);
    w->cache = kc_manager_cache(manager);
    w->deployments = kc_cache_informer(w->cache, &kc_kind_deployment, err);
    w->sets = w->deployments ? kc_cache_informer(w->cache, &kc_kind_replica_set, err) : NULL;
    if (!w->sets)
        return kc_error_result(err);
    const kc_controller_opts controller = {
        .name = "deployment",
        .field_manager = KC__CONTROLLERS_MANAGER,
        .component = "deployment-controller",
        .kind = &kc_kind_deployment,
        .watches =
            KC_WATCHES({.kind = &kc_kind_replica_set, .map = deployments_of_set, .map_user = w},
                       {.kind = &kc_kind_pod,
                        .map = deployment_of_gone_pod,
                        .map_user = w,
                        .predicate = kc_predicate_new(is_deletion, NULL)}),
        .reconcile = deployment_reconcile,
        .act_as = kc__common_identity(opts, KC__COMMON_DEPLOYMENT),
        .workers = opts->workers,
        .hot_loop = 6000, /* Same limit as for ReplicaSets. */
    };
    return kc_controller_new(manager, &controller, err) ? 0 : kc_error_result(err);
}
