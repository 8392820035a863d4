/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sidecar.c: gives pods their sidecars: containers and volumes of a ConfigMap (envoy-initializer),
 * as Istio's initializer once did.
 *
 *     a pod is made      ──▶ hook.c: it has them before it is stored
 *     a pod is there     ──▶ existing.c: its containers cannot be changed any more, so the template
 *     the map changes    ──▶   it was made of is, and its workload makes it anew
 *
 * Both ask inject.c what is to be done, which knows nothing of servers. Pods are chosen by the
 * annotation initializer.kubernetes.io/envoy: "true" or by a rule, a label selector; the annotation
 * sidecar.kubecontroller.io/inject: "false" says no to both.
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
        kc_event(recorder, map, KC_WARNING, "BadSidecars", "%s", kc_error_text(err));
    return what;
}

/* ---- setup ---- */

static void injector_free(void *state)
{
    injector *in = state;
    kc_selector_free(in->rule);
    kc_limiter_free(in->patience);
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

static int setup(const kc_setup *setup, void **ret_user, kc_error *err)
{
    injector *in = kc_new(injector);
    in->manager = setup->manager;
    kc_manager_keep(setup->manager, in, injector_free);
    *ret_user = in;
    if (read_settings(in, setup->settings, err) < 0 || sidecar_watch_existing(in, err) < 0)
        return -1;
    return !*in->address ||
                   (sidecar_serve(in, err) == 0 && sidecar_keep_configuration(in, err) == 0)
               ? 0
               : -1;
}

KC_RECONCILER(sidecar) = {
    .description = "gives pods the containers and volumes of a ConfigMap",
    .kind = &kc_kind_pod,
    .settings = KC_SETTINGS(
        {"config", "default/envoy-initializer",
         "the ConfigMap; one of the same name in a pod's own namespace goes first"},
        {"selector", SIDECARS_INJECT "=true", "labels of pods that get them; \"\" is none"},
        {"hook", "127.0.0.1:0", "where pods are looked at before they are made; \"\" is nowhere"},
        {"hook-url", "",
         "how the API server reaches that: https://…, or service://namespace/name:port"}),
    .setup = setup,
};
