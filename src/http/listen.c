/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listen.c: listening sockets, one for each loop on the same port (SO_REUSEPORT).
 *
 * With that option a second server of the same user could listen on the port as well, and each
 * would get a part of the connections, silently. So the port is first bound without it, which fails
 * if anybody listens there, and only then shared.
 */
#include "http/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BACKLOG = 4096 };

typedef union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
} address;

static const char *host_of(const kc__listener *where)
{
    return where->address && *where->address ? where->address : "127.0.0.1";
}

static int parse(const kc__listener *where, address *ret, kc_error *err)
{
    address a = {0};
    if (where->port < 0 || where->port > 65535)
        return kc_error_set(err, KC_BAD_REQUEST, "there is no port %d", where->port);
    if (inet_pton(AF_INET, host_of(where), &a.v4.sin_addr) == 1)
        a.any.sa_family = AF_INET;
    else if (inet_pton(AF_INET6, host_of(where), &a.v6.sin6_addr) == 1)
        a.any.sa_family = AF_INET6;
    else
        return kc_error_set(err, KC_BAD_REQUEST, "%s is not an IP address", host_of(where));
    a.v4.sin_port = htons((uint16_t)where->port); /* In the same place in both. */
    *ret = a;
    return 0;
}

static socklen_t size_of(const address *a)
{
    return a->any.sa_family == AF_INET ? sizeof(a->v4) : sizeof(a->v6);
}

static int fail(const kc__listener *where, kc_error *err)
{
    return kc_error_set(err, KC_INTERNAL, "cannot listen on %s, port %d: %s", host_of(where),
                        where->port, strerror(errno));
}

/* What every connection needs is set here: the kernel hands it on to those that are accepted. Small
 * answers leave at once, and a client that vanished without a word is noticed in two minutes. */
static void set_for_connections(int fd)
{
    const int yes = 1, idle = 60, interval = 15, probes = 4;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof(yes));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof(interval));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof(probes));
}

static int bound_socket(const address *a, bool shared)
{
    const int yes = 1;
    int fd = socket(a->any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    if (shared)
        setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &yes, sizeof(yes));
    if (bind(fd, &a->any, size_of(a)) == 0)
        return fd;
    int saved = errno;
    close(fd);
    errno = saved;
    return -1;
}

/* Is the port free of others? */
static int probe(const address *a)
{
    if (!a->v4.sin_port)
        return 0;
    int fd = bound_socket(a, false);
    if (fd < 0)
        return -1;
    close(fd);
    return 0;
}

static int listen_once(address *a, int *ret_fd)
{
    socklen_t n = sizeof(*a);
    int fd = bound_socket(a, true);
    if (fd < 0)
        return -1;
    set_for_connections(fd);
    if (listen(fd, BACKLOG) == 0 && getsockname(fd, &a->any, &n) == 0) {
        *ret_fd = fd; /* The next one takes the port this one was given. */
        return 0;
    }
    int saved = errno;
    close(fd);
    errno = saved;
    return -1;
}

int kc__listen(const kc__listener *where, size_t n, int *ret_fds, int *ret_port, kc_error *err)
{
    address a;
    size_t made = 0;
    int r = parse(where, &a, err);
    if (r < 0)
        return r;
    if (probe(&a) < 0)
        return fail(where, err);
    while (made < n && listen_once(&a, &ret_fds[made]) == 0)
        made++;
    if (made == n) {
        *ret_port = ntohs(a.v4.sin_port);
        return 0;
    }
    r = fail(where, err);
    while (made > 0)
        close(ret_fds[--made]);
    return r;
}
