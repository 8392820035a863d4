/* SPDX-License-Identifier: Apache-2.0 */
/*
 * endpoints_strategy.c: the strategies of Endpoints and EndpointSlices, the pod addresses of a
 * Service.
 */
#include "apiserver/kinds/networking/address_rules.h"
#include "apiserver/kinds/strategy.h"

static const char *const protocols[] = {"SCTP", "TCP", "UDP", NULL};

/* ---- Endpoints ---- */

static const kc__defaults_entry port_[] = {{.field = "protocol", .json = "\"TCP\""}};
static const kc__defaults port_defaults = KC__DEFAULTS(port_);
static const kc__defaults_entry subset_[] = {{.field = "ports", .of = &port_defaults}};
static const kc__defaults subset_defaults = KC__DEFAULTS(subset_);
static const kc__defaults_entry endpoints_[] = {{.field = "subsets", .of = &subset_defaults}};
static const kc__defaults endpoints_defaults = KC__DEFAULTS(endpoints_);

static void check_endpoint_ip(const kc__location *ip)
{
    kc__validate_ip(ip);
    kc__validate_ordinary_ip(ip);
}

static const kc__validate_rule address_rule_[] = {
    {"hostname", .name = &kc__validate_name_dns_label},
    {"nodeName", .name = &kc__validate_name_dns_subdomain},
    {"ip", .code = check_endpoint_ip},
};
static const kc__validate_rule_table address_rules = KC__VALIDATE_RULES(address_rule_);
static const kc__validate_rule port_rule_[] = {
    {"port", .code = kc__validate_port},
    {"protocol", .required = "", .one_of = protocols},
    {"appProtocol", .name = &kc__validate_name_qualified},
};
static const kc__validate_rule_table port_rules = KC__VALIDATE_RULES(port_rule_);

static void check_some_address(const kc__location *subset)
{
    if (!kc_value_len(kc_value_get(subset->value, "addresses")) &&
        !kc_value_len(kc_value_get(subset->value, "notReadyAddresses")))
        kc__location_error(subset, KC_FIELD_REQUIRED,
                           "must specify `addresses` or `notReadyAddresses`");
}

static void check_endpoint_ports(const kc__location *ports)
{
    size_t i = 0, n = kc_value_len(ports->value);
    kc_value_each_item (ports->value, value) {
        kc__location port = kc__location_item(ports, value, i++),
                     name = kc__location_member(&port, "name");
        if (kc__location_is_set(&name))
            kc__validate_name(&name, KC_NAME_DNS_LABEL);
        else if (n > 1)
            kc__location_error(&name, KC_FIELD_REQUIRED, NULL);
        kc__validate_by_rules(&port_rules, &port);
    }
}

static const kc__validate_rule subset_rule_[] = {
    {.code = check_some_address},
    {"addresses", .of = &address_rules},
    {"notReadyAddresses", .of = &address_rules},
    {"ports", .code = check_endpoint_ports},
};
static const kc__validate_rule_table subset_rules = KC__VALIDATE_RULES(subset_rule_);
static const kc__validate_rule endpoints_rule_[] = {{"subsets", .of = &subset_rules}};
static const kc__validate_rule_table endpoints_rules = KC__VALIDATE_RULES(endpoints_rule_);

const kc__strategy kc__strategy_endpoints = {
    .upserts = true,
    .defaults = &endpoints_defaults,
    .rules = &endpoints_rules,
};

/* ---- EndpointSlice ---- */

static const kc__defaults_entry slice_port_[] = {
    {.field = "name", .json = "\"\""},
    {.field = "protocol", .json = "\"TCP\""},
};
static const kc__defaults slice_port = KC__DEFAULTS(slice_port_);
static const kc__defaults_entry slice_[] = {{.field = "ports", .of = &slice_port}};
static const kc__defaults slice_defaults = KC__DEFAULTS(slice_);

static const char *const address_types[] = {"FQDN", "IPv4", "IPv6", NULL};

/* The rule for an address depends on the addressType of the slice. */
static void check_slice_address(const kc__location *addresses, const kc__location *address,
                                kc_str type)
{
    kc__location shown = *addresses;
    bool six = kc_str_is(type, "IPv6");
    shown.value = address->value;
    if (kc_str_is(type, "FQDN")) {
        kc__validate_name(address, KC_NAME_DNS_SUBDOMAIN);
        return;
    }
    if (!kc__validate_address_is_valid(kc__location_text(address))) {
        kc__validate_ip(address);
        return;
    }
    if (six != kc__validate_address_is_v6(kc__location_text(address)))
        kc__location_error(&shown, KC_FIELD_INVALID, "must be an %s address",
                           six ? "IPv6" : "IPv4");
    else
        kc__validate_ordinary_ip(address);
}

static void check_slice_addresses(const kc__location *addresses, kc_str type)
{
    size_t i = 0, n = kc_value_len(addresses->value);
    if (!n)
        kc__location_error(addresses, KC_FIELD_REQUIRED, "must contain at least 1 address");
    if (n > 100)
        kc__location_error_json(addresses, KC_FIELD_TOO_MANY,
                                kc_arena_printf(&addresses->errors->arena, "%zu", n),
                                "must have at most 100 items");
    kc_value_each_item (addresses->value, value) {
        kc__location address = kc__location_item(addresses, value, i++);
        check_slice_address(addresses, &address, type);
    }
}

static const kc__validate_rule endpoint_[] = {
    {"nodeName", .name = &kc__validate_name_dns_subdomain},
    {"hostname", .name = &kc__validate_name_dns_label},
};
static const kc__validate_rule_table endpoint_rules = KC__VALIDATE_RULES(endpoint_);

static void check_slice_endpoints(const kc__location *root)
{
    kc__location endpoints = kc__location_member(root, "endpoints");
    kc_str type = kc__location_member_text(root, "addressType");
    size_t i = 0;
    kc_value_each_item (endpoints.value, value) {
        kc__location endpoint = kc__location_item(&endpoints, value, i++);
        kc__location addresses = kc__location_member(&endpoint, "addresses");
        check_slice_addresses(&addresses, type);
        kc__validate_by_rules(&endpoint_rules, &endpoint);
    }
}

static const kc__validate_rule slice_port_rule_[] = {
    {"protocol", .required = "", .one_of = protocols},
    {"appProtocol", .name = &kc__validate_name_qualified},
};
static const kc__validate_rule_table slice_port_rules = KC__VALIDATE_RULES(slice_port_rule_);

static void check_slice_ports(const kc__location *ports)
{
    kc_scoped(kc_map) names = {0};
    size_t i = 0;
    kc_value_each_item (ports->value, value) {
        kc__location port = kc__location_item(ports, value, i++),
                     name = kc__location_member(&port, "name");
        if (kc__location_is_set(&name))
            kc__validate_name(&name, KC_NAME_DNS_LABEL);
        if (kc_map_put(&names, kc__location_text(&name), &names))
            kc__location_error(&name, KC_FIELD_DUPLICATE, NULL);
        kc__validate_by_rules(&slice_port_rules, &port);
    }
}

static const kc__validate_rule slice_rule_[] = {
    {"addressType", .required = "", .one_of = address_types},
    {.code = check_slice_endpoints},
    {"ports", .code = check_slice_ports},
};
static const kc__validate_rule_table slice_rules = KC__VALIDATE_RULES(slice_rule_);

static void validate_slice_update(const kc_value *object, const kc_value *old,
                                  kc_field_errors *errors)
{
    kc__location root = kc__location_root(object, errors),
                 type = kc__location_member(&root, "addressType");
    kc__validate_same(&type, kc_value_get(old, "addressType"));
}

const kc__strategy kc__strategy_endpoint_slice = {
    .generation = true,
    .labelled = true,
    .defaults = &slice_defaults,
    .rules = &slice_rules,
    .validate_update = validate_slice_update,
};
