/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_run.c: one look at a pod: what there is, what is to be done, doing it, saying so.
 *
 *     observe ─▶ plan ─▶ act ─┐     until there is nothing more to do now
 *        ▲────────────────────┘
 *     status, if it has changed ─▶ the server        (one write, however much was done)
 *     deleted, and nothing runs any more ─▶ gone     (DELETE with grace 0 and its uid)
 *
 * Everything is done again as long as that changes something, before anything is written: a pod
 * whose containers start at once goes from bound to Ready in one write.
 */
#include "pods/pod_act.h"

#include "kc/kinds.h"

#define ROUNDS        1000
#define MOUNT_RETRIES (10 * KC_SECOND)

/* One round: true if there should be another. */
static bool go_round(kc__look *l)
{
    kc__plan plan = {0};
    bool more = false;
    kc__pod_record_observe(l->state, l->pod, l->pods->runtime);
    kc__pod_plan(l->pod, l->state, l->now, &plan);
    kc_vec_each (&plan.actions, a)
        more = kc__look_act(l, a) || more;
    l->next = KC_MIN(l->next, plan.next);
    l->over = plan.over;
    if (more)
        l->next = KC_FOREVER;
    kc__plan_done(&plan);
    return more;
}

/* ---- before it runs ---- */

static void admit(kc__look *l)
{
    if (kc__pods_admit(l->pods, l->pod, l->state))
        return;
    kc_counter_inc(kc_counter_of(l->pods->metrics.rejected, kc_cstr(l->state->failed)));
    kc__look_say(l, SIZE_MAX, true, l->state->failed,
                 l->state->failed_message + strlen("Pod was rejected: "));
}

/* A pod that cannot have its volumes waits; what has started goes on with those it has. */
static void mount(kc__look *l)
{
    kc_scoped(kc_error) err = {0};
    if (kc__pods_mount(l->pods, l->ctx->client, l->pod, l->state, &err) == 0)
        return;
    if (!l->state->mount_said)
        kc__look_say(l, SIZE_MAX, true, "FailedMount", kc_error_text(&err));
    l->state->mount_said = true;
    l->next = l->now + MOUNT_RETRIES;
}

/* A ConfigMap or Secret has changed that a container may have waited for. */
static void hurry(kc__look *l, const kc_queue_item *item)
{
    bool changed = false;
    for (size_t i = 0; item && i < item->n_causes; i++)
        changed = changed || item->causes[i].kind == &kc_kind_config_map ||
                  item->causes[i].kind == &kc_kind_secret;
    for (size_t i = 0; i < l->state->n && changed; i++)
        l->state->containers[i].retry_at = KC_MIN(l->state->containers[i].retry_at, l->now);
}

/* ---- telling the server ---- */

static int write_status(kc__look *l, kc_error *err)
{
    kc_pod_status status;
    const kc__pod_place place = {.runtime = l->pods->runtime->name,
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
        return -1;
    if (begins)
        kc_histogram_observe_duration(l->pods->metrics.start_duration,
                                      l->now - l->state->start_time);
    /* A server that does not know the field drops it. */
    if (status.observed_generation && !l->pod->status.observed_generation)
        l->pods->no_generations = true;
    return 0;
}

/* Its last: nothing of it runs any more. */
static int delete_pod(kc__look *l, kc_error *err)
{
    const int64_t *grace = l->pod->metadata.deletion_grace_period_seconds;
    const kc_delete_opts opts = {.now = true, .uid = l->state->uid};
    const kc_key key = KC_KEY(l->state->ns, l->state->name);
    if (grace && *grace == 0) /* Asked for already: somebody's finalizer keeps it. */
        return 0;
    if (kc_client_delete(l->ctx->client, &kc_kind_pod, key, &opts, err) == 0)
        return 0;
    return kc_ignore_not_found(err);
}

/* The pod has changed, or is gone: no failure, but worth another look. */
static kc_result again(kc_error *err)
{
    if (!kc_is_conflict(err) && !kc_is_not_found(err))
        return kc_retry(err);
    kc_error_done(err);
    return kc_again();
}

/* ---- the look ---- */

static kc_result look_after(kc__look *l, kc_error *err)
{
    const bool deleting = l->pod->metadata.deletion_timestamp.at != 0;
    const bool was_over = kc__phase_is_terminal(l->pod->status.phase);
    const bool never_ran = was_over && !l->state->start_time;
    kc__look_take_results(l);
    if (!was_over && !deleting && !l->state->failed && !l->state->admitted)
        admit(l);
    if (l->state->admitted && !l->state->start_time && !was_over)
        l->state->start_time = l->now;
    if (l->state->admitted && !was_over && !deleting)
        mount(l);
    const kc_time mount_again = l->next;
    for (int i = 0; i < ROUNDS && go_round(l); i++)
        ;
    l->next = KC_MIN(l->next, mount_again);
    if (!never_ran && write_status(l, err) < 0)
        return again(err);
    if (l->over)
        kc__pods_release(l->pods, l->state);
    if (l->over && deleting && delete_pod(l, err) < 0)
        return again(err);
    return l->next == KC_FOREVER ? kc_done() : kc_again_after(KC_MAX(l->next - l->now, 1));
}

/* The state of a pod that is there, on one of our nodes; NULL: there is nothing to do. */
static kc__pod_record *state_of(kc__pods *pods, kc_key key, const kc_pod *pod)
{
    kc__pod_record *state = kc__pods_find(pods, key);
    if (state && (!pod || strcmp(pod->metadata.uid, state->uid) != 0)) {
        kc__pods_forget(pods, state);
        state = NULL;
    }
    if (!pod || state)
        return state;
    kc__node *node = kc__nodes_find(pods->nodes, kc_cstr(pod->spec.node_name));
    return node ? kc__pods_remember(pods, pod, node) : NULL;
}

kc_result kc__pods_reconcile(kc_context *ctx, const kc_request *request, kc_error *err)
{
    kc__pods *pods = ctx->user;
    kc__pods_take_up(pods);
    kc_auto(kc_pod) *pod = kc_pod_get(ctx->client, request->key, err);
    if (!pod && !kc_is_not_found(err))
        return kc_retry(err);
    kc_error_done(err);
    kc__look look = {.pods = pods,
                     .ctx = ctx,
                     .pod = pod,
                     .state = state_of(pods, request->key, pod),
                     .now = kc_clock_wall(ctx->clock),
                     .next = KC_FOREVER};
    if (!look.state)
        return kc_done();
    hurry(&look, request->item);
    return look_after(&look, err);
}
