/* SPDX-License-Identifier: Apache-2.0 */
/*
 * autoscaler_conversion.c: converts HorizontalPodAutoscalers between autoscaling/v1 and v2. v1 has
 * one metric, CPU utilization; it keeps the other fields of v2 as JSON in annotations, so that a
 * client that reads and writes v1 loses nothing:
 *
 *     spec.metrics                  spec.targetCPUUtilizationPercentage, …/metrics for the others
 *     spec.behavior                 …/behavior, with the names of Kubernetes' internal structs
 *     status.currentMetrics         status.currentCPUUtilizationPercentage, …/current-metrics (all)
 *     status.conditions             …/conditions
 *
 * An annotation that cannot be parsed counts as absent. The conversion to v2 removes all of them;
 * the conversion to v1 creates them again. Their contents are typed, so their text is what Go would
 * write.
 */
#include "apiserver/codec/typed.h"
#include "apiserver/kinds/autoscaling/autoscaler.h"
#include "apiserver/kinds/defaults.h"

#define PREFIX          "autoscaling.alpha.kubernetes.io/"
#define METRICS         PREFIX "metrics"
#define CURRENT_METRICS PREFIX "current-metrics"
#define CONDITIONS      PREFIX "conditions"
#define BEHAVIOR        PREFIX "behavior"

enum { DEFAULT_PERCENT = 80 };

static const char *const own_annotations[] = {
    METRICS,
    CURRENT_METRICS,
    CONDITIONS,
    BEHAVIOR,
    PREFIX "scale-down-tolerance",
    PREFIX "scale-up-tolerance",
};

/* ---- parts of the object ---- */

static kc_node *annotations_of(kc_edit *edit)
{
    kc_node *metadata = kc_node_get(kc_edit_root(edit), KC_STR("metadata"));
    return kc_node_get(metadata, KC_STR("annotations"));
}

void kc__autoscaler_drop_annotations(kc_edit *edit)
{
    kc_node *annotations = annotations_of(edit);
    for (size_t i = 0; i < KC_COUNT(own_annotations); i++)
        kc_node_remove(annotations, kc_cstr(own_annotations[i]));
}

/* Returns a member of spec or status. */
static kc_node *in(kc_edit *edit, const char *part, const char *name)
{
    return kc_node_get(kc_node_get(kc_edit_root(edit), kc_cstr(part)), kc_cstr(name));
}

static void set_in(kc_edit *edit, const char *part, const char *name, kc_node *value)
{
    kc_node_set(edit, kc_node_ensure_object(edit, kc_edit_root(edit), kc_cstr(part)), kc_cstr(name),
                value);
}

static void remove_in(kc_edit *edit, const char *part, const char *name)
{
    kc_node_remove(kc_node_get(kc_edit_root(edit), kc_cstr(part)), kc_cstr(name));
}

/* ---- typed values ---- */

/* Returns the value decoded as a type of the API definitions; NULL if it does not have that
 * type. */
static kc_node *typed_value(kc_edit *edit, const kc_value *value, const char *type)
{
    if (kc_value_type(value) != KC_JSON_OBJECT)
        return NULL;
    kc_auto(kc_edit) *own = kc_edit_of_value(value);
    kc_auto(kc_object) *given = kc_edit_freeze(own, NULL);
    kc_auto(kc_object) *typed =
        given ? kc__typed_decode(kc__type_lookup(kc_cstr(type)), given, NULL, NULL) : NULL;
    if (!typed)
        return NULL;
    kc_auto(kc_view) *view = kc_view_of(typed);
    return kc_node_from_value(edit, kc_view_root(view));
}

static kc_node *typed_node(kc_edit *edit, const kc_node *node, const char *type)
{
    kc_auto(kc_edit) *own = kc_edit_new();
    kc_edit_set_root(own, kc_node_clone(own, node));
    kc_auto(kc_view) *view = kc_edit_view(own, NULL);
    return view ? typed_value(edit, kc_view_root(view), type) : NULL;
}

/* Returns the list in an annotation, its items decoded as a type; NULL if absent or invalid. */
static kc_node *list_in(kc_edit *edit, const char *annotation, const char *type)
{
    const kc_node *text = kc_node_get(annotations_of(edit), kc_cstr(annotation));
    kc_auto(kc_view) *view = text ? kc_view_parse(kc_node_as_str(text), NULL, NULL) : NULL;
    const kc_value *list = view ? kc_view_root(view) : NULL;
    if (kc_value_type(list) != KC_JSON_ARRAY)
        return NULL;
    kc_node *typed = kc_node_array(edit);
    kc_value_each_item (list, item) {
        kc_node *one = typed_value(edit, item, type);
        if (!one)
            return NULL;
        kc_node_append(typed, one);
    }
    return typed;
}

/* Writes a list as JSON to an annotation; an empty list gets no annotation. */
static void annotate(kc_edit *edit, const char *annotation, kc_node *list)
{
    kc_scoped(kc_buf) text = {0};
    if (!kc_node_len(list))
        return;
    kc_node_write(&text, list);
    kc_node *metadata = kc_node_ensure_object(edit, kc_edit_root(edit), KC_STR("metadata"));
    kc_node *annotations = kc_node_ensure_object(edit, metadata, KC_STR("annotations"));
    kc_node_set(edit, annotations, kc_cstr(annotation), kc_node_str(edit, kc_buf_str(&text)));
}

/* ---- CPU utilization ---- */

kc_node *kc__autoscaler_cpu_metric(kc_edit *edit, int64_t percent)
{
    kc_node *metric = kc_node_object(edit), *resource = kc_node_object(edit);
    kc_node *target = kc_node_object(edit);
    kc_node_set(edit, target, KC_STR("type"), kc_node_str(edit, KC_STR("Utilization")));
    kc_node_set(edit, target, KC_STR("averageUtilization"), kc_node_i64(edit, percent));
    kc_node_set(edit, resource, KC_STR("name"), kc_node_str(edit, KC_STR("cpu")));
    kc_node_set(edit, resource, KC_STR("target"), target);
    kc_node_set(edit, metric, KC_STR("type"), kc_node_str(edit, KC_STR("Resource")));
    kc_node_set(edit, metric, KC_STR("resource"), resource);
    return metric;
}

static kc_node *cpu_status(kc_edit *edit, int64_t percent)
{
    kc_node *metric = kc_node_object(edit), *resource = kc_node_object(edit);
    kc_node *current = kc_node_object(edit);
    kc_node_set(edit, current, KC_STR("averageUtilization"), kc_node_i64(edit, percent));
    kc_node_set(edit, resource, KC_STR("name"), kc_node_str(edit, KC_STR("cpu")));
    kc_node_set(edit, resource, KC_STR("current"), current);
    kc_node_set(edit, metric, KC_STR("type"), kc_node_str(edit, KC_STR("Resource")));
    kc_node_set(edit, metric, KC_STR("resource"), resource);
    return metric;
}

/* Whether a v2 metric is the one that v1 has a member for; returns its percentage. */
static bool is_cpu(const kc_node *metric, const char *part, int64_t *ret)
{
    const kc_node *resource = kc_node_get(metric, KC_STR("resource"));
    const kc_node *values = kc_node_get(resource, kc_cstr(part));
    return kc_str_is(kc__defaults_node_text(metric, "type"), "Resource") &&
           kc_str_is(kc__defaults_node_text(resource, "name"), "cpu") &&
           kc_node_as_i64(kc_node_get(values, KC_STR("averageUtilization")), ret);
}

/* ---- behavior ---- */

/* Go matches member names case-insensitively. */
static kc_node *rename_members(kc_edit *edit, const kc_value *object, const char *const *names)
{
    kc_node *renamed = kc_node_object(edit);
    kc_value_each_member (object, name, value)
        for (size_t i = 0; names[i]; i++)
            if (kc_str_eq_nocase(name, kc_cstr(names[i])))
                kc_node_set(edit, renamed, kc_cstr(names[i]), kc_node_from_value(edit, value));
    return renamed;
}

static kc_node *rules_of(kc_edit *edit, const kc_value *rules)
{
    static const char *const names[] = {"stabilizationWindowSeconds", "selectPolicy", "tolerance",
                                        "policies", NULL};
    static const char *const policy_names[] = {"type", "value", "periodSeconds", NULL};
    if (kc_value_type(rules) != KC_JSON_OBJECT)
        return kc_node_from_value(edit, rules);
    kc_node *renamed = rename_members(edit, rules, names);
    const kc_value *policies = NULL;
    kc_value_each_member (rules, name, value)
        if (kc_str_eq_nocase(name, KC_STR("policies")) && kc_value_type(value) == KC_JSON_ARRAY)
            policies = value;
    if (!policies)
        return renamed;
    kc_node *list = kc_node_array(edit);
    kc_value_each_item (policies, policy)
        kc_node_append(list, kc_value_type(policy) == KC_JSON_OBJECT
                                 ? rename_members(edit, policy, policy_names)
                                 : kc_node_from_value(edit, policy));
    kc_node_set(edit, renamed, KC_STR("policies"), list);
    return renamed;
}

static kc_node *read_behavior(kc_edit *edit)
{
    const kc_node *text = kc_node_get(annotations_of(edit), KC_STR(BEHAVIOR));
    kc_auto(kc_view) *view = text ? kc_view_parse(kc_node_as_str(text), NULL, NULL) : NULL;
    if (!view || kc_value_type(kc_view_root(view)) != KC_JSON_OBJECT)
        return NULL;
    kc_node *behavior = kc_node_object(edit);
    kc_value_each_member (kc_view_root(view), name, value) {
        bool up = kc_str_eq_nocase(name, KC_STR("scaleUp"));
        if (up || kc_str_eq_nocase(name, KC_STR("scaleDown")))
            kc_node_set(edit, behavior, up ? KC_STR("scaleUp") : KC_STR("scaleDown"),
                        rules_of(edit, value));
    }
    kc_node *typed =
        typed_node(edit, behavior, "io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerBehavior");
    return kc_node_len(typed) ? typed : NULL;
}

/* Writes the member, or null. */
static void write_autoscaler_member(kc_buf *out, const char *title, const kc_node *object,
                                    const char *name)
{
    const kc_node *value = kc_node_get(object, kc_cstr(name));
    kc_buf_printf(out, "\"%s\":", title);
    if (value)
        kc_node_write(out, value);
    else
        kc_buf_puts(out, "null");
}

static void write_policies(kc_buf *out, const kc_node *policies)
{
    const char *between = "";
    kc_buf_puts(out, policies ? ",\"Policies\":[" : ",\"Policies\":null");
    kc_node_each_item (policies, policy) {
        kc_buf_printf(out, "%s{", between);
        write_autoscaler_member(out, "Type", policy, "type");
        kc_buf_putc(out, ',');
        write_autoscaler_member(out, "Value", policy, "value");
        kc_buf_putc(out, ',');
        write_autoscaler_member(out, "PeriodSeconds", policy, "periodSeconds");
        kc_buf_putc(out, '}');
        between = ",";
    }
    kc_buf_puts(out, policies ? "]" : "");
}

static void write_rules(kc_buf *out, const char *title, const kc_node *rules)
{
    kc_buf_printf(out, "\"%s\":", title);
    if (!rules) {
        kc_buf_puts(out, "null");
        return;
    }
    kc_buf_putc(out, '{');
    write_autoscaler_member(out, "StabilizationWindowSeconds", rules, "stabilizationWindowSeconds");
    kc_buf_putc(out, ',');
    write_autoscaler_member(out, "SelectPolicy", rules, "selectPolicy");
    write_policies(out, kc_node_get(rules, KC_STR("policies")));
    kc_buf_putc(out, ',');
    write_autoscaler_member(out, "Tolerance", rules, "tolerance");
    kc_buf_putc(out, '}');
}

static void annotate_behavior(kc_edit *edit, const kc_node *behavior)
{
    kc_scoped(kc_buf) text = {0};
    if (!behavior)
        return;
    kc_buf_putc(&text, '{');
    write_rules(&text, "ScaleUp", kc_node_get(behavior, KC_STR("scaleUp")));
    kc_buf_putc(&text, ',');
    write_rules(&text, "ScaleDown", kc_node_get(behavior, KC_STR("scaleDown")));
    kc_buf_putc(&text, '}');
    kc_node *metadata = kc_node_ensure_object(edit, kc_edit_root(edit), KC_STR("metadata"));
    kc_node *annotations = kc_node_ensure_object(edit, metadata, KC_STR("annotations"));
    kc_node_set(edit, annotations, KC_STR(BEHAVIOR), kc_node_str(edit, kc_buf_str(&text)));
}

/* ---- from v1 ---- */

/* Freezes the edit to an autoscaler of a version. */
static kc_object *finish_autoscaler_conversion(kc_edit *edit, const char *version, kc_error *err)
{
    bool old = !strcmp(version, "v1");
    kc_node_set(edit, kc_edit_root(edit), KC_STR("apiVersion"),
                kc_node_str(edit, old ? KC_STR("autoscaling/v1") : KC_STR("autoscaling/v2")));
    kc_auto(kc_object) *made = kc_edit_freeze(edit, err);
    const kc__type_message *type =
        kc__type_lookup(old ? KC_STR("io.k8s.api.autoscaling.v1.HorizontalPodAutoscaler")
                            : KC_STR("io.k8s.api.autoscaling.v2.HorizontalPodAutoscaler"));
    return made ? kc__typed_decode(type, made, NULL, err) : NULL;
}

static kc_node *read_metrics(kc_edit *edit)
{
    int64_t percent;
    kc_node *others = list_in(edit, METRICS, "io.k8s.api.autoscaling.v1.MetricSpec");
    kc_node *metrics = kc_node_array(edit);
    kc_node_each_item (others, metric)
        kc_node_append(metrics, kc__autoscaler_metric_to_v2(edit, metric, false));
    if (kc_node_as_i64(in(edit, "spec", "targetCPUUtilizationPercentage"), &percent))
        kc_node_append(metrics, kc__autoscaler_cpu_metric(edit, percent));
    if (!kc_node_len(metrics))
        kc_node_append(metrics, kc__autoscaler_cpu_metric(edit, DEFAULT_PERCENT));
    return metrics;
}

/* The annotation has more metrics than the one number, so it takes precedence. */
static kc_node *read_current_metrics(kc_edit *edit)
{
    int64_t percent;
    kc_node *all = list_in(edit, CURRENT_METRICS, "io.k8s.api.autoscaling.v1.MetricStatus");
    kc_node *metrics = kc_node_array(edit);
    kc_node_each_item (all, metric)
        kc_node_append(metrics, kc__autoscaler_metric_to_v2(edit, metric, true));
    if (!all && kc_node_as_i64(in(edit, "status", "currentCPUUtilizationPercentage"), &percent))
        kc_node_append(metrics, cpu_status(edit, percent));
    return metrics;
}

kc_object *kc__autoscaler_to_v2(const kc_object *object, kc_error *err)
{
    kc_auto(kc_edit) *edit = kc_edit_of(object);
    kc_node *behavior = read_behavior(edit);
    kc_node *conditions =
        list_in(edit, CONDITIONS, "io.k8s.api.autoscaling.v1.HorizontalPodAutoscalerCondition");
    set_in(edit, "spec", "metrics", read_metrics(edit));
    set_in(edit, "status", "currentMetrics", read_current_metrics(edit));
    remove_in(edit, "spec", "targetCPUUtilizationPercentage");
    remove_in(edit, "status", "currentCPUUtilizationPercentage");
    if (behavior)
        set_in(edit, "spec", "behavior", behavior);
    if (conditions)
        set_in(edit, "status", "conditions", conditions);
    kc__autoscaler_drop_annotations(edit);
    return finish_autoscaler_conversion(edit, "v2", err);
}

/* ---- to v1 ---- */

static void keep_metrics(kc_edit *edit)
{
    int64_t percent;
    kc_node *others = kc_node_array(edit);
    bool first = true;
    kc_node_each_item (in(edit, "spec", "metrics"), metric) {
        if (!is_cpu(metric, "target", &percent)) {
            kc_node *v1 = kc__autoscaler_metric_to_v1(edit, metric, false);
            kc_node *typed = typed_node(edit, v1, "io.k8s.api.autoscaling.v1.MetricSpec");
            kc_node_append(others, typed ? typed : v1);
        } else if (first) {
            first = false;
            set_in(edit, "spec", "targetCPUUtilizationPercentage", kc_node_i64(edit, percent));
        }
    }
    annotate(edit, METRICS, others);
}

static void keep_current_metrics(kc_edit *edit)
{
    int64_t percent;
    kc_node *all = kc_node_array(edit);
    kc_node_each_item (in(edit, "status", "currentMetrics"), metric) {
        kc_node *v1 = kc__autoscaler_metric_to_v1(edit, metric, true);
        kc_node *typed = typed_node(edit, v1, "io.k8s.api.autoscaling.v1.MetricStatus");
        kc_node_append(all, typed ? typed : v1);
        if (is_cpu(metric, "current", &percent))
            set_in(edit, "status", "currentCPUUtilizationPercentage", kc_node_i64(edit, percent));
    }
    annotate(edit, CURRENT_METRICS, all);
}

kc_object *kc__autoscaler_to_v1(const kc_object *object, kc_error *err)
{
    kc_auto(kc_edit) *edit = kc_edit_of(object);
    kc__autoscaler_drop_annotations(edit);
    keep_metrics(edit);
    keep_current_metrics(edit);
    annotate_behavior(edit, in(edit, "spec", "behavior"));
    annotate(edit, CONDITIONS, in(edit, "status", "conditions"));
    remove_in(edit, "spec", "metrics");
    remove_in(edit, "spec", "behavior");
    remove_in(edit, "status", "currentMetrics");
    remove_in(edit, "status", "conditions");
    return finish_autoscaler_conversion(edit, "v1", err);
}
