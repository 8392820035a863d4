/* SPDX-License-Identifier: Apache-2.0 */
/*
 * acceptor.c: accepts connections, on a loop of its own if the server has several, so that requests
 * do not delay new clients.
 *
 * There is one listening socket for each address. SO_REUSEPORT, with a socket for each loop, would
 * let any process of the same user listen on the port too and take a part of the connections.
 *
 * When the number of connections is close to its limit, or the process has no descriptor left, idle
 * connections are evicted (evict.c). While there is no room at all the listening sockets are not
 * polled: connections wait in the kernel's backlog, and the loop does not spin. Accepting resumes
 * when a connection is closed, and after RETRY in any case.
 *
 * Threads: everything runs on the loop, except where acceptor.h says otherwise.
 */
#include "http/server/acceptor.h"

#include "http/loop/loop_internal.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

#define RETRY     (100 * KC_MILLISECOND)
#define LOG_EVERY (10 * KC_SECOND)

enum { ACCEPT_ROUNDS = 64 };

typedef struct listening {
    uv_poll_t poll;
    kc__acceptor *acceptor;
    int fd;
    kc__tls *tls;
} listening;

struct kc__acceptor {
    kc__loop *loop;
    kc__shard_group *group;
    kc_log *log;
    listening *listeners;
    size_t n_listeners;
    bool accepting;
    bool closed;
    bool logged; /* The shortage was logged, at `logged_at`. */
    int64_t logged_at;
    kc__loop_timer retry;
    kc__loop_task begin, close, resume;
    _Atomic bool paused;  /* There is no room; a closing connection calls kc__acceptor_resume. */
    _Atomic bool resumes; /* `resume` is posted. */
};

static void on_connection(uv_poll_t *poll, int status, int events);

/* ---- pausing ---- */

static void resume_accepting(kc__acceptor *a)
{
    if (a->accepting || a->closed)
        return;
    a->accepting = true;
    atomic_store(&a->paused, false);
    kc__loop_timer_stop(&a->retry);
    for (size_t i = 0; i < a->n_listeners; i++)
        uv_poll_start(&a->listeners[i].poll, UV_READABLE, on_connection);
}

static void pause_accepting(kc__acceptor *a)
{
    a->accepting = false;
    for (size_t i = 0; i < a->n_listeners; i++)
        uv_poll_stop(&a->listeners[i].poll);
    kc__loop_timer_start(&a->retry, kc_clock_deadline(kc__loop_clock(a->loop), RETRY));
    atomic_store(&a->paused, true);
}

static void on_retry(kc__loop_timer *timer)
{
    resume_accepting(kc_container_of(timer, kc__acceptor, retry));
}

static void on_resume(kc__loop_task *task)
{
    kc__acceptor *a = kc_container_of(task, kc__acceptor, resume);
    atomic_store(&a->resumes, false);
    resume_accepting(a);
}

void kc__acceptor_resume(kc__acceptor *a)
{
    if (!a || !atomic_load(&a->paused) || atomic_exchange(&a->resumes, true))
        return;
    kc__loop_post(a->loop, &a->resume);
}

/* ---- room ---- */

/* Logs the shortage at intervals, not for every connection. */
static void log_pressure(kc__acceptor *a, const char *why)
{
    const int64_t now = kc_clock_now(kc__loop_clock(a->loop));
    if (a->logged && now < a->logged_at + LOG_EVERY)
        return;
    a->logged = true;
    a->logged_at = now;
    kc_log_warn(a->log, "too many connections; closing idle ones", kc_kv("reason", why));
}

/* Nothing can be accepted until a connection is closed. */
static void make_room(kc__acceptor *a, const char *why)
{
    log_pressure(a, why);
    pause_accepting(a);
    kc__shard_group_evict(a->group, true);
}

static bool is_client_waiting(const listening *l)
{
    struct pollfd p = {.fd = l->fd, .events = POLLIN};
    return poll(&p, 1, 0) == 1;
}

/* ---- accepting ---- */

/* Ignores errors of a single connection; pauses without descriptors or memory. */
static bool accept_failed(kc__acceptor *a)
{
    if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
        make_room(a, strerror(errno));
        return true;
    }
    return errno == EAGAIN || errno == EWOULDBLOCK;
}

/* Returns false if there is nothing more to accept for now. */
static bool accept_one(listening *l)
{
    kc__acceptor *a = l->acceptor;
    struct sockaddr_storage from = {0};
    socklen_t n = sizeof(from);
    kc__shard *chosen = kc__shard_reserve(a->group);
    if (!chosen) {
        if (is_client_waiting(l))
            make_room(a, "connection limit reached");
        return false;
    }
    int fd = accept4(l->fd, (struct sockaddr *)&from, &n, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) {
        bool stop = accept_failed(a);
        kc__shard_unreserve(chosen);
        return !stop;
    }
    kc__shard_accept(chosen, fd, &from, l->tls);
    if (kc__shard_group_is_tight(a->group)) {
        log_pressure(a, "connection limit almost reached");
        kc__shard_group_evict(a->group, false);
    }
    return true;
}

static void on_connection(uv_poll_t *poll, int status, int events)
{
    listening *l = poll->data;
    (void)status;
    (void)events;
    for (int i = 0; i < ACCEPT_ROUNDS && l->acceptor->accepting; i++)
        if (!accept_one(l))
            return;
}

/* ---- tasks ---- */

static void begin_accepting(kc__loop_task *task)
{
    kc__acceptor *a = kc_container_of(task, kc__acceptor, begin);
    for (size_t i = 0; i < a->n_listeners; i++) {
        listening *l = &a->listeners[i];
        uv_poll_init(kc__loop_uv(a->loop), &l->poll, l->fd);
        l->poll.data = l;
    }
    resume_accepting(a);
}

static void close_listeners(kc__loop_task *task)
{
    kc__acceptor *a = kc_container_of(task, kc__acceptor, close);
    a->closed = true;
    a->accepting = false;
    kc__loop_timer_stop(&a->retry);
    for (size_t i = 0; i < a->n_listeners; i++) {
        uv_close((uv_handle_t *)&a->listeners[i].poll, NULL);
        close(a->listeners[i].fd);
        a->listeners[i].fd = -1;
    }
    kc_locked (&a->group->mutex) {
        a->group->listening = 0;
        kc_cond_broadcast(&a->group->changed);
    }
}

/* ---- construction and destruction ---- */

kc__acceptor *kc__acceptor_new(kc__loop *loop, kc__shard_group *group, kc_log *log,
                               size_t max_listeners)
{
    kc__acceptor *a = kc_new(kc__acceptor);
    a->loop = loop;
    a->group = group;
    a->log = log;
    a->listeners = kc_calloc(max_listeners, sizeof(listening));
    a->retry = (kc__loop_timer){.loop = loop, .fire = on_retry};
    a->begin.run = begin_accepting;
    a->close.run = close_listeners;
    a->resume.run = on_resume;
    return a;
}

kc__acceptor *kc__acceptor_free(kc__acceptor *a)
{
    if (!a)
        return NULL;
    for (size_t i = 0; i < a->n_listeners; i++)
        if (a->listeners[i].fd >= 0)
            close(a->listeners[i].fd);
    free(a->listeners);
    free(a);
    return NULL;
}

void kc__acceptor_add(kc__acceptor *a, int fd, kc__tls *tls)
{
    a->listeners[a->n_listeners++] = (listening){.acceptor = a, .fd = fd, .tls = tls};
}

void kc__acceptor_begin(kc__acceptor *a)
{
    kc_locked (&a->group->mutex)
        a->group->listening = 1;
    kc__loop_post(a->loop, &a->begin);
}

void kc__acceptor_close(kc__acceptor *a)
{
    kc__loop_post(a->loop, &a->close);
}
