/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strategies.c: which strategy a resource has. What is not listed is an ordinary kind.
 *
 * To add one: write strategy_KIND.c, declare its table in strategy.h, add its line here.
 */
#include "apiserver/kinds/strategy.h"

#define FIELDS(list) .selectable = list, .n_selectable = KC_COUNT(list)

/* What selectors may name besides name and namespace. */
static const kc_field_def node_fields[] = {{.field = "spec.unschedulable", .otherwise = "false"}};
static const kc_field_def job_fields[] = {
    {.field = "status.successful", .path = "status.succeeded", .otherwise = "0"}};
static const kc_field_def request_fields[] = {{.field = "spec.signerName"}};
static const kc_field_def event_fields[] = {
    {.field = "involvedObject.kind"},
    {.field = "involvedObject.namespace"},
    {.field = "involvedObject.name"},
    {.field = "involvedObject.uid"},
    {.field = "involvedObject.apiVersion"},
    {.field = "involvedObject.resourceVersion"},
    {.field = "involvedObject.fieldPath"},
    {.field = "reason"},
    {.field = "reportingComponent"},
    {.field = "source", .path = "source.component"},
    {.field = "type"},
};

static const kc__strategy ordinary = {0};
static const kc__strategy counted = {.generation = true};
static const kc__strategy upserted = {.upserts = true};
static const kc__strategy shown = {.shows_deleted = true};
static const kc__strategy shown_counted = {.shows_deleted = true, .generation = true};
static const kc__strategy conditional = {.conditional = true};
static const kc__strategy conditional_counted = {.conditional = true, .generation = true};
static const kc__strategy conditional_shown = {.conditional = true, .shows_deleted = true};
static const kc__strategy access_rule = {.names = KC_NAME_PATH_SEGMENT, .upserts = true};
static const kc__strategy lease = {.upserts = true, .conditional = true};
static const kc__strategy job = {.generation = true, .orphans = true, FIELDS(job_fields)};
static const kc__strategy node = {FIELDS(node_fields)};
static const kc__strategy event = {.upserts = true, FIELDS(event_fields)};
static const kc__strategy request = {FIELDS(request_fields)};

static const struct {
    const char *storage;
    const kc__strategy *strategy;
} table[] = {
    {"admissionregistration.k8s.io/mutatingwebhookconfigurations", &conditional_counted},
    {"admissionregistration.k8s.io/validatingadmissionpolicies", &conditional_counted},
    {"admissionregistration.k8s.io/validatingadmissionpolicybindings", &conditional_counted},
    {"admissionregistration.k8s.io/validatingwebhookconfigurations", &conditional_counted},
    {"apps/daemonsets", &counted},
    {"apps/deployments", &kc__strategy_deployment},
    {"apps/replicasets", &kc__strategy_replica_set},
    {"apps/statefulsets", &counted},
    {"batch/cronjobs", &counted},
    {"batch/jobs", &job},
    {"certificates.k8s.io/certificatesigningrequests", &request},
    {"certificates.k8s.io/clustertrustbundles", &conditional},
    {"coordination.k8s.io/leasecandidates", &lease},
    {"coordination.k8s.io/leases", &lease},
    {"core/configmaps", &kc__strategy_configmap},
    {"core/endpoints", &upserted},
    {"core/events", &event},
    {"core/limitranges", &upserted},
    {"core/namespaces", &kc__strategy_namespace},
    {"core/nodes", &node},
    {"core/persistentvolumeclaims", &shown},
    {"core/persistentvolumes", &shown},
    {"core/pods", &kc__strategy_pod},
    {"core/podtemplates", &kc__strategy_pod_template},
    {"core/replicationcontrollers", &kc__strategy_replication_controller},
    {"core/resourcequotas", &shown},
    {"core/secrets", &kc__strategy_secret},
    {"core/serviceaccounts", &shown},
    {"core/services", &kc__strategy_service},
    {"discovery.k8s.io/endpointslices", &counted},
    {"events.k8s.io/events", &event},
    {"flowcontrol.apiserver.k8s.io/flowschemas", &counted},
    {"flowcontrol.apiserver.k8s.io/prioritylevelconfigurations", &counted},
    {"networking.k8s.io/ingressclasses", &counted},
    {"networking.k8s.io/ingresses", &counted},
    {"networking.k8s.io/networkpolicies", &counted},
    {"node.k8s.io/runtimeclasses", &lease},
    {"policy/poddisruptionbudgets", &conditional_counted},
    {"rbac.authorization.k8s.io/clusterrolebindings", &access_rule},
    {"rbac.authorization.k8s.io/clusterroles", &access_rule},
    {"rbac.authorization.k8s.io/rolebindings", &access_rule},
    {"rbac.authorization.k8s.io/roles", &access_rule},
    {"resource.k8s.io/deviceclasses", &shown_counted},
    {"resource.k8s.io/resourceclaims", &shown},
    {"resource.k8s.io/resourceclaimtemplates", &shown},
    {"resource.k8s.io/resourceslices", &shown_counted},
    {"scheduling.k8s.io/priorityclasses", &counted},
    {"storage.k8s.io/csidrivers", &conditional_shown},
    {"storage.k8s.io/csinodes", &conditional_shown},
    {"storage.k8s.io/csistoragecapacities", &conditional},
    {"storage.k8s.io/storageclasses", &shown},
    {"storage.k8s.io/volumeattachments", &conditional_shown},
    {"storage.k8s.io/volumeattributesclasses", &shown},
};

const kc__strategy *kc__strategy_find(kc_str storage)
{
    for (size_t i = 0; i < KC_COUNT(table); i++)
        if (kc_str_is(storage, table[i].storage))
            return table[i].strategy;
    return &ordinary;
}
