/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strategy_sets.c: StatefulSets and DaemonSets.
 *
 * How often the template of a DaemonSet changed is kept in an annotation, which is what became of a
 * field that older versions of the API had.
 */
#include "apiserver/kinds/strategy.h"
#include "apiserver/kinds/warnings.h"
#include "apiserver/kinds/workload_rules.h"
#include "kc/diff.h"
#include "kc/meta.h"

#include <stdio.h>

#define TEMPLATE_GENERATION "deprecated.daemonset.template.generation"

/* ---- StatefulSet ---- */

static void choose_update(kc_edit *edit, kc_node *strategy)
{
    if (kc_str_empty(kc__node_text(strategy, "type"))) {
        kc__default_set(edit, strategy, "type", "\"RollingUpdate\"");
        kc__default_set(edit, strategy, "rollingUpdate", "{}");
    }
    kc_node *rolling = kc_node_get(strategy, KC_STR("rollingUpdate"));
    if (rolling && kc_str_is(kc__node_text(strategy, "type"), "RollingUpdate"))
        kc__default_set(edit, rolling, "partition", "0");
}
static const kc__defaults stateful_update = {.code = choose_update};

static const kc__default retention_[] = {
    {.field = "whenDeleted", .json = "\"Retain\""},
    {.field = "whenScaled", .json = "\"Retain\""},
};
static const kc__defaults retention = KC__DEFAULTS(retention_);

/* Claims in a template say what they are. */
static void name_claim(kc_edit *edit, kc_node *claim)
{
    kc__default_set(edit, claim, "kind", "\"PersistentVolumeClaim\"");
    kc__default_set(edit, claim, "apiVersion", "\"v1\"");
    kc__defaults_apply(&kc__claim_defaults, edit, claim);
}
static const kc__defaults claim_template = {.code = name_claim};

static const kc__default stateful_spec_[] = {
    {.field = "podManagementPolicy", .json = "\"OrderedReady\""},
    {.field = "updateStrategy", .json = "{}", .of = &stateful_update},
    {.field = "persistentVolumeClaimRetentionPolicy", .json = "{}", .of = &retention},
    {.field = "replicas", .json = "1"},
    {.field = "revisionHistoryLimit", .json = "10"},
    {.field = "template", .of = &kc__pod_template_defaults},
    {.field = "volumeClaimTemplates", .of = &claim_template},
};
static const kc__defaults stateful_spec = KC__DEFAULTS(stateful_spec_);
static const kc__default stateful_[] = {{.field = "spec", .of = &stateful_spec}};
static const kc__defaults stateful_defaults = KC__DEFAULTS(stateful_);

static void check_management(const kc__place *policy)
{
    if (!kc__there(policy))
        kc__wrong(policy, KC_FIELD_REQUIRED, NULL);
    else if (!kc__text_is(policy, "OrderedReady") && !kc__text_is(policy, "Parallel"))
        kc__wrong(policy, KC_FIELD_INVALID, "must be 'OrderedReady' or 'Parallel'");
}

static void check_stateful_update(const kc__place *strategy)
{
    kc__place type = kc__member(strategy, "type"), rolling = kc__member(strategy, "rollingUpdate");
    kc__place partition = kc__member(&rolling, "partition");
    if (kc__text_is(&type, "RollingUpdate"))
        kc__check_at_least_0(&partition);
    else if (!kc__text_is(&type, "OnDelete"))
        kc__wrong_as(strategy, KC_FIELD_INVALID,
                     kc_arena_printf(&strategy->errors->arena,
                                     "{\"Type\":\"%.*s\",\"RollingUpdate\":null}",
                                     KC_ARG(kc__text(&type))),
                     "must be 'RollingUpdate' or 'OnDelete'");
    else if (rolling.value)
        kc__wrong_as(&rolling, KC_FIELD_INVALID,
                     kc_arena_printf(&strategy->errors->arena,
                                     "{\"Partition\":%lld,\"MaxUnavailable\":null}",
                                     (long long)kc__number(&partition)),
                     "only allowed for updateStrategy 'RollingUpdate'");
}

/* The claims of the set are volumes of its pods, and names are given by it. */
static kc_view *template_with_claims(const kc__place *spec)
{
    const kc_value *claims = kc_get(spec->value, "volumeClaimTemplates");
    kc_auto(kc_edit) *edit = kc_edit_of_value(kc_get(spec->value, "template"));
    kc_node *pod = kc_node_get(kc_edit_root(edit), KC_STR("spec")), *volumes = kc_node_array(edit);
    kc_scoped(kc_map) names = {0};
    kc_node_remove(pod, KC_STR("subdomain"));
    kc_node_remove(pod, KC_STR("hostname"));
    kc_items (claims, claim) {
        kc_str name = kc_as_str(kc_get(kc_get(claim, "metadata"), "name"));
        kc_node *volume = kc_node_object(edit), *source = kc_node_object(edit);
        if (kc_map_put(&names, name, (void *)claim))
            continue;
        kc_node_set(edit, volume, KC_STR("name"), kc_node_str(edit, name));
        kc_node_set(edit, source, KC_STR("claimName"), kc_node_str(edit, name));
        kc_node_set(edit, volume, KC_STR("persistentVolumeClaim"), source);
        kc_node_append(volumes, volume);
    }
    kc_node_items (kc_node_get(pod, KC_STR("volumes")), volume)
        if (!kc_map_get(&names, kc__node_text(volume, "name")))
            kc_node_append(volumes, kc_node_clone(edit, volume));
    kc_node_set(edit, pod, KC_STR("volumes"), volumes);
    return kc_edit_view(edit, NULL);
}

static void check_stateful_template(const kc__place *spec)
{
    kc__place template = kc__member(spec, "template"), shown = template;
    kc__check_workload_selector(spec, "statefulset");
    if (!template.value || !kc__check_selector_matches(spec, ""))
        return;
    kc_auto(kc_view) *view = template_with_claims(spec);
    shown.value = kc_view_root(view);
    kc__check_pod_template(&shown);
    kc__check_runs_on(&template, "StatefulSet");
}

static const char *const retentions[] = {"Retain", "Delete", NULL};
static const kc__rule retention_rule_[] = {
    {"whenDeleted", .one_of = retentions},
    {"whenScaled", .one_of = retentions},
};
static const kc__rules retention_rules = KC__RULES(retention_rule_);

static const kc__rule ordinal_rule_[] = {{"start", .number = KC__AT_LEAST_0}};
static const kc__rules ordinal_rules = KC__RULES(ordinal_rule_);
static const kc__rule claim_template_rule_[] = {{"spec", .code = kc__check_claim_spec}};
static const kc__rules claim_template_rules = KC__RULES(claim_template_rule_);

static const kc__rule stateful_rule_[] = {
    {"podManagementPolicy", .code = check_management},
    {"updateStrategy", .code = check_stateful_update},
    {"persistentVolumeClaimRetentionPolicy", .of = &retention_rules},
    {"replicas", .number = KC__AT_LEAST_0},
    {"minReadySeconds", .number = KC__AT_LEAST_0},
    {"ordinals", .of = &ordinal_rules},
    {"volumeClaimTemplates", .of = &claim_template_rules},
    {.code = check_stateful_template},
};
static const kc__rules stateful_rules = KC__RULES(stateful_rule_);
static const kc__rule stateful_object_[] = {{"spec", .of = &stateful_rules}};
static const kc__rules stateful_object = KC__RULES(stateful_object_);

static void validate_stateful(const kc_value *object, kc_field_errors *errors)
{
    kc__place root = kc__place_root(object, errors), spec = kc__member(&root, "spec");
    kc__place name = kc__member(&spec, "serviceName");
    if (kc__there(&name))
        kc__check_name(&name, KC_NAME_DNS_LABEL);
}

static void validate_stateful_update(const kc_value *object, const kc_value *old,
                                     kc_field_errors *errors)
{
    static const char *const open[] = {"replicas",
                                       "template",
                                       "updateStrategy",
                                       "minReadySeconds",
                                       "ordinals",
                                       "revisionHistoryLimit",
                                       "persistentVolumeClaimRetentionPolicy"};
    kc__place root = kc__place_root(object, errors), spec = kc__member(&root, "spec");
    kc_auto(kc_edit) *now = kc_edit_of_value(spec.value);
    kc_auto(kc_edit) *before = kc_edit_of_value(kc_get(old, "spec"));
    for (size_t i = 0; i < KC_COUNT(open); i++) {
        kc_node_remove(kc_edit_root(now), kc_cstr(open[i]));
        kc_node_remove(kc_edit_root(before), kc_cstr(open[i]));
    }
    kc_auto(kc_view) *x = kc_edit_view(now, NULL), *y = kc_edit_view(before, NULL);
    if (!kc_value_equal(kc_view_root(x), kc_view_root(y), NULL))
        kc__wrong(&spec, KC_FIELD_FORBIDDEN,
                  "updates to statefulset spec for fields other than 'replicas', 'ordinals', "
                  "'template', 'updateStrategy', 'revisionHistoryLimit', "
                  "'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden");
}

static void validate_stateful_status(const kc_value *object, const kc_value *old,
                                     kc_field_errors *errors)
{
    static const char *const counts[] = {
        "replicas",          "readyReplicas",      "currentReplicas", "updatedReplicas",
        "availableReplicas", "observedGeneration", "collisionCount",  NULL};
    static const char *const within[] = {"readyReplicas", "currentReplicas", "updatedReplicas",
                                         "availableReplicas", NULL};
    kc__place root = kc__place_root(object, errors), status = kc__member(&root, "status");
    (void)old;
    kc__check_counts(&status, counts);
    kc__check_counts_within(&status, within, "status.readyReplicas");
}

const kc__strategy kc__strategy_stateful_set = {
    .names = KC_NAME_DNS_LABEL,
    .generation = true,
    .defaults = &stateful_defaults,
    .rules = &stateful_object,
    .validate = validate_stateful,
    .validate_update = validate_stateful_update,
    .validate_status = validate_stateful_status,
    .warn = kc__template_warnings,
};

/* ---- DaemonSet ---- */

static void choose_daemon_update(kc_edit *edit, kc_node *strategy)
{
    kc__default_set(edit, strategy, "type", "\"RollingUpdate\"");
    if (!kc_str_is(kc__node_text(strategy, "type"), "RollingUpdate"))
        return;
    kc_node *rolling = kc__default_set(edit, strategy, "rollingUpdate", "{}");
    kc__default_set(edit, rolling, "maxUnavailable", "1");
    kc__default_set(edit, rolling, "maxSurge", "0");
}
static const kc__defaults daemon_update = {.code = choose_daemon_update};

static const kc__default daemon_spec_[] = {
    {.field = "updateStrategy", .json = "{}", .of = &daemon_update},
    {.field = "revisionHistoryLimit", .json = "10"},
    {.field = "template", .of = &kc__pod_template_defaults},
};
static const kc__defaults daemon_spec = KC__DEFAULTS(daemon_spec_);
static const kc__default daemon_[] = {{.field = "spec", .of = &daemon_spec}};
static const kc__defaults daemon_defaults = KC__DEFAULTS(daemon_);

static void prepare_daemon(kc_edit *edit)
{
    kc_edit_set_annotation(edit, KC_STR(TEMPLATE_GENERATION), KC_STR("1"));
}

static void prepare_daemon_update(kc_edit *edit, const kc_value *old, const char *subresource)
{
    const kc_value *annotations = kc_get(kc_get(old, "metadata"), "annotations");
    kc_str before = kc_as_str(kc_get(annotations, TEMPLATE_GENERATION));
    int64_t count = 0;
    char text[24];
    if (subresource)
        return;
    kc_str_to_i64(before, &count);
    kc_auto(kc_view) *view = kc_edit_view(edit, NULL);
    const kc_value *now = kc_get(kc_get(kc_view_root(view), "spec"), "template");
    count += !kc_value_equal(now, kc_get(kc_get(old, "spec"), "template"), NULL);
    snprintf(text, sizeof(text), "%lld", (long long)count);
    kc_edit_set_annotation(edit, KC_STR(TEMPLATE_GENERATION), kc_cstr(text));
}

static void check_daemon_rolling(const kc__place *rolling)
{
    kc__place unavailable = kc__member(rolling, "maxUnavailable");
    kc__place surge = kc__member(rolling, "maxSurge");
    kc__check_number_or_percent(&unavailable, true);
    kc__check_number_or_percent(&surge, true);
    bool some = kc__number_or_percent(&unavailable) != 0, more = kc__number_or_percent(&surge) != 0;
    if (some && more)
        kc__wrong(&surge, KC_FIELD_INVALID, "may not be set when maxUnavailable is non-zero");
    else if (!some && !more)
        kc__wrong(&unavailable, KC_FIELD_REQUIRED, "cannot be 0 when maxSurge is 0");
}

static void check_daemon_update(const kc__place *strategy)
{
    kc__place type = kc__member(strategy, "type"), rolling = kc__member(strategy, "rollingUpdate");
    if (kc__text_is(&type, "RollingUpdate"))
        check_daemon_rolling(&rolling);
    else if (!kc__text_is(&type, "OnDelete"))
        kc__wrong_as(strategy, KC_FIELD_NOT_SUPPORTED,
                     kc_arena_printf(&strategy->errors->arena,
                                     "{\"Type\":\"%.*s\",\"RollingUpdate\":null}",
                                     KC_ARG(kc__text(&type))),
                     "supported values: \"RollingUpdate\", \"OnDelete\"");
}

static void check_daemon_template(const kc__place *spec)
{
    kc__place selector = kc__member(spec, "selector"), template = kc__member(spec, "template");
    size_t before = spec->errors->list.n;
    kc__check_selector(&selector);
    if (spec->errors->list.n == before)
        kc__check_selector_matches(spec, "");
    if (selector.value && !kc_len(kc_get(selector.value, "matchLabels")) &&
        !kc_len(kc_get(selector.value, "matchExpressions")))
        kc__wrong(&selector, KC_FIELD_INVALID, "empty selector is invalid for daemonset");
    kc__check_pod_template(&template);
    kc__check_runs_on(&template, "DaemonSet");
}

static const kc__rule daemon_rule_[] = {
    {.code = check_daemon_template},
    {"minReadySeconds", .number = KC__AT_LEAST_0},
    {"updateStrategy", .code = check_daemon_update},
    {"revisionHistoryLimit", .number = KC__AT_LEAST_0},
};
static const kc__rules daemon_rules = KC__RULES(daemon_rule_);

static void validate_daemon(const kc_value *object, kc_field_errors *errors)
{
    kc__place root = kc__place_root(object, errors), spec = kc__member(&root, "spec");
    kc__rules_check(&daemon_rules, &spec);
}

static void validate_daemon_update(const kc_value *object, const kc_value *old,
                                   kc_field_errors *errors)
{
    kc__place root = kc__place_root(object, errors), spec = kc__member(&root, "spec");
    kc__place selector = kc__member(&spec, "selector");
    kc__check_same(&selector, kc_get(kc_get(old, "spec"), "selector"));
    kc__rules_check(&daemon_rules, &spec);
}

static void validate_daemon_status(const kc_value *object, const kc_value *old,
                                   kc_field_errors *errors)
{
    static const char *const counts[] = {"currentNumberScheduled", "numberMisscheduled",
                                         "desiredNumberScheduled", "numberReady",
                                         "observedGeneration",     "updatedNumberScheduled",
                                         "numberAvailable",        "numberUnavailable",
                                         "collisionCount",         NULL};
    kc__place root = kc__place_root(object, errors), status = kc__member(&root, "status");
    (void)old;
    kc__check_counts(&status, counts);
}

const kc__strategy kc__strategy_daemon_set = {
    .generation = true,
    .defaults = &daemon_defaults,
    .prepare = prepare_daemon,
    .prepare_update = prepare_daemon_update,
    .validate = validate_daemon,
    .validate_update = validate_daemon_update,
    .validate_status = validate_daemon_status,
    .warn = kc__template_warnings,
};
