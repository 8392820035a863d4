/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grpc.c: processor time of the gRPC client for a unary call of 100 bytes, 64 at a time, over a
 * socket of this machine. Counted are the channel's thread and, for blocking calls, the threads of
 * the callers; not the server's. Calls with callbacks start the next call from the callback. The
 * peer is a bare socket: a thread that writes 100 bytes and reads them again, one at a time.
 */
#include "bench.h"

#include "grpc/grpc.h"
#include "grpc_server.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { CONCURRENT = 64, CALLS = 100000, BYTES = 100, ROUNDS = 5 };

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

/* ---- the peer ---- */

static void echo_until_closed(void *user)
{
    const int socket = *(const int *)user;
    char bytes[BYTES];
    ssize_t n;
    while ((n = recv(socket, bytes, sizeof(bytes), MSG_WAITALL)) > 0)
        if (send(socket, bytes, (size_t)n, MSG_NOSIGNAL) != n)
            return;
}

/* A TCP connection of this machine to itself. */
static void connect_pair(int ret_sockets[2])
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof(address);
    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ret_sockets[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(listener, (struct sockaddr *)&address, n) < 0 || listen(listener, 1) < 0 ||
        getsockname(listener, (struct sockaddr *)&address, &n) < 0 ||
        connect(ret_sockets[0], (struct sockaddr *)&address, n) < 0 ||
        (ret_sockets[1] = accept(listener, NULL, NULL)) < 0)
        abort();
    close(listener);
}

/* Microseconds of the writing thread for each round trip. */
static double measure_bare_socket(void)
{
    int sockets[2];
    char bytes[BYTES] = {0};
    connect_pair(sockets);
    kc_thread *echo = kc_thread_start("echo", echo_until_closed, &sockets[1], NULL);
    const int64_t begin = thread_cpu();
    for (int i = 0; i < CALLS; i++)
        if (send(sockets[0], bytes, BYTES, MSG_NOSIGNAL) != BYTES ||
            recv(sockets[0], bytes, BYTES, MSG_WAITALL) != BYTES)
            abort();
    const double cpu = (double)(thread_cpu() - begin) / CALLS / 1000;
    printf("  %-14s %6.2f us of processor time\n", "bare socket", cpu);
    shutdown(sockets[0], SHUT_RDWR);
    kc_thread_join(echo);
    close(sockets[0]);
    close(sockets[1]);
    return cpu;
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

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double values[ROUNDS])
{
    qsort(values, ROUNDS, sizeof(double), by_value);
    return values[ROUNDS / 2];
}

int main(void)
{
    grpc_server *server = grpc_server_start(&(grpc_server_opts){0});
    const char *url = server->url;
    load l = {.channel = kc__grpc_channel_open(
                  &(kc__grpc_channel_opts){.endpoints = &url, .n_endpoints = 1}, NULL)};
    kc_latch_init(&l.running);
    printf("gRPC client: a unary call, %d at a time\n", CONCURRENT);
    double calls[ROUNDS], bare[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        bare[i] = measure_bare_socket();
        calls[i] = measure("callbacks", call_with_callbacks, &l);
    }
    measure("blocking", call_from_threads, &l);
    bench_at_most("unary call with a callback: processor time, to a bare socket",
                  median(calls) / median(bare), 0.36);
    bench_at_most("failed calls", atomic_load(&l.failed), 0);
    kc__grpc_channel_free(l.channel);
    kc_latch_done(&l.running);
    grpc_server_stop(server);
    return bench_result();
}
