/* SPDX-License-Identifier: Apache-2.0 */
/*
 * autoscaler_metrics.c: converts metrics between the two versions of HorizontalPodAutoscalers. v2
 * groups the measured metric in `metric` and its target in `target` (in a status: `current`); v1
 * has a flat member for each. A table maps the members. Only v2 has the `type` of a target, so it
 * is derived from which values are set.
 */
#include "apiserver/kinds/autoscaling/autoscaler.h"
#include "apiserver/kinds/defaults.h"

typedef struct metric_member {
    const char *v1;
    const char *v2[2]; /* A nested member, or only the first name. */
} metric_member;

typedef struct metric_source {
    const char *name; /* Name of the member that holds it: the metric's type in lower camel case. */
    const metric_member *members;
    const char *decides;               /* The target's member that decides its type: */
    const char *type_with, *type_else; /* the type if that member is set, and otherwise. */
} metric_source;

#define METRIC(selector_name)                 \
    {"metricName", {"metric", "name"}},       \
    {                                         \
        selector_name, {"metric", "selector"} \
    }
#define END {.v1 = NULL}

/* clang-format off */
static const metric_member object_spec[] = {
    METRIC("selector"), {"target", {"describedObject"}}, {"targetValue", {"target", "value"}},
    {"averageValue", {"target", "averageValue"}}, END,
};
static const metric_member pods_spec[] = {
    METRIC("selector"), {"targetAverageValue", {"target", "averageValue"}}, END,
};
static const metric_member resource_spec[] = { /* Also used for container resources. */
    {"name", {"name"}}, {"container", {"container"}},
    {"targetAverageUtilization", {"target", "averageUtilization"}},
    {"targetAverageValue", {"target", "averageValue"}}, END,
};
static const metric_member external_spec[] = {
    METRIC("metricSelector"), {"targetValue", {"target", "value"}},
    {"targetAverageValue", {"target", "averageValue"}}, END,
};
static const metric_member object_status[] = {
    METRIC("selector"), {"target", {"describedObject"}}, {"currentValue", {"current", "value"}},
    {"averageValue", {"current", "averageValue"}}, END,
};
static const metric_member pods_status[] = {
    METRIC("selector"), {"currentAverageValue", {"current", "averageValue"}}, END,
};
static const metric_member resource_status[] = {
    {"name", {"name"}}, {"container", {"container"}},
    {"currentAverageUtilization", {"current", "averageUtilization"}},
    {"currentAverageValue", {"current", "averageValue"}}, END,
};
static const metric_member external_status[] = {
    METRIC("metricSelector"), {"currentValue", {"current", "value"}},
    {"currentAverageValue", {"current", "averageValue"}}, END,
};

static const metric_source specs[] = {
    {"object", object_spec, "averageValue", "AverageValue", "Value"},
    {"pods", pods_spec, "averageValue", "AverageValue", "AverageValue"},
    {"resource", resource_spec, "averageUtilization", "Utilization", "AverageValue"},
    {"containerResource", resource_spec, "averageUtilization", "Utilization", "AverageValue"},
    {"external", external_spec, "value", "Value", "AverageValue"},
};
static const metric_source statuses[] = {
    {.name = "object", .members = object_status},
    {.name = "pods", .members = pods_status},
    {.name = "resource", .members = resource_status},
    {.name = "containerResource", .members = resource_status},
    {.name = "external", .members = external_status},
};
/* clang-format on */
_Static_assert(KC_COUNT(specs) == KC_COUNT(statuses), "each metric source has a spec and a status");

static kc_node *source_to_v2(kc_edit *edit, const metric_source *s, const kc_node *v1)
{
    kc_node *v2 = kc_node_object(edit);
    for (const metric_member *m = s->members; m->v1; m++) {
        kc_node *value = kc_node_clone(edit, kc_node_get(v1, kc_cstr(m->v1)));
        kc_node *holder = m->v2[1] ? kc_node_ensure_object(edit, v2, kc_cstr(m->v2[0])) : v2;
        if (value)
            kc_node_set(edit, holder, kc_cstr(m->v2[1] ? m->v2[1] : m->v2[0]), value);
    }
    if (s->decides) {
        kc_node *target = kc_node_ensure_object(edit, v2, KC_STR("target"));
        bool with = !kc__defaults_node_absent(target, s->decides);
        kc_node_set(edit, target, KC_STR("type"),
                    kc_node_str(edit, kc_cstr(with ? s->type_with : s->type_else)));
    }
    return v2;
}

static kc_node *source_to_v1(kc_edit *edit, const metric_source *s, const kc_node *v2)
{
    kc_node *v1 = kc_node_object(edit);
    for (const metric_member *m = s->members; m->v1; m++) {
        const kc_node *value = kc_node_get(v2, kc_cstr(m->v2[0]));
        if (m->v2[1])
            value = kc_node_get(value, kc_cstr(m->v2[1]));
        if (value)
            kc_node_set(edit, v1, kc_cstr(m->v1), kc_node_clone(edit, value));
    }
    return v1;
}

/* Returns the metric with its source in the other form. */
static kc_node *convert(kc_edit *edit, const kc_node *metric, bool status,
                        kc_node *(*change)(kc_edit *, const metric_source *, const kc_node *))
{
    kc_node *other = kc_node_object(edit);
    kc_node *type = kc_node_clone(edit, kc_node_get(metric, KC_STR("type")));
    if (type)
        kc_node_set(edit, other, KC_STR("type"), type);
    for (size_t i = 0; i < KC_COUNT(specs); i++) {
        const metric_source *s = status ? &statuses[i] : &specs[i];
        const kc_node *held = kc_node_get(metric, kc_cstr(s->name));
        if (held)
            kc_node_set(edit, other, kc_cstr(s->name), change(edit, s, held));
    }
    return other;
}

kc_node *kc__autoscaler_metric_to_v2(kc_edit *edit, const kc_node *metric, bool status)
{
    return convert(edit, metric, status, source_to_v2);
}

kc_node *kc__autoscaler_metric_to_v1(kc_edit *edit, const kc_node *metric, bool status)
{
    return convert(edit, metric, status, source_to_v1);
}
