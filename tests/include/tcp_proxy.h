/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_proxy.h: a TCP proxy on loopback whose connections a test can cut or freeze.
 *
 *     tcp_proxy *proxy = tcp_proxy_start(server_port);       proxy->port is where clients connect
 *     tcp_proxy_cut_after(proxy, 100000);                    closes after so many bytes to a client
 *     tcp_proxy_freeze(proxy, true);                         forwards nothing, closes nothing
 *     tcp_proxy_free(proxy);
 *
 * One thread serves all connections with poll().
 */
#ifndef KC_TCP_PROXY_H
#define KC_TCP_PROXY_H

#include "testing.h"

#include "kc/thread.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { TCP_PROXY_MAX = 32 };

typedef struct tcp_proxy_pair {
    int fds[2];     /* Of the client, of the server; -1: unused. */
    kc_buf held[2]; /* Bytes to send to each. */
} tcp_proxy_pair;

typedef struct tcp_proxy {
    int port, target, listener, wake[2];
    kc_thread *thread;
    _Atomic bool stopping, frozen, cut;
    _Atomic int64_t cut_after; /* Bytes to clients until all connections are cut; -1: never. */
    _Atomic size_t accepted;
    _Atomic unsigned asked, seen;        /* Changes by the test, and those that the thread obeys. */
    tcp_proxy_pair pairs[TCP_PROXY_MAX]; /* Used by the thread only. */
} tcp_proxy;

static inline KC_UNUSED struct sockaddr_in tcp_proxy_address(int port)
{
    return (struct sockaddr_in){.sin_family = AF_INET,
                                .sin_port = htons((uint16_t)port),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static inline void tcp_proxy_close_pair(tcp_proxy_pair *pair)
{
    for (int side = 0; side < 2; side++) {
        if (pair->fds[side] >= 0)
            close(pair->fds[side]);
        pair->fds[side] = -1;
        kc_buf_done(&pair->held[side]);
    }
}

/* One that a signal interrupts goes on by itself. */
static inline int tcp_proxy_connect(int fd, const struct sockaddr_in *to)
{
    struct pollfd polled = {.fd = fd, .events = POLLOUT};
    int failed = 0;
    socklen_t size = sizeof(failed);
    if (connect(fd, (const struct sockaddr *)to, sizeof(*to)) == 0)
        return 0;
    if (errno != EINTR)
        return -1;
    while (poll(&polled, 1, -1) < 0)
        if (errno != EINTR)
            return -1;
    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &failed, &size) < 0 || failed ? -1 : 0;
}

/* Whether a call on a connection that does not block is to be tried again later. */
static inline bool tcp_proxy_later(void)
{
    return errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK;
}

static inline void tcp_proxy_accept(tcp_proxy *proxy)
{
    struct sockaddr_in to = tcp_proxy_address(proxy->target);
    const int client = accept4(proxy->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (client < 0)
        return;
    proxy->accepted++;
    const int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    for (size_t i = 0; i < TCP_PROXY_MAX; i++) {
        tcp_proxy_pair *pair = &proxy->pairs[i];
        if (pair->fds[0] >= 0)
            continue;
        if (tcp_proxy_connect(server, &to) < 0)
            break;
        fcntl(server, F_SETFL, O_NONBLOCK);
        pair->fds[0] = client;
        pair->fds[1] = server;
        return;
    }
    close(client);
    close(server);
}

/* Reads from one side, for the other. False at the end. */
static inline bool tcp_proxy_read(tcp_proxy *proxy, tcp_proxy_pair *pair, int side)
{
    char bytes[16384];
    const ssize_t n = recv(pair->fds[side], bytes, sizeof(bytes), 0);
    if (n <= 0)
        return n < 0 && tcp_proxy_later();
    size_t pass = (size_t)n;
    if (side == 1 && proxy->cut_after >= 0) {
        pass = (size_t)KC_MIN(proxy->cut_after, (int64_t)n);
        proxy->cut_after -= (int64_t)pass;
        proxy->cut = proxy->cut_after == 0;
        if (proxy->cut)
            proxy->cut_after = -1;
    }
    kc_buf_append(&pair->held[!side], kc_str_of(bytes, pass));
    return true;
}

static inline bool tcp_proxy_write(tcp_proxy_pair *pair, int side)
{
    kc_buf *held = &pair->held[side];
    const ssize_t n = send(pair->fds[side], held->p, held->n, MSG_NOSIGNAL);
    if (n < 0)
        return tcp_proxy_later();
    memmove(held->p, held->p + n, held->n - (size_t)n);
    held->n -= (size_t)n;
    return true;
}

static inline void tcp_proxy_serve(tcp_proxy *proxy, tcp_proxy_pair *pair,
                                   const struct pollfd *polled)
{
    for (int side = 0; side < 2 && pair->fds[side] >= 0; side++) {
        bool open = true;
        if (polled[side].revents & POLLOUT)
            open = tcp_proxy_write(pair, side);
        if (open && polled[side].revents & (POLLIN | POLLHUP | POLLERR))
            open = tcp_proxy_read(proxy, pair, side);
        if (!open)
            tcp_proxy_close_pair(pair);
    }
}

static inline void tcp_proxy_cut_all(tcp_proxy *proxy)
{
    for (size_t i = 0; i < TCP_PROXY_MAX; i++) {
        /* What was let through arrives. */
        if (proxy->pairs[i].fds[0] >= 0 && proxy->pairs[i].held[0].n)
            tcp_proxy_write(&proxy->pairs[i], 0);
        tcp_proxy_close_pair(&proxy->pairs[i]);
    }
    proxy->cut = false;
}

static inline void tcp_proxy_step(tcp_proxy *proxy)
{
    struct pollfd polled[2 + 2 * TCP_PROXY_MAX] = {{.fd = proxy->wake[0], .events = POLLIN},
                                                   {.fd = proxy->listener, .events = POLLIN}};
    char byte[64];
    const unsigned asked = proxy->asked;
    for (size_t i = 0; i < TCP_PROXY_MAX; i++)
        for (int side = 0; side < 2; side++) {
            const tcp_proxy_pair *pair = &proxy->pairs[i];
            struct pollfd *p = &polled[2 + 2 * i + (size_t)side];
            p->fd = proxy->frozen ? -1 : pair->fds[side];
            p->events = (short)((pair->held[!side].n < 65536 ? POLLIN : 0) |
                                (pair->held[side].n ? POLLOUT : 0));
        }
    proxy->seen = asked;
    if (poll(polled, KC_COUNT(polled), -1) < 0)
        return;
    if (polled[0].revents && read(proxy->wake[0], byte, sizeof(byte)) < 0)
        return;
    for (size_t i = 0; i < TCP_PROXY_MAX; i++)
        tcp_proxy_serve(proxy, &proxy->pairs[i], &polled[2 + 2 * i]);
    if (polled[1].revents)
        tcp_proxy_accept(proxy);
    if (proxy->cut)
        tcp_proxy_cut_all(proxy);
}

static inline void tcp_proxy_run(void *user)
{
    tcp_proxy *proxy = user;
    while (!proxy->stopping)
        tcp_proxy_step(proxy);
}

static inline KC_UNUSED tcp_proxy *tcp_proxy_start(int target)
{
    tcp_proxy *proxy = kc_new(tcp_proxy);
    struct sockaddr_in any = tcp_proxy_address(0);
    socklen_t size = sizeof(any);
    proxy->target = target;
    proxy->cut_after = -1;
    for (size_t i = 0; i < TCP_PROXY_MAX; i++)
        proxy->pairs[i].fds[0] = proxy->pairs[i].fds[1] = -1;
    proxy->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_return_code(bind(proxy->listener, (struct sockaddr *)&any, sizeof(any)), 0);
    assert_return_code(getsockname(proxy->listener, (struct sockaddr *)&any, &size), 0);
    assert_return_code(listen(proxy->listener, 64), 0);
    assert_return_code(pipe2(proxy->wake, O_CLOEXEC), 0);
    proxy->port = ntohs(any.sin_port);
    proxy->thread = kc_thread_start("tcp-proxy", tcp_proxy_run, proxy, NULL);
    assert_non_null(proxy->thread);
    return proxy;
}

static inline void tcp_proxy_wake(tcp_proxy *proxy)
{
    assert_int_equal(write(proxy->wake[1], "", 1), 1);
}

/* Waits until the thread has seen all changes. */
static inline void tcp_proxy_obey(tcp_proxy *proxy)
{
    const unsigned asked = ++proxy->asked;
    tcp_proxy_wake(proxy);
    while (proxy->seen < asked || proxy->cut)
        kc_clock_sleep(kc_clock_real(), KC_MILLISECOND);
}

/* Closes all connections. */
static inline KC_UNUSED void tcp_proxy_cut(tcp_proxy *proxy)
{
    proxy->cut = true;
    tcp_proxy_obey(proxy);
}

/* Closes all connections, once, after so many further bytes to clients. */
static inline KC_UNUSED void tcp_proxy_cut_after(tcp_proxy *proxy, int64_t bytes)
{
    proxy->cut_after = bytes;
}

static inline KC_UNUSED void tcp_proxy_freeze(tcp_proxy *proxy, bool frozen)
{
    proxy->frozen = frozen;
    tcp_proxy_obey(proxy);
}

/* Bytes that clients have sent and that lie in front of the proxy, which is frozen. */
static inline KC_UNUSED int tcp_proxy_waiting(const tcp_proxy *proxy)
{
    int all = 0;
    for (size_t i = 0; i < TCP_PROXY_MAX; i++) {
        int n = 0;
        if (proxy->pairs[i].fds[0] >= 0 && ioctl(proxy->pairs[i].fds[0], FIONREAD, &n) == 0)
            all += n;
    }
    return all;
}

static inline KC_UNUSED void tcp_proxy_free(tcp_proxy *proxy)
{
    if (!proxy)
        return;
    proxy->stopping = true;
    tcp_proxy_wake(proxy);
    kc_thread_join(proxy->thread);
    for (size_t i = 0; i < TCP_PROXY_MAX; i++)
        tcp_proxy_close_pair(&proxy->pairs[i]);
    close(proxy->listener);
    close(proxy->wake[0]);
    close(proxy->wake[1]);
    free(proxy);
}
KC_AUTO_DEFINE(tcp_proxy, tcp_proxy_free)

#endif
