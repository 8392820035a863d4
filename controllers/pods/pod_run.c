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
#include "pods/pods.h"

#include "kc/kinds.h"
#include "kc/recorder.h"

#define ROUNDS     100
#define RETRY_TIME (10 * KC_SECOND)

/* What a look at a pod works with. */
typedef struct look {
    kc__pods *pods;
    kc_context *ctx;
    kc_pod *pod;
    kc__pod_state *state;
    kc_time now;
    kc_time next;
    bool over;
} look;

/* ---- saying ---- */

static void say(const look *l, size_t i, bool warning, const char *reason, const char *message)
{
    kc_autofree char *path = NULL;
    if (l->pods->opts.quiet && !warning)
        return;
    if (i < l->state->n)
        path = kc_asprintf("spec.%s{%s}", i < l->state->n_init ? "initContainers" : "containers",
                           kc__pod_container(l->pod, i)->name);
    kc_event_with(l->pods->recorder, &(kc_event_opts){.about = l->pod->metadata.origin,
                                                      .type = warning ? KC_WARNING : KC_NORMAL,
                                                      .reason = reason,
                                                      .message = message,
                                                      .field_path = path});
}

/* ---- acting ---- */

static void start(look *l, const kc__action *a)
{
    kc_scoped(kc_error) err = {0};
    kc__runtime *runtime = l->pods->runtime;
    const kc_container *spec = kc__pod_container(l->pod, a->container);
    const kc__container_start what = {.pod = l->pod, .container = spec, .attempt = a->attempt};
    kc_autofree char *created = kc_asprintf("Created container: %s", spec->name);
    kc_autofree char *started = kc_asprintf("Started container %s", spec->name);
    if (runtime->ops->start(runtime, &what, &err) == 0) {
        kc__pod_state_started(l->state, l->pod, a->container, a->attempt);
        say(l, a->container, false, "Created", created);
        say(l, a->container, false, "Started", started);
        return;
    }
    const char *reason = err.reason == KC_INVALID ? "CreateContainerError" : "RunContainerError";
    kc_autofree char *text = kc_asprintf("Error: %s", kc_error_text(&err));
    kc__pod_state_not_started(l->state, a->container, reason, kc_error_text(&err),
                              l->now + RETRY_TIME);
    say(l, a->container, true, "Failed", text);
}

static void stop(look *l, const kc__action *a, bool now)
{
    kc__runtime *runtime = l->pods->runtime;
    const kc__container_id id = {
        kc_cstr(l->state->uid), kc_cstr(kc__pod_container(l->pod, a->container)->name), a->attempt};
    runtime->ops->stop(runtime, id, now);
}

static void probe_now(look *l, const kc__action *a)
{
    static const char *const names[] = {"Startup", "Liveness", "Readiness"};
    kc_scoped(kc_error) err = {0};
    kc__runtime *runtime = l->pods->runtime;
    const kc_container *spec = kc__pod_container(l->pod, a->container);
    const bool ok =
        runtime->ops->probe(runtime, l->pod, spec, a->attempt, kc__container_probe(spec, a->probe),
                            l->ctx->cancel, &err) == KC__PROBE_OK;
    kc__pod_state_probed(l->state, l->pod, a->container, a->attempt, a->probe, ok);
    if (ok)
        return;
    kc_autofree char *text =
        kc_asprintf("%s probe failed: %s", names[a->probe], kc_error_text(&err));
    say(l, a->container, true, "Unhealthy", text);
}

/* True if something has changed by it that another round should see. */
static bool act(look *l, const kc__action *a)
{
    kc__container_state *c = &l->state->containers[a->container < l->state->n ? a->container : 0];
    switch (a->act) {
    case KC__ACT_START: start(l, a); return true;
    case KC__ACT_STOP:
    case KC__ACT_FORCE: stop(l, a, a->act == KC__ACT_FORCE); return true;
    case KC__ACT_PROBE: probe_now(l, a); return true;
    case KC__ACT_POST_START: c->post_start = KC__HOOK_OK; return true;
    case KC__ACT_PRE_STOP: c->pre_stop = KC__HOOK_OK; return true;
    case KC__ACT_SAY: say(l, a->container, a->warning, a->event, a->message); return false;
    }
    return false;
}

/* One round: true if there should be another. */
static bool go_round(look *l)
{
    kc__plan plan = {0};
    bool more = false;
    kc__pod_state_observe(l->state, l->pod, l->pods->runtime);
    kc__pod_plan(l->pod, l->state, l->now, &plan);
    kc_vec_each (&plan.actions, a)
        more = act(l, a) || more;
    l->next = plan.next;
    l->over = plan.over;
    kc__plan_done(&plan);
    return more;
}

/* ---- telling the server ---- */

static int write_status(look *l, kc_error *err)
{
    kc_pod_status status;
    const kc__pod_place place = {.runtime = l->pods->runtime->name, .host_ip = l->state->node->ip};
    kc__pod_status_make(l->pod, l->state, &place, l->now, l->over, l->pod->metadata.arena, &status);
    if (kc_struct_equal(&kc_pod_status_struct, &status, &l->pod->status))
        return 0;
    l->pod->status = status;
    return kc_typed_update(l->ctx->client, &kc_pod_type, l->pod,
                           &(kc_write_opts){.subresource = "status"}, err);
}

/* Its last: nothing of it runs any more. */
static int delete(look *l, kc_error *err)
{
    const kc_delete_opts opts = {.now = true, .uid = l->state->uid};
    const kc_key key = KC_KEY(l->state->ns, l->state->name);
    if (kc_client_delete(l->ctx->client, &kc_kind_pod, key, &opts, err) == 0)
        return 0;
    if (!kc_is_not_found(err) && !kc_is_conflict(err))
        return -1;
    kc_error_done(err);
    return 0;
}

/* ---- the look ---- */

static kc_result look_after(look *l, kc_error *err)
{
    const bool deleting = l->pod->metadata.deletion_timestamp.at != 0;
    const bool was_over = kc__phase_is_terminal(l->pod->status.phase);
    const bool never_ran = was_over && !l->state->start_time;
    if (!was_over && !deleting)
        kc__pods_admit(l->pods, l->pod, l->state);
    if (!l->state->start_time && !never_ran && !l->state->failed)
        l->state->start_time = l->now;
    if (l->state->admitted && !l->state->prepared && !was_over && !deleting) {
        if (l->pods->runtime->ops->prepare(l->pods->runtime, l->pod, err) < 0)
            return kc_retry(err);
        l->state->prepared = true;
    }
    for (int i = 0; i < ROUNDS && go_round(l); i++)
        ;
    if (!never_ran && write_status(l, err) < 0)
        return kc_retry(err);
    if (l->over)
        kc__pods_release(l->pods, l->state);
    if (l->over && deleting && delete (l, err) < 0)
        return kc_retry(err);
    return l->next == KC_FOREVER ? kc_done() : kc_again_after(KC_MAX(l->next - l->now, 1));
}

kc_result kc__pods_reconcile(kc_context *ctx, const kc_request *request, kc_error *err)
{
    kc__pods *pods = ctx->user;
    kc__pods_take_up(pods);
    kc_auto(kc_pod) *pod = kc_pod_get(ctx->client, request->key, err);
    if (!pod && !kc_is_not_found(err))
        return kc_retry(err);
    kc_error_done(err);
    kc__pod_state *state = kc__pods_find(pods, request->key);
    if (state && (!pod || strcmp(pod->metadata.uid, state->uid) != 0)) {
        kc__pods_forget(pods, state);
        state = NULL;
    }
    kc__node *node = pod && pod->spec.node_name
                         ? kc__nodes_find(pods->nodes, kc_cstr(pod->spec.node_name))
                         : NULL;
    if (!node)
        return kc_done();
    if (!state)
        state = kc__pods_remember(pods, pod, node);
    look l = {
        .pods = pods, .ctx = ctx, .pod = pod, .state = state, .now = kc_clock_wall(ctx->clock)};
    return look_after(&l, err);
}
