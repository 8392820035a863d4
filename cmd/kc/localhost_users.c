/* SPDX-License-Identifier: Apache-2.0 */
/*
 * localhost_users.c: the users that loopback trust applies to. See localhost_users.h.
 *
 * Pods run as users of a range that no account of the machine has (kc/pods.h). Daemons that drop
 * their rights run as the account "nobody" (uid 65534). Clients of either are never trusted. A
 * server whose own user is that account still trusts its own user: it cannot give pods other users,
 * and `kc up` turns loopback trust off then.
 */
#include "localhost_users.h"

#include <pwd.h>
#include <unistd.h>

#define NOBODY 65534u

/* Resolves a user name or a uid. */
static bool find_user(const char *text, uint32_t *ret)
{
    struct passwd entry, *found = NULL;
    char room[16384];
    uint64_t uid;
    if (kc_str_to_u64(kc_cstr(text), &uid)) {
        *ret = (uint32_t)uid;
        return uid < UINT32_MAX;
    }
    if (getpwnam_r(text, &entry, room, sizeof(room), &found) != 0 || !found)
        return false;
    *ret = entry.pw_uid;
    return true;
}

static int add_user(kc__cli_localhost_users *users, kc_str text, kc_error *err)
{
    kc_autofree char *name = kc_str_dup(kc_str_trim(text));
    uint32_t uid;
    if (!find_user(name, &uid))
        return kc_error_set(err, KC_INVALID,
                            "invalid user '%s': must be a user name of this machine or a uid",
                            name);
    for (size_t i = 0; i < users->n; i++)
        if (users->uids[i] == uid)
            return 0;
    if (users->n == KC_COUNT(users->uids))
        return kc_error_set(err, KC_INVALID, "too many users: at most %d",
                            KC__CLI_LOCALHOST_USERS_MAX);
    users->uids[users->n++] = uid;
    return 0;
}

int kc__cli_flag_localhost_users(const char *text, void *ret, kc_error *err)
{
    kc__cli_localhost_users users = {0};
    kc_str rest = kc_cstr(text);
    while (rest.n)
        if (add_user(&users, kc_str_cut(&rest, ','), err) < 0)
            return kc_error_result(err);
    *(kc__cli_localhost_users *)ret = users;
    return 0;
}

const char *kc__cli_pods_share_users(const kc_pods_opts *pods)
{
    if (!kc_pods_may_run_as(pods, geteuid()) && !kc_pods_may_run_as(pods, 0))
        return NULL;
    return geteuid() == 0 ? "--pods-allow-root lets pods run as any user"
                          : "pods run as processes of your own user";
}

kc__cli_pod_users kc__cli_pod_users_of(kc_uid_range wanted)
{
    const kc_uid_range range = kc_pods_uid_range(wanted);
    kc__cli_pod_users users = {.ranges = {{range.base, range.base + range.count - 1}}, .n = 1};
    if (geteuid() != NOBODY)
        users.ranges[users.n++] = (kc__local_trust_uid_range){NOBODY, NOBODY};
    return users;
}
