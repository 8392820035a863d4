/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_child.h: the steps of a child between clone and exec, as data.
 *
 * The child of a process with threads may call nothing that takes a lock: no malloc, no opendir, no
 * name service. So the parent prepares everything, and the child executes it with raw system calls.
 * If one fails, the child sends a kc__process_failure and exits.
 */
#ifndef KC_CONTROLLERS_PODS_PROCESS_CHILD_H
#define KC_CONTROLLERS_PODS_PROCESS_CHILD_H

#include "kc/arena.h"
#include "kc/vec.h"

#include <linux/filter.h>
#include <sys/types.h>

typedef enum kc__process_mount_kind {
    KC__PROCESS_MOUNT_TREE, /* Bind-mounts `source` (or `beneath` inside it) at `target`. */
    KC__PROCESS_MOUNT_DIR,  /* Creates a directory (and its parents). */
    KC__PROCESS_MOUNT_FILE, /* Creates an empty file (and its parent directories). */
    KC__PROCESS_MOUNT_LINK, /* Creates a symlink to `source`. */
    KC__PROCESS_MOUNT_NEW,  /* A new file system of the type `source`, with `options`. */
    KC__PROCESS_MOUNT_SEAL, /* Makes the mount at `target` read-only. */
} kc__process_mount_kind;

enum {
    KC__PROCESS_MOUNT_READ_ONLY = 1, /* Recursively. */
    KC__PROCESS_MOUNT_NO_DEV = 2,    /* And nosuid. */
    KC__PROCESS_MOUNT_OPTIONAL = 4,  /* Skipped if it fails. */
    KC__PROCESS_MOUNT_ONE = 8,       /* Without submounts. */
};

/* One step of building a root. `target` is a path in the new root and resolved there: no symlink
 * leads out of it. `source` is a path of the host; `beneath` may have been created by a container
 * and is resolved below `source`. */
typedef struct kc__process_mount_step {
    kc__process_mount_kind kind;
    const char *source, *beneath, *target;
    const char *options;
    int flags;
} kc__process_mount_step;

/* The step at which the child failed. */
#define KC__PROCESS_CHILD_STEPS(X)                 \
    X(GO, "wait for the parent")                   \
    X(JOIN, "join the container's namespaces")     \
    X(FORK, "fork")                                \
    X(MAP_USER, "map users into a user namespace") \
    X(PRIVATE, "make mounts private")              \
    X(ROOT, "mount the new root")                  \
    X(MOUNT, "mount")                              \
    X(PIVOT, "enter the new root")                 \
    X(HOSTNAME, "set the host name")               \
    X(OUTPUT, "set standard input and output")     \
    X(LIMITS, "set resource limits")               \
    X(CAPABILITIES, "drop capabilities")           \
    X(USER, "set user and groups")                 \
    X(WORKDIR, "enter the working directory")      \
    X(SECCOMP, "install the seccomp filter")       \
    X(EXEC, "exec")

typedef enum kc__process_child_step {
#define KC__PROCESS_CHILD_STEP_ENUM(name, text) KC__PROCESS_CHILD_##name,
    KC__PROCESS_CHILD_STEPS(KC__PROCESS_CHILD_STEP_ENUM)
#undef KC__PROCESS_CHILD_STEP_ENUM
} kc__process_child_step;

typedef struct kc__process_failure {
    int step;  /* kc__process_child_step */
    int error; /* errno */
    int at;    /* KC__PROCESS_CHILD_MOUNT: index of the mount. */
} kc__process_failure;

typedef struct kc__process_launch {
    kc_arena arena; /* Owns all texts. */
    /* For clone3. */
    uint64_t clone_flags;
    int cgroup; /* -1: that of the parent. */
    /* New namespaces. */
    bool own_user_namespace, own_mounts;
    char uid_map[32], gid_map[32];
    const char *new_root;
    KC_VEC(kc__process_mount_step) mounts;
    const char *chroot;   /* Used without a mount namespace; NULL: none. */
    const char *hostname; /* NULL: the host's name. */
    /* Namespaces of a running container to join. */
    int join_pidfd; /* -1: no. */
    int join_flags;
    /* User, groups and privileges. */
    bool set_ids;
    uid_t uid;
    gid_t gid, group;
    uint64_t capabilities;            /* Capabilities to keep. */
    bool all_capabilities;            /* All of its namespace; no_new_privs is not set. */
    uint64_t max_processes;           /* 0: unlimited. */
    const struct sock_fprog *seccomp; /* Owned by the runtime, which outlives it; NULL: no
                                       * filter. */
    /* The program. */
    const char *workdir;
    char **argv, **envp;
    char **paths; /* Candidate paths of the program, NULL-terminated; the first that exists is
                   * used. */
    bool dry;     /* Everything except exec: to detect what works. */
    /* Set by the spawner. */
    int stdin_fd, stdout_fd, stderr_fd;
    int message_fd; /* Becomes descriptor 3 if the termination message file cannot be mounted; -1:
                     * none. */
    int go_fd, failures_fd;
} kc__process_launch;

/* Never returns. */
_Noreturn void kc__process_child_run(const kc__process_launch *launch);
kc__process_launch *kc__process_launch_free(kc__process_launch *launch);
KC_AUTO_DEFINE(kc__process_launch, kc__process_launch_free)
const char *kc__process_child_step_text(int step);

#endif
