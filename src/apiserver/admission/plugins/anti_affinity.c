/* SPDX-License-Identifier: Apache-2.0 */
/*
 * anti_affinity.c: implements the admission plugin LimitPodHardAntiAffinityTopology. It rejects
 * pods that require anti-affinity over a wider topology than a node: such a pod keeps all others
 * out of a zone.
 */
#include "apiserver/admission/plugins/anti_affinity.h"

#include "apiserver/admission/chain/plugin_request.h"

#define HOST_NAME "kubernetes.io/hostname"

kc__rest_verdict kc__admission_anti_affinity(kc__rest_call *call)
{
    if (!kc__admission_writes(call, "core/pods", NULL))
        return KC__REST_NEXT;
    kc_auto(kc_view) *view = kc_view_of(call->proposed);
    const kc_value *terms =
        kc_value_nested(kc_view_root(view), "spec.affinity.podAntiAffinity."
                                            "requiredDuringSchedulingIgnoredDuringExecution");
    kc_value_each_item (terms, term) {
        const kc_str key = kc_value_as_str(kc_value_get(term, "topologyKey"));
        if (!kc_str_is(key, HOST_NAME))
            return kc__admission_forbid(
                call,
                "affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey %.*s but only "
                "key " HOST_NAME " is allowed",
                KC_ARG(key));
    }
    return KC__REST_NEXT;
}
