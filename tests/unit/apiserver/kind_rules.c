/* SPDX-License-Identifier: Apache-2.0 */
#include "kinds_testing.h"

/* Kinds that are mostly tables, one test each. */

#define CORE(kind)   "io.k8s.api.core.v1." kind
#define RBAC(kind)   "io.k8s.api.rbac.v1." kind
#define NETS(kind)   "io.k8s.api.networking.v1." kind
#define OBJECT(rest) "{'metadata':{'name':'x','namespace':'n'}," rest "}"

static void a_lease_lasts_some_time(void **state)
{
    (void)state;
    assert_new("io.k8s.api.coordination.v1.Lease", &kc__strategy_lease,
               OBJECT("'spec':{'leaseDurationSeconds':0,'leaseTransitions':-1}"),
               "spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0\n"
               "spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0");
    assert_new("io.k8s.api.coordination.v1.Lease", &kc__strategy_lease, OBJECT("'spec':{}"), "");
}

static void an_event_lies_where_its_object_does(void **state)
{
    (void)state;
    assert_new(CORE("Event"), &kc__strategy_event, OBJECT("'involvedObject':{'namespace':'n'}"),
               "");
    assert_new(CORE("Event"), &kc__strategy_event, OBJECT("'involvedObject':{'namespace':'m'}"),
               "involvedObject.namespace: Invalid value: \"m\": does not match event.namespace");
}

static void roles_say_what_may_be_done_with_what(void **state)
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

static void a_binding_gives_the_same_for_life(void **state)
{
    (void)state;
    assert_new(RBAC("RoleBinding"), &kc__strategy_role_binding, BINDING("r"), "");
    assert_changed(RBAC("RoleBinding"), &kc__strategy_role_binding, BINDING("r"), BINDING("s"),
                   "roleRef: Invalid value: {\"APIGroup\":\"rbac.authorization.k8s.io\",\"Kind\":"
                   "\"Role\",\"Name\":\"s\"}: cannot change roleRef");
}

static void claims_ask_for_storage(void **state)
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

static void volumes_are_somewhere(void **state)
{
    (void)state;
    assert_new(CORE("PersistentVolume"), &kc__strategy_volume,
               OBJECT("'spec':{'accessModes':['ReadWriteOnce'],'capacity':{'storage':'1Gi'}}"),
               "spec: Required value: must specify a volume type");
}

static void classes_do_not_change(void **state)
{
    (void)state;
    assert_changed("io.k8s.api.storage.v1.StorageClass", &kc__strategy_storage_class,
                   OBJECT("'provisioner':'a'"), OBJECT("'provisioner':'b'"),
                   "provisioner: Forbidden: updates to provisioner are forbidden.");
}

static void budgets_have_one_bound(void **state)
{
    (void)state;
    assert_new("io.k8s.api.policy.v1.PodDisruptionBudget", &kc__strategy_budget,
               OBJECT("'spec':{'minAvailable':'150%'}"),
               "spec.minAvailable: Invalid value: \"150%\": must not be greater than 100%");
}

static void priorities_have_a_limit(void **state)
{
    (void)state;
    assert_new("io.k8s.api.scheduling.v1.PriorityClass", &kc__strategy_priority_class,
               OBJECT("'value':2000000000"),
               "value: Forbidden: maximum allowed value of a user defined priority is 1000000000");
    assert_changed("io.k8s.api.scheduling.v1.PriorityClass", &kc__strategy_priority_class,
                   OBJECT("'value':1"), OBJECT("'value':2"),
                   "value: Forbidden: may not be changed in an update.");
}

static void limits_of_containers_complete_each_other(void **state)
{
    (void)state;
    kc_auto(kc_object) *range =
        completed(CORE("LimitRange"), &kc__strategy_limit_range,
                  OBJECT("'spec':{'limits':[{'type':'Container','max':{'cpu':'2'}}]}"));
    kc_autofree char *json = kc_str_dup(kc_object_json(range));
    assert_contains(json, "\"default\":{\"cpu\":\"2\"},\"defaultRequest\":{\"cpu\":\"2\"}");
}

static void webhooks_get_defaults_and_are_checked(void **state)
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

static void endpoints_have_addresses(void **state)
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

static void slices_say_what_their_addresses_are(void **state)
{
    (void)state;
    assert_new("io.k8s.api.discovery.v1.EndpointSlice", &kc__strategy_endpoint_slice,
               OBJECT("'ports':[{'port':80}]"), "addressType: Required value");
    assert_changed("io.k8s.api.discovery.v1.EndpointSlice", &kc__strategy_endpoint_slice,
                   OBJECT("'addressType':'IPv4'"), OBJECT("'addressType':'IPv6'"),
                   "addressType: Invalid value: \"IPv6\": field is immutable");
}

static void an_ingress_leads_somewhere(void **state)
{
    (void)state;
    assert_new(NETS("Ingress"), &kc__strategy_ingress, OBJECT("'spec':{}"),
               "spec: Invalid value: []: either `defaultBackend` or `rules` must be specified");
    assert_new(NETS("Ingress"), &kc__strategy_ingress,
               OBJECT("'spec':{'defaultBackend':{'service':{'name':'s','port':{}}}}"),
               "spec.defaultBackend: Required value: port name or number is required");
}

static void a_network_policy_is_about_what_comes_in(void **state)
{
    (void)state;
    kc_auto(kc_object) *policy = completed(NETS("NetworkPolicy"), &kc__strategy_network_policy,
                                           OBJECT("'spec':{'egress':[{'ports':[{'port':53}]}]}"));
    kc_autofree char *json = kc_str_dup(kc_object_json(policy));
    assert_contains(json, "\"policyTypes\":[\"Ingress\",\"Egress\"]");
    assert_contains(json, "\"ports\":[{\"protocol\":\"TCP\",\"port\":53}]");
}

static void an_autoscaler_looks_at_the_processor(void **state)
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

static void a_new_node_is_not_ready(void **state)
{
    (void)state;
    kc_auto(kc_object) *node =
        prepared(CORE("Node"), &kc__strategy_node, OBJECT("'status':{'capacity':{'cpu':'4'}}"));
    kc_autofree char *json = kc_str_dup(kc_object_json(node));
    assert_contains(json, "\"allocatable\":{\"cpu\":\"4\"}");
    assert_contains(json, "{\"key\":\"node.kubernetes.io/not-ready\",\"effect\":\"NoSchedule\"}");
}

TESTS(a_lease_lasts_some_time, an_event_lies_where_its_object_does,
      roles_say_what_may_be_done_with_what, a_binding_gives_the_same_for_life,
      claims_ask_for_storage, volumes_are_somewhere, classes_do_not_change, budgets_have_one_bound,
      priorities_have_a_limit, limits_of_containers_complete_each_other,
      webhooks_get_defaults_and_are_checked, endpoints_have_addresses,
      slices_say_what_their_addresses_are, an_ingress_leads_somewhere,
      a_network_policy_is_about_what_comes_in, an_autoscaler_looks_at_the_processor,
      a_new_node_is_not_ready)
