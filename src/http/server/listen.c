/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listen.c: listening sockets, one for each address and port.
 *
 * SO_REUSEPORT is not set: with it any process of the same user could listen on the port as well
 * and would silently get a part of the connections. Without it, bind(2) fails for the second
 * process whatever options it sets.
 */
#include "http/server/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BACKLOG = 4096 };

typedef union listen_address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
} listen_address;

static const char *listen_host_of(const kc__http_listener *where)
{
    return where->address && *where->address ? where->address : "127.0.0.1";
}

static int parse(const kc__http_listener *where, listen_address *ret, kc_error *err)
{
    listen_address a = {0};
    if (where->port < 0 || where->port > 65535)
        return kc_error_set(err, KC_BAD_REQUEST, "port %d is out of range", where->port);
    if (inet_pton(AF_INET, listen_host_of(where), &a.v4.sin_addr) == 1)
        a.any.sa_family = AF_INET;
    else if (inet_pton(AF_INET6, listen_host_of(where), &a.v6.sin6_addr) == 1)
        a.any.sa_family = AF_INET6;
    else
        return kc_error_set(err, KC_BAD_REQUEST, "%s is not an IP address", listen_host_of(where));
    a.v4.sin_port = htons((uint16_t)where->port); /* At the same offset in both structs. */
    *ret = a;
    return 0;
}

static socklen_t size_of(const listen_address *a)
{
    return a->any.sa_family == AF_INET ? sizeof(a->v4) : sizeof(a->v6);
}

static int fail_listen(const kc__http_listener *where, kc_error *err)
{
    return kc_error_set(err, KC_INTERNAL, "cannot listen on %s, port %d: %s", listen_host_of(where),
                        where->port, strerror(errno));
}

/* Sets the options that every connection needs: accepted sockets inherit them. Small responses
 * are sent at once, and a client that vanished is detected within two minutes. */
static void set_for_connections(int fd)
{
    const int yes = 1, idle = 60, interval = 15, probes = 4;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof(yes));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof(interval));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof(probes));
}

static int bound_socket(const listen_address *a)
{
    const int yes = 1;
    int fd = socket(a->any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    set_for_connections(fd);
    if (bind(fd, &a->any, size_of(a)) == 0)
        return fd;
    int saved = errno;
    close(fd);
    errno = saved;
    return -1;
}

int kc__http_listen(const kc__http_listener *where, int *ret_fd, int *ret_port, kc_error *err)
{
    listen_address a;
    socklen_t n = sizeof(a);
    int r = parse(where, &a, err);
    if (r < 0)
        return r;
    int fd = bound_socket(&a);
    if (fd < 0)
        return fail_listen(where, err);
    if (listen(fd, BACKLOG) < 0 || getsockname(fd, &a.any, &n) < 0) {
        r = fail_listen(where, err);
        close(fd);
        return r;
    }
    *ret_fd = fd;
    *ret_port = ntohs(a.v4.sin_port);
    return 0;
}
