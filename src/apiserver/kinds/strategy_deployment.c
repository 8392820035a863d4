/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strategy_deployment.c: Deployments and ReplicaSets: so many pods of a template at any time.
 */
#include "apiserver/kinds/strategy.h"
#include "apiserver/kinds/warnings.h"
#include "apiserver/kinds/workload_rules.h"
#include "kc/diff.h"

/* ---- defaults ---- */

static void choose_rolling(kc_edit *edit, kc_node *strategy)
{
    kc__default_set(edit, strategy, "type", "\"RollingUpdate\"");
    if (kc_str_is(kc__node_text(strategy, "type"), "RollingUpdate")) {
        kc_node *rolling = kc__default_set(edit, strategy, "rollingUpdate", "{}");
        kc__default_set(edit, rolling, "maxUnavailable", "\"25%\"");
        kc__default_set(edit, rolling, "maxSurge", "\"25%\"");
    }
}
static const kc__defaults strategy_defaults = {.code = choose_rolling};

static const kc__default deployment_spec[] = {
    {.field = "replicas", .json = "1"},
    {.field = "template", .of = &kc__pod_template_defaults},
    {.field = "strategy", .json = "{}", .of = &strategy_defaults},
    {.field = "revisionHistoryLimit", .json = "10"},
    {.field = "progressDeadlineSeconds", .json = "600"},
};
static const kc__defaults deployment_spec_defaults = KC__DEFAULTS(deployment_spec);
static const kc__default deployment[] = {{.field = "spec", .of = &deployment_spec_defaults}};
static const kc__defaults deployment_defaults = KC__DEFAULTS(deployment);

static const kc__default replica_set_spec[] = {
    {.field = "replicas", .json = "1"},
    {.field = "template", .of = &kc__pod_template_defaults},
};
static const kc__defaults replica_set_spec_defaults = KC__DEFAULTS(replica_set_spec);
static const kc__default replica_set[] = {{.field = "spec", .of = &replica_set_spec_defaults}};
static const kc__defaults replica_set_defaults = KC__DEFAULTS(replica_set);

/* ---- specs ---- */

static void check_rolling(const kc__place *rolling)
{
    kc__place unavailable = kc__member(rolling, "maxUnavailable");
    kc__place surge = kc__member(rolling, "maxSurge");
    kc__check_number_or_percent(&unavailable, false);
    kc__check_number_or_percent(&surge, false);
    if (kc__number_or_percent(&unavailable) == 0 && kc__number_or_percent(&surge) == 0)
        kc__wrong(&unavailable, KC_FIELD_INVALID, "may not be 0 when `maxSurge` is 0");
    if (kc_type_of(unavailable.value) == KC_STRING && kc__number_or_percent(&unavailable) > 100)
        kc__wrong(&unavailable, KC_FIELD_INVALID, "must not be greater than 100%%");
}

static void check_strategy(const kc__place *strategy)
{
    kc__place type = kc__member(strategy, "type"), rolling = kc__member(strategy, "rollingUpdate");
    if (kc__text_is(&type, "RollingUpdate")) {
        check_rolling(&rolling);
    } else if (!kc__text_is(&type, "Recreate")) {
        kc__wrong_as(strategy, KC_FIELD_NOT_SUPPORTED,
                     kc_arena_printf(&strategy->errors->arena,
                                     "{\"Type\":\"%.*s\",\"RollingUpdate\":null}",
                                     KC_ARG(kc__text(&type))),
                     "supported values: \"Recreate\", \"RollingUpdate\"");
    } else if (rolling.value) {
        kc__wrong(&rolling, KC_FIELD_FORBIDDEN,
                  "may not be specified when strategy `type` is 'Recreate'");
    }
}

/* The selector, and a template whose pods it selects. */
static void check_template(const kc__place *spec)
{
    kc__place template = kc__member(spec, "template");
    kc__check_workload_selector(spec, "deployment");
    if (!kc__check_selector_matches(spec, "invalid label selector"))
        return;
    kc__check_pod_template(&template);
    kc__check_runs_on(&template, "ReplicaSet");
}

static void check_deadline(const kc__place *spec)
{
    kc__place deadline = kc__member(spec, "progressDeadlineSeconds");
    if (!deadline.value)
        return;
    kc__check_at_least_0(&deadline);
    if (kc__number(&deadline) <= kc_as_i64_or(kc_get(spec->value, "minReadySeconds"), 0))
        kc__wrong(&deadline, KC_FIELD_INVALID, "must be greater than minReadySeconds");
}

static const kc__rule deployment_[] = {
    {"replicas", .number = KC__AT_LEAST_0},
    {.code = check_template},
    {"strategy", .code = check_strategy},
    {"minReadySeconds", .number = KC__AT_LEAST_0},
    {"revisionHistoryLimit", .number = KC__AT_LEAST_0},
    {.code = check_deadline},
};
static const kc__rules deployment_rules = KC__RULES(deployment_);

static const kc__rule replica_set_[] = {
    {"replicas", .number = KC__AT_LEAST_0},
    {"minReadySeconds", .number = KC__AT_LEAST_0},
    {.code = check_template},
};
static const kc__rules replica_set_rules = KC__RULES(replica_set_);

static void check(const kc_value *object, const kc_value *old, const kc__rules *rules,
                  kc_field_errors *errors)
{
    kc__place root = kc__place_root(object, errors), spec = kc__member(&root, "spec");
    kc__place selector = kc__member(&spec, "selector");
    kc__rules_check(rules, &spec);
    if (old)
        kc__check_same(&selector, kc_get(kc_get(old, "spec"), "selector"));
}

static void validate_deployment(const kc_value *object, kc_field_errors *errors)
{
    check(object, NULL, &deployment_rules, errors);
}

static void validate_deployment_update(const kc_value *object, const kc_value *old,
                                       kc_field_errors *errors)
{
    check(object, old, &deployment_rules, errors);
}

static void validate_replica_set(const kc_value *object, kc_field_errors *errors)
{
    check(object, NULL, &replica_set_rules, errors);
}

static void validate_replica_set_update(const kc_value *object, const kc_value *old,
                                        kc_field_errors *errors)
{
    check(object, old, &replica_set_rules, errors);
}

/* ---- statuses ---- */

static void check_collisions(const kc__place *status, const kc_value *old)
{
    kc__place count = kc__member(status, "collisionCount");
    if (kc__number(&count) >= 0 &&
        kc__number(&count) < kc_as_i64_or(kc_get(kc_get(old, "status"), "collisionCount"), 0))
        kc__wrong(&count, KC_FIELD_INVALID, "cannot be decremented");
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
    kc__place root = kc__place_root(object, errors), status = kc__member(&root, "status");
    kc__check_counts(&status, counts);
    kc__check_counts_within(&status, within, "readyReplicas");
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
    kc__place root = kc__place_root(object, errors), status = kc__member(&root, "status");
    (void)old;
    kc__check_counts(&status, counts);
    kc__check_counts_within(&status, within, "readyReplicas");
}

const kc__strategy kc__strategy_deployment = {
    .generation = true,
    .annotated = true,
    .defaults = &deployment_defaults,
    .validate = validate_deployment,
    .validate_update = validate_deployment_update,
    .validate_status = validate_deployment_status,
    .warn = kc__template_warnings,
};

/* Of ReplicaSets and ReplicationControllers. */
static const kc_field_def by_replicas[] = {{.field = "status.replicas", .otherwise = "0"}};

const kc__strategy kc__strategy_replica_set = {
    .generation = true,
    .selectable = by_replicas,
    .n_selectable = KC_COUNT(by_replicas),
    .defaults = &replica_set_defaults,
    .validate = validate_replica_set,
    .validate_update = validate_replica_set_update,
    .validate_status = validate_replica_set_status,
    .warn = kc__template_warnings,
};

/* ---- ReplicationController: what ReplicaSets were, with labels for a selector ---- */

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

static void check_controller_template(const kc__place *spec)
{
    kc__place template = kc__member(spec, "template"), metadata = kc__member(&template, "metadata");
    kc__place labels = kc__member(&metadata, "labels"), selector = kc__member(spec, "selector");
    bool matches = true;
    if (!template.value) {
        kc__wrong(&template, KC_FIELD_REQUIRED, NULL);
        return;
    }
    kc_members (selector.value, name, value)
        matches = matches && kc_value_equal(kc_get_str(labels.value, name), value, NULL);
    if (!matches)
        kc__wrong(&labels, KC_FIELD_INVALID, "`selector` does not match template `labels`");
    kc__check_pod_template(&template);
    kc__check_runs_on(&template, "ReplicationController");
}

static const kc__rule controller_[] = {
    {"minReadySeconds", .number = KC__AT_LEAST_0},
    {"selector", .required = ""},
    {"replicas", .number = KC__AT_LEAST_0},
    {.code = check_controller_template},
};
static const kc__rules controller_spec = KC__RULES(controller_);
static const kc__rule controller_object_[] = {{"spec", .of = &controller_spec}};
static const kc__rules controller_rules = KC__RULES(controller_object_);

const kc__strategy kc__strategy_replication_controller = {
    .generation = true,
    .orphans = true,
    .selectable = by_replicas,
    .n_selectable = KC_COUNT(by_replicas),
    .defaults = &controller_defaults,
    .rules = &controller_rules,
    .validate_status = validate_replica_set_status,
};
