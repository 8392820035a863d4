/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limits_strategy.c: the strategies of ResourceQuotas, which limit the usage of a namespace, and
 * LimitRanges, which limit each of its pods, containers and claims.
 */
#include "apiserver/kinds/core/resource_rules.h"
#include "apiserver/kinds/strategy.h"
#include "kc/quantity.h"
#include "object/model/node_fields.h"
#include "object/model/value_members.h"

/* ---- ResourceQuota ---- */

/* Whether a quota can count this standard resource. */
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

static void check_amounts(const kc__location *amounts)
{
    kc_value_each_member (amounts->value, name, value) {
        kc__location entry = kc__location_entry(amounts, name, value);
        kc__validate_resource_name(&entry);
        if (kc_str_find(name, '/') < 0 && !is_for_quotas(name))
            kc__location_error_text(&entry, KC_FIELD_INVALID, name,
                                    "must be a standard resource for quota");
        kc__validate_resource_amount(&entry);
    }
}

/* ---- scopes: the pods that a quota counts ---- */

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

/* The resources of `hard` that scopes can restrict. Few of them are valid for a scope, so
 * checking all of them for each scope costs no more than the errors that it reports. */
typedef KC_VEC(kc_str) resource_names;

static void find_scoped(const kc_value *hard, resource_names *ret)
{
    kc_value_each_member (hard, name, value)
        if (value && is_for_quotas(name))
            kc_vec_push(ret, name);
}

static void check_scope_resources(const kc__location *shown, kc_str scope,
                                  const resource_names *names)
{
    for (size_t i = 0; i < names->n && !kc_field_errors_is_full(shown->errors); i++)
        if (!scope_has(scope, names->items[i]))
            kc__location_error(shown, KC_FIELD_INVALID, "unsupported scope applied to resource");
}

/* Reports scopes that exclude each other. */
static void check_conflicts(const kc__location *shown, const kc_map *scopes)
{
    static const char *const pairs[][2] = {{"BestEffort", "NotBestEffort"},
                                           {"Terminating", "NotTerminating"}};
    for (size_t i = 0; i < KC_COUNT(pairs); i++)
        if (kc_map_get(scopes, kc_cstr(pairs[i][0])) && kc_map_get(scopes, kc_cstr(pairs[i][1])))
            kc__location_error(shown, KC_FIELD_INVALID, "conflicting scopes");
}

/* Kubernetes reports the errors for the whole list. */
static void check_scopes(const kc__location *spec)
{
    kc__location scopes = kc__location_member(spec, "scopes");
    kc_scoped(kc_map) seen = {0};
    resource_names names = {0};
    find_scoped(kc_value_get(spec->value, "hard"), &names);
    kc_value_each_item (scopes.value, scope) {
        if (!is_scope(kc_value_as_str(scope)))
            kc__location_error(&scopes, KC_FIELD_INVALID, "unsupported scope");
        check_scope_resources(&scopes, kc_value_as_str(scope), &names);
        kc_map_put(&seen, kc_value_as_str(scope), (void *)scope);
    }
    check_conflicts(&scopes, &seen);
    kc_vec_done(&names);
}

static void check_scope_values(const kc__location *op, const kc__location *values)
{
    if (kc__location_text_is(op, "In") || kc__location_text_is(op, "NotIn")) {
        if (!kc__location_is_set(values))
            kc__location_error(
                values, KC_FIELD_REQUIRED,
                "must be at least one value when `operator` is 'In' or 'NotIn' for scope "
                "selector");
    } else if (!kc__location_text_is(op, "Exists") && !kc__location_text_is(op, "DoesNotExist")) {
        kc__location_error(op, KC_FIELD_INVALID, "not a valid selector operator");
    } else if (kc__location_is_set(values)) {
        kc__location_error(
            values, KC_FIELD_INVALID,
            "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope "
            "selector");
    }
}

/* Kubernetes reports the path without the index. */
static void check_scope_expression(const kc__location *list, const kc_value *value,
                                   const resource_names *names)
{
    kc__location expression = *list;
    expression.value = value;
    kc__location scope = kc__location_member(&expression, "scopeName"),
                 op = kc__location_member(&expression, "operator");
    kc__location values = kc__location_member(&expression, "values");
    bool valued = kc__location_text_is(&scope, "PriorityClass") ||
                  kc__location_text_is(&scope, "VolumeAttributesClass");
    if (!is_scope(kc__location_text(&scope)))
        kc__location_error(&scope, KC_FIELD_INVALID, "unsupported scope");
    check_scope_resources(list, kc__location_text(&scope), names);
    if (is_scope(kc__location_text(&scope)) && !valued && !kc__location_text_is(&op, "Exists"))
        kc__location_error(
            &op, KC_FIELD_INVALID,
            "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, "
            "ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, "
            "ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity");
    check_scope_values(&op, &values);
}

static void check_scope_selector(const kc__location *spec)
{
    kc__location selector = kc__location_member(spec, "scopeSelector");
    kc__location list = kc__location_member(&selector, "matchExpressions");
    kc_scoped(kc_map) seen = {0};
    resource_names names = {0};
    find_scoped(kc_value_get(spec->value, "hard"), &names);
    kc_value_each_item (list.value, value) {
        check_scope_expression(&list, value, &names);
        kc_map_put(&seen, kc_value_as_str(kc_value_get(value, "scopeName")), (void *)value);
    }
    check_conflicts(&list, &seen);
    kc_vec_done(&names);
}

static const kc__validate_rule quota_spec_[] = {
    {"hard", .code = check_amounts},
    {.code = check_scopes},
    {.code = check_scope_selector},
};
static const kc__validate_rule_table quota_spec = KC__VALIDATE_RULES(quota_spec_);
static const kc__validate_rule quota_[] = {{"spec", .of = &quota_spec}};
static const kc__validate_rule_table quota_rules = KC__VALIDATE_RULES(quota_);

static const kc__validate_rule quota_status_[] = {
    {"hard", .code = check_amounts},
    {"used", .code = check_amounts},
};
static const kc__validate_rule_table quota_status = KC__VALIDATE_RULES(quota_status_);

static void validate_quota_status(const kc_value *object, const kc_value *old,
                                  kc_field_errors *errors)
{
    kc__location root = kc__location_root(object, errors),
                 status = kc__location_member(&root, "status");
    (void)old;
    kc__validate_by_rules(&quota_status, &status);
}

static void validate_quota_update(const kc_value *object, const kc_value *old,
                                  kc_field_errors *errors)
{
    kc__location root = kc__location_root(object, errors),
                 spec = kc__location_member(&root, "spec");
    kc__location scopes = kc__location_member(&spec, "scopes");
    kc__validate_same(&scopes, kc_value_get(kc_value_get(old, "spec"), "scopes"));
}

const kc__strategy kc__strategy_quota = {
    .shows_deleted = true,
    .rules = &quota_rules,
    .validate_update = validate_quota_update,
    .validate_status = validate_quota_status,
};

/* ---- LimitRange ---- */

/* Copies the entries of `from` that `to` lacks. */
static void add_missing(kc_edit *edit, kc_node *limit, const char *from, const char *to)
{
    kc_node *source = kc_node_get(limit, kc_cstr(from));
    if (!kc_node_len(source))
        return;
    kc_scoped(kc__node_fields) target =
        kc__node_fields_of(edit, kc_node_ensure_object(edit, limit, kc_cstr(to)));
    kc_node_each_member (source, name, value)
        if (!kc__node_fields_get(&target, name))
            kc__node_fields_set(&target, name, kc_node_clone(edit, value));
}

static void complete_limit(kc_edit *edit, kc_node *limit)
{
    if (!kc_str_is(kc__defaults_node_text(limit, "type"), "Container"))
        return;
    add_missing(edit, limit, "max", "default");
    add_missing(edit, limit, "default", "defaultRequest");
    add_missing(edit, limit, "min", "defaultRequest");
}

static const kc__defaults limit_defaults = {.code = complete_limit};
static const kc__defaults_entry range_spec_[] = {{.field = "limits", .of = &limit_defaults}};
static const kc__defaults range_spec = KC__DEFAULTS(range_spec_);
static const kc__defaults_entry range_[] = {{.field = "spec", .of = &range_spec}};
static const kc__defaults range_defaults = KC__DEFAULTS(range_);

static void check_limit_type(const kc__location *type)
{
    static const char *const types[] = {"Pod", "Container", "PersistentVolumeClaim", NULL};
    if (!kc_name_valid(KC_NAME_QUALIFIED, kc__location_text(type)))
        kc__validate_name(type, KC_NAME_QUALIFIED);
    else if (kc_str_find(kc__location_text(type), '/') < 0 &&
             !kc_str_is_any(kc__location_text(type), types))
        kc__location_error(type, KC_FIELD_INVALID,
                           "must be a standard limit type or fully qualified");
}

/* Validates the resource names and collects them in order. */
static void check_names(const kc__location *limit, const char *name, bool contained,
                        kc_map *ret_names)
{
    kc__location list = kc__location_member(limit, name);
    kc_value_each_member (list.value, key, value) {
        kc__location entry = kc__location_entry(&list, key, value);
        if (contained)
            kc__validate_container_resource_name(&entry);
        else
            kc__validate_resource_name(&entry);
        kc_map_put(ret_names, key, (void *)value);
    }
}

static void check_lists(const kc__location *limit, kc_map *ret_names)
{
    static const char *const defaults[] = {"default", "defaultRequest"};
    kc_str type = kc__location_member_text(limit, "type");
    bool pod = kc_str_is(type, "Pod"), contained = pod || kc_str_is(type, "Container");
    check_names(limit, "max", contained, ret_names);
    check_names(limit, "min", contained, ret_names);
    for (size_t i = 0; i < KC_COUNT(defaults); i++) {
        kc__location list = kc__location_member(limit, defaults[i]);
        if (!pod)
            check_names(limit, defaults[i], contained, ret_names);
        else if (kc__location_is_set(&list))
            kc__location_error(&list, KC_FIELD_FORBIDDEN,
                               "may not be specified when `type` is 'Pod'");
    }
    if (kc_str_is(type, "PersistentVolumeClaim") &&
        !kc_value_get(kc_value_get(limit->value, "min"), "storage") &&
        !kc_value_get(kc_value_get(limit->value, "max"), "storage")) {
        kc__location limits = kc__location_member(limit, "limits");
        kc__location_error(
            &limits, KC_FIELD_REQUIRED,
            "either minimum or maximum storage value is required, but neither was provided");
    }
    check_names(limit, "maxLimitRequestRatio", contained, ret_names);
}

/* The resource lists of a limit, by name. */
enum { MAX, MIN, DEFAULT, DEFAULT_REQUEST, RATIO, N_LISTS };
static const char *const list_names[N_LISTS] = {"max", "min", "default", "defaultRequest",
                                                "maxLimitRequestRatio"};

typedef struct limit_lists {
    const kc__location *limit;
    kc__value_members lists[N_LISTS];
} limit_lists;

static void limit_lists_done(limit_lists *l)
{
    for (size_t i = 0; i < N_LISTS; i++)
        kc__value_members_done(&l->lists[i]);
}

static bool amount_of(limit_lists *l, int list, kc_str name, kc_quantity *ret)
{
    return kc_quantity_from(kc__value_members_find(&l->lists[list], name), ret, NULL) == 0;
}

/* One amount must not exceed another. The error is reported for one of the lists and shows one
 * of the amounts. */
typedef struct limit_order {
    int low, high;            /* Lists. */
    int at, shown;            /* List of the error, and list of the amount shown. */
    const char *first, *then; /* "min value %s is greater than %s value %s" */
} limit_order;

static const limit_order orders[] = {
    {MIN, MAX, MIN, MIN, "min", "max"},
    {MIN, DEFAULT_REQUEST, DEFAULT_REQUEST, DEFAULT_REQUEST, "min", "default request"},
    {DEFAULT_REQUEST, MAX, DEFAULT_REQUEST, DEFAULT_REQUEST, "default request", "max"},
    {DEFAULT_REQUEST, DEFAULT, DEFAULT_REQUEST, DEFAULT_REQUEST, "default request",
     "default limit"},
    {MIN, DEFAULT, DEFAULT, MIN, "min", "default"},
    {DEFAULT, MAX, DEFAULT, MAX, "default", "max"},
};

static void check_order(limit_lists *l, kc_str name, const limit_order *o)
{
    kc_quantity low, high;
    char x[KC_QUANTITY_MAX], y[KC_QUANTITY_MAX];
    if (!amount_of(l, o->low, name, &low) || !amount_of(l, o->high, name, &high) ||
        kc_quantity_cmp(low, high) <= 0)
        return;
    kc__location list = kc__location_member(l->limit, list_names[o->at]);
    kc__location entry =
        kc__location_entry(&list, name, kc__value_members_find(&l->lists[o->shown], name));
    kc__location_error(&entry, KC_FIELD_INVALID, "%s value %.*s is greater than %s value %.*s",
                       o->first, KC_ARG(kc_quantity_print(low, x)), o->then,
                       KC_ARG(kc_quantity_print(high, y)));
}

static void check_ratio(limit_lists *l, kc_str name)
{
    kc_quantity ratio, low, high;
    char text[KC_QUANTITY_MAX];
    if (!amount_of(l, RATIO, name, &ratio))
        return;
    kc__location list = kc__location_member(l->limit, list_names[RATIO]);
    kc__location entry =
        kc__location_entry(&list, name, kc__value_members_find(&l->lists[RATIO], name));
    kc_str shown = kc_quantity_print(ratio, text);
    if (kc_quantity_cmp(ratio, kc_quantity_of(1, KC_DECIMAL_SI)) < 0)
        kc__location_error(&entry, KC_FIELD_INVALID, "ratio %.*s is less than 1", KC_ARG(shown));
    if (!amount_of(l, MIN, name, &low) || !amount_of(l, MAX, name, &high))
        return;
    double most = (double)kc_quantity_milli_value(high) / (double)kc_quantity_milli_value(low);
    if ((double)kc_quantity_milli_value(ratio) / 1000 > most)
        kc__location_error(&entry, KC_FIELD_INVALID, "ratio %.*s is greater than max/min = %f",
                           KC_ARG(shown), most);
}

static void check_equal(limit_lists *l, kc_str name)
{
    kc_quantity request, most;
    char x[KC_QUANTITY_MAX], y[KC_QUANTITY_MAX];
    if (kc__validate_resource_is_shared(name) || !amount_of(l, DEFAULT_REQUEST, name, &request) ||
        !amount_of(l, DEFAULT, name, &most) || kc_quantity_cmp(request, most) == 0)
        return;
    kc__location list = kc__location_member(l->limit, list_names[DEFAULT_REQUEST]);
    kc__location entry =
        kc__location_entry(&list, name, kc__value_members_find(&l->lists[DEFAULT_REQUEST], name));
    kc__location_error(&entry, KC_FIELD_INVALID,
                       "default value %.*s must equal to defaultRequest value %.*s in %.*s",
                       KC_ARG(kc_quantity_print(most, x)), KC_ARG(kc_quantity_print(request, y)),
                       KC_ARG(name));
}

static void check_limit(const kc__location *limit)
{
    kc_scoped(kc_map) names = {0};
    kc_scoped(limit_lists) l = {.limit = limit};
    for (size_t i = 0; i < N_LISTS; i++)
        l.lists[i].object = kc_value_get(limit->value, list_names[i]);
    check_lists(limit, &names);
    kc_map_each (&names, entry) {
        for (size_t i = 0; i < KC_COUNT(orders); i++)
            check_order(&l, entry->key, &orders[i]);
        check_ratio(&l, entry->key);
        check_equal(&l, entry->key);
    }
}

static void check_limits(const kc__location *limits)
{
    kc_scoped(kc_map) seen = {0};
    size_t i = 0;
    kc_value_each_item (limits->value, value) {
        kc__location limit = kc__location_item(limits, value, i++),
                     type = kc__location_member(&limit, "type");
        check_limit_type(&type);
        kc__validate_unique(&type, &seen);
        check_limit(&limit);
    }
}

static const kc__validate_rule range_rule_[] = {{"limits", .code = check_limits}};
static const kc__validate_rule_table range_rule = KC__VALIDATE_RULES(range_rule_);
static const kc__validate_rule range_object_[] = {{"spec", .of = &range_rule}};
static const kc__validate_rule_table range_rules = KC__VALIDATE_RULES(range_object_);

const kc__strategy kc__strategy_limit_range = {
    .upserts = true,
    .defaults = &range_defaults,
    .rules = &range_rules,
};
