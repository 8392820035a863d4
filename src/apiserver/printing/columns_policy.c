/* SPDX-License-Identifier: Apache-2.0 */
/*
 * columns_policy.c: columns of policy kinds: role bindings, PriorityClasses, webhook
 * configurations, ResourceQuotas, PodDisruptionBudgets, HorizontalPodAutoscalers.
 */
#include "apiserver/printing/columns_internal.h"
#include "object/model/value_members.h"

/* ---- RoleBinding, ClusterRoleBinding ---- */

static void cell_role(kc_buf *out, kc__print_row *row)
{
    const kc_value *ref = kc__print_row_at(row, "roleRef");
    kc_scoped(kc_buf) text = {0};
    kc_buf_printf(&text, "%s/%s", kc_value_as_cstr(kc_value_get(ref, "kind"), ""),
                  kc_value_as_cstr(kc_value_get(ref, "name"), ""));
    kc__print_cell_put_text(out, kc_buf_str(&text));
}

static void put_subjects(kc_buf *out, kc__print_row *row, const char *kind)
{
    kc_scoped(kc_buf) text = {0};
    kc_value_each_item (kc__print_row_at(row, "subjects"), subject) {
        const char *ns = kc_value_as_cstr(kc_value_get(subject, "namespace"), "");
        if (!kc_str_is(kc_value_as_str(kc_value_get(subject, "kind")), kind))
            continue;
        kc_buf_printf(&text, "%s%s%s%s", text.n ? ", " : "", ns, *ns ? "/" : "",
                      kc_value_as_cstr(kc_value_get(subject, "name"), ""));
    }
    kc__print_cell_put_text(out, kc_buf_str(&text));
}

static void cell_users(kc_buf *out, kc__print_row *row)
{
    put_subjects(out, row, "User");
}

static void cell_groups(kc_buf *out, kc__print_row *row)
{
    put_subjects(out, row, "Group");
}

static void cell_accounts(kc_buf *out, kc__print_row *row)
{
    put_subjects(out, row, "ServiceAccount");
}

static const kc__print_column binding[] = {
    KC__PRINT_NAME_COLUMN,
    KC__PRINT_TEXT_COLUMN("Role", cell_role, "Role that the binding grants."),
    KC__PRINT_AGE_COLUMN,
    KC__PRINT_WIDE_COLUMN("Users", cell_users, "Users in the binding."),
    KC__PRINT_WIDE_COLUMN("Groups", cell_groups, "Groups in the binding."),
    KC__PRINT_WIDE_COLUMN("ServiceAccounts", cell_accounts, "Service accounts in the binding."),
};
const kc__print_columns kc__print_binding_columns = KC__PRINT_COLUMNS(binding);

/* ---- PriorityClass ---- */

static void cell_default(kc_buf *out, kc__print_row *row)
{
    kc_buf_puts(out,
                kc_value_as_bool(kc__print_row_at(row, "globalDefault"), false) ? "true" : "false");
}

static const kc__print_column priority_class[] = {
    KC__PRINT_NAME_COLUMN,
    KC__PRINT_COUNT_COLUMN("Value", "integer", "value", "Priority of the pods of the class."),
    {.name = "Global-Default",
     .type = "boolean",
     .description = "Whether pods without a priority class have this one.",
     .cell = cell_default},
    KC__PRINT_AGE_COLUMN,
    KC__PRINT_PATH_COLUMN("PreemptionPolicy", "preemptionPolicy", "",
                          "Whether pods of the class preempt pods of lower priority."),
};
const kc__print_columns kc__print_priority_class_columns = KC__PRINT_COLUMNS(priority_class);

/* ---- webhooks ---- */

static const kc__print_column webhook[] = {
    KC__PRINT_NAME_COLUMN,
    KC__PRINT_COUNT_COLUMN(
        "Webhooks", "integer", "webhooks",
        "Webhooks indicates the number of webhooks registered in this configuration"),
    KC__PRINT_AGE_COLUMN,
};
const kc__print_columns kc__print_webhook_columns = KC__PRINT_COLUMNS(webhook);

/* ---- ResourceQuota ---- */

static void put_quota(kc_buf *out, kc__print_row *row, bool limits)
{
    kc_scoped(kc_buf) text = {0};
    kc_scoped(kc__value_members) used = {.object = kc__print_row_at(row, "status.used")};
    kc_value_each_member (kc__print_row_at(row, "status.hard"), name, hard) {
        if (kc_str_starts(name, KC_STR("limits.")) != limits)
            continue;
        kc_buf_printf(&text, "%s%.*s: %s/%s", text.n ? ", " : "", KC_ARG(name),
                      kc_value_as_cstr(kc__value_members_find(&used, name), "0"),
                      kc_value_as_cstr(hard, "0"));
    }
    kc__print_cell_put_text(out, kc_buf_str(&text));
}

static void cell_requests(kc_buf *out, kc__print_row *row)
{
    put_quota(out, row, false);
}

static void cell_limits(kc_buf *out, kc__print_row *row)
{
    put_quota(out, row, true);
}

static const kc__print_column quota[] = {
    KC__PRINT_NAME_COLUMN,
    KC__PRINT_TEXT_COLUMN("Request", cell_requests,
                          "Used and hard limit of each requested resource."),
    KC__PRINT_TEXT_COLUMN("Limit", cell_limits, "Used and hard limit of each resource limit."),
    KC__PRINT_AGE_COLUMN,
};
const kc__print_columns kc__print_quota_columns = KC__PRINT_COLUMNS(quota);

/* ---- PodDisruptionBudget ---- */

static void put_number_or_text(kc_buf *out, const kc_value *value, const char *fallback)
{
    int64_t number;
    if (kc_value_as_i64(value, &number))
        kc_buf_printf(out, "\"%lld\"", (long long)number);
    else
        kc__print_cell_put_text(out, kc_cstr(kc_value_as_cstr(value, fallback)));
}

static void cell_min(kc_buf *out, kc__print_row *row)
{
    put_number_or_text(out, kc__print_row_at(row, "spec.minAvailable"), "N/A");
}

static void cell_max(kc_buf *out, kc__print_row *row)
{
    put_number_or_text(out, kc__print_row_at(row, "spec.maxUnavailable"), "N/A");
}

static const kc__print_column budget[] = {
    KC__PRINT_NAME_COLUMN,
    KC__PRINT_TEXT_COLUMN("Min Available", cell_min,
                          "The minimum number of pods that must be available."),
    KC__PRINT_TEXT_COLUMN("Max Unavailable", cell_max,
                          "The maximum number of pods that may be unavailable."),
    KC__PRINT_COUNT_COLUMN("Allowed Disruptions", "integer", "status.disruptionsAllowed",
                           "Calculated number of pods that may be disrupted at this time."),
    KC__PRINT_AGE_COLUMN,
};
const kc__print_columns kc__print_budget_columns = KC__PRINT_COLUMNS(budget);

/* ---- HorizontalPodAutoscaler ---- */

static void cell_target(kc_buf *out, kc__print_row *row)
{
    const kc_value *ref = kc__print_row_at(row, "spec.scaleTargetRef");
    kc_scoped(kc_buf) text = {0};
    kc_buf_printf(&text, "%s/%s", kc_value_as_cstr(kc_value_get(ref, "kind"), ""),
                  kc_value_as_cstr(kc_value_get(ref, "name"), ""));
    kc__print_cell_put_text(out, kc_buf_str(&text));
}

/* "cpu: 20%/80%" for a resource or a container resource. */
static void put_resource(kc_buf *text, const kc_value *spec, const kc_value *status)
{
    const kc_value *target = kc_value_get(spec, "target"),
                   *current = kc_value_get(status, "current");
    const char *average = kc_value_as_cstr(kc_value_get(target, "averageValue"), NULL);
    int64_t wanted, has;
    kc_buf_printf(text, "%s: ", kc_value_as_cstr(kc_value_get(spec, "name"), ""));
    if (average) {
        kc_buf_printf(text, "%s/%s",
                      kc_value_as_cstr(kc_value_get(current, "averageValue"), "<unknown>"),
                      average);
        return;
    }
    if (kc_value_as_i64(kc_value_get(current, "averageUtilization"), &has))
        kc_buf_printf(text, "%lld%%/", (long long)has);
    else
        kc_buf_puts(text, "<unknown>/");
    if (kc_value_as_i64(kc_value_get(target, "averageUtilization"), &wanted))
        kc_buf_printf(text, "%lld%%", (long long)wanted);
    else
        kc_buf_puts(text, "<auto>");
}

static void put_metric(kc_buf *text, const kc_value *spec, const kc_value *status)
{
    const kc_value *target = kc_value_get(spec, "target"),
                   *current = kc_value_get(status, "current");
    const char *average = kc_value_as_cstr(kc_value_get(target, "averageValue"), NULL);
    const char *field = average ? "averageValue" : "value";
    kc_buf_printf(text, "%s/%s", kc_value_as_cstr(kc_value_get(current, field), "<unknown>"),
                  average ? average : kc_value_as_cstr(kc_value_get(target, "value"), "0"));
}

static void put_one(kc_buf *text, const kc_value *spec, const kc_value *status)
{
    kc_str type = kc_value_as_str(kc_value_get(spec, "type"));
    if (kc_str_is(type, "Resource"))
        put_resource(text, kc_value_get(spec, "resource"), kc_value_get(status, "resource"));
    else if (kc_str_is(type, "ContainerResource"))
        put_resource(text, kc_value_get(spec, "containerResource"),
                     kc_value_get(status, "containerResource"));
    else if (kc_str_is(type, "Pods"))
        put_metric(text, kc_value_get(spec, "pods"), kc_value_get(status, "pods"));
    else if (kc_str_is(type, "External") || kc_str_is(type, "Object")) {
        const char *member = kc_str_is(type, "External") ? "external" : "object";
        put_metric(text, kc_value_get(spec, member), kc_value_get(status, member));
        if (kc_value_get(kc_value_get(kc_value_get(spec, member), "target"), "averageValue"))
            kc_buf_puts(text, " (avg)");
    } else
        kc_buf_puts(text, "<unknown type>");
}

static void cell_metrics(kc_buf *out, kc__print_row *row)
{
    enum { SHOWN = 2 };
    kc_scoped(kc_buf) text = {0};
    const kc_value *specs = kc__print_row_at(row, "spec.metrics");
    kc_value_iter at =
        kc__value_iter(kc__print_row_at(row, "status.currentMetrics"), KC_JSON_ARRAY);
    size_t n = 0;
    kc_value_each_item (specs, spec) {
        const kc_value *status = kc__value_iter_item(&at);
        if (n++ >= SHOWN)
            continue;
        kc_buf_puts(&text, n > 1 ? ", " : "");
        put_one(&text, spec, status);
    }
    if (n > SHOWN)
        kc_buf_printf(&text, " + %zu more...", n - SHOWN);
    kc__print_cell_put_text(out, n ? kc_buf_str(&text) : KC_STR("<none>"));
}

static void cell_min_pods(kc_buf *out, kc__print_row *row)
{
    put_number_or_text(out, kc__print_row_at(row, "spec.minReplicas"), "<unset>");
}

static const kc__print_column autoscaler[] = {
    KC__PRINT_NAME_COLUMN,
    KC__PRINT_TEXT_COLUMN("Reference", cell_target, "Resource that the autoscaler scales."),
    KC__PRINT_TEXT_COLUMN("Targets", cell_metrics, "Current and target value of each metric."),
    KC__PRINT_TEXT_COLUMN("MinPods", cell_min_pods, "Minimum number of replicas."),
    KC__PRINT_COUNT_COLUMN("MaxPods", "string", "spec.maxReplicas", "Maximum number of replicas."),
    KC__PRINT_COUNT_COLUMN("Replicas", "string", "status.currentReplicas",
                           "Current number of replicas."),
    KC__PRINT_AGE_COLUMN,
};
const kc__print_columns kc__print_autoscaler_columns = KC__PRINT_COLUMNS(autoscaler);
