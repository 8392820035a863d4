/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime.h: what carries the containers of a node's pods: nothing but time (simulated), or
 * processes of this machine.
 *
 * The runner decides: which container runs when, how often it is started again, when it is probed,
 * how a pod ends, what its status says. A runtime does: it starts one container, stops it, says
 * what there is, and tells when something has changed. So all of the deciding is tested in virtual
 * time, with the simulated runtime, and the process runtime has nothing to decide.
 *
 * Containers are known by the pod's uid, the container's name and the attempt (0, 1, 2, …: its
 * restart count). What a runtime is told to start stays known, with how it ended, until `remove`;
 * of many attempts the last two at least.
 *
 * Any thread calls; for one pod one at a time. No function blocks for longer than starting a
 * process takes, but `probe`, which the runner calls on threads for it.
 */
#ifndef KC_CONTROLLERS_PODS_RUNTIME_H
#define KC_CONTROLLERS_PODS_RUNTIME_H

#include "api/core_v1/zz_generated.h"

/* As an attempt: the newest there is. */
#define KC__LATEST (-1)

typedef struct kc__container_id {
    kc_str pod_uid, name;
    int attempt; /* KC__LATEST: for `observe` only. */
} kc__container_id;

typedef enum kc__container_phase {
    KC__CONTAINER_NONE, /* Never started, not known, or about to run. */
    KC__CONTAINER_RUNNING,
    KC__CONTAINER_ENDED,
} kc__container_phase;

typedef struct kc__container_report {
    kc__container_phase phase;
    int attempt;            /* Which one this is about; -1: never started. */
    kc_time started, ended; /* By the clock's wall time. */
    int exit_code;          /* 128 + signal where a signal ended it, as shells say. */
    int signal;
    const char *reason; /* "OOMKilled" and the like; NULL: by exit code, Completed or Error. */
    char message[4096]; /* Its termination message, cut. "" if it has left none. */
} kc__container_report;

/* What a start needs that the runner has worked out. All of it lives for the call. */
typedef struct kc__container_start {
    const kc_pod *pod;
    const kc_container *container; /* A copy: $(NAME) in command and arguments is replaced. */
    int attempt;
    const kc_string_pair *env; /* Complete, resolved, in order. */
    size_t n_env;
} kc__container_start;

typedef enum kc__probe_result {
    KC__PROBE_FAILED, /* err says why, for the event. */
    KC__PROBE_OK,
} kc__probe_result;

typedef struct kc__runtime kc__runtime;

/* Texts and bytes of a volume from a ConfigMap, Secret, downwardAPI or projection; resolved by the
 * runner, written by the runtime, replaced at once when they change. */
typedef struct kc__volume_file {
    const char *path; /* Relative, checked: no "..", not absolute. */
    kc_str bytes;
    int mode;
} kc__volume_file;

typedef struct kc__runtime_ops {
    /* Makes room for a pod: its folders, its cgroup, its emptyDirs. Again for one that is there:
     * nothing. */
    int (*prepare)(kc__runtime *runtime, const kc_pod *pod, kc_error *err);
    /* A volume's files, all of them; others that were there go. */
    int (*fill)(kc__runtime *runtime, const kc_pod *pod, const kc_volume *volume,
                const kc__volume_file *files, size_t n, kc_error *err);
    /* KC_INVALID: it can never start (no command, a volume that there is not); other errors: later,
     * perhaps. */
    int (*start)(kc__runtime *runtime, const kc__container_start *what, kc_error *err);
    /* What there is of it. A container that was started and is not running yet is NONE, with its
     * attempt: `changed` comes when it runs. */
    void (*observe)(kc__runtime *runtime, kc__container_id id, kc__container_report *ret);
    /* Asks it to end (SIGTERM); `now`: ends it (SIGKILL), with everything it has started. Returns
     * at once. */
    void (*stop)(kc__runtime *runtime, kc__container_id id, bool now);
    /* Runs a probe or a hook (exec or http_get; its grace is timeout_seconds) to its end or its
     * deadline. May block, unless `probes_at_once` says that it never does. */
    kc__probe_result (*probe)(kc__runtime *runtime, const kc_pod *pod,
                              const kc_container *container, int attempt, const kc_probe *probe,
                              kc_cancel *cancel, kc_error *err);
    /* May be NULL: for a runtime whose containers do not outlive this process. They ran before, as
     * the pod's status says: from now on they run as if they had gone on. */
    void (*resume)(kc__runtime *runtime, const kc_pod *pod, const kc_container *container,
                   int attempt, kc_time started);
    /* All of the pod goes, logs too. Its containers have ended; where they have not (a pod that is
     * not ours any more, after a start), they are ended at once. */
    void (*remove)(kc__runtime *runtime, kc_str pod_uid);
    /* Uids of the pods it still has, from before: the runner removes those that are not its any
     * more. */
    void (*each)(kc__runtime *runtime, void (*pod)(kc_str uid, void *user), void *user);
    kc__runtime *(*free)(kc__runtime *runtime);
} kc__runtime_ops;

struct kc__runtime {
    const kc__runtime_ops *ops;
    const char *name;    /* Of container IDs ("process://…") and in the node's info. */
    const char *version; /* In the node's info. */
    bool probes_at_once;
    /* Called on any thread when a container has ended or begun: look again. Set by the runner
     * before anything starts. */
    void (*changed)(kc_str pod_uid, void *user);
    void *changed_user;
};

#endif
