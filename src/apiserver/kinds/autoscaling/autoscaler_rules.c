/* SPDX-License-Identifier: Apache-2.0 */
/*
 * autoscaler_rules.c: validates HorizontalPodAutoscalers, in the form of v2 even if sent as v1.
 * Errors are in the order of Kubernetes' messages.
 *
 * Values that were accepted before these rules existed stay valid (`validation_options`): an update
 * is not rejected for a value that it does not change.
 */
#include "apiserver/kinds/autoscaling/autoscaler.h"
#include "apiserver/kinds/core/pod_rules.h"
#include "apiserver/kinds/validate_rules.h"
#include "kc/json.h"
#include "kc/quantity.h"

enum { MAX_PERIOD = 1800, MAX_WINDOW = 3600 };

typedef struct validation_options {
    int64_t min_replicas; /* The minimum of minReplicas. */
    bool any_version;     /* The target may have any version, or */
    bool no_group;        /* a version without a group. */
    bool any_object_version;
} validation_options;

/* ---- references ---- */

/* Whether an apiVersion is valid; if not, *ret is the reason. */
static bool is_version(const kc__location *version, bool no_group, const char **ret)
{
    kc_str text = kc__location_text(version);
    ptrdiff_t slash = kc_str_find(text, '/');
    if (slash >= 0 && slash != kc_str_rfind(text, '/')) {
        *ret = kc_arena_printf(&version->errors->arena, "unexpected GroupVersion string: %.*s",
                               KC_ARG(text));
        return false;
    }
    *ret = "apiVersion must specify API group";
    return no_group || slash > 0;
}

static void check_reference(const kc__location *reference, bool any_version, bool no_group)
{
    kc__location kind = kc__location_member(reference, "kind"),
                 name = kc__location_member(reference, "name");
    kc__location version = kc__location_member(reference, "apiVersion");
    const char *why;
    kc__validate_needed_name(&kind, KC_NAME_PATH_SEGMENT);
    kc__validate_needed_name(&name, KC_NAME_PATH_SEGMENT);
    if (any_version || is_version(&version, no_group, &why))
        return;
    kc_scoped(kc_buf) quoted = {0};
    kc_json_quote(&quoted, kc__location_text(&version));
    kc__location_error_json(&version, KC_FIELD_INVALID, kc_buf_cstr(&quoted), "%s", why);
}

/* ---- metrics ---- */

static void check_positive(const kc__location *quantity)
{
    kc_quantity read;
    if (quantity->value && kc_quantity_parse(kc__location_text(quantity), &read, NULL) == 0 &&
        kc_quantity_sign(read) <= 0)
        kc__location_error(quantity, KC_FIELD_INVALID, "must be positive");
}

static void check_target(const kc__location *target)
{
    kc__location type = kc__location_member(target, "type"),
                 value = kc__location_member(target, "value");
    kc__location average = kc__location_member(target, "averageValue");
    kc__location percent = kc__location_member(target, "averageUtilization");
    if (!kc__location_is_set(&type))
        kc__location_error(&type, KC_FIELD_REQUIRED, "must specify a metric target type");
    if (!kc__location_text_is(&type, "Utilization") && !kc__location_text_is(&type, "Value") &&
        !kc__location_text_is(&type, "AverageValue"))
        kc__location_error(&type, KC_FIELD_INVALID,
                           "must be either Utilization, Value, or AverageValue");
    check_positive(&value);
    check_positive(&average);
    if (percent.value && kc__location_number(&percent) < 1)
        kc__location_error(&percent, KC_FIELD_INVALID, "must be greater than 0");
}

static void check_metric_name(const kc__location *source)
{
    kc__location metric = kc__location_member(source, "metric"),
                 name = kc__location_member(&metric, "name");
    if (!kc__location_is_set(&name))
        kc__location_error(&name, KC_FIELD_REQUIRED, "must specify a metric name");
    else
        kc__validate_name(&name, KC_NAME_PATH_SEGMENT);
}

static void check_object(const kc__location *source, const validation_options *l)
{
    kc__location described = kc__location_member(source, "describedObject");
    kc__location target = kc__location_member(source, "target");
    kc__location value = kc__location_member(&target, "value"),
                 average = kc__location_member(&target, "averageValue");
    check_reference(&described, l->any_object_version, true);
    check_metric_name(source);
    check_target(&target);
    if (!value.value && !average.value)
        kc__location_error(&average, KC_FIELD_REQUIRED,
                           "must set either a target value or averageValue");
}

static void check_external(const kc__location *source, const validation_options *l)
{
    (void)l;
    kc__location target = kc__location_member(source, "target");
    kc__location value = kc__location_member(&target, "value"),
                 average = kc__location_member(&target, "averageValue");
    check_metric_name(source);
    check_target(&target);
    if (!value.value && !average.value)
        kc__location_error(&average, KC_FIELD_REQUIRED,
                           "must set either a target value for metric or a per-pod target");
    if (value.value && average.value)
        kc__location_error(&value, KC_FIELD_FORBIDDEN,
                           "may not set both a target value for metric and a per-pod target");
}

static void check_pods(const kc__location *source, const validation_options *l)
{
    (void)l;
    kc__location target = kc__location_member(source, "target"),
                 average = kc__location_member(&target, "averageValue");
    check_metric_name(source);
    check_target(&target);
    if (!average.value)
        kc__location_error(&average, KC_FIELD_REQUIRED,
                           "must specify a positive target averageValue");
}

static void check_resource_target(const kc__location *source)
{
    kc__location target = kc__location_member(source, "target");
    kc__location average = kc__location_member(&target, "averageValue");
    kc__location percent = kc__location_member(&target, "averageUtilization");
    check_target(&target);
    if (!percent.value && !average.value)
        kc__location_error(&percent, KC_FIELD_REQUIRED,
                           "must set either a target raw value or a target utilization");
    if (percent.value && average.value)
        kc__location_error(&average, KC_FIELD_FORBIDDEN,
                           "may not set both a target raw value and a target utilization");
}

static void check_resource_metric(const kc__location *source, const validation_options *l)
{
    (void)l;
    kc__location name = kc__location_member(source, "name");
    if (!kc__location_is_set(&name))
        kc__location_error(&name, KC_FIELD_REQUIRED, "must specify a resource name");
    check_resource_target(source);
}

static void check_container_resource(const kc__location *source, const validation_options *l)
{
    (void)l;
    kc__location name = kc__location_member(source, "name"),
                 container = kc__location_member(source, "container");
    if (!kc__location_is_set(&name))
        kc__location_error(&name, KC_FIELD_REQUIRED, "must specify a resource name");
    else
        kc__validate_name(&name, KC_NAME_QUALIFIED);
    if (!kc__location_is_set(&container))
        kc__location_error(&container, KC_FIELD_REQUIRED, "must specify a container");
    else
        kc__validate_name(&container, KC_NAME_DNS_LABEL);
    check_resource_target(source);
}

static const struct {
    const char *type, *member;
    void (*check)(const kc__location *source, const validation_options *l);
} sources[] = {
    {"Object", "object", check_object},
    {"External", "external", check_external},
    {"Pods", "pods", check_pods},
    {"Resource", "resource", check_resource_metric},
    {"ContainerResource", "containerResource", check_container_resource},
};

static const char *const source_types[] = {"ContainerResource", "External", "Object", "Pods",
                                           "Resource",          NULL};

/* Validates the first source that is set; returns the number of sources that are set. */
static size_t check_metric_sources(const kc__location *metric, const validation_options *l)
{
    size_t n = 0;
    for (size_t i = 0; i < KC_COUNT(sources); i++) {
        kc__location source = kc__location_member(metric, sources[i].member);
        if (source.value && !n++)
            sources[i].check(&source, l);
    }
    return n;
}

/* Rejects sources that do not match the metric's type. */
static void forbid_others(const kc__location *metric, const char *own)
{
    for (size_t i = 0; i < KC_COUNT(sources); i++) {
        kc__location source = kc__location_member(metric, sources[i].member);
        if (source.value && (!own || strcmp(own, sources[i].member) != 0))
            kc__location_error(&source, KC_FIELD_FORBIDDEN,
                               "must populate the given metric source only");
    }
}

static const char *member_of_type(kc_str type)
{
    for (size_t i = 0; i < KC_COUNT(sources); i++)
        if (kc_str_is(type, sources[i].type))
            return sources[i].member;
    return NULL;
}

static void check_metric(const kc__location *metric, const validation_options *l)
{
    kc__location type = kc__location_member(metric, "type");
    const char *own = member_of_type(kc__location_text(&type));
    if (!kc__location_is_set(&type))
        kc__location_error(&type, KC_FIELD_REQUIRED, "must specify a metric source type");
    if (!own)
        kc__location_not_supported(&type, source_types);
    size_t n = check_metric_sources(metric, l);
    if (!own) {
        kc__location_not_supported(&type, source_types); /* Kubernetes reports this twice. */
    } else {
        kc__location source = kc__location_member(metric, own);
        if (!source.value)
            kc__location_error(&source, KC_FIELD_REQUIRED,
                               "must populate information for the given metric source");
    }
    if (n > 1)
        forbid_others(metric, own);
}

static void check_metrics(const kc__location *spec, const validation_options *l)
{
    kc__location metrics = kc__location_member(spec, "metrics"),
                 low = kc__location_member(spec, "minReplicas");
    bool other = false;
    size_t i = 0;
    kc_value_each_item (metrics.value, value) {
        kc__location metric = kc__location_item(&metrics, value, i++);
        kc_str type = kc__location_member_text(&metric, "type");
        check_metric(&metric, l);
        other = other || kc_str_is(type, "Object") || kc_str_is(type, "External");
    }
    /* With zero replicas there are no pods whose CPU could be measured. */
    if (low.value && kc__location_number(&low) == 0 && !other)
        kc__location_error(
            &metrics, KC_FIELD_FORBIDDEN,
            "must specify at least one Object or External metric to support scaling to zero "
            "replicas");
}

/* ---- scaling behavior ---- */

static void check_policy(const kc__location *policy)
{
    static const char *const types[] = {"Percent", "Pods", NULL};
    kc__location type = kc__location_member(policy, "type"),
                 value = kc__location_member(policy, "value");
    kc__location period = kc__location_member(policy, "periodSeconds");
    if (!kc__location_text_is(&type, "Percent") && !kc__location_text_is(&type, "Pods"))
        kc__location_not_supported(&type, types);
    if (kc__location_number(&value) <= 0)
        kc__location_error(&value, KC_FIELD_INVALID, "must be greater than zero");
    if (kc__location_number(&period) <= 0)
        kc__location_error(&period, KC_FIELD_INVALID, "must be greater than zero");
    if (kc__location_number(&period) > MAX_PERIOD)
        kc__location_error(&period, KC_FIELD_INVALID, "must be less than or equal to %d",
                           MAX_PERIOD);
}

static void check_window(const kc__location *window)
{
    if (window->value && kc__location_number(window) < 0)
        kc__location_error(window, KC_FIELD_INVALID, "must be greater than or equal to zero");
    if (window->value && kc__location_number(window) > MAX_WINDOW)
        kc__location_error(window, KC_FIELD_INVALID, "must be less than or equal to %d",
                           MAX_WINDOW);
}

static void check_scaling_rules(const kc__location *rules)
{
    static const char *const selections[] = {"Disabled", "Max", "Min", NULL};
    kc__location window = kc__location_member(rules, "stabilizationWindowSeconds");
    kc__location selection = kc__location_member(rules, "selectPolicy");
    kc__location policies = kc__location_member(rules, "policies");
    size_t i = 0;
    if (!rules->value)
        return;
    check_window(&window);
    if (selection.value && !kc__location_text_is(&selection, "Disabled") &&
        !kc__location_text_is(&selection, "Max") && !kc__location_text_is(&selection, "Min"))
        kc__location_not_supported(&selection, selections);
    if (!kc_value_len(policies.value))
        kc__location_error(&policies, KC_FIELD_REQUIRED, "must specify at least one Policy");
    kc_value_each_item (policies.value, value) {
        kc__location policy = kc__location_item(&policies, value, i++);
        check_policy(&policy);
    }
}

/* ---- the whole object ---- */

static void check_bounds(const kc__location *spec, const validation_options *l)
{
    kc__location low = kc__location_member(spec, "minReplicas"),
                 high = kc__location_member(spec, "maxReplicas");
    if (low.value && kc__location_number(&low) < l->min_replicas)
        kc__location_error(&low, KC_FIELD_INVALID, "must be greater than or equal to %lld",
                           (long long)l->min_replicas);
    if (kc__location_number(&high) < 1)
        kc__location_error(&high, KC_FIELD_INVALID, "must be greater than 0");
    if (low.value && kc__location_number(&high) < kc__location_number(&low))
        kc__location_error(&high, KC_FIELD_INVALID,
                           "must be greater than or equal to `minReplicas`");
}

static void check_autoscaler_spec(const kc_value *object, const validation_options *l,
                                  kc_field_errors *errors)
{
    kc__location root = kc__location_root(object, errors),
                 spec = kc__location_member(&root, "spec");
    kc__location target = kc__location_member(&spec, "scaleTargetRef");
    kc__location behavior = kc__location_member(&spec, "behavior");
    kc__location up = kc__location_member(&behavior, "scaleUp"),
                 down = kc__location_member(&behavior, "scaleDown");
    check_bounds(&spec, l);
    check_reference(&target, l->any_version, l->no_group);
    check_metrics(&spec, l);
    check_scaling_rules(&up);
    check_scaling_rules(&down);
}

static kc_str target_text(const kc_value *object, const char *name)
{
    return kc_value_as_str(
        kc_value_get(kc_value_get(kc_value_get(object, "spec"), "scaleTargetRef"), name));
}

/* ReplicationController is the only scalable kind of the core group, so its version has no
 * group. */
static bool is_controller(const kc_value *object)
{
    return kc_str_is(target_text(object, "kind"), "ReplicationController");
}

void kc__autoscaler_check(const kc_value *object, kc_field_errors *errors)
{
    check_autoscaler_spec(
        object, &(validation_options){.min_replicas = 1, .no_group = is_controller(object)},
        errors);
}

/* Whether an object metric of the old object already had an invalid apiVersion. */
static bool had_wrong_version(const kc_value *old)
{
    kc_scoped(kc_field_errors) unused = {0};
    const char *why;
    kc_value_each_item (kc_value_get(kc_value_get(old, "spec"), "metrics"), metric) {
        const kc_value *object = kc_value_get(metric, "object");
        kc__location described =
            kc__location_root(kc_value_get(object, "describedObject"), &unused);
        kc__location version = kc__location_member(&described, "apiVersion");
        if (object && kc_str_is(kc_value_as_str(kc_value_get(metric, "type")), "Object") &&
            !is_version(&version, true, &why))
            return true;
    }
    return false;
}

void kc__autoscaler_check_update(const kc_value *object, const kc_value *old,
                                 kc_field_errors *errors)
{
    bool same = kc_str_eq(target_text(object, "apiVersion"), target_text(old, "apiVersion")) &&
                kc_str_eq(target_text(object, "kind"), target_text(old, "kind"));
    int64_t low = kc_value_as_i64_or(kc_value_get(kc_value_get(old, "spec"), "minReplicas"), 1);
    validation_options l = {.min_replicas = low == 0 ? 0 : 1,
                            .any_version = same,
                            .no_group = is_controller(object),
                            .any_object_version = had_wrong_version(old)};
    check_autoscaler_spec(object, &l, errors);
}

void kc__autoscaler_check_status(const kc_value *object, const kc_value *old,
                                 kc_field_errors *errors)
{
    (void)old;
    kc__location root = kc__location_root(object, errors),
                 status = kc__location_member(&root, "status");
    kc__location current = kc__location_member(&status, "currentReplicas");
    kc__location desired = kc__location_member(&status, "desiredReplicas");
    kc__validate_at_least_0(&current);
    kc__validate_at_least_0(&desired);
}
