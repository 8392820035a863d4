/* SPDX-License-Identifier: Apache-2.0 */
/*
 * socket_owner_internal.h: the two ways to look up a socket.
 *
 * socket_owner.c          address pairs, choice of the source, validation of replies
 * socket_owner_netlink.c  NETLINK_SOCK_DIAG: one query for one socket
 * socket_owner_proc.c     /proc/net/tcp and tcp6: a scan of all sockets
 */
#ifndef KC_HTTP_SOCKET_OWNER_INTERNAL_H
#define KC_HTTP_SOCKET_OWNER_INTERNAL_H

#include "http/trust/socket_owner.h"

/* The end points of a socket, seen from that socket. Addresses are in network byte order; IPv4
 * uses the first four bytes, and IPv4-mapped IPv6 addresses count as IPv4. */
typedef struct kc__socket_owner_pair {
    bool v6;
    uint8_t local[16], remote[16];
    uint16_t local_port, remote_port; /* Host byte order. */
} kc__socket_owner_pair;

/* The kernel's entry for one socket. */
typedef struct kc__socket_owner_entry {
    int state; /* TCP_ESTABLISHED and so on. */
    uint32_t uid;
    uint64_t inode; /* 0: no process has it open. */
} kc__socket_owner_entry;

/* All return 1 if found, 0 if not found, negative on error. */
int kc__socket_owner_netlink_find(int netlink, uint32_t sequence, const kc__socket_owner_pair *pair,
                                  kc__socket_owner_entry *ret, kc_error *err);
int kc__socket_owner_proc_find(const kc__socket_owner_pair *pair, kc__socket_owner_entry *ret,
                               kc_error *err);
/* Parses one line of /proc/net/tcp or, with `v6`, tcp6. Returns false if it is another socket or
 * not an entry. */
bool kc__socket_owner_proc_line(kc_str line, bool v6, const kc__socket_owner_pair *pair,
                                kc__socket_owner_entry *ret);

#endif
