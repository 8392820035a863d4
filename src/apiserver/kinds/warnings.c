/* SPDX-License-Identifier: Apache-2.0 */
/*
 * warnings.c: warnings about Services and Ingresses, with Kubernetes' messages. The server sends
 * them in Warning headers of the response to a write; they do not affect the write. Those about
 * pods are in core/pod_warnings.c.
 *
 * To add a warning: add a function here, and a row in the kind's strategy.
 */
#include "apiserver/kinds/warnings.h"

#include "kc/mem.h"

static void warn_if(kc_paths *warnings, bool odd, const char *text)
{
    if (odd)
        kc_vec_push(warnings, kc_asprintf("%s", text));
}

void kc__warnings_service(const kc_value *service, kc_paths *warnings)
{
    const kc_value *spec = kc_value_get(service, "spec");
    bool headless = kc_str_is(kc_value_as_str(kc_value_get(spec, "clusterIP")), "None");
    bool named = kc_str_is(kc_value_as_str(kc_value_get(spec, "type")), "ExternalName");
    bool outside = kc_value_len(kc_value_get(spec, "externalIPs"));
    warn_if(warnings, headless && kc_value_as_str(kc_value_get(spec, "loadBalancerIP")).n,
            "spec.loadBalancerIP is ignored for headless services");
    warn_if(warnings, headless && outside, "spec.externalIPs is ignored for headless services");
    warn_if(warnings, headless && kc_value_as_str(kc_value_get(spec, "sessionAffinity")).n,
            "spec.SessionAffinity is ignored for headless services");
    warn_if(warnings, named && outside,
            "spec.externalIPs is ignored when spec.type is \"ExternalName\"");
    warn_if(warnings, !named && kc_value_as_str(kc_value_get(spec, "externalName")).n,
            "spec.externalName is ignored when spec.type is not \"ExternalName\"");
}

void kc__warnings_ingress(const kc_value *ingress, kc_paths *warnings)
{
    const kc_value *annotations = kc_value_get(kc_value_get(ingress, "metadata"), "annotations");
    warn_if(warnings, kc_value_get(annotations, "kubernetes.io/ingress.class"),
            "annotation \"kubernetes.io/ingress.class\" is deprecated, please use "
            "'spec.ingressClassName' instead");
}
