/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plane.h: a whole plane in one process to measure: a server, all controllers, 100 simulated nodes,
 * and what a benchmark adds.
 *
 *     bench_plane p;
 *     bench_plane_open(&p, &(bench_plane_opts){.dir = dir, .add = add_robots});
 *     …
 *     bench_plane_wait(&p, all_are_ready, NULL);
 *     bench_plane_close(&p);
 *
 * Whatever fails ends the program with a sentence: there is nothing to measure then.
 */
#ifndef KC_BENCH_PLANE_H
#define KC_BENCH_PLANE_H

#include "calls_testing.h"

#include "kc/embedded_server.h"
#include "kc/manager.h"

enum { BENCH_NODES = 100 };

typedef struct bench_plane {
    kc_metrics *metrics; /* The server's. */
    kc_embedded_server *server;
    kc_client *client; /* Without a socket. */
    kc_log *log;
    kc_manager *manager;
} bench_plane;

typedef struct bench_plane_opts {
    const char *dir; /* Durable. Defaults to memory. */
    bool listens;    /* Over HTTP too, at kc_embedded_server_port. */
    int workers;     /* Of each controller. Defaults to theirs. */
    bool quiet;      /* No events of containers that begin and end as they should. */
    /* Before anything of the manager is there; may be NULL. */
    void (*prepare)(kc_client *client);
    /* More controllers, before it starts; may be NULL. */
    int (*add)(kc_manager *manager, kc_error *err);
} bench_plane_opts;

void bench_plane_open(bench_plane *p, const bench_plane_opts *opts);
void bench_plane_close(bench_plane *p);

/* Until `count` gives `wanted`; looks 20 times a second. */
void bench_plane_wait(const bench_plane *p, int64_t (*count)(const bench_plane *p), int64_t wanted);

/* Says what failed, and ends the program. */
_Noreturn void bench_die(const char *what, const kc_error *err);

#endif
