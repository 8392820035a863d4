/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_cgroup.c: resource limits, and reliable killing of containers, with cgroups (version 2).
 *
 *     OURS/kc-pods-HASH/UID/CONTAINER-N       HASH is of the directory: two runtimes do not collide
 *
 * Ours is the cgroup of this process, or its parent if that was delegated. Limits need controllers,
 * which the kernel enables for children of a group only if no process is in the group itself, or it
 * is the root: in a systemd service they are available with Delegate=yes and DelegateSubgroup=main.
 * Without controllers the groups still track the processes of a container, and cgroup.kill kills
 * all of them.
 *
 * To add a limit: a row in `limits`.
 */
#include "pods/process_internal.h"

#include "kc/quantity.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

static int process_cgroup_write_at(int at, const char *name, const char *text)
{
    const int fd = openat(at, name, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return -1;
    const ssize_t n = write(fd, text, strlen(text));
    const int why = errno;
    close(fd);
    errno = why;
    return n < 0 ? -1 : 0;
}

/* The mount point of cgroup2: the fifth field of the line with type cgroup2. */
static bool find_mount(char ret[512])
{
    FILE *file = fopen("/proc/self/mountinfo", "re");
    char line[4096];
    bool found = false;
    while (file && !found && fgets(line, sizeof(line), file))
        found = strstr(line, " - cgroup2 ") && sscanf(line, "%*s %*s %*s %*s %511s", ret) == 1;
    if (file)
        fclose(file);
    return found;
}

static bool find_own(char ret[512])
{
    FILE *file = fopen("/proc/self/cgroup", "re");
    char line[1024];
    bool found = false;
    while (file && !found && fgets(line, sizeof(line), file))
        found = sscanf(line, "0::%511s", ret) == 1;
    if (file)
        fclose(file);
    return found;
}

static bool has_word(int at, const char *file, const char *word)
{
    kc_scoped(kc_buf) text = {0};
    kc__process_file_bytes(at, file, 4096, false, &text);
    for (kc_str rest = kc_str_trim(kc_buf_str(&text)); rest.p;)
        if (kc_str_is(kc_str_cut(&rest, ' '), word))
            return true;
    return false;
}

/* Enables a controller for the children of a group, if permitted. */
static bool enable(int at, const char *controller)
{
    char text[32];
    snprintf(text, sizeof(text), "+%s", controller);
    return has_word(at, "cgroup.controllers", controller) &&
           (has_word(at, "cgroup.subtree_control", controller) ||
            process_cgroup_write_at(at, "cgroup.subtree_control", text) == 0);
}

static bool enable_both(int ours, int group, const char *controller)
{
    return enable(ours, controller) && enable(group, controller);
}

/* The parent group, if the service manager delegated it: it contains no process. */
static void use_delegated(char *path)
{
    static const char *const names[] = {"user.delegate", "trusted.delegate"};
    char *end = strrchr(path, '/'), is[4] = "";
    if (!end || end == path)
        return;
    *end = '\0';
    for (size_t i = 0; i < KC_COUNT(names); i++)
        if (getxattr(path, names[i], is, sizeof(is)) == 1 && is[0] == '1')
            return;
    *end = '/';
}

/* FNV-1a: must not change between versions, because leftovers of an earlier process are found by
 * it. */
static uint64_t process_cgroup_hash_of(const char *text)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return hash;
}

int kc__process_cgroup_open(kc__process_runtime *rt, kc__process_isolation_limit limit,
                            kc_buf *text)
{
    char mount[512], own[512], name[64];
    kc__process_isolation *i = &rt->isolation;
    i->cgroup = -1;
    if (limit.no_cgroup || !find_mount(mount) || !find_own(own)) {
        kc_buf_puts(text, "no cgroup (no cgroup2 hierarchy): limits are not enforced");
        return -1;
    }
    kc_autofree char *path = kc_asprintf("%s%s", mount, own);
    use_delegated(path);
    const int ours = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    snprintf(name, sizeof(name), "kc-pods-%016llx",
             (unsigned long long)process_cgroup_hash_of(rt->dir));
    kc_scoped(kc_error) why = {0};
    i->cgroup = ours < 0 ? -1 : kc__process_dir_open(ours, name, 0755, &why);
    if (i->cgroup < 0) {
        i->cgroup = -1;
        kc_buf_puts(text, "no cgroup (not writable): limits are not enforced");
    } else {
        i->cgroup_path = kc_asprintf("%s/%s", path, name);
        i->cpu = enable_both(ours, i->cgroup, "cpu");
        i->memory = enable_both(ours, i->cgroup, "memory");
        i->pids = enable_both(ours, i->cgroup, "pids");
        kc_buf_printf(text, "cgroup with limits:%s%s%s%s", i->cpu ? " cpu" : "",
                      i->memory ? " memory" : "", i->pids ? " pids" : "",
                      i->cpu || i->memory || i->pids ? "" : " none (no controllers delegated)");
    }
    if (ours >= 0)
        close(ours);
    return i->cgroup;
}

/* ---- limits ---- */

static bool limit_of(const kc_container *c, const char *resource, kc_quantity *ret)
{
    for (size_t i = 0; i < c->resources.limits.n; i++)
        if (strcmp(c->resources.limits.items[i].key, resource) == 0)
            return kc_quantity_parse(kc_cstr(c->resources.limits.items[i].value.text), ret, NULL) ==
                       0 &&
                   kc_quantity_sign(*ret) > 0;
    return false;
}

/* The kubelet's rule: a period of 100 ms and a quota of at least 1 ms. */
void kc__process_cgroup_cpu_text(const kc_container *container, char ret[64])
{
    kc_quantity q;
    ret[0] = '\0';
    if (!limit_of(container, "cpu", &q))
        return;
    const int64_t milli = KC_MIN(kc_quantity_milli_value(q), INT64_C(1000000000));
    snprintf(ret, 64, "%lld 100000", (long long)KC_MAX(milli * 100, 1000));
}

void kc__process_cgroup_memory_text(const kc_container *container, char ret[64])
{
    kc_quantity q;
    ret[0] = '\0';
    if (limit_of(container, "memory", &q))
        snprintf(ret, 64, "%lld", (long long)kc_quantity_value(q));
}

static void pids_text(const kc_container *container, char ret[64])
{
    (void)container;
    snprintf(ret, 64, "%d", KC__PROCESS_MAX_PROCESSES);
}

static const struct {
    const char *file;
    size_t enabled; /* Offset in kc__process_isolation. */
    void (*text)(const kc_container *container, char ret[64]);
} limits[] = {
    {"cpu.max", offsetof(kc__process_isolation, cpu), kc__process_cgroup_cpu_text},
    {"memory.max", offsetof(kc__process_isolation, memory), kc__process_cgroup_memory_text},
    {"pids.max", offsetof(kc__process_isolation, pids), pids_text},
};

static void set_limits(kc__process_runtime *rt, int group, const kc_container *container)
{
    for (size_t i = 0; i < KC_COUNT(limits); i++) {
        char text[64];
        limits[i].text(container, text);
        if (!*(const bool *)((const char *)&rt->isolation + limits[i].enabled) || !text[0])
            continue;
        if (process_cgroup_write_at(group, limits[i].file, text) < 0)
            kc_log_warn(rt->log, "failed to set cgroup limit", kc_kv("file", limits[i].file),
                        kc_kv("value", (const char *)text), kc_kv("container", container->name),
                        kc_kv("err", strerrordesc_np(errno)));
    }
    /* The OOM killer kills the whole container, as with the kubelet. */
    if (rt->isolation.memory)
        process_cgroup_write_at(group, "memory.oom.group", "1");
}

int kc__process_cgroup_make(kc__process_runtime *rt, const kc__process_proc *proc,
                            const kc_container *container)
{
    char name[300];
    if (rt->isolation.cgroup < 0)
        return -1;
    const int pod = kc__process_dir_open(rt->isolation.cgroup, proc->uid, 0755, NULL);
    if (pod < 0)
        return -1;
    if (rt->isolation.cpu)
        enable(pod, "cpu");
    if (rt->isolation.memory)
        enable(pod, "memory");
    if (rt->isolation.pids)
        enable(pod, "pids");
    snprintf(name, sizeof(name), "%s-%d", proc->name, proc->attempt);
    const int group = kc__process_dir_open(pod, name, 0755, NULL);
    close(pod);
    if (group >= 0)
        set_limits(rt, group, container);
    return group < 0 ? -1 : group;
}

/* ---- removal ---- */

void kc__process_cgroup_kill(int cgroup)
{
    if (cgroup >= 0)
        process_cgroup_write_at(cgroup, "cgroup.kill", "1");
}

bool kc__process_cgroup_oom(int cgroup)
{
    kc_scoped(kc_buf) text = {0};
    if (cgroup < 0 || !kc__process_file_bytes(cgroup, "memory.events", 4096, false, &text))
        return false;
    for (kc_str rest = kc_buf_str(&text); rest.p;) {
        kc_str value = kc_str_cut(&rest, '\n');
        const kc_str key = kc_str_cut(&value, ' ');
        if (kc_str_is(key, "oom_kill"))
            return !kc_str_is(value, "0");
    }
    return false;
}

/* A group can be removed when its last process has been reaped, shortly after the kill. */
static void remove_group(int at, const char *name)
{
    for (int tries = 0; tries < 100; tries++) {
        if (unlinkat(at, name, AT_REMOVEDIR) == 0 || errno != EBUSY)
            return;
        poll(NULL, 0, 5);
    }
}

void kc__process_cgroup_remove(kc__process_runtime *rt, const char *uid, const char *container,
                               int attempt)
{
    char name[300];
    const int pod =
        rt->isolation.cgroup < 0 ? -1 : kc__process_dir_open(rt->isolation.cgroup, uid, 0, NULL);
    if (pod < 0)
        return;
    /* A busy group is removed with its pod. */
    snprintf(name, sizeof(name), "%s-%d", container, attempt);
    unlinkat(pod, name, AT_REMOVEDIR);
    close(pod);
}

/* Child groups; a cgroup contains no other directories. */
static void remove_below(int group, int depth)
{
    kc__process_names names = {0};
    kc__process_dir_names(group, &names, NULL);
    kc_vec_each (&names, name) {
        const int below = depth > 0 ? kc__process_dir_open(group, *name, 0, NULL) : -1;
        if (below < 0)
            continue;
        remove_below(below, depth - 1);
        close(below);
        remove_group(group, *name);
    }
    kc__process_names_done(&names);
}

void kc__process_cgroup_remove_pod(kc__process_runtime *rt, const char *uid)
{
    const int all = rt->isolation.cgroup;
    const int group = all < 0 ? -1 : uid ? kc__process_dir_open(all, uid, 0, NULL) : dup(all);
    if (group < 0)
        return;
    kc__process_cgroup_kill(group);
    remove_below(group, 4);
    close(group);
    if (uid)
        remove_group(all, uid);
}
