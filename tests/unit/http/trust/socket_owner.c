/* SPDX-License-Identifier: Apache-2.0 */
#include "http/trust/socket_owner.h"

#include "http/trust/socket_owner_internal.h"
#include "testing.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- connections ---- */

typedef union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
} address;

typedef struct link_ends {
    int client, server;
} link_ends;

static void link_ends_done(link_ends *ends)
{
    if (ends->client >= 0)
        close(ends->client);
    if (ends->server >= 0)
        close(ends->server);
}

static address loopback(int family)
{
    address a = {.any.sa_family = (sa_family_t)family};
    if (family == AF_INET6)
        a.v6.sin6_addr = in6addr_loopback;
    else
        a.v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return a;
}

static int listener_of(int family, uint16_t *ret_port)
{
    address a = loopback(family);
    socklen_t n = sizeof(a);
    const int fd = socket(family, SOCK_STREAM, 0);
    assert_true(fd >= 0);
    if (family == AF_INET6) /* All addresses, those of IPv4 too. */
        a.v6.sin6_addr = in6addr_any;
    assert_int_equal(bind(fd, &a.any, family == AF_INET6 ? sizeof(a.v6) : sizeof(a.v4)), 0);
    assert_int_equal(listen(fd, 4), 0);
    assert_int_equal(getsockname(fd, &a.any, &n), 0);
    *ret_port = ntohs(a.v4.sin_port);
    return fd;
}

static link_ends connect_to(int listener, address to, uint16_t port)
{
    const bool v6 = to.any.sa_family == AF_INET6;
    link_ends ends = {.client = socket(to.any.sa_family, SOCK_STREAM, 0), .server = -1};
    to.v4.sin_port = htons(port);
    assert_int_equal(connect(ends.client, &to.any, v6 ? sizeof(to.v6) : sizeof(to.v4)), 0);
    ends.server = accept(listener, NULL, NULL);
    assert_true(ends.server >= 0);
    return ends;
}

static link_ends link_of(int family)
{
    uint16_t port;
    const int listener = listener_of(family, &port);
    const link_ends ends = connect_to(listener, loopback(family), port);
    close(listener);
    return ends;
}

static int owner_of(kc__socket_owners *owners, int fd, uint32_t *ret)
{
    kc_scoped(kc_error) err = {0};
    const int found = kc__socket_owner_of_peer(owners, fd, ret, &err);
    if (found < 0)
        fail_msg("%s", kc_error_text(&err));
    return found;
}

static void assert_own(kc__socket_owners *owners, int fd)
{
    uint32_t uid = UINT32_MAX;
    assert_int_equal(owner_of(owners, fd, &uid), 1);
    assert_int_equal(uid, geteuid());
}

static void assert_none(kc__socket_owners *owners, int fd)
{
    uint32_t uid = UINT32_MAX;
    assert_int_equal(owner_of(owners, fd, &uid), 0);
    assert_int_equal(uid, UINT32_MAX);
}

#define OPEN(name)                                                   \
    kc_auto(kc__socket_owners) *name = kc__socket_owners_open(NULL); \
    assert_non_null(name)

/* ---- tests ---- */

static void established_connection_has_the_user_of_its_client(void **state)
{
    (void)state;
    OPEN(owners);
    kc_scoped(link_ends) v4 = link_of(AF_INET), v6 = link_of(AF_INET6);
    assert_own(owners, v4.server);
    assert_own(owners, v6.server);
}

static void ipv4_client_of_a_dual_stack_listener_is_found(void **state)
{
    (void)state;
    uint16_t port;
    OPEN(owners);
    const int listener = listener_of(AF_INET6, &port);
    kc_scoped(link_ends) plain = connect_to(listener, loopback(AF_INET), port);
    assert_own(owners, plain.server);
    address mapped = {.any.sa_family = AF_INET6};
    inet_pton(AF_INET6, "::ffff:127.0.0.1", &mapped.v6.sin6_addr);
    kc_scoped(link_ends) of_v6 = connect_to(listener, mapped, port);
    assert_own(owners, of_v6.server);
    close(listener);
}

static void mapped_ipv6_client_of_an_ipv4_listener_is_found(void **state)
{
    (void)state;
    uint16_t port;
    OPEN(owners);
    const int listener = listener_of(AF_INET, &port);
    address mapped = {.any.sa_family = AF_INET6};
    inet_pton(AF_INET6, "::ffff:127.0.0.1", &mapped.v6.sin6_addr);
    kc_scoped(link_ends) ends = connect_to(listener, mapped, port);
    assert_own(owners, ends.server);
    close(listener);
}

/* The kernel reports uid 0 for a socket that no process has open. */
static void client_that_has_closed_has_no_user(void **state)
{
    (void)state;
    OPEN(owners);
    kc_scoped(link_ends) ends = link_of(AF_INET);
    assert_int_equal(send(ends.client, "x", 1, 0), 1);
    close(ends.client);
    ends.client = -1;
    assert_none(owners, ends.server);
}

/* The FIN waits behind bytes for which our receive buffer has no room: our socket is still
 * ESTABLISHED. */
static void client_that_has_closed_with_unsent_bytes_has_no_user(void **state)
{
    (void)state;
    static char bytes[1 << 20];
    struct tcp_info info;
    socklen_t n = sizeof(info);
    OPEN(owners);
    kc_scoped(link_ends) ends = link_of(AF_INET);
    while (send(ends.client, bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
        ;
    close(ends.client);
    ends.client = -1;
    assert_int_equal(getsockopt(ends.server, IPPROTO_TCP, TCP_INFO, &info, &n), 0);
    assert_int_equal(info.tcpi_state, TCP_ESTABLISHED);
    assert_none(owners, ends.server);
}

static void client_that_has_shut_down_sending_has_no_user(void **state)
{
    (void)state;
    OPEN(owners);
    kc_scoped(link_ends) ends = link_of(AF_INET);
    assert_int_equal(shutdown(ends.client, SHUT_WR), 0);
    assert_none(owners, ends.server);
}

/* Resets the connection and connects again from the same address, as `ends->client`. False if
 * another process of this machine has the port meanwhile. */
static bool reset_and_reconnect(link_ends *ends, uint16_t port)
{
    address local = {0}, to = loopback(AF_INET);
    socklen_t n = sizeof(local);
    assert_int_equal(getsockname(ends->client, &local.any, &n), 0);
    assert_int_equal(send(ends->client, "x", 1, 0), 1);
    assert_int_equal(setsockopt(ends->client, SOL_SOCKET, SO_LINGER, &(struct linger){1, 0},
                                sizeof(struct linger)),
                     0);
    close(ends->client);
    ends->client = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(ends->client, &local.any, n) < 0) {
        assert_int_equal(errno, EADDRINUSE);
        return false;
    }
    to.v4.sin_port = htons(port);
    assert_int_equal(connect(ends->client, &to.any, sizeof(to.v4)), 0);
    return true;
}

/* A reset leaves bytes to read and the address pair to others. */
static void pair_taken_by_another_socket_after_a_reset_has_no_user(void **state)
{
    (void)state;
    uint16_t port;
    OPEN(owners);
    const int listener = listener_of(AF_INET, &port);
    for (int tries = 0; tries < 100; tries++) {
        kc_scoped(link_ends) first = connect_to(listener, loopback(AF_INET), port);
        if (!reset_and_reconnect(&first, port))
            continue;
        kc_scoped(link_ends) second = {.client = -1, .server = accept(listener, NULL, NULL)};
        assert_own(owners, second.server);
        assert_none(owners, first.server);
        close(listener);
        return;
    }
    fail_msg("other processes took the port of each connection");
}

/* In a child that gives up its rights. */
static int connect_as(uint32_t uid, int listener, uint16_t port, int *ret_go)
{
    int go[2];
    assert_int_equal(pipe(go), 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        char c;
        close(go[1]);
        if (setresuid(uid, uid, uid) < 0)
            _exit(1);
        address to = loopback(AF_INET);
        to.v4.sin_port = htons(port);
        const int fd = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(fd, &to.any, sizeof(to.v4)) < 0)
            _exit(1);
        _exit(read(go[0], &c, 1) < 0);
    }
    close(go[0]);
    *ret_go = go[1];
    return accept(listener, NULL, NULL);
}

static void client_of_another_user_has_that_user(void **state)
{
    (void)state;
    uint16_t port;
    uint32_t uid = UINT32_MAX;
    int go, status;
    if (geteuid() != 0)
        skip();
    OPEN(owners);
    const int listener = listener_of(AF_INET, &port);
    const int fd = connect_as(4242, listener, port, &go);
    assert_int_equal(owner_of(owners, fd, &uid), 1);
    assert_int_equal(uid, 4242);
    close(go);
    assert_true(wait(&status) > 0);
    assert_int_equal(status, 0);
    close(fd);
    close(listener);
}

/* The child that inherited the socket has another user; the socket keeps its own. */
static void socket_passed_to_another_process_keeps_its_user(void **state)
{
    (void)state;
    int go[2], status;
    if (geteuid() != 0)
        skip();
    OPEN(owners);
    kc_scoped(link_ends) ends = link_of(AF_INET);
    assert_int_equal(pipe(go), 0);
    const pid_t child = fork();
    if (child == 0) {
        char c;
        close(go[1]);
        _exit(setresuid(4242, 4242, 4242) < 0 || read(go[0], &c, 1) < 0);
    }
    close(ends.client);
    ends.client = -1;
    assert_own(owners, ends.server);
    close(go[0]);
    close(go[1]);
    assert_true(wait(&status) > 0);
    assert_none(owners, ends.server);
}

static void socket_without_connection_has_no_user(void **state)
{
    (void)state;
    uint16_t port;
    int pair[2];
    OPEN(owners);
    const int listener = listener_of(AF_INET, &port);
    assert_none(owners, listener);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    assert_none(owners, pair[0]);
    close(pair[0]);
    close(pair[1]);
    close(listener);
}

/* ---- /proc/net/tcp ---- */

static const kc__socket_owner_pair v4_pair = {
    .local = {127, 0, 0, 1}, .remote = {127, 0, 0, 2}, .local_port = 0x9c40, .remote_port = 0x17c0};
static const kc__socket_owner_pair v6_pair = {
    .v6 = true, .local = {[15] = 1}, .remote = {[15] = 1}, .local_port = 1, .remote_port = 2};

static void proc_line_of_the_pair_is_parsed(void **state)
{
    (void)state;
    kc__socket_owner_entry e = {0};
    assert_true(kc__socket_owner_proc_line(
        KC_STR("   0: 0100007F:9C40 0200007F:17C0 01 00000000:00000000 00:00000000 00000000  1000 "
               "       0 81539 1 0000000000000000 20 4 30 10 -1\n"),
        false, &v4_pair, &e));
    assert_int_equal(e.state, TCP_ESTABLISHED);
    assert_int_equal(e.uid, 1000);
    assert_int_equal(e.inode, 81539);
    assert_true(kc__socket_owner_proc_line(
        KC_STR(
            " 12: 0000000000000000FFFF00000100007F:9C40 0000000000000000FFFF00000200007F:17C0 04 "
            "00000000:00000000 00:00000000 00000000 0 0 0 1"),
        true, &v4_pair, &e));
    assert_int_equal(e.state, TCP_FIN_WAIT1);
    assert_int_equal(e.inode, 0);
    assert_true(kc__socket_owner_proc_line(
        KC_STR(" 1: 00000000000000000000000001000000:0001 00000000000000000000000001000000:0002 01 "
               "0:0 0:0 0 7 0 8"),
        true, &v6_pair, &e));
    assert_int_equal(e.uid, 7);
}

static void proc_line_of_another_pair_is_skipped(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "",
        "\n",
        "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid",
        "0: 0200007F:17C0 0100007F:9C40 01 0:0 0:0 0 0 0 1", /* The other direction. */
        "0: 0100007F:9C40 0200007F:17C1 01 0:0 0:0 0 0 0 1",
        "0: 0100007F:9C40 0200007F:17C0 01 0:0 0:0 0 0 0",
        "0: 0100007F:9C40 0200007F:17C0 01 0:0 0:0 0 x 0 1",
        "0: 0100007F:9C40 0200007F:17C0 01 0:0 0:0 0 4294967296 0 1",
        "0: 0100007F:9C40 0200007F:17C0 0101 0:0 0:0 0 0 0 1",
        "0: 100007F:9C40 0200007F:17C0 01 0:0 0:0 0 0 0 1",
        "0: 0100007F:9C40:1 0200007F:17C0 01 0:0 0:0 0 0 0 1",
        "0: 0100007F 0200007F:17C0 01 0:0 0:0 0 0 0 1",
    };
    kc__socket_owner_entry e;
    for (size_t i = 0; i < KC_COUNT(lines); i++)
        if (kc__socket_owner_proc_line(kc_cstr(lines[i]), false, &v4_pair, &e))
            fail_msg("read: %s", lines[i]);
}

static kc__socket_owner_pair pair_of_client(int fd)
{
    address ours, theirs;
    socklen_t n = sizeof(ours), m = sizeof(theirs);
    kc__socket_owner_pair pair = {0};
    assert_int_equal(getsockname(fd, &ours.any, &n), 0);
    assert_int_equal(getpeername(fd, &theirs.any, &m), 0);
    memcpy(pair.local, &ours.v4.sin_addr, 4);
    memcpy(pair.remote, &theirs.v4.sin_addr, 4);
    pair.local_port = ntohs(ours.v4.sin_port);
    pair.remote_port = ntohs(theirs.v4.sin_port);
    return pair;
}

static void proc_table_has_the_users_of_sockets(void **state)
{
    (void)state;
    kc__socket_owner_entry e = {0};
    kc_scoped(link_ends) ends = link_of(AF_INET);
    kc__socket_owner_pair pair = pair_of_client(ends.client);
    assert_int_equal(kc__socket_owner_proc_find(&pair, &e, NULL), 1);
    assert_int_equal(e.state, TCP_ESTABLISHED);
    assert_int_equal(e.uid, geteuid());
    assert_true(e.inode != 0);
    close(ends.client);
    ends.client = -1;
    if (kc__socket_owner_proc_find(&pair, &e, NULL) == 1)
        assert_true(e.state != TCP_ESTABLISHED && e.inode == 0);
    pair.local_port ^= 1;
    assert_int_equal(kc__socket_owner_proc_find(&pair, &e, NULL), 0);
}

TESTS(established_connection_has_the_user_of_its_client,
      ipv4_client_of_a_dual_stack_listener_is_found,
      mapped_ipv6_client_of_an_ipv4_listener_is_found, client_that_has_closed_has_no_user,
      client_that_has_closed_with_unsent_bytes_has_no_user,
      client_that_has_shut_down_sending_has_no_user,
      pair_taken_by_another_socket_after_a_reset_has_no_user, client_of_another_user_has_that_user,
      socket_passed_to_another_process_keeps_its_user, socket_without_connection_has_no_user,
      proc_line_of_the_pair_is_parsed, proc_line_of_another_pair_is_skipped,
      proc_table_has_the_users_of_sockets)
