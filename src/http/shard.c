/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shard.c: accepts connections on one loop.
 *
 * When there are as many connections as there may be, or the process has no file descriptor left,
 * the listening sockets are not polled any more: connections wait in the kernel's queue, and
 * nothing spins. It tries again when one of its connections is closed, and after RETRY in any case,
 * because other loops close theirs without telling.
 *
 * Threads: everything runs on the loop, except the three functions that post a task to it.
 */
#include "http/shard.h"

#include "http/loop_internal.h"

#include <errno.h>
#include <unistd.h>

#define RETRY (100 * KC_MILLISECOND)

enum { ACCEPT_ROUNDS = 64 };

typedef struct listening {
    uv_poll_t poll;
    kc__shard *shard;
    int fd;
    kc__tls *tls;
} listening;

struct kc__shard {
    kc__home home; /* First: the transports give it back. */
    kc__tally *tally;
    listening *listeners;
    size_t n_listeners;
    bool accepting;
    bool closed;
    kc__timer retry;
    kc__task begin, drain, abort;
};

static void on_connection(uv_poll_t *poll, int status, int events);

/* ---- pausing ---- */

static void accept_again(kc__shard *shard)
{
    if (shard->accepting || shard->closed)
        return;
    shard->accepting = true;
    kc__timer_stop(&shard->retry);
    for (size_t i = 0; i < shard->n_listeners; i++)
        uv_poll_start(&shard->listeners[i].poll, UV_READABLE, on_connection);
}

static void pause_accepting(kc__shard *shard)
{
    shard->accepting = false;
    for (size_t i = 0; i < shard->n_listeners; i++)
        uv_poll_stop(&shard->listeners[i].poll);
    kc__timer_start(&shard->retry, kc_clock_deadline(kc__loop_clock(shard->home.loop), RETRY));
}

static void on_retry(kc__timer *timer)
{
    accept_again(kc_container_of(timer, kc__shard, retry));
}

/* ---- counting ---- */

static bool count_in(kc__tally *tally)
{
    bool room = false;
    kc_locked (&tally->mutex) {
        room = tally->open < tally->max_open;
        tally->open += room;
        tally->alive += room;
    }
    return room;
}

static void count_out(kc__tally *tally, size_t *count)
{
    kc_locked (&tally->mutex) {
        --*count;
        kc_cond_broadcast(&tally->changed);
    }
}

static void on_closed(kc__home *home)
{
    kc__shard *shard = (kc__shard *)home;
    count_out(shard->tally, &shard->tally->open);
    kc_gauge_dec(shard->tally->connections);
    accept_again(shard);
}

static void on_freed(kc__home *home)
{
    kc__shard *shard = (kc__shard *)home;
    count_out(shard->tally, &shard->tally->alive);
}

static void forget(kc__tally *tally)
{
    count_out(tally, &tally->open);
    count_out(tally, &tally->alive);
}

/* ---- accepting ---- */

/* Errors of one connection are passed over; without descriptors or memory it pauses. */
static bool accept_failed(kc__shard *shard)
{
    if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
        kc_log_warn(shard->home.log, "cannot accept a connection now",
                    kc_kv("err", strerror(errno)));
        pause_accepting(shard);
        return true;
    }
    return errno == EAGAIN || errno == EWOULDBLOCK;
}

/* False when there is nothing more to accept for now. */
static bool accept_one(listening *l)
{
    kc__shard *shard = l->shard;
    struct sockaddr_storage from = {0};
    socklen_t n = sizeof(from);
    if (!count_in(shard->tally)) {
        pause_accepting(shard);
        return false;
    }
    int fd = accept4(l->fd, (struct sockaddr *)&from, &n, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) {
        bool stop = accept_failed(shard);
        forget(shard->tally);
        return !stop;
    }
    if (!kc__transport_start(&shard->home, fd, &from, l->tls)) {
        forget(shard->tally);
        return true;
    }
    kc_counter_inc(shard->tally->accepted);
    kc_gauge_inc(shard->tally->connections);
    return true;
}

static void on_connection(uv_poll_t *poll, int status, int events)
{
    listening *l = poll->data;
    (void)status;
    (void)events;
    for (int i = 0; i < ACCEPT_ROUNDS && l->shard->accepting; i++)
        if (!accept_one(l))
            return;
}

/* ---- tasks ---- */

static void begin(kc__task *task)
{
    kc__shard *shard = kc_container_of(task, kc__shard, begin);
    for (size_t i = 0; i < shard->n_listeners; i++) {
        listening *l = &shard->listeners[i];
        uv_poll_init(kc__loop_uv(shard->home.loop), &l->poll, l->fd);
        l->poll.data = l;
    }
    accept_again(shard);
}

static void close_listeners(kc__shard *shard)
{
    shard->closed = true;
    shard->accepting = false;
    kc__timer_stop(&shard->retry);
    for (size_t i = 0; i < shard->n_listeners; i++) {
        uv_close((uv_handle_t *)&shard->listeners[i].poll, NULL);
        close(shard->listeners[i].fd);
        shard->listeners[i].fd = -1;
    }
}

static void drain(kc__task *task)
{
    kc__shard *shard = kc_container_of(task, kc__shard, drain);
    close_listeners(shard);
    kc__home_drain(&shard->home);
}

static void abort_all(kc__task *task)
{
    kc__home_abort(&kc_container_of(task, kc__shard, abort)->home);
}

/* ---- life ---- */

kc__shard *kc__shard_new(const kc__home *home, kc__tally *tally, size_t n_listeners)
{
    kc__shard *shard = kc_new(kc__shard);
    shard->home = *home;
    shard->home.buf = kc_alloc(KC__READ_SIZE);
    shard->home.closed = on_closed;
    shard->home.freed = on_freed;
    kc_list_init(&shard->home.transports);
    shard->tally = tally;
    shard->listeners = kc_calloc(n_listeners, sizeof(listening));
    shard->retry = (kc__timer){.loop = home->loop, .fire = on_retry};
    shard->begin.run = begin;
    shard->drain.run = drain;
    shard->abort.run = abort_all;
    return shard;
}

kc__shard *kc__shard_free(kc__shard *shard)
{
    if (!shard)
        return NULL;
    for (size_t i = 0; i < shard->n_listeners; i++)
        if (shard->listeners[i].fd >= 0)
            close(shard->listeners[i].fd);
    free(shard->listeners);
    free(shard->home.buf);
    free(shard);
    return NULL;
}

void kc__shard_add_listener(kc__shard *shard, int fd, kc__tls *tls)
{
    shard->listeners[shard->n_listeners++] = (listening){.shard = shard, .fd = fd, .tls = tls};
}

void kc__shard_begin(kc__shard *shard)
{
    kc__loop_post(shard->home.loop, &shard->begin);
}

void kc__shard_drain(kc__shard *shard)
{
    kc__loop_post(shard->home.loop, &shard->drain);
}

void kc__shard_abort(kc__shard *shard)
{
    kc__loop_post(shard->home.loop, &shard->abort);
}
