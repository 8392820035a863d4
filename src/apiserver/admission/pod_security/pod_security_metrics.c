/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_security_metrics.c: the metrics of Kubernetes' plugin PodSecurity. The number of series is
 * bounded by their label values; versions after that of this server are "future".
 */
#include "apiserver/admission/pod_security/pod_security_metrics.h"

#include "kc/metrics.h"

enum { CURRENT_MINOR = 34 };

#define REQUEST_LABELS                                                                \
    {"request_operation", .values = KC_LABEL_VALUES("create", "update")},             \
        {"resource", .values = KC_LABEL_VALUES("pod", "controller")},                 \
    {                                                                                 \
        "subresource", .values = KC_LABEL_VALUES("", "ephemeralcontainers", "resize") \
    }

int kc__pod_security_metrics_init(kc__pod_security_metrics *metrics, kc_metrics *registry,
                                  kc_error *err)
{
    metrics->evaluations = kc_metrics_counter(
        registry,
        &(kc_metric_opts){
            .name = "pod_security_evaluations_total",
            .help = "Number of policy evaluations that occurred, not counting ignored or exempt "
                    "requests.",
            .labels = {{"decision", .values = KC_LABEL_VALUES("allow", "deny")},
                       {"policy_level",
                        .values = KC_LABEL_VALUES("privileged", "baseline", "restricted")},
                       {"policy_version", .max_values = CURRENT_MINOR + 3},
                       {"mode", .values = KC_LABEL_VALUES("enforce", "warn", "audit")},
                       REQUEST_LABELS}},
        err);
    metrics->exemptions = kc_metrics_counter(
        registry,
        &(kc_metric_opts){.name = "pod_security_exemptions_total",
                          .help = "Number of exempt requests, not counting ignored or out of "
                                  "scope requests.",
                          .labels = {REQUEST_LABELS}},
        err);
    metrics->errors = kc_metrics_counter(
        registry,
        &(kc_metric_opts){
            .name = "pod_security_errors_total",
            .help = "Number of errors preventing normal evaluation. Non-fatal errors "
                    "may result in the latest restricted profile being used for "
                    "evaluation.",
            .labels = {{"fatal", .values = KC_LABEL_VALUES("true", "false")}, REQUEST_LABELS}},
        err);
    return metrics->evaluations && metrics->exemptions && metrics->errors ? 0
                                                                          : kc_error_result(err);
}

static kc_str operation_label(const kc__rest_call *call)
{
    return call->current ? KC_STR("update") : KC_STR("create");
}

static kc_str resource_label(const kc__rest_call *call)
{
    return strcmp(call->resource->plural, "pods") ? KC_STR("controller") : KC_STR("pod");
}

static kc_str subresource_label(const kc__rest_call *call)
{
    return kc_cstr(call->subresource ? call->subresource->name : "");
}

/* A version in the label; `privileged` has no versions. */
static void write_version_label(kc_buf *out, const kc__pod_security_standard *standard)
{
    if (!standard->pinned || !standard->level)
        kc_buf_puts(out, "latest");
    else if (standard->minor > CURRENT_MINOR)
        kc_buf_puts(out, "future");
    else
        kc_buf_printf(out, "v1.%lld", (long long)standard->minor);
}

void kc__pod_security_count_evaluation(const kc__rest_call *call,
                                       const kc__pod_security_standard *standard, const char *mode,
                                       bool allowed)
{
    kc_scoped(kc_buf) version = {0};
    write_version_label(&version, standard);
    kc_counter_inc(kc_metric_counter(
        call->api->pod_security_metrics->evaluations, kc_cstr(allowed ? "allow" : "deny"),
        kc_cstr(kc__pod_security_level_name(standard->level)), kc_buf_str(&version), kc_cstr(mode),
        operation_label(call), resource_label(call), subresource_label(call)));
}

void kc__pod_security_count_exemption(const kc__rest_call *call)
{
    kc_counter_inc(kc_metric_counter(call->api->pod_security_metrics->exemptions,
                                     operation_label(call), resource_label(call),
                                     subresource_label(call)));
}

void kc__pod_security_count_error(const kc__rest_call *call, bool fatal)
{
    kc_counter_inc(kc_metric_counter(call->api->pod_security_metrics->errors,
                                     kc_cstr(fatal ? "true" : "false"), operation_label(call),
                                     resource_label(call), subresource_label(call)));
}
