/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stored_key_layout_1.c: renames keys of layout 1 to keys of layout 2.
 *
 * The table is frozen: it lists the built-in resources of the time when layout 2 replaced layout 1,
 * with their prefix in both. A resource that is added later never had keys in layout 1 and needs no
 * row. Resources whose prefix did not change (those of apiextensions.k8s.io and
 * apiregistration.k8s.io, and all custom resources) have no row either.
 */
#include "apiserver/storage/stored_key_layout_1.h"

#include "apiserver/storage/stored_key.h"

/* Prefixes below KC__STORAGE_KEY_ROOT. Sorted by the old prefix. */
static const struct {
    const char *old_prefix, *new_prefix;
} renamed_prefixes[] = {
    {"admissionregistration.k8s.io/mutatingwebhookconfigurations/",
     "mutatingwebhookconfigurations/"},
    {"admissionregistration.k8s.io/validatingadmissionpolicies/", "validatingadmissionpolicies/"},
    {"admissionregistration.k8s.io/validatingadmissionpolicybindings/",
     "validatingadmissionpolicybindings/"},
    {"admissionregistration.k8s.io/validatingwebhookconfigurations/",
     "validatingwebhookconfigurations/"},
    {"apps/controllerrevisions/", "controllerrevisions/"},
    {"apps/daemonsets/", "daemonsets/"},
    {"apps/deployments/", "deployments/"},
    {"apps/replicasets/", "replicasets/"},
    {"apps/statefulsets/", "statefulsets/"},
    {"autoscaling/horizontalpodautoscalers/", "horizontalpodautoscalers/"},
    {"batch/cronjobs/", "cronjobs/"},
    {"batch/jobs/", "jobs/"},
    {"certificates.k8s.io/certificatesigningrequests/", "certificatesigningrequests/"},
    {"coordination.k8s.io/leases/", "leases/"},
    {"core/configmaps/", "configmaps/"},
    {"core/endpoints/", "services/endpoints/"},
    {"core/events/", "events/"},
    {"core/limitranges/", "limitranges/"},
    {"core/namespaces/", "namespaces/"},
    {"core/nodes/", "minions/"},
    {"core/persistentvolumeclaims/", "persistentvolumeclaims/"},
    {"core/persistentvolumes/", "persistentvolumes/"},
    {"core/pods/", "pods/"},
    {"core/podtemplates/", "podtemplates/"},
    {"core/replicationcontrollers/", "controllers/"},
    {"core/resourcequotas/", "resourcequotas/"},
    {"core/secrets/", "secrets/"},
    {"core/serviceaccounts/", "serviceaccounts/"},
    {"core/services/", "services/specs/"},
    {"discovery.k8s.io/endpointslices/", "endpointslices/"},
    {"flowcontrol.apiserver.k8s.io/flowschemas/", "flowschemas/"},
    {"flowcontrol.apiserver.k8s.io/prioritylevelconfigurations/", "prioritylevelconfigurations/"},
    {"networking.k8s.io/ingressclasses/", "ingressclasses/"},
    {"networking.k8s.io/ingresses/", "ingress/"},
    {"networking.k8s.io/ipaddresses/", "ipaddresses/"},
    {"networking.k8s.io/networkpolicies/", "networkpolicies/"},
    {"networking.k8s.io/servicecidrs/", "servicecidrs/"},
    {"node.k8s.io/runtimeclasses/", "runtimeclasses/"},
    {"policy/poddisruptionbudgets/", "poddisruptionbudgets/"},
    {"rbac.authorization.k8s.io/clusterrolebindings/", "clusterrolebindings/"},
    {"rbac.authorization.k8s.io/clusterroles/", "clusterroles/"},
    {"rbac.authorization.k8s.io/rolebindings/", "rolebindings/"},
    {"rbac.authorization.k8s.io/roles/", "roles/"},
    {"resource.k8s.io/deviceclasses/", "deviceclasses/"},
    {"resource.k8s.io/resourceclaims/", "resourceclaims/"},
    {"resource.k8s.io/resourceclaimtemplates/", "resourceclaimtemplates/"},
    {"resource.k8s.io/resourceslices/", "resourceslices/"},
    {"scheduling.k8s.io/priorityclasses/", "priorityclasses/"},
    {"storage.k8s.io/csidrivers/", "csidrivers/"},
    {"storage.k8s.io/csinodes/", "csinodes/"},
    {"storage.k8s.io/csistoragecapacities/", "csistoragecapacities/"},
    {"storage.k8s.io/storageclasses/", "storageclasses/"},
    {"storage.k8s.io/volumeattachments/", "volumeattachments/"},
    {"storage.k8s.io/volumeattributesclasses/", "volumeattributesclasses/"},
};

bool kc__storage_key_migrate(kc_buf *out, kc_str key)
{
    if (!kc_str_starts(key, KC_STR(KC__STORAGE_KEY_ROOT)))
        return false;
    const kc_str path = kc_str_sub(key, strlen(KC__STORAGE_KEY_ROOT), key.n);
    for (size_t i = 0; i < KC_COUNT(renamed_prefixes); i++) {
        const kc_str old = kc_cstr(renamed_prefixes[i].old_prefix);
        if (!kc_str_starts(path, old))
            continue;
        kc_buf_puts(out, KC__STORAGE_KEY_ROOT);
        kc_buf_puts(out, renamed_prefixes[i].new_prefix);
        kc_buf_append(out, kc_str_sub(path, old.n, path.n));
        return true;
    }
    return false;
}
