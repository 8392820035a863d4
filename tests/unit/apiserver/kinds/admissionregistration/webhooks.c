/* SPDX-License-Identifier: Apache-2.0 */
/* Validation of webhook configurations and Secrets. */
#include "kinds_samples.h"

static const sample vwc_1[] = {
    {"{'apiVersion':'admissionregistration.k8s.io/v1',"
     "'kind':'ValidatingWebhookConfiguration',"
     "'metadata':{'name':'v'},'webhooks':[{'name':'',"
     "'clientConfig':{'url':'https://h.example/p'},"
     "'sideEffects':'None','admissionReviewVersions':['v1'],"
     "'rules':[{'operations':['CREATE'],'apiGroups':['zz.example'],"
     "'apiVersions':['v1'],'resources':['zzs']}]}]}",
     "webhooks[0].name: Required value"},
    {"{'apiVersion':'admissionregistration.k8s.io/v1',"
     "'kind':'ValidatingWebhookConfiguration',"
     "'metadata':{'name':'v'},'webhooks':[{'name':'a',"
     "'clientConfig':{'url':'https://h.example/p'},"
     "'sideEffects':'None','admissionReviewVersions':['v1'],"
     "'rules':[{'operations':['CREATE'],'apiGroups':['zz.example'],"
     "'apiVersions':['v1'],'resources':['zzs']}]}]}",
     "webhooks[0].name: Invalid value: \"a\": should be a domain with "
     "at least three segments separated by dots"},
    {"{'apiVersion':'admissionregistration.k8s.io/v1',"
     "'kind':'ValidatingWebhookConfiguration',"
     "'metadata':{'name':'v'},'webhooks':[{'name':'A_.b.c',"
     "'clientConfig':{'url':'https://h.example/p'},"
     "'sideEffects':'None','admissionReviewVersions':['v1'],"
     "'rules':[{'operations':['CREATE'],'apiGroups':['zz.example'],"
     "'apiVersions':['v1'],'resources':['zzs']}]}]}",
     "webhooks[0].name: Invalid value: \"A_.b.c\": " SUBDOMAIN},
    {"{'apiVersion':'admissionregistration.k8s.io/v1',"
     "'kind':'ValidatingWebhookConfiguration',"
     "'metadata':{'name':'v'},'webhooks':[{'name':'a.b.c',"
     "'clientConfig':{},'sideEffects':'None',"
     "'admissionReviewVersions':['v1'],"
     "'rules':[{'operations':['CREATE'],'apiGroups':['zz.example'],"
     "'apiVersions':['v1'],'resources':['zzs']}]}]}",
     "webhooks[0].clientConfig: Required value: exactly one of url "
     "or service is required"},
    {"{'apiVersion':'admissionregistration.k8s.io/v1',"
     "'kind':'ValidatingWebhookConfiguration',"
     "'metadata':{'name':'v'},'webhooks':[{'name':'a.b.c',"
     "'clientConfig':{'url':'x'},'sideEffects':'None',"
     "'admissionReviewVersions':['v1'],"
     "'rules':[{'operations':['CREATE'],'apiGroups':['zz.example'],"
     "'apiVersions':['v1'],'resources':['zzs']}]}]}",
     "webhooks[0].clientConfig.url: Invalid value: \"\": 'https' is "
     "the only allowed URL scheme; desired format: "
     "https://host[/path]\n"
     "webhooks[0].clientConfig.url: Invalid value: \"\": host must be "
     "specified; desired format: https://host[/path]"},
    {"{'apiVersion':'admissionregistration.k8s.io/v1',"
     "'kind':'ValidatingWebhookConfiguration',"
     "'metadata':{'name':'v'},'webhooks':[{'name':'a.b.c',"
     "'clientConfig':{'url':'http://x'},'sideEffects':'None',"
     "'admissionReviewVersions':['v1'],"
     "'rules':[{'operations':['CREATE'],'apiGroups':['zz.example'],"
     "'apiVersions':['v1'],'resources':['zzs']}]}]}",
     "webhooks[0].clientConfig.url: Invalid value: \"http\": 'https' "
     "is the only allowed URL scheme; desired format: "
     "https://host[/path]"},
    {"{'apiVersion':'admissionregistration.k8s.io/v1',"
     "'kind':'ValidatingWebhookConfiguration',"
     "'metadata':{'name':'v'},'webhooks':[{'name':'a.b.c',"
     "'clientConfig':{'url':'https://u:p@x'},'sideEffects':'None',"
     "'admissionReviewVersions':['v1'],"
     "'rules':[{'operations':['CREATE'],'apiGroups':['zz.example'],"
     "'apiVersions':['v1'],'resources':['zzs']}]}]}",
     "webhooks[0].clientConfig.url: Invalid value: \"u:p\": user "
     "information is not permitted in the URL"},
    {"{'apiVersion':'admissionregistration.k8s.io/v1',"
     "'kind':'ValidatingWebhookConfiguration',"
     "'metadata':{'name':'v'},'webhooks':[{'name':'a.b.c',"
     "'clientConfig':{'url':'https://x?a=b'},'sideEffects':'None',"
     "'admissionReviewVersions':['v1'],"
     "'rules':[{'operations':['CREATE'],'apiGroups':['zz.example'],"
     "'apiVersions':['v1'],'resources':['zzs']}]}]}",
     "webhooks[0].clientConfig.url: Invalid value: \"a=b\": query "
     "parameters are not permitted in the URL"},
    {"{'apiVersion':'admissionregistration.k8s.io/v1',"
     "'kind':'ValidatingWebhookConfiguration',"
     "'metadata':{'name':'v'},'webhooks':[{'name':'a.b.c',"
     "'clientConfig':{'url':'https://x#f'},'sideEffects':'None',"
     "'admissionReviewVersions':['v1'],"
     "'rules':[{'operations':['CREATE'],'apiGroups':['zz.example'],"
     "'apiVersions':['v1'],'resources':['zzs']}]}]}",
     "webhooks[0].clientConfig.url: Invalid value: \"f\": fragments "
     "are not permitted in the URL"},
    {"{'apiVersion':'admissionregistration.k8s.io/v1',"
     "'kind':'ValidatingWebhookConfiguration',"
     "'metadata':{'name':'v'},'webhooks':[{'name':'a.b.c',"
     "'clientConfig':{'url':'https://'},'sideEffects':'None',"
     "'admissionReviewVersions':['v1'],"
     "'rules':[{'operations':['CREATE'],'apiGroups':['zz.example'],"
     "'apiVersions':['v1'],'resources':['zzs']}]}]}",
     "webhooks[0].clientConfig.url: Invalid value: \"\": host must be "
     "specified; desired format: https://host[/path]"},
    {"{'apiVersion':'admissionregistration.k8s.io/v1',"
     "'kind':'ValidatingWebhookConfiguration',"
     "'metadata':{'name':'v'},'webhooks':[{'name':'a.b.c',"
     "'clientConfig':{'url':''},'sideEffects':'None',"
     "'admissionReviewVersions':['v1'],"
     "'rules':[{'operations':['CREATE'],'apiGroups':['zz.example'],"
     "'apiVersions':['v1'],'resources':['zzs']}]}]}",
     "webhooks[0].clientConfig.url: Invalid value: \"\": 'https' is "
     "the only allowed URL scheme; desired format: "
     "https://host[/path]\n"
     "webhooks[0].clientConfig.url: Invalid value: \"\": host must be "
     "specified; desired format: https://host[/path]"},
    {"{'apiVersion':'admissionregistration.k8s.io/v1',"
     "'kind':'ValidatingWebhookConfiguration',"
     "'metadata':{'name':'v'},'webhooks':[{'name':'a.b.c',"
     "'clientConfig':{'service':{}},'sideEffects':'None',"
     "'admissionReviewVersions':['v1'],"
     "'rules':[{'operations':['CREATE'],'apiGroups':['zz.example'],"
     "'apiVersions':['v1'],'resources':['zzs']}]}]}",
     "webhooks[0].clientConfig.service.name: Required value\n"
     "webhooks[0].clientConfig.service.namespace: Required value"},
    {"{'apiVersion':'admissionregistration.k8s.io/v1',"
     "'kind':'ValidatingWebhookConfiguration',"
     "'metadata':{'name':'v'},'webhooks':[{'name':'a.b.c',"
     "'clientConfig':{'service':{'name':'n','namespace':'s',"
     "'port':0}},'sideEffects':'None',"
     "'admissionReviewVersions':['v1'],"
     "'rules':[{'operations':['CREATE'],'apiGroups':['zz.example'],"
     "'apiVersions':['v1'],'resources':['zzs']}]}]}",
     "webhooks[0].clientConfig.service.port: Invalid value: 0: port "
     "is not valid: must be between 1 and 65535, inclusive"},
    {"{'apiVersion':'admissionregistration.k8s.io/v1',"
     "'kind':'ValidatingWebhookConfiguration',"
     "'metadata':{'name':'v'},'webhooks':[{'name':'a.b.c',"
     "'clientConfig':{'service':{'name':'n','namespace':'s',"
     "'port':70000}},'sideEffects':'None',"
     "'admissionReviewVersions':['v1'],"
     "'rules':[{'operations':['CREATE'],'apiGroups':['zz.example'],"
     "'apiVersions':['v1'],'resources':['zzs']}]}]}",
     "webhooks[0].clientConfig.service.port: Invalid value: 70000: "
     "port is not valid: must be between 1 and 65535, inclusive"},
    {"{'apiVersion':'admissionregistration.k8s.io/v1',"
     "'kind':'ValidatingWebhookConfiguration',"
     "'metadata':{'name':'v'},'webhooks':[{'name':'a.b.c',"
     "'clientConfig':{'service':{'name':'n','namespace':'s',"
     "'path':'x'}},'sideEffects':'None',"
     "'admissionReviewVersions':['v1'],"
     "'rules':[{'operations':['CREATE'],'apiGroups':['zz.example'],"
     "'apiVersions':['v1'],'resources':['zzs']}]}]}",
     "webhooks[0].clientConfig.service.path: Invalid value: \"x\": "
     "must start with a '/'\n"
     "webhooks[0].clientConfig.service.path: Invalid value: \"x\": "
     "segment[0] may not be empty"},
    {"{'apiVersion':'admissionregistration.k8s.io/v1',"
     "'kind':'ValidatingWebhookConfiguration',"
     "'metadata':{'name':'v'},'webhooks':[{'name':'a.b.c',"
     "'clientConfig':{'service':{'name':'n','namespace':'s',"
     "'path':'/a//b'}},'sideEffects':'None',"
     "'admissionReviewVersions':['v1'],"
     "'rules':[{'operations':['CREATE'],'apiGroups':['zz.example'],"
     "'apiVersions':['v1'],'resources':['zzs']}]}]}",
     "webhooks[0].clientConfig.service.path: Invalid value: "
     "\"/a//b\": segment[1] may not be empty"},
    {"{'apiVersion':'admissionregistration.k8s.io/v1',"
     "'kind':'ValidatingWebhookConfiguration',"
     "'metadata':{'name':'v'},'webhooks':[{'name':'a.b.c',"
     "'clientConfig':{'service':{'name':'n','namespace':'s'},"
     "'url':'https://x'},'sideEffects':'None',"
     "'admissionReviewVersions':['v1'],"
     "'rules':[{'operations':['CREATE'],'apiGroups':['zz.example'],"
     "'apiVersions':['v1'],'resources':['zzs']}]}]}",
     "webhooks[0].clientConfig: Required value: exactly one of url "
     "or service is required"},
    {"{'apiVersion':'admissionregistration.k8s.io/v1',"
     "'kind':'ValidatingWebhookConfiguration',"
     "'metadata':{'name':'v'},'webhooks':[{'name':'a.b.c',"
     "'clientConfig':{'service':{'name':'n','namespace':'s',"
     "'path':'/A_b/c?'}},'sideEffects':'None',"
     "'admissionReviewVersions':['v1'],"
     "'rules':[{'operations':['CREATE'],'apiGroups':['zz.example'],"
     "'apiVersions':['v1'],'resources':['zzs']}]}]}",
     "webhooks[0].clientConfig.service.path: Invalid value: "
     "\"/A_b/c?\": segment[0]: " SUBDOMAIN "\n"
     "webhooks[0].clientConfig.service.path: Invalid value: "
     "\"/A_b/c?\": segment[1]: " SUBDOMAIN},
    {"{'apiVersion':'admissionregistration.k8s.io/v1',"
     "'kind':'ValidatingWebhookConfiguration',"
     "'metadata':{'name':'v'},'webhooks':[{'name':'a.b.c',"
     "'clientConfig':{'url':'https://h.example/p'},"
     "'admissionReviewVersions':['v1'],"
     "'rules':[{'operations':['CREATE'],'apiGroups':['zz.example'],"
     "'apiVersions':['v1'],'resources':['zzs']}]}]}",
     "webhooks[0].sideEffects: Required value: must specify one of "
     "None, NoneOnDryRun"},
    {"{'apiVersion':'admissionregistration.k8s.io/v1',"
     "'kind':'ValidatingWebhookConfiguration',"
     "'metadata':{'name':'v'},'webhooks':[{'name':'a.b.c',"
     "'clientConfig':{'url':'https://h.example/p'},"
     "'sideEffects':'Some','admissionReviewVersions':['v1'],"
     "'rules':[{'operations':['CREATE'],'apiGroups':['zz.example'],"
     "'apiVersions':['v1'],'resources':['zzs']}]}]}",
     "webhooks[0].sideEffects: Unsupported value: \"Some\": supported "
     "values: \"None\", \"NoneOnDryRun\""},
    {"{'apiVersion':'admissionregistration.k8s.io/v1',"
     "'kind':'ValidatingWebhookConfiguration',"
     "'metadata':{'name':'v'},'webhooks':[{'name':'a.b.c',"
     "'clientConfig':{'url':'https://h.example/p'},"
     "'sideEffects':'Unknown','admissionReviewVersions':['v1'],"
     "'rules':[{'operations':['CREATE'],'apiGroups':['zz.example'],"
     "'apiVersions':['v1'],'resources':['zzs']}]}]}",
     "webhooks[0].sideEffects: Unsupported value: \"Unknown\": "
     "supported values: \"None\", \"NoneOnDryRun\""},
    {"{'apiVersion':'admissionregistration.k8s.io/v1',"
     "'kind':'ValidatingWebhookConfiguration',"
     "'metadata':{'name':'v'},'webhooks':[{'name':'a.b.c',"
     "'clientConfig':{'url':'https://h.example/p'},"
     "'sideEffects':'None','rules':[{'operations':['CREATE'],"
     "'apiGroups':['zz.example'],'apiVersions':['v1'],"
     "'resources':['zzs']}]}]}",
     "webhooks[0].admissionReviewVersions: Required value: must "
     "specify one of v1, v1beta1"},
    {"{'apiVersion':'admissionregistration.k8s.io/v1',"
     "'kind':'ValidatingWebhookConfiguration',"
     "'metadata':{'name':'v'},'webhooks':[{'name':'a.b.c',"
     "'clientConfig':{'url':'https://h.example/p'},"
     "'sideEffects':'None','admissionReviewVersions':['v2'],"
     "'rules':[{'operations':['CREATE'],'apiGroups':['zz.example'],"
     "'apiVersions':['v1'],'resources':['zzs']}]}]}",
     "webhooks[0].admissionReviewVersions: Invalid value: [\"v2\"]: "
     "must include at least one of v1, v1beta1"},
    {"{'apiVersion':'admissionregistration.k8s.io/v1',"
     "'kind':'ValidatingWebhookConfiguration',"
     "'metadata':{'name':'v'},'webhooks':[{'name':'a.b.c',"
     "'clientConfig':{'url':'https://h.example/p'},"
     "'sideEffects':'None','admissionReviewVersions':['A_','v1'],"
     "'rules':[{'operations':['CREATE'],'apiGroups':['zz.example'],"
     "'apiVersions':['v1'],'resources':['zzs']}]}]}",
     "webhooks[0].admissionReviewVersions[0]: Invalid value: \"A_\": "
     "a DNS-1035 label must consist of lower case alphanumeric "
     "characters or '-', start with an alphabetic character, and "
     "end with an alphanumeric character (e.g. 'my-name',  or "
     "'abc-123', regex used for validation is "
     "'[a-z]([-a-z0-9]*[a-z0-9])?')"},
    {"{'apiVersion':'admissionregistration.k8s.io/v1',"
     "'kind':'ValidatingWebhookConfiguration',"
     "'metadata':{'name':'v'},'webhooks':[{'name':'a.b.c',"
     "'clientConfig':{'url':'https://h.example/p'},"
     "'sideEffects':'None','admissionReviewVersions':['v1','v1'],"
     "'rules':[{'operations':['CREATE'],'apiGroups':['zz.example'],"
     "'apiVersions':['v1'],'resources':['zzs']}]}]}",
     "webhooks[0].admissionReviewVersions[1]: Invalid value: \"v1\": "
     "duplicate version"},
    {"{'apiVersion':'admissionregistration.k8s.io/v1',"
     "'kind':'ValidatingWebhookConfiguration',"
     "'metadata':{'name':'v'},'webhooks':[{'name':'a.b.c',"
     "'clientConfig':{'url':'https://h.example/p'},"
     "'sideEffects':'None','admissionReviewVersions':['v1'],"
     "'rules':[{'operations':['CREATE'],'apiGroups':['zz.example'],"
     "'apiVersions':['v1'],'resources':['zzs']}],"
     "'failurePolicy':'X'}]}",
     "webhooks[0].failurePolicy: Unsupported value: \"X\": supported "
     "values: \"Fail\", \"Ignore\""},
    {"{'apiVersion':'admissionregistration.k8s.io/v1',"
     "'kind':'ValidatingWebhookConfiguration',"
     "'metadata':{'name':'v'},'webhooks':[{'name':'a.b.c',"
     "'clientConfig':{'url':'https://h.example/p'},"
     "'sideEffects':'None','admissionReviewVersions':['v1'],"
     "'rules':[{'operations':['CREATE'],'apiGroups':['zz.example'],"
     "'apiVersions':['v1'],'resources':['zzs']}],"
     "'matchPolicy':'X'}]}",
     "webhooks[0].matchPolicy: Unsupported value: \"X\": supported "
     "values: \"Equivalent\", \"Exact\""},
    {"{'apiVersion':'admissionregistration.k8s.io/v1',"
     "'kind':'ValidatingWebhookConfiguration',"
     "'metadata':{'name':'v'},'webhooks':[{'name':'a.b.c',"
     "'clientConfig':{'url':'https://h.example/p'},"
     "'sideEffects':'None','admissionReviewVersions':['v1'],"
     "'rules':[{'operations':['CREATE'],'apiGroups':['zz.example'],"
     "'apiVersions':['v1'],'resources':['zzs']}],"
     "'timeoutSeconds':0}]}",
     "webhooks[0].timeoutSeconds: Invalid value: 0: the timeout "
     "value must be between 1 and 30 seconds"},
    {"{'apiVersion':'admissionregistration.k8s.io/v1',"
     "'kind':'ValidatingWebhookConfiguration',"
     "'metadata':{'name':'v'},'webhooks':[{'name':'a.b.c',"
     "'clientConfig':{'url':'https://h.example/p'},"
     "'sideEffects':'None','admissionReviewVersions':['v1'],"
     "'rules':[{'operations':['CREATE'],'apiGroups':['zz.example'],"
     "'apiVersions':['v1'],'resources':['zzs']}],"
     "'timeoutSeconds':31}]}",
     "webhooks[0].timeoutSeconds: Invalid value: 31: the timeout "
     "value must be between 1 and 30 seconds"},
    {"{'apiVersion':'admissionregistration.k8s.io/v1',"
     "'kind':'ValidatingWebhookConfiguration',"
     "'metadata':{'name':'v'},'webhooks':[{'name':'a.b.c',"
     "'clientConfig':{'url':'https://h.example/p'},"
     "'sideEffects':'None','admissionReviewVersions':['v1'],"
     "'rules':[{'operations':['CREATE'],'apiGroups':['zz.example'],"
     "'apiVersions':['v1'],'resources':['zzs']}],"
     "'namespaceSelector':{'matchLabels':{'a b':'c'}}}]}",
     "webhooks[0].namespaceSelector.matchLabels: Invalid value: \"a "
     "b\": " QUALIFIED},
    {"{'apiVersion':'admissionregistration.k8s.io/v1',"
     "'kind':'ValidatingWebhookConfiguration',"
     "'metadata':{'name':'v'},'webhooks':[{'name':'a.b.c',"
     "'clientConfig':{'url':'https://h.example/p'},"
     "'sideEffects':'None','admissionReviewVersions':['v1'],"
     "'rules':[{'operations':['CREATE'],'apiGroups':['zz.example'],"
     "'apiVersions':['v1'],'resources':['zzs']}],"
     "'objectSelector':{'matchExpressions':[{'key':'a',"
     "'operator':'In'}]}}]}",
     "webhooks[0].objectSelector.matchExpressions[0].values: "
     "Required value: must be specified when `operator` is 'In' or "
     "'NotIn'"},
    {"{'apiVersion':'admissionregistration.k8s.io/v1',"
     "'kind':'ValidatingWebhookConfiguration',"
     "'metadata':{'name':'v'},'webhooks':[{'name':'a.b.c',"
     "'clientConfig':{'url':'https://h.example/p'},"
     "'sideEffects':'None','admissionReviewVersions':['v1'],"
     "'rules':[{'operations':['CREATE'],'apiGroups':['zz.example'],"
     "'apiVersions':['v1'],'resources':['zzs']}],"
     "'matchConditions':[{'name':'','expression':''}]}]}",
     "webhooks[0].matchConditions[0].expression: Required value\n"
     "webhooks[0].matchConditions[0].name: Required value"},
    {"{'apiVersion':'admissionregistration.k8s.io/v1',"
     "'kind':'ValidatingWebhookConfiguration',"
     "'metadata':{'name':'v'},'webhooks':[{'name':'a.b.c',"
     "'clientConfig':{'url':'https://h.example/p'},"
     "'sideEffects':'None','admissionReviewVersions':['v1'],"
     "'rules':[{'operations':['CREATE'],'apiGroups':['zz.example'],"
     "'apiVersions':['v1'],'resources':['zzs']}],"
     "'matchConditions':[{'name':'a','expression':'true'},"
     "{'name':'a','expression':'true'}]}]}",
     "webhooks[0].matchConditions[1].name: Duplicate value: \"a\""},
    {"{'apiVersion':'admissionregistration.k8s.io/v1',"
     "'kind':'ValidatingWebhookConfiguration',"
     "'metadata':{'name':'v'},'webhooks':[{'name':'a.b.c',"
     "'clientConfig':{'url':'https://h.example/p'},"
     "'sideEffects':'None','admissionReviewVersions':['v1'],"
     "'rules':[{'operations':[],'apiGroups':['a'],"
     "'apiVersions':['v1'],'resources':['x']}]}]}",
     "webhooks[0].rules[0].operations: Required value"},
};

static void invalid_webhook_configurations_are_reported(void **state)
{
    (void)state;
    assert_samples("io.k8s.api.admissionregistration.v1.ValidatingWebhookConfiguration",
                   &kc__strategy_validating_webhooks, vwc_1, KC_COUNT(vwc_1));
}

static const sample secret_2[] = {
    {"{'apiVersion':'v1','kind':'Secret','metadata':{'name':'s'},"
     "'data':{'a':'Yg=='},'type':'kubernetes.io/tls'}",
     "data[tls.crt]: Required value\n"
     "data[tls.key]: Required value"},
    {"{'apiVersion':'v1','kind':'Secret','metadata':{'name':'s'},"
     "'data':{'a':'Yg=='},'type':'kubernetes.io/dockerconfigjson'}",
     "data[.dockerconfigjson]: Required value"},
    {"{'apiVersion':'v1','kind':'Secret','metadata':{'name':'s'},"
     "'data':{'.dockerconfigjson':'eA=='},"
     "'type':'kubernetes.io/dockerconfigjson'}",
     "data[.dockerconfigjson]: Invalid value: \"<secret contents "
     "redacted>\": invalid character 'x' looking for beginning of "
     "value"},
    {"{'apiVersion':'v1','kind':'Secret','metadata':{'name':'s'},"
     "'data':{'.dockercfg':'eA=='},'type':'kubernetes.io/dockercfg'}",
     "data[.dockercfg]: Invalid value: \"<secret contents "
     "redacted>\": invalid character 'x' looking for beginning of "
     "value"},
    {"{'apiVersion':'v1','kind':'Secret','metadata':{'name':'s'},"
     "'data':{'a':'Yg=='},'type':'kubernetes.io/basic-auth'}",
     "data[username]: Required value\n"
     "data[password]: Required value"},
    {"{'apiVersion':'v1','kind':'Secret','metadata':{'name':'s'},"
     "'data':{'a':'Yg=='},'type':'kubernetes.io/ssh-auth'}",
     "data[ssh-privatekey]: Required value"},
};

static void invalid_secrets_are_reported(void **state)
{
    (void)state;
    assert_samples("io.k8s.api.core.v1.Secret", &kc__strategy_secret, secret_2, KC_COUNT(secret_2));
}

TESTS(invalid_webhook_configurations_are_reported, invalid_secrets_are_reported)
