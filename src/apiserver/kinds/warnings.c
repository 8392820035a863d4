/* SPDX-License-Identifier: Apache-2.0 */
/*
 * warnings.c: warnings about pods, Services and Ingresses, in the words of Kubernetes. They are
 * told in headers when an object is written, and change nothing.
 *
 * To add one: a function here, and a line at the kind's strategy.
 */
#include "apiserver/kinds/warnings.h"

#include "apiserver/kinds/place.h"
#include "kc/mem.h"

/* ---- pods ---- */

static void warn_at(const kc__place *place, kc_paths *warnings, const char *text)
{
    kc_vec_push(warnings, kc_asprintf("%s: %s", kc__place_path(place), text));
}

/* The later of two variables counts, and a patch may drop one. */
static void warn_env(const kc__place *container, kc_paths *warnings)
{
    kc__place env = kc__member(container, "env");
    kc_scoped(kc_map) seen = {0};
    size_t i = 0;
    kc_items (env.value, value) {
        kc__place item = kc__item(&env, value, i++);
        kc_str name = kc__text_in(&item, "name");
        if (kc_map_put(&seen, name, (void *)value))
            warn_at(&item, warnings,
                    kc_arena_printf(&item.errors->arena,
                                    "hides previous definition of \"%.*s\", which may be dropped "
                                    "when using apply",
                                    KC_ARG(name)));
    }
}

static void warn_ports(const kc__place *container, kc_paths *warnings)
{
    kc__place ports = kc__member(container, "ports");
    kc_scoped(kc_map) seen = {0};
    size_t i = 0;
    kc_items (ports.value, value) {
        kc__place item = kc__item(&ports, value, i++);
        kc__place port = kc__member(&item, "containerPort"), host = kc__member(&item, "hostPort");
        kc_arena *arena = &item.errors->arena;
        const char *path = kc__place_path(&item);
        const char *key =
            kc_arena_printf(arena, "%.*s/%lld/%.*s/%lld", KC_ARG(kc__text_in(&item, "protocol")),
                            (long long)kc__number(&port), KC_ARG(kc__text_in(&item, "hostIP")),
                            (long long)kc__number(&host));
        const char *first = kc_map_get(&seen, kc_cstr(key));
        if (first)
            warn_at(&item, warnings,
                    kc_arena_printf(arena, "duplicate port definition with %s", first));
        else
            kc_map_put(&seen, kc_cstr(key), (void *)path);
    }
}

static void warn_secrets(const kc__place *spec, kc_paths *warnings)
{
    kc__place secrets = kc__member(spec, "imagePullSecrets");
    size_t i = 0;
    kc_items (secrets.value, value) {
        kc__place secret = kc__item(&secrets, value, i++), name = kc__member(&secret, "name");
        if (!kc__there(&name))
            warn_at(&name, warnings, "invalid empty name \"\"");
    }
}

static void warn_pod_spec(const kc__place *spec, kc_paths *warnings)
{
    static const char *const lists[] = {"initContainers", "containers"};
    warn_secrets(spec, warnings);
    for (size_t l = 0; l < KC_COUNT(lists); l++) {
        kc__place list = kc__member(spec, lists[l]);
        size_t i = 0;
        kc_items (list.value, value) {
            kc__place container = kc__item(&list, value, i++);
            warn_env(&container, warnings);
            warn_ports(&container, warnings);
        }
    }
}

void kc__pod_warnings(const kc_value *pod, kc_paths *warnings)
{
    kc_scoped(kc_field_errors) paths = {0};
    kc__place root = kc__place_root(pod, &paths), spec = kc__member(&root, "spec");
    warn_pod_spec(&spec, warnings);
}

void kc__template_warnings(const kc_value *object, kc_paths *warnings)
{
    kc_scoped(kc_field_errors) paths = {0};
    kc__place root = kc__place_root(object, &paths), spec = kc__member(&root, "spec");
    kc__place template = kc__member(&spec, "template"), pod = kc__member(&template, "spec");
    warn_pod_spec(&pod, warnings);
}

/* ---- what leads to pods ---- */

static void warn_if(kc_paths *warnings, bool odd, const char *text)
{
    if (odd)
        kc_vec_push(warnings, kc_asprintf("%s", text));
}

void kc__service_warnings(const kc_value *service, kc_paths *warnings)
{
    const kc_value *spec = kc_get(service, "spec");
    bool headless = kc_str_is(kc_as_str(kc_get(spec, "clusterIP")), "None");
    bool named = kc_str_is(kc_as_str(kc_get(spec, "type")), "ExternalName");
    bool outside = kc_len(kc_get(spec, "externalIPs"));
    warn_if(warnings, headless && kc_as_str(kc_get(spec, "loadBalancerIP")).n,
            "spec.loadBalancerIP is ignored for headless services");
    warn_if(warnings, headless && outside, "spec.externalIPs is ignored for headless services");
    warn_if(warnings, headless && kc_as_str(kc_get(spec, "sessionAffinity")).n,
            "spec.SessionAffinity is ignored for headless services");
    warn_if(warnings, named && outside,
            "spec.externalIPs is ignored when spec.type is \"ExternalName\"");
    warn_if(warnings, !named && kc_as_str(kc_get(spec, "externalName")).n,
            "spec.externalName is ignored when spec.type is not \"ExternalName\"");
}

void kc__ingress_warnings(const kc_value *ingress, kc_paths *warnings)
{
    const kc_value *annotations = kc_get(kc_get(ingress, "metadata"), "annotations");
    warn_if(warnings, kc_get(annotations, "kubernetes.io/ingress.class"),
            "annotation \"kubernetes.io/ingress.class\" is deprecated, please use "
            "'spec.ingressClassName' instead");
}
