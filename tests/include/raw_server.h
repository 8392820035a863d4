/* SPDX-License-Identifier: Apache-2.0 */
/*
 * raw_server.h: a scripted server: a function that reads requests from a socket and sends whatever
 * the test wants, on a thread for each connection.
 *
 *     static void sends_ok(raw_server *s, client *c, int nth)
 *     {
 *         kc_scoped(kc_buf) in = {0};
 *         while (raw_next(s, c, &in))
 *             client_send(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
 *     }
 *     kc_auto(raw_server) *s = raw_start(sends_ok, NULL);          at s->url
 */
#ifndef RAW_SERVER_H
#define RAW_SERVER_H

#include "http_testing.h"

#include "kc/thread.h"
#include "kc/vec.h"

typedef struct raw_server raw_server;

/* Serves one connection, the nth (from 0), on its own thread; `c` is freed afterwards. */
typedef void raw_serve(raw_server *s, client *c, int nth);

struct raw_server {
    int fd, port;
    char *url;
    raw_serve *serve;
    void *user;
    kc_thread *thread;
    kc_mutex mutex; /* Guards the fields below. */
    kc_cond changed;
    KC_VEC(kc_thread *) threads;
    int connections, requests;
    bool released;  /* Set for threads that wait in raw_hold. */
    unsigned gates; /* A bit for each gate that is open (raw_gated). */
};

typedef struct raw_connection {
    raw_server *server;
    client *c;
    int nth;
} raw_connection;

static inline void raw_run(void *user)
{
    raw_connection *r = user;
    r->server->serve(r->server, r->c, r->nth);
    client_free(r->c);
    free(r);
}

static inline void raw_accept(void *user)
{
    raw_server *s = user;
    for (int fd; (fd = accept4(s->fd, NULL, NULL, SOCK_CLOEXEC)) >= 0;) {
        raw_connection *r = kc_new(raw_connection);
        r->server = s;
        r->c = kc_new(client);
        r->c->fd = fd;
        kc_locked (&s->mutex) {
            r->nth = s->connections++;
            kc_vec_push(&s->threads, kc_thread_start("raw", raw_run, r, NULL));
            kc_cond_broadcast(&s->changed);
        }
    }
}

static inline raw_server *raw_start(raw_serve *serve, void *user)
{
    raw_server *s = kc_new(raw_server);
    struct sockaddr_in at = {.sin_family = AF_INET};
    socklen_t length = sizeof(at);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    s->serve = serve;
    s->user = user;
    kc_mutex_init(&s->mutex);
    kc_cond_init(&s->changed);
    s->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(s->fd, (struct sockaddr *)&at, sizeof(at)), 0);
    assert_int_equal(listen(s->fd, 64), 0);
    assert_int_equal(getsockname(s->fd, (struct sockaddr *)&at, &length), 0);
    s->port = ntohs(at.sin_port);
    s->url = kc_asprintf("http://127.0.0.1:%d", s->port);
    s->thread = kc_thread_start("raw-accept", raw_accept, s, NULL);
    return s;
}

/* Releases the threads that wait in raw_hold. */
static inline void raw_release(raw_server *s)
{
    kc_locked (&s->mutex) {
        s->released = true;
        kc_cond_broadcast(&s->changed);
    }
}

static inline void raw_stop(raw_server *s)
{
    if (!s)
        return;
    raw_release(s);
    shutdown(s->fd, SHUT_RDWR);
    kc_thread_join(s->thread);
    kc_vec_each (&s->threads, thread)
        kc_thread_join(*thread);
    kc_vec_done(&s->threads);
    close(s->fd);
    kc_cond_done(&s->changed);
    kc_mutex_done(&s->mutex);
    free(s->url);
    free(s);
}
KC_AUTO_DEFINE(raw_server, raw_stop)

static inline void raw_hold(raw_server *s)
{
    kc_locked (&s->mutex)
        while (!s->released)
            kc_cond_wait(&s->changed, &s->mutex);
}

static inline int raw_requests(raw_server *s)
{
    int n = 0;
    kc_locked (&s->mutex)
        n = s->requests;
    return n;
}

static inline void raw_await_requests(raw_server *s, int n)
{
    kc_locked (&s->mutex)
        while (s->requests < n)
            kc_cond_wait(&s->changed, &s->mutex);
}

/* The next request, head and body, which is then discarded; NULL at the end. In the client's
 * `in`. */
static inline const char *raw_next(raw_server *s, client *c, kc_buf *out)
{
    const char *end, *length;
    while (!(end = strstr(kc_buf_cstr(&c->in), "\r\n\r\n")))
        if (!client_read(c))
            return NULL;
    length = strcasestr(kc_buf_cstr(&c->in), "Content-Length: ");
    const size_t body = length && length < end ? strtoul(length + 16, NULL, 10) : 0;
    const size_t all = (size_t)(end + 4 - c->in.p) + body;
    while (c->in.n < all)
        if (!client_read(c))
            return NULL;
    kc_buf_clear(out);
    kc_buf_append(out, kc_str_of(c->in.p, all));
    memmove(c->in.p, c->in.p + all, c->in.n - all);
    c->in.n -= all;
    kc_locked (&s->mutex) {
        s->requests++;
        kc_cond_broadcast(&s->changed);
    }
    return kc_buf_cstr(out);
}

/* ---- gates: responses that a test releases one by one ---- */

static inline void raw_open_gate(raw_server *s, unsigned gate)
{
    kc_locked (&s->mutex) {
        s->gates |= 1U << gate;
        kc_cond_broadcast(&s->changed);
    }
}

static inline void raw_await_gate(raw_server *s, unsigned gate)
{
    kc_locked (&s->mutex)
        while (!s->released && !(s->gates & 1U << gate))
            kc_cond_wait(&s->changed, &s->mutex);
}

/* A script: responds with "ok", to "/gate/N" when gate N is open, to everything else at once. */
static inline void raw_gated(raw_server *s, client *c, int nth)
{
    kc_scoped(kc_buf) in = {0};
    (void)nth;
    for (const char *text; (text = raw_next(s, c, &in));) {
        const char *gate = strstr(text, "/gate/");
        if (gate)
            raw_await_gate(s, (unsigned)strtoul(gate + strlen("/gate/"), NULL, 10));
        client_send(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    }
}

#endif
