/* SPDX-License-Identifier: Apache-2.0 */
/* plane.c: planes of the benchmarks: made, watched, counted. */
#include "plane.h"

#include "kc/controllers.h"

#include <stdio.h>

void bench_die(const char *what, const kc_error *err)
{
    fprintf(stderr, "%s: %s\n", what, kc_error_text(err));
    exit(2);
}

static void start_server(bench_plane *p, const bench_plane_opts *opts)
{
    kc_scoped(kc_error) err = {0};
    p->metrics = kc_metrics_new();
    p->log = kc_log_new(&(kc_log_opts){.level = KC_LOG_ERROR});
    const kc_embedded_server_opts server = {
        .metrics = p->metrics, .dir = opts->dir, .port = opts->listens ? -1 : 0};
    p->server = kc_embedded_server_start(&server, &err);
    p->client = p->server ? kc_embedded_server_client(p->server, &err) : NULL;
    if (!p->client)
        bench_die("start a server", &err);
}

static void start_manager(bench_plane *p, const bench_plane_opts *opts)
{
    kc_scoped(kc_error) err = {0};
    const kc_manager_opts manager = {
        .client = p->client, .log = p->log, .no_signal_handlers = true};
    const kc_controllers_opts which = {
        .workers = opts->workers,
        .pods = {.mode = KC_PODS_SIMULATE, .nodes = BENCH_NODES, .quiet = opts->quiet},
    };
    p->manager = kc_manager_new(&manager, &err);
    if (!p->manager || kc_controllers_add(p->manager, &which, &err) < 0 ||
        (opts->add && opts->add(p->manager, &err) < 0) || kc_manager_start(p->manager, &err) < 0)
        bench_die("start a plane", &err);
}

void bench_plane_open(bench_plane *p, const bench_plane_opts *opts)
{
    *p = (bench_plane){0};
    start_server(p, opts);
    if (opts->prepare)
        opts->prepare(p->client);
    start_manager(p, opts);
}

void bench_plane_close(bench_plane *p)
{
    kc_manager_free(p->manager);
    kc_client_unref(p->client);
    kc_embedded_server_stop(p->server);
    kc_metrics_free(p->metrics);
    kc_log_free(p->log);
}

void bench_plane_wait(const bench_plane *p, int64_t (*count)(const bench_plane *p), int64_t wanted)
{
    const int64_t deadline = kc_clock_deadline(kc_clock_real(), 15 * KC_MINUTE);
    while (count(p) != wanted) {
        if (kc_clock_now(kc_clock_real()) > deadline)
            bench_die("it does not come to an end", NULL);
        kc_clock_sleep(kc_clock_real(), 50 * KC_MILLISECOND);
    }
}
