/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grpc.c: processor time of the gRPC client for a unary call of 100 bytes, 64 at a time, over a
 * socket of this machine. Counted are the channel's thread and, for blocking calls, the threads of
 * the callers; not the server's. Calls with callbacks start the next call from the callback.
 */
#include "bench.h"

#include "grpc/grpc.h"
#include "grpc_server.h"

#include <stdio.h>
#include <time.h>

enum { CONCURRENT = 64, CALLS = 200000, BYTES = 100 };

static int64_t thread_cpu(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec * KC_SECOND + time.tv_nsec;
}

typedef struct load {
    kc__grpc_channel *channel;
    char request[BYTES];
    kc_latch running;
    _Atomic int left;
    _Atomic int failed;
    _Atomic int64_t callers; /* Processor time of their threads. */
} load;

/* ---- the channel's thread ---- */

typedef struct reading {
    int64_t cpu;
    kc_latch done;
} reading;

static void read_clock(kc__grpc_reply *reply, void *user)
{
    reading *r = user;
    (void)reply;
    r->cpu = thread_cpu();
    kc_latch_count_down(&r->done);
}

/* The processor time of the channel's thread so far. */
static int64_t channel_cpu(kc__grpc_channel *channel)
{
    reading r = {0};
    kc_latch_init(&r.done);
    kc_latch_add(&r.done, 1);
    kc__grpc_call_unref(kc__grpc_call_start(channel, &(kc__grpc_call_opts){.method = "/test/Echo",
                                                                           .wait_for_ready = true,
                                                                           .done = read_clock,
                                                                           .user = &r}));
    kc_latch_wait(&r.done);
    kc_latch_done(&r.done);
    return r.cpu;
}

/* ---- callbacks ---- */

static void start_next(load *l);

static void on_echo(kc__grpc_reply *reply, void *user)
{
    load *l = user;
    if (reply->status.code != KC__GRPC_OK || reply->response.n != BYTES)
        atomic_fetch_add(&l->failed, 1);
    start_next(l);
}

static void start_next(load *l)
{
    if (atomic_fetch_sub(&l->left, 1) <= 0) {
        kc_latch_count_down(&l->running);
        return;
    }
    const kc__grpc_call_opts opts = {.method = "/test/Echo",
                                     .request = kc_str_of(l->request, BYTES),
                                     .deadline = kc_clock_deadline(kc_clock_real(), KC_MINUTE),
                                     .done = on_echo,
                                     .user = l};
    kc__grpc_call_unref(kc__grpc_call_start(l->channel, &opts));
}

static void call_with_callbacks(load *l)
{
    for (int i = 0; i < CONCURRENT; i++)
        start_next(l);
    kc_latch_wait(&l->running);
}

/* ---- blocking ---- */

static void call_until_none_is_left(void *user)
{
    load *l = user;
    while (atomic_fetch_sub(&l->left, 1) > 0) {
        kc_scoped(kc__grpc_reply) reply = {0};
        kc__grpc_call_wait(
            l->channel,
            &(kc__grpc_call_opts){.method = "/test/Echo",
                                  .request = kc_str_of(l->request, BYTES),
                                  .deadline = kc_clock_deadline(kc_clock_real(), KC_MINUTE)},
            NULL, &reply);
        if (reply.status.code != KC__GRPC_OK)
            atomic_fetch_add(&l->failed, 1);
    }
    atomic_fetch_add(&l->callers, thread_cpu());
    kc_latch_count_down(&l->running);
}

static void call_from_threads(load *l)
{
    kc_thread *threads[CONCURRENT];
    for (int i = 0; i < CONCURRENT; i++)
        threads[i] = kc_thread_start("caller", call_until_none_is_left, l, NULL);
    for (int i = 0; i < CONCURRENT; i++)
        kc_thread_join(threads[i]);
}

/* ---- */

/* Microseconds per call. */
static double measure(const char *name, void (*run)(load *l), load *l)
{
    atomic_store(&l->left, CALLS);
    atomic_store(&l->callers, 0);
    kc_latch_add(&l->running, CONCURRENT);
    const int64_t begin = channel_cpu(l->channel), at = kc_clock_now(kc_clock_real());
    run(l);
    const int64_t took = kc_clock_now(kc_clock_real()) - at;
    const int64_t cpu = channel_cpu(l->channel) - begin + atomic_load(&l->callers);
    printf("  %-14s %6.2f us of processor time, %8.0f calls/s\n", name, (double)cpu / CALLS / 1000,
           CALLS * 1e9 / (double)took);
    return (double)cpu / CALLS / 1000;
}

int main(void)
{
    grpc_server *server = grpc_server_start(&(grpc_server_opts){0});
    const char *url = server->url;
    load l = {.channel = kc__grpc_channel_open(
                  &(kc__grpc_channel_opts){.endpoints = &url, .n_endpoints = 1}, NULL)};
    kc_latch_init(&l.running);
    printf("gRPC client: a unary call, %d at a time\n", CONCURRENT);
    bench_at_most("unary call with a callback, in microseconds of processor time",
                  measure("callbacks", call_with_callbacks, &l), 20);
    measure("blocking", call_from_threads, &l);
    bench_at_most("failed calls", atomic_load(&l.failed), 0);
    kc__grpc_channel_free(l.channel);
    kc_latch_done(&l.running);
    grpc_server_stop(server);
    return bench_result();
}
