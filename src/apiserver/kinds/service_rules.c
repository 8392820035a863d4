/* SPDX-License-Identifier: Apache-2.0 */
/*
 * service_rules.c: what is checked in Services, in the order of Kubernetes: what the type asks for,
 * ports, affinity, addresses, and at the end which policies the type has.
 */
#include "apiserver/kinds/service_rules.h"

#include "apiserver/kinds/address_rules.h"
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

static bool is_headless(const kc__place *spec)
{
    const kc_value *ips = kc_get(spec->value, "clusterIPs");
    return kc_len(ips) == 1 && kc_str_is(kc_as_str(kc_at(ips, 0)), "None");
}

static bool has_type(const kc__place *spec, const char *type)
{
    return kc_str_is(kc__text_in(spec, "type"), type);
}

static bool is_outside(const kc__place *spec)
{
    return has_type(spec, "NodePort") || has_type(spec, "LoadBalancer") ||
           (has_type(spec, "ClusterIP") && kc_len(kc_get(spec->value, "externalIPs")));
}

/* ---- what the type asks for ---- */

static void check_external_name(const kc__place *spec)
{
    static const char *const without[] = {"clusterIPs", "ipFamilies", "ipFamilyPolicy"};
    kc__place name = kc__member(spec, "externalName"), bare = name;
    for (size_t i = 0; i < KC_COUNT(without); i++) {
        kc__place member = kc__member(spec, without[i]);
        if (kc__there(&member))
            kc__wrong(&member, KC_FIELD_FORBIDDEN, "may not be set for ExternalName services");
    }
    kc_str text = kc__text(&name);
    if (kc_str_ends(text, KC_STR("."))) /* It may say that it is the whole name. */
        return;
    kc__check_needed_name(&bare, KC_NAME_DNS_SUBDOMAIN);
}

static void check_type(const kc__place *spec)
{
    kc__place ports = kc__member(spec, "ports"), ips = kc__member(spec, "clusterIPs");
    bool headless = is_headless(spec);
    if (!kc_len(ports.value) && !headless && !has_type(spec, "ExternalName"))
        kc__wrong(&ports, KC_FIELD_REQUIRED, NULL);
    if (has_type(spec, "ExternalName")) {
        check_external_name(spec);
    } else if (headless && !has_type(spec, "ClusterIP")) {
        kc__place first = kc__item(&ips, kc_at(ips.value, 0), 0);
        kc__wrong(&first, KC_FIELD_INVALID, "may not be set to 'None' for %.*s services",
                  KC_ARG(kc__text_in(spec, "type")));
    }
}

/* ---- ports ---- */

static const kc__rule port_[] = {
    {"port", .code = kc__check_port},
    {"protocol", .required = "", .one_of = protocols},
    {"targetPort", .code = kc__check_port_or_name},
    {"appProtocol", .name = &kc__qualified_name},
};
static const kc__rules port_rules = KC__RULES(port_);

static void check_port_name(const kc__place *port, bool needed, kc_map *names)
{
    kc__place name = kc__member(port, "name");
    if (!kc__there(&name)) {
        if (needed)
            kc__wrong(&name, KC_FIELD_REQUIRED, NULL);
        return;
    }
    kc__check_name(&name, KC_NAME_DNS_LABEL);
    kc__check_unique(&name, names);
}

static void check_ports(const kc__place *ports)
{
    kc_scoped(kc_map) names = {0};
    size_t i = 0, n = kc_len(ports->value);
    kc_items (ports->value, value) {
        kc__place port = kc__item(ports, value, i++);
        check_port_name(&port, n > 1, &names);
        kc__rules_check(&port_rules, &port);
    }
}

static void check_no_node_ports(const kc__place *spec)
{
    kc__place ports = kc__member(spec, "ports");
    size_t i = 0;
    if (!has_type(spec, "ClusterIP"))
        return;
    kc_items (ports.value, value) {
        kc__place port = kc__item(&ports, value, i++), node = kc__member(&port, "nodePort");
        if (kc__there(&node))
            kc__wrong(&node, KC_FIELD_FORBIDDEN, "may not be used when `type` is 'ClusterIP'");
    }
}

/* Remembers "TCP/80"; whether it was there before. */
static bool seen_before(kc_map *seen, const kc__place *port, const char *name)
{
    kc__place number = kc__member(port, name);
    const char *key =
        kc_arena_printf(&port->errors->arena, "%.*s/%lld", KC_ARG(kc__text_in(port, "protocol")),
                        (long long)kc__number(&number));
    return kc_map_put(seen, kc_cstr(key), seen) != NULL;
}

static void check_unique_node_ports(const kc__place *ports)
{
    kc_scoped(kc_map) seen = {0};
    size_t i = 0;
    kc_items (ports->value, value) {
        kc__place port = kc__item(ports, value, i++), node = kc__member(&port, "nodePort");
        if (kc__there(&node) && seen_before(&seen, &port, "nodePort"))
            kc__wrong(&node, KC_FIELD_DUPLICATE, NULL);
    }
}

/* The error shows the pair as Kubernetes' own struct, whose fields are written as in Go. */
static void check_unique_ports(const kc__place *ports)
{
    kc_scoped(kc_map) seen = {0};
    size_t i = 0;
    kc_items (ports->value, value) {
        kc__place port = kc__item(ports, value, i++), number = kc__member(&port, "port");
        if (seen_before(&seen, &port, "port"))
            kc__wrong_as(&port, KC_FIELD_DUPLICATE,
                         kc_arena_printf(&port.errors->arena,
                                         "{\"Name\":\"\",\"Protocol\":\"%.*s\",\"AppProtocol\":"
                                         "null,\"Port\":%lld,\"TargetPort\":0,\"NodePort\":0}",
                                         KC_ARG(kc__text_in(&port, "protocol")),
                                         (long long)kc__number(&number)),
                         NULL);
    }
}

/* ---- addresses ---- */

static void check_affinity(const kc__place *spec)
{
    kc__place config = kc__member(spec, "sessionAffinityConfig");
    kc__place client = kc__member(&config, "clientIP");
    kc__place seconds = kc__member(&client, "timeoutSeconds");
    if (!kc_str_is(kc__text_in(spec, "sessionAffinity"), "ClientIP"))
        return;
    if (!seconds.value)
        kc__wrong(&seconds, KC_FIELD_REQUIRED, NULL);
    else if (kc__number(&seconds) <= 0 || kc__number(&seconds) > 86400)
        kc__wrong(&seconds, KC_FIELD_INVALID, "must be greater than 0 and less than 86400");
}

static void check_in_step(const kc__place *spec)
{
    kc__place one = kc__member(spec, "clusterIP"), all = kc__member(spec, "clusterIPs");
    kc_str first = kc_as_str(kc_at(all.value, 0));
    if (!kc__there(&one)) {
        if (kc_len(all.value))
            kc__wrong(&all, KC_FIELD_INVALID, "must be empty when `clusterIP` is not specified");
    } else if (!kc_len(all.value)) {
        kc__wrong(&all, KC_FIELD_REQUIRED, NULL);
    } else if (!kc_str_eq(first, kc__text(&one))) {
        kc__wrong(&all, KC_FIELD_INVALID, "first value must match `clusterIP`");
    }
}

static void check_family(const kc__place *list)
{
    kc_scoped(kc_map) seen = {0};
    size_t i = 0;
    kc_items (list->value, value) {
        kc__place item = kc__item(list, value, i++);
        if (!kc__text_is(&item, "IPv4") && !kc__text_is(&item, "IPv6"))
            kc__not_supported(&item, families);
        kc__check_unique(&item, &seen);
    }
}

/* One of each family, and each in its place. */
static void check_pairs(const kc__place *spec)
{
    kc__place all = kc__member(spec, "clusterIPs");
    const kc_value *list = kc_get(spec->value, "ipFamilies");
    size_t i = 0;
    if (kc_len(all.value) == 2 && kc__address_is_v6(kc_as_str(kc_at(all.value, 0))) ==
                                      kc__address_is_v6(kc_as_str(kc_at(all.value, 1))))
        kc__wrong(&all, KC_FIELD_INVALID, "may specify no more than one IP for each IP family");
    kc_items (all.value, value) {
        kc__place ip = kc__item(&all, value, i);
        kc_str family = kc_as_str(kc_at(list, i));
        bool six = kc__address_is_v6(kc__text(&ip));
        if (family.n && !is_headless(spec) && six != kc_str_is(family, "IPv6"))
            kc__wrong(&ip, KC_FIELD_INVALID,
                      "expected an %.*s value as indicated by `ipFamilies[%zu]`", KC_ARG(family),
                      i);
        i++;
    }
}

static const kc__rule family_policy_[] = {{"ipFamilyPolicy", .one_of = family_policies}};
static const kc__rules family_policy = KC__RULES(family_policy_);

static void check_addresses(const kc__place *spec)
{
    kc__place all = kc__member(spec, "clusterIPs"), list = kc__member(spec, "ipFamilies");
    size_t i = 0, n = kc_len(all.value);
    if (has_type(spec, "ExternalName"))
        return;
    check_in_step(spec);
    check_family(&list);
    kc__rules_check(&family_policy, spec);
    size_t before = all.errors->list.n;
    kc_items (all.value, value) {
        kc__place item = kc__item(&all, value, i);
        if (i++ == 0 && kc__text_is(&item, "None")) {
            if (n > 1)
                kc__wrong(&all, KC_FIELD_INVALID, "'None' must be the first and only value");
            continue;
        }
        kc__check_ip(&item);
    }
    if (n > 2)
        kc__wrong(&all, KC_FIELD_INVALID, "may only hold up to 2 values");
    if (all.errors->list.n == before)
        check_pairs(spec);
}

static void check_external_ips(const kc__place *ips)
{
    size_t i = 0;
    kc_items (ips->value, value) {
        kc__place item = kc__item(ips, value, i++);
        if (kc__address_valid(kc__text(&item)))
            kc__check_ordinary_ip(&item);
        else
            kc__check_ip(&item);
    }
}

/* ---- families: there is only IPv4 here ---- */

/* What this cluster does not have; looked at before everything else, and alone. A service without
 * address and selector may have whatever its endpoints have. */
static bool is_configured(const kc__place *spec)
{
    kc__place policy = kc__member(spec, "ipFamilyPolicy"), list = kc__member(spec, "ipFamilies");
    kc__place all = kc__member(spec, "clusterIPs");
    kc__place first_ip = kc__item(&all, all.value, 0);
    kc__place first = kc__item(&list, kc_at(list.value, 0), 0);
    bool open = is_headless(spec) && !kc_len(kc_get(spec->value, "selector"));
    if (has_type(spec, "ExternalName") || open)
        return true;
    if (kc__address_is_v6(kc_as_str(kc_at(all.value, 0))))
        kc__wrong(&first_ip, KC_FIELD_INVALID, "IPv6 is not configured on this cluster");
    else if (kc_len(list.value) > 1 && kc__text_is(&policy, "SingleStack") &&
             !kc_value_equal(kc_at(list.value, 0), kc_at(list.value, 1), NULL))
        kc__wrong(&policy, KC_FIELD_INVALID,
                  "must be 'RequireDualStack' or 'PreferDualStack' when multiple IP families are "
                  "specified");
    else if (kc__text_is(&policy, "RequireDualStack"))
        kc__wrong(&policy, KC_FIELD_INVALID,
                  "this cluster is not configured for dual-stack services");
    else if (kc__text_is(&first, "IPv6") && !kc_len(all.value))
        kc__wrong(&first, KC_FIELD_INVALID, "not configured on this cluster");
    else
        return true;
    return false;
}

/* ---- policies ---- */

static void check_source_ranges(const kc__place *spec)
{
    kc__place ranges = kc__member(spec, "LoadBalancerSourceRanges");
    size_t i = 0;
    ranges.value = kc_get(spec->value, "loadBalancerSourceRanges");
    if (kc__there(&ranges) && !has_type(spec, "LoadBalancer")) {
        kc__wrong(&ranges, KC_FIELD_FORBIDDEN, "may only be used when `type` is 'LoadBalancer'");
        return;
    }
    kc_items (ranges.value, value) {
        kc__place range = kc__item(&ranges, value, i++);
        kc__network network;
        if (!kc__network_parse(kc_str_trim(kc__text(&range)), &network))
            kc__check_cidr(&range);
    }
}

static void check_balancer_class(const kc__place *class)
{
    if (class->value)
        kc__check_name(class, KC_NAME_QUALIFIED);
}

static void check_health_port(const kc__place *spec)
{
    kc__place port = kc__member(spec, "healthCheckNodePort");
    if (!kc__there(&port) || (has_type(spec, "LoadBalancer") &&
                              kc_str_is(kc__text_in(spec, "externalTrafficPolicy"), "Local")))
        return;
    kc__wrong(&port, KC_FIELD_INVALID,
              "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is "
              "'Local'");
}

static void check_balancer_fields(const kc__place *spec)
{
    static const char *const only[] = {"allocateLoadBalancerNodePorts", "loadBalancerClass"};
    kc__place class = kc__member(spec, "loadBalancerClass");
    if (has_type(spec, "LoadBalancer")) {
        check_balancer_class(&class);
        return;
    }
    for (size_t i = 0; i < KC_COUNT(only); i++) {
        kc__place member = kc__member(spec, only[i]);
        if (member.value)
            kc__wrong(&member, KC_FIELD_FORBIDDEN,
                      "may only be used when `type` is 'LoadBalancer'");
    }
}

static void check_outside_policy(const kc__place *spec)
{
    kc__place policy = kc__member(spec, "externalTrafficPolicy");
    if (!is_outside(spec)) {
        if (kc__there(&policy))
            kc__wrong(&policy, KC_FIELD_INVALID,
                      "may only be set for externally-accessible services");
    } else if (!kc__there(&policy)) {
        kc__wrong(&policy, KC_FIELD_REQUIRED, NULL);
    } else if (!kc__text_is(&policy, "Cluster") && !kc__text_is(&policy, "Local")) {
        kc__not_supported(&policy, policies);
    }
}

static const kc__rule service_[] = {
    {.code = check_type},
    {"ports", .code = check_ports},
    {"selector", .code = kc__check_labels},
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
static const kc__rules service_rules = KC__RULES(service_);

void kc__check_service(const kc__place *spec)
{
    if (is_configured(spec))
        kc__rules_check(&service_rules, spec);
}

/* ---- updates ---- */

static void check_same_ips(const kc__place *spec, const kc_value *before)
{
    kc__place ips = kc__member(spec, "clusterIPs");
    kc__place first = kc__item(&ips, ips.value, 0); /* Shows them all, as Kubernetes does. */
    if (!kc_len(before))
        return;
    if (!kc_len(ips.value))
        kc__wrong_as(&first, KC_FIELD_INVALID, "null", "primary clusterIP can not be unset");
    else if (!kc_str_eq(kc_as_str(kc_at(ips.value, 0)), kc_as_str(kc_at(before, 0))))
        kc__wrong(&first, KC_FIELD_INVALID, "may not change once set");
}

void kc__check_service_update(const kc__place *spec, const kc_value *old)
{
    kc_str type = kc_as_str(kc_get(old, "type"));
    kc__place class = kc__member(spec, "loadBalancerClass");
    const kc_value *before = kc_get(old, "loadBalancerClass");
    if (!has_type(spec, "ExternalName") && !kc_str_is(type, "ExternalName"))
        check_same_ips(spec, kc_get(old, "clusterIPs"));
    if (!has_type(spec, "LoadBalancer") || !kc_str_is(type, "LoadBalancer"))
        return;
    if (!!class.value == !!before && kc_str_eq(kc__text(&class), kc_as_str(before)))
        return;
    if (class.value)
        kc__wrong(&class, KC_FIELD_INVALID, "may not change once set");
    else
        kc__wrong_as(&class, KC_FIELD_INVALID, "null", "may not change once set");
}

/* ---- where a balancer listens ---- */

static const char *const ip_modes[] = {"Proxy", "VIP", NULL};

static void check_ingress(const kc__place *ingress)
{
    kc__place ip = kc__member(ingress, "ip"), mode = kc__member(ingress, "ipMode");
    kc__place host = kc__member(ingress, "hostname");
    if (kc__there(&ip))
        kc__check_ip(&ip);
    if (!mode.value && kc__there(&ip))
        kc__wrong(&mode, KC_FIELD_REQUIRED, "must be specified when `ip` is set");
    else if (mode.value && !kc__there(&ip))
        kc__wrong(&mode, KC_FIELD_FORBIDDEN, "may not be specified when `ip` is not set");
    else if (mode.value)
        kc__check_one_of(&mode, ip_modes);
    if (!kc__there(&host))
        return;
    kc__check_name(&host, KC_NAME_DNS_SUBDOMAIN);
    if (kc__address_valid(kc__text(&host)))
        kc__wrong(&host, KC_FIELD_INVALID, "must be a DNS name, not an IP address");
}

static const kc__rule ingress_[] = {{.code = check_ingress}};
static const kc__rules ingress_rules = KC__RULES(ingress_);

void kc__check_service_status(const kc__place *root)
{
    kc__place spec = kc__member(root, "spec"), status = kc__member(root, "status");
    kc__place balancer = kc__member(&status, "loadBalancer");
    kc__place ingress = kc__member(&balancer, "ingress");
    if (kc__there(&ingress) && !has_type(&spec, "LoadBalancer"))
        kc__wrong(&ingress, KC_FIELD_FORBIDDEN,
                  "may only be used when `spec.type` is 'LoadBalancer'");
    else
        kc__rules_check_below(&ingress_rules, &ingress);
}
