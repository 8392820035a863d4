/* SPDX-License-Identifier: Apache-2.0 */
/* Validation of Ingresses, NetworkPolicies, EndpointSlices and Services. */
#include "kinds_samples.h"

static const sample ing_1[] = {
    {"{'apiVersion':'networking.k8s.io/v1','kind':'Ingress',"
     "'metadata':{'name':'i'},'spec':{'rules':[]}}",
     "spec: Invalid value: []: either `defaultBackend` or `rules` "
     "must be specified"},
    {"{'apiVersion':'networking.k8s.io/v1','kind':'Ingress',"
     "'metadata':{'name':'i'},'spec':{'rules':[{'host':'A_'}]}}",
     "spec.rules[0].host: Invalid value: \"A_\": " SUBDOMAIN},
    {"{'apiVersion':'networking.k8s.io/v1','kind':'Ingress',"
     "'metadata':{'name':'i'},'spec':{'rules':[{'host':'1.2.3.4'}]}}",
     "spec.rules[0].host: Invalid value: \"1.2.3.4\": must be a DNS "
     "name, not an IP address"},
    {"{'apiVersion':'networking.k8s.io/v1','kind':'Ingress',"
     "'metadata':{'name':'i'},'spec':{'rules':[{'host':'a.*.com'}]}}",
     "spec.rules[0].host: Invalid value: \"a.*.com\": a wildcard "
     "DNS-1123 subdomain must start with '*.', followed by a valid "
     "DNS subdomain, which must consist of lower case alphanumeric "
     "characters, '-' or '.' and end with an alphanumeric character "
     "(e.g. '*.example.com', regex used for validation is "
     "'\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*["
     "a-z0-9])?)*')"},
    {"{'apiVersion':'networking.k8s.io/v1','kind':'Ingress',"
     "'metadata':{'name':'i'},"
     "'spec':{'rules':[{'http':{'paths':[]}}]}}",
     "spec.rules[0].http.paths: Required value"},
    {"{'apiVersion':'networking.k8s.io/v1','kind':'Ingress',"
     "'metadata':{'name':'i'},"
     "'spec':{'rules':[{'http':{'paths':[{'path':'x',"
     "'pathType':'Prefix','backend':{'service':{'name':'s',"
     "'port':{'number':80}}}}]}}]}}",
     "spec.rules[0].http.paths[0].path: Invalid value: \"x\": must be "
     "an absolute path"},
    {"{'apiVersion':'networking.k8s.io/v1','kind':'Ingress',"
     "'metadata':{'name':'i'},"
     "'spec':{'rules':[{'http':{'paths':[{'path':'',"
     "'pathType':'Prefix','backend':{'service':{'name':'s',"
     "'port':{'number':80}}}}]}}]}}",
     "spec.rules[0].http.paths[0].path: Invalid value: \"\": must be "
     "an absolute path"},
    {"{'apiVersion':'networking.k8s.io/v1','kind':'Ingress',"
     "'metadata':{'name':'i'},"
     "'spec':{'rules':[{'http':{'paths':[{'path':'/',"
     "'pathType':null,'backend':{'service':{'name':'s',"
     "'port':{'number':80}}}}]}}]}}",
     "spec.rules[0].http.paths[0].pathType: Required value: "
     "pathType must be specified"},
    {"{'apiVersion':'networking.k8s.io/v1','kind':'Ingress',"
     "'metadata':{'name':'i'},"
     "'spec':{'rules':[{'http':{'paths':[{'path':'/','pathType':'X',"
     "'backend':{'service':{'name':'s','port':{'number':80}}}}]}}]}}",
     "spec.rules[0].http.paths[0].pathType: Unsupported value: \"X\": "
     "supported values: \"Exact\", \"ImplementationSpecific\", \"Prefix\""},
    {"{'apiVersion':'networking.k8s.io/v1','kind':'Ingress',"
     "'metadata':{'name':'i'},"
     "'spec':{'rules':[{'http':{'paths':[{'path':'x',"
     "'pathType':'ImplementationSpecific',"
     "'backend':{'service':{'name':'s','port':{'number':80}}}}]}}]}}",
     "spec.rules[0].http.paths[0].path: Invalid value: \"x\": must be "
     "an absolute path"},
    {"{'apiVersion':'networking.k8s.io/v1','kind':'Ingress',"
     "'metadata':{'name':'i'},"
     "'spec':{'rules':[{'http':{'paths':[{'path':'/a//b',"
     "'pathType':'Prefix','backend':{'service':{'name':'s',"
     "'port':{'number':80}}}}]}}]}}",
     "spec.rules[0].http.paths[0].path: Invalid value: \"/a//b\": "
     "must not contain '//'"},
    {"{'apiVersion':'networking.k8s.io/v1','kind':'Ingress',"
     "'metadata':{'name':'i'},"
     "'spec':{'rules':[{'http':{'paths':[{'path':'/a/../b',"
     "'pathType':'Prefix','backend':{'service':{'name':'s',"
     "'port':{'number':80}}}}]}}]}}",
     "spec.rules[0].http.paths[0].path: Invalid value: \"/a/../b\": "
     "must not contain '/../'"},
    {"{'apiVersion':'networking.k8s.io/v1','kind':'Ingress',"
     "'metadata':{'name':'i'},"
     "'spec':{'rules':[{'http':{'paths':[{'path':'/a%2fb',"
     "'pathType':'Prefix','backend':{'service':{'name':'s',"
     "'port':{'number':80}}}}]}}]}}",
     "spec.rules[0].http.paths[0].path: Invalid value: \"/a%2fb\": "
     "must not contain '%2f'"},
    {"{'apiVersion':'networking.k8s.io/v1','kind':'Ingress',"
     "'metadata':{'name':'i'},"
     "'spec':{'rules':[{'http':{'paths':[{'path':'/a/..',"
     "'pathType':'Prefix','backend':{'service':{'name':'s',"
     "'port':{'number':80}}}}]}}]}}",
     "spec.rules[0].http.paths[0].path: Invalid value: \"/a/..\": "
     "cannot end with '/..'"},
    {"{'apiVersion':'networking.k8s.io/v1','kind':'Ingress',"
     "'metadata':{'name':'i'},"
     "'spec':{'rules':[{'http':{'paths':[{'path':'/./a',"
     "'pathType':'Exact','backend':{'service':{'name':'s',"
     "'port':{'number':80}}}}]}}]}}",
     "spec.rules[0].http.paths[0].path: Invalid value: \"/./a\": must "
     "not contain '/./'"},
    {"{'apiVersion':'networking.k8s.io/v1','kind':'Ingress',"
     "'metadata':{'name':'i'},"
     "'spec':{'rules':[{'http':{'paths':[{'path':'/',"
     "'pathType':'Prefix','backend':{}}]}}]}}",
     "spec.rules[0].http.paths[0].backend: Invalid value: \"\": "
     "resource or service backend is required"},
    {"{'apiVersion':'networking.k8s.io/v1','kind':'Ingress',"
     "'metadata':{'name':'i'},"
     "'spec':{'rules':[{'http':{'paths':[{'path':'/',"
     "'pathType':'Prefix','backend':{'service':{}}}]}}]}}",
     "spec.rules[0].http.paths[0].backend.service.name: Required "
     "value\n"
     "spec.rules[0].http.paths[0].backend: Required value: port "
     "name or number is required"},
    {"{'apiVersion':'networking.k8s.io/v1','kind':'Ingress',"
     "'metadata':{'name':'i'},"
     "'spec':{'rules':[{'http':{'paths':[{'path':'/',"
     "'pathType':'Prefix','backend':{'service':{'name':'A_',"
     "'port':{'number':80}}}}]}}]}}",
     "spec.rules[0].http.paths[0].backend.service.name: Invalid "
     "value: \"A_\": a DNS-1035 label must consist of lower case "
     "alphanumeric characters or '-', start with an alphabetic "
     "character, and end with an alphanumeric character (e.g. "
     "'my-name',  or 'abc-123', regex used for validation is "
     "'[a-z]([-a-z0-9]*[a-z0-9])?')"},
};

static void invalid_ingresses_are_reported(void **state)
{
    (void)state;
    assert_samples("io.k8s.api.networking.v1.Ingress", &kc__strategy_ingress, ing_1,
                   KC_COUNT(ing_1));
}

static const sample ic_2[] = {
    {"{'apiVersion':'networking.k8s.io/v1','kind':'IngressClass',"
     "'metadata':{'name':'ic'},'spec':{'controller':''}}",
     "spec.controller: Required value"},
    {"{'apiVersion':'networking.k8s.io/v1','kind':'IngressClass',"
     "'metadata':{'name':'ic'},'spec':{'controller':'x'}}",
     "spec.controller: Invalid value: \"x\": must be a "
     "domain-prefixed path (such as \"acme.io/foo\")"},
    {"{'apiVersion':'networking.k8s.io/v1','kind':'IngressClass',"
     "'metadata':{'name':'ic'},'spec':{'controller':'A_.b/c'}}",
     "spec.controller: Invalid value: \"A_.b\": " SUBDOMAIN},
    {"{'apiVersion':'networking.k8s.io/v1','kind':'IngressClass',"
     "'metadata':{'name':'ic'},"
     "'spec':{'controller':'"
     "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
     "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
     "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
     "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
     "xxx'}}",
     "spec.controller: Too long: may not be more than 250 bytes\n"
     "spec.controller: Invalid value: "
     "\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
     "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
     "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
     "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
     "xxxx\": must be a domain-prefixed path (such as \"acme.io/foo\")"},
    {"{'apiVersion':'networking.k8s.io/v1','kind':'IngressClass',"
     "'metadata':{'name':'ic'},'spec':{'controller':'a.b/c',"
     "'parameters':{}}}",
     "spec.parameters.kind: Required value\n"
     "spec.parameters.name: Required value"},
    {"{'apiVersion':'networking.k8s.io/v1','kind':'IngressClass',"
     "'metadata':{'name':'ic'},'spec':{'controller':'a.b/c',"
     "'parameters':{'kind':'K','name':'n','scope':'X'}}}",
     "spec.parameters.scope: Unsupported value: \"X\": supported "
     "values: \"Cluster\", \"Namespace\""},
    {"{'apiVersion':'networking.k8s.io/v1','kind':'IngressClass',"
     "'metadata':{'name':'ic'},'spec':{'controller':'a.b/c',"
     "'parameters':{'kind':'K','name':'n','scope':'Namespace'}}}",
     "spec.parameters.namespace: Required value: `parameters.scope` "
     "is set to 'Namespace'"},
    {"{'apiVersion':'networking.k8s.io/v1','kind':'IngressClass',"
     "'metadata':{'name':'ic'},'spec':{'controller':'a.b/c',"
     "'parameters':{'kind':'K','name':'n','scope':'Cluster',"
     "'namespace':'x'}}}",
     "spec.parameters.namespace: Forbidden: `parameters.scope` is "
     "set to 'Cluster'"},
};

static void invalid_ingress_classes_are_reported(void **state)
{
    (void)state;
    assert_samples("io.k8s.api.networking.v1.IngressClass", &kc__strategy_ingress_class, ic_2,
                   KC_COUNT(ic_2));
}

static const sample netpol_3[] = {
    {"{'apiVersion':'networking.k8s.io/v1','kind':'NetworkPolicy',"
     "'metadata':{'name':'n'},"
     "'spec':{'podSelector':{'matchLabels':{'a b':'c'}},"
     "'ingress':[{'from':[{'podSelector':{}}],"
     "'ports':[{'port':80}]}]}}",
     "spec.podSelector.matchLabels: Invalid value: \"a b\": " QUALIFIED},
    {"{'apiVersion':'networking.k8s.io/v1','kind':'NetworkPolicy',"
     "'metadata':{'name':'n'},'spec':{'podSelector':{},"
     "'ingress':[{'ports':[{'port':0}]}]}}",
     "spec.ingress[0].ports[0].port: Invalid value: 0: must be "
     "between 1 and 65535, inclusive"},
    {"{'apiVersion':'networking.k8s.io/v1','kind':'NetworkPolicy',"
     "'metadata':{'name':'n'},'spec':{'podSelector':{},"
     "'ingress':[{'ports':[{'port':'A_'}]}]}}",
     "spec.ingress[0].ports[0].port: Invalid value: \"A_\": must "
     "contain only alpha-numeric characters (a-z, 0-9), and hyphens "
     "(-)\n"
     "spec.ingress[0].ports[0].port: Invalid value: \"A_\": must "
     "contain at least one letter (a-z)"},
    {"{'apiVersion':'networking.k8s.io/v1','kind':'NetworkPolicy',"
     "'metadata':{'name':'n'},'spec':{'podSelector':{},"
     "'ingress':[{'ports':[{'port':80,'protocol':'X'}]}]}}",
     "spec.ingress[0].ports[0].protocol: Unsupported value: \"X\": "
     "supported values: \"TCP\", \"UDP\", \"SCTP\""},
    {"{'apiVersion':'networking.k8s.io/v1','kind':'NetworkPolicy',"
     "'metadata':{'name':'n'},'spec':{'podSelector':{},"
     "'ingress':[{'ports':[{'port':80,'endPort':79}]}]}}",
     "spec.ingress[0].ports[0].endPort: Invalid value: 80: must be "
     "greater than or equal to `port`"},
    {"{'apiVersion':'networking.k8s.io/v1','kind':'NetworkPolicy',"
     "'metadata':{'name':'n'},'spec':{'podSelector':{},"
     "'ingress':[{'ports':[{'port':'a','endPort':79}]}]}}",
     "spec.ingress[0].ports[0].endPort: Invalid value: 79: may not "
     "be specified when `port` is non-numeric"},
    {"{'apiVersion':'networking.k8s.io/v1','kind':'NetworkPolicy',"
     "'metadata':{'name':'n'},'spec':{'podSelector':{},"
     "'ingress':[{'ports':[{'endPort':79}]}]}}",
     "spec.ingress[0].ports[0].endPort: Invalid value: 79: may not "
     "be specified when `port` is not specified"},
    {"{'apiVersion':'networking.k8s.io/v1','kind':'NetworkPolicy',"
     "'metadata':{'name':'n'},'spec':{'podSelector':{},"
     "'ingress':[{'from':[{}]}]}}",
     "spec.ingress[0].from[0]: Required value: must specify a peer"},
    {"{'apiVersion':'networking.k8s.io/v1','kind':'NetworkPolicy',"
     "'metadata':{'name':'n'},'spec':{'podSelector':{},"
     "'ingress':[{'from':[{'ipBlock':{'cidr':'x'}}]}]}}",
     "spec.ingress[0].from[0].ipBlock.cidr: Invalid value: \"x\": "
     "must be a valid CIDR value, (e.g. 10.9.8.0/24 or "
     "2001:db8::/64)"},
    {"{'apiVersion':'networking.k8s.io/v1','kind':'NetworkPolicy',"
     "'metadata':{'name':'n'},'spec':{'podSelector':{},"
     "'ingress':[{'from':[{'ipBlock':{}}]}]}}",
     "spec.ingress[0].from[0].ipBlock.cidr: Required value"},
    {"{'apiVersion':'networking.k8s.io/v1','kind':'NetworkPolicy',"
     "'metadata':{'name':'n'},'spec':{'podSelector':{},"
     "'ingress':[{'from':[{'ipBlock':{'cidr':'10.0.0.0/8',"
     "'except':['x','11.0.0.0/8','10.0.0.0/8']}}]}]}}",
     "spec.ingress[0].from[0].ipBlock.except[0]: Invalid value: "
     "\"x\": must be a valid CIDR value, (e.g. 10.9.8.0/24 or "
     "2001:db8::/64)\n"
     "spec.ingress[0].from[0].ipBlock.except[1]: Invalid value: "
     "\"11.0.0.0/8\": must be a strict subset of `cidr`\n"
     "spec.ingress[0].from[0].ipBlock.except[2]: Invalid value: "
     "\"10.0.0.0/8\": must be a strict subset of `cidr`"},
    {"{'apiVersion':'networking.k8s.io/v1','kind':'NetworkPolicy',"
     "'metadata':{'name':'n'},'spec':{'podSelector':{},"
     "'ingress':[{'from':[{'ipBlock':{'cidr':'10.0.0.0/8'},"
     "'podSelector':{}}]}]}}",
     "spec.ingress[0].from[0]: Forbidden: may not specify both "
     "ipBlock and another peer"},
    {"{'apiVersion':'networking.k8s.io/v1','kind':'NetworkPolicy',"
     "'metadata':{'name':'n'},'spec':{'podSelector':{},"
     "'ingress':[{'from':[{'namespaceSelector':{'matchLabels':{'a "
     "b':'c'}},'podSelector':{'matchExpressions':[{'key':'a',"
     "'operator':'In'}]}}]}]}}",
     "spec.ingress[0].from[0].podSelector.matchExpressions[0]."
     "values: Required value: must be specified when `operator` is "
     "'In' or 'NotIn'\n"
     "spec.ingress[0].from[0].namespaceSelector.matchLabels: "
     "Invalid value: \"a b\": " QUALIFIED},
    {"{'apiVersion':'networking.k8s.io/v1','kind':'NetworkPolicy',"
     "'metadata':{'name':'n'},'spec':{'podSelector':{},"
     "'ingress':[{'from':[{'podSelector':{}}],"
     "'ports':[{'port':80}]}],'egress':[{'to':[{}]}]}}",
     "spec.egress[0].to[0]: Required value: must specify a peer"},
};

static void invalid_network_policies_are_reported(void **state)
{
    (void)state;
    assert_samples("io.k8s.api.networking.v1.NetworkPolicy", &kc__strategy_network_policy, netpol_3,
                   KC_COUNT(netpol_3));
}

static const sample eps_4[] = {
    {"{'apiVersion':'discovery.k8s.io/v1','kind':'EndpointSlice',"
     "'metadata':{'name':'eps'},'addressType':'',"
     "'endpoints':[{'addresses':['10.1.2.3']}],"
     "'ports':[{'port':80}]}",
     "addressType: Required value"},
    {"{'apiVersion':'discovery.k8s.io/v1','kind':'EndpointSlice',"
     "'metadata':{'name':'eps'},'addressType':'X',"
     "'endpoints':[{'addresses':['10.1.2.3']}],"
     "'ports':[{'port':80}]}",
     "addressType: Unsupported value: \"X\": supported values: \"FQDN\","
     " \"IPv4\", \"IPv6\""},
    {"{'apiVersion':'discovery.k8s.io/v1','kind':'EndpointSlice',"
     "'metadata':{'name':'eps'},"
     "'endpoints':[{'addresses':['10.1.2.3']}],"
     "'ports':[{'port':80}]}",
     "addressType: Required value"},
    {"{'apiVersion':'discovery.k8s.io/v1','kind':'EndpointSlice',"
     "'metadata':{'name':'eps'},'addressType':'IPv4',"
     "'endpoints':[{'addresses':['x']}],'ports':[{'port':80}]}",
     "endpoints[0].addresses[0]: Invalid value: \"x\": must be a "
     "valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"},
    {"{'apiVersion':'discovery.k8s.io/v1','kind':'EndpointSlice',"
     "'metadata':{'name':'eps'},'addressType':'IPv4',"
     "'endpoints':[{'addresses':[]}],'ports':[{'port':80}]}",
     "endpoints[0].addresses: Required value: must contain at least "
     "1 address"},
    {"{'apiVersion':'discovery.k8s.io/v1','kind':'EndpointSlice',"
     "'metadata':{'name':'eps'},'addressType':'IPv4',"
     "'endpoints':[{'addresses':['127.0.0.1']}],"
     "'ports':[{'port':80}]}",
     "endpoints[0].addresses[0]: Invalid value: \"127.0.0.1\": may "
     "not be in the loopback range (127.0.0.0/8, ::1/128)"},
    {"{'apiVersion':'discovery.k8s.io/v1','kind':'EndpointSlice',"
     "'metadata':{'name':'eps'},'addressType':'IPv6',"
     "'endpoints':[{'addresses':['10.1.2.3']}],"
     "'ports':[{'port':80}]}",
     "endpoints[0].addresses: Invalid value: \"10.1.2.3\": must be an "
     "IPv6 address"},
    {"{'apiVersion':'discovery.k8s.io/v1','kind':'EndpointSlice',"
     "'metadata':{'name':'eps'},'addressType':'FQDN',"
     "'endpoints':[{'addresses':['A_']}],'ports':[{'port':80}]}",
     "endpoints[0].addresses[0]: Invalid value: \"A_\": " SUBDOMAIN},
    {"{'apiVersion':'discovery.k8s.io/v1','kind':'EndpointSlice',"
     "'metadata':{'name':'eps'},'addressType':'IPv4',"
     "'endpoints':[{'addresses':['10.0.0.1'],'hostname':'A_'}],"
     "'ports':[{'port':80}]}",
     "endpoints[0].hostname: Invalid value: \"A_\": " LABEL},
    {"{'apiVersion':'discovery.k8s.io/v1','kind':'EndpointSlice',"
     "'metadata':{'name':'eps'},'addressType':'IPv4',"
     "'endpoints':[{'addresses':['10.0.0.1'],'nodeName':'A_'}],"
     "'ports':[{'port':80}]}",
     "endpoints[0].nodeName: Invalid value: \"A_\": " SUBDOMAIN},
    {"{'apiVersion':'discovery.k8s.io/v1','kind':'EndpointSlice',"
     "'metadata':{'name':'eps'},'addressType':'IPv4',"
     "'endpoints':[{'addresses':['10.1.2.3']}],'ports':[{'port':80},"
     "{'port':81}]}",
     "ports[1].name: Duplicate value: \"\""},
    {"{'apiVersion':'discovery.k8s.io/v1','kind':'EndpointSlice',"
     "'metadata':{'name':'eps'},'addressType':'IPv4',"
     "'endpoints':[{'addresses':['10.1.2.3']}],'ports':[{'port':80,"
     "'name':'A_'}]}",
     "ports[0].name: Invalid value: \"A_\": " LABEL},
};

static void invalid_endpoint_slices_are_reported(void **state)
{
    (void)state;
    assert_samples("io.k8s.api.discovery.v1.EndpointSlice", &kc__strategy_endpoint_slice, eps_4,
                   KC_COUNT(eps_4));
}

static const sample svc_5[] = {
    {"{'apiVersion':'v1','kind':'Service','metadata':{'name':'svc'},"
     "'spec':{'selector':{'a':'b'},'ports':[]}}",
     "spec.ports: Required value"},
    {"{'apiVersion':'v1','kind':'Service','metadata':{'name':'svc'},"
     "'spec':{'selector':{'a':'b'},'ports':[{'port':0}]}}",
     "spec.ports[0].port: Invalid value: 0: must be between 1 and "
     "65535, inclusive\n"
     "spec.ports[0].targetPort: Invalid value: 0: must be between 1 "
     "and 65535, inclusive"},
    {"{'apiVersion':'v1','kind':'Service','metadata':{'name':'svc'},"
     "'spec':{'selector':{'a':'b'},'ports':[{'port':80},"
     "{'port':81}]}}",
     "spec.ports[0].name: Required value\n"
     "spec.ports[1].name: Required value"},
    {"{'apiVersion':'v1','kind':'Service','metadata':{'name':'svc'},"
     "'spec':{'selector':{'a':'b'},'ports':[{'port':80,'name':'a'},"
     "{'port':81,'name':'a'}]}}",
     "spec.ports[1].name: Duplicate value: \"a\""},
    {"{'apiVersion':'v1','kind':'Service','metadata':{'name':'svc'},"
     "'spec':{'selector':{'a':'b'},'ports':[{'port':80,'name':'a'},"
     "{'port':80,'name':'b'}]}}",
     "spec.ports[1]: Duplicate value: {\"Name\":\"\",\"Protocol\":\"TCP\","
     "\"AppProtocol\":null,\"Port\":80,\"TargetPort\":0,\"NodePort\":0}"},
    {"{'apiVersion':'v1','kind':'Service','metadata':{'name':'svc'},"
     "'spec':{'selector':{'a':'b'},'ports':[{'port':80,"
     "'name':'A_'}]}}",
     "spec.ports[0].name: Invalid value: \"A_\": " LABEL},
    {"{'apiVersion':'v1','kind':'Service','metadata':{'name':'svc'},"
     "'spec':{'selector':{'a':'b'},'ports':[{'port':80,"
     "'protocol':'X'}]}}",
     "spec.ports[0].protocol: Unsupported value: \"X\": supported "
     "values: \"SCTP\", \"TCP\", \"UDP\""},
    {"{'apiVersion':'v1','kind':'Service','metadata':{'name':'svc'},"
     "'spec':{'selector':{'a':'b'},'ports':[{'port':80,"
     "'targetPort':'A!'}]}}",
     "spec.ports[0].targetPort: Invalid value: \"A!\": must contain "
     "only alpha-numeric characters (a-z, 0-9), and hyphens (-)\n"
     "spec.ports[0].targetPort: Invalid value: \"A!\": must contain "
     "at least one letter (a-z)"},
    {"{'apiVersion':'v1','kind':'Service','metadata':{'name':'svc'},"
     "'spec':{'selector':{'a':'b'},'ports':[{'port':80,"
     "'targetPort':70000}]}}",
     "spec.ports[0].targetPort: Invalid value: 70000: must be "
     "between 1 and 65535, inclusive"},
    {"{'apiVersion':'v1','kind':'Service','metadata':{'name':'svc'},"
     "'spec':{'selector':{'a':'b'},'ports':[{'port':80,"
     "'nodePort':30000}]}}",
     "spec.ports[0].nodePort: Forbidden: may not be used when "
     "`type` is 'ClusterIP'"},
    {"{'apiVersion':'v1','kind':'Service','metadata':{'name':'svc'},"
     "'spec':{'selector':{'a':'b'},'ports':[{'port':80,"
     "'appProtocol':'a b'}]}}",
     "spec.ports[0].appProtocol: Invalid value: \"a b\": " QUALIFIED},
    {"{'apiVersion':'v1','kind':'Service','metadata':{'name':'svc'},"
     "'spec':{'selector':{'a':'b'},'ports':[{'port':80}],"
     "'type':'X'}}",
     "spec.type: Unsupported value: \"X\": supported values: "
     "\"ClusterIP\", \"ExternalName\", \"LoadBalancer\", \"NodePort\""},
    {"{'apiVersion':'v1','kind':'Service','metadata':{'name':'svc'},"
     "'spec':{'selector':{'a b':'c'},'ports':[{'port':80}]}}",
     "spec.selector: Invalid value: \"a b\": " QUALIFIED},
    {"{'apiVersion':'v1','kind':'Service','metadata':{'name':'svc'},"
     "'spec':{'selector':{'a':'b'},'ports':[{'port':80}],"
     "'sessionAffinity':'X'}}",
     "spec.sessionAffinity: Unsupported value: \"X\": supported "
     "values: \"ClientIP\", \"None\""},
};

static void invalid_services_are_reported(void **state)
{
    (void)state;
    assert_samples("io.k8s.api.core.v1.Service", &kc__strategy_service, svc_5, KC_COUNT(svc_5));
}

TESTS(invalid_ingresses_are_reported, invalid_ingress_classes_are_reported,
      invalid_network_policies_are_reported, invalid_endpoint_slices_are_reported,
      invalid_services_are_reported)
