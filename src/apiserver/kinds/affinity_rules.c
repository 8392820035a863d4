/* SPDX-License-Identifier: Apache-2.0 */
/*
 * affinity_rules.c: where a pod wants to run (nodes by their labels and names), beside which pods,
 * and how evenly.
 *
 * A required node affinity may only name values that a label can have; in a preferred one any text
 * is taken, as Kubernetes did not look at it at first. Pods are selected by labels, and by keys
 * whose values are the pod's own (matchLabelKeys).
 */
#include "apiserver/kinds/pod_rules.h"

/* ---- nodes ---- */

static void check_node_values(const kc__place *expression)
{
    kc__place op = kc__member(expression, "operator"), values = kc__member(expression, "values");
    size_t n = kc_len(values.value);
    if (kc__text_is(&op, "In") || kc__text_is(&op, "NotIn")) {
        if (!n)
            kc__wrong(&values, KC_FIELD_REQUIRED,
                      "must be specified when `operator` is 'In' or 'NotIn'");
    } else if (kc__text_is(&op, "Exists") || kc__text_is(&op, "DoesNotExist")) {
        if (n)
            kc__wrong(&values, KC_FIELD_FORBIDDEN,
                      "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
    } else if (kc__text_is(&op, "Gt") || kc__text_is(&op, "Lt")) {
        if (n != 1)
            kc__wrong(&values, KC_FIELD_REQUIRED,
                      "must be specified single value when `operator` is 'Lt' or 'Gt'");
    } else {
        kc__wrong(&op, KC_FIELD_INVALID, "not a valid selector operator");
    }
}

static void check_node_key(const kc__place *expression)
{
    kc__place key = kc__member(expression, "key");
    kc__check_name(&key, KC_NAME_QUALIFIED);
}

static const kc__rule expression_[] = {
    {.code = check_node_values},
    {.code = check_node_key},
    {"values", .name = &kc__label_value},
};
static const kc__rule loose_expression_[] = {
    {.code = check_node_values},
    {.code = check_node_key},
};
static const kc__rules expression = KC__RULES(expression_),
                       loose_expression = KC__RULES(loose_expression_);

/* The one field of nodes that can be asked for is their name. */
static void check_node_field(const kc__place *place)
{
    kc__place op = kc__member(place, "operator"), values = kc__member(place, "values");
    kc__place key = kc__member(place, "key");
    size_t i = 0;
    if (!kc__text_is(&op, "In") && !kc__text_is(&op, "NotIn"))
        kc__wrong(&op, KC_FIELD_INVALID, "not a valid selector operator");
    else if (kc_len(values.value) != 1)
        kc__wrong(&values, KC_FIELD_REQUIRED,
                  "must be only one value when `operator` is 'In' or 'NotIn' for node field "
                  "selector");
    if (!kc__text_is(&key, "metadata.name")) {
        kc__wrong(&key, KC_FIELD_INVALID, "not a valid field selector key");
        return;
    }
    kc_items (values.value, value) {
        kc__place item = kc__item(&values, value, i++);
        kc__check_name(&item, KC_NAME_DNS_SUBDOMAIN);
    }
}

static const kc__rule node_field_[] = {{.code = check_node_field}};
static const kc__rules node_field = KC__RULES(node_field_);

static const kc__rule term_[] = {
    {"matchExpressions", .of = &expression},
    {"matchFields", .of = &node_field},
};
static const kc__rule loose_term_[] = {
    {"matchExpressions", .of = &loose_expression},
    {"matchFields", .of = &node_field},
};
static const kc__rules term = KC__RULES(term_), loose_term = KC__RULES(loose_term_);

static const kc__rule node_selector_[] = {
    {"nodeSelectorTerms", .required = "must have at least one node selector term", .of = &term},
};
static const kc__rules node_selector = KC__RULES(node_selector_);

void kc__check_node_selector(const kc__place *selector)
{
    kc__rules_check(&node_selector, selector);
}

static void check_weight(const kc__place *place)
{
    kc__place weight = kc__member(place, "weight");
    if (kc__number(&weight) >= 1 && kc__number(&weight) <= 100)
        return;
    kc__wrong(&weight, KC_FIELD_INVALID, "must be in the range 1-100");
}

static const kc__rule preferred_node_[] = {
    {.code = check_weight},
    {"preference", .of = &loose_term},
};
static const kc__rules preferred_node = KC__RULES(preferred_node_);

#define REQUIRED  "requiredDuringSchedulingIgnoredDuringExecution"
#define PREFERRED "preferredDuringSchedulingIgnoredDuringExecution"

static const kc__rule node_affinity_[] = {
    {REQUIRED, .of = &node_selector},
    {PREFERRED, .of = &preferred_node},
};
static const kc__rules node_affinity = KC__RULES(node_affinity_);

/* ---- keys of labels whose values are the pod's own ---- */

static void check_key_names(const kc__place *keys, bool selects)
{
    size_t i = 0;
    if (!kc_len(keys->value))
        return;
    if (!selects)
        kc__wrong(keys, KC_FIELD_FORBIDDEN, "must not be specified when labelSelector is not set");
    kc_items (keys->value, value) {
        kc__place item = kc__item(keys, value, i++);
        kc__check_name(&item, KC_NAME_QUALIFIED);
    }
}

static void check_in_one_list(const kc__place *keys, const kc__place *others)
{
    kc_scoped(kc_map) seen = {0};
    size_t i = 0;
    kc_items (others->value, value)
        kc_map_put(&seen, kc_as_str(value), (void *)value);
    kc_items (keys->value, value) {
        kc__place item = kc__item(keys, value, i++);
        if (kc_map_get(&seen, kc__text(&item)))
            kc__wrong(&item, KC_FIELD_INVALID,
                      "exists in both matchLabelKeys and mismatchLabelKeys");
    }
}

static void check_label_keys(const kc__place *place)
{
    kc__place keys = kc__member(place, "matchLabelKeys");
    kc__place others = kc__member(place, "mismatchLabelKeys");
    bool selects = kc__member(place, "labelSelector").value != NULL;
    check_key_names(&keys, selects);
    check_key_names(&others, selects);
    check_in_one_list(&keys, &others);
}

/* ---- pods ---- */

/* Kubernetes names the member without its index. */
static void check_namespaces(const kc__place *place)
{
    kc_items (kc_get(place->value, "namespaces"), value) {
        kc__place name = kc__member(place, "namespace");
        name.value = value;
        kc__check_name(&name, KC_NAME_DNS_LABEL);
    }
}

static void check_topology_key(const kc__place *key)
{
    if (!kc__there(key))
        kc__wrong(key, KC_FIELD_REQUIRED, "can not be empty");
    kc__check_name(key, KC_NAME_QUALIFIED);
}

static const kc__rule pod_term_[] = {
    {"labelSelector", .code = kc__check_selector},
    {"namespaceSelector", .code = kc__check_selector},
    {.code = check_namespaces},
    {.code = check_label_keys},
    {"topologyKey", .code = check_topology_key},
};
static const kc__rules pod_term = KC__RULES(pod_term_);
static const kc__rule weighted_term_[] = {
    {.code = check_weight},
    {"podAffinityTerm", .of = &pod_term},
};
static const kc__rules weighted_term = KC__RULES(weighted_term_);

static const kc__rule pod_affinity_[] = {
    {REQUIRED, .of = &pod_term},
    {PREFERRED, .of = &weighted_term},
};
static const kc__rules pod_affinity = KC__RULES(pod_affinity_);

static const kc__rule affinity_[] = {
    {"nodeAffinity", .of = &node_affinity},
    {"podAffinity", .of = &pod_affinity},
    {"podAntiAffinity", .of = &pod_affinity},
};
static const kc__rules affinity_rules = KC__RULES(affinity_);

void kc__check_affinity(const kc__place *affinity)
{
    if (affinity->value)
        kc__rules_check(&affinity_rules, affinity);
}

/* ---- spreads ---- */

static const char *const unsatisfiable[] = {"DoNotSchedule", "ScheduleAnyway", NULL};
static const char *const inclusions[] = {"Honor", "Ignore", NULL};

static void check_positive(const kc__place *number)
{
    if (kc__number(number) <= 0)
        kc__wrong(number, KC_FIELD_INVALID, "must be greater than zero");
}

static void check_action(const kc__place *action)
{
    kc__check_one_of(action, unsatisfiable);
}

static void check_domains(const kc__place *place)
{
    kc__place domains = kc__member(place, "minDomains");
    kc_str action = kc__text_in(place, "whenUnsatisfiable");
    if (!domains.value)
        return;
    check_positive(&domains);
    if (!kc_str_is(action, "DoNotSchedule"))
        kc__wrong(&domains, KC_FIELD_INVALID,
                  "can only use minDomains if whenUnsatisfiable=DoNotSchedule, not %.*s",
                  KC_ARG(action));
}

static const kc__rule spread_start_[] = {
    {"maxSkew", .code = check_positive},
    {"topologyKey", .required = "can not be empty"},
    {"whenUnsatisfiable", .code = check_action},
};
static const kc__rule spread_end_[] = {
    {.code = check_domains},
    {"nodeAffinityPolicy", .one_of = inclusions},
    {"nodeTaintsPolicy", .one_of = inclusions},
    {.code = check_label_keys},
    {"labelSelector", .code = kc__check_selector},
};
static const kc__rules spread_start = KC__RULES(spread_start_), spread_end = KC__RULES(spread_end_);

static kc_str spread_key(const kc_value *constraint, kc_arena *arena)
{
    return kc_cstr(kc_arena_printf(arena, "{%s, %s}",
                                   kc_as_cstr(kc_get(constraint, "topologyKey"), ""),
                                   kc_as_cstr(kc_get(constraint, "whenUnsatisfiable"), "")));
}

/* The first of two is the one that is complained about: `last` has where each stands last. */
static void check_repeated(const kc__place *constraint, const kc_map *last)
{
    kc_arena *arena = &constraint->errors->arena;
    kc_str key = spread_key(constraint->value, arena);
    kc__place pair = kc__member(constraint, "{topologyKey, whenUnsatisfiable}");
    if (kc_map_get(last, key) != constraint->value)
        kc__wrong_text(&pair, KC_FIELD_DUPLICATE, key, NULL);
}

void kc__check_spread(const kc__place *constraints)
{
    kc_scoped(kc_map) last = {0};
    size_t i = 0;
    kc_items (constraints->value, value)
        kc_map_put(&last, spread_key(value, &constraints->errors->arena), (void *)value);
    kc_items (constraints->value, value) {
        kc__place constraint = kc__item(constraints, value, i++);
        kc__rules_check(&spread_start, &constraint);
        check_repeated(&constraint, &last);
        kc__rules_check(&spread_end, &constraint);
    }
}
