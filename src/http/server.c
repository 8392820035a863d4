/* SPDX-License-Identifier: Apache-2.0 */
/*
 * server.c: loops, and a shard of the server on each.
 *
 * Starting: loops first, then the sockets, in the caller's thread so that errors are the caller's;
 * only when all of them listen do the shards begin to accept. Stopping goes the other way: drain,
 * wait for connections to end by themselves, abort the rest, wait until the last exchange is
 * answered (its handler may have it in another thread's queue), stop the loops.
 */
#include "http/listen.h"
#include "http/shard.h"

#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

enum { MAX_LOOPS = 16, SPARE_FILES = 64 };

struct kc__server {
    size_t n_loops, n_listeners;
    kc__loop **loops;
    kc__shard **shards;
    int *ports;
    const kc_clock *clock;
    kc__http_limits limits;
    kc__tally tally;
    kc_counter *received, *sent;
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

/* Leaves some descriptors for everything that is not a connection. */
static size_t count_connections(size_t wanted)
{
    struct rlimit files;
    if (wanted)
        return wanted;
    if (getrlimit(RLIMIT_NOFILE, &files) < 0 || files.rlim_cur == RLIM_INFINITY)
        return SIZE_MAX;
    return files.rlim_cur > 2 * SPARE_FILES ? files.rlim_cur - SPARE_FILES : SPARE_FILES;
}

static kc_counter *counter(kc_metrics *metrics, const char *name, const char *help)
{
    if (!metrics)
        return NULL;
    return kc_counter_of(
        kc_metrics_counter(metrics, &(kc_metric_opts){.name = name, .help = help}, NULL));
}

static void set_metrics(kc__server *server, kc_metrics *metrics)
{
    server->received =
        counter(metrics, "http_server_received_bytes_total", "Bytes received from clients.");
    server->sent = counter(metrics, "http_server_sent_bytes_total", "Bytes sent to clients.");
    server->tally.accepted =
        counter(metrics, "http_server_connections_total", "Connections accepted.");
    if (metrics)
        server->tally.connections = kc_gauge_of(kc_metrics_gauge(
            metrics,
            &(kc_metric_opts){.name = "http_server_connections", .help = "Connections open."},
            NULL));
}

/* ---- starting ---- */

static int start_loops(kc__server *server, const kc__server_opts *opts, kc_error *err)
{
    kc__home home = {
        .limits = &server->limits,
        .handle = opts->handle,
        .user = opts->user,
        .log = opts->log,
        .received = server->received,
        .sent = server->sent,
    };
    for (size_t i = 0; i < server->n_loops; i++) {
        char name[16];
        snprintf(name, sizeof(name), "http-%u", (unsigned)i % 1000);
        home.loop = server->loops[i] = kc__loop_start(name, opts->clock, err);
        if (!home.loop)
            return -1;
        server->shards[i] = kc__shard_new(&home, &server->tally, opts->n_listeners);
    }
    return 0;
}

static int start_listeners(kc__server *server, const kc__server_opts *opts, kc_error *err)
{
    kc_autofree int *fds = kc_calloc(server->n_loops, sizeof(int));
    for (size_t l = 0; l < opts->n_listeners; l++) {
        const kc__listener *where = &opts->listeners[l];
        if (kc__listen(where, server->n_loops, fds, &server->ports[l], err) < 0)
            return -1;
        for (size_t i = 0; i < server->n_loops; i++)
            kc__shard_add_listener(server->shards[i], fds[i], where->tls);
    }
    return 0;
}

static kc__server *server_free(kc__server *server)
{
    for (size_t i = 0; i < server->n_loops; i++)
        kc__loop_stop(server->loops[i]);
    for (size_t i = 0; i < server->n_loops; i++)
        kc__shard_free(server->shards[i]);
    kc_cond_done(&server->tally.changed);
    kc_mutex_done(&server->tally.mutex);
    free(server->loops);
    free(server->shards);
    free(server->ports);
    free(server);
    return NULL;
}

static kc__server *server_new(const kc__server_opts *opts)
{
    kc__server *server = kc_new(kc__server);
    server->n_loops = count_loops(opts->loops);
    server->n_listeners = opts->n_listeners;
    server->loops = kc_calloc(server->n_loops, sizeof(kc__loop *));
    server->shards = kc_calloc(server->n_loops, sizeof(kc__shard *));
    server->ports = kc_calloc(opts->n_listeners, sizeof(int));
    server->clock = opts->clock ? opts->clock : kc_clock_real();
    server->limits = opts->limits;
    kc__http_limits_default(&server->limits);
    kc_mutex_init(&server->tally.mutex);
    kc_cond_init(&server->tally.changed);
    server->tally.max_open = count_connections(opts->max_connections);
    server->tally.shards = server->shards;
    server->tally.n_shards = server->n_loops;
    set_metrics(server, opts->metrics);
    return server;
}

kc__server *kc__server_start(const kc__server_opts *opts, kc_error *err)
{
    kc__server *server = server_new(opts);
    if (start_loops(server, opts, err) < 0 || start_listeners(server, opts, err) < 0)
        return server_free(server);
    if (opts->starting && opts->starting(server, opts->user, err) < 0)
        return server_free(server);
    server->stopping = opts->stopping;
    server->user = opts->user;
    for (size_t i = 0; i < server->n_loops; i++)
        kc__shard_begin(server->shards[i]);
    return server;
}

/* ---- stopping ---- */

void kc__server_drain(kc__server *server)
{
    if (atomic_exchange(&server->draining, true))
        return;
    for (size_t i = 0; i < server->n_loops; i++)
        kc__shard_drain(server->shards[i]);
}

/* Until *count is zero or the deadline has passed. */
static void await_none(kc__server *server, const size_t *count, int64_t deadline)
{
    kc__tally *tally = &server->tally;
    kc_locked (&tally->mutex) {
        while (*count &&
               kc_cond_wait_until(&tally->changed, &tally->mutex, server->clock, deadline))
            ;
    }
}

kc__server *kc__server_stop(kc__server *server, int64_t grace)
{
    if (!server)
        return NULL;
    kc__server_drain(server);
    if (grace > 0)
        await_none(server, &server->tally.open, kc_clock_deadline(server->clock, grace));
    for (size_t i = 0; i < server->n_loops; i++)
        kc__shard_abort(server->shards[i]);
    await_none(server, &server->tally.alive, KC_FOREVER);
    if (server->stopping)
        server->stopping(server->user);
    return server_free(server);
}

/* ---- looking ---- */

int kc__server_port(const kc__server *server, size_t listener)
{
    return listener < server->n_listeners ? server->ports[listener] : 0;
}

size_t kc__server_loops(const kc__server *server)
{
    return server->n_loops;
}

kc__loop *kc__server_loop(const kc__server *server, size_t i)
{
    return i < server->n_loops ? server->loops[i] : NULL;
}
