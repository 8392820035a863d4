/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_child.h: what a child does between clone and exec, as data.
 *
 * The child of a process with threads may call nothing that takes a lock: no malloc, no opendir, no
 * name service. So the parent works everything out, and the child walks through it with bare system
 * calls. Where one fails, it sends a kc__failure and ends.
 */
#ifndef KC_CONTROLLERS_PODS_PROCESS_CHILD_H
#define KC_CONTROLLERS_PODS_PROCESS_CHILD_H

#include "kc/arena.h"
#include "kc/vec.h"

#include <sys/types.h>

typedef enum kc__mount_kind {
    KC__MOUNT_TREE,   /* `source` (with `beneath` in it, if given) at `target`. */
    KC__MOUNT_FOLDER, /* Makes a folder (and those above it). */
    KC__MOUNT_FILE,   /* Makes an empty file (and the folders above it). */
    KC__MOUNT_LINK,   /* Makes a symlink to `source`. */
    KC__MOUNT_NEW,    /* A new file system of the type `source`, with `options`. */
    KC__MOUNT_SEAL,   /* Makes the mount at `target` read-only. */
} kc__mount_kind;

enum {
    KC__MOUNT_READ_ONLY = 1, /* Below too. */
    KC__MOUNT_NO_DEV = 2,    /* And no suid. */
    KC__MOUNT_OPTIONAL = 4,  /* Where it fails it is left out. */
    KC__MOUNT_ONE = 8,       /* Not what is mounted below. */
};

/* One step towards a root. `target` is a path in the new root, resolved there: no symlink leads out
 * of it. `source` is a path of ours; `beneath` one that a container may have made, resolved below
 * it. */
typedef struct kc__mount_step {
    kc__mount_kind kind;
    const char *source, *beneath, *target;
    const char *options;
    int flags;
} kc__mount_step;

/* What the child was doing when it failed. */
#define KC__CHILD_STEPS(X)                         \
    X(GO, "be let go")                             \
    X(JOIN, "join the container")                  \
    X(FORK, "start a process")                     \
    X(MAP_USER, "map users into a user namespace") \
    X(PRIVATE, "make mounts private")              \
    X(ROOT, "mount a new root")                    \
    X(MOUNT, "mount")                              \
    X(PIVOT, "enter the new root")                 \
    X(HOSTNAME, "set the host name")               \
    X(OUTPUT, "set standard input and output")     \
    X(LIMITS, "set limits")                        \
    X(CAPABILITIES, "drop capabilities")           \
    X(USER, "become the user")                     \
    X(WORKDIR, "enter the working directory")      \
    X(EXEC, "exec")

typedef enum kc__child_step {
#define KC__CHILD_STEP_ENUM(name, text) KC__CHILD_##name,
    KC__CHILD_STEPS(KC__CHILD_STEP_ENUM)
#undef KC__CHILD_STEP_ENUM
} kc__child_step;

typedef struct kc__failure {
    int step;  /* kc__child_step */
    int error; /* errno */
    int at;    /* KC__CHILD_MOUNT: which one. */
} kc__failure;

typedef struct kc__launch {
    kc_arena arena; /* Of all texts. */
    /* For clone3. */
    uint64_t clone_flags;
    int cgroup; /* -1: ours. */
    /* Namespaces of its own. */
    bool own_user_namespace, own_mounts;
    char uid_map[32], gid_map[32];
    const char *new_root;
    KC_VEC(kc__mount_step) mounts;
    const char *chroot;   /* Without mounts of its own; NULL: none. */
    const char *hostname; /* NULL: the machine's. */
    /* Those of a container that runs. */
    int join_pidfd; /* -1: no. */
    int join_flags;
    /* Who it is. */
    bool set_ids;
    uid_t uid;
    gid_t gid, group;
    uint64_t capabilities;  /* That it may keep. */
    bool all_capabilities;  /* Of its namespace, and no_new_privs is not set. */
    uint64_t max_processes; /* 0: as many as there may be. */
    /* What it runs. */
    const char *workdir;
    char **argv, **envp;
    char **paths; /* Where the program may be, ends with NULL; the first that there is. */
    bool dry;     /* All but exec: to find out what works. */
    /* Set by the spawner. */
    int stdin_fd, stdout_fd, stderr_fd;
    int message_fd; /* Becomes 3, where the message's file cannot be mounted; -1: none. */
    int go_fd, failures_fd;
} kc__launch;

/* Never returns. */
_Noreturn void kc__child_run(const kc__launch *launch);
kc__launch *kc__launch_free(kc__launch *launch);
KC_AUTO_DEFINE(kc__launch, kc__launch_free)
const char *kc__child_step_text(int step);

#endif
