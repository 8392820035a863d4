/* SPDX-License-Identifier: Apache-2.0 */
/*
 * affinity_rules.c: validates the node affinity, pod affinity and topology spread constraints of a
 * pod.
 *
 * Required node affinity accepts only valid label values. Preferred node affinity accepts any text,
 * because Kubernetes did not validate it at first. Pods are selected by labels, and by label keys
 * whose values are those of the pod itself (matchLabelKeys).
 */
#include "apiserver/kinds/core/pod_rules.h"

/* ---- nodes ---- */

static void check_node_values(const kc__location *expression)
{
    kc__location op = kc__location_member(expression, "operator"),
                 values = kc__location_member(expression, "values");
    size_t n = kc_value_len(values.value);
    if (kc__location_text_is(&op, "In") || kc__location_text_is(&op, "NotIn")) {
        if (!n)
            kc__location_error(&values, KC_FIELD_REQUIRED,
                               "must be specified when `operator` is 'In' or 'NotIn'");
    } else if (kc__location_text_is(&op, "Exists") || kc__location_text_is(&op, "DoesNotExist")) {
        if (n)
            kc__location_error(
                &values, KC_FIELD_FORBIDDEN,
                "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
    } else if (kc__location_text_is(&op, "Gt") || kc__location_text_is(&op, "Lt")) {
        if (n != 1)
            kc__location_error(&values, KC_FIELD_REQUIRED,
                               "must be specified single value when `operator` is 'Lt' or 'Gt'");
    } else {
        kc__location_error(&op, KC_FIELD_INVALID, "not a valid selector operator");
    }
}

static void check_node_key(const kc__location *expression)
{
    kc__location key = kc__location_member(expression, "key");
    kc__validate_name(&key, KC_NAME_QUALIFIED);
}

static const kc__validate_rule expression_[] = {
    {.code = check_node_values},
    {.code = check_node_key},
    {"values", .name = &kc__validate_name_label_value},
};
static const kc__validate_rule loose_expression_[] = {
    {.code = check_node_values},
    {.code = check_node_key},
};
static const kc__validate_rule_table expression = KC__VALIDATE_RULES(expression_),
                                     loose_expression = KC__VALIDATE_RULES(loose_expression_);

/* metadata.name is the only field that a node field selector supports. */
static void check_node_field(const kc__location *location)
{
    kc__location op = kc__location_member(location, "operator"),
                 values = kc__location_member(location, "values");
    kc__location key = kc__location_member(location, "key");
    size_t i = 0;
    if (!kc__location_text_is(&op, "In") && !kc__location_text_is(&op, "NotIn"))
        kc__location_error(&op, KC_FIELD_INVALID, "not a valid selector operator");
    else if (kc_value_len(values.value) != 1)
        kc__location_error(
            &values, KC_FIELD_REQUIRED,
            "must be only one value when `operator` is 'In' or 'NotIn' for node field "
            "selector");
    if (!kc__location_text_is(&key, "metadata.name")) {
        kc__location_error(&key, KC_FIELD_INVALID, "not a valid field selector key");
        return;
    }
    kc_value_each_item (values.value, value) {
        kc__location item = kc__location_item(&values, value, i++);
        kc__validate_name(&item, KC_NAME_DNS_SUBDOMAIN);
    }
}

static const kc__validate_rule node_field_[] = {{.code = check_node_field}};
static const kc__validate_rule_table node_field = KC__VALIDATE_RULES(node_field_);

static const kc__validate_rule term_[] = {
    {"matchExpressions", .of = &expression},
    {"matchFields", .of = &node_field},
};
static const kc__validate_rule loose_term_[] = {
    {"matchExpressions", .of = &loose_expression},
    {"matchFields", .of = &node_field},
};
static const kc__validate_rule_table term = KC__VALIDATE_RULES(term_),
                                     loose_term = KC__VALIDATE_RULES(loose_term_);

static const kc__validate_rule node_selector_[] = {
    {"nodeSelectorTerms", .required = "must have at least one node selector term", .of = &term},
};
static const kc__validate_rule_table node_selector = KC__VALIDATE_RULES(node_selector_);

void kc__validate_node_selector(const kc__location *selector)
{
    kc__validate_by_rules(&node_selector, selector);
}

static void check_weight(const kc__location *location)
{
    kc__location weight = kc__location_member(location, "weight");
    if (kc__location_number(&weight) >= 1 && kc__location_number(&weight) <= 100)
        return;
    kc__location_error(&weight, KC_FIELD_INVALID, "must be in the range 1-100");
}

static const kc__validate_rule preferred_node_[] = {
    {.code = check_weight},
    {"preference", .of = &loose_term},
};
static const kc__validate_rule_table preferred_node = KC__VALIDATE_RULES(preferred_node_);

#define REQUIRED  "requiredDuringSchedulingIgnoredDuringExecution"
#define PREFERRED "preferredDuringSchedulingIgnoredDuringExecution"

static const kc__validate_rule node_affinity_[] = {
    {REQUIRED, .of = &node_selector},
    {PREFERRED, .of = &preferred_node},
};
static const kc__validate_rule_table node_affinity = KC__VALIDATE_RULES(node_affinity_);

/* ---- matchLabelKeys, mismatchLabelKeys ---- */

static void check_key_names(const kc__location *keys, bool selects)
{
    size_t i = 0;
    if (!kc_value_len(keys->value))
        return;
    if (!selects)
        kc__location_error(keys, KC_FIELD_FORBIDDEN,
                           "must not be specified when labelSelector is not set");
    kc_value_each_item (keys->value, value) {
        kc__location item = kc__location_item(keys, value, i++);
        kc__validate_name(&item, KC_NAME_QUALIFIED);
    }
}

static void check_in_one_list(const kc__location *keys, const kc__location *others)
{
    kc_scoped(kc_map) seen = {0};
    size_t i = 0;
    kc_value_each_item (others->value, value)
        kc_map_put(&seen, kc_value_as_str(value), (void *)value);
    kc_value_each_item (keys->value, value) {
        kc__location item = kc__location_item(keys, value, i++);
        if (kc_map_get(&seen, kc__location_text(&item)))
            kc__location_error(&item, KC_FIELD_INVALID,
                               "exists in both matchLabelKeys and mismatchLabelKeys");
    }
}

static void check_label_keys(const kc__location *location)
{
    kc__location keys = kc__location_member(location, "matchLabelKeys");
    kc__location others = kc__location_member(location, "mismatchLabelKeys");
    bool selects = kc__location_member(location, "labelSelector").value != NULL;
    check_key_names(&keys, selects);
    check_key_names(&others, selects);
    check_in_one_list(&keys, &others);
}

/* ---- pods ---- */

/* Kubernetes reports the path without the index. */
static void check_namespaces(const kc__location *location)
{
    kc_value_each_item (kc_value_get(location->value, "namespaces"), value) {
        kc__location name = kc__location_member(location, "namespace");
        name.value = value;
        kc__validate_name(&name, KC_NAME_DNS_LABEL);
    }
}

static void check_topology_key(const kc__location *key)
{
    if (!kc__location_is_set(key))
        kc__location_error(key, KC_FIELD_REQUIRED, "can not be empty");
    kc__validate_name(key, KC_NAME_QUALIFIED);
}

static const kc__validate_rule pod_term_[] = {
    {"labelSelector", .code = kc__validate_selector},
    {"namespaceSelector", .code = kc__validate_selector},
    {.code = check_namespaces},
    {.code = check_label_keys},
    {"topologyKey", .code = check_topology_key},
};
static const kc__validate_rule_table pod_term = KC__VALIDATE_RULES(pod_term_);
static const kc__validate_rule weighted_term_[] = {
    {.code = check_weight},
    {"podAffinityTerm", .of = &pod_term},
};
static const kc__validate_rule_table weighted_term = KC__VALIDATE_RULES(weighted_term_);

static const kc__validate_rule pod_affinity_[] = {
    {REQUIRED, .of = &pod_term},
    {PREFERRED, .of = &weighted_term},
};
static const kc__validate_rule_table pod_affinity = KC__VALIDATE_RULES(pod_affinity_);

static const kc__validate_rule affinity_[] = {
    {"nodeAffinity", .of = &node_affinity},
    {"podAffinity", .of = &pod_affinity},
    {"podAntiAffinity", .of = &pod_affinity},
};
static const kc__validate_rule_table affinity_rules = KC__VALIDATE_RULES(affinity_);

void kc__validate_affinity(const kc__location *affinity)
{
    if (affinity->value)
        kc__validate_by_rules(&affinity_rules, affinity);
}

/* ---- topology spread constraints ---- */

static const char *const unsatisfiable[] = {"DoNotSchedule", "ScheduleAnyway", NULL};
static const char *const inclusions[] = {"Honor", "Ignore", NULL};

static void check_positive(const kc__location *number)
{
    if (kc__location_number(number) <= 0)
        kc__location_error(number, KC_FIELD_INVALID, "must be greater than zero");
}

static void check_action(const kc__location *action)
{
    kc__validate_one_of(action, unsatisfiable);
}

static void check_domains(const kc__location *location)
{
    kc__location domains = kc__location_member(location, "minDomains");
    kc_str action = kc__location_member_text(location, "whenUnsatisfiable");
    if (!domains.value)
        return;
    check_positive(&domains);
    if (!kc_str_is(action, "DoNotSchedule"))
        kc__location_error(&domains, KC_FIELD_INVALID,
                           "can only use minDomains if whenUnsatisfiable=DoNotSchedule, not %.*s",
                           KC_ARG(action));
}

static const kc__validate_rule spread_start_[] = {
    {"maxSkew", .code = check_positive},
    {"topologyKey", .required = "can not be empty"},
    {"whenUnsatisfiable", .code = check_action},
};
static const kc__validate_rule spread_end_[] = {
    {.code = check_domains},
    {"nodeAffinityPolicy", .one_of = inclusions},
    {"nodeTaintsPolicy", .one_of = inclusions},
    {.code = check_label_keys},
    {"labelSelector", .code = kc__validate_selector},
};
static const kc__validate_rule_table spread_start = KC__VALIDATE_RULES(spread_start_),
                                     spread_end = KC__VALIDATE_RULES(spread_end_);

static kc_str spread_key(const kc_value *constraint, kc_arena *arena)
{
    return kc_cstr(kc_arena_printf(
        arena, "{%s, %s}", kc_value_as_cstr(kc_value_get(constraint, "topologyKey"), ""),
        kc_value_as_cstr(kc_value_get(constraint, "whenUnsatisfiable"), "")));
}

/* Reports the first of two duplicates; `last` maps each key to its last constraint. */
static void check_repeated(const kc__location *constraint, const kc_map *last)
{
    kc_arena *arena = &constraint->errors->arena;
    kc_str key = spread_key(constraint->value, arena);
    kc__location pair = kc__location_member(constraint, "{topologyKey, whenUnsatisfiable}");
    if (kc_map_get(last, key) != constraint->value)
        kc__location_error_text(&pair, KC_FIELD_DUPLICATE, key, NULL);
}

void kc__validate_spread(const kc__location *constraints)
{
    kc_scoped(kc_map) last = {0};
    size_t i = 0;
    kc_value_each_item (constraints->value, value)
        kc_map_put(&last, spread_key(value, &constraints->errors->arena), (void *)value);
    kc_value_each_item (constraints->value, value) {
        kc__location constraint = kc__location_item(constraints, value, i++);
        kc__validate_by_rules(&spread_start, &constraint);
        check_repeated(&constraint, &last);
        kc__validate_by_rules(&spread_end, &constraint);
    }
}
