/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policy_metrics.c: counts decisions of policies. Clients choose the names of policies and
 * bindings, so the number of label values is bounded, and the series of deleted ones are removed.
 */
#include "apiserver/admission/policies/policy_metrics.h"

#include "kc/str.h"

enum { MAX_NAMES = 1000 };

#define ERROR_TYPES KC_LABEL_VALUES("compile_error", "invalid_error", "out_of_budget", "no_error")
#define OPERATIONS  KC_LABEL_VALUES("CREATE", "UPDATE", "DELETE", "CONNECT")

static const double check_buckets[] = {0.0000005, 0.001, 0.01, 0.1, 1.0};
static const double condition_buckets[] = {0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25};

#define POLICY_LABELS                                                                 \
    {"policy", .max_values = MAX_NAMES}, {"policy_binding", .max_values = MAX_NAMES}, \
    {                                                                                 \
        "error_type", ERROR_TYPES                                                     \
    }
#define ACTION_LABEL {"enforcement_action", KC_LABEL_VALUES("allow", "deny", "warn", "audit")}
#define CONDITION_LABELS                                                               \
    {"name", .max_values = MAX_NAMES}, {"kind", KC_LABEL_VALUES("policy", "webhook")}, \
        {"type", KC_LABEL_VALUES("validate", "validating", "admit")},                  \
    {                                                                                  \
        "operation", OPERATIONS                                                        \
    }

static void register_checks(kc__admission_policy_metrics *m, kc_metrics *metrics, kc_error *err)
{
    m->validating_checks = kc_metrics_counter(
        metrics,
        &(kc_metric_opts){.name = "apiserver_validating_admission_policy_check_total",
                          .help = "Validations of admission policies, by policy, binding and "
                                  "enforcement action.",
                          .labels = {POLICY_LABELS, ACTION_LABEL}},
        err);
    m->validating_durations = kc_metrics_histogram(
        metrics,
        &(kc_metric_opts){.name = "apiserver_validating_admission_policy_check_duration_seconds",
                          .help = "Duration of validations of admission policies.",
                          .labels = {POLICY_LABELS, ACTION_LABEL},
                          .buckets = check_buckets,
                          .n_buckets = KC_COUNT(check_buckets)},
        err);
    m->mutating_checks = kc_metrics_counter(
        metrics,
        &(kc_metric_opts){.name = "apiserver_mutating_admission_policy_check_total",
                          .help = "Mutations of admission policies, by policy and binding.",
                          .labels = {POLICY_LABELS}},
        err);
    m->mutating_durations = kc_metrics_histogram(
        metrics,
        &(kc_metric_opts){.name = "apiserver_mutating_admission_policy_check_duration_seconds",
                          .help = "Duration of mutations of admission policies.",
                          .labels = {POLICY_LABELS},
                          .buckets = check_buckets,
                          .n_buckets = KC_COUNT(check_buckets)},
        err);
}

static void register_conditions(kc__admission_policy_metrics *m, kc_metrics *metrics, kc_error *err)
{
    m->condition_errors = kc_metrics_counter(
        metrics,
        &(kc_metric_opts){.name = "apiserver_admission_match_condition_evaluation_errors_total",
                          .help =
                              "Match conditions of webhooks and policies that failed to evaluate.",
                          .labels = {CONDITION_LABELS}},
        err);
    m->condition_exclusions = kc_metrics_counter(
        metrics,
        &(kc_metric_opts){.name = "apiserver_admission_match_condition_exclusions_total",
                          .help = "Requests that match conditions excluded.",
                          .labels = {CONDITION_LABELS}},
        err);
    m->condition_durations = kc_metrics_histogram(
        metrics,
        &(kc_metric_opts){.name = "apiserver_admission_match_condition_evaluation_seconds",
                          .help = "Duration of the evaluation of match conditions that failed or "
                                  "excluded a request.",
                          .labels = {CONDITION_LABELS},
                          .buckets = condition_buckets,
                          .n_buckets = KC_COUNT(condition_buckets)},
        err);
}

int kc__admission_policy_metrics_init(kc__admission_policy_metrics *m, kc_metrics *metrics,
                                      kc_error *err)
{
    register_checks(m, metrics, err);
    register_conditions(m, metrics, err);
    kc_metric *policies =
        kc_metrics_gauge(metrics,
                         &(kc_metric_opts){.name = "apiserver_admission_policies_in_effect",
                                           .help = "Admission policies that have a binding."},
                         err);
    kc_metric *memory =
        kc_metrics_gauge(metrics,
                         &(kc_metric_opts){.name = "apiserver_admission_policies_bytes",
                                           .help = "Memory of compiled admission policies."},
                         err);
    if (!m->validating_checks || !m->validating_durations || !m->mutating_checks ||
        !m->mutating_durations || !m->condition_errors || !m->condition_exclusions ||
        !m->condition_durations || !policies || !memory)
        return kc_error_result(err);
    m->policies = kc_metric_gauge(policies);
    m->memory = kc_metric_gauge(memory);
    return 0;
}

static kc_str error_type_of(kc_str message)
{
    if (kc_str_empty(message))
        return KC_STR("no_error");
    if (kc_str_starts(message, KC_STR("compilation")))
        return KC_STR("compile_error");
    if (kc_str_starts(message, KC_STR("validation failed due to running out of cost budget")))
        return KC_STR("out_of_budget");
    return KC_STR("invalid_error");
}

void kc__admission_policy_count(const kc__admission_policy_metrics *m,
                                const kc__admission_policy_check *check)
{
    const kc_str type = error_type_of(check->message);
    if (!check->action) {
        kc_counter_inc(kc_metric_counter(m->mutating_checks, check->policy, check->binding, type));
        kc_histogram_observe_duration(
            kc_metric_histogram(m->mutating_durations, check->policy, check->binding, type),
            check->took);
        return;
    }
    const kc_str action = kc_cstr(check->action);
    kc_counter_inc(
        kc_metric_counter(m->validating_checks, check->policy, check->binding, type, action));
    kc_histogram_observe_duration(
        kc_metric_histogram(m->validating_durations, check->policy, check->binding, type, action),
        check->took);
}

static bool is_in(kc_str name, void *names)
{
    return kc_map_get(names, name);
}

void kc__admission_policy_retain(const kc__admission_policy_metrics *m, const kc_map *policies,
                                 const kc_map *bindings)
{
    kc_metric *const metrics[] = {m->validating_checks, m->validating_durations, m->mutating_checks,
                                  m->mutating_durations};
    for (size_t i = 0; i < KC_COUNT(metrics); i++) {
        kc_metric_retain_labels(metrics[i], "policy", is_in, (void *)policies);
        kc_metric_retain_labels(metrics[i], "policy_binding", is_in, (void *)bindings);
    }
}

void kc__admission_conditions_count(const kc__admission_policy_metrics *m,
                                    const kc__admission_condition_check *check)
{
    const kc_str kind = kc_cstr(check->kind), type = kc_cstr(check->type),
                 operation = kc_cstr(check->operation);
    if (check->n_errors)
        kc_counter_add(kc_metric_counter(m->condition_errors, check->name, kind, type, operation),
                       (double)check->n_errors);
    kc_histogram *durations =
        check->series ? atomic_load_explicit(&check->series->found, memory_order_acquire) : NULL;
    if (!durations)
        durations = kc_metric_histogram(m->condition_durations, check->name, kind, type, operation);
    if (check->series)
        atomic_store_explicit(&check->series->found, durations, memory_order_release);
    kc_histogram_observe_duration(durations, check->took);
}

void kc__admission_conditions_count_exclusion(const kc__admission_policy_metrics *m,
                                              const kc__admission_condition_check *check)
{
    kc_counter_inc(kc_metric_counter(m->condition_exclusions, check->name, kc_cstr(check->kind),
                                     kc_cstr(check->type), kc_cstr(check->operation)));
}
