/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_usage.c: measures the local storage of a pod and compares it with its limits.
 *
 * The limits are the kubelet's: an emptyDir's sizeLimit, the ephemeral-storage limit of a container
 * (its /tmp and its logs), and the sum of these limits for the whole pod. Usage is measured
 * periodically (pod_plan.c), not limited by the kernel: a pod that exceeds a limit is evicted
 * within seconds and may fill the disk until then. A tmpfs limits an emptyDir in memory, which is
 * also measured, because it may have fallen back to disk.
 *
 * Containers change files while they are counted: everything goes through directory descriptors,
 * symlinks are not followed, and files that vanish count as 0. A tree that is nested too deeply
 * cannot be measured and exceeds every limit.
 */
#include "pods/process_internal.h"

#include "common/containers.h"
#include "kc/quantity.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_DEPTH 128 /* One descriptor each. */

/* ---- directories ---- */

typedef struct usage {
    int64_t bytes;
    bool too_deep;
    kc_map linked; /* Files with several hard links, by device and inode: each counts once. */
    kc_arena arena;
} usage;

static bool was_counted(usage *u, const struct stat *st)
{
    char key[64];
    const int n = snprintf(key, sizeof(key), "%llx.%llx", (unsigned long long)st->st_dev,
                           (unsigned long long)st->st_ino);
    if (kc_map_get(&u->linked, kc_str_of(key, (size_t)n)))
        return true;
    kc_map_put(&u->linked, kc_arena_str(&u->arena, kc_str_of(key, (size_t)n)), u);
    return false;
}

static void count_dir(usage *u, int at, const char *name, int depth);

static void count_entry(usage *u, int dir_fd, const char *name, int depth)
{
    struct stat st;
    if (!strcmp(name, ".") || !strcmp(name, "..") ||
        fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return;
    if (S_ISDIR(st.st_mode)) {
        count_dir(u, dir_fd, name, depth + 1);
        return;
    }
    if (st.st_nlink < 2 || !was_counted(u, &st))
        u->bytes += (int64_t)st.st_blocks * 512;
}

static void count_dir(usage *u, int at, const char *name, int depth)
{
    struct stat st;
    const int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    u->too_deep = u->too_deep || depth > MAX_DEPTH;
    if (dir && fstat(fd, &st) == 0)
        u->bytes += (int64_t)st.st_blocks * 512;
    for (struct dirent *entry; dir && !u->too_deep && (entry = readdir(dir));)
        count_entry(u, fd, entry->d_name, depth);
    if (dir)
        closedir(dir);
    else if (fd >= 0)
        close(fd);
}

int64_t kc__process_dir_usage(int at, const char *name)
{
    usage u = {0};
    count_dir(&u, at, name, 0);
    kc_map_done(&u.linked);
    kc_arena_done(&u.arena);
    return u.too_deep ? -1 : u.bytes;
}

/* ---- limits ---- */

static bool limit_of(const kc_container *c, int64_t *ret)
{
    kc_quantity q;
    for (size_t i = 0; i < c->resources.limits.n; i++)
        if (!strcmp(c->resources.limits.items[i].key, "ephemeral-storage") &&
            kc_quantity_parse(kc_cstr(c->resources.limits.items[i].value.text), &q, NULL) == 0) {
            *ret = kc_quantity_value(q);
            return true;
        }
    return false;
}

static const char *limit_text(const kc_container *c)
{
    for (size_t i = 0; i < c->resources.limits.n; i++)
        if (!strcmp(c->resources.limits.items[i].key, "ephemeral-storage"))
            return c->resources.limits.items[i].value.text;
    return "";
}

static bool size_limit_of(const kc_volume *v, int64_t *ret)
{
    kc_quantity q;
    if (!v->empty_dir || !v->empty_dir->size_limit.text ||
        kc_quantity_parse(kc_cstr(v->empty_dir->size_limit.text), &q, NULL) < 0 ||
        kc_quantity_sign(q) <= 0)
        return false;
    *ret = kc_quantity_value(q);
    return true;
}

/* Saturating; a failed measurement counts as the maximum. */
static int64_t plus(int64_t sum, int64_t more)
{
    return more < 0 || sum > INT64_MAX - more ? INT64_MAX : sum + more;
}

/* The sum of what runs concurrently, or the largest init container. False: no limit. */
static bool limit_of_pod(const kc_pod *pod, int64_t *ret)
{
    int64_t sum = 0, most = 0, limit;
    bool any = false;
    for (size_t i = 0; i < pod->spec.n_init_containers; i++) {
        const kc_container *c = &pod->spec.init_containers[i];
        if (!limit_of(c, &limit))
            continue;
        any = true;
        if (kc__common_is_sidecar(c))
            sum = plus(sum, limit);
        else
            most = KC_MAX(most, limit);
    }
    for (size_t i = 0; i < pod->spec.n_containers; i++)
        if (limit_of(&pod->spec.containers[i], &limit)) {
            any = true;
            sum = plus(sum, limit);
        }
    *ret = KC_MAX(sum, most);
    return any;
}

static bool exceeds(int64_t used, int64_t limit)
{
    return used < 0 || used > limit;
}

static int check_volumes(const kc_pod *pod, int dir_fd, int64_t *total, kc_error *err)
{
    for (size_t i = 0; i < pod->spec.n_volumes; i++) {
        const kc_volume *v = &pod->spec.volumes[i];
        int64_t limit;
        if (!v->empty_dir || !kc__process_file_name_ok(kc_cstr(v->name)))
            continue;
        kc_autofree char *path = kc_asprintf(".volumes/%s", v->name);
        const int64_t used = kc__process_dir_usage(dir_fd, path);
        const bool memory = v->empty_dir->medium && !strcmp(v->empty_dir->medium, "Memory");
        *total = memory ? *total : plus(*total, used);
        if (size_limit_of(v, &limit) && exceeds(used, limit))
            return kc_error_set(err, KC_FORBIDDEN,
                                "Usage of EmptyDir volume \"%s\" exceeds the limit \"%s\". ",
                                v->name, v->empty_dir->size_limit.text);
    }
    return 0;
}

/* The container's error is reported after the pod's, as in the kubelet. */
static int process_usage_check_containers(const kc_pod *pod, int dir_fd, int64_t *total,
                                          kc_error *err)
{
    const size_t n_init = pod->spec.n_init_containers, n = n_init + pod->spec.n_containers;
    int done = 0;
    for (size_t i = 0; i < n; i++) {
        const kc_container *c =
            i < n_init ? &pod->spec.init_containers[i] : &pod->spec.containers[i - n_init];
        int64_t limit;
        if (!kc__process_file_name_ok(kc_cstr(c->name)))
            continue;
        const int64_t used = kc__process_dir_usage(dir_fd, c->name);
        *total = plus(*total, used);
        if (done == 0 && limit_of(c, &limit) && exceeds(used, limit))
            done = kc_error_set(err, KC_FORBIDDEN,
                                "Container %s exceeded its local ephemeral storage limit \"%s\". ",
                                c->name, limit_text(c));
    }
    return done;
}

static int check_pod_dir(const kc_pod *pod, int dir_fd, kc_error *err)
{
    int64_t total = 0, limit;
    kc_scoped(kc_error) of_container = {0};
    if (check_volumes(pod, dir_fd, &total, err) < 0)
        return kc_error_result(err);
    const int containers = process_usage_check_containers(pod, dir_fd, &total, &of_container);
    if (limit_of_pod(pod, &limit) && total > limit) {
        char text[KC_QUANTITY_MAX];
        const kc_str printed = kc_quantity_print(kc_quantity_of(limit, KC_BINARY_SI), text);
        return kc_error_set(err, KC_FORBIDDEN,
                            "Pod ephemeral local storage usage exceeds the total limit of "
                            "containers %.*s. ",
                            KC_ARG(printed));
    }
    if (containers < 0)
        kc_error_move(err, &of_container);
    return containers;
}

int kc__process_usage_check(kc__process_runtime *rt, const kc_pod *pod, kc_error *err)
{
    const int dir_fd = kc__process_pod_dir(rt, kc_cstr(pod->metadata.uid), false, NULL);
    if (dir_fd < 0)
        return 0;
    const int done = check_pod_dir(pod, dir_fd, err);
    close(dir_fd);
    return done;
}
