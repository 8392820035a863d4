/* SPDX-License-Identifier: Apache-2.0 */
/* Validation of ResourceQuotas and LimitRanges. */
#include "kinds_samples.h"

static const sample quota_1[] = {
    {"{'apiVersion':'v1','kind':'ResourceQuota',"
     "'metadata':{'name':'q'},'spec':{'hard':{'x':'1'}}}",
     "spec.hard[x]: Invalid value: \"x\": must be a standard resource "
     "type or fully qualified\n"
     "spec.hard[x]: Invalid value: \"x\": must be a standard resource "
     "for quota"},
    {"{'apiVersion':'v1','kind':'ResourceQuota',"
     "'metadata':{'name':'q'},'spec':{'hard':{'pods':'-1'}}}",
     "spec.hard[pods]: Invalid value: \"-1\": must be greater than or "
     "equal to 0"},
    {"{'apiVersion':'v1','kind':'ResourceQuota',"
     "'metadata':{'name':'q'},'spec':{'hard':{'pods':'1.5'}}}",
     "spec.hard[pods]: Invalid value: \"1500m\": must be an integer"},
    {"{'apiVersion':'v1','kind':'ResourceQuota',"
     "'metadata':{'name':'q'},'spec':{'hard':{'a b':'1'}}}",
     "spec.hard[a b]: Invalid value: \"a b\": " QUALIFIED "\n"
     "spec.hard[a b]: Invalid value: \"a b\": must be a standard "
     "resource for quota"},
    {"{'apiVersion':'v1','kind':'ResourceQuota',"
     "'metadata':{'name':'q'},'spec':{'hard':{'pods':'1000'},"
     "'scopes':['X']}}",
     "spec.scopes: Invalid value: [\"X\"]: unsupported scope"},
    {"{'apiVersion':'v1','kind':'ResourceQuota',"
     "'metadata':{'name':'q'},'spec':{'hard':{'pods':'1000'},"
     "'scopes':['BestEffort','NotBestEffort']}}",
     "spec.scopes: Invalid value: [\"BestEffort\",\"NotBestEffort\"]: "
     "conflicting scopes"},
    {"{'apiVersion':'v1','kind':'ResourceQuota',"
     "'metadata':{'name':'q'},'spec':{'hard':{'pods':'1000'},"
     "'scopes':['Terminating','NotTerminating']}}",
     "spec.scopes: Invalid value: [\"Terminating\",\"NotTerminating\"]: "
     "conflicting scopes"},
    {"{'apiVersion':'v1','kind':'ResourceQuota',"
     "'metadata':{'name':'q'},'spec':{'hard':{'cpu':'1'},"
     "'scopes':['BestEffort']}}",
     "spec.scopes: Invalid value: [\"BestEffort\"]: unsupported scope "
     "applied to resource"},
    {"{'apiVersion':'v1','kind':'ResourceQuota',"
     "'metadata':{'name':'q'},'spec':{'hard':{'pods':'1000'},"
     "'scopeSelector':{'matchExpressions':[{'scopeName':'X',"
     "'operator':'In','values':['x']}]}}}",
     "spec.scopeSelector.matchExpressions.scopeName: Invalid value: "
     "\"X\": unsupported scope"},
    {"{'apiVersion':'v1','kind':'ResourceQuota',"
     "'metadata':{'name':'q'},'spec':{'hard':{'pods':'1000'},"
     "'scopeSelector':{'matchExpressions':[{'scopeName':'"
     "PriorityClass','operator':'In'}]}}}",
     "spec.scopeSelector.matchExpressions.values: Required value: "
     "must be at least one value when `operator` is 'In' or 'NotIn' "
     "for scope selector"},
    {"{'apiVersion':'v1','kind':'ResourceQuota',"
     "'metadata':{'name':'q'},'spec':{'hard':{'pods':'1000'},"
     "'scopeSelector':{'matchExpressions':[{'scopeName':'"
     "PriorityClass','operator':'Exists','values':['x']}]}}}",
     "spec.scopeSelector.matchExpressions.values: Invalid value: "
     "[\"x\"]: must be no value when `operator` is 'Exist' or "
     "'DoesNotExist' for scope selector"},
    {"{'apiVersion':'v1','kind':'ResourceQuota',"
     "'metadata':{'name':'q'},'spec':{'hard':{'pods':'1000'},"
     "'scopeSelector':{'matchExpressions':[{'scopeName':'BestEffort'"
     ",'operator':'In','values':['x']}]}}}",
     "spec.scopeSelector.matchExpressions.operator: Invalid value: "
     "\"In\": must be 'Exists' when scope is any of "
     "ResourceQuotaScopeTerminating, "
     "ResourceQuotaScopeNotTerminating, "
     "ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort "
     "or ResourceQuotaScopeCrossNamespacePodAffinity"},
    {"{'apiVersion':'v1','kind':'ResourceQuota',"
     "'metadata':{'name':'q'},'spec':{'hard':{'pods':'1000'},"
     "'scopeSelector':{'matchExpressions':[{'scopeName':'"
     "PriorityClass','operator':'Foo'}]}}}",
     "spec.scopeSelector.matchExpressions.operator: Invalid value: "
     "\"Foo\": not a valid selector operator"},
};

static void invalid_resource_quotas_are_reported(void **state)
{
    (void)state;
    assert_samples("io.k8s.api.core.v1.ResourceQuota", &kc__strategy_quota, quota_1,
                   KC_COUNT(quota_1));
}

static const sample lr_2[] = {
    {"{'apiVersion':'v1','kind':'LimitRange',"
     "'metadata':{'name':'l'},'spec':{'limits':[{'type':'Container',"
     "'max':{'cpu':'1'},'min':{'cpu':'2'}}]}}",
     "spec.limits[0].min[cpu]: Invalid value: \"2\": min value 2 is "
     "greater than max value 1\n"
     "spec.limits[0].defaultRequest[cpu]: Invalid value: \"1\": min "
     "value 2 is greater than default request value 1\n"
     "spec.limits[0].default[cpu]: Invalid value: \"2\": min value 2 "
     "is greater than default value 1"},
    {"{'apiVersion':'v1','kind':'LimitRange',"
     "'metadata':{'name':'l'},'spec':{'limits':[{'type':'Container',"
     "'default':{'cpu':'3'},'max':{'cpu':'2'}}]}}",
     "spec.limits[0].defaultRequest[cpu]: Invalid value: \"3\": "
     "default request value 3 is greater than max value 2\n"
     "spec.limits[0].default[cpu]: Invalid value: \"2\": default "
     "value 3 is greater than max value 2"},
    {"{'apiVersion':'v1','kind':'LimitRange',"
     "'metadata':{'name':'l'},'spec':{'limits':[{'type':'Container',"
     "'defaultRequest':{'cpu':'3'},'max':{'cpu':'2'}}]}}",
     "spec.limits[0].defaultRequest[cpu]: Invalid value: \"3\": "
     "default request value 3 is greater than max value 2\n"
     "spec.limits[0].defaultRequest[cpu]: Invalid value: \"3\": "
     "default request value 3 is greater than default limit value 2"},
    {"{'apiVersion':'v1','kind':'LimitRange',"
     "'metadata':{'name':'l'},'spec':{'limits':[{'type':'Container',"
     "'defaultRequest':{'cpu':'1'},'min':{'cpu':'2'}}]}}",
     "spec.limits[0].defaultRequest[cpu]: Invalid value: \"1\": min "
     "value 2 is greater than default request value 1"},
    {"{'apiVersion':'v1','kind':'LimitRange',"
     "'metadata':{'name':'l'},'spec':{'limits':[{'type':'Container',"
     "'default':{'cpu':'1'},'min':{'cpu':'2'}}]}}",
     "spec.limits[0].defaultRequest[cpu]: Invalid value: \"1\": min "
     "value 2 is greater than default request value 1\n"
     "spec.limits[0].default[cpu]: Invalid value: \"2\": min value 2 "
     "is greater than default value 1"},
    {"{'apiVersion':'v1','kind':'LimitRange',"
     "'metadata':{'name':'l'},'spec':{'limits':[{'type':'Container',"
     "'defaultRequest':{'cpu':'3'},'default':{'cpu':'2'}}]}}",
     "spec.limits[0].defaultRequest[cpu]: Invalid value: \"3\": "
     "default request value 3 is greater than default limit value 2"},
    {"{'apiVersion':'v1','kind':'LimitRange',"
     "'metadata':{'name':'l'},'spec':{'limits':[{'type':'Pod',"
     "'default':{'cpu':'1'}}]}}",
     "spec.limits[0].default: Forbidden: may not be specified when "
     "`type` is 'Pod'"},
    {"{'apiVersion':'v1','kind':'LimitRange',"
     "'metadata':{'name':'l'},'spec':{'limits':[{'type':'Pod',"
     "'defaultRequest':{'cpu':'1'}}]}}",
     "spec.limits[0].defaultRequest: Forbidden: may not be "
     "specified when `type` is 'Pod'"},
    {"{'apiVersion':'v1','kind':'LimitRange',"
     "'metadata':{'name':'l'},'spec':{'limits':[{'type':'Container',"
     "'maxLimitRequestRatio':{'cpu':'0.5'}}]}}",
     "spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: "
     "\"500m\": ratio 500m is less than 1"},
    {"{'apiVersion':'v1','kind':'LimitRange',"
     "'metadata':{'name':'l'},'spec':{'limits':[{'type':'Container',"
     "'max':{'cpu':'4'},'min':{'cpu':'1'},"
     "'maxLimitRequestRatio':{'cpu':'5'}}]}}",
     "spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: \"5\": "
     "ratio 5 is greater than max/min = 4.000000"},
    {"{'apiVersion':'v1','kind':'LimitRange',"
     "'metadata':{'name':'l'},'spec':{'limits':[{'type':'Pod',"
     "'max':{'cpu':'1'}},{'type':'Pod','max':{'cpu':'1'}}]}}",
     "spec.limits[1].type: Duplicate value: \"Pod\""},
    {"{'apiVersion':'v1','kind':'LimitRange',"
     "'metadata':{'name':'l'},'spec':{'limits':[{'type':'',"
     "'max':{'cpu':'1'}}]}}",
     "spec.limits[0].type: Invalid value: \"\": name part must be "
     "non-empty\n"
     "spec.limits[0].type: Invalid value: \"\": " QUALIFIED},
    {"{'apiVersion':'v1','kind':'LimitRange',"
     "'metadata':{'name':'l'},'spec':{'limits':[{'type':'a b'}]}}",
     "spec.limits[0].type: Invalid value: \"a b\": " QUALIFIED},
    {"{'apiVersion':'v1','kind':'LimitRange',"
     "'metadata':{'name':'l'},"
     "'spec':{'limits':[{'type':'PersistentVolumeClaim'}]}}",
     "spec.limits[0].limits: Required value: either minimum or "
     "maximum storage value is required, but neither was provided"},
    {"{'apiVersion':'v1','kind':'LimitRange',"
     "'metadata':{'name':'l'},'spec':{'limits':[{'type':'Container',"
     "'max':{'x':'1'}}]}}",
     "spec.limits[0].max[x]: Invalid value: \"x\": must be a standard "
     "resource type or fully qualified\n"
     "spec.limits[0].max[x]: Invalid value: \"x\": must be a standard "
     "resource for containers\n"
     "spec.limits[0].default[x]: Invalid value: \"x\": must be a "
     "standard resource type or fully qualified\n"
     "spec.limits[0].default[x]: Invalid value: \"x\": must be a "
     "standard resource for containers\n"
     "spec.limits[0].defaultRequest[x]: Invalid value: \"x\": must be "
     "a standard resource type or fully qualified\n"
     "spec.limits[0].defaultRequest[x]: Invalid value: \"x\": must be "
     "a standard resource for containers"},
    {"{'apiVersion':'v1','kind':'LimitRange',"
     "'metadata':{'name':'l'},'spec':{'limits':[{'type':'Container',"
     "'max':{'a b':'1'}}]}}",
     "spec.limits[0].max[a b]: Invalid value: \"a b\": " QUALIFIED "\n"
     "spec.limits[0].max[a b]: Invalid value: \"a b\": must be a "
     "standard resource for containers\n"
     "spec.limits[0].default[a b]: Invalid value: \"a b\": " QUALIFIED "\n"
     "spec.limits[0].default[a b]: Invalid value: \"a b\": must be a "
     "standard resource for containers\n"
     "spec.limits[0].defaultRequest[a b]: Invalid value: \"a b\": " QUALIFIED "\n"
     "spec.limits[0].defaultRequest[a b]: Invalid value: \"a b\": "
     "must be a standard resource for containers"},
    {"{'apiVersion':'v1','kind':'LimitRange',"
     "'metadata':{'name':'l'},'spec':{'limits':[{'type':'Container',"
     "'max':{'example.com/g':'2'},'default':{'example.com/g':'1'},"
     "'defaultRequest':{'example.com/g':'2'}}]}}",
     "spec.limits[0].defaultRequest[example.com/g]: Invalid value: "
     "\"2\": default request value 2 is greater than default limit "
     "value 1\n"
     "spec.limits[0].defaultRequest[example.com/g]: Invalid value: "
     "\"2\": default value 1 must equal to defaultRequest value 2 in "
     "example.com/g"},
    {"{'apiVersion':'v1','kind':'LimitRange',"
     "'metadata':{'name':'l'},'spec':{'limits':[{'type':'Pod',"
     "'max':{'cpu':'1'},'min':{'cpu':'2'}}]}}",
     "spec.limits[0].min[cpu]: Invalid value: \"2\": min value 2 is "
     "greater than max value 1"},
};

static void invalid_limit_ranges_are_reported(void **state)
{
    (void)state;
    assert_samples("io.k8s.api.core.v1.LimitRange", &kc__strategy_limit_range, lr_2,
                   KC_COUNT(lr_2));
}

TESTS(invalid_resource_quotas_are_reported, invalid_limit_ranges_are_reported)
