/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sidecar.c: injects sidecars into pods: containers and volumes of a ConfigMap (envoy-initializer),
 * as Istio's initializer once did.
 *
 *     new pod             ──▶ hook.c: patches it before it is stored
 *     existing pod        ──▶ existing.c: containers cannot be changed, so the pod template
 *     ConfigMap changes   ──▶   is patched, and the workload replaces the pods
 *
 * Both use inject.c, which computes the patch without a server. The annotation
 * initializer.kubernetes.io/envoy: "true" or a label selector chooses the pods; the annotation
 * sidecar.kubecontroller.io/inject: "false" overrides both.
 */
#include "sidecar/sidecar.h"

enum { CONFIG, SELECTOR, HOOK, HOOK_URL };

/* ---- the ConfigMap ---- */

static kc_object *find_map(const injector *in, kc_client *client, kc_str ns, kc_error *err)
{
    kc_object *own =
        kc_client_get(client, &kc_kind_config_map, (kc_key){ns, in->config.name}, NULL, err);
    if (own || !kc_is_not_found(err) || kc_str_eq(ns, in->config.ns))
        return own;
    kc_error_done(err);
    return kc_client_get(client, &kc_kind_config_map, in->config, NULL, err);
}

sidecars *sidecars_for(const injector *in, kc_client *client, kc_recorder *recorder, kc_str ns,
                       kc_error *err)
{
    kc_auto(kc_object) *map = find_map(in, client, ns, err);
    sidecars *what = map ? sidecars_read(map, err) : NULL;
    if (map && !what)
        kc_recorder_event(recorder, map, KC_EVENT_TYPE_WARNING, "BadSidecars", "%s",
                          kc_error_text(err));
    return what;
}

/* ---- setup ---- */

static void injector_free(void *state)
{
    injector *in = state;
    kc_selector_free(in->rule);
    kc_rate_limiter_free(in->write_limiter);
    kc_informer_release(in->pods);
    kc_informer_release(in->maps);
    free(in);
}

static int read_settings(injector *in, const char *const *settings, kc_error *err)
{
    if (kc_key_parse(kc_cstr(settings[CONFIG]), &in->config, err) < 0 || !in->config.ns.n ||
        !in->config.name.n)
        return kc_error_set(err, KC_INVALID, "config: \"%s\" is not namespace/name",
                            settings[CONFIG]);
    if (*settings[SELECTOR] && !(in->rule = kc_selector_parse(kc_cstr(settings[SELECTOR]), err)))
        return kc_error_wrap(err, "selector");
    in->address = settings[HOOK];
    in->url = settings[HOOK_URL];
    return 0;
}

static int setup(const kc_reconciler_setup *setup, void **ret_user, kc_error *err)
{
    injector *in = kc_new(injector);
    in->manager = setup->manager;
    kc_manager_defer(setup->manager, in, injector_free);
    *ret_user = in;
    if (read_settings(in, setup->settings, err) < 0 || sidecar_watch_existing(in, err) < 0)
        return kc_error_result(err);
    return !*in->address ||
                   (sidecar_serve(in, err) == 0 && sidecar_keep_configuration(in, err) == 0)
               ? 0
               : kc_error_result(err);
}

KC_RECONCILER(sidecar) = {
    .description = "injects containers and volumes of a ConfigMap into pods",
    .kind = &kc_kind_pod,
    .settings = KC_SETTINGS(
        {"config", "default/envoy-initializer",
         "namespace/name of the ConfigMap; one with this name in a pod's own namespace has "
         "precedence"},
        {"selector", SIDECARS_INJECT "=true",
         "label selector of pods that get sidecars; \"\" "
         "for none"},
        {"hook", "127.0.0.1:0", "listen address of the webhook; \"\" disables it"},
        {"hook-url", "",
         "URL of the webhook for the API server: https://… or service://namespace/name:port"}),
    .setup = setup,
};
