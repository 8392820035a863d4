/* SPDX-License-Identifier: Apache-2.0 */
/*
 * at.c: runs a command once at a given time: PENDING until then, RUNNING until its pod has
 * terminated, then DONE.
 *
 * There is exactly one pod, whatever fails in between: its name is derived from the object
 * (NAME-pod), so a repeated create finds it; and status.pod records the creation, so that a deleted
 * pod is not created again: a command that was started never starts a second time. Both are read
 * from the server and not from the cache before a pod is created. The object owns the pod: both are
 * deleted together, and the pod's termination queues the object.
 */
#include "api/demo_v1/zz_generated.h"

#include "kc/app.h"
#include "kc/kinds.h"
#include "kc/view.h"

static bool is_phase(const at *a, const char *phase)
{
    return !strcmp(a->status.phase ? a->status.phase : "PENDING", phase);
}

static int at_enter(kc_context *ctx, at *a, const char *phase, kc_error *err)
{
    a->status.phase = (char *)phase;
    return at_update_status(ctx->client, a, err);
}

/* ---- its pod ---- */

static kc_object *make_pod(const at *a, const char *name, kc_error *err)
{
    kc_auto(kc_edit) *pod = kc_edit_new();
    kc_node *containers = kc_node_array(pod), *container = kc_node_object(pod);
    kc_node *command = kc_node_array(pod);
    kc_node_append(command, kc_node_str(pod, KC_STR("sh")));
    kc_node_append(command, kc_node_str(pod, KC_STR("-c")));
    kc_node_append(command, kc_node_str(pod, kc_cstr(a->spec.command)));
    kc_node_add(pod, container, KC_STR("name"), kc_node_str(pod, KC_STR("busybox")));
    kc_node_add(pod, container, KC_STR("image"), kc_node_str(pod, KC_STR("busybox")));
    kc_node_add(pod, container, KC_STR("command"), command);
    kc_node_append(containers, container);

    kc_edit_set_nested(pod, "apiVersion", kc_node_str(pod, KC_STR("v1")));
    kc_edit_set_nested(pod, "kind", kc_node_str(pod, KC_STR("Pod")));
    kc_edit_set_nested(pod, "metadata.name", kc_node_str(pod, kc_cstr(name)));
    kc_edit_set_nested(pod, "metadata.namespace", kc_node_str(pod, kc_cstr(a->metadata.ns)));
    kc_edit_set_nested(pod, "metadata.labels.app", kc_node_str(pod, kc_cstr(a->metadata.name)));
    kc_edit_set_nested(pod, "spec.containers", containers);
    kc_edit_set_nested(pod, "spec.restartPolicy", kc_node_str(pod, KC_STR("OnFailure")));
    const kc_owner owner = kc_owner_of(a->metadata.origin, true);
    return kc_edit_set_controller(pod, &owner, err) < 0 ? NULL : kc_edit_freeze(pod, err);
}

/* A pod of that name with another owner would never satisfy the wait. */
static int at_check_owner(const at *a, const kc_object *pod, kc_error *err)
{
    if (kc_object_controlled_by(pod, kc_cstr(a->metadata.uid)))
        return 0;
    return kc_error_set(err, KC_ALREADY_EXISTS,
                        "pod %.*s already exists and is not controlled "
                        "by this object",
                        KC_ARG(kc_object_name(pod)));
}

static const kc_get_opts live = {.live = true};

/* The creation may be recorded on the server and missing in the cache. 1: recorded; 0: not. */
static int was_made(kc_context *ctx, const at *a, kc_error *err)
{
    const kc_key key = {kc_cstr(a->metadata.ns), kc_cstr(a->metadata.name)};
    kc_auto(kc_object) *now = kc_client_get(ctx->client, &at_kind, key, &live, err);
    kc_auto(kc_view) *view = now ? kc_view_of(now) : NULL;
    return !now ? kc_error_result(err)
                : kc_value_as_str(kc_value_nested(kc_view_root(view), "status.pod")).n > 0;
}

static kc_object *start_pod(kc_context *ctx, const at *a, const char *name, kc_error *err)
{
    kc_auto(kc_object) *wanted = make_pod(a, name, err);
    kc_object *pod = wanted ? kc_client_create(ctx->client, wanted, NULL, err) : NULL;
    if (pod)
        kc_recorder_event(ctx->recorder, a->metadata.origin, KC_EVENT_TYPE_NORMAL, "Started",
                          "Created pod: %s", name);
    return pod;
}

/* The pod, created if it never was; KC_GONE if it was created and no longer exists. */
static kc_object *ensure_pod(kc_context *ctx, const at *a, const char *name, kc_error *err)
{
    const kc_key key = {kc_cstr(a->metadata.ns), kc_cstr(name)};
    kc_auto(kc_object) *pod = kc_client_get(ctx->client, &kc_kind_pod, key, &live, err);
    if (!pod && kc_is_not_found(err)) {
        kc_error_done(err);
        const int made = was_made(ctx, a, err);
        if (made > 0)
            kc_error_set(err, KC_GONE, "pod %s was deleted before it completed", name);
        pod = made == 0 ? start_pod(ctx, a, name, err) : NULL;
    }
    return pod && at_check_owner(a, pod, err) == 0 ? kc_take(pod) : NULL;
}

static bool at_has_ended(const kc_object *pod)
{
    kc_auto(kc_view) *view = kc_view_of(pod);
    const kc_str phase = kc_value_as_str(kc_value_nested(kc_view_root(view), "status.phase"));
    return kc_str_is(phase, "Succeeded") || kc_str_is(phase, "Failed");
}

/* ---- the object ---- */

static kc_result wait_for_time(kc_context *ctx, at *a, kc_error *err)
{
    const int64_t left = a->spec.schedule.at - kc_clock_wall(ctx->clock);
    if (!a->status.phase && at_enter(ctx, a, "PENDING", err) < 0)
        return kc_retry(err);
    if (left > 0) /* The clock may be set, or the machine suspended, in between. */
        return kc_requeue_after(KC_MIN(left, KC_MINUTE));
    return at_enter(ctx, a, "RUNNING", err) < 0 ? kc_retry(err) : kc_requeue_after(1);
}

static kc_result at_run(kc_context *ctx, at *a, kc_error *err)
{
    char *name = kc_arena_printf(a->metadata.arena, "%s-pod", a->metadata.name);
    kc_auto(kc_object) *pod = ensure_pod(ctx, a, name, err);
    const bool lost = kc_error_has_reason(err, KC_GONE);
    if (!pod)
        kc_recorder_event(ctx->recorder, a->metadata.origin, KC_EVENT_TYPE_WARNING,
                          lost ? "Lost" : "Failed", "%s", kc_error_text(err));
    if (!pod && !lost)
        return kc_retry(err);
    kc_error_done(err);
    if (lost || at_has_ended(pod))
        return at_enter(ctx, a, "DONE", err) < 0 ? kc_retry(err) : kc_done();
    if (a->status.pod)
        return kc_done(); /* The pod's termination queues the object. */
    a->status.pod = name;
    return at_update_status(ctx->client, a, err) < 0 ? kc_retry(err) : kc_done();
}

static kc_result at_reconcile(kc_context *ctx, const kc_request *req, kc_error *err)
{
    kc_auto(at) *a = at_get(ctx->client, req->key, err);
    if (!a)
        return kc_done_if_not_found(err);
    if (is_phase(a, "PENDING"))
        return wait_for_time(ctx, a, err);
    return is_phase(a, "RUNNING") ? at_run(ctx, a, err) : kc_done();
}

KC_RECONCILER(at) = {
    .description = "runs a command once at a given time",
    .kind = &at_kind,
    .owns = KC_KINDS(&kc_kind_pod),
    .reconcile = at_reconcile,
};
