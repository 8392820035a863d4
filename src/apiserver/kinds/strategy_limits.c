/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strategy_limits.c: how much may be used: ResourceQuotas by a namespace, LimitRanges by each of
 * its pods, containers and claims.
 */
#include "apiserver/kinds/resource_rules.h"
#include "apiserver/kinds/strategy.h"
#include "kc/quantity.h"

/* ---- ResourceQuota ---- */

/* Those of Kubernetes itself that a quota can count. */
static bool is_for_quotas(kc_str name)
{
    static const char *const names[] = {"cpu",
                                        "memory",
                                        "ephemeral-storage",
                                        "requests.cpu",
                                        "requests.memory",
                                        "requests.storage",
                                        "requests.ephemeral-storage",
                                        "limits.cpu",
                                        "limits.memory",
                                        "limits.ephemeral-storage",
                                        "pods",
                                        "resourcequotas",
                                        "services",
                                        "replicationcontrollers",
                                        "secrets",
                                        "persistentvolumeclaims",
                                        "configmaps",
                                        "services.nodeports",
                                        "services.loadbalancers",
                                        NULL};
    return kc_str_is_any(name, names) || kc_str_starts(name, KC_STR("hugepages-")) ||
           kc_str_starts(name, KC_STR("requests.hugepages-"));
}

static void check_amounts(const kc__place *amounts)
{
    kc_members (amounts->value, name, value) {
        kc__place entry = kc__entry(amounts, name, value);
        kc__check_resource_name(&entry);
        if (kc_str_find(name, '/') < 0 && !is_for_quotas(name))
            kc__wrong_text(&entry, KC_FIELD_INVALID, name, "must be a standard resource for quota");
        kc__check_resource_amount(&entry);
    }
}

/* ---- scopes: which pods a quota is about ---- */

static bool is_scope(kc_str scope)
{
    static const char *const scopes[] = {"Terminating",
                                         "NotTerminating",
                                         "BestEffort",
                                         "NotBestEffort",
                                         "PriorityClass",
                                         "CrossNamespacePodAffinity",
                                         "VolumeAttributesClass",
                                         NULL};
    return kc_str_is_any(scope, scopes);
}

static bool scope_has(kc_str scope, kc_str resource)
{
    static const char *const of_pods[] = {
        "cpu", "memory", "limits.cpu", "limits.memory", "requests.cpu", "requests.memory", NULL};
    if (!is_scope(scope))
        return true;
    if (kc_str_is(scope, "VolumeAttributesClass"))
        return kc_str_is(resource, "persistentvolumeclaims") ||
               kc_str_is(resource, "requests.storage");
    if (kc_str_is(resource, "pods"))
        return true;
    return !kc_str_is(scope, "BestEffort") && kc_str_is_any(resource, of_pods);
}

static void check_scope_resources(const kc__place *shown, kc_str scope, const kc_value *hard)
{
    kc_members (hard, name, value)
        if (value && is_for_quotas(name) && !scope_has(scope, name))
            kc__wrong(shown, KC_FIELD_INVALID, "unsupported scope applied to resource");
}

/* Of which two there is nothing in both. */
static void check_conflicts(const kc__place *shown, const kc_map *scopes)
{
    static const char *const pairs[][2] = {{"BestEffort", "NotBestEffort"},
                                           {"Terminating", "NotTerminating"}};
    for (size_t i = 0; i < KC_COUNT(pairs); i++)
        if (kc_map_get(scopes, kc_cstr(pairs[i][0])) && kc_map_get(scopes, kc_cstr(pairs[i][1])))
            kc__wrong(shown, KC_FIELD_INVALID, "conflicting scopes");
}

/* Errors are about the whole list, as in Kubernetes. */
static void check_scopes(const kc__place *spec)
{
    kc__place scopes = kc__member(spec, "scopes");
    kc_scoped(kc_map) seen = {0};
    kc_items (scopes.value, scope) {
        if (!is_scope(kc_as_str(scope)))
            kc__wrong(&scopes, KC_FIELD_INVALID, "unsupported scope");
        check_scope_resources(&scopes, kc_as_str(scope), kc_get(spec->value, "hard"));
        kc_map_put(&seen, kc_as_str(scope), (void *)scope);
    }
    check_conflicts(&scopes, &seen);
}

static void check_scope_values(const kc__place *op, const kc__place *values)
{
    if (kc__text_is(op, "In") || kc__text_is(op, "NotIn")) {
        if (!kc__there(values))
            kc__wrong(values, KC_FIELD_REQUIRED,
                      "must be at least one value when `operator` is 'In' or 'NotIn' for scope "
                      "selector");
    } else if (!kc__text_is(op, "Exists") && !kc__text_is(op, "DoesNotExist")) {
        kc__wrong(op, KC_FIELD_INVALID, "not a valid selector operator");
    } else if (kc__there(values)) {
        kc__wrong(values, KC_FIELD_INVALID,
                  "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope "
                  "selector");
    }
}

/* Kubernetes leaves out the index. */
static void check_scope_expression(const kc__place *list, const kc_value *value,
                                   const kc_value *hard)
{
    kc__place expression = *list;
    expression.value = value;
    kc__place scope = kc__member(&expression, "scopeName"),
              op = kc__member(&expression, "operator");
    kc__place values = kc__member(&expression, "values");
    bool valued =
        kc__text_is(&scope, "PriorityClass") || kc__text_is(&scope, "VolumeAttributesClass");
    if (!is_scope(kc__text(&scope)))
        kc__wrong(&scope, KC_FIELD_INVALID, "unsupported scope");
    check_scope_resources(list, kc__text(&scope), hard);
    if (is_scope(kc__text(&scope)) && !valued && !kc__text_is(&op, "Exists"))
        kc__wrong(&op, KC_FIELD_INVALID,
                  "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, "
                  "ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, "
                  "ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity");
    check_scope_values(&op, &values);
}

static void check_scope_selector(const kc__place *spec)
{
    kc__place selector = kc__member(spec, "scopeSelector");
    kc__place list = kc__member(&selector, "matchExpressions");
    kc_scoped(kc_map) seen = {0};
    kc_items (list.value, value) {
        check_scope_expression(&list, value, kc_get(spec->value, "hard"));
        kc_map_put(&seen, kc_as_str(kc_get(value, "scopeName")), (void *)value);
    }
    check_conflicts(&list, &seen);
}

static const kc__rule quota_spec_[] = {
    {"hard", .code = check_amounts},
    {.code = check_scopes},
    {.code = check_scope_selector},
};
static const kc__rules quota_spec = KC__RULES(quota_spec_);
static const kc__rule quota_[] = {{"spec", .of = &quota_spec}};
static const kc__rules quota_rules = KC__RULES(quota_);

static const kc__rule quota_status_[] = {
    {"hard", .code = check_amounts},
    {"used", .code = check_amounts},
};
static const kc__rules quota_status = KC__RULES(quota_status_);

static void validate_quota_status(const kc_value *object, const kc_value *old,
                                  kc_field_errors *errors)
{
    kc__place root = kc__place_root(object, errors), status = kc__member(&root, "status");
    (void)old;
    kc__rules_check(&quota_status, &status);
}

static void validate_quota_update(const kc_value *object, const kc_value *old,
                                  kc_field_errors *errors)
{
    kc__place root = kc__place_root(object, errors), spec = kc__member(&root, "spec");
    kc__place scopes = kc__member(&spec, "scopes");
    kc__check_same(&scopes, kc_get(kc_get(old, "spec"), "scopes"));
}

const kc__strategy kc__strategy_quota = {
    .shows_deleted = true,
    .rules = &quota_rules,
    .validate_update = validate_quota_update,
    .validate_status = validate_quota_status,
};

/* ---- LimitRange ---- */

/* Copies what `to` lacks. */
static void add_missing(kc_edit *edit, kc_node *limit, const char *from, const char *to)
{
    kc_node *source = kc_node_get(limit, kc_cstr(from));
    if (!kc_node_len(source))
        return;
    kc_node *target = kc_node_need_object(edit, limit, kc_cstr(to));
    kc_node_members (source, name, value)
        if (!kc_node_get(target, name))
            kc_node_set(edit, target, name, kc_node_clone(edit, value));
}

static void complete_limit(kc_edit *edit, kc_node *limit)
{
    if (!kc_str_is(kc__node_text(limit, "type"), "Container"))
        return;
    add_missing(edit, limit, "max", "default");
    add_missing(edit, limit, "default", "defaultRequest");
    add_missing(edit, limit, "min", "defaultRequest");
}

static const kc__defaults limit_defaults = {.code = complete_limit};
static const kc__default range_spec_[] = {{.field = "limits", .of = &limit_defaults}};
static const kc__defaults range_spec = KC__DEFAULTS(range_spec_);
static const kc__default range_[] = {{.field = "spec", .of = &range_spec}};
static const kc__defaults range_defaults = KC__DEFAULTS(range_);

static void check_type(const kc__place *type)
{
    static const char *const types[] = {"Pod", "Container", "PersistentVolumeClaim", NULL};
    if (!kc_name_valid(KC_NAME_QUALIFIED, kc__text(type)))
        kc__check_name(type, KC_NAME_QUALIFIED);
    else if (kc_str_find(kc__text(type), '/') < 0 && !kc_str_is_any(kc__text(type), types))
        kc__wrong(type, KC_FIELD_INVALID, "must be a standard limit type or fully qualified");
}

/* Gathers the names of the resources, in the order in which they are found. */
static void check_names(const kc__place *limit, const char *name, bool contained, kc_map *ret_names)
{
    kc__place list = kc__member(limit, name);
    kc_members (list.value, key, value) {
        kc__place entry = kc__entry(&list, key, value);
        if (contained)
            kc__check_container_resource_name(&entry);
        else
            kc__check_resource_name(&entry);
        kc_map_put(ret_names, key, (void *)value);
    }
}

static void check_lists(const kc__place *limit, kc_map *ret_names)
{
    static const char *const defaults[] = {"default", "defaultRequest"};
    kc_str type = kc__text_in(limit, "type");
    bool pod = kc_str_is(type, "Pod"), contained = pod || kc_str_is(type, "Container");
    check_names(limit, "max", contained, ret_names);
    check_names(limit, "min", contained, ret_names);
    for (size_t i = 0; i < KC_COUNT(defaults); i++) {
        kc__place list = kc__member(limit, defaults[i]);
        if (!pod)
            check_names(limit, defaults[i], contained, ret_names);
        else if (kc__there(&list))
            kc__wrong(&list, KC_FIELD_FORBIDDEN, "may not be specified when `type` is 'Pod'");
    }
    if (kc_str_is(type, "PersistentVolumeClaim") &&
        !kc_get(kc_get(limit->value, "min"), "storage") &&
        !kc_get(kc_get(limit->value, "max"), "storage")) {
        kc__place limits = kc__member(limit, "limits");
        kc__wrong(&limits, KC_FIELD_REQUIRED,
                  "either minimum or maximum storage value is required, but neither was provided");
    }
    check_names(limit, "maxLimitRequestRatio", contained, ret_names);
}

static bool amount_of(const kc__place *limit, const char *list, kc_str name, kc_quantity *ret)
{
    return kc_quantity_from(kc_get_str(kc_get(limit->value, list), name), ret, NULL) == 0;
}

/* One amount is at most another; the error is at one of the lists and shows one of the amounts. */
typedef struct order {
    const char *low, *high;   /* Lists. */
    const char *at, *shown;   /* Where the error is, and whose amount it shows. */
    const char *first, *then; /* "min value %s is greater than %s value %s" */
} order;

static const order orders[] = {
    {"min", "max", "min", "min", "min", "max"},
    {"min", "defaultRequest", "defaultRequest", "defaultRequest", "min", "default request"},
    {"defaultRequest", "max", "defaultRequest", "defaultRequest", "default request", "max"},
    {"defaultRequest", "default", "defaultRequest", "defaultRequest", "default request",
     "default limit"},
    {"min", "default", "default", "min", "min", "default"},
    {"default", "max", "default", "max", "default", "max"},
};

static void check_order(const kc__place *limit, kc_str name, const order *o)
{
    kc_quantity low, high;
    char x[KC_QUANTITY_MAX], y[KC_QUANTITY_MAX];
    kc__place list = kc__member(limit, o->at);
    const kc_value *shown = kc_get_str(kc_get(limit->value, o->shown), name);
    kc__place entry = kc__entry(&list, name, shown);
    if (!amount_of(limit, o->low, name, &low) || !amount_of(limit, o->high, name, &high) ||
        kc_quantity_cmp(low, high) <= 0)
        return;
    kc__wrong(&entry, KC_FIELD_INVALID, "%s value %.*s is greater than %s value %.*s", o->first,
              KC_ARG(kc_quantity_print(low, x)), o->then, KC_ARG(kc_quantity_print(high, y)));
}

static void check_ratio(const kc__place *limit, kc_str name)
{
    kc_quantity ratio, low, high;
    char text[KC_QUANTITY_MAX];
    kc__place list = kc__member(limit, "maxLimitRequestRatio");
    kc__place entry = kc__entry(&list, name, kc_get_str(list.value, name));
    if (!amount_of(limit, "maxLimitRequestRatio", name, &ratio))
        return;
    kc_str shown = kc_quantity_print(ratio, text);
    if (kc_quantity_cmp(ratio, kc_quantity_of(1, KC_DECIMAL_SI)) < 0)
        kc__wrong(&entry, KC_FIELD_INVALID, "ratio %.*s is less than 1", KC_ARG(shown));
    if (!amount_of(limit, "min", name, &low) || !amount_of(limit, "max", name, &high))
        return;
    double most = (double)kc_quantity_milli_value(high) / (double)kc_quantity_milli_value(low);
    if ((double)kc_quantity_milli_value(ratio) / 1000 > most)
        kc__wrong(&entry, KC_FIELD_INVALID, "ratio %.*s is greater than max/min = %f",
                  KC_ARG(shown), most);
}

static void check_equal(const kc__place *limit, kc_str name)
{
    kc_quantity request, most;
    char x[KC_QUANTITY_MAX], y[KC_QUANTITY_MAX];
    kc__place list = kc__member(limit, "defaultRequest");
    kc__place entry = kc__entry(&list, name, kc_get_str(list.value, name));
    if (kc__resource_is_shared(name) || !amount_of(limit, "defaultRequest", name, &request) ||
        !amount_of(limit, "default", name, &most) || kc_quantity_cmp(request, most) == 0)
        return;
    kc__wrong(&entry, KC_FIELD_INVALID,
              "default value %.*s must equal to defaultRequest value %.*s in %.*s",
              KC_ARG(kc_quantity_print(most, x)), KC_ARG(kc_quantity_print(request, y)),
              KC_ARG(name));
}

static void check_limit(const kc__place *limit)
{
    kc_scoped(kc_map) names = {0};
    check_lists(limit, &names);
    kc_map_each (&names, entry) {
        for (size_t i = 0; i < KC_COUNT(orders); i++)
            check_order(limit, entry->key, &orders[i]);
        check_ratio(limit, entry->key);
        check_equal(limit, entry->key);
    }
}

static void check_limits(const kc__place *limits)
{
    kc_scoped(kc_map) seen = {0};
    size_t i = 0;
    kc_items (limits->value, value) {
        kc__place limit = kc__item(limits, value, i++), type = kc__member(&limit, "type");
        check_type(&type);
        kc__check_unique(&type, &seen);
        check_limit(&limit);
    }
}

static const kc__rule range_rule_[] = {{"limits", .code = check_limits}};
static const kc__rules range_rule = KC__RULES(range_rule_);
static const kc__rule range_object_[] = {{"spec", .of = &range_rule}};
static const kc__rules range_rules = KC__RULES(range_object_);

const kc__strategy kc__strategy_limit_range = {
    .upserts = true,
    .defaults = &range_defaults,
    .rules = &range_rules,
};
