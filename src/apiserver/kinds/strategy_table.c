/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strategy_table.c: maps resources to strategies. A resource that is not listed is an ordinary
 * kind.
 *
 * To add a strategy: write GROUP/KIND_strategy.c, declare its table in strategy.h, add its row
 * here.
 */
#include "apiserver/kinds/strategy.h"

#include "apiserver/kinds/apiextensions/crd_strategy.h"

static const kc__strategy ordinary = {0};
static const kc__strategy shown = {.shows_deleted = true};
static const kc__strategy conditional = {.conditional = true};
static const kc__strategy upserted_conditional = {.upserts = true, .conditional = true};

static const struct {
    const char *storage;
    const kc__strategy *strategy;
} table[] = {
    {"admissionregistration.k8s.io/mutatingadmissionpolicies", &kc__strategy_mutating_policy},
    {"admissionregistration.k8s.io/mutatingadmissionpolicybindings",
     &kc__strategy_mutating_policy_binding},
    {"admissionregistration.k8s.io/mutatingwebhookconfigurations", &kc__strategy_mutating_webhooks},
    {"admissionregistration.k8s.io/validatingadmissionpolicies", &kc__strategy_validating_policy},
    {"admissionregistration.k8s.io/validatingadmissionpolicybindings",
     &kc__strategy_validating_policy_binding},
    {"admissionregistration.k8s.io/validatingwebhookconfigurations",
     &kc__strategy_validating_webhooks},
    {"apiextensions.k8s.io/customresourcedefinitions", &kc__strategy_crd},
    {"apiregistration.k8s.io/apiservices", &kc__strategy_api_service},
    {"apps/daemonsets", &kc__strategy_daemon_set},
    {"apps/deployments", &kc__strategy_deployment},
    {"apps/replicasets", &kc__strategy_replica_set},
    {"apps/statefulsets", &kc__strategy_stateful_set},
    {"autoscaling/horizontalpodautoscalers", &kc__strategy_autoscaler},
    {"batch/cronjobs", &kc__strategy_cron_job},
    {"batch/jobs", &kc__strategy_job},
    {"certificates.k8s.io/certificatesigningrequests", &kc__strategy_signing_request},
    {"certificates.k8s.io/clustertrustbundles", &conditional},
    {"coordination.k8s.io/leasecandidates", &upserted_conditional},
    {"coordination.k8s.io/leases", &kc__strategy_lease},
    {"core/configmaps", &kc__strategy_configmap},
    {"core/endpoints", &kc__strategy_endpoints},
    {"core/events", &kc__strategy_event},
    {"core/limitranges", &kc__strategy_limit_range},
    {"core/namespaces", &kc__strategy_namespace},
    {"core/nodes", &kc__strategy_node},
    {"core/persistentvolumeclaims", &kc__strategy_claim},
    {"core/persistentvolumes", &kc__strategy_volume},
    {"core/pods", &kc__strategy_pod},
    {"core/podtemplates", &kc__strategy_pod_template},
    {"core/replicationcontrollers", &kc__strategy_replication_controller},
    {"core/resourcequotas", &kc__strategy_quota},
    {"core/secrets", &kc__strategy_secret},
    {"core/serviceaccounts", &shown},
    {"core/services", &kc__strategy_service},
    {"discovery.k8s.io/endpointslices", &kc__strategy_endpoint_slice},
    {"flowcontrol.apiserver.k8s.io/flowschemas", &kc__strategy_flow_schema},
    {"flowcontrol.apiserver.k8s.io/prioritylevelconfigurations", &kc__strategy_priority_level},
    {"networking.k8s.io/ingressclasses", &kc__strategy_ingress_class},
    {"networking.k8s.io/ingresses", &kc__strategy_ingress},
    {"networking.k8s.io/ipaddresses", &kc__strategy_ip_address},
    {"networking.k8s.io/networkpolicies", &kc__strategy_network_policy},
    {"networking.k8s.io/servicecidrs", &kc__strategy_service_cidr},
    {"node.k8s.io/runtimeclasses", &kc__strategy_runtime_class},
    {"policy/poddisruptionbudgets", &kc__strategy_budget},
    {"rbac.authorization.k8s.io/clusterrolebindings", &kc__strategy_cluster_role_binding},
    {"rbac.authorization.k8s.io/clusterroles", &kc__strategy_cluster_role},
    {"rbac.authorization.k8s.io/rolebindings", &kc__strategy_role_binding},
    {"rbac.authorization.k8s.io/roles", &kc__strategy_role},
    {"resource.k8s.io/deviceclasses", &kc__strategy_device_class},
    {"resource.k8s.io/resourceclaims", &kc__strategy_resource_claim},
    {"resource.k8s.io/resourceclaimtemplates", &kc__strategy_resource_claim_template},
    {"resource.k8s.io/resourceslices", &kc__strategy_resource_slice},
    {"scheduling.k8s.io/priorityclasses", &kc__strategy_priority_class},
    {"storage.k8s.io/csidrivers", &kc__strategy_csi_driver},
    {"storage.k8s.io/csinodes", &kc__strategy_csi_node},
    {"storage.k8s.io/csistoragecapacities", &conditional},
    {"storage.k8s.io/storageclasses", &kc__strategy_storage_class},
    {"storage.k8s.io/volumeattachments", &kc__strategy_volume_attachment},
    {"storage.k8s.io/volumeattributesclasses", &kc__strategy_attributes_class},
};

/* Events are stored once and served by two groups; the newer group validates more strictly. */
const kc__strategy *kc__strategy_find(kc_str group, kc_str storage)
{
    if (kc_str_is(group, "events.k8s.io"))
        return &kc__strategy_new_event;
    for (size_t i = 0; i < KC_COUNT(table); i++)
        if (kc_str_is(storage, table[i].storage))
            return table[i].strategy;
    return &ordinary;
}
