/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_run.c: one pod sync: observe, plan, execute, write status.
 *
 *     observe ─▶ plan ─▶ execute ─┐   until there are no actions
 *        ▲────────────────────────┘
 *     status has changed ─▶ write it                 (one write, whatever was done)
 *     deleted, and no container runs ─▶ delete pod   (DELETE with grace period 0 and its uid)
 *
 * The cycle repeats as long as it changes something, before anything is written: a pod whose
 * containers start at once goes from bound to Ready in one write.
 */
#include "pods/pod_sync.h"

#include "pods/pod_inputs.h"

#include "kc/kinds.h"

#define ROUNDS        1000
#define MOUNT_RETRIES (10 * KC_SECOND)

/* One cycle: true if there should be another. */
static bool go_round(kc__pod_sync *l)
{
    kc__pod_action_plan plan = {0};
    bool more = false;
    kc__pod_record_observe(l->state, l->pod, l->pods->runtime);
    kc__pod_plan_make(l->pod, l->state, l->now, &plan);
    kc_vec_each (&plan.actions, a)
        more = kc__pod_sync_execute(l, a) || more;
    l->next = KC_MIN(l->next, plan.next);
    l->over = plan.over;
    if (more)
        l->next = KC_FOREVER;
    kc__pod_action_plan_done(&plan);
    return more;
}

/* ---- before the first start ---- */

static void admit(kc__pod_sync *l)
{
    if (kc__pods_admit(l->pods, l->pod, l->state))
        return;
    kc_counter_inc(kc_metric_counter(l->pods->metrics.rejected, kc_cstr(l->state->failed)));
    kc__pod_sync_event(l, SIZE_MAX, true, l->state->failed,
                       l->state->failed_message + strlen("Pod was rejected: "));
}

/* A pod whose volumes cannot be filled waits; a running pod keeps its files. */
static void mount(kc__pod_sync *l)
{
    kc_scoped(kc_error) err = {0};
    if (kc__pods_mount(l->pods, l->ctx->client, l->pod, l->state, &err) == 0) {
        l->next = kc__pod_tokens_renewal(l->state);
        return;
    }
    if (!l->state->mount_failure_reported)
        kc__pod_sync_event(l, SIZE_MAX, true, "FailedMount", kc_error_text(&err));
    l->state->mount_failure_reported = true;
    l->next = l->now + MOUNT_RETRIES;
}

/* Whether the status has the condition already: not reported again after a restart of this
 * process. */
static bool is_ignored_reported(const kc_pod *pod, const char *message)
{
    for (size_t i = 0; i < pod->status.n_conditions; i++) {
        const kc_pod_condition *c = &pod->status.conditions[i];
        if (!strcmp(c->type, KC__POD_CONDITION_APPLIED))
            return c->message && !strcmp(c->message, message);
    }
    return false;
}

/* Reports fields that the runtime does not apply: one event and one condition for all of them. */
static void report_ignored(kc__pod_sync *l)
{
    kc_scoped(kc_buf) fields = {0};
    kc__pod_record *state = l->state;
    kc__pods_runtime *runtime = l->pods->runtime;
    if (!runtime->ops->ignored ||
        (state->ignored_known && state->ignored_generation == l->pod->metadata.generation))
        return;
    state->ignored_known = true;
    state->ignored_generation = l->pod->metadata.generation;
    runtime->ops->ignored(runtime, l->pod, &fields);
    free(kc_take(state->ignored));
    if (!fields.n)
        return;
    state->ignored = kc_asprintf("Not applied on this node: %s", kc_buf_cstr(&fields));
    if (!is_ignored_reported(l->pod, state->ignored))
        kc__pod_sync_event(l, SIZE_MAX, true, KC__POD_REASON_IGNORED, state->ignored);
}

/* A ConfigMap or Secret has changed that a container may have waited for. */
static void skip_backoff(kc__pod_sync *l, const kc_queue_item *item)
{
    bool changed = false;
    for (size_t i = 0; item && i < item->n_causes; i++)
        changed = changed || item->causes[i].kind == &kc_kind_config_map ||
                  item->causes[i].kind == &kc_kind_secret;
    for (size_t i = 0; i < l->state->n && changed; i++)
        l->state->containers[i].retry_at = KC_MIN(l->state->containers[i].retry_at, l->now);
}

/* ---- writes ---- */

static int pod_run_write_status(kc__pod_sync *l, kc_error *err)
{
    kc_pod_status status;
    const kc__pod_host_info place = {.runtime = l->pods->runtime->name,
                                     .host_ip = l->state->node->ip,
                                     .no_generations = l->pods->no_generations};
    kc__pod_status_make(l->pod, l->state, &place, l->now, l->over, l->pod->metadata.arena, &status);
    if (kc_struct_equal(&kc_pod_status_struct, &status, &l->pod->status))
        return 0;
    const bool begins =
        !kc_str_is(kc_cstr(l->pod->status.phase), "Running") && !strcmp(status.phase, "Running");
    l->pod->status = status;
    if (kc_typed_update(l->ctx->client, &kc_pod_type, l->pod,
                        &(kc_write_opts){.subresource = "status", .field_validation = "Ignore"},
                        err) < 0)
        return kc_error_result(err);
    if (begins)
        kc_histogram_observe_duration(l->pods->metrics.start_duration,
                                      l->now - l->state->start_time);
    /* A server that does not know the field drops it. */
    if (status.observed_generation && !l->pod->status.observed_generation)
        l->pods->no_generations = true;
    return 0;
}

/* Last write: no container of the pod runs. */
static int delete_pod(kc__pod_sync *l, kc_error *err)
{
    const int64_t *grace = l->pod->metadata.deletion_grace_period_seconds;
    const kc_delete_opts opts = {.immediately = true, .uid = l->state->uid};
    const kc_key key = KC_KEY(l->state->ns, l->state->name);
    if (grace && *grace == 0) /* Deleted already: a finalizer keeps it. */
        return 0;
    if (kc_client_delete(l->ctx->client, &kc_kind_pod, key, &opts, err) == 0)
        return 0;
    return kc_ignore_not_found(err);
}

/* The pod has changed or is gone: not a failure, requeue. */
static kc_result retry_result(kc_error *err)
{
    if (!kc_is_conflict(err) && !kc_is_not_found(err))
        return kc_retry(err);
    kc_error_done(err);
    return kc_requeue();
}

/* ---- reconcile ---- */

static kc_result sync_pod(kc__pod_sync *l, kc_error *err)
{
    const bool deleting = l->pod->metadata.deletion_timestamp.at != 0;
    const bool was_over = kc__pod_phase_is_terminal(l->pod->status.phase);
    const bool never_ran = was_over && !l->state->start_time;
    kc__pod_sync_take_results(l);
    if (!was_over && !deleting && !l->state->failed && !l->state->admitted)
        admit(l);
    if (l->state->admitted && !l->state->start_time && !was_over)
        l->state->start_time = l->now;
    l->state->measures = l->pods->runtime->ops->measure && kc__pod_limits_storage(l->pod);
    if (l->state->admitted && !was_over && !deleting) {
        report_ignored(l);
        mount(l);
    }
    const kc_time mount_retry = l->next;
    for (int i = 0; i < ROUNDS && go_round(l); i++)
        ;
    l->next = KC_MIN(l->next, mount_retry);
    if (!never_ran && pod_run_write_status(l, err) < 0)
        return retry_result(err);
    if (l->over)
        kc__pods_release(l->pods, l->state);
    if (l->over && deleting && delete_pod(l, err) < 0)
        return retry_result(err);
    return l->next == KC_FOREVER ? kc_done() : kc_requeue_after(KC_MAX(l->next - l->now, 1));
}

/* The record of a pod on one of this process's nodes; NULL: nothing to do. */
static kc__pod_record *pod_run_state_of(kc__pods *pods, kc_key key, const kc_pod *pod)
{
    kc__pod_record *state = kc__pods_find(pods, key);
    if (state && (!pod || strcmp(pod->metadata.uid, state->uid) != 0)) {
        kc__pods_forget(pods, state);
        state = NULL;
    }
    if (!pod || state)
        return state;
    kc__pods_node *node = kc__pods_nodes_find(pods->nodes, kc_cstr(pod->spec.node_name));
    return node ? kc__pods_persist(pods, pod, node) : NULL;
}

kc_result kc__pods_reconcile(kc_context *ctx, const kc_request *request, kc_error *err)
{
    kc__pods *pods = ctx->user;
    kc__pods_resume(pods);
    kc_auto(kc_pod) *pod = kc_pod_get(ctx->client, request->key, err);
    if (!pod && !kc_is_not_found(err))
        return kc_retry(err);
    kc_error_done(err);
    kc__pod_sync sync = {.pods = pods,
                         .ctx = ctx,
                         .pod = pod,
                         .state = pod_run_state_of(pods, request->key, pod),
                         .now = kc_clock_wall(ctx->clock),
                         .next = KC_FOREVER};
    if (!sync.state)
        return kc_done();
    kc_auto(kc_client) *client =
        kc_client_with(ctx->client, &(kc_client_overrides){.act_as = sync.state->node->act_as});
    kc_context own = *ctx;
    own.client = client;
    sync.ctx = &own;
    skip_backoff(&sync, request->item);
    return sync_pod(&sync, err);
}
