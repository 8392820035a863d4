/* SPDX-License-Identifier: Apache-2.0 */
/*
 * service_rules.c: validates Services, in the order of Kubernetes: requirements of the type, ports,
 * session affinity, addresses, and at the end the policies that the type allows.
 */
#include "apiserver/kinds/core/service_rules.h"

#include "apiserver/kinds/networking/address_rules.h"
#include "kc/diff.h"

static const char *const protocols[] = {"SCTP", "TCP", "UDP", NULL};
static const char *const affinities[] = {"ClientIP", "None", NULL};
static const char *const types[] = {"ClusterIP", "ExternalName", "LoadBalancer", "NodePort", NULL};
static const char *const policies[] = {"Cluster", "Local", NULL};
static const char *const families[] = {"IPv4", "IPv6", NULL};
static const char *const family_policies[] = {"PreferDualStack", "RequireDualStack", "SingleStack",
                                              NULL};
static const char *const distributions[] = {"PreferClose", "PreferSameZone", "PreferSameNode",
                                            NULL};

static bool is_headless(const kc__location *spec)
{
    const kc_value *ips = kc_value_get(spec->value, "clusterIPs");
    return kc_value_len(ips) == 1 && kc_str_is(kc_value_as_str(kc_value_at(ips, 0)), "None");
}

static bool has_type(const kc__location *spec, const char *type)
{
    return kc_str_is(kc__location_member_text(spec, "type"), type);
}

static bool is_outside(const kc__location *spec)
{
    return has_type(spec, "NodePort") || has_type(spec, "LoadBalancer") ||
           (has_type(spec, "ClusterIP") && kc_value_len(kc_value_get(spec->value, "externalIPs")));
}

/* ---- requirements of the type ---- */

static void check_external_name(const kc__location *spec)
{
    static const char *const without[] = {"clusterIPs", "ipFamilies", "ipFamilyPolicy"};
    kc__location name = kc__location_member(spec, "externalName"), bare = name;
    for (size_t i = 0; i < KC_COUNT(without); i++) {
        kc__location member = kc__location_member(spec, without[i]);
        if (kc__location_is_set(&member))
            kc__location_error(&member, KC_FIELD_FORBIDDEN,
                               "may not be set for ExternalName services");
    }
    kc_str text = kc__location_text(&name);
    if (kc_str_ends(text, KC_STR("."))) /* A trailing dot marks a fully qualified name. */
        return;
    kc__validate_needed_name(&bare, KC_NAME_DNS_SUBDOMAIN);
}

static void check_service_type(const kc__location *spec)
{
    kc__location ports = kc__location_member(spec, "ports"),
                 ips = kc__location_member(spec, "clusterIPs");
    bool headless = is_headless(spec);
    if (!kc_value_len(ports.value) && !headless && !has_type(spec, "ExternalName"))
        kc__location_error(&ports, KC_FIELD_REQUIRED, NULL);
    if (has_type(spec, "ExternalName")) {
        check_external_name(spec);
    } else if (headless && !has_type(spec, "ClusterIP")) {
        kc__location first = kc__location_item(&ips, kc_value_at(ips.value, 0), 0);
        kc__location_error(&first, KC_FIELD_INVALID, "may not be set to 'None' for %.*s services",
                           KC_ARG(kc__location_member_text(spec, "type")));
    }
}

/* ---- ports ---- */

static const kc__validate_rule port_[] = {
    {"port", .code = kc__validate_port},
    {"protocol", .required = "", .one_of = protocols},
    {"targetPort", .code = kc__validate_port_or_name},
    {"appProtocol", .name = &kc__validate_name_qualified},
};
static const kc__validate_rule_table port_rules = KC__VALIDATE_RULES(port_);

static void check_port_name(const kc__location *port, bool needed, kc_map *names)
{
    kc__location name = kc__location_member(port, "name");
    if (!kc__location_is_set(&name)) {
        if (needed)
            kc__location_error(&name, KC_FIELD_REQUIRED, NULL);
        return;
    }
    kc__validate_name(&name, KC_NAME_DNS_LABEL);
    kc__validate_unique(&name, names);
}

static void check_ports(const kc__location *ports)
{
    kc_scoped(kc_map) names = {0};
    size_t i = 0, n = kc_value_len(ports->value);
    kc_value_each_item (ports->value, value) {
        kc__location port = kc__location_item(ports, value, i++);
        check_port_name(&port, n > 1, &names);
        kc__validate_by_rules(&port_rules, &port);
    }
}

static void check_no_node_ports(const kc__location *spec)
{
    kc__location ports = kc__location_member(spec, "ports");
    size_t i = 0;
    if (!has_type(spec, "ClusterIP"))
        return;
    kc_value_each_item (ports.value, value) {
        kc__location port = kc__location_item(&ports, value, i++),
                     node = kc__location_member(&port, "nodePort");
        if (kc__location_is_set(&node))
            kc__location_error(&node, KC_FIELD_FORBIDDEN,
                               "may not be used when `type` is 'ClusterIP'");
    }
}

/* Adds "TCP/80" to the set; returns whether it was there before. */
static bool seen_before(kc_map *seen, const kc__location *port, const char *name)
{
    kc__location number = kc__location_member(port, name);
    const char *key = kc_arena_printf(&port->errors->arena, "%.*s/%lld",
                                      KC_ARG(kc__location_member_text(port, "protocol")),
                                      (long long)kc__location_number(&number));
    return kc_map_put(seen, kc_cstr(key), seen) != NULL;
}

static void check_unique_node_ports(const kc__location *ports)
{
    kc_scoped(kc_map) seen = {0};
    size_t i = 0;
    kc_value_each_item (ports->value, value) {
        kc__location port = kc__location_item(ports, value, i++),
                     node = kc__location_member(&port, "nodePort");
        if (kc__location_is_set(&node) && seen_before(&seen, &port, "nodePort"))
            kc__location_error(&node, KC_FIELD_DUPLICATE, NULL);
    }
}

/* The error shows the pair as Kubernetes' internal struct, with Go's field names. */
static void check_unique_ports(const kc__location *ports)
{
    kc_scoped(kc_map) seen = {0};
    size_t i = 0;
    kc_value_each_item (ports->value, value) {
        kc__location port = kc__location_item(ports, value, i++),
                     number = kc__location_member(&port, "port");
        if (seen_before(&seen, &port, "port"))
            kc__location_error_json(
                &port, KC_FIELD_DUPLICATE,
                kc_arena_printf(&port.errors->arena,
                                "{\"Name\":\"\",\"Protocol\":\"%.*s\",\"AppProtocol\":"
                                "null,\"Port\":%lld,\"TargetPort\":0,\"NodePort\":0}",
                                KC_ARG(kc__location_member_text(&port, "protocol")),
                                (long long)kc__location_number(&number)),
                NULL);
    }
}

/* ---- addresses ---- */

static void check_affinity(const kc__location *spec)
{
    kc__location config = kc__location_member(spec, "sessionAffinityConfig");
    kc__location client = kc__location_member(&config, "clientIP");
    kc__location seconds = kc__location_member(&client, "timeoutSeconds");
    if (!kc_str_is(kc__location_member_text(spec, "sessionAffinity"), "ClientIP"))
        return;
    if (!seconds.value)
        kc__location_error(&seconds, KC_FIELD_REQUIRED, NULL);
    else if (kc__location_number(&seconds) <= 0 || kc__location_number(&seconds) > 86400)
        kc__location_error(&seconds, KC_FIELD_INVALID,
                           "must be greater than 0 and less than 86400");
}

static void check_in_step(const kc__location *spec)
{
    kc__location one = kc__location_member(spec, "clusterIP"),
                 all = kc__location_member(spec, "clusterIPs");
    kc_str first = kc_value_as_str(kc_value_at(all.value, 0));
    if (!kc__location_is_set(&one)) {
        if (kc_value_len(all.value))
            kc__location_error(&all, KC_FIELD_INVALID,
                               "must be empty when `clusterIP` is not specified");
    } else if (!kc_value_len(all.value)) {
        kc__location_error(&all, KC_FIELD_REQUIRED, NULL);
    } else if (!kc_str_eq(first, kc__location_text(&one))) {
        kc__location_error(&all, KC_FIELD_INVALID, "first value must match `clusterIP`");
    }
}

static void check_family(const kc__location *list)
{
    kc_scoped(kc_map) seen = {0};
    size_t i = 0;
    kc_value_each_item (list->value, value) {
        kc__location item = kc__location_item(list, value, i++);
        if (!kc__location_text_is(&item, "IPv4") && !kc__location_text_is(&item, "IPv6"))
            kc__location_not_supported(&item, families);
        kc__validate_unique(&item, &seen);
    }
}

/* At most one address per IP family, in the order of ipFamilies. */
static void check_pairs(const kc__location *spec)
{
    kc__location all = kc__location_member(spec, "clusterIPs");
    kc_value_iter next_family =
        kc__value_iter(kc_value_get(spec->value, "ipFamilies"), KC_JSON_ARRAY);
    size_t i = 0;
    if (kc_value_len(all.value) == 2 &&
        kc__validate_address_is_v6(kc_value_as_str(kc_value_at(all.value, 0))) ==
            kc__validate_address_is_v6(kc_value_as_str(kc_value_at(all.value, 1))))
        kc__location_error(&all, KC_FIELD_INVALID,
                           "may specify no more than one IP for each IP family");
    kc_value_each_item (all.value, value) {
        kc__location ip = kc__location_item(&all, value, i);
        kc_str family = kc_value_as_str(kc__value_iter_item(&next_family));
        bool six = kc__validate_address_is_v6(kc__location_text(&ip));
        if (family.n && !is_headless(spec) && six != kc_str_is(family, "IPv6"))
            kc__location_error(&ip, KC_FIELD_INVALID,
                               "expected an %.*s value as indicated by `ipFamilies[%zu]`",
                               KC_ARG(family), i);
        i++;
    }
}

static const kc__validate_rule family_policy_[] = {{"ipFamilyPolicy", .one_of = family_policies}};
static const kc__validate_rule_table family_policy = KC__VALIDATE_RULES(family_policy_);

static void check_addresses(const kc__location *spec)
{
    kc__location all = kc__location_member(spec, "clusterIPs"),
                 list = kc__location_member(spec, "ipFamilies");
    size_t i = 0, n = kc_value_len(all.value);
    if (has_type(spec, "ExternalName"))
        return;
    check_in_step(spec);
    check_family(&list);
    kc__validate_by_rules(&family_policy, spec);
    size_t before = all.errors->list.n;
    kc_value_each_item (all.value, value) {
        kc__location item = kc__location_item(&all, value, i);
        if (i++ == 0 && kc__location_text_is(&item, "None")) {
            if (n > 1)
                kc__location_error(&all, KC_FIELD_INVALID,
                                   "'None' must be the first and only value");
            continue;
        }
        kc__validate_ip(&item);
    }
    if (n > 2)
        kc__location_error(&all, KC_FIELD_INVALID, "may only hold up to 2 values");
    if (all.errors->list.n == before)
        check_pairs(spec);
}

static void check_external_ips(const kc__location *ips)
{
    size_t i = 0;
    kc_value_each_item (ips->value, value) {
        kc__location item = kc__location_item(ips, value, i++);
        if (kc__validate_address_is_valid(kc__location_text(&item)))
            kc__validate_ordinary_ip(&item);
        else
            kc__validate_ip(&item);
    }
}

/* ---- IP families: only IPv4 is supported ---- */

/* Rejects families that this cluster does not support. Runs before all other checks; if it
 * fails, they are skipped. A headless Service without a selector may have the families of its
 * endpoints. */
static bool is_configured(const kc__location *spec)
{
    kc__location policy = kc__location_member(spec, "ipFamilyPolicy"),
                 list = kc__location_member(spec, "ipFamilies");
    kc__location all = kc__location_member(spec, "clusterIPs");
    kc__location first_ip = kc__location_item(&all, all.value, 0);
    kc__location first = kc__location_item(&list, kc_value_at(list.value, 0), 0);
    bool open = is_headless(spec) && !kc_value_len(kc_value_get(spec->value, "selector"));
    if (has_type(spec, "ExternalName") || open)
        return true;
    if (kc__validate_address_is_v6(kc_value_as_str(kc_value_at(all.value, 0))))
        kc__location_error(&first_ip, KC_FIELD_INVALID, "IPv6 is not configured on this cluster");
    else if (kc_value_len(list.value) > 1 && kc__location_text_is(&policy, "SingleStack") &&
             !kc_value_equal(kc_value_at(list.value, 0), kc_value_at(list.value, 1), NULL))
        kc__location_error(
            &policy, KC_FIELD_INVALID,
            "must be 'RequireDualStack' or 'PreferDualStack' when multiple IP families are "
            "specified");
    else if (kc__location_text_is(&policy, "RequireDualStack"))
        kc__location_error(&policy, KC_FIELD_INVALID,
                           "this cluster is not configured for dual-stack services");
    else if (kc__location_text_is(&first, "IPv6") && !kc_value_len(all.value))
        kc__location_error(&first, KC_FIELD_INVALID, "not configured on this cluster");
    else
        return true;
    return false;
}

/* ---- policies ---- */

static void check_source_ranges(const kc__location *spec)
{
    kc__location ranges = kc__location_member(spec, "LoadBalancerSourceRanges");
    size_t i = 0;
    ranges.value = kc_value_get(spec->value, "loadBalancerSourceRanges");
    if (kc__location_is_set(&ranges) && !has_type(spec, "LoadBalancer")) {
        kc__location_error(&ranges, KC_FIELD_FORBIDDEN,
                           "may only be used when `type` is 'LoadBalancer'");
        return;
    }
    kc_value_each_item (ranges.value, value) {
        kc__location range = kc__location_item(&ranges, value, i++);
        kc__cidr network;
        if (!kc__cidr_parse(kc_str_trim(kc__location_text(&range)), &network))
            kc__validate_cidr(&range);
    }
}

static void check_balancer_class(const kc__location *class)
{
    if (class->value)
        kc__validate_name(class, KC_NAME_QUALIFIED);
}

static void check_health_port(const kc__location *spec)
{
    kc__location port = kc__location_member(spec, "healthCheckNodePort");
    if (!kc__location_is_set(&port) ||
        (has_type(spec, "LoadBalancer") &&
         kc_str_is(kc__location_member_text(spec, "externalTrafficPolicy"), "Local")))
        return;
    kc__location_error(
        &port, KC_FIELD_INVALID,
        "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is "
        "'Local'");
}

static void check_balancer_fields(const kc__location *spec)
{
    static const char *const only[] = {"allocateLoadBalancerNodePorts", "loadBalancerClass"};
    kc__location class = kc__location_member(spec, "loadBalancerClass");
    if (has_type(spec, "LoadBalancer")) {
        check_balancer_class(&class);
        return;
    }
    for (size_t i = 0; i < KC_COUNT(only); i++) {
        kc__location member = kc__location_member(spec, only[i]);
        if (member.value)
            kc__location_error(&member, KC_FIELD_FORBIDDEN,
                               "may only be used when `type` is 'LoadBalancer'");
    }
}

static void check_outside_policy(const kc__location *spec)
{
    kc__location policy = kc__location_member(spec, "externalTrafficPolicy");
    if (!is_outside(spec)) {
        if (kc__location_is_set(&policy))
            kc__location_error(&policy, KC_FIELD_INVALID,
                               "may only be set for externally-accessible services");
    } else if (!kc__location_is_set(&policy)) {
        kc__location_error(&policy, KC_FIELD_REQUIRED, NULL);
    } else if (!kc__location_text_is(&policy, "Cluster") &&
               !kc__location_text_is(&policy, "Local")) {
        kc__location_not_supported(&policy, policies);
    }
}

static const kc__validate_rule service_[] = {
    {.code = check_service_type},
    {"ports", .code = check_ports},
    {"selector", .code = kc__validate_labels},
    {"sessionAffinity", .required = "", .one_of = affinities},
    {.code = check_affinity},
    {.code = check_addresses},
    {"externalIPs", .code = check_external_ips},
    {"type", .required = "", .one_of = types},
    {.code = check_no_node_ports},
    {"ports", .code = check_unique_node_ports},
    {"ports", .code = check_unique_ports},
    {.code = check_source_ranges},
    {.code = check_balancer_fields},
    {.code = check_outside_policy},
    {.code = check_health_port},
    {"internalTrafficPolicy", .one_of = policies},
    {"trafficDistribution", .one_of = distributions},
};
static const kc__validate_rule_table service_rules = KC__VALIDATE_RULES(service_);

void kc__validate_service(const kc__location *spec)
{
    if (is_configured(spec))
        kc__validate_by_rules(&service_rules, spec);
}

/* ---- updates ---- */

static void check_same_ips(const kc__location *spec, const kc_value *before)
{
    kc__location ips = kc__location_member(spec, "clusterIPs");
    kc__location first =
        kc__location_item(&ips, ips.value, 0); /* Shows the whole list, as Kubernetes does. */
    if (!kc_value_len(before))
        return;
    if (!kc_value_len(ips.value))
        kc__location_error_json(&first, KC_FIELD_INVALID, "null",
                                "primary clusterIP can not be unset");
    else if (!kc_str_eq(kc_value_as_str(kc_value_at(ips.value, 0)),
                        kc_value_as_str(kc_value_at(before, 0))))
        kc__location_error(&first, KC_FIELD_INVALID, "may not change once set");
}

void kc__validate_service_update(const kc__location *spec, const kc_value *old)
{
    kc_str type = kc_value_as_str(kc_value_get(old, "type"));
    kc__location class = kc__location_member(spec, "loadBalancerClass");
    const kc_value *before = kc_value_get(old, "loadBalancerClass");
    if (!has_type(spec, "ExternalName") && !kc_str_is(type, "ExternalName"))
        check_same_ips(spec, kc_value_get(old, "clusterIPs"));
    if (!has_type(spec, "LoadBalancer") || !kc_str_is(type, "LoadBalancer"))
        return;
    if (!!class.value == !!before && kc_str_eq(kc__location_text(&class), kc_value_as_str(before)))
        return;
    if (class.value)
        kc__location_error(&class, KC_FIELD_INVALID, "may not change once set");
    else
        kc__location_error_json(&class, KC_FIELD_INVALID, "null", "may not change once set");
}

/* ---- load balancer status ---- */

static const char *const ip_modes[] = {"Proxy", "VIP", NULL};

static void check_ingress(const kc__location *ingress)
{
    kc__location ip = kc__location_member(ingress, "ip"),
                 mode = kc__location_member(ingress, "ipMode");
    kc__location host = kc__location_member(ingress, "hostname");
    if (kc__location_is_set(&ip))
        kc__validate_ip(&ip);
    if (!mode.value && kc__location_is_set(&ip))
        kc__location_error(&mode, KC_FIELD_REQUIRED, "must be specified when `ip` is set");
    else if (mode.value && !kc__location_is_set(&ip))
        kc__location_error(&mode, KC_FIELD_FORBIDDEN, "may not be specified when `ip` is not set");
    else if (mode.value)
        kc__validate_one_of(&mode, ip_modes);
    if (!kc__location_is_set(&host))
        return;
    kc__validate_name(&host, KC_NAME_DNS_SUBDOMAIN);
    if (kc__validate_address_is_valid(kc__location_text(&host)))
        kc__location_error(&host, KC_FIELD_INVALID, "must be a DNS name, not an IP address");
}

static const kc__validate_rule ingress_[] = {{.code = check_ingress}};
static const kc__validate_rule_table ingress_rules = KC__VALIDATE_RULES(ingress_);

void kc__validate_service_status(const kc__location *root)
{
    kc__location spec = kc__location_member(root, "spec"),
                 status = kc__location_member(root, "status");
    kc__location balancer = kc__location_member(&status, "loadBalancer");
    kc__location ingress = kc__location_member(&balancer, "ingress");
    if (kc__location_is_set(&ingress) && !has_type(&spec, "LoadBalancer"))
        kc__location_error(&ingress, KC_FIELD_FORBIDDEN,
                           "may only be used when `spec.type` is 'LoadBalancer'");
    else
        kc__validate_items_by_rules(&ingress_rules, &ingress);
}
