/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hook.c: sidecars for new pods: a mutating webhook at /mutate--v1-pod that returns a JSON patch.
 *
 * It never denies a pod. A pod whose sidecars are unavailable (no ConfigMap, an invalid one, no
 * cache yet) is admitted with a warning: it works without them, and existing.c handles it later.
 * The hook writes nothing except an event about an invalid ConfigMap, and in a dry run not even
 * that.
 *
 * Called on several threads at a time, also in processes that are not the leader.
 */
#include "sidecar/sidecar.h"

#include "kc/json_patch.h"
#include "kc/strategic_patch.h"

static const char *const no_config[] = {"ConfigMap of the sidecars not found: pod created "
                                        "without sidecars",
                                        NULL};
static const char *const bad_config[] = {"invalid sidecar ConfigMap (see its events): pod "
                                         "created without sidecars",
                                         NULL};
static const char *const not_now[] = {"failed to read the sidecar ConfigMap: pod created "
                                      "without sidecars",
                                      NULL};

static sidecars *look_up(const injector *in, const kc_admission_request *request,
                         const char *const **ret_warnings)
{
    kc_scoped(kc_error) err = {0};
    kc_recorder *recorder =
        request->dry_run
            ? NULL
            : kc_recorder_with_component(kc_manager_recorder(in->manager), "sidecar", NULL);
    sidecars *what =
        kc_informer_has_synced(in->maps)
            ? sidecars_for(in, kc_manager_client(in->manager), recorder, request->ns, &err)
            : NULL;
    if (!what)
        *ret_warnings = kc_is_not_found(&err) ? no_config
                        : kc_is_invalid(&err) ? bad_config
                                              : not_now;
    return what;
}

/* Converts the strategic merge patch to the equivalent JSON patch for this pod. */
static int translate(const kc_value *pod, const kc_edit *patch, kc_buf *out, kc_error *err)
{
    kc_auto(kc_edit) *changed = kc_edit_of_value(pod);
    kc_auto(kc_view) *strategic = kc_edit_view(patch, err);
    if (!strategic ||
        kc_strategic_patch_apply(changed, kc_view_root(strategic), &kc_patch_schema_pod, err) < 0)
        return kc_error_result(err);
    kc_auto(kc_view) *to = kc_edit_view(changed, err);
    kc_auto(kc_edit) *json = to ? kc_json_patch_make(pod, kc_view_root(to)) : NULL;
    if (json)
        kc_node_write(out, kc_edit_root(json));
    return json ? 0 : kc_error_result(err);
}

static int admit(const kc_admission_request *request, kc_admission_response *ret, void *user,
                 kc_error *err)
{
    const injector *in = user;
    if (!request->object || !kc_str_is(request->operation, "CREATE") || request->subresource.n)
        return 0;
    kc_auto(kc_view) *view = kc_view_of(request->object);
    const kc_value *pod = kc_view_root(view);
    if (!sidecars_wanted(kc_value_get(pod, "metadata"), in->rule))
        return 0;
    kc_auto(sidecars) *what = look_up(in, request, &ret->warnings);
    kc_auto(kc_edit) *patch = what ? sidecars_patch(pod, what, err) : NULL;
    if (!patch || !kc_node_len(kc_edit_root(patch)))
        return 0;
    return translate(pod, patch, &ret->patch, err);
}

int sidecar_serve(injector *in, kc_error *err)
{
    static const char *const configurations[] = {SIDECAR_CONFIGURATION, NULL};
    kc_scoped(kc_arena) arena = {0};
    const char *names[4] = {0};
    if (sidecar_host_names(in, &arena, names, err) < 0)
        return kc_error_result(err);
    const kc_webhook_server_opts opts = {
        .address = in->address, .names = names, .configurations = configurations};
    in->hooks = kc_webhook_server_new(in->manager, &opts, err);
    return in->hooks ? kc_webhook_add_handler(in->hooks, SIDECAR_PATH, admit, in, err)
                     : kc_error_result(err);
}
