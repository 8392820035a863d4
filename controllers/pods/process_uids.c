/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_uids.c: UIDs of pods. If the runtime is root, each pod has a UID and GID of its own from
 * a range that belongs to pods alone (--pod-uid-range): so pods can neither signal, trace nor read
 * each other's processes and files, and a server can tell a pod's connection from an operator's by
 * the UID that owns the socket (kc_pods_may_run_as).
 *
 *     FOLDER/pods/UID/.user    the pod's UID, in decimal; removed with the pod's files
 *     FOLDER/next-user         where the search for the next one starts
 *
 * A UID is reused only after all files of its pod are removed and every other UID of the range has
 * been used: files that a pod left elsewhere (the host's /tmp, without mount namespaces) do not
 * belong to the next pod. The first search of a directory starts at a position that depends on the
 * directory: two nodes of one host are unlikely to collide. To rule it out, give them separate
 * ranges.
 *
 * If the runtime is not root, pods run as its own user, and none of this applies.
 */
#include "pods/process_internal.h"

#include "kc/pods.h"

#include <pwd.h>
#include <stdio.h>
#include <unistd.h>

#define USER_FILE "/.user"
#define NEXT_FILE "next-user"
#define NOBODY    65534u

/* Tried in order if the operator names no range: the second for user namespaces that map 65536
 * UIDs, as those of rootless containers. */
static const kc_uid_range defaults[] = {{KC_PODS_UID_BASE, KC_PODS_UID_COUNT}, {50000, 10000}};

/* ---- for servers ---- */

static bool process_uids_is_in(kc_uid_range range, uint32_t uid)
{
    return uid >= range.base && uid - range.base < range.count;
}

/* Whether our user namespace maps all UIDs of the range. */
static bool is_mapped(kc_uid_range range)
{
    FILE *file = fopen("/proc/self/uid_map", "re");
    unsigned long inside, outside, n;
    bool all = !file;
    while (file && !all && fscanf(file, "%lu %lu %lu", &inside, &outside, &n) == 3)
        all = range.base >= inside && (uint64_t)range.base + range.count <= (uint64_t)inside + n;
    if (file)
        fclose(file);
    return all;
}

kc_uid_range kc_pods_uid_range(kc_uid_range wanted)
{
    for (size_t i = 0; i < KC_COUNT(defaults) && !wanted.count; i++)
        if (is_mapped(defaults[i]))
            return defaults[i];
    return wanted.count ? wanted : defaults[0];
}

/* Root of a user namespace that maps no other UID cannot assign UIDs to pods. */
static bool has_users(kc_uid_range wanted)
{
    bool mapped = wanted.count && is_mapped(wanted);
    for (size_t i = 0; i < KC_COUNT(defaults) && !wanted.count; i++)
        mapped = mapped || is_mapped(defaults[i]);
    return geteuid() == 0 && mapped;
}

kc_pods_mode kc_pods_resolve_mode(const kc_pods_opts *opts)
{
    if (opts->mode != KC_PODS_AUTO)
        return opts->mode;
    return has_users(opts->uids) || opts->unsafe_can_read_credentials ? KC_PODS_PROCESS
                                                                      : KC_PODS_SIMULATE;
}

int kc_pods_check_user(const kc_pods_opts *opts, kc_error *err)
{
    if (kc_pods_resolve_mode(opts) != KC_PODS_PROCESS || geteuid() == 0 ||
        opts->unsafe_can_read_credentials)
        return 0;
    return kc_error_set(err, KC_FORBIDDEN,
                        "--pods=process requires root, so that each pod runs as a UID of its "
                        "own: as UID %u pods would share it, and could read the server's keys "
                        "and kubeconfigs and write its storage; run as root, use "
                        "--pods=simulate, or accept the risk with "
                        "--unsafe-pods-can-read-credentials",
                        geteuid());
}

bool kc_pods_may_run_as(const kc_pods_opts *opts, uint32_t uid)
{
    if (kc_pods_resolve_mode(opts) != KC_PODS_PROCESS)
        return false;
    if (geteuid() != 0)
        return uid == geteuid();
    if (opts->allow_root || process_uids_is_in(opts->uids, uid))
        return true;
    for (size_t i = 0; i < KC_COUNT(defaults) && !opts->uids.count; i++)
        if (process_uids_is_in(defaults[i], uid))
            return true;
    return false;
}

/* ---- the range ---- */

/* An account of /etc/passwd inside the range; the caller frees its name. */
static char *account_in(kc_uid_range range)
{
    FILE *file = fopen("/etc/passwd", "re");
    struct passwd entry, *found = NULL;
    char text[4096], *name = NULL;
    while (file && !name && fgetpwent_r(file, &entry, text, sizeof(text), &found) == 0 && found)
        if (process_uids_is_in(range, found->pw_uid))
            name = kc_strdup(found->pw_name);
    if (file)
        fclose(file);
    return name;
}

static int check_range(kc_uid_range range, kc_error *err)
{
    kc_autofree char *account = account_in(range);
    if (process_uids_is_in(range, 0) || process_uids_is_in(range, NOBODY) ||
        (uint64_t)range.base + range.count > UINT32_MAX)
        return kc_error_set(err, KC_INVALID,
                            "the UID range of pods, %u:%u, must not contain 0, %u or %u",
                            range.base, range.count, NOBODY, UINT32_MAX);
    if (account)
        return kc_error_set(err, KC_INVALID,
                            "the UID range of pods, %u:%u, contains the account \"%s\"", range.base,
                            range.count, account);
    if (!is_mapped(range))
        return kc_error_set(err, KC_INVALID,
                            "the UID range of pods, %u:%u, is not mapped in this user "
                            "namespace: choose a range from /proc/self/uid_map",
                            range.base, range.count);
    return 0;
}

/* ---- allocated UIDs ---- */

static bool is_taken(const kc__process_uids *u, uint32_t at)
{
    return u->taken[at / 64] >> (at % 64) & 1;
}

static void process_uids_take(kc__process_uids *u, uint32_t uid, bool yes)
{
    const uint32_t at = uid - u->range.base;
    if (!process_uids_is_in(u->range, uid))
        return;
    if (yes)
        u->taken[at / 64] |= UINT64_C(1) << (at % 64);
    else
        u->taken[at / 64] &= ~(UINT64_C(1) << (at % 64));
}

static bool process_uids_read_number(int at, const char *name, uint32_t *ret)
{
    kc_scoped(kc_buf) text = {0};
    uint64_t n;
    if (!kc__process_file_bytes(at, name, 32, false, &text) ||
        !kc_str_to_u64(kc_str_trim(kc_buf_str(&text)), &n) || n >= UINT32_MAX)
        return false;
    *ret = (uint32_t)n;
    return true;
}

static int process_uids_write_number(int at, const char *name, uint32_t n, kc_error *err)
{
    char text[16];
    snprintf(text, sizeof(text), "%u", n);
    return kc__process_file_replace(at, name, kc_cstr(text), err);
}

/* "UID/.user", below the directory of pods. */
static char *user_file(kc_str pod)
{
    return kc_asprintf("%.*s" USER_FILE, KC_ARG(pod));
}

static void read_taken(kc__process_runtime *rt)
{
    kc__process_names pods = {0};
    kc__process_dir_names(rt->pods_fd, &pods, NULL);
    kc_vec_each (&pods, pod) {
        uint32_t uid;
        kc_autofree char *file = user_file(kc_cstr(*pod));
        if (process_uids_read_number(rt->pods_fd, file, &uid))
            process_uids_take(&rt->uids, uid, true);
    }
    kc__process_names_done(&pods);
}

int kc__process_uids_open(kc__process_runtime *rt, kc_uid_range wanted, kc_error *err)
{
    kc__process_uids *u = &rt->uids;
    uint32_t next;
    if (geteuid() != 0)
        return 0;
    u->range = kc_pods_uid_range(wanted);
    if (check_range(u->range, err) < 0)
        return kc_error_result(err);
    kc_mutex_init(&u->writing);
    u->taken = kc_calloc(u->range.count / 64 + 1, sizeof(*u->taken));
    u->next = (uint32_t)(kc_str_hash(kc_cstr(rt->dir), 0) % u->range.count);
    if (process_uids_read_number(rt->dir_fd, NEXT_FILE, &next) &&
        process_uids_is_in(u->range, next))
        u->next = next - u->range.base;
    read_taken(rt);
    return 0;
}

void kc__process_uids_done(kc__process_uids *u)
{
    if (!u->taken)
        return;
    kc_mutex_done(&u->writing);
    free(u->taken);
    u->taken = NULL;
}

/* ---- UID of one pod ---- */

/* Allocates the next free UID. The caller holds the mutex. */
static bool next_free(kc__process_uids *u, uint32_t *ret)
{
    for (uint32_t i = 0; i < u->range.count; i++) {
        const uint32_t at = (uint32_t)(((uint64_t)u->next + i) % u->range.count);
        if (is_taken(u, at))
            continue;
        *ret = u->range.base + at;
        process_uids_take(u, *ret, true);
        u->next = (at + 1) % u->range.count;
        return true;
    }
    return false;
}

/* One thread at a time writes the file, and never an older value than is there. */
static int write_next(kc__process_runtime *rt, kc_error *err)
{
    kc__process_uids *u = &rt->uids;
    uint32_t next = 0;
    int done = 0;
    kc_locked (&u->writing) {
        kc_locked (&rt->mutex)
            next = u->range.base + u->next;
        done = process_uids_write_number(rt->dir_fd, NEXT_FILE, next, err);
    }
    return done;
}

static int process_uids_return(kc__process_runtime *rt, const char *file, uint32_t *ret,
                               kc_error *err)
{
    kc__process_uids *u = &rt->uids;
    bool found = false;
    kc_locked (&rt->mutex)
        found = next_free(u, ret);
    if (!found)
        return kc_error_set(err, KC_TOO_MANY_REQUESTS,
                            "all %u UIDs of --pod-uid-range are in use by other pods",
                            u->range.count);
    if (process_uids_write_number(rt->pods_fd, file, *ret, err) == 0 && write_next(rt, err) == 0)
        return 0;
    kc_locked (&rt->mutex)
        process_uids_take(u, *ret, false);
    return kc_error_result(err);
}

int kc__process_uids_of_pod(kc__process_runtime *rt, kc_str pod, uint32_t *ret, kc_error *err)
{
    if (!rt->isolation.root) {
        *ret = geteuid();
        return 0;
    }
    kc_autofree char *file = user_file(pod);
    if (process_uids_read_number(rt->pods_fd, file, ret) &&
        process_uids_is_in(rt->uids.range, *ret))
        return 0;
    return process_uids_return(rt, file, ret, err);
}

uint32_t kc__process_uids_peek(kc__process_runtime *rt, kc_str pod)
{
    uint32_t uid = 0;
    kc_autofree char *file = user_file(pod);
    return process_uids_read_number(rt->pods_fd, file, &uid) ? uid : 0;
}

void kc__process_uids_release(kc__process_runtime *rt, uint32_t uid)
{
    if (rt->uids.taken)
        kc_locked (&rt->mutex)
            process_uids_take(&rt->uids, uid, false);
}
