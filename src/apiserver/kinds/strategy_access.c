/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strategy_access.c: Roles, ClusterRoles and their bindings. What a binding gives is for life: who
 * may change to whom it is given must not be able to change what.
 */
#include "apiserver/kinds/strategy.h"
#include "kc/diff.h"

#define GROUP "rbac.authorization.k8s.io"

/* ---- defaults ---- */

static void name_group(kc_edit *edit, kc_node *ref)
{
    if (kc_str_empty(kc__node_text(ref, "apiGroup")))
        kc_node_set(edit, ref, KC_STR("apiGroup"), kc_node_str(edit, KC_STR(GROUP)));
}

static void name_subject_group(kc_edit *edit, kc_node *subject)
{
    kc_str kind = kc__node_text(subject, "kind");
    if (kc_str_is(kind, "User") || kc_str_is(kind, "Group"))
        name_group(edit, subject);
}

static const kc__defaults role_ref = {.code = name_group};
static const kc__defaults subject = {.code = name_subject_group};
static const kc__default binding[] = {
    {.field = "roleRef", .of = &role_ref},
    {.field = "subjects", .of = &subject},
};
static const kc__defaults binding_defaults = KC__DEFAULTS(binding);

/* ---- rules of roles ---- */

static void check_targets(const kc__place *rule, bool namespaced)
{
    kc__place urls = kc__member(rule, "nonResourceURLs");
    kc__place groups = kc__member(rule, "apiGroups"), resources = kc__member(rule, "resources");
    if (kc__there(&urls)) {
        if (namespaced)
            kc__wrong(&urls, KC_FIELD_INVALID,
                      "namespaced rules cannot apply to non-resource URLs");
        if (kc__there(&groups) || kc__there(&resources) ||
            kc_len(kc_get(rule->value, "resourceNames")))
            kc__wrong(&urls, KC_FIELD_INVALID,
                      "rules cannot apply to both regular resources and non-resource URLs");
        return;
    }
    if (!kc__there(&groups))
        kc__wrong(&groups, KC_FIELD_REQUIRED, "resource rules must supply at least one api group");
    if (!kc__there(&resources))
        kc__wrong(&resources, KC_FIELD_REQUIRED,
                  "resource rules must supply at least one resource");
}

static void check_in_namespace(const kc__place *rule)
{
    check_targets(rule, true);
}

static void check_in_cluster(const kc__place *rule)
{
    check_targets(rule, false);
}

#define VERBS {"verbs", .required = "verbs must contain at least one value"}
static const kc__rule namespaced_rule_[] = {VERBS, {.code = check_in_namespace}};
static const kc__rule cluster_rule_[] = {VERBS, {.code = check_in_cluster}};
static const kc__rules namespaced_rule = KC__RULES(namespaced_rule_),
                       cluster_rule = KC__RULES(cluster_rule_);
static const kc__rule role_[] = {{"rules", .of = &namespaced_rule}};
static const kc__rules role_rules = KC__RULES(role_);

static void check_aggregation(const kc__place *aggregation)
{
    kc__place selectors = kc__member(aggregation, "clusterRoleSelectors");
    size_t i = 0;
    if (!aggregation->value)
        return;
    if (!kc__there(&selectors))
        kc__wrong(&selectors, KC_FIELD_REQUIRED,
                  "at least one clusterRoleSelector required if aggregationRule is non-nil");
    kc_items (selectors.value, value) {
        kc__place item = kc__item(&selectors, value, i++);
        kc__check_selector(&item);
    }
}

static const kc__rule cluster_role_[] = {
    {"rules", .of = &cluster_rule},
    {"aggregationRule", .code = check_aggregation},
};
static const kc__rules cluster_role_rules = KC__RULES(cluster_role_);

/* ---- bindings ---- */

static const char *const groups[] = {GROUP, NULL};
static const char *const role_kinds[] = {"Role", "ClusterRole", NULL};
static const char *const cluster_role_kinds[] = {"ClusterRole", NULL};

static void check_subject(const kc__place *place, bool namespaced)
{
    static const char *const kinds[] = {"ServiceAccount", "User", "Group", NULL};
    static const char *const none[] = {"", NULL};
    kc__place name = kc__member(place, "name"), group = kc__member(place, "apiGroup");
    kc__place kind = kc__member(place, "kind"), ns = kc__member(place, "namespace");
    if (!kc__there(&name))
        kc__wrong(&name, KC_FIELD_REQUIRED, NULL);
    if (kc__text_is(&kind, "ServiceAccount")) {
        if (kc__there(&name))
            kc__check_name(&name, KC_NAME_DNS_SUBDOMAIN);
        if (kc__there(&group))
            kc__not_supported(&group, none);
        if (!namespaced && !kc__there(&ns))
            kc__wrong(&ns, KC_FIELD_REQUIRED, NULL);
    } else if (!kc__text_is(&kind, "User") && !kc__text_is(&kind, "Group")) {
        kc__not_supported(&kind, kinds);
    } else if (!kc__text_is(&group, GROUP)) {
        kc__not_supported(&group, groups);
    }
}

static void check_subject_here(const kc__place *place)
{
    check_subject(place, true);
}

static void check_subject_anywhere(const kc__place *place)
{
    check_subject(place, false);
}

static const kc__rule subject_here_[] = {{.code = check_subject_here}};
static const kc__rule subject_anywhere_[] = {{.code = check_subject_anywhere}};
static const kc__rules subject_here = KC__RULES(subject_here_),
                       subject_anywhere = KC__RULES(subject_anywhere_);
static const kc__rule ref_[] = {
    {"apiGroup", .one_of = groups},
    {"kind", .one_of = role_kinds},
    {"name", .required = "", .name = &kc__path_segment},
};
static const kc__rule cluster_ref_[] = {
    {"apiGroup", .one_of = groups},
    {"kind", .one_of = cluster_role_kinds},
    {"name", .required = "", .name = &kc__path_segment},
};
static const kc__rules ref = KC__RULES(ref_), cluster_ref = KC__RULES(cluster_ref_);
static const kc__rule binding_[] = {{"roleRef", .of = &ref}, {"subjects", .of = &subject_here}};
static const kc__rule cluster_binding_[] = {{"roleRef", .of = &cluster_ref},
                                            {"subjects", .of = &subject_anywhere}};
static const kc__rules binding_rules = KC__RULES(binding_),
                       cluster_binding_rules = KC__RULES(cluster_binding_);

/* The error shows Kubernetes' own struct, whose fields are written as in Go. */
static void validate_binding_update(const kc_value *object, const kc_value *old,
                                    kc_field_errors *errors)
{
    kc__place root = kc__place_root(object, errors), now = kc__member(&root, "roleRef");
    if (kc_value_equal(now.value, kc_get(old, "roleRef"), NULL))
        return;
    kc__wrong_as(&now, KC_FIELD_INVALID,
                 kc_arena_printf(
                     &errors->arena, "{\"APIGroup\":\"%.*s\",\"Kind\":\"%.*s\",\"Name\":\"%.*s\"}",
                     KC_ARG(kc__text_in(&now, "apiGroup")), KC_ARG(kc__text_in(&now, "kind")),
                     KC_ARG(kc__text_in(&now, "name"))),
                 "cannot change roleRef");
}

const kc__strategy kc__strategy_role = {
    .names = KC_NAME_PATH_SEGMENT,
    .upserts = true,
    .rules = &role_rules,
};
const kc__strategy kc__strategy_cluster_role = {
    .names = KC_NAME_PATH_SEGMENT,
    .upserts = true,
    .rules = &cluster_role_rules,
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
    .validate_update = validate_binding_update,
};
