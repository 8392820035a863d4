/* SPDX-License-Identifier: Apache-2.0 */
/*
 * server.c: event loops with a shard of the server on each, and an acceptor: on the same loop if
 * there is only one, otherwise on its own.
 *
 * Start: first the loops, then the sockets, on the caller's thread so that errors are returned to
 * the caller; accepting begins only when all sockets listen. Stop is the reverse: close the
 * sockets, drain, wait for connections to end, abort the rest, wait until the last exchange is
 * answered (it may be in a queue of another thread), stop the loops.
 */
#include "http/server/acceptor.h"
#include "http/server/listen.h"
#include "http/server/shard.h"

#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

enum { MAX_LOOPS = 16, SPARE_PART = 8, MIN_SPARE_FILES = 64, MAX_SPARE_FILES = 512 };

struct kc__http_server {
    size_t n_loops, n_listeners;
    kc__loop **loops;
    kc__shard **shards;
    kc__loop *accept_loop; /* NULL: the acceptor is on the first loop. */
    kc__acceptor *acceptor;
    kc__http_budget *budget;
    int *ports;
    const kc_clock *clock;
    kc__http_limits limits;
    kc__shard_group group;
    kc_counter *received, *sent, *handshake_timeouts;
    kc__http_endings endings;
    _Atomic bool draining;
    void (*stopping)(void *user);
    void *user;
};

/* ---- options ---- */

static size_t count_loops(size_t wanted)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    size_t n = wanted ? wanted : processors > 0 ? (size_t)processors : 1;
    return wanted ? n : KC_MIN(n, (size_t)MAX_LOOPS);
}

/* Reserves some descriptors for other uses than connections. */
static size_t connections_of_files(void)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) < 0 || files.rlim_cur == RLIM_INFINITY)
        return SIZE_MAX;
    size_t all = files.rlim_cur;
    size_t spare =
        KC_MIN(KC_MAX(all / SPARE_PART, (size_t)MIN_SPARE_FILES), (size_t)MAX_SPARE_FILES);
    return all > 2 * spare ? all - spare : spare;
}

/* `most`: 0 for no bound. */
static size_t count_connections(size_t wanted, size_t most)
{
    if (wanted)
        return wanted;
    return KC_MIN(connections_of_files(), most ? most : SIZE_MAX);
}

static kc_counter *counter(kc_metrics *metrics, const char *name, const char *help)
{
    if (!metrics)
        return NULL;
    return kc_metric_counter(
        kc_metrics_counter(metrics, &(kc_metric_opts){.name = name, .help = help}, NULL));
}

static void set_endings(kc__http_endings *endings, kc_metrics *metrics)
{
#define LABEL(name, label) label,
    static const char *const labels[] = {KC__HTTP_ENDINGS(LABEL) NULL};
#undef LABEL
    kc_metric *ended = kc_metrics_counter(
        metrics,
        &(kc_metric_opts){.name = "http_server_limit_endings_total",
                          .help = "Connections and HTTP/2 streams ended because a client exceeded "
                                  "a limit of time or number.",
                          .labels = {{"reason", labels}}},
        NULL);
    for (size_t i = 0; i < KC__HTTP_N_ENDINGS; i++)
        endings->counters[i] = kc_metric_counter(ended, kc_cstr(labels[i]));
}

static void set_metrics(kc__http_server *server, kc_metrics *metrics)
{
    server->received =
        counter(metrics, "http_server_received_bytes_total", "Bytes received from clients.");
    server->sent = counter(metrics, "http_server_sent_bytes_total", "Bytes sent to clients.");
    server->group.accepted =
        counter(metrics, "http_server_connections_total", "Connections accepted.");
    server->handshake_timeouts =
        counter(metrics, "http_server_tls_handshake_timeouts_total",
                "Connections closed because their TLS handshake timed out.");
    if (!metrics)
        return;
    server->group.connections = kc_metric_gauge(kc_metrics_gauge(
        metrics, &(kc_metric_opts){.name = "http_server_connections", .help = "Connections open."},
        NULL));
    set_endings(&server->endings, metrics);
    kc_metric *evicted = kc_metrics_counter(
        metrics,
        &(kc_metric_opts){.name = "http_server_connections_evicted_total",
                          .help = "Connections closed to make room for others.",
                          .labels = {{"state", KC_LABEL_VALUES("unauthenticated", "idle")}}},
        NULL);
    server->group.evicted_unauthenticated = kc_metric_counter(evicted, KC_STR("unauthenticated"));
    server->group.evicted_idle = kc_metric_counter(evicted, KC_STR("idle"));
}

/* ---- start ---- */

static int start_loops(kc__http_server *server, const kc__http_server_opts *opts, kc_error *err)
{
    kc__transport_context context = {
        .limits = &server->limits,
        .begin = opts->begin,
        .handle = opts->handle,
        .abandon = opts->abandon,
        .user = opts->user,
        .budget = server->budget,
        .log = opts->log,
        .received = server->received,
        .sent = server->sent,
        .handshake_timeouts = server->handshake_timeouts,
        .endings = &server->endings,
    };
    for (size_t i = 0; i < server->n_loops; i++) {
        char name[16];
        snprintf(name, sizeof(name), "http-%u", (unsigned)i % 1000);
        context.loop = server->loops[i] = kc__loop_start(name, opts->clock, err);
        if (!context.loop)
            return kc_error_result(err);
        server->shards[i] = kc__shard_new(&context, &server->group);
    }
    return 0;
}

static int start_acceptor(kc__http_server *server, const kc__http_server_opts *opts, kc_error *err)
{
    if (!opts->n_listeners)
        return 0;
    if (server->n_loops > 1 &&
        !(server->accept_loop = kc__loop_start("http-accept", opts->clock, err)))
        return kc_error_result(err);
    kc__loop *loop = server->accept_loop ? server->accept_loop : server->loops[0];
    server->acceptor = kc__acceptor_new(loop, &server->group, opts->log, opts->n_listeners);
    server->group.acceptor = server->acceptor;
    return 0;
}

static int start_listeners(kc__http_server *server, const kc__http_server_opts *opts, kc_error *err)
{
    for (size_t i = 0; i < opts->n_listeners; i++) {
        int fd;
        if (kc__http_listen(&opts->listeners[i], &fd, &server->ports[i], err) < 0)
            return kc_error_result(err);
        kc__acceptor_add(server->acceptor, fd, opts->listeners[i].tls);
    }
    return 0;
}

static kc__http_server *server_free(kc__http_server *server)
{
    kc__loop_stop(server->accept_loop);
    for (size_t i = 0; i < server->n_loops; i++)
        kc__loop_stop(server->loops[i]);
    for (size_t i = 0; i < server->n_loops; i++)
        kc__shard_free(server->shards[i]);
    kc__acceptor_free(server->acceptor);
    kc__http_budget_free(server->budget);
    kc_cond_done(&server->group.changed);
    kc_mutex_done(&server->group.mutex);
    free(server->loops);
    free(server->shards);
    free(server->ports);
    free(server);
    return NULL;
}

static kc__http_server *server_new(const kc__http_server_opts *opts)
{
    kc__http_server *server = kc_new(kc__http_server);
    server->n_loops = count_loops(opts->loops);
    server->n_listeners = opts->n_listeners;
    server->loops = kc_calloc(server->n_loops, sizeof(kc__loop *));
    server->shards = kc_calloc(server->n_loops, sizeof(kc__shard *));
    server->ports = kc_calloc(opts->n_listeners, sizeof(int));
    server->clock = opts->clock ? opts->clock : kc_clock_real();
    server->limits = opts->limits;
    kc__http_limits_default(&server->limits);
    kc_mutex_init(&server->group.mutex);
    kc_cond_init(&server->group.changed);
    server->group.max_open =
        count_connections(opts->max_connections, opts->max_default_connections);
    server->group.shards = server->shards;
    server->group.n_shards = server->n_loops;
    server->budget = kc__http_budget_new(&opts->budget, opts->metrics);
    set_metrics(server, opts->metrics);
    return server;
}

kc__http_server *kc__http_server_start(const kc__http_server_opts *opts, kc_error *err)
{
    kc__http_server *server = server_new(opts);
    if (start_loops(server, opts, err) < 0 || start_acceptor(server, opts, err) < 0 ||
        start_listeners(server, opts, err) < 0)
        return server_free(server);
    if (opts->starting && opts->starting(server, opts->user, err) < 0)
        return server_free(server);
    server->stopping = opts->stopping;
    server->user = opts->user;
    if (server->acceptor)
        kc__acceptor_begin(server->acceptor);
    return server;
}

/* ---- stop ---- */

void kc__http_server_retire(kc__http_server *server)
{
    for (size_t i = 0; i < server->n_loops; i++)
        kc__shard_retire(server->shards[i]);
}

void kc__http_server_evict_idle(kc__http_server *server)
{
    kc__shard_group_evict_idle(&server->group);
}

void kc__http_server_drain(kc__http_server *server)
{
    if (atomic_exchange(&server->draining, true))
        return;
    if (server->acceptor)
        kc__acceptor_close(server->acceptor);
    for (size_t i = 0; i < server->n_loops; i++)
        kc__shard_drain(server->shards[i]);
}

/* Waits until *count is zero or the deadline has passed. */
static void await_none(kc__http_server *server, const size_t *count, int64_t deadline)
{
    kc__shard_group *group = &server->group;
    kc_locked (&group->mutex) {
        while (*count &&
               kc_cond_wait_until(&group->changed, &group->mutex, server->clock, deadline))
            ;
    }
}

kc__http_server *kc__http_server_stop(kc__http_server *server, int64_t grace)
{
    if (!server)
        return NULL;
    kc__http_server_drain(server);
    await_none(server, &server->group.listening, KC_FOREVER);
    if (grace > 0)
        await_none(server, &server->group.open, kc_clock_deadline(server->clock, grace));
    for (size_t i = 0; i < server->n_loops; i++)
        kc__shard_abort(server->shards[i]);
    await_none(server, &server->group.alive, KC_FOREVER);
    kc__shard_group_close(&server->group); /* A loop that has stopped takes no part in a round. */
    await_none(server, &server->group.evicting, KC_FOREVER);
    if (server->stopping)
        server->stopping(server->user);
    return server_free(server);
}

/* ---- accessors ---- */

int kc__http_server_port(const kc__http_server *server, size_t listener)
{
    return listener < server->n_listeners ? server->ports[listener] : 0;
}

size_t kc__http_server_loops(const kc__http_server *server)
{
    return server->n_loops;
}

kc__loop *kc__http_server_loop(const kc__http_server *server, size_t i)
{
    return i < server->n_loops ? server->loops[i] : NULL;
}
