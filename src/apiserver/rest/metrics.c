/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics.c: what the server counts about requests. Labels are closed sets: verbs, resources of the
 * table and their parts, codes; never text of a client.
 */
#include "apiserver/rest/api_metrics.h"

#include <stdio.h>

#define VERBS                                                                      \
    KC_LABEL_VALUES("get", "list", "watch", "create", "update", "patch", "delete", \
                    "deletecollection", "other")

int kc__api_metrics_init(kc__api_metrics *m, kc_metrics *metrics, kc_error *err)
{
    m->requests = kc_metrics_counter(metrics,
                                     &(kc_metric_opts){.name = "apiserver_request_total",
                                                       .help = "Requests that were answered.",
                                                       .labels = {{"verb", VERBS},
                                                                  {"resource", .max_values = 2000},
                                                                  {"subresource", .max_values = 40},
                                                                  {"code", .max_values = 60}}},
                                     err);
    m->durations = kc_metrics_histogram(
        metrics,
        &(kc_metric_opts){.name = "apiserver_request_duration_seconds",
                          .help = "From a request's head to its answer, watches apart.",
                          .labels = {{"verb", VERBS}}},
        err);
    return m->requests && m->durations ? 0 : -1;
}

void kc__count_call(const kc__call *call)
{
    const kc__api_metrics *m = call->api->counts;
    char code[16];
    kc_str verb = call->verb ? kc_cstr(call->verb->name) : KC_STR("other");
    kc_str resource = call->resource ? kc_cstr(call->resource->plural) : KC_STR("");
    kc_str part = call->subresource ? kc_cstr(call->subresource->name) : KC_STR("");
    snprintf(code, sizeof(code), "%d", call->status);
    kc_counter_inc(kc_counter_of(m->requests, verb, resource, part, kc_cstr(code)));
    if (call->verb != &kc__verb_watch)
        kc_histogram_observe_duration(kc_histogram_of(m->durations, verb),
                                      kc_clock_now(call->api->clock) - call->x->request.received);
}
