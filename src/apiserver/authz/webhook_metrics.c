/* SPDX-License-Identifier: Apache-2.0 */
/* webhook_metrics.c: metrics of authorization webhooks, with the names of kube-apiserver. */
#include "apiserver/authz/webhook_internal.h"

#define PREFIX "apiserver_authorization_"

static int init_round_trips(kc__authz_webhook_metrics *m, kc_metrics *registry, kc_error *err)
{
    const kc_metric_label name = {"name", .max_values = KC__AUTHZ_WEBHOOK_NAMES},
                          result = {"result",
                                    KC_LABEL_VALUES("success", "canceled", "timeout", "error")};
    m->evaluations =
        kc_metrics_counter(registry,
                           &(kc_metric_opts){.name = PREFIX "webhook_evaluations_total",
                                             .help = "Round-trips to authorization webhooks.",
                                             .labels = {name, result}},
                           err);
    m->duration = kc_metrics_histogram(registry,
                                       &(kc_metric_opts){.name = PREFIX "webhook_duration_seconds",
                                                         .help = "Request latency in seconds.",
                                                         .labels = {name, result}},
                                       err);
    m->fail_open = kc_metrics_counter(
        registry,
        &(kc_metric_opts){.name = PREFIX "webhook_evaluations_fail_open_total",
                          .help = "NoOpinion results due to webhook timeout or error.",
                          .labels = {name, result}},
        err);
    return m->evaluations && m->duration && m->fail_open ? 0 : kc_error_result(err);
}

static int init_matches(kc__authz_webhook_metrics *m, kc_metrics *registry, kc_error *err)
{
    static const double buckets[] = {0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25};
    const kc_metric_label type = {"type", KC_LABEL_VALUES("Webhook")},
                          name = {"name", .max_values = KC__AUTHZ_WEBHOOK_NAMES};
    m->match_errors = kc_metrics_counter(
        registry,
        &(kc_metric_opts){.name = PREFIX "match_condition_evaluation_errors_total",
                          .help = "Total number of errors when an authorization webhook encounters "
                                  "a match condition error split by authorizer type and name.",
                          .labels = {type, name}},
        err);
    m->match_exclusions = kc_metrics_counter(
        registry,
        &(kc_metric_opts){.name = PREFIX "match_condition_exclusions_total",
                          .help = "Total number of exclusions when an authorization webhook is "
                                  "skipped because match conditions exclude it.",
                          .labels = {type, name}},
        err);
    m->match_seconds = kc_metrics_histogram(
        registry,
        &(kc_metric_opts){.name = PREFIX "match_condition_evaluation_seconds",
                          .help = "Authorization match condition evaluation time in seconds, split "
                                  "by authorizer type and name.",
                          .labels = {type, name},
                          .buckets = buckets,
                          .n_buckets = KC_COUNT(buckets)},
        err);
    return m->match_errors && m->match_exclusions && m->match_seconds ? 0 : kc_error_result(err);
}

int kc__authz_webhook_metrics_init(kc__authz_webhook_metrics *ret, kc_metrics *registry,
                                   kc_error *err)
{
    if (!registry)
        return 0;
    return init_round_trips(ret, registry, err) < 0 ? kc_error_result(err)
                                                    : init_matches(ret, registry, err);
}

void kc__authz_webhook_count_attempt(const kc__authz_webhook_metrics *m, const char *name,
                                     const char *result, int64_t took)
{
    kc_counter_inc(kc_metric_counter(m->evaluations, kc_cstr(name), kc_cstr(result)));
    kc_histogram_observe_duration(kc_metric_histogram(m->duration, kc_cstr(name), kc_cstr(result)),
                                  took);
}

void kc__authz_webhook_count_fail_open(const kc__authz_webhook_metrics *m, const char *name,
                                       const char *result)
{
    kc_counter_inc(kc_metric_counter(m->fail_open, kc_cstr(name), kc_cstr(result)));
}

void kc__authz_webhook_count_match(const kc__authz_webhook_metrics *m, const char *name,
                                   kc__authz_match result, int64_t took)
{
    const kc_str type = KC_STR("Webhook"), of = kc_cstr(name);
    kc_histogram_observe_duration(kc_metric_histogram(m->match_seconds, type, of), took);
    if (result == KC__AUTHZ_EXCLUDED)
        kc_counter_inc(kc_metric_counter(m->match_exclusions, type, of));
    if (result == KC__AUTHZ_FAILED)
        kc_counter_inc(kc_metric_counter(m->match_errors, type, of));
}
