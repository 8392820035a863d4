/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shard.c: accepts connections on one loop.
 *
 * When there are as many connections as there may be, or the process has no file descriptor left,
 * the listening sockets are not polled any more: connections wait in the kernel's queue, and
 * nothing spins. It tries again when one of its connections is closed, and after RETRY in any case,
 * because other loops close theirs without telling.
 *
 * The kernel spreads connections over the listening sockets by a hash, which leaves one loop idle
 * while another has all of four connections, and connections live long. So who accepts one hands it
 * to the loop that has the fewest, itself first.
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
    size_t open; /* Connections, and those on their way here. Guarded by the tally's mutex. */
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

static kc__shard *least_busy(kc__shard *self)
{
    kc__shard *best = self;
    for (size_t i = 0; i < self->tally->n_shards; i++)
        if (self->tally->shards[i]->open < best->open)
            best = self->tally->shards[i];
    return best;
}

/* The shard that is to have one more connection; NULL when there may be no more. */
static kc__shard *count_in(kc__shard *self)
{
    kc__tally *tally = self->tally;
    kc__shard *chosen = NULL;
    kc_locked (&tally->mutex) {
        if (tally->open < tally->max_open) {
            chosen = least_busy(self);
            chosen->open++;
            tally->open++;
            tally->alive++;
        }
    }
    return chosen;
}

static void count_closed(kc__shard *shard)
{
    kc_locked (&shard->tally->mutex) {
        shard->open--;
        shard->tally->open--;
        kc_cond_broadcast(&shard->tally->changed);
    }
}

static void count_freed(kc__tally *tally)
{
    kc_locked (&tally->mutex) {
        tally->alive--;
        kc_cond_broadcast(&tally->changed);
    }
}

static void on_closed(kc__home *home)
{
    kc__shard *shard = (kc__shard *)home;
    count_closed(shard);
    kc_gauge_dec(shard->tally->connections);
    accept_again(shard);
}

static void on_freed(kc__home *home)
{
    count_freed(((kc__shard *)home)->tally);
}

static void forget(kc__shard *shard)
{
    count_closed(shard);
    count_freed(shard->tally);
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

/* A connection on its way to another loop. */
typedef struct handover {
    kc__task task;
    kc__shard *shard;
    int fd;
    struct sockaddr_storage from;
    kc__tls *tls;
} handover;

static void take_in(kc__shard *shard, int fd, const struct sockaddr_storage *from, kc__tls *tls)
{
    if (!kc__transport_start(&shard->home, fd, from, tls)) {
        forget(shard);
        return;
    }
    kc_counter_inc(shard->tally->accepted);
    kc_gauge_inc(shard->tally->connections);
}

static void arrive(kc__task *task)
{
    handover *h = kc_container_of(task, handover, task);
    if (h->shard->home.draining) {
        close(h->fd);
        forget(h->shard);
    } else {
        take_in(h->shard, h->fd, &h->from, h->tls);
    }
    free(h);
}

static void hand_over(kc__shard *to, int fd, const struct sockaddr_storage *from, kc__tls *tls)
{
    handover *h = kc_new(handover);
    *h = (handover){.task.run = arrive, .shard = to, .fd = fd, .from = *from, .tls = tls};
    kc__loop_post(to->home.loop, &h->task);
}

/* False when there is nothing more to accept for now. */
static bool accept_one(listening *l)
{
    kc__shard *shard = l->shard;
    struct sockaddr_storage from = {0};
    socklen_t n = sizeof(from);
    kc__shard *chosen = count_in(shard);
    if (!chosen) {
        pause_accepting(shard);
        return false;
    }
    int fd = accept4(l->fd, (struct sockaddr *)&from, &n, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) {
        bool stop = accept_failed(shard);
        forget(chosen);
        return !stop;
    }
    if (chosen == shard)
        take_in(shard, fd, &from, l->tls);
    else
        hand_over(chosen, fd, &from, l->tls);
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
