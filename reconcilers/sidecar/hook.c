/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hook.c: sidecars for pods that are being made: the API server asks at /mutate--v1-pod, and gets a
 * JSON patch.
 *
 * It never says no. A pod whose sidecars cannot be had (no ConfigMap, one without sense, no cache
 * yet) is let in with a warning: it works without them, and existing.c will see it. It writes
 * nothing but an event about such a ConfigMap, and in a dry run not even that.
 *
 * Called on several threads at a time, also in programs that do not lead.
 */
#include "sidecar/sidecar.h"

#include "kc/json_patch.h"
#include "kc/strategic_patch.h"

static const char *const no_config[] = {"there is no ConfigMap that says what the sidecars of this "
                                        "pod are: it is made without",
                                        NULL};
static const char *const bad_config[] = {"the ConfigMap of this pod's sidecars cannot be "
                                         "understood, as its events tell: it is made without",
                                         NULL};
static const char *const not_now[] = {"the sidecars of this pod cannot be looked up now: it is "
                                      "made without",
                                      NULL};

static sidecars *look_up(const injector *in, const kc_admission *request,
                         const char *const **ret_warnings)
{
    kc_scoped(kc_error) err = {0};
    kc_recorder *recorder =
        request->dry_run ? NULL : kc_recorder_as(kc_manager_recorder(in->manager), "sidecar");
    sidecars *what = kc_informer_synced(in->maps) ? sidecars_for(in, kc_manager_client(in->manager),
                                                                 recorder, request->ns, &err)
                                                  : NULL;
    if (!what)
        *ret_warnings = kc_is_not_found(&err) ? no_config
                        : kc_is_invalid(&err) ? bad_config
                                              : not_now;
    return what;
}

/* The strategic merge patch as the JSON patch that does the same to this pod. */
static int translate(const kc_value *pod, const kc_edit *patch, kc_buf *out, kc_error *err)
{
    kc_auto(kc_edit) *changed = kc_edit_of_value(pod);
    kc_auto(kc_view) *strategic = kc_edit_view(patch, err);
    if (!strategic ||
        kc_strategic_patch_apply(changed, kc_view_root(strategic), &kc_patch_schema_pod, err) < 0)
        return -1;
    kc_auto(kc_view) *to = kc_edit_view(changed, err);
    kc_auto(kc_edit) *json = to ? kc_json_patch_make(pod, kc_view_root(to)) : NULL;
    if (json)
        kc_node_write(out, kc_edit_root(json));
    return json ? 0 : -1;
}

static int admit(const kc_admission *request, kc_admission_answer *ret, void *user, kc_error *err)
{
    const injector *in = user;
    if (!request->object || !kc_str_is(request->operation, "CREATE") || request->subresource.n)
        return 0;
    kc_auto(kc_view) *view = kc_view_of(request->object);
    const kc_value *pod = kc_view_root(view);
    if (!sidecars_wanted(kc_get(pod, "metadata"), in->rule))
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
        return -1;
    const kc_webhook_server_opts opts = {
        .address = in->address, .names = names, .configurations = configurations};
    in->hooks = kc_webhook_server_new(in->manager, &opts, err);
    return in->hooks ? kc_webhook_handle(in->hooks, SIDECAR_PATH, admit, in, err) : -1;
}
