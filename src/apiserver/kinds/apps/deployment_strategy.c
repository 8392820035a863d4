/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deployment_strategy.c: the strategies of Deployments, ReplicaSets and ReplicationControllers,
 * which keep a number of pods of a template running.
 */
#include "apiserver/kinds/apps/workload_rules.h"
#include "apiserver/kinds/strategy.h"
#include "apiserver/kinds/warnings.h"
#include "kc/diff.h"
#include "object/model/value_members.h"

/* ---- defaults ---- */

static void choose_rolling(kc_edit *edit, kc_node *strategy)
{
    kc__defaults_set(edit, strategy, "type", "\"RollingUpdate\"");
    if (kc_str_is(kc__defaults_node_text(strategy, "type"), "RollingUpdate")) {
        kc_node *rolling = kc__defaults_set(edit, strategy, "rollingUpdate", "{}");
        kc__defaults_set(edit, rolling, "maxUnavailable", "\"25%\"");
        kc__defaults_set(edit, rolling, "maxSurge", "\"25%\"");
    }
}
static const kc__defaults strategy_defaults = {.code = choose_rolling};

static const kc__defaults_entry deployment_spec[] = {
    {.field = "replicas", .json = "1"},
    {.field = "template", .of = &kc__defaults_pod_template},
    {.field = "strategy", .json = "{}", .of = &strategy_defaults},
    {.field = "revisionHistoryLimit", .json = "10"},
    {.field = "progressDeadlineSeconds", .json = "600"},
};
static const kc__defaults deployment_spec_defaults = KC__DEFAULTS(deployment_spec);
static const kc__defaults_entry deployment[] = {{.field = "spec", .of = &deployment_spec_defaults}};
static const kc__defaults deployment_defaults = KC__DEFAULTS(deployment);

static const kc__defaults_entry replica_set_spec[] = {
    {.field = "replicas", .json = "1"},
    {.field = "template", .of = &kc__defaults_pod_template},
};
static const kc__defaults replica_set_spec_defaults = KC__DEFAULTS(replica_set_spec);
static const kc__defaults_entry replica_set[] = {
    {.field = "spec", .of = &replica_set_spec_defaults}};
static const kc__defaults replica_set_defaults = KC__DEFAULTS(replica_set);

/* ---- validation of the spec ---- */

static void check_rolling(const kc__location *rolling)
{
    kc__location unavailable = kc__location_member(rolling, "maxUnavailable");
    kc__location surge = kc__location_member(rolling, "maxSurge");
    kc__validate_number_or_percent(&unavailable, false);
    kc__validate_number_or_percent(&surge, false);
    if (kc__location_number_or_percent(&unavailable) == 0 &&
        kc__location_number_or_percent(&surge) == 0)
        kc__location_error(&unavailable, KC_FIELD_INVALID, "may not be 0 when `maxSurge` is 0");
    if (kc_value_type(unavailable.value) == KC_JSON_STRING &&
        kc__location_number_or_percent(&unavailable) > 100)
        kc__location_error(&unavailable, KC_FIELD_INVALID, "must not be greater than 100%%");
}

static void check_strategy(const kc__location *strategy)
{
    kc__location type = kc__location_member(strategy, "type"),
                 rolling = kc__location_member(strategy, "rollingUpdate");
    if (kc__location_text_is(&type, "RollingUpdate")) {
        check_rolling(&rolling);
    } else if (!kc__location_text_is(&type, "Recreate")) {
        kc__location_error_json(strategy, KC_FIELD_NOT_SUPPORTED,
                                kc_arena_printf(&strategy->errors->arena,
                                                "{\"Type\":\"%.*s\",\"RollingUpdate\":null}",
                                                KC_ARG(kc__location_text(&type))),
                                "supported values: \"Recreate\", \"RollingUpdate\"");
    } else if (rolling.value) {
        kc__location_error(&rolling, KC_FIELD_FORBIDDEN,
                           "may not be specified when strategy `type` is 'Recreate'");
    }
}

/* Validates the selector, and that it matches the labels of the template. */
static void check_template(const kc__location *spec)
{
    kc__location template = kc__location_member(spec, "template");
    kc__validate_workload_selector(spec, "deployment");
    if (!kc__validate_selector_matches(spec, "invalid label selector"))
        return;
    kc__validate_pod_template(&template);
    kc__validate_runs_on(&template, "ReplicaSet");
}

static void check_deadline(const kc__location *spec)
{
    kc__location deadline = kc__location_member(spec, "progressDeadlineSeconds");
    if (!deadline.value)
        return;
    kc__validate_at_least_0(&deadline);
    if (kc__location_number(&deadline) <=
        kc_value_as_i64_or(kc_value_get(spec->value, "minReadySeconds"), 0))
        kc__location_error(&deadline, KC_FIELD_INVALID, "must be greater than minReadySeconds");
}

static const kc__validate_rule deployment_[] = {
    {"replicas", .number = KC__VALIDATE_AT_LEAST_0},
    {.code = check_template},
    {"strategy", .code = check_strategy},
    {"minReadySeconds", .number = KC__VALIDATE_AT_LEAST_0},
    {"revisionHistoryLimit", .number = KC__VALIDATE_AT_LEAST_0},
    {.code = check_deadline},
};
static const kc__validate_rule_table deployment_rules = KC__VALIDATE_RULES(deployment_);

static const kc__validate_rule replica_set_[] = {
    {"replicas", .number = KC__VALIDATE_AT_LEAST_0},
    {"minReadySeconds", .number = KC__VALIDATE_AT_LEAST_0},
    {.code = check_template},
};
static const kc__validate_rule_table replica_set_rules = KC__VALIDATE_RULES(replica_set_);

static void check_deployment(const kc_value *object, const kc_value *old,
                             const kc__validate_rule_table *rules, kc_field_errors *errors)
{
    kc__location root = kc__location_root(object, errors),
                 spec = kc__location_member(&root, "spec");
    kc__location selector = kc__location_member(&spec, "selector");
    kc__validate_by_rules(rules, &spec);
    if (old)
        kc__validate_same(&selector, kc_value_get(kc_value_get(old, "spec"), "selector"));
}

static void validate_deployment(const kc_value *object, kc_field_errors *errors)
{
    check_deployment(object, NULL, &deployment_rules, errors);
}

static void validate_deployment_update(const kc_value *object, const kc_value *old,
                                       kc_field_errors *errors)
{
    check_deployment(object, old, &deployment_rules, errors);
}

static void validate_replica_set(const kc_value *object, kc_field_errors *errors)
{
    check_deployment(object, NULL, &replica_set_rules, errors);
}

static void validate_replica_set_update(const kc_value *object, const kc_value *old,
                                        kc_field_errors *errors)
{
    check_deployment(object, old, &replica_set_rules, errors);
}

/* ---- validation of the status ---- */

static void check_collisions(const kc__location *status, const kc_value *old)
{
    kc__location count = kc__location_member(status, "collisionCount");
    if (kc__location_number(&count) >= 0 &&
        kc__location_number(&count) <
            kc_value_as_i64_or(kc_value_get(kc_value_get(old, "status"), "collisionCount"), 0))
        kc__location_error(&count, KC_FIELD_INVALID, "cannot be decremented");
}

static void validate_deployment_status(const kc_value *object, const kc_value *old,
                                       kc_field_errors *errors)
{
    static const char *const counts[] = {
        "observedGeneration",  "replicas",          "updatedReplicas",
        "readyReplicas",       "availableReplicas", "unavailableReplicas",
        "terminatingReplicas", "collisionCount",    NULL};
    static const char *const within[] = {"updatedReplicas", "readyReplicas", "availableReplicas",
                                         NULL};
    kc__location root = kc__location_root(object, errors),
                 status = kc__location_member(&root, "status");
    kc__validate_counts(&status, counts);
    kc__validate_counts_within(&status, within, "readyReplicas");
    check_collisions(&status, old);
}

static void validate_replica_set_status(const kc_value *object, const kc_value *old,
                                        kc_field_errors *errors)
{
    static const char *const counts[] = {"replicas",
                                         "fullyLabeledReplicas",
                                         "readyReplicas",
                                         "availableReplicas",
                                         "observedGeneration",
                                         "terminatingReplicas",
                                         NULL};
    static const char *const within[] = {"fullyLabeledReplicas", "readyReplicas",
                                         "availableReplicas", NULL};
    kc__location root = kc__location_root(object, errors),
                 status = kc__location_member(&root, "status");
    (void)old;
    kc__validate_counts(&status, counts);
    kc__validate_counts_within(&status, within, "readyReplicas");
}

/* A change of the status does not change labels. */
static void prepare_deployment_update(kc_edit *edit, const kc_value *old, const char *subresource)
{
    kc_node *metadata = kc_node_get(kc_edit_root(edit), KC_STR("metadata"));
    const kc_value *labels = kc_value_nested(old, "metadata.labels");
    if (!subresource || strcmp(subresource, "status") != 0)
        return;
    if (labels)
        kc_node_set(edit, metadata, KC_STR("labels"), kc_node_from_value(edit, labels));
    else
        kc_node_remove(metadata, KC_STR("labels"));
}

const kc__strategy kc__strategy_deployment = {
    .generation = true,
    .annotated = true,
    .defaults = &deployment_defaults,
    .prepare_update = prepare_deployment_update,
    .validate = validate_deployment,
    .validate_update = validate_deployment_update,
    .validate_status = validate_deployment_status,
    .warn = kc__warnings_pod_template,
    .warns_if_changed = "metadata.generation",
    .warns_of_name = "Pod names and hostnames",
};

/* Selectable fields of ReplicaSets and ReplicationControllers. */
static const kc_field_def by_replicas[] = {{.field = "status.replicas", .otherwise = "0"}};

const kc__strategy kc__strategy_replica_set = {
    .generation = true,
    .selectable = by_replicas,
    .n_selectable = KC_COUNT(by_replicas),
    .defaults = &replica_set_defaults,
    .validate = validate_replica_set,
    .validate_update = validate_replica_set_update,
    .validate_status = validate_replica_set_status,
    .warn = kc__warnings_pod_template,
    .warns_if_changed = "metadata.generation",
    .warns_of_name = "Pod names and hostnames",
};

/* ---- ReplicationController: the predecessor of ReplicaSet, with a label map as selector ---- */

static void select_template(kc_edit *edit, kc_node *object)
{
    kc_node *spec = kc_node_get(object, KC_STR("spec"));
    kc_node *template = kc_node_get(spec, KC_STR("template"));
    kc_node *labels = kc_node_get(kc_node_get(template, KC_STR("metadata")), KC_STR("labels"));
    kc_node *metadata = kc_node_get(object, KC_STR("metadata"));
    if (!labels)
        return;
    if (!kc_node_len(kc_node_get(spec, KC_STR("selector"))))
        kc_node_set(edit, spec, KC_STR("selector"), kc_node_clone(edit, labels));
    if (!kc_node_len(kc_node_get(metadata, KC_STR("labels"))))
        kc_node_set(edit, metadata, KC_STR("labels"), kc_node_clone(edit, labels));
}

static const kc__defaults controller_defaults = {
    .list = replica_set, .n = KC_COUNT(replica_set), .code = select_template};

static void check_controller_template(const kc__location *spec)
{
    kc__location template = kc__location_member(spec, "template"),
                 metadata = kc__location_member(&template, "metadata");
    kc__location labels = kc__location_member(&metadata, "labels"),
                 selector = kc__location_member(spec, "selector");
    bool matches = true;
    if (!template.value) {
        kc__location_error(&template, KC_FIELD_REQUIRED, NULL);
        return;
    }
    kc_scoped(kc__value_members) in_labels = {.object = labels.value};
    kc_value_each_member (selector.value, name, value)
        matches = matches && kc_value_equal(kc__value_members_find(&in_labels, name), value, NULL);
    if (!matches)
        kc__location_error(&labels, KC_FIELD_INVALID,
                           "`selector` does not match template `labels`");
    kc__validate_pod_template(&template);
    kc__validate_runs_on(&template, "ReplicationController");
}

static const kc__validate_rule controller_[] = {
    {"minReadySeconds", .number = KC__VALIDATE_AT_LEAST_0},
    {"selector", .required = ""},
    {"replicas", .number = KC__VALIDATE_AT_LEAST_0},
    {.code = check_controller_template},
};
static const kc__validate_rule_table controller_spec = KC__VALIDATE_RULES(controller_);
static const kc__validate_rule controller_object_[] = {{"spec", .of = &controller_spec}};
static const kc__validate_rule_table controller_rules = KC__VALIDATE_RULES(controller_object_);

const kc__strategy kc__strategy_replication_controller = {
    .generation = true,
    .orphans = true,
    .selectable = by_replicas,
    .n_selectable = KC_COUNT(by_replicas),
    .defaults = &controller_defaults,
    .rules = &controller_rules,
    .validate_status = validate_replica_set_status,
    .warn = kc__warnings_pod_template,
    .warns_if_changed = "metadata.generation",
    .warns_of_name = "Pod names and hostnames",
};
