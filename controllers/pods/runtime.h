/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime.h: the container runtime interface: simulated containers, or processes of this host.
 *
 * The runner decides which container runs when, how often it restarts, when it is probed, how a pod
 * ends and what its status says. A runtime starts one container, stops it, reports its state and
 * signals changes. So all decisions are tested in virtual time with the simulated runtime, and the
 * process runtime decides nothing.
 *
 * Containers are identified by the pod's uid, the container's name and the attempt (0, 1, 2, …: its
 * restart count). The runtime remembers started attempts and how they ended until `remove`, at
 * least the last two.
 *
 * All functions are thread-safe; calls for one pod are serialised. No function blocks for longer
 * than starting a process takes, except `probe`, which the runner calls on threads for it.
 */
#ifndef KC_CONTROLLERS_PODS_RUNTIME_H
#define KC_CONTROLLERS_PODS_RUNTIME_H

#include "api/core_v1/zz_generated.h"

/* The newest attempt. */
#define KC__POD_LATEST_ATTEMPT (-1)

typedef struct kc__pod_container_id {
    kc_str pod_uid, name;
    int attempt; /* KC__POD_LATEST_ATTEMPT: only for `observe`. */
} kc__pod_container_id;

typedef enum kc__pod_container_phase {
    KC__POD_CONTAINER_NONE, /* Never started, unknown, or starting. */
    KC__POD_CONTAINER_RUNNING,
    KC__POD_CONTAINER_ENDED,
} kc__pod_container_phase;

typedef struct kc__pod_container_report {
    kc__pod_container_phase phase;
    int attempt;            /* The attempt of this report; -1: never started. */
    kc_time started, ended; /* On the clock's wall time. */
    int exit_code;          /* 128 + signal if a signal killed it, as in shells. */
    int signal;
    const char *reason; /* "OOMKilled" and so on; NULL: Completed or Error by exit code. */
    char message[4096]; /* Its termination message, truncated. "" if there is none. */
} kc__pod_container_report;

/* Inputs of a start, prepared by the runner. Valid during the call. */
typedef struct kc__pod_container_start {
    const kc_pod *pod;
    const kc_container *container; /* A copy with $(NAME) expanded in command and arguments. */
    int attempt;
    const kc_string_pair *env; /* Complete, resolved, in order. */
    size_t n_env;
} kc__pod_container_start;

typedef enum kc__pod_probe_result {
    KC__POD_PROBE_FAILED, /* err is the reason, for the event. */
    KC__POD_PROBE_OK,
} kc__pod_probe_result;

typedef struct kc__pods_runtime kc__pods_runtime;

/* A file of a ConfigMap, Secret, downwardAPI or projected volume; the runner resolves the content,
 * the runtime writes all files of a volume atomically. */
typedef struct kc__pod_volume_file {
    const char *path; /* Relative, validated: no "..", not absolute. */
    kc_str bytes;
    int mode;
} kc__pod_volume_file;

typedef struct kc__pods_runtime_ops {
    /* Prepares a pod: its directories, its cgroup, its emptyDirs. A repeated call does nothing. */
    int (*prepare)(kc__pods_runtime *runtime, const kc_pod *pod, kc_error *err);
    /* Sets all files of a volume; removes others. */
    int (*fill)(kc__pods_runtime *runtime, const kc_pod *pod, const kc_volume *volume,
                const kc__pod_volume_file *files, size_t n, kc_error *err);
    /* May be NULL. KC_INVALID: the pod requests something that this runtime lacks and must not
     * ignore. The pod is prepared. */
    int (*check)(kc__pods_runtime *runtime, const kc_pod *pod, const kc_container *container,
                 kc_error *err);
    /* May be NULL. Appends the fields of the pod that this runtime ignores, with the reasons. */
    void (*ignored)(kc__pods_runtime *runtime, const kc_pod *pod, kc_buf *out);
    /* May be NULL. Negative with the eviction message: the pod exceeds a limit of its local
     * storage. Visits all of its files. */
    int (*measure)(kc__pods_runtime *runtime, const kc_pod *pod, kc_error *err);
    /* KC_INVALID: it can never start (no command, an unknown volume); other errors may be
     * temporary. */
    int (*start)(kc__pods_runtime *runtime, const kc__pod_container_start *what, kc_error *err);
    /* Reports the state of a container. A container that was started and is not running yet is NONE
     * with its attempt; `changed` is called when it runs. */
    void (*observe)(kc__pods_runtime *runtime, kc__pod_container_id id,
                    kc__pod_container_report *ret);
    /* Sends SIGTERM; with `now` SIGKILL to all its processes. Does not wait. */
    void (*stop)(kc__pods_runtime *runtime, kc__pod_container_id id, bool now);
    /* Runs a probe or a hook (exec or http_get; timeout_seconds is its grace period) to its end or
     * its deadline. May block, unless `probes_at_once` is set. */
    kc__pod_probe_result (*probe)(kc__pods_runtime *runtime, const kc_pod *pod,
                                  const kc_container *container, int attempt, const kc_probe *probe,
                                  kc_cancel *cancel, kc_error *err);
    /* May be NULL: for a runtime whose containers do not outlive this process. Containers that ran
     * before, by the pod's status, run from now on as if they had continued. */
    void (*resume)(kc__pods_runtime *runtime, const kc_pod *pod, const kc_container *container,
                   int attempt, kc_time started);
    /* Removes the pod with its logs. Its containers have exited, or, for a pod of an earlier
     * process that is gone, are killed now. */
    void (*remove)(kc__pods_runtime *runtime, kc_str pod_uid);
    /* Uids of the pods it has, from earlier processes: the runner removes those that no longer
     * exist. */
    void (*each)(kc__pods_runtime *runtime, void (*pod)(kc_str uid, void *user), void *user);
    kc__pods_runtime *(*free)(kc__pods_runtime *runtime);
} kc__pods_runtime_ops;

struct kc__pods_runtime {
    const kc__pods_runtime_ops *ops;
    const char *name;    /* Prefix of container IDs ("process://…"), also in the node's info. */
    const char *version; /* In the node's info. */
    bool probes_at_once;
    bool reads_files; /* Containers can read the files of volumes: they get tokens. */
    /* Called on any thread when a container has started or exited: queue the pod. Set by the runner
     * before the first start. */
    void (*changed)(kc_str pod_uid, void *user);
    void *changed_user;
};

#endif
