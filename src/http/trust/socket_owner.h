/* SPDX-License-Identifier: Apache-2.0 */
/*
 * socket_owner.h: the user that owns the client's socket of a loopback connection.
 *
 *     kc_auto(kc__socket_owners) *owners = kc__socket_owners_open(err);
 *     …
 *     uint32_t uid;
 *     if (kc__socket_owner_of_peer(owners, fd, &uid, err) == 1)
 *         … uid is the user id with which the client's socket was created
 *
 * The kernel knows the user of every socket of this machine. For an accepted TCP connection the
 * client's socket has the same address pair in reverse order. docs/internals/access.md explains
 * which answers count.
 */
#ifndef KC_HTTP_SOCKET_OWNER_H
#define KC_HTTP_SOCKET_OWNER_H

#include "kc/error.h"
#include "kc/mem.h"

typedef struct kc__socket_owners kc__socket_owners;

/* Opens a lookup: NETLINK_SOCK_DIAG, or /proc/net/tcp if the kernel does not offer it. Tests it
 * with a connection of its own. NULL on error: the system offers neither. The caller frees it. */
kc__socket_owners *kc__socket_owners_open(kc_error *err);
/* NULL is allowed; returns NULL. */
kc__socket_owners *kc__socket_owners_close(kc__socket_owners *owners);
KC_AUTO_DEFINE(kc__socket_owners, kc__socket_owners_close)

/*
 * Returns 1 if the client's socket is open; *ret_uid is its user. 0: the client has closed its
 * socket or one direction of it, or the socket is not on this machine. Negative: the lookup failed,
 * and may succeed later. `fd` is the accepted socket. Any thread; one or two system calls, does not
 * block.
 */
int kc__socket_owner_of_peer(kc__socket_owners *owners, int fd, uint32_t *ret_uid, kc_error *err);

#endif
