/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Validation of affinity, topology spread, DNS settings, tolerations and scheduling gates of pods.
 */
#include "kinds_samples.h"

static const sample pod_1[] = {
    {POD_WITH(",'affinity':{'nodeAffinity':{'" REQUIRED "':{'nodeSelectorTerms':[]}}}"),
     "spec.affinity.nodeAffinity." REQUIRED
     ".nodeSelectorTerms: Required value: must have at least one "
     "node selector term"},
    {POD_WITH(",'affinity':{'nodeAffinity':{'" REQUIRED
              "':{'nodeSelectorTerms':[{'matchExpressions':[{'key':'a b',"
              "'operator':'In','values':['x']}]}]}}}"),
     "spec.affinity.nodeAffinity." REQUIRED
     ".nodeSelectorTerms[0].matchExpressions[0].key: Invalid value: "
     "\"a b\": " QUALIFIED},
    {POD_WITH(",'affinity':{'nodeAffinity':{'" REQUIRED
              "':{'nodeSelectorTerms':[{'matchExpressions':[{'key':'a',"
              "'operator':'In'}]}]}}}"),
     "spec.affinity.nodeAffinity." REQUIRED
     ".nodeSelectorTerms[0].matchExpressions[0].values: Required "
     "value: must be specified when `operator` is 'In' or 'NotIn'"},
    {POD_WITH(",'affinity':{'nodeAffinity':{'" REQUIRED
              "':{'nodeSelectorTerms':[{'matchExpressions':[{'key':'a',"
              "'operator':'Exists','values':['x']}]}]}}}"),
     "spec.affinity.nodeAffinity." REQUIRED
     ".nodeSelectorTerms[0].matchExpressions[0].values: Forbidden: "
     "may not be specified when `operator` is 'Exists' or "
     "'DoesNotExist'"},
    {POD_WITH(",'affinity':{'nodeAffinity':{'" REQUIRED
              "':{'nodeSelectorTerms':[{'matchExpressions':[{'key':'a',"
              "'operator':'Gt','values':['x','y']}]}]}}}"),
     "spec.affinity.nodeAffinity." REQUIRED
     ".nodeSelectorTerms[0].matchExpressions[0].values: Required "
     "value: must be specified single value when `operator` is 'Lt' "
     "or 'Gt'"},
    {POD_WITH(",'affinity':{'nodeAffinity':{'" REQUIRED
              "':{'nodeSelectorTerms':[{'matchExpressions':[{'key':'a',"
              "'operator':'Foo','values':['x']}]}]}}}"),
     "spec.affinity.nodeAffinity." REQUIRED
     ".nodeSelectorTerms[0].matchExpressions[0].operator: Invalid "
     "value: \"Foo\": not a valid selector operator"},
    {POD_WITH(",'affinity':{'nodeAffinity':{'" REQUIRED
              "':{'nodeSelectorTerms':[{'matchExpressions':[{'key':'a',"
              "'operator':'In','values':['x y']}]}]}}}"),
     "spec.affinity.nodeAffinity." REQUIRED
     ".nodeSelectorTerms[0].matchExpressions[0].values[0]: Invalid "
     "value: \"x y\": " VALUE},
    {POD_WITH(",'affinity':{'nodeAffinity':{'" REQUIRED
              "':{'nodeSelectorTerms':[{'matchFields':[{'key':'metadata.foo',"
              "'operator':'In','values':['n']}]}]}}}"),
     "spec.affinity.nodeAffinity." REQUIRED
     ".nodeSelectorTerms[0].matchFields[0].key: Invalid value: "
     "\"metadata.foo\": not a valid field selector key"},
    {POD_WITH(",'affinity':{'nodeAffinity':{'" REQUIRED
              "':{'nodeSelectorTerms':[{'matchFields':[{'key':'metadata.name'"
              ",'operator':'In','values':['n','m']}]}]}}}"),
     "spec.affinity.nodeAffinity." REQUIRED
     ".nodeSelectorTerms[0].matchFields[0].values: Required value: "
     "must be only one value when `operator` is 'In' or 'NotIn' for "
     "node field selector"},
    {POD_WITH(",'affinity':{'nodeAffinity':{'" REQUIRED
              "':{'nodeSelectorTerms':[{'matchFields':[{'key':'metadata.name'"
              ",'operator':'Exists'}]}]}}}"),
     "spec.affinity.nodeAffinity." REQUIRED
     ".nodeSelectorTerms[0].matchFields[0].operator: Invalid value: "
     "\"Exists\": not a valid selector operator"},
    {POD_WITH(",'affinity':{'nodeAffinity':{'" REQUIRED
              "':{'nodeSelectorTerms':[{'matchFields':[{'key':'metadata.name'"
              ",'operator':'In','values':['N_']}]}]}}}"),
     "spec.affinity.nodeAffinity." REQUIRED
     ".nodeSelectorTerms[0].matchFields[0].values[0]: Invalid "
     "value: \"N_\": " SUBDOMAIN},
    {POD_WITH(",'affinity':{'nodeAffinity':{'" PREFERRED
              "':[{'weight':0,'preference':{'matchExpressions':[{'key':'a',"
              "'operator':'Exists'}]}}]}}"),
     "spec.affinity.nodeAffinity." PREFERRED
     "[0].weight: Invalid value: 0: must be in the range 1-100"},
    {POD_WITH(",'affinity':{'nodeAffinity':{'" PREFERRED
              "':[{'weight':101,'preference':{'matchExpressions':[{'key':'a',"
              "'operator':'In'}]}}]}}"),
     "spec.affinity.nodeAffinity." PREFERRED
     "[0].weight: Invalid value: 101: must be in the range 1-100\n"
     "spec.affinity.nodeAffinity." PREFERRED
     "[0].preference.matchExpressions[0].values: Required value: "
     "must be specified when `operator` is 'In' or 'NotIn'"},
    {POD_WITH(",'affinity':{'podAffinity':{'" REQUIRED "':[{}]}}"),
     "spec.affinity.podAffinity." REQUIRED "[0].topologyKey: Required value: can not be empty\n"
     "spec.affinity.podAffinity." REQUIRED
     "[0].topologyKey: Invalid value: \"\": name part must be "
     "non-empty\n"
     "spec.affinity.podAffinity." REQUIRED "[0].topologyKey: Invalid value: \"\": " QUALIFIED},
    {POD_WITH(",'affinity':{'podAffinity':{'" REQUIRED "':[{'topologyKey':'a b',"
              "'labelSelector':{'matchExpressions':[{'key':'a',"
              "'operator':'In'}]}}]}}"),
     "spec.affinity.podAffinity." REQUIRED
     "[0].labelSelector.matchExpressions[0].values: Required value: "
     "must be specified when `operator` is 'In' or 'NotIn'\n"
     "spec.affinity.podAffinity." REQUIRED "[0].topologyKey: Invalid value: \"a b\": " QUALIFIED},
    {POD_WITH(",'affinity':{'podAffinity':{'" REQUIRED "':[{'topologyKey':'a','namespaces':['A_'],"
              "'labelSelector':{'matchLabels':{'a':'b'}},"
              "'namespaceSelector':{'matchLabels':{'a b':'c'}}}]}}"),
     "spec.affinity.podAffinity." REQUIRED
     "[0].namespaceSelector.matchLabels: Invalid value: \"a b\": " QUALIFIED "\n"
     "spec.affinity.podAffinity." REQUIRED "[0].namespace: Invalid value: \"A_\": " LABEL},
};

static void invalid_affinity_is_reported(void **state)
{
    (void)state;
    assert_samples("io.k8s.api.core.v1.Pod", &kc__strategy_pod, pod_1, KC_COUNT(pod_1));
}

static const sample pod_2[] = {
    {POD_WITH(",'topologySpreadConstraints':[{'maxSkew':0,'topologyKey':'z',"
              "'whenUnsatisfiable':'DoNotSchedule',"
              "'labelSelector':{'matchLabels':{'a':'b'}}}]"),
     "spec.topologySpreadConstraints[0].maxSkew: Invalid value: 0: "
     "must be greater than zero"},
    {POD_WITH(",'topologySpreadConstraints':[{'maxSkew':1,'topologyKey':'',"
              "'whenUnsatisfiable':'DoNotSchedule',"
              "'labelSelector':{'matchLabels':{'a':'b'}}}]"),
     "spec.topologySpreadConstraints[0].topologyKey: Required "
     "value: can not be empty"},
    {POD_WITH(",'topologySpreadConstraints':[{'maxSkew':1,'topologyKey':'z',"
              "'whenUnsatisfiable':'',"
              "'labelSelector':{'matchLabels':{'a':'b'}}}]"),
     "spec.topologySpreadConstraints[0].whenUnsatisfiable: "
     "Unsupported value: \"\": supported values: \"DoNotSchedule\", "
     "\"ScheduleAnyway\""},
    {POD_WITH(",'topologySpreadConstraints':[{'maxSkew':1,'topologyKey':'z',"
              "'whenUnsatisfiable':'X',"
              "'labelSelector':{'matchLabels':{'a':'b'}}}]"),
     "spec.topologySpreadConstraints[0].whenUnsatisfiable: "
     "Unsupported value: \"X\": supported values: \"DoNotSchedule\", "
     "\"ScheduleAnyway\""},
    {POD_WITH(",'topologySpreadConstraints':[{'maxSkew':1,'topologyKey':'z',"
              "'whenUnsatisfiable':'DoNotSchedule',"
              "'labelSelector':{'matchLabels':{'a':'b'}},'minDomains':0}]"),
     "spec.topologySpreadConstraints[0].minDomains: Invalid value: "
     "0: must be greater than zero"},
    {POD_WITH(",'topologySpreadConstraints':[{'maxSkew':1,'topologyKey':'z',"
              "'whenUnsatisfiable':'ScheduleAnyway',"
              "'labelSelector':{'matchLabels':{'a':'b'}},'minDomains':2}]"),
     "spec.topologySpreadConstraints[0].minDomains: Invalid value: "
     "2: can only use minDomains if whenUnsatisfiable=DoNotSchedule,"
     " not ScheduleAnyway"},
    {POD_WITH(",'topologySpreadConstraints':[{'maxSkew':1,'topologyKey':'z',"
              "'whenUnsatisfiable':'DoNotSchedule',"
              "'labelSelector':{'matchLabels':{'a':'b'}},"
              "'nodeAffinityPolicy':'X'}]"),
     "spec.topologySpreadConstraints[0].nodeAffinityPolicy: "
     "Unsupported value: \"X\": supported values: \"Honor\", \"Ignore\""},
    {POD_WITH(",'topologySpreadConstraints':[{'maxSkew':1,'topologyKey':'z',"
              "'whenUnsatisfiable':'DoNotSchedule',"
              "'labelSelector':{'matchLabels':{'a':'b'}},"
              "'nodeTaintsPolicy':'Y'}]"),
     "spec.topologySpreadConstraints[0].nodeTaintsPolicy: "
     "Unsupported value: \"Y\": supported values: \"Honor\", \"Ignore\""},
    {POD_WITH(",'topologySpreadConstraints':[{'maxSkew':1,'topologyKey':'z',"
              "'whenUnsatisfiable':'DoNotSchedule',"
              "'labelSelector':{'matchExpressions':[{'key':'a',"
              "'operator':'In'}]}}]"),
     "spec.topologySpreadConstraints[0].labelSelector."
     "matchExpressions[0].values: Required value: must be specified "
     "when `operator` is 'In' or 'NotIn'"},
};

static void invalid_topology_spread_constraints_are_reported(void **state)
{
    (void)state;
    assert_samples("io.k8s.api.core.v1.Pod", &kc__strategy_pod, pod_2, KC_COUNT(pod_2));
}

static const sample pod_3[] = {
    {POD_WITH(",'dnsConfig':{'nameservers':['x']}"),
     "spec.dnsConfig.nameservers[0]: Invalid value: \"x\": must be a "
     "valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"},
    {POD_WITH(",'dnsConfig':{'nameservers':['1.1.1.1','1.1.1.2','1.1.1.3',"
              "'1.1.1.4']}"),
     "spec.dnsConfig.nameservers: Invalid value: [\"1.1.1.1\","
     "\"1.1.1.2\",\"1.1.1.3\",\"1.1.1.4\"]: must not have more than 3 "
     "nameservers"},
    {POD_WITH(",'dnsConfig':{'searches':['a b','x_y.z','.','a.']}"),
     "spec.dnsConfig.searches[0]: Invalid value: \"a b\": a lowercase "
     "RFC 1123 subdomain must consist of lower case alphanumeric "
     "characters, '_', '-' or '.', and must start and end with an "
     "alphanumeric character (e.g. 'example.com', regex used for "
     "validation is '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\\._?[a-z0-9](["
     "-_a-z0-9]*[a-z0-9])?)*')"},
    {POD_WITH(",'dnsConfig':{'options':[{'name':''},{'name':'ndots',"
              "'value':'2'}]}"),
     "spec.dnsConfig.options[0]: Required value: must not be empty"},
    {POD_WITH(",'dnsPolicy':'None','dnsConfig':{'searches':['a']}"),
     "spec.dnsConfig.nameservers: Required value: must provide at "
     "least one DNS nameserver when `dnsPolicy` is None"},
    {POD_WITH(",'dnsConfig':{'nameservers':['1.1.1.1'],"
              "'searches':['xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
              "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
              "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
              "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
              "xxxxxxxxxxxxxxxxxxx']}"),
     "spec.dnsConfig.searches[0]: Invalid value: "
     "\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
     "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
     "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
     "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
     "xxxxxxx\": must be no more than 253 characters"},
    {POD_WITH(",'hostAliases':[{'ip':'x','hostnames':['a b']}]"),
     "spec.hostAliases[0].ip: Invalid value: \"x\": must be a valid "
     "IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)\n"
     "spec.hostAliases[0].hostnames[0]: Invalid value: \"a b\": " SUBDOMAIN},
    {POD_WITH(",'hostAliases':[{'hostnames':['a']}]"),
     "spec.hostAliases[0].ip: Invalid value: \"\": must be a valid IP "
     "address, (e.g. 10.9.8.7 or 2001:db8::ffff)"},
};

static void invalid_dns_settings_are_reported(void **state)
{
    (void)state;
    assert_samples("io.k8s.api.core.v1.Pod", &kc__strategy_pod, pod_3, KC_COUNT(pod_3));
}

static const sample pod_4[] = {
    {POD_WITH(",'schedulingGates':[{'name':''},{'name':'a'},{'name':'a'}]"),
     "spec.schedulingGates[0]: Invalid value: \"\": name part must be "
     "non-empty\n"
     "spec.schedulingGates[0]: Invalid value: \"\": " QUALIFIED "\n"
     "spec.schedulingGates[2]: Duplicate value: \"a\""},
    {POD_WITH(",'nodeName':'n','schedulingGates':[{'name':'a'}]"),
     "spec.nodeName: Forbidden: cannot be set until all "
     "schedulingGates have been cleared"},
    {POD_WITH(",'tolerations':[{'key':'a','operator':'X'}]"),
     "spec.tolerations[0].operator: Unsupported value: \"X\": "
     "supported values: \"Equal\", \"Exists\""},
    {POD_WITH(",'tolerations':[{'operator':'Equal','value':'x'}]"),
     "spec.tolerations[0].operator: Invalid value: \"Equal\": "
     "operator must be Exists when `key` is empty, which means "
     "\"match all values and all keys\""},
    {POD_WITH(",'tolerations':[{'key':'a b'}]"),
     "spec.tolerations[0].key: Invalid value: \"a b\": " QUALIFIED},
    {POD_WITH(",'tolerations':[{'key':'a','effect':'X'}]"),
     "spec.tolerations[0].effect: Unsupported value: \"X\": supported "
     "values: \"NoSchedule\", \"PreferNoSchedule\", \"NoExecute\""},
};

static void invalid_tolerations_and_scheduling_gates_are_reported(void **state)
{
    (void)state;
    assert_samples("io.k8s.api.core.v1.Pod", &kc__strategy_pod, pod_4, KC_COUNT(pod_4));
}

TESTS(invalid_affinity_is_reported, invalid_topology_spread_constraints_are_reported,
      invalid_dns_settings_are_reported, invalid_tolerations_and_scheduling_gates_are_reported)
