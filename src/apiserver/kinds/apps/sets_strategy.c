/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sets_strategy.c: the strategies of StatefulSets and DaemonSets.
 *
 * An annotation counts the changes of a DaemonSet's template; it replaces a field
 * (templateGeneration) of older API versions.
 */
#include "apiserver/kinds/apps/workload_rules.h"
#include "apiserver/kinds/strategy.h"
#include "apiserver/kinds/warnings.h"
#include "kc/diff.h"
#include "kc/meta.h"

#include <stdio.h>

#define TEMPLATE_GENERATION "deprecated.daemonset.template.generation"

/* ---- StatefulSet ---- */

static void choose_update(kc_edit *edit, kc_node *strategy)
{
    if (kc_str_empty(kc__defaults_node_text(strategy, "type"))) {
        kc__defaults_set(edit, strategy, "type", "\"RollingUpdate\"");
        kc__defaults_set(edit, strategy, "rollingUpdate", "{}");
    }
    kc_node *rolling = kc_node_get(strategy, KC_STR("rollingUpdate"));
    if (rolling && kc_str_is(kc__defaults_node_text(strategy, "type"), "RollingUpdate"))
        kc__defaults_set(edit, rolling, "partition", "0");
}
static const kc__defaults stateful_update = {.code = choose_update};

static const kc__defaults_entry retention_[] = {
    {.field = "whenDeleted", .json = "\"Retain\""},
    {.field = "whenScaled", .json = "\"Retain\""},
};
static const kc__defaults retention = KC__DEFAULTS(retention_);

/* Sets kind and apiVersion of a claim template. */
static void name_claim(kc_edit *edit, kc_node *claim)
{
    kc__defaults_set(edit, claim, "kind", "\"PersistentVolumeClaim\"");
    kc__defaults_set(edit, claim, "apiVersion", "\"v1\"");
    kc__defaults_apply(&kc__defaults_claim, edit, claim);
}
static const kc__defaults claim_template = {.code = name_claim};

static const kc__defaults_entry stateful_spec_[] = {
    {.field = "podManagementPolicy", .json = "\"OrderedReady\""},
    {.field = "updateStrategy", .json = "{}", .of = &stateful_update},
    {.field = "persistentVolumeClaimRetentionPolicy", .json = "{}", .of = &retention},
    {.field = "replicas", .json = "1"},
    {.field = "revisionHistoryLimit", .json = "10"},
    {.field = "template", .of = &kc__defaults_pod_template},
    {.field = "volumeClaimTemplates", .of = &claim_template},
};
static const kc__defaults stateful_spec = KC__DEFAULTS(stateful_spec_);
static const kc__defaults_entry stateful_[] = {{.field = "spec", .of = &stateful_spec}};
static const kc__defaults stateful_defaults = KC__DEFAULTS(stateful_);

static void check_management(const kc__location *policy)
{
    if (!kc__location_is_set(policy))
        kc__location_error(policy, KC_FIELD_REQUIRED, NULL);
    else if (!kc__location_text_is(policy, "OrderedReady") &&
             !kc__location_text_is(policy, "Parallel"))
        kc__location_error(policy, KC_FIELD_INVALID, "must be 'OrderedReady' or 'Parallel'");
}

static void check_stateful_update(const kc__location *strategy)
{
    kc__location type = kc__location_member(strategy, "type"),
                 rolling = kc__location_member(strategy, "rollingUpdate");
    kc__location partition = kc__location_member(&rolling, "partition");
    if (kc__location_text_is(&type, "RollingUpdate"))
        kc__validate_at_least_0(&partition);
    else if (!kc__location_text_is(&type, "OnDelete"))
        kc__location_error_json(strategy, KC_FIELD_INVALID,
                                kc_arena_printf(&strategy->errors->arena,
                                                "{\"Type\":\"%.*s\",\"RollingUpdate\":null}",
                                                KC_ARG(kc__location_text(&type))),
                                "must be 'RollingUpdate' or 'OnDelete'");
    else if (rolling.value)
        kc__location_error_json(&rolling, KC_FIELD_INVALID,
                                kc_arena_printf(&strategy->errors->arena,
                                                "{\"Partition\":%lld,\"MaxUnavailable\":null}",
                                                (long long)kc__location_number(&partition)),
                                "only allowed for updateStrategy 'RollingUpdate'");
}

/* Returns the template as its pods will be: the claims of the set become volumes, and the set
 * assigns the host names. */
static kc_view *template_with_claims(const kc__location *spec)
{
    const kc_value *claims = kc_value_get(spec->value, "volumeClaimTemplates");
    kc_auto(kc_edit) *edit = kc_edit_of_value(kc_value_get(spec->value, "template"));
    kc_node *pod = kc_node_get(kc_edit_root(edit), KC_STR("spec")), *volumes = kc_node_array(edit);
    kc_scoped(kc_map) names = {0};
    kc_node_remove(pod, KC_STR("subdomain"));
    kc_node_remove(pod, KC_STR("hostname"));
    kc_value_each_item (claims, claim) {
        kc_str name = kc_value_as_str(kc_value_get(kc_value_get(claim, "metadata"), "name"));
        kc_node *volume = kc_node_object(edit), *source = kc_node_object(edit);
        if (kc_map_put(&names, name, (void *)claim))
            continue;
        kc_node_set(edit, volume, KC_STR("name"), kc_node_str(edit, name));
        kc_node_set(edit, source, KC_STR("claimName"), kc_node_str(edit, name));
        kc_node_set(edit, volume, KC_STR("persistentVolumeClaim"), source);
        kc_node_append(volumes, volume);
    }
    kc_node_each_item (kc_node_get(pod, KC_STR("volumes")), volume)
        if (!kc_map_get(&names, kc__defaults_node_text(volume, "name")))
            kc_node_append(volumes, kc_node_clone(edit, volume));
    kc_node_set(edit, pod, KC_STR("volumes"), volumes);
    return kc_edit_view(edit, NULL);
}

static void check_stateful_template(const kc__location *spec)
{
    kc__location template = kc__location_member(spec, "template"), shown = template;
    kc__validate_workload_selector(spec, "statefulset");
    if (!template.value || !kc__validate_selector_matches(spec, ""))
        return;
    kc_auto(kc_view) *view = template_with_claims(spec);
    shown.value = kc_view_root(view);
    kc__validate_pod_template(&shown);
    kc__validate_runs_on(&template, "StatefulSet");
}

static const char *const retentions[] = {"Retain", "Delete", NULL};
static const kc__validate_rule retention_rule_[] = {
    {"whenDeleted", .one_of = retentions},
    {"whenScaled", .one_of = retentions},
};
static const kc__validate_rule_table retention_rules = KC__VALIDATE_RULES(retention_rule_);

static const kc__validate_rule ordinal_rule_[] = {{"start", .number = KC__VALIDATE_AT_LEAST_0}};
static const kc__validate_rule_table ordinal_rules = KC__VALIDATE_RULES(ordinal_rule_);
static const kc__validate_rule claim_template_rule_[] = {{"spec", .code = kc__validate_claim_spec}};
static const kc__validate_rule_table claim_template_rules =
    KC__VALIDATE_RULES(claim_template_rule_);

static const kc__validate_rule stateful_rule_[] = {
    {"podManagementPolicy", .code = check_management},
    {"updateStrategy", .code = check_stateful_update},
    {"persistentVolumeClaimRetentionPolicy", .of = &retention_rules},
    {"replicas", .number = KC__VALIDATE_AT_LEAST_0},
    {"minReadySeconds", .number = KC__VALIDATE_AT_LEAST_0},
    {"ordinals", .of = &ordinal_rules},
    {"volumeClaimTemplates", .of = &claim_template_rules},
    {.code = check_stateful_template},
};
static const kc__validate_rule_table stateful_rules = KC__VALIDATE_RULES(stateful_rule_);
static const kc__validate_rule stateful_object_[] = {{"spec", .of = &stateful_rules}};
static const kc__validate_rule_table stateful_object = KC__VALIDATE_RULES(stateful_object_);

static void validate_stateful(const kc_value *object, kc_field_errors *errors)
{
    kc__location root = kc__location_root(object, errors),
                 spec = kc__location_member(&root, "spec");
    kc__location name = kc__location_member(&spec, "serviceName");
    if (kc__location_is_set(&name))
        kc__validate_name(&name, KC_NAME_DNS_LABEL);
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
    kc__location root = kc__location_root(object, errors),
                 spec = kc__location_member(&root, "spec");
    kc_auto(kc_edit) *now = kc_edit_of_value(spec.value);
    kc_auto(kc_edit) *before = kc_edit_of_value(kc_value_get(old, "spec"));
    for (size_t i = 0; i < KC_COUNT(open); i++) {
        kc_node_remove(kc_edit_root(now), kc_cstr(open[i]));
        kc_node_remove(kc_edit_root(before), kc_cstr(open[i]));
    }
    kc_auto(kc_view) *x = kc_edit_view(now, NULL), *y = kc_edit_view(before, NULL);
    if (!kc_value_equal(kc_view_root(x), kc_view_root(y), NULL))
        kc__location_error(
            &spec, KC_FIELD_FORBIDDEN,
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
    kc__location root = kc__location_root(object, errors),
                 status = kc__location_member(&root, "status");
    (void)old;
    kc__validate_counts(&status, counts);
    kc__validate_counts_within(&status, within, "status.readyReplicas");
}

const kc__strategy kc__strategy_stateful_set = {
    .names = KC_NAME_DNS_LABEL,
    .generation = true,
    .defaults = &stateful_defaults,
    .rules = &stateful_object,
    .validate = validate_stateful,
    .validate_update = validate_stateful_update,
    .validate_status = validate_stateful_status,
    .warn = kc__warnings_pod_template,
    .warns_if_changed = "metadata.generation",
};

/* ---- DaemonSet ---- */

static void choose_daemon_update(kc_edit *edit, kc_node *strategy)
{
    kc__defaults_set(edit, strategy, "type", "\"RollingUpdate\"");
    if (!kc_str_is(kc__defaults_node_text(strategy, "type"), "RollingUpdate"))
        return;
    kc_node *rolling = kc__defaults_set(edit, strategy, "rollingUpdate", "{}");
    kc__defaults_set(edit, rolling, "maxUnavailable", "1");
    kc__defaults_set(edit, rolling, "maxSurge", "0");
}
static const kc__defaults daemon_update = {.code = choose_daemon_update};

static const kc__defaults_entry daemon_spec_[] = {
    {.field = "updateStrategy", .json = "{}", .of = &daemon_update},
    {.field = "revisionHistoryLimit", .json = "10"},
    {.field = "template", .of = &kc__defaults_pod_template},
};
static const kc__defaults daemon_spec = KC__DEFAULTS(daemon_spec_);
static const kc__defaults_entry daemon_[] = {{.field = "spec", .of = &daemon_spec}};

/* Conversion in Kubernetes adds the annotation to what a client sends, before ownership: so the
 * client owns it. */
static void add_template_generation(kc_edit *edit, kc_node *daemon)
{
    kc_node *metadata = kc_node_ensure_object(edit, daemon, KC_STR("metadata"));
    kc_node *annotations = kc_node_ensure_object(edit, metadata, KC_STR("annotations"));
    kc__defaults_set(edit, annotations, TEMPLATE_GENERATION, "\"0\"");
}

static const kc__defaults daemon_defaults = {
    .list = daemon_, .n = KC_COUNT(daemon_), .code = add_template_generation};

static void prepare_daemon(kc_edit *edit)
{
    kc_edit_set_annotation(edit, KC_STR(TEMPLATE_GENERATION), KC_STR("1"));
}

static void prepare_daemon_update(kc_edit *edit, const kc_value *old, const char *subresource)
{
    const kc_value *annotations = kc_value_get(kc_value_get(old, "metadata"), "annotations");
    kc_str before = kc_value_as_str(kc_value_get(annotations, TEMPLATE_GENERATION));
    int64_t count = 0;
    char text[24];
    if (subresource)
        return;
    kc_str_to_i64(before, &count);
    kc_auto(kc_view) *view = kc_edit_view(edit, NULL);
    const kc_value *now = kc_value_get(kc_value_get(kc_view_root(view), "spec"), "template");
    count += !kc_value_equal(now, kc_value_get(kc_value_get(old, "spec"), "template"), NULL);
    snprintf(text, sizeof(text), "%lld", (long long)count);
    kc_edit_set_annotation(edit, KC_STR(TEMPLATE_GENERATION), kc_cstr(text));
}

static void check_daemon_rolling(const kc__location *rolling)
{
    kc__location unavailable = kc__location_member(rolling, "maxUnavailable");
    kc__location surge = kc__location_member(rolling, "maxSurge");
    kc__validate_number_or_percent(&unavailable, true);
    kc__validate_number_or_percent(&surge, true);
    bool some = kc__location_number_or_percent(&unavailable) != 0,
         more = kc__location_number_or_percent(&surge) != 0;
    if (some && more)
        kc__location_error(&surge, KC_FIELD_INVALID,
                           "may not be set when maxUnavailable is non-zero");
    else if (!some && !more)
        kc__location_error(&unavailable, KC_FIELD_REQUIRED, "cannot be 0 when maxSurge is 0");
}

static void check_daemon_update(const kc__location *strategy)
{
    kc__location type = kc__location_member(strategy, "type"),
                 rolling = kc__location_member(strategy, "rollingUpdate");
    if (kc__location_text_is(&type, "RollingUpdate"))
        check_daemon_rolling(&rolling);
    else if (!kc__location_text_is(&type, "OnDelete"))
        kc__location_error_json(strategy, KC_FIELD_NOT_SUPPORTED,
                                kc_arena_printf(&strategy->errors->arena,
                                                "{\"Type\":\"%.*s\",\"RollingUpdate\":null}",
                                                KC_ARG(kc__location_text(&type))),
                                "supported values: \"RollingUpdate\", \"OnDelete\"");
}

static void check_daemon_template(const kc__location *spec)
{
    kc__location selector = kc__location_member(spec, "selector"),
                 template = kc__location_member(spec, "template");
    size_t before = spec->errors->list.n;
    kc__validate_selector(&selector);
    if (spec->errors->list.n == before)
        kc__validate_selector_matches(spec, "");
    if (selector.value && !kc_value_len(kc_value_get(selector.value, "matchLabels")) &&
        !kc_value_len(kc_value_get(selector.value, "matchExpressions")))
        kc__location_error(&selector, KC_FIELD_INVALID, "empty selector is invalid for daemonset");
    kc__validate_pod_template(&template);
    kc__validate_runs_on(&template, "DaemonSet");
}

static const kc__validate_rule daemon_rule_[] = {
    {.code = check_daemon_template},
    {"minReadySeconds", .number = KC__VALIDATE_AT_LEAST_0},
    {"updateStrategy", .code = check_daemon_update},
    {"revisionHistoryLimit", .number = KC__VALIDATE_AT_LEAST_0},
};
static const kc__validate_rule_table daemon_rules = KC__VALIDATE_RULES(daemon_rule_);

static void validate_daemon(const kc_value *object, kc_field_errors *errors)
{
    kc__location root = kc__location_root(object, errors),
                 spec = kc__location_member(&root, "spec");
    kc__validate_by_rules(&daemon_rules, &spec);
}

static void validate_daemon_update(const kc_value *object, const kc_value *old,
                                   kc_field_errors *errors)
{
    kc__location root = kc__location_root(object, errors),
                 spec = kc__location_member(&root, "spec");
    kc__location selector = kc__location_member(&spec, "selector");
    kc__validate_same(&selector, kc_value_get(kc_value_get(old, "spec"), "selector"));
    kc__validate_by_rules(&daemon_rules, &spec);
}

static void validate_daemon_status(const kc_value *object, const kc_value *old,
                                   kc_field_errors *errors)
{
    static const char *const counts[] = {"currentNumberScheduled", "numberMisscheduled",
                                         "desiredNumberScheduled", "numberReady",
                                         "observedGeneration",     "updatedNumberScheduled",
                                         "numberAvailable",        "numberUnavailable",
                                         "collisionCount",         NULL};
    kc__location root = kc__location_root(object, errors),
                 status = kc__location_member(&root, "status");
    (void)old;
    kc__validate_counts(&status, counts);
}

const kc__strategy kc__strategy_daemon_set = {
    .generation = true,
    .defaults = &daemon_defaults,
    .prepare = prepare_daemon,
    .prepare_update = prepare_daemon_update,
    .validate = validate_daemon,
    .validate_update = validate_daemon_update,
    .validate_status = validate_daemon_status,
    .warn = kc__warnings_pod_template,
    .warns_if_changed = "spec.template",
};
