/* SPDX-License-Identifier: Apache-2.0 */
/* Validation of kinds added in Kubernetes 1.33 and 1.34, and of APIServices. */
#include "kinds_samples.h"

static const sample ip_address_samples[] = {
    {"{'apiVersion':'networking.k8s.io/v1','kind':'IPAddress',"
     "'metadata':{'name':'bad'},'spec':{'parentRef':{'resource':'services',"
     "'name':'a','namespace':'b'}}}",
     "metadata.name: Invalid value: \"bad\": must be a valid IP address, (e.g. "
     "10.9.8.7 or 2001:db8::ffff)"},
    {"{'apiVersion':'networking.k8s.io/v1','kind':'IPAddress',"
     "'metadata':{'name':'010.0.0.1'},'spec':{'parentRef':{'resource':'services',"
     "'name':'a','namespace':'b'}}}",
     "metadata.name: Invalid value: \"010.0.0.1\": must not have leading 0s"},
    {"{'apiVersion':'networking.k8s.io/v1','kind':'IPAddress',"
     "'metadata':{'name':'::ffff:1.2.3.4'},"
     "'spec':{'parentRef':{'resource':'services','name':'a','namespace':'b'}}}",
     "metadata.name: Invalid value: \"::ffff:1.2.3.4\": must not be an IPv4-mapped "
     "IPv6 address"},
    {"{'apiVersion':'networking.k8s.io/v1','kind':'IPAddress',"
     "'metadata':{'name':'2001:DB8::1'},'spec':{'parentRef':{'resource':'services',"
     "'name':'a','namespace':'b'}}}",
     "metadata.name: Invalid value: \"2001:DB8::1\": must be in canonical form "
     "(\"2001:db8::1\")"},
    {"{'apiVersion':'networking.k8s.io/v1','kind':'IPAddress',"
     "'metadata':{'name':'2001:db8:0::1'},"
     "'spec':{'parentRef':{'resource':'services','name':'a','namespace':'b'}}}",
     "metadata.name: Invalid value: \"2001:db8:0::1\": must be in canonical form "
     "(\"2001:db8::1\")"},
    {"{'apiVersion':'networking.k8s.io/v1','kind':'IPAddress',"
     "'metadata':{'name':'1.2.3.4'},'spec':{}}",
     "spec.parentRef: Required value"},
    {"{'apiVersion':'networking.k8s.io/v1','kind':'IPAddress',"
     "'metadata':{'name':'1.2.3.4'},'spec':{'parentRef':{}}}",
     "spec.parentRef.resource: Required value\n"
     "spec.parentRef.name: Required value"},
    {"{'apiVersion':'networking.k8s.io/v1','kind':'IPAddress',"
     "'metadata':{'name':'1.2.3.4'},'spec':{'parentRef':{'group':'A_',"
     "'resource':'a/b','name':'..','namespace':'%'}}}",
     "spec.parentRef.group: Invalid value: \"A_\": " SUBDOMAIN "\n"
     "spec.parentRef.resource: Invalid value: \"a/b\": may not contain "
     "'/'\n"
     "spec.parentRef.name: Invalid value: \"..\": may not be "
     "'..'\n"
     "spec.parentRef.namespace: Invalid value: \"%\": may not contain '%'"},
    {"{'apiVersion':'networking.k8s.io/v1','kind':'IPAddress',"
     "'metadata':{'name':'1.2.3.4.5'},'spec':{'parentRef':{'resource':'services',"
     "'name':'a','namespace':'b'}}}",
     "metadata.name: Invalid value: \"1.2.3.4.5\": must be a valid IP address, (e.g. "
     "10.9.8.7 or 2001:db8::ffff)"},
    {"{'apiVersion':'networking.k8s.io/v1','kind':'IPAddress',"
     "'metadata':{'name':'256.1.1.1'},'spec':{'parentRef':{'resource':'services',"
     "'name':'a','namespace':'b'}}}",
     "metadata.name: Invalid value: \"256.1.1.1\": must be a valid IP address, (e.g. "
     "10.9.8.7 or 2001:db8::ffff)"},
};

static void invalid_ip_addresses_are_reported(void **state)
{
    (void)state;
    assert_samples("io.k8s.api.networking.v1.IPAddress", &kc__strategy_ip_address,
                   ip_address_samples, KC_COUNT(ip_address_samples));
}

static const sample service_cidr_samples[] = {
    {"{'apiVersion':'networking.k8s.io/v1','kind':'ServiceCIDR',"
     "'metadata':{'name':'bad'},'spec':{'cidrs':[]}}",
     "spec.cidrs: Required value: at least one CIDR required"},
    {"{'apiVersion':'networking.k8s.io/v1','kind':'ServiceCIDR',"
     "'metadata':{'name':'bad'},'spec':{'cidrs':['a']}}",
     "spec.cidrs[0]: Invalid value: \"a\": must be a valid CIDR value, (e.g. "
     "10.9.8.0/24 or 2001:db8::/64)"},
    {"{'apiVersion':'networking.k8s.io/v1','kind':'ServiceCIDR',"
     "'metadata':{'name':'bad'},'spec':{'cidrs':['10.0.0.1/24']}}",
     "spec.cidrs[0]: Invalid value: \"10.0.0.1/24\": must not have bits set beyond "
     "the prefix length"},
    {"{'apiVersion':'networking.k8s.io/v1','kind':'ServiceCIDR',"
     "'metadata':{'name':'bad'},'spec':{'cidrs':['10.0.0.0/024']}}",
     "spec.cidrs[0]: Invalid value: \"10.0.0.0/024\": must not have leading 0s in IP "
     "or prefix length"},
    {"{'apiVersion':'networking.k8s.io/v1','kind':'ServiceCIDR',"
     "'metadata':{'name':'bad'},'spec':{'cidrs':['010.0.0.0/24']}}",
     "spec.cidrs[0]: Invalid value: \"010.0.0.0/24\": must not have leading 0s in IP "
     "or prefix length"},
    {"{'apiVersion':'networking.k8s.io/v1','kind':'ServiceCIDR',"
     "'metadata':{'name':'bad'},'spec':{'cidrs':['2001:DB8::/64']}}",
     "spec.cidrs[0]: Invalid value: \"2001:DB8::/64\": must be in canonical form "
     "(\"2001:db8::/64\")"},
    {"{'apiVersion':'networking.k8s.io/v1','kind':'ServiceCIDR',"
     "'metadata':{'name':'bad'},'spec':{'cidrs':['10.0.0.0/24','10.1.0.0/24']}}",
     "spec.cidrs: Invalid value: [\"10.0.0.0/24\",\"10.1.0.0/24\"]: may specify no more "
     "than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64"},
    {"{'apiVersion':'networking.k8s.io/v1','kind':'ServiceCIDR',"
     "'metadata':{'name':'bad'},'spec':{'cidrs':['10.0.0.0/24','2001:db8::/64',"
     "'fd00::/64']}}",
     "spec.cidrs: Invalid value: {\"CIDRs\":[\"10.0.0.0/24\",\"2001:db8::/64\","
     "\"fd00::/64\"]}: may only hold up to 2 values"},
    {"{'apiVersion':'networking.k8s.io/v1','kind':'ServiceCIDR',"
     "'metadata':{'name':'bad'},'spec':{'cidrs':['::ffff:1.2.3.0/120']}}",
     "spec.cidrs[0]: Invalid value: \"::ffff:1.2.3.0/120\": must not have an "
     "IPv4-mapped IPv6 address"},
    {"{'apiVersion':'networking.k8s.io/v1','kind':'ServiceCIDR',"
     "'metadata':{'name':'bad'},'spec':{'cidrs':['10.0.0.0/33']}}",
     "spec.cidrs[0]: Invalid value: \"10.0.0.0/33\": must be a valid CIDR value, "
     "(e.g. 10.9.8.0/24 or 2001:db8::/64)"},
    {"{'apiVersion':'networking.k8s.io/v1','kind':'ServiceCIDR',"
     "'metadata':{'name':'bad'},'spec':{'cidrs':['10.0.0.0']}}",
     "spec.cidrs[0]: Invalid value: \"10.0.0.0\": must be a valid CIDR value, (e.g. "
     "10.9.8.0/24 or 2001:db8::/64)"},
};

static void invalid_service_cidrs_are_reported(void **state)
{
    (void)state;
    assert_samples("io.k8s.api.networking.v1.ServiceCIDR", &kc__strategy_service_cidr,
                   service_cidr_samples, KC_COUNT(service_cidr_samples));
}

static const sample attributes_class_samples[] = {
    {"{'apiVersion':'storage.k8s.io/v1','kind':'VolumeAttributesClass',"
     "'metadata':{'name':'bad'}}",
     "driverName: Required value\n"
     "parameters: Required value: must contain at least one key/value pair"},
    {"{'apiVersion':'storage.k8s.io/v1','kind':'VolumeAttributesClass',"
     "'metadata':{'name':'bad'},'driverName':'A_'}",
     "driverName: Invalid value: \"a_\": " QUALIFIED "\n"
     "parameters: Required value: must contain at least one key/value pair"},
    {"{'apiVersion':'storage.k8s.io/v1','kind':'VolumeAttributesClass',"
     "'metadata':{'name':'bad'},'driverName':'a.b','parameters':{}}",
     "parameters: Required value: must contain at least one key/value pair"},
    {"{'apiVersion':'storage.k8s.io/v1','kind':'VolumeAttributesClass',"
     "'metadata':{'name':'bad'},'driverName':'a.b','parameters':{'':'x'}}",
     "parameters: Invalid value: \"\": field can not be empty."},
};

static void invalid_volume_attributes_classes_are_reported(void **state)
{
    (void)state;
    assert_samples("io.k8s.api.storage.v1.VolumeAttributesClass", &kc__strategy_attributes_class,
                   attributes_class_samples, KC_COUNT(attributes_class_samples));
}

static const sample api_service_samples[] = {
    {"{'apiVersion':'apiregistration.k8s.io/v1','kind':'APIService',"
     "'metadata':{'creationTimestamp':'2026-01-01T00:00:00Z','name':'x'},'spec':{}}",
     "metadata.name: Invalid value: \"x\": must be `spec.version+\".\"+spec.group`: "
     "\".\"\n"
     "spec.group: Required value: only v1 may have an empty group and it better be "
     "legacy kube\n"
     "spec.version: Invalid value: \"\": a DNS-1035 label must consist of lower case "
     "alphanumeric characters or '-', start with an alphabetic character, and end "
     "with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for "
     "validation is '[a-z]([-a-z0-9]*[a-z0-9])?')\n"
     "spec.groupPriorityMinimum: Invalid value: 0: must be positive and less than "
     "20000\n"
     "spec.versionPriority: Invalid value: 0: must be positive and less than 1000"},
    {"{'apiVersion':'apiregistration.k8s.io/v1','kind':'APIService',"
     "'metadata':{'creationTimestamp':'2026-01-01T00:00:00Z','name':'v1.a'},"
     "'spec':{'group':'a','version':'v1'}}",
     "spec.groupPriorityMinimum: Invalid value: 0: must be positive and less than "
     "20000\n"
     "spec.versionPriority: Invalid value: 0: must be positive and less than 1000"},
    {"{'apiVersion':'apiregistration.k8s.io/v1','kind':'APIService',"
     "'metadata':{'creationTimestamp':'2026-01-01T00:00:00Z','name':'v1.a'},"
     "'spec':{'group':'A_','version':'V','groupPriorityMinimum':20001,"
     "'versionPriority':1001}}",
     "metadata.name: Invalid value: \"v1.a\": must be `spec.version+\".\"+spec.group`: "
     "\"V.A_\"\n"
     "spec.group: Invalid value: \"A_\": " SUBDOMAIN "\n"
     "spec.version: Invalid value: \"V\": a DNS-1035 label must consist of lower case "
     "alphanumeric characters or '-', start with an alphabetic character, and end "
     "with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for "
     "validation is '[a-z]([-a-z0-9]*[a-z0-9])?')\n"
     "spec.groupPriorityMinimum: Invalid value: 20001: must be positive and less "
     "than 20000\n"
     "spec.versionPriority: Invalid value: 1001: must be positive and less than 1000"},
    {"{'apiVersion':'apiregistration.k8s.io/v1','kind':'APIService',"
     "'metadata':{'creationTimestamp':'2026-01-01T00:00:00Z','name':'v2.'},"
     "'spec':{'version':'v2','groupPriorityMinimum':1,'versionPriority':1}}",
     "spec.group: Required value: only v1 may have an empty group and it better be "
     "legacy kube"},
    {"{'apiVersion':'apiregistration.k8s.io/v1','kind':'APIService',"
     "'metadata':{'creationTimestamp':'2026-01-01T00:00:00Z','name':'v1.a'},"
     "'spec':{'group':'a','version':'v1','groupPriorityMinimum':1,"
     "'versionPriority':1,'caBundle':'YWJj','insecureSkipTLSVerify':true}}",
     "spec.caBundle: Invalid value: \"3 bytes\": local APIServices may not have a "
     "caBundle\n"
     "spec.insecureSkipTLSVerify: Invalid value: true: local APIServices may not "
     "have insecureSkipTLSVerify"},
    {"{'apiVersion':'apiregistration.k8s.io/v1','kind':'APIService',"
     "'metadata':{'creationTimestamp':'2026-01-01T00:00:00Z','name':'v1.a'},"
     "'spec':{'group':'a','version':'v1','groupPriorityMinimum':1,"
     "'versionPriority':1,'service':{},'caBundle':'YWJj',"
     "'insecureSkipTLSVerify':true}}",
     "spec.service.namespace: Required value\n"
     "spec.service.name: Required value\n"
     "spec.insecureSkipTLSVerify: Invalid value: true: may not be true if caBundle "
     "is present"},
    {"{'apiVersion':'apiregistration.k8s.io/v1','kind':'APIService',"
     "'metadata':{'creationTimestamp':'2026-01-01T00:00:00Z','name':'v1.a'},"
     "'spec':{'group':'a','version':'v1','groupPriorityMinimum':1,"
     "'versionPriority':1,'service':{'name':'a','namespace':'b','port':70000}}}",
     "spec.service.port: Invalid value: 70000: port is not valid: must be between 1 "
     "and 65535, inclusive"},
};

static void invalid_api_services_are_reported(void **state)
{
    (void)state;
    assert_samples("io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.APIService",
                   &kc__strategy_api_service, api_service_samples, KC_COUNT(api_service_samples));
}

TESTS(invalid_ip_addresses_are_reported, invalid_service_cidrs_are_reported,
      invalid_volume_attributes_classes_are_reported, invalid_api_services_are_reported)
