/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rbac_strategy.c: the strategies of Roles, ClusterRoles and their bindings. The roleRef of a
 * binding is immutable: a user who may change the subjects must not be able to change the role.
 */
#include "apiserver/kinds/strategy.h"
#include "kc/diff.h"
#include "kc/selector.h"

#define GROUP "rbac.authorization.k8s.io"

/* ---- defaults ---- */

static void name_group(kc_edit *edit, kc_node *ref)
{
    if (kc_str_empty(kc__defaults_node_text(ref, "apiGroup")))
        kc_node_set(edit, ref, KC_STR("apiGroup"), kc_node_str(edit, KC_STR(GROUP)));
}

static void name_subject_group(kc_edit *edit, kc_node *subject)
{
    kc_str kind = kc__defaults_node_text(subject, "kind");
    if (kc_str_is(kind, "User") || kc_str_is(kind, "Group"))
        name_group(edit, subject);
}

static const kc__defaults role_ref = {.code = name_group};
static const kc__defaults subject = {.code = name_subject_group};
static const kc__defaults_entry binding[] = {
    {.field = "roleRef", .of = &role_ref},
    {.field = "subjects", .of = &subject},
};
static const kc__defaults binding_defaults = KC__DEFAULTS(binding);

/* ---- rules of roles ---- */

static void check_targets(const kc__location *rule, bool namespaced)
{
    kc__location urls = kc__location_member(rule, "nonResourceURLs");
    kc__location groups = kc__location_member(rule, "apiGroups"),
                 resources = kc__location_member(rule, "resources");
    if (kc__location_is_set(&urls)) {
        if (namespaced)
            kc__location_error(&urls, KC_FIELD_INVALID,
                               "namespaced rules cannot apply to non-resource URLs");
        if (kc__location_is_set(&groups) || kc__location_is_set(&resources) ||
            kc_value_len(kc_value_get(rule->value, "resourceNames")))
            kc__location_error(
                &urls, KC_FIELD_INVALID,
                "rules cannot apply to both regular resources and non-resource URLs");
        return;
    }
    if (!kc__location_is_set(&groups))
        kc__location_error(&groups, KC_FIELD_REQUIRED,
                           "resource rules must supply at least one api group");
    if (!kc__location_is_set(&resources))
        kc__location_error(&resources, KC_FIELD_REQUIRED,
                           "resource rules must supply at least one resource");
}

static void check_in_namespace(const kc__location *rule)
{
    check_targets(rule, true);
}

static void check_in_cluster(const kc__location *rule)
{
    check_targets(rule, false);
}

#define VERBS {"verbs", .required = "verbs must contain at least one value"}
static const kc__validate_rule namespaced_rule_[] = {VERBS, {.code = check_in_namespace}};
static const kc__validate_rule cluster_rule_[] = {VERBS, {.code = check_in_cluster}};
static const kc__validate_rule_table namespaced_rule = KC__VALIDATE_RULES(namespaced_rule_),
                                     cluster_rule = KC__VALIDATE_RULES(cluster_rule_);
static const kc__validate_rule role_[] = {{"rules", .of = &namespaced_rule}};
static const kc__validate_rule_table role_rules = KC__VALIDATE_RULES(role_);

static void check_aggregation(const kc__location *aggregation)
{
    kc__location selectors = kc__location_member(aggregation, "clusterRoleSelectors");
    size_t i = 0;
    if (!aggregation->value)
        return;
    if (!kc__location_is_set(&selectors))
        kc__location_error(
            &selectors, KC_FIELD_REQUIRED,
            "at least one clusterRoleSelector required if aggregationRule is non-nil");
    kc_value_each_item (selectors.value, value) {
        kc__location item = kc__location_item(&selectors, value, i++);
        kc__validate_selector(&item);
        kc_auto(kc_selector) *selector = kc_selector_of(value, NULL);
        if (!selector)
            kc__location_error_json(&item, KC_FIELD_INVALID, "null", "invalid label selector.");
    }
}

static const kc__validate_rule cluster_role_[] = {
    {"rules", .of = &cluster_rule},
    {"aggregationRule", .code = check_aggregation},
};
static const kc__validate_rule_table cluster_role_rules = KC__VALIDATE_RULES(cluster_role_);

/* ---- bindings ---- */

static const char *const groups[] = {GROUP, NULL};
static const char *const role_kinds[] = {"Role", "ClusterRole", NULL};
static const char *const cluster_role_kinds[] = {"ClusterRole", NULL};

static void check_subject(const kc__location *location, bool namespaced)
{
    static const char *const kinds[] = {"ServiceAccount", "User", "Group", NULL};
    static const char *const none[] = {"", NULL};
    kc__location name = kc__location_member(location, "name"),
                 group = kc__location_member(location, "apiGroup");
    kc__location kind = kc__location_member(location, "kind"),
                 ns = kc__location_member(location, "namespace");
    if (!kc__location_is_set(&name))
        kc__location_error(&name, KC_FIELD_REQUIRED, NULL);
    if (kc__location_text_is(&kind, "ServiceAccount")) {
        if (kc__location_is_set(&name))
            kc__validate_name(&name, KC_NAME_DNS_SUBDOMAIN);
        if (kc__location_is_set(&group))
            kc__location_not_supported(&group, none);
        if (!namespaced && !kc__location_is_set(&ns))
            kc__location_error(&ns, KC_FIELD_REQUIRED, NULL);
    } else if (!kc__location_text_is(&kind, "User") && !kc__location_text_is(&kind, "Group")) {
        kc__location_not_supported(&kind, kinds);
    } else if (!kc__location_text_is(&group, GROUP)) {
        kc__location_not_supported(&group, groups);
    }
}

static void check_subject_here(const kc__location *location)
{
    check_subject(location, true);
}

static void check_subject_anywhere(const kc__location *location)
{
    check_subject(location, false);
}

static const kc__validate_rule subject_here_[] = {{.code = check_subject_here}};
static const kc__validate_rule subject_anywhere_[] = {{.code = check_subject_anywhere}};
static const kc__validate_rule_table subject_here = KC__VALIDATE_RULES(subject_here_),
                                     subject_anywhere = KC__VALIDATE_RULES(subject_anywhere_);
static const kc__validate_rule ref_[] = {
    {"apiGroup", .one_of = groups},
    {"kind", .one_of = role_kinds},
    {"name", .required = "", .name = &kc__validate_name_path_segment},
};
static const kc__validate_rule cluster_ref_[] = {
    {"apiGroup", .one_of = groups},
    {"kind", .one_of = cluster_role_kinds},
    {"name", .required = "", .name = &kc__validate_name_path_segment},
};
static const kc__validate_rule_table ref = KC__VALIDATE_RULES(ref_),
                                     cluster_ref = KC__VALIDATE_RULES(cluster_ref_);
static const kc__validate_rule binding_[] = {{"roleRef", .of = &ref},
                                             {"subjects", .of = &subject_here}};
static const kc__validate_rule cluster_binding_[] = {{"roleRef", .of = &cluster_ref},
                                                     {"subjects", .of = &subject_anywhere}};
static const kc__validate_rule_table binding_rules = KC__VALIDATE_RULES(binding_),
                                     cluster_binding_rules = KC__VALIDATE_RULES(cluster_binding_);

/* ---- updates ---- */

/* Kubernetes validates an update twice, and reports each error twice. */
static void validate_again(const kc__validate_rule_table *rules, const kc_value *object,
                           kc_field_errors *errors)
{
    kc__location root = kc__location_root(object, errors);
    kc__validate_by_rules(rules, &root);
}

static void validate_role_update(const kc_value *object, const kc_value *old,
                                 kc_field_errors *errors)
{
    (void)old;
    validate_again(&role_rules, object, errors);
}

static void validate_cluster_role_update(const kc_value *object, const kc_value *old,
                                         kc_field_errors *errors)
{
    (void)old;
    validate_again(&cluster_role_rules, object, errors);
}

/* The error shows Kubernetes' internal struct, with Go's field names. */
static void check_role_ref(const kc_value *object, const kc_value *old, kc_field_errors *errors)
{
    kc__location root = kc__location_root(object, errors),
                 now = kc__location_member(&root, "roleRef");
    if (kc_value_equal(now.value, kc_value_get(old, "roleRef"), NULL))
        return;
    kc__location_error_json(
        &now, KC_FIELD_INVALID,
        kc_arena_printf(&errors->arena,
                        "{\"APIGroup\":\"%.*s\",\"Kind\":\"%.*s\",\"Name\":\"%.*s\"}",
                        KC_ARG(kc__location_member_text(&now, "apiGroup")),
                        KC_ARG(kc__location_member_text(&now, "kind")),
                        KC_ARG(kc__location_member_text(&now, "name"))),
        "cannot change roleRef");
}

static void validate_binding_update(const kc_value *object, const kc_value *old,
                                    kc_field_errors *errors)
{
    validate_again(&binding_rules, object, errors);
    check_role_ref(object, old, errors);
}

static void validate_cluster_binding_update(const kc_value *object, const kc_value *old,
                                            kc_field_errors *errors)
{
    validate_again(&cluster_binding_rules, object, errors);
    check_role_ref(object, old, errors);
}

const kc__strategy kc__strategy_role = {
    .names = KC_NAME_PATH_SEGMENT,
    .upserts = true,
    .rules = &role_rules,
    .validate_update = validate_role_update,
};
const kc__strategy kc__strategy_cluster_role = {
    .names = KC_NAME_PATH_SEGMENT,
    .upserts = true,
    .rules = &cluster_role_rules,
    .validate_update = validate_cluster_role_update,
};
const kc__strategy kc__strategy_role_binding = {
    .names = KC_NAME_PATH_SEGMENT,
    .upserts = true,
    .defaults = &binding_defaults,
    .rules = &binding_rules,
    .validate_update = validate_binding_update,
};
const kc__strategy kc__strategy_cluster_role_binding = {
    .names = KC_NAME_PATH_SEGMENT,
    .upserts = true,
    .defaults = &binding_defaults,
    .rules = &cluster_binding_rules,
    .validate_update = validate_cluster_binding_update,
};
