/* SPDX-License-Identifier: Apache-2.0 */
/*
 * channel.c: a set of endpoints, and the calls that wait for one.
 *
 * A channel has one loop, whose thread runs all its connections, timers and callbacks. Requests of
 * other threads reach it as tasks (loop.h): however many are started while the loop is busy, it is
 * woken once, and all of them go out with one write per connection.
 *
 * Endpoints take turns; those that do not answer a PING come last. An rpc that failed at one is
 * sent to another if there is one. An rpc that
 * finds none waits in `waiting`, which is looked through whenever an endpoint has changed.
 *
 * Shutdown ends the rpcs first, so that they see CANCELLED and not a lost connection, then closes
 * all connections. libuv frees their sockets later: `closed` opens when the last is freed, and the
 * loop can be stopped.
 *
 * Threads: `metadata` has a lock; `connected` and `shutting` are atomic; open and free run while no
 * other thread uses the channel.
 */
#include "grpc/grpc_internal.h"

#include "grpc/tls_client.h"
#include "http/tls_bio.h"

#define DEFAULT_MAX_RECEIVE ((size_t)16 << 20)

/* ---- endpoints ---- */

kc__grpc_endpoint *kc__grpc_channel_pick(kc__grpc_channel *channel, const kc__grpc_endpoint *other)
{
    enum { READY = 1, ANOTHER = 2, RESPONDS = 4, BEST = READY | ANOTHER | RESPONDS };
    kc__grpc_endpoint *best = NULL;
    for (size_t i = 0, rank = 0; i < channel->n_endpoints && rank < BEST; i++) {
        kc__grpc_endpoint *e = &channel->endpoints[(channel->next + i) % channel->n_endpoints];
        const size_t its = !kc__grpc_endpoint_is_ready(e)
                               ? 0
                               : (size_t)READY + (e != other ? ANOTHER : 0) +
                                     (kc__grpc_endpoint_responds(e) ? RESPONDS : 0);
        if (its > rank) {
            best = e;
            rank = its;
        }
    }
    if (best && best != other)
        channel->next = (size_t)(best - channel->endpoints) + 1;
    return best;
}

bool kc__grpc_channel_has_hope(const kc__grpc_channel *channel)
{
    for (size_t i = 0; i < channel->n_endpoints; i++)
        if (channel->endpoints[i].connection)
            return true;
    return false;
}

void kc__grpc_channel_explain(const kc__grpc_channel *channel, kc_buf *out)
{
    for (size_t i = 0; i < channel->n_endpoints; i++) {
        const kc__grpc_endpoint *e = &channel->endpoints[i];
        if (e->last_error.n)
            kc_buf_printf(out, "; %s: %.*s", e->url, KC_ARG(kc_buf_str(&e->last_error)));
    }
}

/* An rpc that still finds no endpoint returns to the list: the loop goes through a list of its
 * own. */
static void dispatch_waiting(kc__loop_task *task)
{
    kc__grpc_channel *channel = kc_container_of(task, kc__grpc_channel, retry_waiting);
    kc_dlist list;
    channel->retrying = false;
    kc_dlist_init(&list);
    kc_dlist_splice(&list, &channel->waiting);
    for (kc_dlist_link *link; (link = kc_dlist_pop(&list));)
        kc__grpc_rpc_dispatch(kc_container_of(link, kc__grpc_rpc, waiting));
}

void kc__grpc_channel_changed(kc__grpc_channel *channel)
{
    if (channel->retrying || kc_dlist_empty(&channel->waiting))
        return;
    channel->retrying = true;
    kc__loop_post(channel->loop, &channel->retry_waiting);
}

size_t kc__grpc_channel_connected(const kc__grpc_channel *channel)
{
    return atomic_load(&channel->connected);
}

bool kc__grpc_channel_set_metadata(kc__grpc_channel *channel, const char *name, kc_str value)
{
    if (!kc__grpc_field_is_valid(name, value))
        return false;
    kc_locked (&channel->mutex)
        kc__grpc_fields_set(&channel->metadata, name, value);
    return true;
}

/* ---- shutdown ---- */

static void report_closed(kc__grpc_channel *channel)
{
    if (channel->shut && !channel->n_connections)
        kc_latch_count_down(&channel->closed);
}

void kc__grpc_channel_released(kc__grpc_channel *channel)
{
    channel->n_connections--;
    report_closed(channel);
}

static void shut_down(kc__loop_task *task)
{
    static const char reason[] = "the channel is closed";
    kc__grpc_channel *channel = kc_container_of(task, kc__grpc_channel, shutdown);
    channel->shut = true;
    for (kc_dlist_link *link; (link = kc_dlist_first(&channel->rpcs));)
        kc__grpc_rpc_fail(kc_container_of(link, kc__grpc_rpc, link), KC__GRPC_CANCELLED, reason);
    for (size_t i = 0; i < channel->n_endpoints; i++)
        kc__grpc_endpoint_stop(&channel->endpoints[i]);
    kc__grpc_connection_close_all(channel, reason);
    report_closed(channel);
}

void kc__grpc_channel_shutdown(kc__grpc_channel *channel)
{
    if (!atomic_exchange(&channel->shutting, true))
        kc__loop_post(channel->loop, &channel->shutdown);
}

static void free_channel(kc__grpc_channel *channel)
{
    for (size_t i = 0; i < channel->n_endpoints; i++)
        kc__grpc_endpoint_done(&channel->endpoints[i]);
    free(channel->endpoints);
    free((char *)channel->tls.ca_file);
    free((char *)channel->tls.cert_file);
    free((char *)channel->tls.key_file);
    free((char *)channel->tls.server_name);
    free(channel->user_agent);
    free(channel->authority);
    BIO_meth_free(channel->bio);
    kc_vec_done(&channel->head);
    kc__grpc_fields_done(&channel->metadata);
    kc_mutex_done(&channel->mutex);
    kc_latch_done(&channel->closed);
    free(channel);
}

kc__grpc_channel *kc__grpc_channel_free(kc__grpc_channel *channel)
{
    if (!channel)
        return NULL;
    kc__grpc_channel_shutdown(channel);
    kc_latch_wait(&channel->closed);
    kc__loop_stop(channel->loop);
    free_channel(channel);
    return NULL;
}

/* ---- open ---- */

static int64_t duration_or(int64_t value, int64_t fallback)
{
    return value > 0 ? value : fallback;
}

static char *copy_or_null(const char *text)
{
    return text ? kc_strdup(text) : NULL;
}

static void copy_channel_opts(kc__grpc_channel *channel, const kc__grpc_channel_opts *opts)
{
    channel->clock = opts->clock ? opts->clock : kc_clock_real();
    channel->log = opts->log;
    channel->keepalive_time = duration_or(opts->keepalive_time, 10 * KC_SECOND);
    channel->keepalive_timeout = duration_or(opts->keepalive_timeout, 10 * KC_SECOND);
    channel->probe_after = opts->probe_after;
    channel->connect_timeout = duration_or(opts->connect_timeout, 5 * KC_SECOND);
    channel->max_backoff = duration_or(opts->max_backoff, 5 * KC_SECOND);
    channel->max_receive = opts->max_receive ? opts->max_receive : DEFAULT_MAX_RECEIVE;
    channel->user_agent = kc_strdup(opts->user_agent ? opts->user_agent : "kc-grpc");
    channel->authority = copy_or_null(opts->authority);
    channel->tls = (kc__grpc_tls){.ca_file = copy_or_null(opts->tls.ca_file),
                                  .cert_file = copy_or_null(opts->tls.cert_file),
                                  .key_file = copy_or_null(opts->tls.key_file),
                                  .server_name = copy_or_null(opts->tls.server_name)};
}

static int parse_endpoints(kc__grpc_channel *channel, const kc__grpc_channel_opts *opts,
                           kc_error *err)
{
    if (!opts->n_endpoints)
        return kc_error_set(err, KC_INVALID, "a channel needs an endpoint");
    channel->endpoints = kc_calloc(opts->n_endpoints, sizeof(kc__grpc_endpoint));
    for (; channel->n_endpoints < opts->n_endpoints; channel->n_endpoints++) {
        kc__grpc_endpoint *e = &channel->endpoints[channel->n_endpoints];
        e->channel = channel;
        if (kc__grpc_endpoint_parse(e, opts->endpoints[channel->n_endpoints], err) < 0)
            return kc_error_result(err);
    }
    return 0;
}

/* Mistakes in the settings of TLS are found now, not when the first connection fails. */
static int check_tls(kc__grpc_channel *channel, kc_error *err)
{
    bool used = false;
    for (size_t i = 0; i < channel->n_endpoints; i++)
        used = used || channel->endpoints[i].tls;
    SSL_CTX *ctx = used ? kc__grpc_tls_new(&channel->tls, err) : NULL;
    if (used && !ctx)
        return kc_error_result(err);
    SSL_CTX_free(ctx);
    channel->bio = kc__tls_bio_method_new();
    return channel->bio ? 0 : kc_error_set(err, KC_INTERNAL, "cannot set up TLS");
}

static void register_metrics(kc__grpc_channel *channel, kc_metrics *metrics)
{
    enum { METHODS = 64, CODES = 20 };
    if (!metrics)
        return;
    channel->handled = kc_metrics_counter(
        metrics,
        &(kc_metric_opts){
            .name = "grpc_client_handled_total",
            .help = "Calls and streams that have ended, by method and status code.",
            .labels = {{"grpc_method", .max_values = METHODS}, {"grpc_code", .max_values = CODES}}},
        NULL);
    channel->retries = kc_metric_counter(
        kc_metrics_counter(metrics,
                           &(kc_metric_opts){.name = "grpc_client_retries_total",
                                             .help = "Further attempts to send a request."},
                           NULL));
    channel->connects = kc_metric_counter(
        kc_metrics_counter(metrics,
                           &(kc_metric_opts){.name = "grpc_client_connects_total",
                                             .help = "Connections that became ready."},
                           NULL));
    channel->disconnects = kc_metric_counter(kc_metrics_counter(
        metrics,
        &(kc_metric_opts){.name = "grpc_client_disconnects_total",
                          .help = "Connections that were lost, drained or could not be opened."},
        NULL));
    channel->ready_endpoints = kc_metric_gauge(
        kc_metrics_gauge(metrics,
                         &(kc_metric_opts){.name = "grpc_client_ready_endpoints",
                                           .help = "Endpoints with a usable connection."},
                         NULL));
}

/* All endpoints connect at once; the first turn is random, so that clients do not all prefer the
 * same endpoint. */
static void connect_all(kc__loop_task *task)
{
    kc__grpc_channel *channel = kc_container_of(task, kc__grpc_channel, connect);
    channel->next = kc_rand_below(&channel->rand, channel->n_endpoints);
    for (size_t i = 0; i < channel->n_endpoints; i++)
        kc__grpc_endpoint_connect(&channel->endpoints[i]);
}

static kc__grpc_channel *channel_new(const kc__grpc_channel_opts *opts)
{
    kc__grpc_channel *channel = kc_new(kc__grpc_channel);
    copy_channel_opts(channel, opts);
    kc_rand_seed_os(&channel->rand);
    kc_dlist_init(&channel->rpcs);
    kc_dlist_init(&channel->waiting);
    kc_dlist_init(&channel->connections);
    kc_mutex_init(&channel->mutex);
    kc_latch_init(&channel->closed);
    kc_latch_add(&channel->closed, 1);
    channel->connect.run = connect_all;
    channel->shutdown.run = shut_down;
    channel->retry_waiting.run = dispatch_waiting;
    return channel;
}

kc__grpc_channel *kc__grpc_channel_open(const kc__grpc_channel_opts *opts, kc_error *err)
{
    kc__grpc_channel *channel = channel_new(opts);
    if (parse_endpoints(channel, opts, err) == 0 && check_tls(channel, err) == 0)
        channel->loop = kc__loop_start("grpc", channel->clock, err);
    if (!channel->loop) {
        free_channel(channel);
        return NULL;
    }
    register_metrics(channel, opts->metrics);
    kc__loop_post(channel->loop, &channel->connect);
    return channel;
}
