/* SPDX-License-Identifier: Apache-2.0 */
/*
 * encryption_metrics.c: the metrics of encryption at rest, with the names and labels of
 * kube-apiserver. One transformation counts under the prefix of its provider and, if that has keys,
 * under the name of the key, too. The label apiserver_id_hash is empty: a store has one server.
 */
#include "apiserver/storage/encryption/encryption_internal.h"

#include <stdio.h>

enum { MAX_RESOURCES = 2000, MAX_PREFIXES = 200, MAX_HASHES = 2, N_BUCKETS = 25 };

static int init_values(kc__encryption_metrics *m, kc_metrics *registry, kc_error *err)
{
    double buckets[N_BUCKETS];
    kc_buckets_exponential(5e-6, 2, N_BUCKETS, buckets);
    m->operations = kc_metrics_counter(
        registry,
        &(kc_metric_opts){
            .name = "apiserver_storage_transformation_operations_total",
            .help = "Total number of transformations. Successful transformation will have a status "
                    "'OK' and a varied status string when the transformation fails.",
            .labels = {{"resource", .max_values = MAX_RESOURCES},
                       {"transformation_type", KC_LABEL_VALUES("from_storage", "to_storage")},
                       {"transformer_prefix", .max_values = MAX_PREFIXES},
                       {"status", KC_LABEL_VALUES("OK", "unknown-non-grpc")}}},
        err);
    m->duration = kc_metrics_histogram(
        registry,
        &(kc_metric_opts){
            .name = "apiserver_storage_transformation_duration_seconds",
            .help = "Latencies in seconds of value transformation operations.",
            .labels = {{"transformation_type", KC_LABEL_VALUES("from_storage", "to_storage")},
                       {"transformer_prefix", .max_values = MAX_PREFIXES}},
            .buckets = buckets,
            .n_buckets = N_BUCKETS},
        err);
    return m->operations && m->duration ? 0 : kc_error_result(err);
}

static int init_reloads(kc__encryption_metrics *m, kc_metrics *registry, kc_error *err)
{
#define CONTROLLER "apiserver_encryption_config_controller_"
    const kc_metric_label status = {"status", KC_LABEL_VALUES("success", "failure")},
                          server = {"apiserver_id_hash", .max_values = 1};
    m->reloads = kc_metrics_counter(
        registry,
        &(kc_metric_opts){.name = CONTROLLER "automatic_reloads_total",
                          .help = "Total number of reload successes and failures of encryption "
                                  "configuration split by apiserver identity.",
                          .labels = {status, server}},
        err);
    m->reloaded_at = kc_metrics_gauge(
        registry,
        &(kc_metric_opts){.name = CONTROLLER "automatic_reload_last_timestamp_seconds",
                          .help = "Timestamp of the last successful or failed automatic reload of "
                                  "encryption configuration split by apiserver identity.",
                          .labels = {status, server}},
        err);
    m->info = kc_metrics_gauge(
        registry,
        &(kc_metric_opts){.name = CONTROLLER "last_config_info",
                          .help = "Information about the last applied encryption configuration "
                                  "with hash as label, split by apiserver identity.",
                          .labels = {server, {"hash", .max_values = MAX_HASHES}}},
        err);
    return m->reloads && m->reloaded_at && m->info ? 0 : kc_error_result(err);
#undef CONTROLLER
}

int kc__encryption_metrics_init(kc__encryption_metrics *ret, kc_metrics *registry, kc_error *err)
{
    if (!registry)
        return 0;
    return init_values(ret, registry, err) < 0 ? kc_error_result(err)
                                               : init_reloads(ret, registry, err);
}

void kc__encryption_count(const kc__encryption *encryption, kc__encryption_resource resource,
                          const char *type, kc_str prefix, int64_t started, bool failed)
{
    const kc__encryption_metrics *m = &encryption->metrics;
    char text[KC_METRIC_MAX_VALUE];
    if (!m->operations)
        return;
    const int n = snprintf(text, sizeof(text), "%.*s%s%.*s", KC_ARG(resource.name),
                           resource.group.n ? "." : "", KC_ARG(resource.group));
    const kc_str name = kc_str_of(text, KC_MIN((size_t)n, sizeof(text) - 1));
    kc_counter_inc(kc_metric_counter(m->operations, name, kc_cstr(type), prefix,
                                     kc_cstr(failed ? "unknown-non-grpc" : "OK")));
    if (!failed)
        kc_histogram_observe_duration(kc_metric_histogram(m->duration, kc_cstr(type), prefix),
                                      kc_clock_now(encryption->opts.clock) - started);
}

void kc__encryption_count_reload(const kc__encryption *encryption, bool failed, const char *hash,
                                 const char *old_hash)
{
    const kc__encryption_metrics *m = &encryption->metrics;
    const kc_str status = kc_cstr(failed ? "failure" : "success"), server = KC_STR("");
    if (!m->operations)
        return;
    kc_counter_inc(kc_metric_counter(m->reloads, status, server));
    kc_gauge_set(kc_metric_gauge(m->reloaded_at, status, server),
                 (double)kc_clock_wall(encryption->opts.clock) / (double)KC_SECOND);
    if (failed)
        return;
    kc_metric_delete_label(m->info, "hash", kc_cstr(old_hash));
    kc_gauge_set(kc_metric_gauge(m->info, server, kc_cstr(hash)), 1);
}
