/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strategy_network.c: where the pods of a Service are: Endpoints and EndpointSlices.
 */
#include "apiserver/kinds/address_rules.h"
#include "apiserver/kinds/strategy.h"

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
    .upserts = true,
    .defaults = &endpoints_defaults,
    .rules = &endpoints_rules,
};

/* ---- EndpointSlice ---- */

static const kc__default slice_port_[] = {
    {.field = "name", .json = "\"\""},
    {.field = "protocol", .json = "\"TCP\""},
};
static const kc__defaults slice_port = KC__DEFAULTS(slice_port_);
static const kc__default slice_[] = {{.field = "ports", .of = &slice_port}};
static const kc__defaults slice_defaults = KC__DEFAULTS(slice_);

static const char *const address_types[] = {"FQDN", "IPv4", "IPv6", NULL};

/* What an address must be depends on the slice's type. */
static void check_slice_address(const kc__place *addresses, const kc__place *address, kc_str type)
{
    kc__place shown = *addresses;
    bool six = kc_str_is(type, "IPv6");
    shown.value = address->value;
    if (kc_str_is(type, "FQDN")) {
        kc__check_name(address, KC_NAME_DNS_SUBDOMAIN);
        return;
    }
    if (!kc__address_valid(kc__text(address))) {
        kc__check_ip(address);
        return;
    }
    if (six != kc__address_is_v6(kc__text(address)))
        kc__wrong(&shown, KC_FIELD_INVALID, "must be an %s address", six ? "IPv6" : "IPv4");
    else
        kc__check_ordinary_ip(address);
}

static void check_slice_addresses(const kc__place *addresses, kc_str type)
{
    size_t i = 0, n = kc_len(addresses->value);
    if (!n)
        kc__wrong(addresses, KC_FIELD_REQUIRED, "must contain at least 1 address");
    if (n > 100)
        kc__wrong_as(addresses, KC_FIELD_TOO_MANY,
                     kc_arena_printf(&addresses->errors->arena, "%zu", n),
                     "must have at most 100 items");
    kc_items (addresses->value, value) {
        kc__place address = kc__item(addresses, value, i++);
        check_slice_address(addresses, &address, type);
    }
}

static const kc__rule endpoint_[] = {
    {"nodeName", .name = &kc__dns_subdomain},
    {"hostname", .name = &kc__dns_label},
};
static const kc__rules endpoint_rules = KC__RULES(endpoint_);

static void check_slice_endpoints(const kc__place *root)
{
    kc__place endpoints = kc__member(root, "endpoints");
    kc_str type = kc__text_in(root, "addressType");
    size_t i = 0;
    kc_items (endpoints.value, value) {
        kc__place endpoint = kc__item(&endpoints, value, i++);
        kc__place addresses = kc__member(&endpoint, "addresses");
        check_slice_addresses(&addresses, type);
        kc__rules_check(&endpoint_rules, &endpoint);
    }
}

static const kc__rule slice_port_rule_[] = {
    {"protocol", .required = "", .one_of = protocols},
    {"appProtocol", .name = &kc__qualified_name},
};
static const kc__rules slice_port_rules = KC__RULES(slice_port_rule_);

static void check_slice_ports(const kc__place *ports)
{
    kc_scoped(kc_map) names = {0};
    size_t i = 0;
    kc_items (ports->value, value) {
        kc__place port = kc__item(ports, value, i++), name = kc__member(&port, "name");
        if (kc__there(&name))
            kc__check_name(&name, KC_NAME_DNS_LABEL);
        if (kc_map_put(&names, kc__text(&name), &names))
            kc__wrong(&name, KC_FIELD_DUPLICATE, NULL);
        kc__rules_check(&slice_port_rules, &port);
    }
}

static const kc__rule slice_rule_[] = {
    {"addressType", .required = "", .one_of = address_types},
    {.code = check_slice_endpoints},
    {"ports", .code = check_slice_ports},
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
