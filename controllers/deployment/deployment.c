/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deployment.c: the controller of deployments: a replica set for each template there was, and pods
 * moved from the old ones to the current one.
 *
 *     a deployment, or a replica set of it has changed
 *       ─▶ its sets (sets.c)
 *       ─▶ being deleted: only its status is kept
 *          paused, or scaled in the middle: sets are resized (resize.c), no new one is made
 *          else: its strategy (rolling.c, recreate.c)
 *       ─▶ status (status.c)
 *
 * Nothing is remembered between calls: what a roll-out needs to know is noted on the objects. Every
 * write names the resourceVersion it was computed from, so that a late cache, or an answer that was
 * lost, make a call fail and come again, never do the wrong thing.
 */
#include "deployment/deployment.h"

#include "common/adoption.h"
#include "common/indexes.h"
#include "common/template.h"
#include "internal.h"

#include "kc/controller.h"

typedef struct watcher {
    kc_cache *cache;
    kc_informer *deployments, *sets; /* To know whether they are there yet. */
} watcher;

/* ---- whose set, whose pod ---- */

static void deployments_of_set(const kc_object *set, kc_enqueuer *to, void *user)
{
    const watcher *w = user;
    kc__enqueue_claimants(w->cache, w->deployments, set, to);
}

/* A pod that has gone may be what a deployment waits for to recreate its pods. */
static void deployment_of_gone_pod(const kc_object *pod, kc_enqueuer *to, void *user)
{
    const watcher *w = user;
    kc_scoped(kc_arena) arena = {0};
    kc_owner controller;
    if (!kc_informer_synced(w->sets) || !kc_object_controller(pod, &arena, &controller) ||
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

/* ---- one deployment ---- */

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
        return -1;
    r->template = kc__template_text(kc_cstr(r->d->spec.template.json));
    r->selector = kc__selector_in(object, err);
    return r->selector ? 0 : -1;
}

/* Says in the condition Progressing that the deployment was paused, or goes on: so that the time it
 * stood still does not count for its deadline. */
static int tell_pause(kc__rollout *r, kc_error *err)
{
    const kc_workload_condition *progress = kc__rollout_progress(r->d);
    const char *reason = progress && progress->reason ? progress->reason : "";
    const bool told = strcmp(reason, "DeploymentPaused") == 0;
    if (!kc__rollout_has_deadline(r->d) || strcmp(reason, "ProgressDeadlineExceeded") == 0 ||
        told == r->d->spec.paused)
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
        return -1;
    return kc__rollout_sync_status(r, err);
}

static int scale_only(kc__rollout *r, kc_error *err)
{
    int64_t revision;
    if (kc__rollout_scale(r, err) < 0)
        return -1;
    if (r->d->spec.paused && !kc__rollout_back_to(r, &revision) && kc__rollout_clean_up(r, err) < 0)
        return -1;
    return kc__rollout_sync_status(r, err);
}

static int roll_out(kc__rollout *r, kc_error *err)
{
    int64_t revision;
    if (r->d->metadata.deletion_timestamp.at)
        return keep_status_only(r, err);
    if (tell_pause(r, err) < 0)
        return -1;
    if (!r->d->spec.paused && kc__rollout_back_to(r, &revision))
        return kc__rollout_back(r, revision, err);
    if (kc__rollout_sync_current(r, false, err) < 0)
        return -1;
    if (r->d->spec.paused || kc__rollout_was_scaled(r))
        return scale_only(r, err);
    return kc__rollout_is_rolling(r) ? kc__rollout_roll(r, err) : kc__rollout_recreate(r, err);
}

static kc_result refuse_to_select_all(kc__rollout *r, kc_error *err)
{
    kc_event(r->ctx->recorder, r->d->metadata.origin, KC_WARNING, "SelectingAll",
             "This deployment is selecting all pods. A non-empty selector is required.");
    if (r->d->status.observed_generation >= r->d->metadata.generation)
        return kc_done();
    r->d->status.observed_generation = r->d->metadata.generation;
    return kc__rollout_write_status(r, err) < 0 ? kc_retry(err) : kc_done();
}

static kc_result reconcile(kc_context *ctx, const kc_request *request, kc_error *err)
{
    kc_auto(kc_object) *object =
        kc_client_get(ctx->client, &kc_kind_deployment, request->key, NULL, err);
    if (!object)
        return kc_done_if_not_found(err);
    kc_scoped(kc__rollout) r = {.ctx = ctx};
    if (read_deployment(&r, object, err) < 0)
        return kc_give_up(err);
    if (kc_selector_is_everything(r.selector))
        return refuse_to_select_all(&r, err);
    if (kc__rollout_find_sets(&r, err) < 0 || roll_out(&r, err) < 0) {
        kc__rollout_tell(&r, NULL);
        return kc_retry(err);
    }
    return kc_again_after(kc__rollout_next_look(&r));
}

/* ---- setting up ---- */

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
    kc_manager_keep(manager, w, watcher_free);
    w->cache = kc_manager_cache(manager);
    w->deployments = kc_cache_informer(w->cache, &kc_kind_deployment, err);
    w->sets = w->deployments ? kc_cache_informer(w->cache, &kc_kind_replica_set, err) : NULL;
    if (!w->sets)
        return -1;
    const kc_controller_opts controller = {
        .name = "deployment",
        .component = "deployment-controller",
        .kind = &kc_kind_deployment,
        .watches =
            KC_WATCHES({.kind = &kc_kind_replica_set, .map = deployments_of_set, .map_user = w},
                       {.kind = &kc_kind_pod,
                        .map = deployment_of_gone_pod,
                        .map_user = w,
                        .predicate = kc_predicate_new(is_deletion, NULL)}),
        .reconcile = reconcile,
        .workers = opts->workers,
        .hot_loop = 6000, /* As replica sets. */
    };
    return kc_controller_new(manager, &controller, err) ? 0 : -1;
}
