/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flow_strategy.c: the defaults of FlowSchemas and PriorityLevelConfigurations. The server stores
 * these objects but does not limit requests by them.
 */
#include "apiserver/kinds/strategy.h"

/* ---- FlowSchema ---- */

/* In these fields zero means absent. */
static void default_zero(kc_edit *edit, kc_node *object, kc_str name, int64_t value)
{
    int64_t present = 0;
    kc_node *member = kc_node_get(object, name);
    if (!member || kc_node_type(member) == KC_JSON_NULL ||
        (kc_node_as_i64(member, &present) && !present))
        kc_node_set(edit, object, name, kc_node_i64(edit, value));
}

static void default_precedence(kc_edit *edit, kc_node *spec)
{
    default_zero(edit, spec, KC_STR("matchingPrecedence"), 1000);
}

static const kc__defaults schema_spec_defaults = {.code = default_precedence};
static const kc__defaults_entry flow_schema_[] = {
    {.field = "spec", .json = "{}", .of = &schema_spec_defaults}};
static const kc__defaults flow_schema_defaults = KC__DEFAULTS(flow_schema_);

const kc__strategy kc__strategy_flow_schema = {
    .generation = true,
    .defaults = &flow_schema_defaults,
};

/* ---- PriorityLevelConfiguration ---- */

static const kc__defaults_entry exempt_[] = {
    {.field = "nominalConcurrencyShares", .json = "0"},
    {.field = "lendablePercent", .json = "0"},
};
static const kc__defaults exempt_defaults = KC__DEFAULTS(exempt_);
static void default_queuing(kc_edit *edit, kc_node *queuing)
{
    default_zero(edit, queuing, KC_STR("handSize"), 8);
    default_zero(edit, queuing, KC_STR("queues"), 64);
    default_zero(edit, queuing, KC_STR("queueLengthLimit"), 50);
}

static const kc__defaults queuing_defaults = {.code = default_queuing};
static const kc__defaults_entry response_[] = {{.field = "queuing", .of = &queuing_defaults}};
static const kc__defaults response_defaults = KC__DEFAULTS(response_);
static const kc__defaults_entry limited_[] = {
    {.field = "nominalConcurrencyShares", .json = "30"},
    {.field = "lendablePercent", .json = "0"},
    {.field = "limitResponse", .of = &response_defaults},
};
static const kc__defaults limited_defaults = KC__DEFAULTS(limited_);
static const kc__defaults_entry level_spec_[] = {
    {.field = "exempt", .of = &exempt_defaults},
    {.field = "limited", .of = &limited_defaults},
};
static const kc__defaults level_spec_defaults = KC__DEFAULTS(level_spec_);
static const kc__defaults_entry level_[] = {{.field = "spec", .of = &level_spec_defaults}};
static const kc__defaults level_defaults = KC__DEFAULTS(level_);

const kc__strategy kc__strategy_priority_level = {
    .generation = true,
    .defaults = &level_defaults,
};
