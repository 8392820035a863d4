/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request_metrics.c: the metrics of requests. Label values come from closed sets: verbs, resources
 * of the catalog and their subresources, status codes; never text from a client.
 */
#include "apiserver/request/request_metrics.h"

#include "kc/map.h"

#include <stdio.h>

#define VERBS                                                                      \
    KC_LABEL_VALUES("get", "list", "watch", "create", "update", "patch", "delete", \
                    "deletecollection", "other")

int kc__rest_metrics_init(kc__rest_metrics *m, kc_metrics *metrics, kc_error *err)
{
    m->requests = kc_metrics_counter(
        metrics,
        &(kc_metric_opts){.name = "apiserver_request_total",
                          .help = "Requests by verb, resource, subresource and status code.",
                          .labels = {{"verb", VERBS},
                                     {"resource", .max_values = 2000},
                                     {"subresource", .max_values = 40},
                                     {"code", .max_values = 60}}},
        err);
    m->durations = kc_metrics_histogram(
        metrics,
        &(kc_metric_opts){.name = "apiserver_request_duration_seconds",
                          .help = "Time from the request head to the response, except watches.",
                          .labels = {{"verb", VERBS}}},
        err);
    kc_metric *unservable = kc_metrics_counter(
        metrics,
        &(kc_metric_opts){
            .name = "apiserver_unservable_object_reads_total",
            .help =
                "Reads of stored objects that cannot be served because the defaults of their CRD "
                "exceed the size limit."},
        err);
    kc_metric *no_memory = kc_metrics_counter(
        metrics,
        &(kc_metric_opts){.name = "apiserver_memory_rejected_requests_total",
                          .help = "Requests refused because the process is short of memory."},
        err);
    kc_metric *lost_owners = kc_metrics_counter(
        metrics,
        &(kc_metric_opts){.name = "apiserver_managed_fields_failures_total",
                          .help = "Writes without managedFields because they cannot be computed."},
        err);
    kc_metric *dropped_owners = kc_metrics_counter(
        metrics,
        &(kc_metric_opts){
            .name = "apiserver_managed_fields_dropped_total",
            .help = "Writes without managedFields because the object would be too large."},
        err);
    if (!m->requests || !m->durations || !unservable || !no_memory || !lost_owners ||
        !dropped_owners)
        return kc_error_result(err);
    m->no_memory = kc_metric_counter(no_memory);
    m->unservable = kc_metric_counter(unservable);
    m->lost_owners = kc_metric_counter(lost_owners);
    m->dropped_owners = kc_metric_counter(dropped_owners);
    return 0;
}

void kc__rest_count_call(const kc__rest_call *call)
{
    const kc__rest_metrics *m = call->api->counts;
    char code[16];
    kc_str verb = call->verb ? kc_cstr(call->verb->name) : KC_STR("other");
    kc_str resource = call->resource ? kc_cstr(call->resource->plural) : KC_STR("");
    kc_str part = call->subresource ? kc_cstr(call->subresource->name) : KC_STR("");
    snprintf(code, sizeof(code), "%d", call->status);
    kc_counter_inc(kc_metric_counter(m->requests, verb, resource, part, kc_cstr(code)));
    if (call->verb != &kc__rest_verb_watch)
        kc_histogram_observe_duration(kc_metric_histogram(m->durations, verb),
                                      kc_clock_now(call->api->clock) - call->x->request.received);
}

static bool is_served(kc_str plural, void *user)
{
    return !plural.n || kc_map_get(user, plural);
}

void kc__rest_metrics_retain(kc__rest_metrics *m, const kc__rest_catalog *served)
{
    kc_scoped(kc_map) plurals = {0};
    size_t n = 0;
    const kc__resource *resources = kc__registry_resources(served->kinds, &n);
    for (size_t i = 0; i < n; i++)
        kc_map_put(&plurals, kc_cstr(resources[i].plural), (void *)&resources[i]);
    kc_metric_retain_labels(m->requests, "resource", is_served, &plurals);
}
