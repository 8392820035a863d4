/* SPDX-License-Identifier: Apache-2.0 */
/*
 * columns_policy.c: columns of kinds that rule others: bindings of roles, PriorityClasses,
 * configurations of webhooks, ResourceQuotas, PodDisruptionBudgets, HorizontalPodAutoscalers.
 */
#include "apiserver/printing/columns_internal.h"

/* ---- RoleBinding, ClusterRoleBinding ---- */

static void cell_role(kc_buf *out, kc__row *row)
{
    const kc_value *ref = kc__row_at(row, "roleRef");
    kc_scoped(kc_buf) text = {0};
    kc_buf_printf(&text, "%s/%s", kc_as_cstr(kc_get(ref, "kind"), ""),
                  kc_as_cstr(kc_get(ref, "name"), ""));
    kc__cell_put_text(out, kc_buf_str(&text));
}

static void put_subjects(kc_buf *out, kc__row *row, const char *kind)
{
    kc_scoped(kc_buf) text = {0};
    kc_items (kc__row_at(row, "subjects"), subject) {
        const char *ns = kc_as_cstr(kc_get(subject, "namespace"), "");
        if (!kc_str_is(kc_as_str(kc_get(subject, "kind")), kind))
            continue;
        kc_buf_printf(&text, "%s%s%s%s", text.n ? ", " : "", ns, *ns ? "/" : "",
                      kc_as_cstr(kc_get(subject, "name"), ""));
    }
    kc__cell_put_text(out, kc_buf_str(&text));
}

static void cell_users(kc_buf *out, kc__row *row)
{
    put_subjects(out, row, "User");
}

static void cell_groups(kc_buf *out, kc__row *row)
{
    put_subjects(out, row, "Group");
}

static void cell_accounts(kc_buf *out, kc__row *row)
{
    put_subjects(out, row, "ServiceAccount");
}

static const kc__column binding[] = {
    KC__NAME_COLUMN,
    KC__TEXT_COLUMN("Role", cell_role, "What is given."),
    KC__AGE_COLUMN,
    KC__WIDE_COLUMN("Users", cell_users, "To which users."),
    KC__WIDE_COLUMN("Groups", cell_groups, "To which groups."),
    KC__WIDE_COLUMN("ServiceAccounts", cell_accounts, "To which service accounts."),
};
const kc__columns kc__binding_columns = KC__COLUMNS(binding);

/* ---- PriorityClass ---- */

static void cell_default(kc_buf *out, kc__row *row)
{
    kc_buf_puts(out, kc_as_bool(kc__row_at(row, "globalDefault"), false) ? "true" : "false");
}

static const kc__column priority_class[] = {
    KC__NAME_COLUMN,
    KC__COUNT_COLUMN("Value", "integer", "value", "How important its pods are."),
    {.name = "Global-Default",
     .type = "boolean",
     .description = "Whether pods without a class have this one.",
     .cell = cell_default},
    KC__AGE_COLUMN,
    KC__PATH_COLUMN("PreemptionPolicy", "preemptionPolicy", "", "Whether they make others go."),
};
const kc__columns kc__priority_class_columns = KC__COLUMNS(priority_class);

/* ---- webhooks ---- */

static const kc__column webhook[] = {
    KC__NAME_COLUMN,
    KC__COUNT_COLUMN("Webhooks", "integer", "webhooks", "How many there are."),
    KC__AGE_COLUMN,
};
const kc__columns kc__webhook_columns = KC__COLUMNS(webhook);

/* ---- ResourceQuota ---- */

static void put_quota(kc_buf *out, kc__row *row, bool limits)
{
    kc_scoped(kc_buf) text = {0};
    const kc_value *used = kc__row_at(row, "status.used");
    kc_members (kc__row_at(row, "status.hard"), name, hard) {
        if (kc_str_starts(name, KC_STR("limits.")) != limits)
            continue;
        kc_buf_printf(&text, "%s%.*s: %s/%s", text.n ? ", " : "", KC_ARG(name),
                      kc_as_cstr(kc_get_str(used, name), "0"), kc_as_cstr(hard, "0"));
    }
    kc__cell_put_text(out, kc_buf_str(&text));
}

static void cell_requests(kc_buf *out, kc__row *row)
{
    put_quota(out, row, false);
}

static void cell_limits(kc_buf *out, kc__row *row)
{
    put_quota(out, row, true);
}

static const kc__column quota[] = {
    KC__NAME_COLUMN,
    KC__TEXT_COLUMN("Request", cell_requests, "What may be requested, and what is."),
    KC__TEXT_COLUMN("Limit", cell_limits, "What limits may come to, and do."),
    KC__AGE_COLUMN,
};
const kc__columns kc__quota_columns = KC__COLUMNS(quota);

/* ---- PodDisruptionBudget ---- */

static void put_number_or_text(kc_buf *out, const kc_value *value, const char *otherwise)
{
    int64_t number;
    if (kc_as_i64(value, &number))
        kc_buf_printf(out, "\"%lld\"", (long long)number);
    else
        kc__cell_put_text(out, kc_cstr(kc_as_cstr(value, otherwise)));
}

static void cell_min(kc_buf *out, kc__row *row)
{
    put_number_or_text(out, kc__row_at(row, "spec.minAvailable"), "N/A");
}

static void cell_max(kc_buf *out, kc__row *row)
{
    put_number_or_text(out, kc__row_at(row, "spec.maxUnavailable"), "N/A");
}

static const kc__column budget[] = {
    KC__NAME_COLUMN,
    KC__TEXT_COLUMN("Min Available", cell_min, "How many pods must be there."),
    KC__TEXT_COLUMN("Max Unavailable", cell_max, "How many pods may be missing."),
    KC__COUNT_COLUMN("Allowed Disruptions", "integer", "status.disruptionsAllowed",
                     "How many may go now."),
    KC__AGE_COLUMN,
};
const kc__columns kc__budget_columns = KC__COLUMNS(budget);

/* ---- HorizontalPodAutoscaler ---- */

static void cell_target(kc_buf *out, kc__row *row)
{
    const kc_value *ref = kc__row_at(row, "spec.scaleTargetRef");
    kc_scoped(kc_buf) text = {0};
    kc_buf_printf(&text, "%s/%s", kc_as_cstr(kc_get(ref, "kind"), ""),
                  kc_as_cstr(kc_get(ref, "name"), ""));
    kc__cell_put_text(out, kc_buf_str(&text));
}

/* "cpu: 20%/80%" of a resource; of what a container uses the same. */
static void put_resource(kc_buf *text, const kc_value *spec, const kc_value *status)
{
    const kc_value *target = kc_get(spec, "target"), *current = kc_get(status, "current");
    const char *average = kc_as_cstr(kc_get(target, "averageValue"), NULL);
    int64_t wanted, has;
    kc_buf_printf(text, "%s: ", kc_as_cstr(kc_get(spec, "name"), ""));
    if (average) {
        kc_buf_printf(text, "%s/%s", kc_as_cstr(kc_get(current, "averageValue"), "<unknown>"),
                      average);
        return;
    }
    if (kc_as_i64(kc_get(current, "averageUtilization"), &has))
        kc_buf_printf(text, "%lld%%/", (long long)has);
    else
        kc_buf_puts(text, "<unknown>/");
    if (kc_as_i64(kc_get(target, "averageUtilization"), &wanted))
        kc_buf_printf(text, "%lld%%", (long long)wanted);
    else
        kc_buf_puts(text, "<auto>");
}

static void put_metric(kc_buf *text, const kc_value *spec, const kc_value *status)
{
    const kc_value *target = kc_get(spec, "target"), *current = kc_get(status, "current");
    const char *average = kc_as_cstr(kc_get(target, "averageValue"), NULL);
    const char *field = average ? "averageValue" : "value";
    kc_buf_printf(text, "%s/%s", kc_as_cstr(kc_get(current, field), "<unknown>"),
                  average ? average : kc_as_cstr(kc_get(target, "value"), "0"));
}

static void put_one(kc_buf *text, const kc_value *spec, const kc_value *status)
{
    kc_str type = kc_as_str(kc_get(spec, "type"));
    if (kc_str_is(type, "Resource"))
        put_resource(text, kc_get(spec, "resource"), kc_get(status, "resource"));
    else if (kc_str_is(type, "ContainerResource"))
        put_resource(text, kc_get(spec, "containerResource"), kc_get(status, "containerResource"));
    else if (kc_str_is(type, "Pods"))
        put_metric(text, kc_get(spec, "pods"), kc_get(status, "pods"));
    else if (kc_str_is(type, "External") || kc_str_is(type, "Object")) {
        const char *member = kc_str_is(type, "External") ? "external" : "object";
        put_metric(text, kc_get(spec, member), kc_get(status, member));
        if (kc_get(kc_get(kc_get(spec, member), "target"), "averageValue"))
            kc_buf_puts(text, " (avg)");
    } else
        kc_buf_puts(text, "<unknown type>");
}

static void cell_metrics(kc_buf *out, kc__row *row)
{
    enum { SHOWN = 2 };
    kc_scoped(kc_buf) text = {0};
    const kc_value *specs = kc__row_at(row, "spec.metrics");
    kc_iter at = kc__iter(kc__row_at(row, "status.currentMetrics"), KC_ARRAY);
    size_t n = 0;
    kc_items (specs, spec) {
        const kc_value *status = kc__iter_item(&at);
        if (n++ >= SHOWN)
            continue;
        kc_buf_puts(&text, n > 1 ? ", " : "");
        put_one(&text, spec, status);
    }
    if (n > SHOWN)
        kc_buf_printf(&text, " + %zu more...", n - SHOWN);
    kc__cell_put_text(out, n ? kc_buf_str(&text) : KC_STR("<none>"));
}

static void cell_min_pods(kc_buf *out, kc__row *row)
{
    put_number_or_text(out, kc__row_at(row, "spec.minReplicas"), "<unset>");
}

static const kc__column autoscaler[] = {
    KC__NAME_COLUMN,
    KC__TEXT_COLUMN("Reference", cell_target, "What it scales."),
    KC__TEXT_COLUMN("Targets", cell_metrics, "What it measures, and what that shall be."),
    KC__TEXT_COLUMN("MinPods", cell_min_pods, "How many pods there are at least."),
    KC__COUNT_COLUMN("MaxPods", "string", "spec.maxReplicas", "How many there are at most."),
    KC__COUNT_COLUMN("Replicas", "string", "status.currentReplicas", "How many there are."),
    KC__AGE_COLUMN,
};
const kc__columns kc__autoscaler_columns = KC__COLUMNS(autoscaler);
