/* SPDX-License-Identifier: Apache-2.0 */
/*
 * socket_owner.c: see socket_owner.h.
 *
 *     our socket    SERVER:6080 ── CLIENT:40000     getsockname, getpeername
 *     looked up     CLIENT:40000 ── SERVER:6080     the client's own entry in the kernel
 *
 * Only the entry of the client's socket has the client's user; the accepted socket has ours. An
 * entry is valid if three conditions hold:
 *
 *   1. Its state is ESTABLISHED. A client that has closed is in FIN_WAIT or TIME_WAIT.
 *   2. Its inode is not 0. A socket that no process has open has no user any more, and the kernel
 *      reports uid 0: root. Otherwise a client that sends a request and closes at once would be
 *      root.
 *   3. Our socket is ESTABLISHED after the lookup. A connection that was reset leaves its bytes in
 *      our receive queue and its address pair free. Another user's socket may then have the same
 *      pair, and the lookup finds that one. No state leads back to ESTABLISHED, so our connection
 *      was intact during the lookup, and the entry is that of its other end.
 *
 * The user of a socket is the one that created it. It stays the same when the socket is passed to
 * another process or the process changes its user; only a process with CAP_CHOWN can change it. So
 * a result is valid as long as the connection.
 *
 * The source is chosen at startup by looking up a connection to ourselves: a kernel without
 * inet_diag reports "no such socket" for every query.
 *
 * Threads: the mutex makes a query and its reply one step on the netlink socket.
 */
#include "http/trust/socket_owner.h"

#include "http/trust/socket_owner_internal.h"
#include "kc/thread.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

struct kc__socket_owners {
    int netlink;    /* -1: /proc/net/tcp is read instead. */
    kc_mutex mutex; /* Guards `sequence`, and the netlink socket from query to reply. */
    uint32_t sequence;
};

/* ---- address pairs ---- */

typedef union owner_address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
} owner_address;

static void unmap(bool *v6, uint8_t bytes[16])
{
    static const uint8_t prefix[12] = {[10] = 0xff, [11] = 0xff};
    if (memcmp(bytes, prefix, sizeof(prefix)) != 0)
        return;
    memmove(bytes, bytes + 12, 4);
    memset(bytes + 4, 0, 12);
    *v6 = false;
}

static bool read_address(const owner_address *from, bool *v6, uint8_t bytes[16], uint16_t *port)
{
    *v6 = from->any.sa_family == AF_INET6;
    if (!*v6 && from->any.sa_family != AF_INET)
        return false;
    *port = ntohs(*v6 ? from->v6.sin6_port : from->v4.sin_port);
    if (*v6)
        memcpy(bytes, &from->v6.sin6_addr, 16);
    else
        memcpy(bytes, &from->v4.sin_addr, 4);
    if (*v6)
        unmap(v6, bytes);
    return true;
}

/* Returns the address pair as seen from the client's socket. */
static int pair_of_peer(int fd, kc__socket_owner_pair *ret, kc_error *err)
{
    owner_address ours = {0}, theirs = {0};
    socklen_t n_ours = sizeof(ours), n_theirs = sizeof(theirs);
    bool v6 = false;
    *ret = (kc__socket_owner_pair){0};
    if (getpeername(fd, &theirs.any, &n_theirs) < 0)
        return errno == ENOTCONN
                   ? 0
                   : kc_error_set(err, KC_INTERNAL, "getpeername: %s", strerror(errno));
    if (getsockname(fd, &ours.any, &n_ours) < 0)
        return kc_error_set(err, KC_INTERNAL, "getsockname: %s", strerror(errno));
    return read_address(&theirs, &ret->v6, ret->local, &ret->local_port) &&
           read_address(&ours, &v6, ret->remote, &ret->remote_port) && v6 == ret->v6;
}

/* ---- a lookup ---- */

static int find_socket_owner(kc__socket_owners *owners, const kc__socket_owner_pair *pair,
                             kc__socket_owner_entry *ret, kc_error *err)
{
    int found = 0;
    if (owners->netlink < 0)
        return kc__socket_owner_proc_find(pair, ret, err);
    kc_locked (&owners->mutex)
        found = kc__socket_owner_netlink_find(owners->netlink, ++owners->sequence, pair, ret, err);
    return found;
}

static bool is_established(int fd)
{
    struct tcp_info info = {0};
    socklen_t n = sizeof(info);
    return getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &n) == 0 &&
           info.tcpi_state == TCP_ESTABLISHED;
}

int kc__socket_owner_of_peer(kc__socket_owners *owners, int fd, uint32_t *ret_uid, kc_error *err)
{
    kc__socket_owner_pair pair;
    kc__socket_owner_entry entry;
    int found = pair_of_peer(fd, &pair, err);
    if (found > 0)
        found = find_socket_owner(owners, &pair, &entry, err);
    if (found <= 0)
        return found;
    if (entry.state != TCP_ESTABLISHED || !entry.inode || !is_established(fd))
        return 0;
    *ret_uid = entry.uid;
    return 1;
}

/* ---- opening ---- */

/* Creates the two ends of a TCP connection; the caller closes both. The lookup needs only the
 * client end; `ends[1]` is accepted so that its address can be queried. */
static int connect_to_self(int family, int ends[2])
{
    owner_address a = {.any.sa_family = (sa_family_t)family};
    socklen_t n = family == AF_INET6 ? sizeof(a.v6) : sizeof(a.v4);
    const int listener = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ends[0] = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ends[1] = -1;
    if (family == AF_INET6)
        a.v6.sin6_addr = in6addr_loopback;
    else
        a.v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (listener >= 0 && ends[0] >= 0 && bind(listener, &a.any, n) == 0 &&
        listen(listener, 1) == 0 && getsockname(listener, &a.any, &n) == 0 &&
        connect(ends[0], &a.any, n) == 0)
        ends[1] = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (listener >= 0)
        close(listener);
    return ends[1] >= 0;
}

/* Returns whether the lookup finds our own connection with our own user. */
static bool works(kc__socket_owners *owners, int family)
{
    int ends[2];
    uint32_t uid = 0;
    const bool ok = connect_to_self(family, ends) &&
                    kc__socket_owner_of_peer(owners, ends[1], &uid, NULL) == 1 && uid == geteuid();
    for (size_t i = 0; i < KC_COUNT(ends); i++)
        if (ends[i] >= 0)
            close(ends[i]);
    return ok;
}

static bool works_at_all(kc__socket_owners *owners)
{
    return works(owners, AF_INET) || works(owners, AF_INET6);
}

kc__socket_owners *kc__socket_owners_open(kc_error *err)
{
    kc_auto(kc__socket_owners) *owners = kc_new(kc__socket_owners);
    kc_mutex_init(&owners->mutex);
    owners->netlink = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    if (owners->netlink >= 0 && works_at_all(owners))
        return kc_take(owners);
    if (owners->netlink >= 0)
        close(owners->netlink);
    owners->netlink = -1;
    if (works_at_all(owners))
        return kc_take(owners);
    kc_error_set(err, KC_INTERNAL,
                 "cannot look up the user of a loopback connection: the system offers neither "
                 "NETLINK_SOCK_DIAG nor /proc/net/tcp");
    return NULL;
}

kc__socket_owners *kc__socket_owners_close(kc__socket_owners *owners)
{
    if (!owners)
        return NULL;
    if (owners->netlink >= 0)
        close(owners->netlink);
    kc_mutex_done(&owners->mutex);
    free(owners);
    return NULL;
}
