/* SPDX-License-Identifier: Apache-2.0 */
/* Validation of containers: resources, probes, hooks, environment, init containers. */
#include "kinds_samples.h"

static const sample pod_1[] = {
    {POD_WITH(",'resourceClaims':[{'name':'a'}]"),
     "spec.resourceClaims[0]: Invalid value: {\"Name\":\"a\","
     "\"ResourceClaimName\":null,\"ResourceClaimTemplateName\":null}: "
     "must specify one of: `resourceClaimName`, "
     "`resourceClaimTemplateName`"},
    {POD_WITH(",'resourceClaims':[{'name':'a','resourceClaimName':'b',"
              "'resourceClaimTemplateName':'c'}]"),
     "spec.resourceClaims[0]: Invalid value: {\"Name\":\"a\","
     "\"ResourceClaimName\":\"b\",\"ResourceClaimTemplateName\":\"c\"}: at "
     "most one of `resourceClaimName` or "
     "`resourceClaimTemplateName` may be specified"},
    {POD_WITH(",'resourceClaims':[{'name':'a','resourceClaimName':'b'},"
              "{'name':'a','resourceClaimName':'b'}]"),
     "spec.resourceClaims[1].name: Duplicate value: \"a\""},
    {POD_WITH(",'resources':{'requests':{'example.com/x':'1'}}"),
     "spec.resources.requests[example.com/x]: Unsupported value: "
     "\"example.com/x\": supported values: \"cpu\", \"hugepages-\", "
     "\"memory\"\n"
     "spec.resources.limits: Required value: Limit must be set for "
     "non overcommitable resources"},
    {POD_WITH(",'resources':{'requests':{'cpu':'2'},'limits':{'cpu':'1'}}"),
     "spec.resources.requests: Invalid value: \"2\": must be less "
     "than or equal to cpu limit of 1"},
    {CONTAINER_WITH("'resources':{'requests':{'cpu':'2'},'limits':{'cpu':'1'}}"),
     "spec.containers[0].resources.requests: Invalid value: \"2\": "
     "must be less than or equal to cpu limit of 1"},
    {CONTAINER_WITH("'resources':{'requests':{'x':'1'}}"),
     "spec.containers[0].resources.requests[x]: Invalid value: \"x\": "
     "must be a standard resource type or fully qualified\n"
     "spec.containers[0].resources.requests[x]: Invalid value: \"x\": "
     "must be a standard resource for containers"},
    {CONTAINER_WITH("'resources':{'limits':{'cpu':'-1'}}"),
     "spec.containers[0].resources.limits[cpu]: Invalid value: "
     "\"-1\": must be greater than or equal to 0\n"
     "spec.containers[0].resources.requests[cpu]: Invalid value: "
     "\"-1\": must be greater than or equal to 0"},
    {CONTAINER_WITH("'resources':{'requests':{'hugepages-2Mi':'2Mi'}}"),
     "spec.containers[0].resources.limits: Required value: Limit "
     "must be set for non overcommitable resources\n"
     "spec.containers[0].resources: Forbidden: HugePages require "
     "cpu or memory"},
    {CONTAINER_WITH("'resources':{'limits':{'hugepages-2Mi':'2Mi'}}"),
     "spec.containers[0].resources: Forbidden: HugePages require "
     "cpu or memory"},
    {CONTAINER_WITH("'resources':{'limits':{'hugepages-2Mi':'3Mi','cpu':'1'}}"),
     "spec.containers[0].resources.limits[hugepages-2Mi]: Invalid "
     "value: \"3Mi\": 3Mi is not positive integer multiple of "
     "hugepages-2Mi\n"
     "spec.containers[0].resources.requests[hugepages-2Mi]: Invalid "
     "value: \"3Mi\": 3Mi is not positive integer multiple of "
     "hugepages-2Mi"},
    {CONTAINER_WITH("'resources':{'limits':{'hugepages-x':'2Mi','cpu':'1'}}"),
     "spec.containers[0].resources.limits[hugepages-x]: Invalid "
     "value: \"2Mi\": 2Mi is not positive integer multiple of "
     "hugepages-x\n"
     "spec.containers[0].resources.requests[hugepages-x]: Invalid "
     "value: \"2Mi\": 2Mi is not positive integer multiple of "
     "hugepages-x"},
    {CONTAINER_WITH("'resources':{'limits':{'example.com/g':'1.5'}}"),
     "spec.containers[0].resources.limits[example.com/g]: Invalid "
     "value: \"1500m\": must be an integer\n"
     "spec.containers[0].resources.requests[example.com/g]: Invalid "
     "value: \"1500m\": must be an integer"},
    {CONTAINER_WITH("'resources':{'requests':{'example.com/g':'1'}}"),
     "spec.containers[0].resources.limits: Required value: Limit "
     "must be set for non overcommitable resources"},
    {CONTAINER_WITH("'resources':{'requests':{'example.com/g':'1'},"
                    "'limits':{'example.com/g':'2'}}"),
     "spec.containers[0].resources.requests: Invalid value: \"1\": "
     "must be equal to example.com/g limit of 2"},
    {CONTAINER_WITH("'resources':{'limits':{'storage':'1'}}"),
     "spec.containers[0].resources.limits[storage]: Invalid value: "
     "\"storage\": must be a standard resource for containers\n"
     "spec.containers[0].resources.requests[storage]: Invalid "
     "value: \"storage\": must be a standard resource for containers"},
    {CONTAINER_WITH("'resources':{'limits':{'pods':'1'}}"),
     "spec.containers[0].resources.limits[pods]: Invalid value: "
     "\"pods\": must be a standard resource for containers\n"
     "spec.containers[0].resources.requests[pods]: Invalid value: "
     "\"pods\": must be a standard resource for containers"},
    {CONTAINER_WITH("'resources':{'limits':{'requests.example.com/x':'1'}}"),
     "spec.containers[0].resources.limits[requests.example.com/x]: "
     "Invalid value: \"requests.example.com/x\": doesn't follow "
     "extended resource name standard\n"
     "spec.containers[0].resources.requests[requests.example.com/x]:"
     " Invalid value: \"requests.example.com/x\": doesn't follow "
     "extended resource name standard"},
    {CONTAINER_WITH("'resources':{'limits':{'attachable-volumes-x':'1'}}"),
     "spec.containers[0].resources.limits[attachable-volumes-x]: "
     "Invalid value: \"attachable-volumes-x\": must be a standard "
     "resource type or fully qualified\n"
     "spec.containers[0].resources.limits[attachable-volumes-x]: "
     "Invalid value: \"attachable-volumes-x\": must be a standard "
     "resource for containers\n"
     "spec.containers[0].resources.requests[attachable-volumes-x]: "
     "Invalid value: \"attachable-volumes-x\": must be a standard "
     "resource type or fully qualified\n"
     "spec.containers[0].resources.requests[attachable-volumes-x]: "
     "Invalid value: \"attachable-volumes-x\": must be a standard "
     "resource for containers"},
    {CONTAINER_WITH("'resources':{'claims':[{'name':'x'}]}"),
     "spec.containers[0].resources.claims[0]: Not found: \"x\": must "
     "be one of the names in pod.spec.resourceClaims which is empty"},
    {CONTAINER_WITH("'resources':{'claims':[{'name':''}]}"),
     "spec.containers[0].resources.claims[0]: Required value"},
    {CONTAINER_WITH("'resources':{'limits':{'a b':'1'}}"),
     "spec.containers[0].resources.limits[a b]: Invalid value: \"a "
     "b\": " QUALIFIED "\n"
     "spec.containers[0].resources.limits[a b]: Invalid value: \"a "
     "b\": must be a standard resource for containers\n"
     "spec.containers[0].resources.requests[a b]: Invalid value: \"a "
     "b\": " QUALIFIED "\n"
     "spec.containers[0].resources.requests[a b]: Invalid value: \"a "
     "b\": must be a standard resource for containers"},
};

static void invalid_container_resources_are_reported(void **state)
{
    (void)state;
    assert_samples("io.k8s.api.core.v1.Pod", &kc__strategy_pod, pod_1, KC_COUNT(pod_1));
}

static const sample pod_2[] = {
    {CONTAINER_WITH("'livenessProbe':{}"), "spec.containers[0].livenessProbe: Required value: must "
                                           "specify a handler type"},
    {CONTAINER_WITH("'livenessProbe':{'exec':{}}"),
     "spec.containers[0].livenessProbe.exec.command: Required value"},
    {CONTAINER_WITH("'livenessProbe':{'httpGet':{'port':0}}"),
     "spec.containers[0].livenessProbe.httpGet.port: Invalid value: "
     "0: must be between 1 and 65535, inclusive"},
    {CONTAINER_WITH("'livenessProbe':{'httpGet':{'port':'A!'}}"),
     "spec.containers[0].livenessProbe.httpGet.port: Invalid value: "
     "\"A!\": must contain only alpha-numeric characters (a-z, 0-9), "
     "and hyphens (-)\n"
     "spec.containers[0].livenessProbe.httpGet.port: Invalid value: "
     "\"A!\": must contain at least one letter (a-z)"},
    {CONTAINER_WITH("'livenessProbe':{'httpGet':{'port':80,'scheme':'X',"
                    "'httpHeaders':[{'name':''},{'name':'a b'}]}}"),
     "spec.containers[0].livenessProbe.httpGet.scheme: Unsupported "
     "value: \"X\": supported values: \"HTTP\", \"HTTPS\"\n"
     "spec.containers[0].livenessProbe.httpGet.httpHeaders: Invalid "
     "value: \"\": a valid HTTP header must consist of alphanumeric "
     "characters or '-' (e.g. 'X-Header-Name', regex used for "
     "validation is '[-A-Za-z0-9]+')\n"
     "spec.containers[0].livenessProbe.httpGet.httpHeaders: Invalid "
     "value: \"a b\": a valid HTTP header must consist of "
     "alphanumeric characters or '-' (e.g. 'X-Header-Name', regex "
     "used for validation is '[-A-Za-z0-9]+')"},
    {CONTAINER_WITH("'livenessProbe':{'tcpSocket':{'port':70000}}"),
     "spec.containers[0].livenessProbe.tcpSocket.port: Invalid "
     "value: 70000: must be between 1 and 65535, inclusive"},
    {CONTAINER_WITH("'livenessProbe':{'grpc':{'port':0}}"),
     "spec.containers[0].livenessProbe.grpc.port: Invalid value: 0: "
     "must be between 1 and 65535, inclusive"},
    {CONTAINER_WITH("'livenessProbe':{'exec':{'command':['x']},"
                    "'httpGet':{'port':80}}"),
     "spec.containers[0].livenessProbe.httpGet: Forbidden: may not "
     "specify more than 1 handler type"},
    {CONTAINER_WITH("'livenessProbe':{'exec':{'command':['x']},'timeoutSeconds':-1,"
                    "'initialDelaySeconds':-1,'periodSeconds':-1,"
                    "'failureThreshold':-1,'successThreshold':-1}"),
     "spec.containers[0].livenessProbe.initialDelaySeconds: Invalid "
     "value: -1: must be greater than or equal to 0\n"
     "spec.containers[0].livenessProbe.timeoutSeconds: Invalid "
     "value: -1: must be greater than or equal to 0\n"
     "spec.containers[0].livenessProbe.periodSeconds: Invalid "
     "value: -1: must be greater than or equal to 0\n"
     "spec.containers[0].livenessProbe.successThreshold: Invalid "
     "value: -1: must be greater than or equal to 0\n"
     "spec.containers[0].livenessProbe.failureThreshold: Invalid "
     "value: -1: must be greater than or equal to 0\n"
     "spec.containers[0].livenessProbe.successThreshold: Invalid "
     "value: -1: must be 1"},
    {CONTAINER_WITH("'livenessProbe':{'exec':{'command':['x']},"
                    "'successThreshold':2}"),
     "spec.containers[0].livenessProbe.successThreshold: Invalid "
     "value: 2: must be 1"},
    {CONTAINER_WITH("'livenessProbe':{'exec':{'command':['x']},"
                    "'terminationGracePeriodSeconds':0}"),
     "spec.containers[0].livenessProbe."
     "terminationGracePeriodSeconds: Invalid value: 0: must be "
     "greater than 0"},
    {CONTAINER_WITH("'readinessProbe':{'exec':{'command':['x']},"
                    "'terminationGracePeriodSeconds':5}"),
     "spec.containers[0].readinessProbe."
     "terminationGracePeriodSeconds: Invalid value: 5: must not be "
     "set for readinessProbes"},
    {CONTAINER_WITH("'startupProbe':{'exec':{'command':['x']},'successThreshold':2}"),
     "spec.containers[0].startupProbe.successThreshold: Invalid "
     "value: 2: must be 1"},
    {CONTAINER_WITH("'lifecycle':{'postStart':{}}"),
     "spec.containers[0].lifecycle.postStart: Required value: must "
     "specify a handler type"},
};

static void invalid_probes_and_hooks_are_reported(void **state)
{
    (void)state;
    assert_samples("io.k8s.api.core.v1.Pod", &kc__strategy_pod, pod_2, KC_COUNT(pod_2));
}

static const sample pod_3[] = {
    {CONTAINER_WITH("'env':[{'name':''}]"), "spec.containers[0].env[0].name: Required value"},
    {CONTAINER_WITH("'env':[{'name':'a=b'}]"),
     "spec.containers[0].env[0].name: Invalid value: \"a=b\": a valid "
     "environment variable name must consist only of printable "
     "ASCII characters other than '='"},
    {CONTAINER_WITH("'env':[{'name':'a','valueFrom':{}}]"),
     "spec.containers[0].env[0].valueFrom: Invalid value: \"\": must "
     "specify one of: `fieldRef`, `resourceFieldRef`, "
     "`configMapKeyRef` or `secretKeyRef`"},
    {CONTAINER_WITH("'env':[{'name':'a','value':'x',"
                    "'valueFrom':{'fieldRef':{'fieldPath':'metadata.name'}}}]"),
     "spec.containers[0].env[0].valueFrom: Invalid value: \"\": may "
     "not be specified when `value` is not empty"},
    {CONTAINER_WITH("'env':[{'name':'a','valueFrom':{'fieldRef':{'fieldPath':'"
                    "metadata.name'},'secretKeyRef':{'name':'a','key':'b'}}}]"),
     "spec.containers[0].env[0].valueFrom: Invalid value: \"\": may "
     "not have more than one field specified at a time"},
    {CONTAINER_WITH("'env':[{'name':'a','valueFrom':{'fieldRef':{'fieldPath':'spec."
                    "foo'}}}]"),
     "spec.containers[0].env[0].valueFrom.fieldRef.fieldPath: "
     "Invalid value: \"spec.foo\": error converting fieldPath: field "
     "label not supported: spec.foo"},
    {CONTAINER_WITH("'env':[{'name':'a','valueFrom':{'fieldRef':{'fieldPath':'"
                    "metadata.labels'}}}]"),
     "spec.containers[0].env[0].valueFrom.fieldRef.fieldPath: "
     "Unsupported value: \"metadata.labels\": supported values: "
     "\"metadata.name\", \"metadata.namespace\", \"metadata.uid\", "
     "\"spec.nodeName\", \"spec.serviceAccountName\", \"status.hostIP\", "
     "\"status.hostIPs\", \"status.podIP\", \"status.podIPs\""},
    {CONTAINER_WITH("'env':[{'name':'a','valueFrom':{'resourceFieldRef':{'resource'"
                    ":'x'}}}]"),
     "spec.containers[0].env[0].valueFrom.resourceFieldRef.resource:"
     " Unsupported value: \"x\": supported values: \"limits.cpu\", "
     "\"limits.ephemeral-storage\", \"limits.memory\", \"requests.cpu\", "
     "\"requests.ephemeral-storage\", \"requests.memory\""},
    {CONTAINER_WITH("'env':[{'name':'a','valueFrom':{'resourceFieldRef':{'resource'"
                    ":'limits.cpu','divisor':'3'}}}]"),
     "spec.containers[0].env[0].valueFrom.resourceFieldRef.divisor: "
     "Invalid value: \"limits.cpu\": only divisor's values 1m and 1 "
     "are supported with the cpu resource"},
    {CONTAINER_WITH("'env':[{'name':'a','valueFrom':{'configMapKeyRef':{'key':''}}}"
                    "]"),
     "spec.containers[0].env[0].valueFrom.configMapKeyRef.name: "
     "Invalid value: \"\": " SUBDOMAIN "\n"
     "spec.containers[0].env[0].valueFrom.configMapKeyRef.key: "
     "Required value"},
};

static void invalid_environment_variables_are_reported(void **state)
{
    (void)state;
    assert_samples("io.k8s.api.core.v1.Pod", &kc__strategy_pod, pod_3, KC_COUNT(pod_3));
}

static const sample pod_4[] = {
    {POD_WITH(",'initContainers':[{'name':'c','image':'x:1'}]"),
     "spec.initContainers[0].name: Duplicate value: \"c\""},
    {POD_WITH(",'initContainers':[{'name':'i','image':'x:1',"
              "'livenessProbe':{'exec':{'command':['x']}}}]"),
     "spec.initContainers[0].livenessProbe: Forbidden: may not be "
     "set for init containers without restartPolicy=Always"},
    {POD_WITH(",'initContainers':[{'name':'i','image':'x:1',"
              "'lifecycle':{'preStop':{'exec':{'command':['x']}}}}]"),
     "spec.initContainers[0].lifecycle: Forbidden: may not be set "
     "for init containers without restartPolicy=Always"},
    {POD_WITH(",'initContainers':[{'name':'i','image':''}]"),
     "spec.initContainers[0].image: Required value"},
    {POD_WITH(",'initContainers':[{'name':'i','image':'x:1',"
              "'ports':[{'containerPort':0}]}]"),
     "spec.initContainers[0].ports[0].containerPort: Required value"},
};

static void invalid_init_containers_are_reported(void **state)
{
    (void)state;
    assert_samples("io.k8s.api.core.v1.Pod", &kc__strategy_pod, pod_4, KC_COUNT(pod_4));
}

TESTS(invalid_container_resources_are_reported, invalid_probes_and_hooks_are_reported,
      invalid_environment_variables_are_reported, invalid_init_containers_are_reported)
