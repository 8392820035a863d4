/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_internal.h: what the files of the process runtime share.
 *
 *     folder/lock                            held by the one process that uses it
 *     folder/root                            where a container's root is put together, in its own
 *                                            mount namespace: empty for everybody else
 *     folder/pods/UID/.volumes/NAME          volumes
 *     folder/pods/UID/CONTAINER/N.log        of attempt N, N.log.1 and so on older parts of it
 *     folder/pods/UID/CONTAINER/N.state      what became of it (process_state.c)
 *     folder/pods/UID/CONTAINER/N.message    its termination message
 *     folder/pods/UID/CONTAINER/N.tmp        its /tmp
 *
 * Three threads: callers, who make a launch (process_launch.c) and wait for it; the spawner
 * (process_spawn.c), who clones, for a child is told of the death of the thread that made it; the
 * loop (process_loop.c), who reads what containers write and sees them end.
 */
#ifndef KC_CONTROLLERS_PODS_PROCESS_INTERNAL_H
#define KC_CONTROLLERS_PODS_PROCESS_INTERNAL_H

#include "pods/process.h"
#include "pods/process_child.h"

#include "kc/map.h"

#define KC__LOG_MAX_BYTES   ((off_t)10 << 20)  /* Of one file, then it is rotated. */
#define KC__LOG_MAX_FILES   5                  /* Of one attempt. */
#define KC__LOG_MAX_LINE    ((size_t)16 << 10) /* Longer ones are written in parts. */
#define KC__MESSAGE_MAX     4095
#define KC__MAX_PROCESSES   4096              /* Of one container. */
#define KC__MAX_START_BYTES ((size_t)2 << 20) /* Environment and arguments. */

/* ---- what the machine allows ---- */

typedef enum kc__namespaces {
    KC__NAMESPACES_NONE,
    KC__NAMESPACES_ROOT, /* We are root: mount, pid, ipc, uts. */
    KC__NAMESPACES_USER, /* The same inside of a user namespace. */
} kc__namespaces;

typedef struct kc__isolation {
    kc__namespaces namespaces;
    int cgroup;             /* The folder of our cgroups; -1: there are none. */
    char *cgroup_path;      /* The same, to be removed in the end. */
    bool cpu, memory, pids; /* Limits that can be set there. */
    bool root;              /* We may become another user. */
    char *text;             /* All of it, for people. */
} kc__isolation;

/* Tests leave out what the machine has, to see what happens without it. */
typedef struct kc__isolation_limit {
    bool no_namespaces, no_cgroup;
} kc__isolation_limit;

typedef struct kc__process_runtime kc__process_runtime;

kc__runtime *kc__process_runtime_new_with(const kc_pods_opts *opts, kc__isolation_limit limit,
                                          const kc_clock *clock, kc_log *log, kc_error *err);
int kc__isolation_find(kc__process_runtime *rt, kc__isolation_limit limit, kc_error *err);
void kc__isolation_done(kc__isolation *isolation);

/* ---- users ---- */

typedef struct kc__identity {
    uid_t uid;
    gid_t gid;
    gid_t group; /* One more, fsGroup; equal to gid: none. */
} kc__identity;

/* Of opts->user. */
int kc__identity_parse(const char *text, kc__identity *ret, kc_error *err);
/* Whom a container runs as; KC_INVALID where it asks for what is not allowed. */
int kc__identity_of(const kc__process_runtime *rt, const kc_pod *pod, const kc_container *container,
                    kc__identity *ret, kc_error *err);

/* ---- containers ---- */

typedef struct kc__proc kc__proc;

/* What the loop watches. */
typedef enum kc__source_kind {
    KC__SOURCE_WAKE,
    KC__SOURCE_EXIT,
    KC__SOURCE_OUTPUT
} kc__source_kind;

typedef struct kc__source {
    kc__source_kind kind;
    int fd; /* -1: closed. */
    kc__proc *proc;
    const char *stream; /* "stdout", "stderr" */
    kc_buf line;        /* The beginning of a line whose end has not come. */
    bool cut;           /* A part of that line is written already. */
} kc__source;

typedef struct kc__log_file {
    int folder; /* The container's. */
    int attempt;
    int fd; /* -1: it could not be opened. */
    off_t size;
    bool failed; /* The last write failed: it was said. */
} kc__log_file;

/* One attempt of one container. */
struct kc__proc {
    char *key;     /* "UID/CONTAINER/ATTEMPT" */
    kc_str family; /* "UID/CONTAINER", of the same memory. */
    char *uid, *name;
    int attempt;
    bool fallback_to_logs;
    int folder; /* The container's. */
    int cgroup; /* -1: none. */
    pid_t pid;
    int pidfd;
    kc__launch *launch; /* For exec in it. NULL once it has ended and nobody uses it. */
    /* The loop's: */
    kc__source exit, out, err;
    kc__log_file log;
    /* Under the runtime's mutex: */
    kc__container_report report;
    int users;    /* Probes that use pidfd and launch: they stay open. */
    bool reaped;  /* Its pid may be another's. */
    kc_link link; /* In rt->running, while it runs. */
};

typedef struct kc__spawner kc__spawner;

struct kc__process_runtime {
    kc__runtime base;
    const kc_clock *clock;
    kc_log *log;
    kc__isolation isolation;
    kc__identity user;
    bool allow_root;
    bool stand_in;
    char *folder;   /* Absolute, without symlinks. */
    char *image;    /* The same; "/" is the host's own. */
    char *new_root; /* folder/root */
    int folder_fd, pods_fd, image_fd, lock_fd, null_fd;
    kc__spawner *spawner;
    kc_thread *loop_thread;
    int epoll;
    kc__source wake;
    _Atomic bool stopping;
    kc_mutex mutex; /* Guards procs, running and what kc__proc says. Nothing is locked under it. */
    kc_cond ended;  /* Some container has ended, or is not used any more. */
    kc_map procs;   /* By key, of kc__proc. */
    kc_map latest;  /* By family: the newest of them. */
    kc_list running;
};

static inline kc__process_runtime *kc__process_of(kc__runtime *runtime)
{
    return (kc__process_runtime *)runtime;
}

kc__proc *kc__proc_free(kc__proc *proc);
/* Once it has ended and nobody uses it: frees what only one that runs needs. */
void kc__proc_settle(kc__proc *proc);
/* One that runs, so that it stays; NULL: it does not. */
kc__proc *kc__proc_use(kc__process_runtime *rt, kc__container_id id);
void kc__proc_release(kc__process_runtime *rt, kc__proc *proc);
int kc__container_begin(kc__runtime *runtime, const kc__container_start *what, kc_error *err);
void kc__container_observe(kc__runtime *runtime, kc__container_id id, kc__container_report *ret);
void kc__container_stop(kc__runtime *runtime, kc__container_id id, bool now);
/* Ends it and what it has started; returns at once. */
void kc__proc_kill(kc__process_runtime *rt, kc__proc *proc);

/* ---- process_files.c: files that others may have tampered with ---- */

/* Whether it may be a file's name: letters, digits, '-', '.', '_', not beginning with a dot. */
bool kc__file_name_ok(kc_str name);
/* Relative, without "..", empty parts or a NUL. */
bool kc__file_path_ok(const char *path);
/* A folder in another, made if there is none; symlinks are not followed. */
int kc__folder_open(int at, const char *name, mode_t mode, kc_error *err);
/* Everything in it and itself. Never leaves it, however deep it is. */
int kc__folder_remove(int at, const char *name, kc_error *err);
/* The names in a folder, without "." and "..". */
typedef KC_VEC(char *) kc__names;
int kc__folder_names(int folder, kc__names *ret, kc_error *err);
void kc__names_done(kc__names *names);
/* All of it, however often that takes; negative with errno. */
int kc__write_whole(int fd, kc_str bytes);
/* A file as a whole, in place of what was there. */
int kc__file_replace(int at, const char *name, kc_str bytes, kc_error *err);
/* At most `max` bytes from its end, if `end`, or from its beginning. False: it cannot be read. */
bool kc__file_bytes(int at, const char *name, size_t max, bool end, kc_buf *out);
/* Appends text with what is no UTF-8 replaced, so that it can be part of an object; at most `max`
 * bytes, of its end. */
void kc__text_put(kc_buf *out, kc_str text, size_t max);
int kc__errno_set(kc_error *err, const char *fmt, ...) KC_PRINTF(2, 3);
/* folder/pods/UID, and a container's in it. */
int kc__pod_folder(kc__process_runtime *rt, kc_str uid, bool make, kc_error *err);
int kc__container_folder(kc__process_runtime *rt, kc_str uid, kc_str name, bool make,
                         kc_error *err);

/* ---- process_state.c ---- */

typedef struct kc__proc_state {
    pid_t pid; /* 0: not running. */
    uint64_t pid_started;
    kc__container_report report;
} kc__proc_state;

int kc__proc_state_write(int folder, int attempt, const kc__proc_state *state, kc_error *err);
bool kc__proc_state_read(int folder, int attempt, kc__proc_state *ret);
/* The newest attempt that a container's folder has; -1: none. */
int kc__proc_state_latest(int folder);
/* When a process began, in ticks since boot; 0: there is none. With the pid it names one process
 * for ever. */
uint64_t kc__process_started(pid_t pid);
/* Whether it has a handler for a signal. The first process of a pid namespace ignores others. */
bool kc__process_catches(pid_t pid, int sig);
/* Ends what an earlier process of ours left running, and says in its state that it has ended. */
void kc__proc_state_sweep(kc__process_runtime *rt);
/* Before an attempt: of those before it the last stays, without its /tmp. */
void kc__proc_state_prune(int folder, int attempt);
/* A container's mark, in the environment of all it starts: its key ("UID/CONTAINER/ATTEMPT") and
 * which folder's it is, for another node of this machine may be a copy of us. The caller frees it.
 */
char *kc__container_mark(const kc__process_runtime *rt, const char *key);
/* Ends every process that carries it. For where there is neither a pid namespace nor a cgroup. */
void kc__marked_kill(const kc__process_runtime *rt, const char *key);

/* ---- process_cgroup.c ---- */

int kc__cgroup_open(kc__process_runtime *rt, kc__isolation_limit limit, kc_buf *text);
/* A container's, with its limits, or -1. */
int kc__cgroup_make(kc__process_runtime *rt, const kc__proc *proc, const kc_container *container);
void kc__cgroup_kill(int cgroup);
bool kc__cgroup_oom(int cgroup);
void kc__cgroup_remove(kc__process_runtime *rt, const char *uid, const char *container,
                       int attempt);
/* All of a pod, or, without one, of all pods: what runs there is ended. */
void kc__cgroup_remove_pod(kc__process_runtime *rt, const char *uid);
/* "50000 100000" of a limit of cores; of bytes. "" where there is none. */
void kc__cgroup_cpu_text(const kc_container *container, char ret[64]);
void kc__cgroup_memory_text(const kc_container *container, char ret[64]);

/* ---- process_volumes.c ---- */

int kc__volumes_prepare(kc__process_runtime *rt, const kc_pod *pod, kc_error *err);
int kc__volume_fill(kc__process_runtime *rt, const kc_pod *pod, const kc_volume *volume,
                    const kc__volume_file *files, size_t n, kc_error *err);
/* Takes off what was mounted for a pod. */
void kc__volumes_unmount(kc__process_runtime *rt, const char *uid);
bool kc__volume_is_filled(const kc_volume *volume);

/* ---- process_mounts.c ---- */

/* The steps that put a container's root together. */
int kc__mounts_plan(kc__process_runtime *rt, const kc_pod *pod, const kc_container *container,
                    int attempt, kc__launch *launch, kc_error *err);
/* Those that every container has. `scratch`: its /tmp. */
int kc__mounts_base(kc__process_runtime *rt, const char *scratch, bool read_only,
                    kc__launch *launch, kc_error *err);

/* ---- process_launch.c, process_spawn.c ---- */

/* What a container needs to run, all in its memory. */
kc__launch *kc__launch_new(kc__process_runtime *rt, const kc__container_start *what, kc_error *err);
/* What all launches have, with the namespaces there are. */
void kc__launch_init(kc__process_runtime *rt, kc__launch *launch);
/* A command in a container that runs. */
kc__launch *kc__launch_exec(const kc__proc *proc, char *const *command, size_t n, kc_error *err);

typedef struct kc__spawned {
    pid_t pid;
    int pidfd;
    int out, err; /* Our ends, non-blocking. err is -1 where both go the same way. */
    int failures; /* Says why it could not run; ends when it runs. */
    int go;       /* A byte lets it run; closing it without one ends it. */
} kc__spawned;

kc__spawner *kc__spawner_start(kc_error *err);
kc__spawner *kc__spawner_stop(kc__spawner *spawner);
/* Clones. The child waits for `go`. */
int kc__spawn(kc__spawner *spawner, kc__launch *launch, bool one_pipe, kc__spawned *ret,
              kc_error *err);
/* Lets it run and waits until it does. 0, or negative with why not: then it has ended. */
int kc__spawn_go(const kc__launch *launch, kc__spawned *spawned, kc_error *err);
/* Ends it, however far it is, and waits for its end. */
void kc__spawn_cancel(kc__spawned *spawned);
/* Closes what is open of it; what runs goes on. */
void kc__spawned_close(kc__spawned *spawned);

/* ---- process_log_writer.c ---- */

void kc__log_file_open(kc__log_file *log, int folder, int attempt);
void kc__log_file_close(kc__log_file *log);
/* What a container has written. `end`: no more comes. */
void kc__log_file_take(kc__process_runtime *rt, kc__log_file *log, kc__source *source, kc_str bytes,
                       bool end);

/* ---- process_loop.c ---- */

int kc__proc_loop_start(kc__process_runtime *rt, kc_error *err);
void kc__proc_loop_stop(kc__process_runtime *rt);
/* From now on its output is read and its end seen. With the mutex. */
int kc__proc_loop_watch(kc__process_runtime *rt, kc__proc *proc, kc_error *err);
/* Its end is known: it is written down, and told. */
void kc__proc_ended(kc__process_runtime *rt, kc__proc *proc, const kc__container_report *how);

/* ---- process_probe.c ---- */

kc__probe_result kc__process_probe(kc__runtime *runtime, const kc_pod *pod,
                                   const kc_container *container, int attempt,
                                   const kc_probe *probe, kc_cancel *cancel, kc_error *err);
kc__probe_result kc__probe_http(const kc_pod *pod, const kc_container *container,
                                const kc_http_get_action *get, int64_t timeout, kc_cancel *cancel,
                                kc_error *err);
kc__probe_result kc__probe_tcp(const kc_pod *pod, const kc_container *container,
                               const kc_tcp_socket_action *tcp, int64_t timeout, kc_cancel *cancel,
                               kc_error *err);

#endif
