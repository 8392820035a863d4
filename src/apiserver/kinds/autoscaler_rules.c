/* SPDX-License-Identifier: Apache-2.0 */
/*
 * autoscaler_rules.c: what is checked in a HorizontalPodAutoscaler, in the form of v2 also when it
 * came as v1. In the order of Kubernetes' own messages.
 *
 * What was accepted before these rules were made stays acceptable (`lenience`): an update is not
 * refused for what it does not change.
 */
#include "apiserver/kinds/autoscaler.h"
#include "apiserver/kinds/pod_rules.h"
#include "apiserver/kinds/rules.h"
#include "kc/json.h"
#include "kc/quantity.h"

enum { MAX_PERIOD = 1800, MAX_WINDOW = 3600 };

typedef struct lenience {
    int64_t min_replicas; /* The least that they may be. */
    bool any_version;     /* Of the target; or */
    bool no_group;        /* none of a group. */
    bool any_object_version;
} lenience;

/* ---- references ---- */

/* Adds nothing when it is right; else shows the version. */
static bool is_version(const kc__place *version, bool no_group, const char **ret)
{
    kc_str text = kc__text(version);
    ptrdiff_t slash = kc_str_find(text, '/');
    if (slash >= 0 && slash != kc_str_rfind(text, '/')) {
        *ret = kc_arena_printf(&version->errors->arena, "unexpected GroupVersion string: %.*s",
                               KC_ARG(text));
        return false;
    }
    *ret = "apiVersion must specify API group";
    return no_group || slash > 0;
}

static void check_reference(const kc__place *reference, bool any_version, bool no_group)
{
    kc__place kind = kc__member(reference, "kind"), name = kc__member(reference, "name");
    kc__place version = kc__member(reference, "apiVersion");
    const char *why;
    kc__check_needed_name(&kind, KC_NAME_PATH_SEGMENT);
    kc__check_needed_name(&name, KC_NAME_PATH_SEGMENT);
    if (any_version || is_version(&version, no_group, &why))
        return;
    kc_scoped(kc_buf) quoted = {0};
    kc_json_quote(&quoted, kc__text(&version));
    kc__wrong_as(&version, KC_FIELD_INVALID, kc_buf_cstr(&quoted), "%s", why);
}

/* ---- what is measured ---- */

static void check_positive(const kc__place *quantity)
{
    kc_quantity read;
    if (quantity->value && kc_quantity_parse(kc__text(quantity), &read, NULL) == 0 &&
        kc_quantity_sign(read) <= 0)
        kc__wrong(quantity, KC_FIELD_INVALID, "must be positive");
}

static void check_target(const kc__place *target)
{
    kc__place type = kc__member(target, "type"), value = kc__member(target, "value");
    kc__place average = kc__member(target, "averageValue");
    kc__place percent = kc__member(target, "averageUtilization");
    if (!kc__there(&type))
        kc__wrong(&type, KC_FIELD_REQUIRED, "must specify a metric target type");
    if (!kc__text_is(&type, "Utilization") && !kc__text_is(&type, "Value") &&
        !kc__text_is(&type, "AverageValue"))
        kc__wrong(&type, KC_FIELD_INVALID, "must be either Utilization, Value, or AverageValue");
    check_positive(&value);
    check_positive(&average);
    if (percent.value && kc__number(&percent) < 1)
        kc__wrong(&percent, KC_FIELD_INVALID, "must be greater than 0");
}

static void check_metric_name(const kc__place *source)
{
    kc__place metric = kc__member(source, "metric"), name = kc__member(&metric, "name");
    if (!kc__there(&name))
        kc__wrong(&name, KC_FIELD_REQUIRED, "must specify a metric name");
    else
        kc__check_name(&name, KC_NAME_PATH_SEGMENT);
}

static void check_object(const kc__place *source, const lenience *l)
{
    kc__place described = kc__member(source, "describedObject");
    kc__place target = kc__member(source, "target");
    kc__place value = kc__member(&target, "value"), average = kc__member(&target, "averageValue");
    check_reference(&described, l->any_object_version, true);
    check_metric_name(source);
    check_target(&target);
    if (!value.value && !average.value)
        kc__wrong(&average, KC_FIELD_REQUIRED, "must set either a target value or averageValue");
}

static void check_external(const kc__place *source, const lenience *l)
{
    (void)l;
    kc__place target = kc__member(source, "target");
    kc__place value = kc__member(&target, "value"), average = kc__member(&target, "averageValue");
    check_metric_name(source);
    check_target(&target);
    if (!value.value && !average.value)
        kc__wrong(&average, KC_FIELD_REQUIRED,
                  "must set either a target value for metric or a per-pod target");
    if (value.value && average.value)
        kc__wrong(&value, KC_FIELD_FORBIDDEN,
                  "may not set both a target value for metric and a per-pod target");
}

static void check_pods(const kc__place *source, const lenience *l)
{
    (void)l;
    kc__place target = kc__member(source, "target"), average = kc__member(&target, "averageValue");
    check_metric_name(source);
    check_target(&target);
    if (!average.value)
        kc__wrong(&average, KC_FIELD_REQUIRED, "must specify a positive target averageValue");
}

static void check_resource_target(const kc__place *source)
{
    kc__place target = kc__member(source, "target");
    kc__place average = kc__member(&target, "averageValue");
    kc__place percent = kc__member(&target, "averageUtilization");
    check_target(&target);
    if (!percent.value && !average.value)
        kc__wrong(&percent, KC_FIELD_REQUIRED,
                  "must set either a target raw value or a target utilization");
    if (percent.value && average.value)
        kc__wrong(&average, KC_FIELD_FORBIDDEN,
                  "may not set both a target raw value and a target utilization");
}

static void check_resource(const kc__place *source, const lenience *l)
{
    (void)l;
    kc__place name = kc__member(source, "name");
    if (!kc__there(&name))
        kc__wrong(&name, KC_FIELD_REQUIRED, "must specify a resource name");
    check_resource_target(source);
}

static void check_container_resource(const kc__place *source, const lenience *l)
{
    (void)l;
    kc__place name = kc__member(source, "name"), container = kc__member(source, "container");
    if (!kc__there(&name))
        kc__wrong(&name, KC_FIELD_REQUIRED, "must specify a resource name");
    else
        kc__check_name(&name, KC_NAME_QUALIFIED);
    if (!kc__there(&container))
        kc__wrong(&container, KC_FIELD_REQUIRED, "must specify a container");
    else
        kc__check_name(&container, KC_NAME_DNS_LABEL);
    check_resource_target(source);
}

static const struct {
    const char *type, *member;
    void (*check)(const kc__place *source, const lenience *l);
} sources[] = {
    {"Object", "object", check_object},
    {"External", "external", check_external},
    {"Pods", "pods", check_pods},
    {"Resource", "resource", check_resource},
    {"ContainerResource", "containerResource", check_container_resource},
};

static const char *const source_types[] = {"ContainerResource", "External", "Object", "Pods",
                                           "Resource",          NULL};

/* Checks the first source that is there, and says how many there are. */
static size_t check_sources(const kc__place *metric, const lenience *l)
{
    size_t n = 0;
    for (size_t i = 0; i < KC_COUNT(sources); i++) {
        kc__place source = kc__member(metric, sources[i].member);
        if (source.value && !n++)
            sources[i].check(&source, l);
    }
    return n;
}

/* One of another type than the metric's is there beside it. */
static void forbid_others(const kc__place *metric, const char *own)
{
    for (size_t i = 0; i < KC_COUNT(sources); i++) {
        kc__place source = kc__member(metric, sources[i].member);
        if (source.value && (!own || strcmp(own, sources[i].member) != 0))
            kc__wrong(&source, KC_FIELD_FORBIDDEN, "must populate the given metric source only");
    }
}

static const char *member_of_type(kc_str type)
{
    for (size_t i = 0; i < KC_COUNT(sources); i++)
        if (kc_str_is(type, sources[i].type))
            return sources[i].member;
    return NULL;
}

static void check_metric(const kc__place *metric, const lenience *l)
{
    kc__place type = kc__member(metric, "type");
    const char *own = member_of_type(kc__text(&type));
    if (!kc__there(&type))
        kc__wrong(&type, KC_FIELD_REQUIRED, "must specify a metric source type");
    if (!own)
        kc__not_supported(&type, source_types);
    size_t n = check_sources(metric, l);
    if (!own) {
        kc__not_supported(&type, source_types); /* It is said twice. */
    } else {
        kc__place source = kc__member(metric, own);
        if (!source.value)
            kc__wrong(&source, KC_FIELD_REQUIRED,
                      "must populate information for the given metric source");
    }
    if (n > 1)
        forbid_others(metric, own);
}

static void check_metrics(const kc__place *spec, const lenience *l)
{
    kc__place metrics = kc__member(spec, "metrics"), low = kc__member(spec, "minReplicas");
    bool other = false;
    size_t i = 0;
    kc_items (metrics.value, value) {
        kc__place metric = kc__item(&metrics, value, i++);
        kc_str type = kc__text_in(&metric, "type");
        check_metric(&metric, l);
        other = other || kc_str_is(type, "Object") || kc_str_is(type, "External");
    }
    /* Nothing runs whose processor could be measured. */
    if (low.value && kc__number(&low) == 0 && !other)
        kc__wrong(&metrics, KC_FIELD_FORBIDDEN,
                  "must specify at least one Object or External metric to support scaling to zero "
                  "replicas");
}

/* ---- how fast ---- */

static void check_policy(const kc__place *policy)
{
    static const char *const types[] = {"Percent", "Pods", NULL};
    kc__place type = kc__member(policy, "type"), value = kc__member(policy, "value");
    kc__place period = kc__member(policy, "periodSeconds");
    if (!kc__text_is(&type, "Percent") && !kc__text_is(&type, "Pods"))
        kc__not_supported(&type, types);
    if (kc__number(&value) <= 0)
        kc__wrong(&value, KC_FIELD_INVALID, "must be greater than zero");
    if (kc__number(&period) <= 0)
        kc__wrong(&period, KC_FIELD_INVALID, "must be greater than zero");
    if (kc__number(&period) > MAX_PERIOD)
        kc__wrong(&period, KC_FIELD_INVALID, "must be less than or equal to %d", MAX_PERIOD);
}

static void check_window(const kc__place *window)
{
    if (window->value && kc__number(window) < 0)
        kc__wrong(window, KC_FIELD_INVALID, "must be greater than or equal to zero");
    if (window->value && kc__number(window) > MAX_WINDOW)
        kc__wrong(window, KC_FIELD_INVALID, "must be less than or equal to %d", MAX_WINDOW);
}

static void check_rules(const kc__place *rules)
{
    static const char *const selections[] = {"Disabled", "Max", "Min", NULL};
    kc__place window = kc__member(rules, "stabilizationWindowSeconds");
    kc__place selection = kc__member(rules, "selectPolicy");
    kc__place policies = kc__member(rules, "policies");
    size_t i = 0;
    if (!rules->value)
        return;
    check_window(&window);
    if (selection.value && !kc__text_is(&selection, "Disabled") &&
        !kc__text_is(&selection, "Max") && !kc__text_is(&selection, "Min"))
        kc__not_supported(&selection, selections);
    if (!kc_len(policies.value))
        kc__wrong(&policies, KC_FIELD_REQUIRED, "must specify at least one Policy");
    kc_items (policies.value, value) {
        kc__place policy = kc__item(&policies, value, i++);
        check_policy(&policy);
    }
}

/* ---- all of it ---- */

static void check_bounds(const kc__place *spec, const lenience *l)
{
    kc__place low = kc__member(spec, "minReplicas"), high = kc__member(spec, "maxReplicas");
    if (low.value && kc__number(&low) < l->min_replicas)
        kc__wrong(&low, KC_FIELD_INVALID, "must be greater than or equal to %lld",
                  (long long)l->min_replicas);
    if (kc__number(&high) < 1)
        kc__wrong(&high, KC_FIELD_INVALID, "must be greater than 0");
    if (low.value && kc__number(&high) < kc__number(&low))
        kc__wrong(&high, KC_FIELD_INVALID, "must be greater than or equal to `minReplicas`");
}

static void check_spec(const kc_value *object, const lenience *l, kc_field_errors *errors)
{
    kc__place root = kc__place_root(object, errors), spec = kc__member(&root, "spec");
    kc__place target = kc__member(&spec, "scaleTargetRef");
    kc__place behavior = kc__member(&spec, "behavior");
    kc__place up = kc__member(&behavior, "scaleUp"), down = kc__member(&behavior, "scaleDown");
    check_bounds(&spec, l);
    check_reference(&target, l->any_version, l->no_group);
    check_metrics(&spec, l);
    check_rules(&up);
    check_rules(&down);
}

static kc_str target_text(const kc_value *object, const char *name)
{
    return kc_as_str(kc_get(kc_get(kc_get(object, "spec"), "scaleTargetRef"), name));
}

/* The one kind of the core group that scales needs no group. */
static bool is_controller(const kc_value *object)
{
    return kc_str_is(target_text(object, "kind"), "ReplicationController");
}

void kc__autoscaler_check(const kc_value *object, kc_field_errors *errors)
{
    check_spec(object, &(lenience){.min_replicas = 1, .no_group = is_controller(object)}, errors);
}

/* Whether an object that is measured was already named in a wrong version. */
static bool had_wrong_version(const kc_value *old)
{
    kc_scoped(kc_field_errors) unused = {0};
    const char *why;
    kc_items (kc_get(kc_get(old, "spec"), "metrics"), metric) {
        const kc_value *object = kc_get(metric, "object");
        kc__place described = kc__place_root(kc_get(object, "describedObject"), &unused);
        kc__place version = kc__member(&described, "apiVersion");
        if (object && kc_str_is(kc_as_str(kc_get(metric, "type")), "Object") &&
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
    int64_t low = kc_as_i64_or(kc_get(kc_get(old, "spec"), "minReplicas"), 1);
    lenience l = {.min_replicas = low == 0 ? 0 : 1,
                  .any_version = same,
                  .no_group = is_controller(object),
                  .any_object_version = had_wrong_version(old)};
    check_spec(object, &l, errors);
}

void kc__autoscaler_check_status(const kc_value *object, const kc_value *old,
                                 kc_field_errors *errors)
{
    (void)old;
    kc__place root = kc__place_root(object, errors), status = kc__member(&root, "status");
    kc__place current = kc__member(&status, "currentReplicas");
    kc__place desired = kc__member(&status, "desiredReplicas");
    kc__check_at_least_0(&current);
    kc__check_at_least_0(&desired);
}
