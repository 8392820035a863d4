/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strategy_network_policy.c: NetworkPolicies: who may talk to which pods, at which ports.
 */
#include "apiserver/kinds/address_rules.h"
#include "apiserver/kinds/strategy.h"

/* ---- defaults ---- */

static const kc__default port_[] = {{.field = "protocol", .json = "\"TCP\""}};
static const kc__defaults port_defaults = KC__DEFAULTS(port_);
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

static const kc__default spec_[] = {
    {.field = "ingress", .of = &peer_defaults},
    {.field = "egress", .of = &peer_defaults},
};
static const kc__defaults spec_defaults = {
    .list = spec_, .n = KC_COUNT(spec_), .code = choose_types};
static const kc__default policy_[] = {{.field = "spec", .of = &spec_defaults}};
static const kc__defaults defaults = KC__DEFAULTS(policy_);

/* ---- ports ---- */

static const char *const protocols[] = {"TCP", "UDP", "SCTP", NULL};

static void check_port(const kc__place *place)
{
    kc__place port = kc__member(place, "port"), end = kc__member(place, "endPort"), shown = end;
    bool named = kc_type_of(port.value) == KC_STRING;
    shown.value = port.value;
    if (port.value)
        kc__check_port_or_name(&port);
    if (!end.value)
        return;
    if (!port.value) {
        kc__wrong(&end, KC_FIELD_INVALID, "may not be specified when `port` is not specified");
    } else if (named) {
        kc__wrong(&end, KC_FIELD_INVALID, "may not be specified when `port` is non-numeric");
    } else {
        if (kc__number(&end) < kc__number(&port))
            kc__wrong(&shown, KC_FIELD_INVALID, "must be greater than or equal to `port`");
        kc__check_port(&end);
    }
}

static const kc__rule port_rule_[] = {{"protocol", .one_of = protocols}, {.code = check_port}};
static const kc__rules port_rules = KC__RULES(port_rule_);

/* ---- peers ---- */

/* Holes in the block are smaller than it. */
static void check_block(const kc__place *block)
{
    kc__place cidr = kc__member(block, "cidr"), except = kc__member(block, "except");
    kc__network whole, part;
    size_t i = 0;
    if (!kc__there(&cidr)) {
        kc__wrong(&cidr, KC_FIELD_REQUIRED, NULL);
        return;
    }
    kc__check_cidr(&cidr);
    if (!kc__network_parse(kc__text(&cidr), &whole))
        return;
    kc_items (except.value, value) {
        kc__place one = kc__item(&except, value, i++);
        kc__check_cidr(&one);
        if (kc__network_parse(kc__text(&one), &part) && !kc__network_within(&whole, &part))
            kc__wrong(&one, KC_FIELD_INVALID, "must be a strict subset of `cidr`");
    }
}

static void check_peer(const kc__place *peer)
{
    kc__place pods = kc__member(peer, "podSelector"), block = kc__member(peer, "ipBlock");
    kc__place namespaces = kc__member(peer, "namespaceSelector");
    if (pods.value)
        kc__check_selector(&pods);
    if (namespaces.value)
        kc__check_selector(&namespaces);
    if (block.value)
        check_block(&block);
    if (!pods.value && !namespaces.value && !block.value)
        kc__wrong(peer, KC_FIELD_REQUIRED, "must specify a peer");
    else if (block.value && (pods.value || namespaces.value))
        kc__wrong(peer, KC_FIELD_FORBIDDEN, "may not specify both ipBlock and another peer");
}

static const kc__rule peer_rule_[] = {{.code = check_peer}};
static const kc__rules peer_rules = KC__RULES(peer_rule_);
static const kc__rule ingress_[] = {{"ports", .of = &port_rules}, {"from", .of = &peer_rules}};
static const kc__rule egress_[] = {{"ports", .of = &port_rules}, {"to", .of = &peer_rules}};
static const kc__rules ingress_rules = KC__RULES(ingress_), egress_rules = KC__RULES(egress_);

/* ---- together ---- */

static void check_types(const kc__place *types)
{
    static const char *const known[] = {"Ingress", "Egress", NULL};
    size_t i = 0;
    if (kc_len(types->value) > 2) {
        kc__wrong(types, KC_FIELD_INVALID, "may not specify more than two policyTypes");
        return;
    }
    kc_items (types->value, value) {
        kc__place item = kc__item(types, value, i++);
        kc__check_one_of(&item, known);
    }
}

static const kc__rule spec_rule_[] = {
    {"podSelector", .code = kc__check_selector},
    {"ingress", .of = &ingress_rules},
    {"egress", .of = &egress_rules},
    {"policyTypes", .code = check_types},
};
static const kc__rules spec_rules = KC__RULES(spec_rule_);
static const kc__rule object_[] = {{"spec", .of = &spec_rules}};
static const kc__rules rules = KC__RULES(object_);

const kc__strategy kc__strategy_network_policy = {
    .generation = true, .defaults = &defaults, .rules = &rules};
