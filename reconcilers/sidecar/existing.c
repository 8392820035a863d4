/* SPDX-License-Identifier: Apache-2.0 */
/*
 * existing.c: sidecars for existing pods.
 *
 * The containers of a pod cannot be changed. So for a pod that lacks its sidecars, or has those of
 * an older ConfigMap, the template of its topmost workload is patched, which then replaces its pods
 * by its own rules. The template's labels and annotations decide whether it gets sidecars. A pod
 * that cannot be updated (no owner, or a Job, or an owner whose template must not be changed) gets
 * an event, once.
 *
 * The workload is read from the server, and the patch carries its resourceVersion: caches may be
 * stale.
 *
 * To support one more workload, add it to `workloads`.
 */
#include "sidecar/sidecar.h"

#define INDEX    "sidecar"
#define ANYWHERE "*" /* Not a valid namespace name. */

/* Owners above a pod; usually two, and owner references may form a cycle. */
enum { MAX_OWNERS = 4 };

typedef struct workload {
    const kc_kind *kind;
    const char *template; /* Path of its template; NULL: it cannot be changed. */
} workload;

static const workload workloads[] = {
    {&kc_kind_deployment, "spec.template"},
    {&kc_kind_replica_set, "spec.template"},
    {&kc_kind_stateful_set, "spec.template"},
    {&kc_kind_daemon_set, "spec.template"},
    {&kc_kind_cron_job, "spec.jobTemplate.spec.template"},
    {&kc_kind_job, NULL},
};

/* ---- selecting pods ---- */

/* To add sidecars, or to remove them. */
static bool is_concerned(const injector *in, const kc_object *pod)
{
    kc_auto(kc_view) *view = kc_view_parse(kc_object_metadata_json(pod), NULL, NULL);
    const kc_value *metadata = kc_view_root(view);
    return sidecars_wanted(metadata, in->rule) || sidecars_noted(metadata);
}

static bool concerned_passes(kc_change_type type, const kc_change *change, void *user)
{
    (void)type;
    return is_concerned(user, change->object);
}

static void index_pod(const kc_object *pod, kc_index_emit *emit, void *to, void *user)
{
    if (!is_concerned(user, pod))
        return;
    emit(kc_object_namespace(pod), to);
    emit(KC_STR(ANYWHERE), to);
}

static bool is_config(kc_change_type type, const kc_change *change, void *user)
{
    const injector *in = user;
    (void)type;
    return kc_str_eq(kc_object_name(change->object), in->config.name);
}

/* Before the pods are listed nothing is missed: each is queued when it is first seen. */
static void pods_of_config(const kc_object *map, kc_enqueuer *to, void *user)
{
    const injector *in = user;
    const bool is_common = kc_key_eq(kc_object_key(map), in->config);
    kc_autofree char *where = kc_str_dup(is_common ? KC_STR(ANYWHERE) : kc_object_namespace(map));
    kc_scoped(kc_object_list) pods = {0};
    if (kc_informer_has_synced(in->pods))
        kc_cache_list(kc_manager_cache(in->manager), &kc_kind_pod,
                      &(kc_list_opts){.index = INDEX, .value = where}, &pods, NULL);
    for (size_t i = 0; i < pods.n; i++)
        kc_enqueue(to, kc_object_key(pods.items[i]));
}

/* ---- the workload ---- */

static const workload *find_workload(const kc_owner *owner)
{
    const kc_gvk is = kc_gvk_of(owner->api_version, owner->kind);
    for (size_t i = 0; i < KC_COUNT(workloads); i++)
        if (kc_gvk_eq(is, kc_kind_gvk(workloads[i].kind)))
            return &workloads[i];
    return NULL;
}

/* KC_NOT_FOUND also if another object has its name by now. */
static kc_object *get_owner(kc_context *ctx, kc_str ns, const kc_owner *owner, const kc_kind *kind,
                            kc_error *err)
{
    const kc_key key = {ns, owner->name};
    kc_auto(kc_object) *it =
        kc_client_get(ctx->client, kind, key, &(kc_get_opts){.live = true}, err);
    if (it && !kc_str_eq(kc_object_uid(it), owner->uid)) {
        kc_error_set(err, KC_NOT_FOUND, "%s %.*s is a different object", kind->kind,
                     KC_ARG(owner->name));
        return NULL;
    }
    return kc_take(it);
}

/*
 * The topmost workload above a pod, and its kind. NULL without an error if no template can be
 * changed: no owner, or an owner of another kind above, which would revert it.
 */
static kc_object *find_top(kc_context *ctx, const kc_object *pod, const workload **ret,
                           kc_error *err)
{
    kc_scoped(kc_arena) arena = {0};
    kc_auto(kc_object) *at = kc_object_ref(pod);
    const workload *is = NULL;
    kc_owner owner;
    size_t up = 0;
    while (kc_object_controller(at, &arena, &owner)) {
        is = ++up <= MAX_OWNERS ? find_workload(&owner) : NULL;
        if (!is)
            return NULL;
        kc_object *above = get_owner(ctx, kc_object_namespace(pod), &owner, is->kind, err);
        if (!above)
            return NULL;
        kc_object_unref(at);
        at = above;
    }
    *ret = is;
    return is && is->template ? kc_take(at) : NULL;
}

/* ---- patching the template ---- */

/* The patch that pods of this template need; {} if none. NULL on error. */
static kc_edit *patch_for(const injector *in, const kc_value *pod, const sidecars *what,
                          kc_error *err)
{
    const bool wanted = sidecars_wanted(kc_value_get(pod, "metadata"), in->rule);
    return sidecars_patch(pod, wanted ? what : NULL, err);
}

static kc_result refused(kc_context *ctx, const kc_object *top, const kc_error *err)
{
    if (!kc_is_invalid(err))
        return kc_retry(err);
    kc_recorder_event(ctx->recorder, top, KC_EVENT_TYPE_WARNING, "SidecarsRefused", "%s",
                      kc_error_text(err));
    return kc_terminal(err);
}

static kc_result write_patch(kc_context *ctx, const kc_object *top, const workload *is,
                             const kc_edit *patch, kc_error *err)
{
    kc_auto(kc_edit) *patch_object = kc_edit_new();
    kc_scoped(kc_buf) text = {0};
    kc_edit_set_nested(patch_object, "metadata.resourceVersion",
                       kc_node_str(patch_object, kc_object_resource_version(top)));
    kc_edit_set_nested(patch_object, is->template,
                       kc_node_clone(patch_object, kc_edit_root(patch)));
    kc_node_write(&text, kc_edit_root(patch_object));
    kc_auto(kc_object) *now = kc_client_patch(ctx->client, is->kind, kc_object_key(top),
                                              KC_PATCH_STRATEGIC, kc_buf_str(&text), NULL, err);
    if (!now)
        return refused(ctx, top, err);
    kc_recorder_event(ctx->recorder, top, KC_EVENT_TYPE_NORMAL, "SidecarsChanged",
                      "updated the sidecars of its pod template; its pods are replaced");
    return kc_done();
}

/* ---- pods that cannot be updated ---- */

/* Events outlive processes, and the recorder does not know those of earlier ones. */
static bool has_event(kc_context *ctx, const kc_object *pod, const char *reason)
{
    kc_autofree char *ns = kc_str_dup(kc_object_namespace(pod));
    kc_autofree char *fields =
        kc_asprintf("involvedObject.uid=%.*s,reason=%s", KC_ARG(kc_object_uid(pod)), reason);
    kc_scoped(kc_object_list) events = {0};
    kc_client_list(ctx->client, &kc_kind_event,
                   &(kc_list_opts){.ns = ns, .fields = fields, .limit = 1, .live = true}, &events,
                   NULL);
    return events.n > 0;
}

static kc_result sidecar_existing_notify(kc_context *ctx, const kc_object *pod, bool has_old)
{
    const char *reason = has_old ? "SidecarsOutdated" : "SidecarsMissing";
    if (!has_event(ctx, pod, reason))
        kc_recorder_event(ctx->recorder, pod, KC_EVENT_TYPE_WARNING, reason,
                          "containers of a pod cannot be changed: recreate it to get its %s",
                          has_old ? "new sidecars" : "sidecars");
    return kc_done();
}

/* ---- one pod ---- */

static bool sidecar_existing_is_finished(const kc_object *pod, const kc_value *root)
{
    const kc_str phase = kc_value_as_str(kc_value_nested(root, "status.phase"));
    return kc_object_being_deleted(pod) || kc_str_is(phase, "Succeeded") ||
           kc_str_is(phase, "Failed");
}

static kc_result put_right(kc_context *ctx, const kc_object *pod, const kc_value *root,
                           const sidecars *what, kc_error *err)
{
    const injector *in = ctx->user;
    const workload *is = NULL;
    kc_auto(kc_object) *top = find_top(ctx, pod, &is, err);
    if (err->reason)
        return kc_done_if_not_found(err); /* The pod is deleted with its owner. */
    const kc_value *metadata = kc_value_get(root, "metadata");
    const bool wanted = sidecars_wanted(metadata, in->rule);
    if (!top)
        return wanted ? sidecar_existing_notify(ctx, pod, sidecars_noted(metadata)) : kc_done();
    kc_auto(kc_view) *view = kc_view_of(top);
    const kc_value *template = kc_value_nested(kc_view_root(view), is->template);
    kc_auto(kc_edit) *patch = patch_for(in, template, what, err);
    if (!patch)
        return kc_retry(err);
    if (kc_node_len(kc_edit_root(patch)))
        return kc_object_being_deleted(top) ? kc_done() : write_patch(ctx, top, is, patch, err);
    const bool is_odd = wanted && !sidecars_wanted(kc_value_get(template, "metadata"), in->rule);
    return is_odd ? sidecar_existing_notify(ctx, pod, sidecars_noted(metadata)) : kc_done();
}

static kc_result sidecar_existing_reconcile(kc_context *ctx, const kc_request *req, kc_error *err)
{
    const injector *in = ctx->user;
    kc_auto(kc_object) *pod = kc_client_get(ctx->client, &kc_kind_pod, req->key, NULL, err);
    if (!pod)
        return kc_done_if_not_found(err);
    kc_auto(kc_view) *view = kc_view_of(pod);
    const kc_value *root = kc_view_root(view);
    if (sidecar_existing_is_finished(pod, root))
        return kc_done();
    kc_auto(sidecars) *what = sidecars_for(in, ctx->client, ctx->recorder, req->key.ns, err);
    if (!what && kc_is_invalid(err))
        kc_error_done(err); /* The problem was reported; a change of the ConfigMap queues the pod
                             * again. */
    if (!what)
        return err->reason ? kc_done_if_not_found(err) : kc_done();
    kc_auto(kc_edit) *missing = patch_for(in, root, what, err);
    if (!missing)
        return kc_retry(err);
    return kc_node_len(kc_edit_root(missing)) ? put_right(ctx, pod, root, what, err) : kc_done();
}

int sidecar_watch_existing(injector *in, kc_error *err)
{
    kc_cache *cache = kc_manager_cache(in->manager);
    if (kc_cache_add_index(cache, &kc_kind_pod, INDEX, index_pod, in, err) < 0 ||
        !(in->pods = kc_cache_informer(cache, &kc_kind_pod, err)) ||
        !(in->maps = kc_cache_informer(cache, &kc_kind_config_map, err)))
        return kc_error_result(err);
    const kc_controller_opts opts = {
        .name = "sidecar",
        .component = "sidecar",
        .kind = &kc_kind_pod,
        .kind_predicate = kc_predicate_and(
            kc_predicate_new(concerned_passes, in),
            kc_predicate_or(kc_predicate_labels_changed(), kc_predicate_annotations_changed())),
        .watches = KC_WATCHES({.kind = &kc_kind_config_map,
                               .map = pods_of_config,
                               .map_user = in,
                               .predicate = kc_predicate_new(is_config, in)}),
        .reconcile = sidecar_existing_reconcile,
        .user = in,
    };
    return kc_controller_new(in->manager, &opts, err) ? 0 : kc_error_result(err);
}
