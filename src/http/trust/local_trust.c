/* SPDX-License-Identifier: Apache-2.0 */
/*
 * local_trust.c: see local_trust.h.
 *
 * A loopback address shows that a program on this machine has connected, not which user runs it:
 * pods that run as processes share the loopback interface with the operator. So a client is trusted
 * by the user that owns its socket (socket_owner.h): root, the user of this process, and users that
 * the operator names. Users of untrusted programs are rejected even if named.
 *
 * The lookup comes last, after all rules about header fields, and its result is cached with the
 * connection: the user of a socket does not change, and a closed socket does not open again. A
 * lookup that failed is repeated with the next request.
 *
 * In a user namespace the kernel shows all users from outside of it as one user, the overflow uid.
 * That uid is then not trusted, because it stands for many users.
 *
 * Threads: immutable once created; the cached result belongs to the connection's loop.
 */
#include "http/trust/local_trust.h"

#include "http/trust/local_request.h"
#include "http/trust/socket_owner.h"
#include "kc/file.h"

#include <stdio.h>
#include <unistd.h>

struct kc__local_trust {
    kc__socket_owners *owners;
    KC_VEC(uint32_t) users;
    KC_VEC(kc__local_trust_uid_range) never;
    kc_log *log;
};

/* ---- users ---- */

static bool is_never(const kc__local_trust *trust, uint32_t uid)
{
    kc_vec_each (&trust->never, range)
        if (uid >= range->first && uid <= range->last)
            return true;
    return false;
}

static bool is_trusted(const kc__local_trust *trust, uint32_t uid)
{
    if (is_never(trust, uid))
        return false;
    kc_vec_each (&trust->users, user)
        if (*user == uid)
            return true;
    return false;
}

static bool read_small_file(const char *path, kc_buf *out)
{
    return kc_file_read(path, 4096, out, NULL) == 0;
}

/* Returns whether all user ids are mapped to themselves: "0 0 4294967295". */
static bool sees_all_users(void)
{
    kc_scoped(kc_buf) map = {0};
    unsigned long inside = 1, outside = 1, n = 0;
    return !read_small_file("/proc/self/uid_map", &map) ||
           (sscanf(kc_buf_cstr(&map), "%lu %lu %lu", &inside, &outside, &n) == 3 && !inside &&
            !outside && n == UINT32_MAX);
}

static uint32_t overflow_uid(void)
{
    kc_scoped(kc_buf) text = {0};
    uint64_t uid;
    if (read_small_file("/proc/sys/kernel/overflowuid", &text) &&
        kc_str_to_u64(kc_str_trim(kc_buf_str(&text)), &uid) && uid <= UINT32_MAX)
        return (uint32_t)uid;
    return 65534;
}

static int set_users(kc__local_trust *trust, const kc__local_trust_opts *opts, kc_error *err)
{
    for (size_t i = 0; i < opts->n_never; i++)
        kc_vec_push(&trust->never, opts->never[i]);
    if (!sees_all_users()) {
        const uint32_t uid = overflow_uid();
        kc_vec_push(&trust->never, ((kc__local_trust_uid_range){uid, uid}));
    }
    kc_vec_push(&trust->users, 0);
    kc_vec_push(&trust->users, geteuid());
    for (size_t i = 0; i < opts->n_users; i++) {
        if (is_never(trust, opts->users[i]))
            return kc_error_set(err, KC_INVALID,
                                "uid %u cannot be trusted: pods or other untrusted programs run as "
                                "it",
                                opts->users[i]);
        kc_vec_push(&trust->users, opts->users[i]);
    }
    return 0;
}

/* ---- requests ---- */

static void look_up(const kc__local_trust *trust, const kc__conn_peer *peer)
{
    kc_scoped(kc_error) err = {0};
    kc__conn_peer_socket *socket = peer->socket;
    const int found = kc__socket_owner_of_peer(trust->owners, socket->fd, &socket->owner, &err);
    if (found < 0) {
        kc_log_verbose(trust->log, 2, "socket owner lookup failed", kc_kv("port", peer->port),
                       kc_kv("err", &err));
        return;
    }
    socket->looked_up = true;
    socket->has_owner = found;
    if (!found)
        kc_log_verbose(trust->log, 2, "loopback client is not trusted: its socket is closed",
                       kc_kv("port", peer->port));
    else if (!is_trusted(trust, socket->owner))
        kc_log_verbose(trust->log, 2, "loopback client is not trusted: its uid is not trusted",
                       kc_kv("port", peer->port), kc_kv("uid", (int64_t)socket->owner));
}

bool kc__local_trust_accepts(const kc__local_trust *trust, const kc__http_request *request)
{
    if (!trust || !kc__local_request_is_local(request) || !request->peer->socket)
        return false;
    kc__conn_peer_socket *socket = request->peer->socket;
    if (!socket->looked_up && socket->fd >= 0)
        look_up(trust, request->peer);
    return socket->looked_up && socket->has_owner && is_trusted(trust, socket->owner);
}

/* ---- construction and destruction ---- */

kc__local_trust *kc__local_trust_new(const kc__local_trust_opts *opts, kc_error *err)
{
    kc_auto(kc__local_trust) *trust = kc_new(kc__local_trust);
    trust->log = opts->log;
    if (set_users(trust, opts, err) < 0 || !(trust->owners = kc__socket_owners_open(err)))
        return NULL;
    return kc_take(trust);
}

kc__local_trust *kc__local_trust_free(kc__local_trust *trust)
{
    if (!trust)
        return NULL;
    kc__socket_owners_close(trust->owners);
    kc_vec_done(&trust->users);
    kc_vec_done(&trust->never);
    free(trust);
    return NULL;
}
