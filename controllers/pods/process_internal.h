/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_internal.h: shared by the files of the process runtime.
 *
 *     dir/lock                            held by the one process that uses the directory
 *     dir/empty                           covers files that pods must not see
 *     dir/next-user, dir/pods/UID/.user   UIDs of pods (process_uids.c)
 *     dir/root                            mount point of a container's root, in its own mount
 *                                            namespace; empty outside of it
 *     dir/pods/UID/.volumes/NAME          volumes
 *     dir/pods/UID/CONTAINER/N.log        log of attempt N; N.log.1 and so on are rotated parts
 *     dir/pods/UID/CONTAINER/N.state      state of the attempt (process_state.c)
 *     dir/pods/UID/CONTAINER/N.message    its termination message
 *     dir/pods/UID/CONTAINER/N.tmp        its /tmp
 *
 * Threads: callers prepare a launch (process_launch.c) and wait for it; the spawner
 * (process_spawn.c) clones, because the parent death signal follows the cloning thread; the loop
 * (process_loop.c) reads the output of containers and sees them exit.
 */
#ifndef KC_CONTROLLERS_PODS_PROCESS_INTERNAL_H
#define KC_CONTROLLERS_PODS_PROCESS_INTERNAL_H

#include "pods/process.h"
#include "pods/process_child.h"
#include "pods/process_seccomp.h"

#include "kc/map.h"
#include "kc/pods.h"

#define KC__PROCESS_LOG_MAX_BYTES   ((off_t)10 << 20)  /* Size of a file at which it is rotated. */
#define KC__PROCESS_LOG_MAX_FILES   5                  /* Number of files of one attempt. */
#define KC__PROCESS_LOG_MAX_LINE    ((size_t)16 << 10) /* Longer lines are written in parts. */
#define KC__PROCESS_MESSAGE_MAX     4095
#define KC__PROCESS_MAX_PROCESSES   4096              /* Processes of one container. */
#define KC__PROCESS_MAX_START_BYTES ((size_t)2 << 20) /* Environment and arguments. */

/* ---- isolation available on this host ---- */

typedef enum kc__process_namespaces {
    KC__PROCESS_NAMESPACES_NONE,
    KC__PROCESS_NAMESPACES_ROOT, /* Running as root: mount, pid, ipc, uts. */
    KC__PROCESS_NAMESPACES_USER, /* The same inside a user namespace. */
} kc__process_namespaces;

typedef struct kc__process_isolation {
    kc__process_namespaces namespaces;
    int cgroup;             /* Directory of our cgroups; -1: none. */
    char *cgroup_path;      /* Its path, removed at the end. */
    bool cpu, memory, pids; /* Available cgroup controllers. */
    bool root;              /* The runtime may change the UID. */
    bool seccomp;           /* Containers have a seccomp filter. */
    char *why_no_namespaces;
    char *text; /* Description for logs and the node. */
} kc__process_isolation;

/* Tests disable parts of the isolation to test the fallbacks. */
typedef struct kc__process_isolation_limit {
    bool no_namespaces, no_cgroup;
} kc__process_isolation_limit;

typedef struct kc__process_runtime kc__process_runtime;

kc__pods_runtime *kc__process_runtime_new_with(const kc_pods_opts *opts,
                                               kc__process_isolation_limit limit,
                                               const kc_clock *clock, kc_log *log, kc_error *err);
int kc__process_isolation_find(kc__process_runtime *rt, kc__process_isolation_limit limit,
                               kc_error *err);
void kc__process_isolation_done(kc__process_isolation *isolation);

/* ---- users ---- */

typedef struct kc__process_identity {
    uid_t uid;
    gid_t gid;
    gid_t group; /* Supplementary group, fsGroup; equal to gid: none. */
} kc__process_identity;

/* The user of a container; KC_INVALID if the pod requests one that is not allowed. The pod's
 * directory must exist. */
int kc__process_identity_of(kc__process_runtime *rt, const kc_pod *pod,
                            const kc_container *container, kc__process_identity *ret,
                            kc_error *err);
/* Owner of the files in its volumes. */
int kc__process_identity_of_pod(kc__process_runtime *rt, const kc_pod *pod,
                                kc__process_identity *ret, kc_error *err);
/* Capabilities that a container of this user keeps: none, unless it runs as allowed root. */
uint64_t kc__process_capabilities_of(const kc__process_runtime *rt, const kc_container *container,
                                     uid_t uid);

/* process_uids.c */
typedef struct kc__process_uids {
    kc_uid_range range;
    uint64_t *taken;  /* One bit per UID. Guarded by the runtime's mutex, as is `next`. */
    uint32_t next;    /* Where the search for a free UID starts. */
    kc_mutex writing; /* Held while `next` is written to its file. Taken before rt->mutex. */
} kc__process_uids;

/* KC_INVALID for a range that contains accounts of the host or UIDs that are not mapped. */
int kc__process_uids_open(kc__process_runtime *rt, kc_uid_range wanted, kc_error *err);
void kc__process_uids_done(kc__process_uids *uids);
/* The pod's UID; the first call assigns one. The pod's directory must exist. */
int kc__process_uids_of_pod(kc__process_runtime *rt, kc_str pod, uint32_t *ret, kc_error *err);
/* The pod's UID without assigning one; 0: none. */
uint32_t kc__process_uids_peek(kc__process_runtime *rt, kc_str pod);
/* Releases the UID after all files of its pod are removed. */
void kc__process_uids_release(kc__process_runtime *rt, uint32_t uid);

/* ---- process_hidden.c: paths that pods must not see ---- */

int kc__process_hidden_open(kc__process_runtime *rt, const char *const *paths, kc_error *err);
void kc__process_hidden_done(kc__process_runtime *rt);
/* KC_FORBIDDEN if pods could read one of them and the operator has not accepted that. */
int kc__process_hidden_check(kc__process_runtime *rt, bool accepted, kc_error *err);
/* Whether a path equals a hidden path, is inside one or contains one. */
bool kc__process_hidden_overlaps(const kc__process_runtime *rt, const char *path);
/* Whether users other than its owner and group can reach it. */
bool kc__process_hidden_is_visible(const char *path);

/* ---- process_support.c: fields that this runtime does not apply ---- */

/* KC_INVALID: the container must not start, because ignoring a field would be wrong or unsafe. */
int kc__process_support_check(kc__process_runtime *rt, const kc_pod *pod,
                              const kc_container *container, kc_error *err);
/* Appends the ignored fields for an event; nothing if there are none. */
void kc__process_support_ignored(const kc__process_runtime *rt, const kc_pod *pod, kc_buf *out);

/* ---- process_usage.c: local storage ---- */

/* 0, or negative with the eviction message: the pod exceeds a local storage limit. */
int kc__process_usage_check(kc__process_runtime *rt, const kc_pod *pod, kc_error *err);
/* Disk usage of a directory tree in bytes. Negative: it is nested too deeply. */
int64_t kc__process_dir_usage(int at, const char *name);

/* ---- containers ---- */

typedef struct kc__process_proc kc__process_proc;

/* Event source of the loop. */
typedef enum kc__process_source_kind {
    KC__PROCESS_SOURCE_WAKE,
    KC__PROCESS_SOURCE_EXIT,
    KC__PROCESS_SOURCE_OUTPUT
} kc__process_source_kind;

typedef struct kc__process_source {
    kc__process_source_kind kind;
    int fd; /* -1: closed. */
    kc__process_proc *proc;
    const char *stream; /* "stdout", "stderr" */
    kc_buf line;        /* The beginning of an incomplete line. */
    bool cut;           /* A part of that line is written already. */
} kc__process_source;

typedef struct kc__process_log_file {
    int dir_fd; /* The container's directory. */
    int attempt;
    int fd; /* -1: opening failed. */
    off_t size;
    bool failed; /* The last write failed and was logged. */
} kc__process_log_file;

/* One attempt of one container. */
struct kc__process_proc {
    char *key;     /* "UID/CONTAINER/ATTEMPT" */
    kc_str family; /* "UID/CONTAINER", in the same allocation. */
    char *uid, *name;
    int attempt;
    bool fallback_to_logs;
    int dir_fd; /* The container's directory. */
    int cgroup; /* -1: none. */
    pid_t pid;
    int pidfd;
    kc__process_launch *launch; /* For exec into it. NULL after its exit, when it has no users. */
    /* Used only by the loop: */
    kc__process_source exit, out, err;
    kc__process_log_file log;
    /* Guarded by the runtime's mutex: */
    kc__pod_container_report report;
    int users;          /* Number of probes that use pidfd and launch and keep them open. */
    bool reaped;        /* The pid may have been reused. */
    kc_dlist_link link; /* In rt->running, while it runs. */
};

typedef struct kc__process_spawner kc__process_spawner;

struct kc__process_runtime {
    kc__pods_runtime base;
    const kc_clock *clock;
    kc_log *log;
    kc__process_isolation isolation;
    kc__process_uids uids;
    KC_VEC(char *) hidden; /* Absolute, shortest first. */
    char *empty_file;
    kc__process_seccomp seccomp;
    bool allow_root;
    bool placeholder;
    char *dir;      /* Absolute, without symlinks. */
    char *image;    /* The same; "/" is the host's root. */
    char *new_root; /* dir/root */
    int dir_fd, pods_fd, image_fd, lock_fd, null_fd;
    kc__process_spawner *spawner;
    kc_thread *loop_thread;
    int epoll;
    kc__process_source wake;
    _Atomic bool stopping;
    kc_mutex mutex; /* Guards procs, running and the marked fields of kc__process_proc. Taken
                                              last. */
    kc_cond ended;  /* Signalled when a container has exited or lost its last user. */
    kc_map procs;   /* Key to kc__process_proc. */
    kc_map latest;  /* Family to the newest of its kc__process_proc. */
    kc_dlist running;
};

static inline kc__process_runtime *kc__process_runtime_of(kc__pods_runtime *runtime)
{
    return (kc__process_runtime *)runtime;
}

kc__process_proc *kc__process_proc_free(kc__process_proc *proc);
/* Frees resources of a running process after its exit, when it has no users. */
void kc__process_proc_finish(kc__process_proc *proc);
/* A running container with a use count; NULL: it is not running. */
kc__process_proc *kc__process_proc_use(kc__process_runtime *rt, kc__pod_container_id id);
void kc__process_proc_release(kc__process_runtime *rt, kc__process_proc *proc);
int kc__process_container_begin(kc__pods_runtime *runtime, const kc__pod_container_start *what,
                                kc_error *err);
void kc__process_container_observe(kc__pods_runtime *runtime, kc__pod_container_id id,
                                   kc__pod_container_report *ret);
void kc__process_container_stop(kc__pods_runtime *runtime, kc__pod_container_id id, bool now);
/* Kills it with all its processes; does not wait. */
void kc__process_proc_kill(kc__process_runtime *rt, kc__process_proc *proc);

/* ---- process_files.c: files that containers may have manipulated ---- */

/* Whether it is a valid file name: letters, digits, '-', '.', '_', no leading dot. */
bool kc__process_file_name_ok(kc_str name);
/* Relative, without "..", empty parts or NUL. */
bool kc__process_file_path_ok(const char *path);
/* Opens a directory in another and creates it if missing; does not follow symlinks. */
int kc__process_dir_open(int at, const char *name, mode_t mode, kc_error *err);
/* Removes a directory tree. Never leaves it, whatever its depth. */
int kc__process_dir_remove(int at, const char *name, kc_error *err);
/* The names in a directory, without "." and "..". */
typedef KC_VEC(char *) kc__process_names;
int kc__process_dir_names(int dir_fd, kc__process_names *ret, kc_error *err);
void kc__process_names_done(kc__process_names *names);
/* Writes all bytes; negative with errno. */
int kc__process_write_whole(int fd, kc_str bytes);
/* Replaces a file atomically. */
int kc__process_file_replace(int at, const char *name, kc_str bytes, kc_error *err);
/* Reads at most `max` bytes from its end, if `end`, or from its start. False: it cannot be read. */
bool kc__process_file_bytes(int at, const char *name, size_t max, bool end, kc_buf *out);
/* Appends text with invalid UTF-8 replaced, so that it can be part of an object; at most the last
 * `max` bytes. */
void kc__process_text_put(kc_buf *out, kc_str text, size_t max);
int kc__process_errno_set(kc_error *err, const char *fmt, ...) KC_PRINTF(2, 3);
/* dir/pods/UID, and a container's directory in it. */
int kc__process_pod_dir(kc__process_runtime *rt, kc_str uid, bool make, kc_error *err);
int kc__process_container_dir(kc__process_runtime *rt, kc_str uid, kc_str name, bool make,
                              kc_error *err);

/* ---- process_state.c ---- */

typedef struct kc__process_proc_state {
    pid_t pid; /* 0: not running. */
    uint64_t pid_started;
    kc__pod_container_report report;
} kc__process_proc_state;

int kc__process_proc_state_write(int dir_fd, int attempt, const kc__process_proc_state *state,
                                 kc_error *err);
bool kc__process_proc_state_read(int dir_fd, int attempt, kc__process_proc_state *ret);
/* The newest attempt in a container's directory; -1: none. */
int kc__process_proc_state_latest(int dir_fd);
/* Kills containers left over from an earlier process and records their end. */
void kc__process_proc_state_sweep(kc__process_runtime *rt);
/* Called before an attempt: removes old attempts except the last, and that one's /tmp. */
void kc__process_proc_state_prune(int dir_fd, int attempt);
/* The container's mark, an environment variable of all its processes: its key
 * ("UID/CONTAINER/ATTEMPT") and the directory, because several runtimes may run on one host. The
 * caller frees it. */
char *kc__process_container_mark(const kc__process_runtime *rt, const char *key);
/* Kills every process with the container's mark. Used without pid namespace and cgroup. */
void kc__process_container_kill_marked(const kc__process_runtime *rt, const char *key);

/* ---- process_proc.c: what /proc says of a process ---- */

/* Start time of a process in ticks since boot; 0: it does not exist. Together with the pid it
 * identifies one process. */
uint64_t kc__process_start_time(pid_t pid);
/* Whether it has a handler for a signal. The init process of a pid namespace ignores signals
 * without one. */
bool kc__process_handles_signal(pid_t pid, int sig);
/* Kills every process whose environment has KC_CONTAINER=mark, also one that forks or executes
 * another program meanwhile. Blocks until they have ended, for a second at most. */
void kc__process_kill_marked(const char *mark);

/* ---- process_cgroup.c ---- */

int kc__process_cgroup_open(kc__process_runtime *rt, kc__process_isolation_limit limit,
                            kc_buf *text);
/* Creates a container's cgroup with its limits; -1 if unavailable. */
int kc__process_cgroup_make(kc__process_runtime *rt, const kc__process_proc *proc,
                            const kc_container *container);
void kc__process_cgroup_kill(int cgroup);
bool kc__process_cgroup_oom(int cgroup);
void kc__process_cgroup_remove(kc__process_runtime *rt, const char *uid, const char *container,
                               int attempt);
/* Kills and removes the cgroups of a pod, or, without a uid, of all pods. */
void kc__process_cgroup_remove_pod(kc__process_runtime *rt, const char *uid);
/* "50000 100000" for a CPU limit; bytes for memory. "" if there is no limit. */
void kc__process_cgroup_cpu_text(const kc_container *container, char ret[64]);
void kc__process_cgroup_memory_text(const kc_container *container, char ret[64]);

/* ---- process_volumes.c ---- */

int kc__process_volumes_prepare(kc__process_runtime *rt, const kc_pod *pod, kc_error *err);
int kc__process_volume_fill(kc__process_runtime *rt, const kc_pod *pod, const kc_volume *volume,
                            const kc__pod_volume_file *files, size_t n, kc_error *err);
/* Unmounts the volumes of a pod. */
void kc__process_volumes_unmount(kc__process_runtime *rt, const char *uid);
bool kc__process_volume_is_filled(const kc_volume *volume);

/* ---- process_mounts.c ---- */

/* The steps that build a container's root. */
int kc__process_mounts_plan(kc__process_runtime *rt, const kc_pod *pod,
                            const kc_container *container, int attempt, kc__process_launch *launch,
                            kc_error *err);
/* The mounts that every container has. `scratch`: its /tmp. */
int kc__process_mounts_base(kc__process_runtime *rt, const char *scratch, bool read_only,
                            kc__process_launch *launch, kc_error *err);

/* ---- process_launch.c, process_spawn.c ---- */

/* Builds the launch of a container, in the launch's arena. */
kc__process_launch *kc__process_launch_new(kc__process_runtime *rt,
                                           const kc__pod_container_start *what, kc_error *err);
/* The common part of all launches, with the available namespaces. */
void kc__process_launch_init(kc__process_runtime *rt, kc__process_launch *launch);
/* Builds the launch of a command in a running container. */
kc__process_launch *kc__process_launch_exec(const kc__process_proc *proc, char *const *command,
                                            size_t n, kc_error *err);

typedef struct kc__process_spawned {
    pid_t pid;
    int pidfd;
    int out, err; /* Our ends, non-blocking. err is -1 if both streams share a pipe. */
    int failures; /* Reports why exec failed; closed by exec. */
    int go;       /* A byte releases the child; closing it without one ends the child. */
} kc__process_spawned;

kc__process_spawner *kc__process_spawner_start(kc_error *err);
kc__process_spawner *kc__process_spawner_stop(kc__process_spawner *spawner);
/* Clones. The child waits for `go`. */
int kc__process_spawn(kc__process_spawner *spawner, kc__process_launch *launch, bool one_pipe,
                      kc__process_spawned *ret, kc_error *err);
/* Releases the child and waits for exec. 0, or negative with the reason: then it has exited. */
int kc__process_spawn_go(const kc__process_launch *launch, kc__process_spawned *spawned,
                         kc_error *err);
/* Kills the child at any stage and waits for its end. */
void kc__process_spawn_cancel(kc__process_spawned *spawned);
/* Closes our descriptors; the process keeps running. */
void kc__process_spawned_close(kc__process_spawned *spawned);

/* ---- process_log_writer.c ---- */

void kc__process_log_file_open(kc__process_log_file *log, int dir_fd, int attempt);
void kc__process_log_file_close(kc__process_log_file *log);
/* Processes output of a container. `end`: no more follows. */
void kc__process_log_file_take(kc__process_runtime *rt, kc__process_log_file *log,
                               kc__process_source *source, kc_str bytes, bool end);

/* ---- process_loop.c ---- */

int kc__process_proc_loop_start(kc__process_runtime *rt, kc_error *err);
void kc__process_proc_loop_stop(kc__process_runtime *rt);
/* Starts reading its output and watching for its exit. Needs the mutex. */
int kc__process_proc_loop_watch(kc__process_runtime *rt, kc__process_proc *proc, kc_error *err);
/* Records and reports the exit. */
void kc__process_proc_ended(kc__process_runtime *rt, kc__process_proc *proc,
                            const kc__pod_container_report *how);

/* ---- process_probe.c ---- */

kc__pod_probe_result kc__process_probe(kc__pods_runtime *runtime, const kc_pod *pod,
                                       const kc_container *container, int attempt,
                                       const kc_probe *probe, kc_cancel *cancel, kc_error *err);
kc__pod_probe_result kc__process_probe_http(const kc_pod *pod, const kc_container *container,
                                            const kc_http_get_action *get, int64_t timeout,
                                            kc_cancel *cancel, kc_error *err);
kc__pod_probe_result kc__process_probe_tcp(const kc_pod *pod, const kc_container *container,
                                           const kc_tcp_socket_action *tcp, int64_t timeout,
                                           kc_cancel *cancel, kc_error *err);

#endif
