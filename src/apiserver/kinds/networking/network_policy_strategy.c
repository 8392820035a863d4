/* SPDX-License-Identifier: Apache-2.0 */
/*
 * network_policy_strategy.c: the strategy of NetworkPolicies: which peers may connect to which pods
 * and ports.
 */
#include "apiserver/kinds/networking/address_rules.h"
#include "apiserver/kinds/strategy.h"

/* ---- defaults ---- */

static const kc__defaults_entry port_[] = {{.field = "protocol", .json = "\"TCP\""}};
static const kc__defaults port_defaults = KC__DEFAULTS(port_);
static const kc__defaults_entry peer_[] = {{.field = "ports", .of = &port_defaults}};
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

static const kc__defaults_entry spec_[] = {
    {.field = "ingress", .of = &peer_defaults},
    {.field = "egress", .of = &peer_defaults},
};
static const kc__defaults spec_defaults = {
    .list = spec_, .n = KC_COUNT(spec_), .code = choose_types};
static const kc__defaults_entry policy_[] = {{.field = "spec", .of = &spec_defaults}};
static const kc__defaults defaults = KC__DEFAULTS(policy_);

/* ---- ports ---- */

static const char *const protocols[] = {"TCP", "UDP", "SCTP", NULL};

static void check_port(const kc__location *location)
{
    kc__location port = kc__location_member(location, "port"),
                 end = kc__location_member(location, "endPort"), shown = end;
    bool named = kc_value_type(port.value) == KC_JSON_STRING;
    shown.value = port.value;
    if (port.value)
        kc__validate_port_or_name(&port);
    if (!end.value)
        return;
    if (!port.value) {
        kc__location_error(&end, KC_FIELD_INVALID,
                           "may not be specified when `port` is not specified");
    } else if (named) {
        kc__location_error(&end, KC_FIELD_INVALID,
                           "may not be specified when `port` is non-numeric");
    } else {
        if (kc__location_number(&end) < kc__location_number(&port))
            kc__location_error(&shown, KC_FIELD_INVALID, "must be greater than or equal to `port`");
        kc__validate_port(&end);
    }
}

static const kc__validate_rule port_rule_[] = {{"protocol", .one_of = protocols},
                                               {.code = check_port}};
static const kc__validate_rule_table port_rules = KC__VALIDATE_RULES(port_rule_);

/* ---- peers ---- */

/* The exceptions of a block must be inside it and smaller. */
static void check_block(const kc__location *block)
{
    kc__location cidr = kc__location_member(block, "cidr"),
                 except = kc__location_member(block, "except");
    kc__cidr outer, part;
    size_t i = 0;
    if (!kc__location_is_set(&cidr)) {
        kc__location_error(&cidr, KC_FIELD_REQUIRED, NULL);
        return;
    }
    kc__validate_cidr(&cidr);
    if (!kc__cidr_parse(kc__location_text(&cidr), &outer))
        return;
    kc_value_each_item (except.value, value) {
        kc__location one = kc__location_item(&except, value, i++);
        kc__validate_cidr(&one);
        if (kc__cidr_parse(kc__location_text(&one), &part) && !kc__cidr_within(&outer, &part))
            kc__location_error(&one, KC_FIELD_INVALID, "must be a strict subset of `cidr`");
    }
}

static void check_peer(const kc__location *peer)
{
    kc__location pods = kc__location_member(peer, "podSelector"),
                 block = kc__location_member(peer, "ipBlock");
    kc__location namespaces = kc__location_member(peer, "namespaceSelector");
    if (pods.value)
        kc__validate_selector(&pods);
    if (namespaces.value)
        kc__validate_selector(&namespaces);
    if (block.value)
        check_block(&block);
    if (!pods.value && !namespaces.value && !block.value)
        kc__location_error(peer, KC_FIELD_REQUIRED, "must specify a peer");
    else if (block.value && (pods.value || namespaces.value))
        kc__location_error(peer, KC_FIELD_FORBIDDEN,
                           "may not specify both ipBlock and another peer");
}

static const kc__validate_rule peer_rule_[] = {{.code = check_peer}};
static const kc__validate_rule_table peer_rules = KC__VALIDATE_RULES(peer_rule_);
static const kc__validate_rule ingress_[] = {{"ports", .of = &port_rules},
                                             {"from", .of = &peer_rules}};
static const kc__validate_rule egress_[] = {{"ports", .of = &port_rules},
                                            {"to", .of = &peer_rules}};
static const kc__validate_rule_table ingress_rules = KC__VALIDATE_RULES(ingress_),
                                     egress_rules = KC__VALIDATE_RULES(egress_);

/* ---- the policy ---- */

static void check_types(const kc__location *types)
{
    static const char *const known[] = {"Ingress", "Egress", NULL};
    size_t i = 0;
    if (kc_value_len(types->value) > 2) {
        kc__location_error(types, KC_FIELD_INVALID, "may not specify more than two policyTypes");
        return;
    }
    kc_value_each_item (types->value, value) {
        kc__location item = kc__location_item(types, value, i++);
        kc__validate_one_of(&item, known);
    }
}

static const kc__validate_rule spec_rule_[] = {
    {"podSelector", .code = kc__validate_selector},
    {"ingress", .of = &ingress_rules},
    {"egress", .of = &egress_rules},
    {"policyTypes", .code = check_types},
};
static const kc__validate_rule_table spec_rules = KC__VALIDATE_RULES(spec_rule_);
static const kc__validate_rule object_[] = {{"spec", .of = &spec_rules}};
static const kc__validate_rule_table rules = KC__VALIDATE_RULES(object_);

const kc__strategy kc__strategy_network_policy = {
    .generation = true, .defaults = &defaults, .rules = &rules};
