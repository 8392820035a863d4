/* SPDX-License-Identifier: Apache-2.0 */
/*
 * etcd.c: the client: its channel, its timers, its operations in progress.
 *
 * Closing: the channel ends all calls and streams; delays fire at once, and what they start ends at
 * once; the count of operations falls to zero. Then no callback runs any more, and the threads can
 * be ended.
 */
#include "etcd/etcd_internal.h"

#include <assert.h>

void kc__etcd_operation_begin(kc__etcd *etcd)
{
    kc_locked (&etcd->mutex)
        etcd->operations++;
}

void kc__etcd_operation_end(kc__etcd *etcd)
{
    kc_locked (&etcd->mutex) {
        assert(etcd->operations > 0);
        if (!--etcd->operations)
            kc_cond_broadcast(&etcd->idle);
    }
}

/* ---- open ---- */

static const char *const method_names[] = {
#define METHOD_NAME(name, member, path, request, response, idempotent, leader) path,
    KC__ETCD_METHODS(METHOD_NAME)
#undef METHOD_NAME
        NULL};

static const char *const code_names[] = {
#define CODE_NAME(name, text, reason) text,
    KC__ETCD_CODES(CODE_NAME)
#undef CODE_NAME
        NULL};

static int register_client_metrics(kc_metrics *metrics, kc__etcd_metrics *m, kc_error *err)
{
    if (!metrics)
        return 0;
    m->duration = kc_metrics_histogram(
        metrics,
        &(kc_metric_opts){.name = "etcd_client_request_duration_seconds",
                          .help = "Duration of calls to etcd, with retries, by method.",
                          .labels = {{"method", method_names, 0}}},
        err);
    m->failures = kc_metrics_counter(
        metrics,
        &(kc_metric_opts){.name = "etcd_client_request_failures_total",
                          .help = "Failed calls to etcd by method and code.",
                          .labels = {{"method", method_names, 0}, {"code", code_names, 0}}},
        err);
    kc_metric *events =
        kc_metrics_counter(metrics,
                           &(kc_metric_opts){.name = "etcd_client_watch_events_total",
                                             .help = "Events that watches have delivered."},
                           err);
    kc_metric *streams =
        kc_metrics_counter(metrics,
                           &(kc_metric_opts){.name = "etcd_client_watch_streams_total",
                                             .help = "Streams opened for watches."},
                           err);
    if (!m->duration || !m->failures || !events || !streams)
        return kc_error_result(err);
    m->events = kc_metric_counter(events);
    m->streams = kc_metric_counter(streams);
    return 0;
}

static kc__grpc_channel *open_channel(const kc__etcd_opts *opts, const kc_clock *clock,
                                      kc_error *err)
{
    return kc__grpc_channel_open(
        &(kc__grpc_channel_opts){
            .endpoints = opts->endpoints,
            .n_endpoints = opts->n_endpoints,
            .tls = {.ca_file = opts->ca_file,
                    .cert_file = opts->cert_file,
                    .key_file = opts->key_file},
            .keepalive_time = opts->keepalive_time,
            .keepalive_timeout =
                opts->keepalive_timeout ? opts->keepalive_timeout : KC__ETCD_KEEPALIVE_TIMEOUT,
            .probe_after = KC__ETCD_SILENCE,
            .connect_timeout = opts->connect_timeout,
            .max_backoff = opts->max_backoff,
            .max_receive = opts->max_message ? opts->max_message : KC__ETCD_MAX_MESSAGE,
            .user_agent = "kc-etcd",
            .clock = clock,
            .log = opts->log,
            .metrics = opts->metrics},
        err);
}

static void free_client(kc__etcd *etcd)
{
    etcd->timers = kc__loop_stop(etcd->timers);
    kc__grpc_channel_free(etcd->channel);
    kc__etcd_watches_done(etcd);
    free(etcd->auth.username);
    free(etcd->auth.password);
    kc_cond_done(&etcd->idle);
    kc_mutex_done(&etcd->mutex);
    free(etcd);
}

kc__etcd *kc__etcd_open(const kc__etcd_opts *opts, kc_error *err)
{
    kc__etcd *etcd = kc_new(kc__etcd);
    etcd->clock = opts->clock ? opts->clock : kc_clock_real();
    etcd->log = opts->log;
    etcd->timeout = opts->timeout ? opts->timeout : KC__ETCD_DEFAULT_TIMEOUT;
    kc_mutex_init(&etcd->mutex);
    kc_cond_init(&etcd->idle);
    kc_rand_seed_os(&etcd->rand);
    kc_dlist_init(&etcd->delays);
    kc_dlist_init(&etcd->auth.waiters);
    if (opts->username && *opts->username) {
        etcd->auth.username = kc_strdup(opts->username);
        etcd->auth.password = kc_strdup(opts->password ? opts->password : "");
    }
    kc__etcd_watches_init(etcd);
    if (register_client_metrics(opts->metrics, &etcd->metrics, err) < 0 ||
        !(etcd->timers = kc__loop_start("etcd-timers", etcd->clock, err)) ||
        !(etcd->channel = open_channel(opts, etcd->clock, err))) {
        free_client(etcd);
        return NULL;
    }
    return etcd;
}

kc__etcd *kc__etcd_close(kc__etcd *etcd)
{
    if (!etcd)
        return NULL;
    kc_locked (&etcd->mutex)
        etcd->closing = true;
    kc__grpc_channel_shutdown(etcd->channel);
    kc__etcd_delay_close_all(etcd);
    kc_locked (&etcd->mutex) {
        assert(kc_dlist_empty(&etcd->watches.active));
        while (etcd->operations)
            kc_cond_wait(&etcd->idle, &etcd->mutex);
    }
    free_client(etcd);
    return NULL;
}
