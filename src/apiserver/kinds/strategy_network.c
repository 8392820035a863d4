/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strategy_network.c: what leads to pods, beside Services: Endpoints, Ingresses, IngressClasses,
 * NetworkPolicies.
 */
#include "apiserver/kinds/address_rules.h"
#include "apiserver/kinds/strategy.h"
#include "kc/diff.h"

static const char *const protocols[] = {"SCTP", "TCP", "UDP", NULL};

/* ---- Endpoints ---- */

static const kc__default port_[] = {{.field = "protocol", .json = "\"TCP\""}};
static const kc__defaults port_defaults = KC__DEFAULTS(port_);
static const kc__default subset_[] = {{.field = "ports", .of = &port_defaults}};
static const kc__defaults subset_defaults = KC__DEFAULTS(subset_);
static const kc__default endpoints_[] = {{.field = "subsets", .of = &subset_defaults}};
static const kc__defaults endpoints_defaults = KC__DEFAULTS(endpoints_);

static void check_endpoint_ip(const kc__place *ip)
{
    kc__check_ip(ip);
    kc__check_ordinary_ip(ip);
}

static const kc__rule address_rule_[] = {
    {"hostname", .name = &kc__dns_label},
    {"nodeName", .name = &kc__dns_subdomain},
    {"ip", .code = check_endpoint_ip},
};
static const kc__rules address_rules = KC__RULES(address_rule_);
static const kc__rule port_rule_[] = {
    {"port", .code = kc__check_port},
    {"protocol", .required = "", .one_of = protocols},
    {"appProtocol", .name = &kc__qualified_name},
};
static const kc__rules port_rules = KC__RULES(port_rule_);

static void check_some_address(const kc__place *subset)
{
    if (!kc_len(kc_get(subset->value, "addresses")) &&
        !kc_len(kc_get(subset->value, "notReadyAddresses")))
        kc__wrong(subset, KC_FIELD_REQUIRED, "must specify `addresses` or `notReadyAddresses`");
}

static void check_endpoint_ports(const kc__place *ports)
{
    size_t i = 0, n = kc_len(ports->value);
    kc_items (ports->value, value) {
        kc__place port = kc__item(ports, value, i++), name = kc__member(&port, "name");
        if (kc__there(&name))
            kc__check_name(&name, KC_NAME_DNS_LABEL);
        else if (n > 1)
            kc__wrong(&name, KC_FIELD_REQUIRED, NULL);
        kc__rules_check(&port_rules, &port);
    }
}

static const kc__rule subset_rule_[] = {
    {.code = check_some_address},
    {"addresses", .of = &address_rules},
    {"notReadyAddresses", .of = &address_rules},
    {"ports", .code = check_endpoint_ports},
};
static const kc__rules subset_rules = KC__RULES(subset_rule_);
static const kc__rule endpoints_rule_[] = {{"subsets", .of = &subset_rules}};
static const kc__rules endpoints_rules = KC__RULES(endpoints_rule_);

const kc__strategy kc__strategy_endpoints = {
    .upserts = true, .defaults = &endpoints_defaults, .rules = &endpoints_rules};

/* ---- EndpointSlice ---- */

static const kc__default slice_port_[] = {
    {.field = "name", .json = "\"\""},
    {.field = "protocol", .json = "\"TCP\""},
};
static const kc__defaults slice_port = KC__DEFAULTS(slice_port_);
static const kc__default slice_[] = {{.field = "ports", .of = &slice_port}};
static const kc__defaults slice_defaults = KC__DEFAULTS(slice_);

static const char *const address_types[] = {"FQDN", "IPv4", "IPv6", NULL};
static const kc__rule slice_rule_[] = {
    {"addressType", .required = "", .one_of = address_types},
};
static const kc__rules slice_rules = KC__RULES(slice_rule_);

static void validate_slice_update(const kc_value *object, const kc_value *old,
                                  kc_field_errors *errors)
{
    kc__place root = kc__place_root(object, errors), type = kc__member(&root, "addressType");
    kc__check_same(&type, kc_get(old, "addressType"));
}

const kc__strategy kc__strategy_endpoint_slice = {
    .generation = true,
    .defaults = &slice_defaults,
    .rules = &slice_rules,
    .validate_update = validate_slice_update,
};

/* ---- NetworkPolicy ---- */

static const kc__default peer_[] = {{.field = "ports", .of = &port_defaults}};
static const kc__defaults peer_defaults = KC__DEFAULTS(peer_);

static void choose_types(kc_edit *edit, kc_node *spec)
{
    if (kc_node_len(kc_node_get(spec, KC_STR("policyTypes"))))
        return;
    kc_node *types = kc_node_array(edit);
    kc_node_append(types, kc_node_str(edit, KC_STR("Ingress")));
    if (kc_node_len(kc_node_get(spec, KC_STR("egress"))))
        kc_node_append(types, kc_node_str(edit, KC_STR("Egress")));
    kc_node_set(edit, spec, KC_STR("policyTypes"), types);
}

static const kc__default policy_spec_[] = {
    {.field = "ingress", .of = &peer_defaults},
    {.field = "egress", .of = &peer_defaults},
};
static const kc__defaults policy_spec = {
    .list = policy_spec_, .n = KC_COUNT(policy_spec_), .code = choose_types};
static const kc__default policy_[] = {{.field = "spec", .of = &policy_spec}};
static const kc__defaults policy_defaults = KC__DEFAULTS(policy_);

static void check_types(const kc__place *types)
{
    static const char *const known[] = {"Ingress", "Egress", NULL};
    size_t i = 0;
    kc_items (types->value, value) {
        kc__place item = kc__item(types, value, i++);
        if (!kc__text_is(&item, "Ingress") && !kc__text_is(&item, "Egress"))
            kc__not_supported(&item, known);
    }
}

static const kc__rule policy_rule_[] = {
    {"podSelector", .code = kc__check_selector},
    {"policyTypes", .code = check_types},
};
static const kc__rules policy_rule = KC__RULES(policy_rule_);
static const kc__rule policy_object_[] = {{"spec", .of = &policy_rule}};
static const kc__rules policy_rules = KC__RULES(policy_object_);

const kc__strategy kc__strategy_network_policy = {
    .generation = true, .defaults = &policy_defaults, .rules = &policy_rules};

/* ---- IngressClass ---- */

static const kc__default parameters_[] = {{.field = "scope", .json = "\"Cluster\""}};
static const kc__defaults parameters = KC__DEFAULTS(parameters_);
static const kc__default class_spec_[] = {{.field = "parameters", .of = &parameters}};
static const kc__defaults class_spec = KC__DEFAULTS(class_spec_);
static const kc__default class_[] = {{.field = "spec", .of = &class_spec}};
static const kc__defaults class_defaults = KC__DEFAULTS(class_);

static void validate_class_update(const kc_value *object, const kc_value *old,
                                  kc_field_errors *errors)
{
    kc__place root = kc__place_root(object, errors), spec = kc__member(&root, "spec");
    kc__place controller = kc__member(&spec, "controller");
    kc__check_same(&controller, kc_get(kc_get(old, "spec"), "controller"));
}

const kc__strategy kc__strategy_ingress_class = {
    .generation = true, .defaults = &class_defaults, .validate_update = validate_class_update};

/* ---- Ingress ---- */

static void check_service_port(const kc__place *backend, const kc__place *port)
{
    kc__place name = kc__member(port, "name"), number = kc__member(port, "number");
    if (kc__there(&name) && kc__there(&number))
        kc__wrong_as(backend, KC_FIELD_INVALID, "\"\"", "cannot set both port name & port number");
    else if (kc__there(&name))
        kc__check_name(&name, KC_NAME_PORT);
    else if (kc__there(&number))
        kc__check_port(&number);
    else
        kc__wrong(backend, KC_FIELD_REQUIRED, "port name or number is required");
}

static void check_backend(const kc__place *backend)
{
    kc__place service = kc__member(backend, "service"), name = kc__member(&service, "name");
    kc__place port = kc__member(&service, "port"), resource = kc__member(backend, "resource");
    if (!backend->value)
        return;
    if (service.value && resource.value) {
        kc__wrong_as(backend, KC_FIELD_INVALID, "\"\"",
                     "cannot set both resource and service backends");
    } else if (service.value) {
        kc__check_needed_name(&name, KC_NAME_DNS_1035_LABEL);
        check_service_port(backend, &port);
    } else if (!resource.value) {
        kc__wrong_as(backend, KC_FIELD_INVALID, "\"\"", "resource or service backend is required");
    }
}

static void check_http_path(const kc__place *place)
{
    static const char *const types[] = {"Exact", "ImplementationSpecific", "Prefix", NULL};
    kc__place type = kc__member(place, "pathType"), path = kc__member(place, "path");
    kc__place backend = kc__member(place, "backend");
    bool own = kc__text_is(&type, "ImplementationSpecific");
    bool known = own || kc__text_is(&type, "Exact") || kc__text_is(&type, "Prefix");
    if (!type.value) {
        kc__wrong(&type, KC_FIELD_REQUIRED, "pathType must be specified");
        return;
    }
    if (!known)
        kc__not_supported(&type, types);
    else if ((!own || kc__there(&path)) && !kc_str_starts(kc__text(&path), KC_STR("/")))
        kc__wrong(&path, KC_FIELD_INVALID, "must be an absolute path");
    check_backend(&backend);
}

static const kc__rule http_path_[] = {{.code = check_http_path}};
static const kc__rules http_path = KC__RULES(http_path_);
static const kc__rule http_[] = {{"paths", .required = "", .of = &http_path}};
static const kc__rules http = KC__RULES(http_);

static void check_host(const kc__place *host)
{
    bool wild = kc_str_find(kc__text(host), '*') >= 0;
    if (kc__there(host))
        kc__check_name(host, wild ? KC_NAME_WILDCARD : KC_NAME_DNS_SUBDOMAIN);
}

static const kc__rule ingress_rule_[] = {{"host", .code = check_host}, {"http", .of = &http}};
static const kc__rules ingress_rule = KC__RULES(ingress_rule_);

static void check_some_rule(const kc__place *spec)
{
    if (!kc_len(kc_get(spec->value, "rules")) && !kc_get(spec->value, "defaultBackend"))
        kc__wrong_as(spec, KC_FIELD_INVALID, "null",
                     "either `defaultBackend` or `rules` must be specified");
}

static const kc__rule ingress_spec_[] = {
    {.code = check_some_rule},
    {"defaultBackend", .code = check_backend},
    {"rules", .of = &ingress_rule},
    {"ingressClassName", .name = &kc__dns_subdomain},
};
static const kc__rules ingress_spec = KC__RULES(ingress_spec_);
static const kc__rule ingress_[] = {{"spec", .of = &ingress_spec}};
static const kc__rules ingress_rules = KC__RULES(ingress_);

const kc__strategy kc__strategy_ingress = {.generation = true, .rules = &ingress_rules};
