/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_isolation.c: finds out what the machine allows, by trying it.
 *
 * Whether namespaces can be made depends on who we are, on kernel settings, on what runs us (a
 * container without CAP_SYS_ADMIN, a seccomp filter) and on security modules: nothing but a try
 * tells. So a process goes through everything that a container's would, but for exec. What works is
 * used for all containers; what does not is said in one line, with why.
 */
#include "pods/process_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

/* 0: a container's process would have come as far as exec. */
static int try(kc__process_runtime *rt, kc_error *err)
{
    kc_auto(kc__launch) *l = kc_new(kc__launch);
    char *none[] = {NULL};
    kc__spawned spawned;
    siginfo_t info = {0};
    kc__launch_init(rt, l);
    l->dry = true;
    l->argv = l->envp = l->paths = none;
    l->set_ids = rt->isolation.root;
    l->uid = rt->user.uid;
    l->gid = l->group = rt->user.gid;
    l->cgroup = rt->isolation.cgroup;
    if (l->own_mounts) {
        l->hostname = "pod";
        if (kc__mounts_base(rt, rt->new_root, false, l, err) < 0)
            return -1;
    }
    if (kc__spawn(rt->spawner, l, true, &spawned, err) < 0 || kc__spawn_go(l, &spawned, err) < 0)
        return -1;
    while (waitid((idtype_t)P_PIDFD, (id_t)spawned.pidfd, &info, WEXITED) < 0 && errno == EINTR)
        ;
    kc__spawned_close(&spawned);
    return info.si_code == CLD_EXITED && info.si_status == 0
               ? 0
               : kc_error_set(err, KC_INTERNAL, "a process ended before it could run");
}

static void try_cgroup(kc__process_runtime *rt, kc__isolation_limit limit, kc_buf *text)
{
    kc__isolation *i = &rt->isolation;
    const size_t n = text->n;
    kc_scoped(kc_error) why = {0};
    if (kc__cgroup_open(rt, limit, text) < 0)
        return;
    /* In a group below: one that gives controllers to others may hold no process itself. */
    const int ours = i->cgroup;
    i->cgroup = kc__folder_open(ours, "try", 0755, &why);
    const bool works = i->cgroup >= 0 && try(rt, &why) == 0;
    if (i->cgroup >= 0)
        close(i->cgroup);
    unlinkat(ours, "try", AT_REMOVEDIR);
    i->cgroup = ours;
    if (works)
        return;
    text->n = n;
    kc_buf_printf(text, "no cgroup (%s): limits are not enforced", kc_error_text(&why));
    close(i->cgroup);
    i->cgroup = -1;
    i->cpu = i->memory = i->pids = false;
}

static void try_namespaces(kc__process_runtime *rt, kc__isolation_limit limit, kc_buf *text)
{
    kc__isolation *i = &rt->isolation;
    kc_scoped(kc_error) why = {0};
    i->namespaces = i->root ? KC__NAMESPACES_ROOT : KC__NAMESPACES_USER;
    if (!limit.no_namespaces && try(rt, &why) == 0) {
        kc_buf_printf(text, "namespaces: mount pid ipc uts%s; host network",
                      i->root ? "" : " user");
        return;
    }
    kc_buf_printf(text, "no namespaces (%s): no volumes, host processes visible; host network",
                  limit.no_namespaces ? "not wanted" : kc_error_text(&why));
    i->namespaces = KC__NAMESPACES_NONE;
}

/* What `kubectl get nodes -o wide` shows of it: process://namespaces+cgroup. */
static const char *version_of(const kc__isolation *i)
{
    static const char *const versions[][2] = {
        [KC__NAMESPACES_NONE] = {"unisolated", "unisolated+cgroup"},
        [KC__NAMESPACES_ROOT] = {"namespaces", "namespaces+cgroup"},
        [KC__NAMESPACES_USER] = {"user-namespaces", "user-namespaces+cgroup"},
    };
    return versions[i->namespaces][i->cgroup >= 0];
}

int kc__isolation_find(kc__process_runtime *rt, kc__isolation_limit limit, kc_error *err)
{
    kc_scoped(kc_buf) text = {0};
    kc__isolation *i = &rt->isolation;
    i->root = geteuid() == 0;
    i->cgroup = -1;
    kc_buf_printf(&text, "user %u:%u%s; ", rt->user.uid, rt->user.gid,
                  i->root ? "" : " (ourselves)");
    try_namespaces(rt, limit, &text);
    if (i->namespaces == KC__NAMESPACES_NONE && try(rt, err) < 0)
        return kc_error_wrap(err, "containers cannot be run (%s)", kc_buf_cstr(&text));
    kc_buf_puts(&text, "; ");
    try_cgroup(rt, limit, &text);
    i->text = kc_buf_take(&text);
    rt->base.version = version_of(i);
    kc_log_info(rt->log, "pods are processes", kc_kv("isolation", (const char *)i->text),
                kc_kv("image", (const char *)rt->image), kc_kv("folder", (const char *)rt->folder));
    return 0;
}

void kc__isolation_done(kc__isolation *i)
{
    if (i->cgroup >= 0)
        close(i->cgroup);
    i->cgroup = -1;
    if (i->cgroup_path)
        rmdir(i->cgroup_path);
    free(i->cgroup_path);
    i->cgroup_path = NULL;
    free(i->text);
    i->text = NULL;
}
