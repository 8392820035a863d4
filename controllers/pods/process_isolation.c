/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_isolation.c: detects the available isolation by trying it.
 *
 * Whether namespaces can be created depends on the user, on kernel settings, on the environment (a
 * container without CAP_SYS_ADMIN, a seccomp filter) and on security modules: only a trial tells.
 * So a test process goes through all steps of a container except exec. What works is used for all
 * containers; one log line reports the result with reasons.
 */
#include "pods/process_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

/* 0: a container's process would have reached exec. */
static int try(kc__process_runtime *rt, kc_error *err)
{
    kc_auto(kc__process_launch) *l = kc_new(kc__process_launch);
    char *none[] = {NULL};
    kc__process_spawned spawned;
    siginfo_t info = {0};
    kc__process_launch_init(rt, l);
    l->dry = true;
    l->argv = l->envp = l->paths = none;
    l->set_ids = rt->isolation.root;
    l->uid = rt->uids.range.base;
    l->gid = l->group = rt->uids.range.base;
    l->cgroup = rt->isolation.cgroup;
    if (l->own_mounts) {
        l->hostname = "pod";
        if (kc__process_mounts_base(rt, rt->new_root, false, l, err) < 0)
            return kc_error_result(err);
    }
    if (kc__process_spawn(rt->spawner, l, true, &spawned, err) < 0 ||
        kc__process_spawn_go(l, &spawned, err) < 0)
        return kc_error_result(err);
    while (waitid((idtype_t)P_PIDFD, (id_t)spawned.pidfd, &info, WEXITED) < 0 && errno == EINTR)
        ;
    kc__process_spawned_close(&spawned);
    return info.si_code == CLD_EXITED && info.si_status == 0
               ? 0
               : kc_error_set(err, KC_INTERNAL, "process exited before exec");
}

static void try_cgroup(kc__process_runtime *rt, kc__process_isolation_limit limit, kc_buf *text)
{
    kc__process_isolation *i = &rt->isolation;
    const size_t n = text->n;
    kc_scoped(kc_error) why = {0};
    if (kc__process_cgroup_open(rt, limit, text) < 0)
        return;
    /* In a child group: a group that enables controllers for children may contain no process
     * itself. */
    const int ours = i->cgroup;
    i->cgroup = kc__process_dir_open(ours, "try", 0755, &why);
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

static void try_namespaces(kc__process_runtime *rt, kc__process_isolation_limit limit, kc_buf *text)
{
    kc__process_isolation *i = &rt->isolation;
    kc_scoped(kc_error) why = {0};
    i->namespaces = i->root ? KC__PROCESS_NAMESPACES_ROOT : KC__PROCESS_NAMESPACES_USER;
    if (!limit.no_namespaces && try(rt, &why) == 0) {
        kc_buf_printf(text, "namespaces: mount pid ipc uts%s; host network",
                      i->root ? "" : " user");
        return;
    }
    i->why_no_namespaces = kc_strdup(limit.no_namespaces ? "disabled" : kc_error_text(&why));
    kc_buf_printf(text, "no namespaces (%s): no volumes, host processes visible; host network",
                  i->why_no_namespaces);
    i->namespaces = KC__PROCESS_NAMESPACES_NONE;
}

/* The runtime version that `kubectl get nodes -o wide` shows: process://namespaces+cgroup. */
static const char *process_isolation_version_of(const kc__process_isolation *i)
{
    static const char *const versions[][2] = {
        [KC__PROCESS_NAMESPACES_NONE] = {"unisolated", "unisolated+cgroup"},
        [KC__PROCESS_NAMESPACES_ROOT] = {"namespaces", "namespaces+cgroup"},
        [KC__PROCESS_NAMESPACES_USER] = {"user-namespaces", "user-namespaces+cgroup"},
    };
    return versions[i->namespaces][i->cgroup >= 0];
}

int kc__process_isolation_find(kc__process_runtime *rt, kc__process_isolation_limit limit,
                               kc_error *err)
{
    kc_scoped(kc_buf) text = {0};
    kc__process_isolation *i = &rt->isolation;
    i->root = geteuid() == 0;
    i->cgroup = -1;
    i->seccomp = kc__process_seccomp_build(&rt->seccomp);
    if (i->root)
        kc_buf_printf(&text, "UID per pod from range %u:%u; ", rt->uids.range.base,
                      rt->uids.range.count);
    else
        kc_buf_printf(&text, "all pods run as our UID %u; ", geteuid());
    kc_buf_puts(&text, i->seccomp ? "seccomp filter; " : "no seccomp filter (not supported); ");
    try_namespaces(rt, limit, &text);
    if (i->namespaces == KC__PROCESS_NAMESPACES_NONE && try(rt, err) < 0)
        return kc_error_wrap(err, "cannot run containers (%s)", kc_buf_cstr(&text));
    kc_buf_puts(&text, "; ");
    try_cgroup(rt, limit, &text);
    i->text = kc_buf_take(&text);
    rt->base.version = process_isolation_version_of(i);
    kc_log_info(rt->log, "running pods as processes", kc_kv("isolation", (const char *)i->text),
                kc_kv("image", (const char *)rt->image), kc_kv("directory", (const char *)rt->dir));
    return 0;
}

void kc__process_isolation_done(kc__process_isolation *i)
{
    if (i->cgroup >= 0)
        close(i->cgroup);
    i->cgroup = -1;
    if (i->cgroup_path)
        rmdir(i->cgroup_path);
    free(i->cgroup_path);
    i->cgroup_path = NULL;
    free(i->why_no_namespaces);
    free(i->text);
    i->why_no_namespaces = i->text = NULL;
}
