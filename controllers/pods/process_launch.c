/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_launch.c: builds the launch of a container: everything that its process needs, prepared
 * before the clone. See process_child.h.
 */
#include "pods/process_internal.h"

#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

#define DEFAULT_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
#define NAMESPACES   ((uint64_t)(CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS))

kc__process_launch *kc__process_launch_free(kc__process_launch *launch)
{
    if (!launch)
        return NULL;
    if (launch->message_fd >= 0)
        close(launch->message_fd);
    kc_vec_done(&launch->mounts);
    kc_arena_done(&launch->arena);
    free(launch);
    return NULL;
}

void kc__process_launch_init(kc__process_runtime *rt, kc__process_launch *l)
{
    const kc__process_namespaces how = rt->isolation.namespaces;
    l->cgroup = l->join_pidfd = l->message_fd = -1;
    l->stdin_fd = rt->null_fd;
    l->workdir = "/";
    l->new_root = rt->new_root;
    l->own_mounts = how != KC__PROCESS_NAMESPACES_NONE;
    l->own_user_namespace = how == KC__PROCESS_NAMESPACES_USER;
    l->clone_flags =
        (l->own_mounts ? NAMESPACES : 0) | (l->own_user_namespace ? (uint64_t)CLONE_NEWUSER : 0);
    l->join_flags = (int)l->clone_flags;
    snprintf(l->uid_map, sizeof(l->uid_map), "%u %u 1", geteuid(), geteuid());
    snprintf(l->gid_map, sizeof(l->gid_map), "%u %u 1", getegid(), getegid());
    if (!l->own_mounts && strcmp(rt->image, "/") != 0)
        l->chroot = rt->image;
    l->seccomp = rt->isolation.seccomp ? &rt->seccomp.program : NULL;
}

/* ---- user and limits ---- */

static int set_identity(kc__process_runtime *rt, kc__process_launch *l, const kc_pod *pod,
                        const kc_container *c, kc_error *err)
{
    kc__process_identity who;
    if (kc__process_identity_of(rt, pod, c, &who, err) < 0)
        return kc_error_result(err);
    const bool privileged =
        c->security_context && c->security_context->privileged && *c->security_context->privileged;
    l->set_ids = rt->isolation.root;
    l->uid = who.uid;
    l->gid = who.gid;
    l->group = who.group;
    l->capabilities = kc__process_capabilities_of(rt, c, who.uid);
    l->all_capabilities = privileged;
    if (privileged)
        l->seccomp = NULL; /* The seccomp filter requires no_new_privs. */
    /* A pids limit in the cgroup is preferred: the rlimit counts all processes of the user. */
    if (l->set_ids && l->uid != 0 && !rt->isolation.pids)
        l->max_processes = KC__PROCESS_MAX_PROCESSES;
    return 0;
}

/* ---- program ---- */

static const char *pod_hostname(const kc_pod *pod, char ret[64])
{
    const char *name =
        pod->spec.hostname && pod->spec.hostname[0] ? pod->spec.hostname : pod->metadata.name;
    snprintf(ret, 64, "%.63s", name ? name : "pod");
    /* A truncated name must end in a valid character. */
    for (size_t n = strlen(ret); n > 0 && (ret[n - 1] == '-' || ret[n - 1] == '.'); n--)
        ret[n - 1] = '\0';
    return ret;
}

/* Later variables override earlier ones and keep their position. */
static void put_env(kc_map *env, kc_arena *arena, const char *name, const char *value)
{
    char *pair = kc_arena_printf(arena, "%s=%s", name, value ? value : "");
    kc_map_put(env, kc_str_of(pair, strlen(name)), pair);
}

static void default_env(kc_map *env, kc_arena *arena, const char *name, const char *value)
{
    if (!kc_map_get(env, kc_cstr(name)))
        put_env(env, arena, name, value);
}

static int set_env(kc__process_runtime *rt, kc__process_launch *l,
                   const kc__pod_container_start *what, kc_error *err)
{
    kc_scoped(kc_map) env = {0};
    char hostname[64];
    for (size_t i = 0; i < what->n_env; i++)
        if (what->env[i].key && what->env[i].key[0] && !strchr(what->env[i].key, '='))
            put_env(&env, &l->arena, what->env[i].key, what->env[i].value);
    default_env(&env, &l->arena, "PATH", DEFAULT_PATH);
    default_env(&env, &l->arena, "HOSTNAME", pod_hostname(what->pod, hostname));
    default_env(&env, &l->arena, "HOME", l->uid == 0 ? "/root" : "/");
    if (rt->isolation.namespaces == KC__PROCESS_NAMESPACES_NONE) {
        kc_autofree char *key =
            kc_asprintf("%s/%s/%d", what->pod->metadata.uid, what->container->name, what->attempt);
        kc_autofree char *mark = kc__process_container_mark(rt, key);
        put_env(&env, &l->arena, "KC_CONTAINER", mark);
        put_env(&env, &l->arena, "KC_TERMINATION_LOG", "/proc/self/fd/3");
    }
    l->envp = kc_arena_calloc(&l->arena, env.n + 1, sizeof(char *));
    size_t n = 0, bytes = 0;
    kc_map_each (&env, entry) {
        l->envp[n++] = entry->value;
        bytes += strlen(entry->value) + 1;
    }
    if (bytes > KC__PROCESS_MAX_START_BYTES)
        return kc_error_set(err, KC_INVALID, "container %s: environment is larger than %zu bytes",
                            what->container->name, KC__PROCESS_MAX_START_BYTES);
    return 0;
}

static const char *env_of(const kc__process_launch *l, const char *name)
{
    const size_t n = strlen(name);
    for (char **pair = l->envp; *pair; pair++)
        if (strncmp(*pair, name, n) == 0 && (*pair)[n] == '=')
            return *pair + n + 1;
    return NULL;
}

/* Candidate paths of the program, which the child tries in order. */
static void set_paths(kc__process_launch *l)
{
    kc_str rest = kc_cstr(env_of(l, "PATH"));
    size_t n = 0;
    for (size_t i = 0; i < rest.n; i++)
        n += rest.p[i] == ':';
    l->paths = kc_arena_calloc(&l->arena, n + 2, sizeof(char *));
    n = 0;
    if (strchr(l->argv[0], '/'))
        l->paths[n++] = l->argv[0];
    else
        while (rest.p) {
            const kc_str dir = kc_str_cut(&rest, ':');
            l->paths[n++] = kc_arena_printf(&l->arena, "%.*s/%s", KC_ARG(dir), l->argv[0]);
        }
}

static void add_args(kc__process_launch *l, size_t *n, char *const *args, size_t n_args)
{
    for (size_t i = 0; i < n_args; i++)
        l->argv[(*n)++] = kc_arena_printf(&l->arena, "%s", args[i]);
}

/* The placeholder for an image's program: it handles SIGTERM, which a main process without a
 * handler does not receive. */
static void set_placeholder(kc__process_launch *l, const kc_container *c)
{
    static const char waiting[] = "trap 'exit 0' TERM INT\necho \"$0: image not pulled; running "
                                  "a placeholder process\"\nsleep infinity & wait";
    const char *const args[] = {"sh", "-c", waiting, c->image ? c->image : ""};
    l->argv = kc_arena_calloc(&l->arena, KC_COUNT(args) + 1, sizeof(char *));
    for (size_t i = 0; i < KC_COUNT(args); i++)
        l->argv[i] = kc_arena_printf(&l->arena, "%s", args[i]);
    set_paths(l);
}

static int set_command(const kc__process_runtime *rt, kc__process_launch *l, const kc_container *c,
                       kc_error *err)
{
    size_t n = 0, bytes = 0;
    const bool has_no_command = c->n_command == 0 || !c->command[0][0];
    if (has_no_command && rt->placeholder) {
        set_placeholder(l, c);
        return 0;
    }
    if (has_no_command)
        return kc_error_set(
            err, KC_INVALID,
            "container %s has no command: images are not pulled, so the pod must set command",
            c->name);
    l->argv = kc_arena_calloc(&l->arena, c->n_command + c->n_args + 1, sizeof(char *));
    add_args(l, &n, c->command, c->n_command);
    add_args(l, &n, c->args, c->n_args);
    for (size_t i = 0; i < n; i++)
        bytes += strlen(l->argv[i]) + 1;
    if (bytes > KC__PROCESS_MAX_START_BYTES)
        return kc_error_set(err, KC_INVALID, "container %s: arguments are larger than %zu bytes",
                            c->name, KC__PROCESS_MAX_START_BYTES);
    set_paths(l);
    return 0;
}

/* ---- mounts ---- */

/* Without a mount namespace volumes cannot be mounted, which is an error; except for the token
 * volume that admission adds to every pod. */
static int check_no_mounts(kc__process_runtime *rt, const kc_container *c, kc_error *err)
{
    static const char token[] = "/var/run/secrets/kubernetes.io/serviceaccount";
    for (size_t i = 0; i < c->n_volume_mounts; i++) {
        if (strcmp(c->volume_mounts[i].mount_path, token) != 0)
            return kc_error_set(err, KC_INVALID,
                                "container %s: volume %s cannot be mounted at %s: this node has no "
                                "mount namespaces (%s)",
                                c->name, c->volume_mounts[i].name, c->volume_mounts[i].mount_path,
                                rt->isolation.text);
        kc_log_verbose(rt->log, 2,
                       "no service account token mounted: mount namespaces are "
                       "unavailable",
                       kc_kv("container", c->name));
    }
    if (c->security_context && c->security_context->read_only_root_filesystem &&
        *c->security_context->read_only_root_filesystem)
        return kc_error_set(err, KC_INVALID,
                            "container %s: readOnlyRootFilesystem requires mount namespaces, "
                            "which are unavailable on this node",
                            c->name);
    return 0;
}

static int process_launch_set_position(kc__process_runtime *rt, kc__process_launch *l,
                                       const kc__pod_container_start *what, kc_error *err)
{
    const kc_container *c = what->container;
    char hostname[64];
    if (c->working_dir && c->working_dir[0])
        l->workdir = kc_arena_printf(&l->arena, "%s", c->working_dir);
    if (l->workdir[0] != '/')
        return kc_error_set(err, KC_INVALID,
                            "container %s: workingDir \"%s\" is not an "
                            "absolute path",
                            c->name, l->workdir);
    if (!l->own_mounts)
        return check_no_mounts(rt, c, err);
    l->hostname = kc_arena_printf(&l->arena, "%s", pod_hostname(what->pod, hostname));
    return kc__process_mounts_plan(rt, what->pod, c, what->attempt, l, err);
}

kc__process_launch *kc__process_launch_new(kc__process_runtime *rt,
                                           const kc__pod_container_start *what, kc_error *err)
{
    kc_auto(kc__process_launch) *l = kc_new(kc__process_launch);
    kc__process_launch_init(rt, l);
    if (set_identity(rt, l, what->pod, what->container, err) < 0 || set_env(rt, l, what, err) < 0 ||
        set_command(rt, l, what->container, err) < 0 ||
        process_launch_set_position(rt, l, what, err) < 0)
        return NULL;
    return kc_take(l);
}

kc__process_launch *kc__process_launch_exec(const kc__process_proc *proc, char *const *command,
                                            size_t n, kc_error *err)
{
    const kc__process_launch *of = proc->launch;
    if (n == 0 || !command[0][0]) {
        kc_error_set(err, KC_INVALID, "no command");
        return NULL;
    }
    kc__process_launch *l = kc_new(kc__process_launch);
    *l = *of;
    l->arena = (kc_arena){0};
    memset(&l->mounts, 0, sizeof(l->mounts));
    l->own_mounts = l->own_user_namespace = false;
    l->clone_flags = 0;
    l->hostname = NULL;
    l->message_fd = -1;
    l->join_pidfd = of->own_mounts ? proc->pidfd : -1;
    l->cgroup = proc->cgroup;
    l->argv = kc_arena_calloc(&l->arena, n + 1, sizeof(char *));
    size_t at = 0;
    add_args(l, &at, command, n);
    set_paths(l);
    return l;
}
