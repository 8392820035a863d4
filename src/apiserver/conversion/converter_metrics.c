/* SPDX-License-Identifier: Apache-2.0 */
/* converter_metrics.c: the metrics of conversion webhooks, with the names of Kubernetes. */
#include "apiserver/conversion/converter_internal.h"

/* Clients choose the names of CRDs and versions: bound the label values. */
enum { MAX_CRDS = 1000, MAX_VERSIONS = 200 };

#define RESULTS KC_LABEL_VALUES("success", "failure")

static const char *const failure_types[] = {
#define FAILURE_TEXT(name, text) text,
    KC__CONVERSION_FAILURES(FAILURE_TEXT)
#undef FAILURE_TEXT
        NULL};

int kc__converter_register_metrics(kc__converter *c, kc_error *err)
{
    static const double seconds[] = {0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1,
                                     2,     5,    10,   20,   30,  45,  60};
    double exponential[15];
    kc_buckets_exponential(0.001, 2, KC_COUNT(exponential), exponential);
    c->requests = kc_metrics_counter(
        c->opts.metrics,
        &(kc_metric_opts){.name = "apiserver_conversion_webhook_request_total",
                          .help = "Calls of conversion webhooks, by result and type of failure.",
                          .labels = {{"result", RESULTS}, {"failure_type", failure_types}}},
        err);
    c->durations = kc_metrics_histogram(
        c->opts.metrics,
        &(kc_metric_opts){.name = "apiserver_conversion_webhook_duration_seconds",
                          .help = "Duration of calls of conversion webhooks.",
                          .labels = {{"result", RESULTS}, {"failure_type", failure_types}},
                          .buckets = seconds,
                          .n_buckets = KC_COUNT(seconds)},
        err);
    c->crd_durations = kc_metrics_histogram(
        c->opts.metrics,
        &(kc_metric_opts){.name = "apiserver_crd_conversion_webhook_duration_seconds",
                          .help = "Duration of calls of conversion webhooks, by CRD and versions.",
                          .labels = {{"crd_name", .max_values = MAX_CRDS},
                                     {"from_version", .max_values = MAX_VERSIONS},
                                     {"to_version", .max_values = MAX_VERSIONS},
                                     {"succeeded", KC_LABEL_VALUES("true", "false")}},
                          .buckets = exponential,
                          .n_buckets = KC_COUNT(exponential)},
        err);
    return c->requests && c->durations && c->crd_durations ? 0 : kc_error_result(err);
}

void kc__converter_count_call(const kc__conversion_batch *b, kc__conversion_failure failure)
{
    const kc__converter *c = b->converter;
    const int64_t took = kc_clock_now(c->opts.clock) - b->started;
    const kc_str type = kc_cstr(failure_types[failure]);
    const kc_str result = kc_cstr(failure ? "failure" : "success");
    kc_str from = kc_object_api_version(b->first);
    kc_str_cut(&from, '/');
    kc_counter_inc(kc_metric_counter(c->requests, result, type));
    kc_histogram_observe_duration(kc_metric_histogram(c->durations, result, type), took);
    kc_histogram_observe_duration(
        kc_metric_histogram(c->crd_durations, kc__crd_webhook_of(b->crd)->name, from,
                            kc_cstr(b->target->version), kc_cstr(failure ? "false" : "true")),
        took);
}
