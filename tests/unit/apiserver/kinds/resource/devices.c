/* SPDX-License-Identifier: Apache-2.0 */
/* Validation of resource.k8s.io kinds, with the errors of Kubernetes 1.34. */
#include "kinds_samples.h"

static const sample device_class_samples[] = {
    {"{'apiVersion':'resource.k8s.io/v1','kind':'DeviceClass',"
     "'metadata':{'name':'bad'},'spec':{'selectors':[{}]}}",
     "spec.selectors[0].cel: Required value"},
    {"{'apiVersion':'resource.k8s.io/v1','kind':'DeviceClass',"
     "'metadata':{'name':'bad'},'spec':{'config':[{}]}}",
     "spec.config[0].opaque: Required value"},
    {"{'apiVersion':'resource.k8s.io/v1','kind':'DeviceClass',"
     "'metadata':{'name':'bad'},'spec':{'config':[{'opaque':{'driver':'A_',"
     "'parameters':'x'}}]}}",
     "spec.config[0].opaque.driver: Invalid value: \"A_\": " SUBDOMAIN "\n"
     "spec.config[0].opaque.parameters: Invalid value: \"<value omitted>\": must be a "
     "valid JSON object"},
    {"{'apiVersion':'resource.k8s.io/v1','kind':'DeviceClass',"
     "'metadata':{'name':'bad'},'spec':{'config':[{'opaque':{'driver':'a.b'}}]}}",
     "spec.config[0].opaque.parameters: Required value"},
};

static void invalid_device_classes_are_reported(void **state)
{
    (void)state;
    assert_samples("io.k8s.api.resource.v1.DeviceClass", &kc__strategy_device_class,
                   device_class_samples, KC_COUNT(device_class_samples));
}

static const sample resource_claim_samples[] = {
    {"{'apiVersion':'resource.k8s.io/v1','kind':'ResourceClaim',"
     "'metadata':{'name':'bad'},'spec':{'devices':{'requests':[{}]}}}",
     "spec.devices.requests[0].name: Invalid value: \"\": " LABEL "\n"
     "spec.devices.requests[0]: Required value: exactly one of `exactly` or "
     "`firstAvailable` is required"},
    {"{'apiVersion':'resource.k8s.io/v1','kind':'ResourceClaim',"
     "'metadata':{'name':'bad'},'spec':{'devices':{'requests':[{'name':'A',"
     "'exactly':{}}]}}}",
     "spec.devices.requests[0].name: Invalid value: \"A\": " LABEL "\n"
     "spec.devices.requests[0].exactly.deviceClassName: Required value"},
    {"{'apiVersion':'resource.k8s.io/v1','kind':'ResourceClaim',"
     "'metadata':{'name':'bad'},'spec':{'devices':{'requests':[{'name':'a',"
     "'exactly':{'deviceClassName':'gpu'}},{'name':'a',"
     "'exactly':{'deviceClassName':'gpu'}}]}}}",
     "spec.devices.requests[1].name: Duplicate value: \"a\""},
    {"{'apiVersion':'resource.k8s.io/v1','kind':'ResourceClaim',"
     "'metadata':{'name':'bad'},'spec':{'devices':{'requests':[{'name':'a',"
     "'exactly':{'deviceClassName':'gpu'},'firstAvailable':[{'name':'s',"
     "'deviceClassName':'gpu'}]}]}}}",
     "spec.devices.requests[0]: Invalid value: null: exactly one of `exactly` or "
     "`firstAvailable` is required, but multiple fields are set"},
    {"{'apiVersion':'resource.k8s.io/v1','kind':'ResourceClaim',"
     "'metadata':{'name':'bad'},'spec':{'devices':{'requests':[{'name':'a',"
     "'exactly':{'deviceClassName':'A_','allocationMode':'X','count':2}}]}}}",
     "spec.devices.requests[0].exactly.deviceClassName: Invalid value: \"A_\": " SUBDOMAIN "\n"
     "spec.devices.requests[0].exactly.allocationMode: Unsupported value: \"X\": "
     "supported values: \"All\", \"ExactCount\""},
    {"{'apiVersion':'resource.k8s.io/v1','kind':'ResourceClaim',"
     "'metadata':{'name':'bad'},'spec':{'devices':{'requests':[{'name':'a',"
     "'exactly':{'deviceClassName':'a','allocationMode':'All','count':2}}]}}}",
     "spec.devices.requests[0].exactly.count: Invalid value: 2: must not be "
     "specified when allocationMode is 'All'"},
    {"{'apiVersion':'resource.k8s.io/v1','kind':'ResourceClaim',"
     "'metadata':{'name':'bad'},'spec':{'devices':{'requests':[{'name':'a',"
     "'exactly':{'deviceClassName':'a','count':-2}}]}}}",
     "spec.devices.requests[0].exactly.count: Invalid value: -2: must be greater "
     "than zero"},
    {"{'apiVersion':'resource.k8s.io/v1','kind':'ResourceClaim',"
     "'metadata':{'name':'bad'},'spec':{'devices':{'requests':[{'name':'a',"
     "'exactly':{'deviceClassName':'a','tolerations':[{'key':'a b','operator':'X',"
     "'effect':'Y','value':'a b'},{'operator':'Exists','value':'x'},{'value':'a b'},"
     "{}]}}]}}}",
     "spec.devices.requests[0].exactly.tolerations[0].key: Invalid value: \"a b\": " QUALIFIED "\n"
     "spec.devices.requests[0].exactly.tolerations[0].operator: Unsupported value: "
     "\"X\": supported values: \"Equal\", "
     "\"Exists\"\n"
     "spec.devices.requests[0].exactly.tolerations[0].effect: Unsupported value: "
     "\"Y\": supported values: \"NoExecute\", "
     "\"NoSchedule\"\n"
     "spec.devices.requests[0].exactly.tolerations[1].value: Invalid value: \"x\": "
     "must be empty for operator "
     "`Exists`\n"
     "spec.devices.requests[0].exactly.tolerations[2].value: Invalid value: \"a b\": " VALUE},
    {"{'apiVersion':'resource.k8s.io/v1','kind':'ResourceClaim',"
     "'metadata':{'name':'bad'},'spec':{'devices':{'requests':[{'name':'a',"
     "'exactly':{'deviceClassName':'gpu'}}],'constraints':[{'requests':['b','a','a',"
     "'a/b/c','A']},{'matchAttribute':'x'},{'matchAttribute':'a.b/c-d'},"
     "{'matchAttribute':'/x'},{'matchAttribute':'a/'},{'matchAttribute':''},"
     "{'matchAttribute':'a.b/xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'}]}}}",
     "spec.devices.constraints[0].requests[0]: Invalid value: \"b\": must be the name "
     "of a request in the claim or the name of a request and a subrequest separated "
     "by '/'\n"
     "spec.devices.constraints[0].requests[3]: Invalid value: \"a/b/c\": must be the "
     "name of a request in the claim or the name of a request and a subrequest "
     "separated by '/'\n"
     "spec.devices.constraints[0].requests[4]: Invalid value: \"A\": " LABEL "\n"
     "spec.devices.constraints[0].requests[4]: Invalid value: \"A\": must be the name "
     "of a request in the claim or the name of a request and a subrequest separated "
     "by '/'\n"
     "spec.devices.constraints[0].requests[2]: Duplicate value: "
     "\"a\"\n"
     "spec.devices.constraints[0].matchAttribute: Required "
     "value\n"
     "spec.devices.constraints[1].matchAttribute: Invalid value: \"x\": must include "
     "a domain\n"
     "spec.devices.constraints[2].matchAttribute: Invalid value: \"c-d\": a valid C "
     "identifier must start with alphabetic character or '_', followed by a string "
     "of alphanumeric characters or '_' (e.g. 'my_name',  or 'MY_NAME',  or "
     "'MyName', regex used for validation is "
     "'[A-Za-z_][A-Za-z0-9_]*')\n"
     "spec.devices.constraints[3].matchAttribute: Required value: the domain must "
     "not be empty\n"
     "spec.devices.constraints[4].matchAttribute: Required value: the name must not "
     "be empty\n"
     "spec.devices.constraints[5].matchAttribute: Required value: name "
     "required\n"
     "spec.devices.constraints[6].matchAttribute: Too long: may not be more than 32 "
     "bytes"},
    {"{'apiVersion':'resource.k8s.io/v1','kind':'ResourceClaim',"
     "'metadata':{'name':'bad'},'spec':{'devices':{'requests':[{'name':'a',"
     "'firstAvailable':[{'name':'s','deviceClassName':'x'},{'name':'s',"
     "'deviceClassName':''}]}],'config':[{'requests':['a/s','a/t'],"
     "'opaque':{'driver':'a','parameters':{}}}]}}}",
     "spec.devices.requests[0].firstAvailable[1].deviceClassName: Required "
     "value\n"
     "spec.devices.requests[0].firstAvailable[1].name: Duplicate value: "
     "\"s\"\n"
     "spec.devices.config[0].requests[1]: Invalid value: \"a/t\": must be the name of "
     "a request in the claim or the name of a request and a subrequest separated by "
     "'/'"},
    {"{'apiVersion':'resource.k8s.io/v1','kind':'ResourceClaim',"
     "'metadata':{'name':'bad'},'spec':{'devices':{'requests':[{'name':'a',"
     "'firstAvailable':[{'name':'s0','deviceClassName':'x'},{'name':'s1',"
     "'deviceClassName':'x'},{'name':'s2','deviceClassName':'x'},{'name':'s3',"
     "'deviceClassName':'x'},{'name':'s4','deviceClassName':'x'},{'name':'s5',"
     "'deviceClassName':'x'},{'name':'s6','deviceClassName':'x'},{'name':'s7',"
     "'deviceClassName':'x'},{'name':'s8','deviceClassName':'x'}]}]}}}",
     "spec.devices.requests[0].firstAvailable: Too many: 9: must have at most 8 "
     "items"},
};

static void invalid_resource_claims_are_reported(void **state)
{
    (void)state;
    assert_samples("io.k8s.api.resource.v1.ResourceClaim", &kc__strategy_resource_claim,
                   resource_claim_samples, KC_COUNT(resource_claim_samples));
}

static const sample resource_claim_template_samples[] = {
    {"{'apiVersion':'resource.k8s.io/v1','kind':'ResourceClaimTemplate',"
     "'metadata':{'name':'bad'},'spec':{'metadata':{'labels':{'a b':'c'}},"
     "'spec':{'devices':{'requests':[{}]}}}}",
     "spec.metadata.labels: Invalid value: \"a b\": " QUALIFIED "\n"
     "spec.spec.devices.requests[0].name: Invalid value: \"\": " LABEL "\n"
     "spec.spec.devices.requests[0]: Required value: exactly one of `exactly` or "
     "`firstAvailable` is required"},
};

static void invalid_resource_claim_templates_are_reported(void **state)
{
    (void)state;
    assert_samples("io.k8s.api.resource.v1.ResourceClaimTemplate",
                   &kc__strategy_resource_claim_template, resource_claim_template_samples,
                   KC_COUNT(resource_claim_template_samples));
}

static const sample resource_slice_samples[] = {
    {"{'apiVersion':'resource.k8s.io/v1','kind':'ResourceSlice',"
     "'metadata':{'name':'bad'},'spec':{}}",
     "spec.driver: Required value\n"
     "spec.driver: Invalid value: \"\": " SUBDOMAIN "\n"
     "spec.pool.name: Required value\n"
     "spec.pool.resourceSliceCount: Invalid value: 0: must be greater than "
     "zero\n"
     "spec: Required value: exactly one of `nodeName`, `nodeSelector`, `allNodes`, "
     "`perDeviceNodeSelection` is required"},
    {"{'apiVersion':'resource.k8s.io/v1','kind':'ResourceSlice',"
     "'metadata':{'name':'bad'},'spec':{'driver':'A_','pool':{'name':'A_/b',"
     "'generation':-1},'nodeName':'n'}}",
     "spec.driver: Invalid value: \"A_\": " SUBDOMAIN "\n"
     "spec.pool.name: Invalid value: \"A_\": " SUBDOMAIN "\n"
     "spec.pool.resourceSliceCount: Invalid value: 0: must be greater than "
     "zero\n"
     "spec.pool.generation: Invalid value: -1: must be greater than or equal to zero"},
    {"{'apiVersion':'resource.k8s.io/v1','kind':'ResourceSlice',"
     "'metadata':{'name':'bad'},'spec':{'driver':'a.b','pool':{'name':'n',"
     "'generation':1,'resourceSliceCount':1},'nodeName':''}}",
     "spec.nodeName: Invalid value: \"\": must be either unset or set to a non-empty "
     "string\n"
     "spec: Required value: exactly one of `nodeName`, `nodeSelector`, `allNodes`, "
     "`perDeviceNodeSelection` is required"},
    {"{'apiVersion':'resource.k8s.io/v1','kind':'ResourceSlice',"
     "'metadata':{'name':'bad'},'spec':{'driver':'a.b','pool':{'name':'n',"
     "'generation':1,'resourceSliceCount':1},'nodeName':'n','allNodes':true}}",
     "spec: Invalid value: \"{`nodeName`, `allNodes`}\": exactly one of `nodeName`, "
     "`nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required, but "
     "multiple fields are set"},
    {"{'apiVersion':'resource.k8s.io/v1','kind':'ResourceSlice',"
     "'metadata':{'name':'bad'},'spec':{'driver':'a.b','pool':{'name':'n',"
     "'generation':1,'resourceSliceCount':1},'nodeName':'n','allNodes':false}}",
     "spec.allNodes: Invalid value: false: must be either unset or set to true"},
    {"{'apiVersion':'resource.k8s.io/v1','kind':'ResourceSlice',"
     "'metadata':{'name':'bad'},'spec':{'driver':'a','pool':{'name':'n',"
     "'generation':1,'resourceSliceCount':1},"
     "'nodeSelector':{'nodeSelectorTerms':[]}}}",
     "spec.nodeSelector.nodeSelectorTerms: Required value: must have at least one "
     "node selector term\n"
     "spec.nodeSelector.nodeSelectorTerms: Invalid value: []: must have exactly one "
     "node selector term"},
    {"{'apiVersion':'resource.k8s.io/v1','kind':'ResourceSlice',"
     "'metadata':{'name':'bad'},'spec':{'driver':'a','pool':{'name':'n',"
     "'generation':1,'resourceSliceCount':1},"
     "'nodeSelector':{'nodeSelectorTerms':[{},{}]},'nodeName':'A_'}}",
     "spec.nodeName: Invalid value: \"A_\": " SUBDOMAIN "\n"
     "spec.nodeSelector.nodeSelectorTerms: Invalid value: [{\"MatchExpressions\":null,"
     "\"MatchFields\":null},{\"MatchExpressions\":null,\"MatchFields\":null}]: must have "
     "exactly one node selector term\n"
     "spec: Invalid value: \"{`nodeName`, `nodeSelector`}\": exactly one of "
     "`nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required, "
     "but multiple fields are set"},
    {"{'apiVersion':'resource.k8s.io/v1','kind':'ResourceSlice',"
     "'metadata':{'name':'bad'},'spec':{'driver':'a.b','pool':{'name':'n',"
     "'generation':1,'resourceSliceCount':1},'nodeName':'n','devices':[{'name':'a',"
     "'attributes':{'a-b':{}}}]}}",
     "spec.devices[0].attributes[a-b]: Invalid value: \"a-b\": a valid C identifier "
     "must start with alphabetic character or '_', followed by a string of "
     "alphanumeric characters or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', "
     "regex used for validation is "
     "'[A-Za-z_][A-Za-z0-9_]*')\n"
     "spec.devices[0].attributes[a-b]: Required value: exactly one value must be "
     "specified"},
    {"{'apiVersion':'resource.k8s.io/v1','kind':'ResourceSlice',"
     "'metadata':{'name':'bad'},'spec':{'driver':'a.b','pool':{'name':'n',"
     "'generation':1,'resourceSliceCount':1},'nodeName':'n','devices':[{'name':'a',"
     "'attributes':{'c':{'int':1,'bool':true}}}]}}",
     "spec.devices[0].attributes[c]: Invalid value: {\"IntValue\":1,\"BoolValue\":true,"
     "\"StringValue\":null,\"VersionValue\":null}: exactly one value must be specified"},
    {"{'apiVersion':'resource.k8s.io/v1','kind':'ResourceSlice',"
     "'metadata':{'name':'bad'},'spec':{'driver':'a.b','pool':{'name':'n',"
     "'generation':1,'resourceSliceCount':1},'nodeName':'n','devices':[{'name':'a',"
     "'attributes':{'v':{'version':'1.2'}}}]}}",
     "spec.devices[0].attributes[v].version: Invalid value: \"1.2\": must be a string "
     "compatible with semver.org spec 2.0.0"},
    {"{'apiVersion':'resource.k8s.io/v1','kind':'ResourceSlice',"
     "'metadata':{'name':'bad'},'spec':{'driver':'a.b','pool':{'name':'n',"
     "'generation':1,'resourceSliceCount':1},'nodeName':'n','devices':[{'name':'a',"
     "'attributes':{'w':{'version':'1.2.3-a.01'}}}]}}",
     "spec.devices[0].attributes[w].version: Invalid value: \"1.2.3-a.01\": must be a "
     "string compatible with semver.org spec 2.0.0"},
    {"{'apiVersion':'resource.k8s.io/v1','kind':'ResourceSlice',"
     "'metadata':{'name':'bad'},'spec':{'driver':'a.b','pool':{'name':'n',"
     "'generation':1,'resourceSliceCount':1},'nodeName':'n','devices':[{'name':'a',"
     "'attributes':{'x':{'version':'1.2.3-a.1+b'}}}]}}",
     ""},
    {"{'apiVersion':'resource.k8s.io/v1','kind':'ResourceSlice',"
     "'metadata':{'name':'bad'},'spec':{'driver':'a.b','pool':{'name':'n',"
     "'generation':1,'resourceSliceCount':1},'nodeName':'n','devices':[{'name':'a',"
     "'attributes':{'/x':{'int':1}}}]}}",
     "spec.devices[0].attributes[/x]: Required value: the domain must not be empty"},
    {"{'apiVersion':'resource.k8s.io/v1','kind':'ResourceSlice',"
     "'metadata':{'name':'bad'},'spec':{'driver':'a.b','pool':{'name':'n',"
     "'generation':1,'resourceSliceCount':1},'nodeName':'n','devices':[{'name':'a',"
     "'attributes':{'a.b/':{'int':1}}}]}}",
     "spec.devices[0].attributes[a.b/]: Required value: the name must not be empty"},
    {"{'apiVersion':'resource.k8s.io/v1','kind':'ResourceSlice',"
     "'metadata':{'name':'bad'},'spec':{'driver':'a.b','pool':{'name':'n',"
     "'generation':1,'resourceSliceCount':1},'nodeName':'n','devices':[{'name':'a',"
     "'attributes':{'s':{'string':'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
     "xxxxxxxxxxxxxxxxxxxxx'}}}]}}",
     "spec.devices[0].attributes[s].string: Too long: may not be more than 64 bytes"},
    {"{'apiVersion':'resource.k8s.io/v1','kind':'ResourceSlice',"
     "'metadata':{'name':'bad'},'spec':{'driver':'a.b','pool':{'name':'n',"
     "'generation':1,'resourceSliceCount':1},'nodeName':'n','devices':[{'name':'A'},"
     "{'name':'a'},{'name':'a'}]}}",
     "spec.devices[0].name: Invalid value: \"A\": " LABEL "\n"
     "spec.devices[2].name: Duplicate value: \"a\""},
    {"{'apiVersion':'resource.k8s.io/v1','kind':'ResourceSlice',"
     "'metadata':{'name':'bad'},'spec':{'driver':'a.b','pool':{'name':'n',"
     "'generation':1,'resourceSliceCount':1},'nodeName':'n','devices':[{'name':'a',"
     "'attributes':{'a0':{'int':1},'a1':{'int':1},'a2':{'int':1},'a3':{'int':1},"
     "'a4':{'int':1},'a5':{'int':1},'a6':{'int':1},'a7':{'int':1},'a8':{'int':1},"
     "'a9':{'int':1},'a10':{'int':1},'a11':{'int':1},'a12':{'int':1},"
     "'a13':{'int':1},'a14':{'int':1},'a15':{'int':1},'a16':{'int':1},"
     "'a17':{'int':1},'a18':{'int':1},'a19':{'int':1},'a20':{'int':1},"
     "'a21':{'int':1},'a22':{'int':1},'a23':{'int':1},'a24':{'int':1},"
     "'a25':{'int':1},'a26':{'int':1},'a27':{'int':1},'a28':{'int':1},"
     "'a29':{'int':1},'a30':{'int':1},'a31':{'int':1},'a32':{'int':1}}}]}}",
     "spec.devices[0]: Invalid value: 33: the total number of attributes and "
     "capacities must not exceed 32"},
    {"{'apiVersion':'resource.k8s.io/v1','kind':'ResourceSlice',"
     "'metadata':{'name':'bad'},'spec':{'driver':'a.b','pool':{'name':'',"
     "'resourceSliceCount':1},'nodeName':'n'}}",
     "spec.pool.name: Required value"},
};

static void invalid_resource_slices_are_reported(void **state)
{
    (void)state;
    assert_samples("io.k8s.api.resource.v1.ResourceSlice", &kc__strategy_resource_slice,
                   resource_slice_samples, KC_COUNT(resource_slice_samples));
}

TESTS(invalid_device_classes_are_reported, invalid_resource_claims_are_reported,
      invalid_resource_claim_templates_are_reported, invalid_resource_slices_are_reported)
