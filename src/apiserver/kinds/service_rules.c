/* SPDX-License-Identifier: Apache-2.0 */
/*
 * service_rules.c: what is checked in Services, in the order of Kubernetes: what the type asks for,
 * ports, affinity, addresses, and at the end which policies the type has.
 */
#include "apiserver/kinds/service_rules.h"

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
}

static void check_external_ips(const kc__place *ips)
{
    size_t i = 0;
    kc_items (ips->value, value) {
        kc__place item = kc__item(ips, value, i++);
        kc__check_ip(&item);
    }
}

/* ---- policies ---- */

static void check_balancer_fields(const kc__place *spec)
{
    static const char *const only[] = {"allocateLoadBalancerNodePorts", "loadBalancerClass"};
    if (has_type(spec, "LoadBalancer"))
        return;
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
    {.code = check_balancer_fields},
    {.code = check_outside_policy},
    {"internalTrafficPolicy", .one_of = policies},
    {"trafficDistribution", .one_of = distributions},
};
static const kc__rules service_rules = KC__RULES(service_);

void kc__check_service(const kc__place *spec)
{
    kc__rules_check(&service_rules, spec);
}

void kc__check_service_update(const kc__place *spec, const kc_value *old)
{
    kc__place ips = kc__member(spec, "clusterIPs");
    const kc_value *before = kc_get(old, "clusterIPs");
    bool named =
        has_type(spec, "ExternalName") || kc_str_is(kc_as_str(kc_get(old, "type")), "ExternalName");
    if (named || !kc_len(before))
        return;
    kc__place first = kc__item(&ips, ips.value, 0); /* Shows them all, as Kubernetes does. */
    if (!kc_len(ips.value))
        kc__wrong_as(&first, KC_FIELD_INVALID, "null", "primary clusterIP can not be unset");
    else if (!kc_str_eq(kc_as_str(kc_at(ips.value, 0)), kc_as_str(kc_at(before, 0))))
        kc__wrong(&first, KC_FIELD_INVALID, "may not change once set");
}
