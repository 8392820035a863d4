/* SPDX-License-Identifier: Apache-2.0 */
#include "kinds_testing.h"

/* Kinds that are mostly tables, one test each. */

#define CORE(kind)   "io.k8s.api.core.v1." kind
#define RBAC(kind)   "io.k8s.api.rbac.v1." kind
#define NETS(kind)   "io.k8s.api.networking.v1." kind
#define OBJECT(rest) "{'metadata':{'name':'x','namespace':'n'}," rest "}"

static void lease_duration_must_be_positive(void **state)
{
    (void)state;
    assert_new("io.k8s.api.coordination.v1.Lease", &kc__strategy_lease,
               OBJECT("'spec':{'leaseDurationSeconds':0,'leaseTransitions':-1}"),
               "spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0\n"
               "spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0");
    assert_new("io.k8s.api.coordination.v1.Lease", &kc__strategy_lease, OBJECT("'spec':{}"), "");
}

static void event_namespace_must_match_its_object(void **state)
{
    (void)state;
    assert_new(CORE("Event"), &kc__strategy_event, OBJECT("'involvedObject':{'namespace':'n'}"),
               "");
    assert_new(CORE("Event"), &kc__strategy_event, OBJECT("'involvedObject':{'namespace':'m'}"),
               "involvedObject.namespace: Invalid value: \"m\": does not match event.namespace");
}

static void invalid_roles_are_reported(void **state)
{
    (void)state;
    assert_new(RBAC("Role"), &kc__strategy_role,
               OBJECT("'rules':[{'apiGroups':[''],'resources':['pods'],'verbs':['get']}]"), "");
    assert_new(RBAC("Role"), &kc__strategy_role, OBJECT("'rules':[{'verbs':[]}]"),
               "rules[0].verbs: Required value: verbs must contain at least one value\n"
               "rules[0].apiGroups: Required value: resource rules must supply at least one api "
               "group\n"
               "rules[0].resources: Required value: resource rules must supply at least one "
               "resource");
    assert_new(RBAC("Role"), &kc__strategy_role,
               OBJECT("'rules':[{'nonResourceURLs':['/x'],'verbs':['get']}]"),
               "rules[0].nonResourceURLs: Invalid value: [\"/x\"]: namespaced rules cannot apply "
               "to non-resource URLs");
    assert_new(RBAC("ClusterRole"), &kc__strategy_cluster_role,
               OBJECT("'rules':[{'nonResourceURLs':['/x'],'verbs':['get']}]"), "");
}

#define BINDING(name)                                                                    \
    OBJECT("'roleRef':{'kind':'Role','name':'" name "'},'subjects':[{'kind':'User','nam" \
           "e':'a'}]")

static void role_ref_of_a_binding_is_immutable(void **state)
{
    (void)state;
    assert_new(RBAC("RoleBinding"), &kc__strategy_role_binding, BINDING("r"), "");
    assert_changed(RBAC("RoleBinding"), &kc__strategy_role_binding, BINDING("r"), BINDING("s"),
                   "roleRef: Invalid value: {\"APIGroup\":\"rbac.authorization.k8s.io\",\"Kind\":"
                   "\"Role\",\"Name\":\"s\"}: cannot change roleRef");
}

static void claim_needs_access_mode_and_storage_request(void **state)
{
    (void)state;
    assert_new(CORE("PersistentVolumeClaim"), &kc__strategy_claim,
               OBJECT("'spec':{'accessModes':['ReadWriteOnce'],'resources':{'requests':"
                      "{'storage':'1Gi'}}}"),
               "");
    assert_new(CORE("PersistentVolumeClaim"), &kc__strategy_claim, OBJECT("'spec':{}"),
               "spec.accessModes: Required value: at least 1 access mode is required\n"
               "spec.resources[storage]: Required value");
}

static void persistent_volume_needs_a_source(void **state)
{
    (void)state;
    assert_new(CORE("PersistentVolume"), &kc__strategy_volume,
               OBJECT("'spec':{'accessModes':['ReadWriteOnce'],'capacity':{'storage':'1Gi'}}"),
               "spec: Required value: must specify a volume type");
}

static void provisioner_of_storage_class_is_immutable(void **state)
{
    (void)state;
    assert_changed("io.k8s.api.storage.v1.StorageClass", &kc__strategy_storage_class,
                   OBJECT("'provisioner':'a'"), OBJECT("'provisioner':'b'"),
                   "provisioner: Forbidden: updates to provisioner are forbidden.");
}

static void budget_above_100_percent_is_invalid(void **state)
{
    (void)state;
    assert_new("io.k8s.api.policy.v1.PodDisruptionBudget", &kc__strategy_budget,
               OBJECT("'spec':{'minAvailable':'150%'}"),
               "spec.minAvailable: Invalid value: \"150%\": must not be greater than 100%");
}

static void priority_class_value_is_limited_and_immutable(void **state)
{
    (void)state;
    assert_new("io.k8s.api.scheduling.v1.PriorityClass", &kc__strategy_priority_class,
               OBJECT("'value':2000000000"),
               "value: Forbidden: maximum allowed value of a user defined priority is 1000000000");
    assert_changed("io.k8s.api.scheduling.v1.PriorityClass", &kc__strategy_priority_class,
                   OBJECT("'value':1"), OBJECT("'value':2"),
                   "value: Forbidden: may not be changed in an update.");
}

static void limit_range_defaults_are_completed(void **state)
{
    (void)state;
    kc_auto(kc_object) *range =
        completed(CORE("LimitRange"), &kc__strategy_limit_range,
                  OBJECT("'spec':{'limits':[{'type':'Container','max':{'cpu':'2'}}]}"));
    kc_autofree char *json = kc_str_dup(kc_object_json(range));
    assert_contains(json, "\"default\":{\"cpu\":\"2\"},\"defaultRequest\":{\"cpu\":\"2\"}");
}

static void webhooks_are_defaulted_and_validated(void **state)
{
    (void)state;
    kc_auto(kc_object) *hooks =
        completed("io.k8s.api.admissionregistration.v1.MutatingWebhookConfiguration",
                  &kc__strategy_mutating_webhooks, OBJECT("'webhooks':[{'name':'a.b.c'}]"));
    kc_autofree char *json = kc_str_dup(kc_object_json(hooks));
    assert_contains(json, "\"failurePolicy\":\"Fail\",\"matchPolicy\":\"Equivalent\"");
    assert_contains(json, "\"reinvocationPolicy\":\"Never\"");
    assert_new("io.k8s.api.admissionregistration.v1.ValidatingWebhookConfiguration",
               &kc__strategy_validating_webhooks,
               OBJECT("'webhooks':[{'name':'a','sideEffects':'None','admissionReviewVersions':"
                      "['v1'],'clientConfig':{'url':'http://x'}}]"),
               "webhooks[0].name: Invalid value: \"a\": should be a domain with at least three "
               "segments separated by dots\n"
               "webhooks[0].clientConfig.url: Invalid value: \"http\": 'https' is the only allowed "
               "URL scheme; desired format: https://host[/path]");
}

static void endpoints_need_valid_addresses(void **state)
{
    (void)state;
    assert_new(CORE("Endpoints"), &kc__strategy_endpoints,
               OBJECT("'subsets':[{'ports':[{'port':80}]}]"),
               "subsets[0]: Required value: must specify `addresses` or `notReadyAddresses`");
    assert_new(CORE("Endpoints"), &kc__strategy_endpoints,
               OBJECT("'subsets':[{'addresses':[{'ip':'127.0.0.1'}]}]"),
               "subsets[0].addresses[0].ip: Invalid value: \"127.0.0.1\": may not be in the "
               "loopback range (127.0.0.0/8, ::1/128)");
}

static void address_type_of_endpoint_slice_is_required_and_immutable(void **state)
{
    (void)state;
    assert_new("io.k8s.api.discovery.v1.EndpointSlice", &kc__strategy_endpoint_slice,
               OBJECT("'ports':[{'port':80}]"), "addressType: Required value");
    assert_changed("io.k8s.api.discovery.v1.EndpointSlice", &kc__strategy_endpoint_slice,
                   OBJECT("'addressType':'IPv4'"), OBJECT("'addressType':'IPv6'"),
                   "addressType: Invalid value: \"IPv6\": field is immutable");
}

static void ingress_needs_a_backend_or_rules(void **state)
{
    (void)state;
    assert_new(NETS("Ingress"), &kc__strategy_ingress, OBJECT("'spec':{}"),
               "spec: Invalid value: []: either `defaultBackend` or `rules` must be specified");
    assert_new(NETS("Ingress"), &kc__strategy_ingress,
               OBJECT("'spec':{'defaultBackend':{'service':{'name':'s','port':{}}}}"),
               "spec.defaultBackend: Required value: port name or number is required");
}

static void network_policy_types_are_defaulted(void **state)
{
    (void)state;
    kc_auto(kc_object) *policy = completed(NETS("NetworkPolicy"), &kc__strategy_network_policy,
                                           OBJECT("'spec':{'egress':[{'ports':[{'port':53}]}]}"));
    kc_autofree char *json = kc_str_dup(kc_object_json(policy));
    assert_contains(json, "\"policyTypes\":[\"Ingress\",\"Egress\"]");
    assert_contains(json, "\"ports\":[{\"protocol\":\"TCP\",\"port\":53}]");
}

static void autoscaler_metrics_default_to_cpu(void **state)
{
    (void)state;
    kc_auto(kc_object) *scaler =
        completed("io.k8s.api.autoscaling.v2.HorizontalPodAutoscaler", &kc__strategy_autoscaler,
                  "{'apiVersion':'autoscaling/v2','spec':{'maxReplicas':3}}");
    kc_autofree char *json = kc_str_dup(kc_object_json(scaler));
    assert_contains(json,
                    "\"minReplicas\":1,\"maxReplicas\":3,\"metrics\":[{\"type\":\"Resource\"");
    assert_contains(json, "\"averageUtilization\":80");
}

static void allocatable_of_a_node_defaults_to_its_capacity(void **state)
{
    (void)state;
    kc_auto(kc_object) *node =
        prepared(CORE("Node"), &kc__strategy_node, OBJECT("'status':{'capacity':{'cpu':'4'}}"));
    kc_autofree char *json = kc_str_dup(kc_object_json(node));
    assert_contains(json, "\"allocatable\":{\"cpu\":\"4\"}");
}

TESTS(lease_duration_must_be_positive, event_namespace_must_match_its_object,
      invalid_roles_are_reported, role_ref_of_a_binding_is_immutable,
      claim_needs_access_mode_and_storage_request, persistent_volume_needs_a_source,
      provisioner_of_storage_class_is_immutable, budget_above_100_percent_is_invalid,
      priority_class_value_is_limited_and_immutable, limit_range_defaults_are_completed,
      webhooks_are_defaulted_and_validated, endpoints_need_valid_addresses,
      address_type_of_endpoint_slice_is_required_and_immutable, ingress_needs_a_backend_or_rules,
      network_policy_types_are_defaulted, autoscaler_metrics_default_to_cpu,
      allocatable_of_a_node_defaults_to_its_capacity)
