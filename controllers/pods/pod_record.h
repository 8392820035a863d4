/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_record.h: the runner's record of a pod between two pod syncs, and the decisions about it.
 *
 *     kc__pod_record_observe(state, runtime);                observed state
 *     kc__pod_plan_make(pod, state, now, &plan);             next actions: a pure function
 *     … the pod sync executes the plan's actions …
 *     kc__pod_status_make(pod, state, now, arena, &status);  the status to write
 *
 * Containers are numbered: init containers first, in order, then the others. All times are wall
 * times. The worker that has the pod's key owns the record; nothing in it is locked.
 */
#ifndef KC_CONTROLLERS_POD_RECORD_H
#define KC_CONTROLLERS_POD_RECORD_H

#include "common/containers.h"
#include "pods/runtime.h"

#include "kc/map.h"
#include "kc/vec.h"

/* One attempt of a container, from the runtime's report. */
typedef struct kc__pod_attempt {
    kc__pod_container_phase phase;
    int number; /* -1: none. With KC__POD_CONTAINER_NONE: it is starting. */
    kc_time started, ended;
    int exit_code, signal;
    char *reason, *message; /* NULL: none. */
} kc__pod_attempt;

typedef enum kc__pod_probe_type {
    KC__POD_PROBE_STARTUP,
    KC__POD_PROBE_LIVENESS,
    KC__POD_PROBE_READINESS,
    KC__POD_PROBE_TYPES,
} kc__pod_probe_type;

/* State of one attempt: zeroed when another one starts. */
typedef struct kc__pod_probe_state {
    kc_time last; /* Start of its last run; 0: never. */
    bool under_way;
    bool held;      /* The result is final for this attempt. */
    bool has_value; /* A threshold was reached: `value` is the probe's result. */
    bool value;
    bool last_ok;
    int run; /* Number of equal outcomes in a row (last_ok). */
} kc__pod_probe_state;

typedef enum kc__pod_hook_state {
    KC__POD_HOOK_NONE,
    KC__POD_HOOK_RUNNING,
    KC__POD_HOOK_OK,
    KC__POD_HOOK_FAILED,
} kc__pod_hook_state;

/* Progress of stopping a container. */
typedef enum kc__pod_stop_stage {
    KC__POD_STOP_NONE,
    KC__POD_STOP_HOOK,      /* Its preStop hook is running. */
    KC__POD_STOP_TURN,      /* A sidecar waits for its turn. */
    KC__POD_STOP_TERM_SENT, /* SIGTERM */
    KC__POD_STOP_FORCED,    /* SIGKILL */
} kc__pod_stop_stage;

typedef struct kc__pod_container_state {
    kc__pod_attempt now, last; /* The newest attempt, and the one before it. */
    char *image;               /* Image of the newest attempt. */
    kc__pod_probe_state probes[KC__POD_PROBE_TYPES];
    kc__pod_hook_state post_start, pre_stop;
    kc_time hook_until; /* End of a sleep hook; 0: another kind of hook. */
    kc__pod_stop_stage stop;
    kc_time
        stop_until; /* End of the grace period; from KC__POD_STOP_TERM_SENT on: time of SIGKILL. */
    int stop_grace; /* Grace period in seconds when stopping began. */
    /* Waiting reason, if other than ContainerCreating. */
    const char *waiting;
    char *waiting_message;
    kc_time retry_at; /* After a failed start. */
    /* As client-go's Backoff. */
    int64_t backoff;
    kc_time backoff_at;
} kc__pod_container_state;

/* A probe or hook that is running: pod_jobs.h. */
typedef enum kc__pod_job_type {
    KC__POD_JOB_PROBE,
    KC__POD_JOB_POST_START,
    KC__POD_JOB_PRE_STOP,
    KC__POD_JOB_MEASURE, /* Storage measurement of the pod: not ok means eviction. */
} kc__pod_job_type;

typedef struct kc__pod_job {
    kc__pod_job_type type;
    kc__pod_probe_type probe;
    size_t container;
    int attempt;
    int grace; /* Hooks: in seconds. */
} kc__pod_job;

typedef struct kc__pod_job_result {
    kc__pod_job job;
    bool ok;
    char *message; /* Error message; owned by the receiver. */
} kc__pod_job_result;

/* A token of the pod's service account: pod_tokens.c. */
typedef struct kc__pod_token {
    char *audience; /* "": the server's. */
    int64_t life;   /* Requested, in seconds. */
    char *text;     /* NULL: not issued yet. */
    kc_time renew, expires;
} kc__pod_token;

typedef KC_VEC(kc__pod_token) kc__pod_tokens;
void kc__pod_tokens_done(kc__pod_tokens *tokens);

typedef struct kc__pod_record {
    char *uid, *ns, *name, *key; /* key: "namespace/name". */
    struct kc__pods_node *node;
    size_t n_init, n;
    kc__pod_container_state *containers;
    bool admitted, prepared;
    /* Failure decided by the runner: rejected, deadline exceeded. */
    const char *failed;
    char *failed_message;
    kc_time start_time;
    char ip[46];
    bool counted; /* Its requests are allocated on the node: millicores, bytes. */
    int64_t cpu, memory;
    uint64_t filled;             /* Hash of the volumes' content; 0: not filled. */
    bool mount_failure_reported; /* The event for a failed mount was recorded. */
    /* Local storage (pod_plan.c). */
    bool measures;    /* The runtime can measure, and the pod has limits. */
    bool measuring;   /* A measurement is running. */
    kc_time measured; /* Start of the last one; 0: never. */
    /* Fields that the runtime does not apply, as in the condition; NULL: none (pod_run.c). */
    char *ignored;
    bool ignored_known;
    int64_t ignored_generation; /* Generation of the pod in which they were found. */
    kc_map sources;             /* Used by pod_refs.c. */
    kc__pod_tokens tokens;
    KC_VEC(kc__pod_job_result) inbox; /* Guarded by the lock of the record table. */
} kc__pod_record;

kc__pod_record *kc__pod_record_new(const kc_pod *pod);
/* NULL is allowed; returns NULL. */
kc__pod_record *kc__pod_record_free(kc__pod_record *state);
KC_AUTO_DEFINE(kc__pod_record, kc__pod_record_free)

/* Observes every container. */
void kc__pod_record_observe(kc__pod_record *state, const kc_pod *pod, kc__pods_runtime *runtime);
/* First pod sync after a start of this process: resumes containers that ran before. */
void kc__pod_record_resume(kc__pod_record *state, const kc_pod *pod, kc__pods_runtime *runtime);
/* Container i was started, as this attempt. */
void kc__pod_record_started(kc__pod_record *state, const kc_pod *pod, size_t i, int attempt);
/* The start failed and will be retried. `reason` is static. */
void kc__pod_record_not_started(kc__pod_record *state, size_t i, const char *reason,
                                const char *message, kc_time retry_at);
/* A probe of an attempt has finished. False if the result is obsolete. */
bool kc__pod_record_probed(kc__pod_record *state, const kc_pod *pod, size_t i, int attempt,
                           kc__pod_probe_type type, bool ok);
/* A sleep hook has finished. */
void kc__pod_record_wake_hooks(kc__pod_record *state, kc_time now);

/* By number. */
const kc_container *kc__pod_container(const kc_pod *pod, size_t i);
const kc_probe *kc__pod_container_probe(const kc_container *container, kc__pod_probe_type type);
/* Running; startup probe and postStart hook have succeeded. */
bool kc__pod_container_is_started(const kc__pod_container_state *c, const kc_container *spec);
bool kc__pod_container_is_ready(const kc__pod_container_state *c, const kc_container *spec);
/* Running or starting. */
static inline bool kc__pod_container_is_alive(const kc__pod_container_state *c)
{
    return c->now.phase == KC__POD_CONTAINER_RUNNING ||
           (c->now.phase == KC__POD_CONTAINER_NONE && c->now.number >= 0);
}
bool kc__pod_is_alive(const kc__pod_record *state);
/* Phase Failed or Succeeded. */
bool kc__pod_phase_is_terminal(const char *phase);
bool kc__pod_restarts(const kc_pod *pod, int exit_code);
/* Whether the pod limits its local storage: sizeLimit of an emptyDir, ephemeral-storage. */
bool kc__pod_limits_storage(const kc_pod *pod);

/* ---- plans ---- */

typedef enum kc__pod_action_type {
    KC__POD_ACT_START,
    KC__POD_ACT_STOP,  /* SIGTERM. */
    KC__POD_ACT_FORCE, /* SIGKILL. */
    KC__POD_ACT_POST_START,
    KC__POD_ACT_PRE_STOP,
    KC__POD_ACT_PROBE,
    KC__POD_ACT_MEASURE,
    KC__POD_ACT_EVENT, /* Record an event: `event` and `message`. */
} kc__pod_action_type;

typedef struct kc__pod_action {
    kc__pod_action_type act;
    size_t container;
    int attempt;
    kc__pod_probe_type probe;
    bool warning;
    const char *event;
    char *message; /* Owned by the plan. */
} kc__pod_action;

typedef struct kc__pod_action_plan {
    KC_VEC(kc__pod_action) actions;
    kc_time next; /* Time of the next pod sync if nothing happens before; KC_FOREVER: none. */
    bool over;    /* Nothing of the pod runs or will run. */
} kc__pod_action_plan;

void kc__pod_action_plan_done(kc__pod_action_plan *plan);
void kc__pod_plan_add(kc__pod_action_plan *plan, kc__pod_action_type act, size_t container,
                      int attempt);
void kc__pod_plan_event(kc__pod_action_plan *plan, size_t container, bool warning,
                        const char *event, const char *fmt, ...) KC_PRINTF(5, 6);
void kc__pod_plan_wake_at(kc__pod_action_plan *plan, kc_time at);

/* Fills a zeroed plan. Decisions (a container is being stopped, its back-off) are stored in the
 * record. */
void kc__pod_plan_make(const kc_pod *pod, kc__pod_record *state, kc_time now,
                       kc__pod_action_plan *plan);

/* Parts of it. `why`: text of the event; NULL: "Stopping container …". */
void kc__pod_plan_probes(const kc_pod *pod, kc__pod_record *state, size_t i, kc_time now,
                         kc__pod_action_plan *plan);
void kc__pod_plan_stop(const kc_pod *pod, kc__pod_record *state, size_t i, int64_t grace_seconds,
                       const char *why, kc_time now, kc__pod_action_plan *plan);
void kc__pod_plan_stop_all(const kc_pod *pod, kc__pod_record *state, kc_time now,
                           kc__pod_action_plan *plan);
/* Advances containers that are being stopped. */
void kc__pod_plan_stopping(const kc_pod *pod, kc__pod_record *state, kc_time now,
                           kc__pod_action_plan *plan);

/* ---- status ---- */

/* The condition, False, of a pod with fields that the node does not apply; absent otherwise. */
#define KC__POD_CONDITION_APPLIED "kubecontroller.io/SpecApplied"
#define KC__POD_REASON_IGNORED    "FieldsNotApplied"

/* As timestamps are written. */
static inline kc_time kc__pod_whole_seconds(kc_time at)
{
    return at - at % KC_SECOND;
}

typedef struct kc__pod_host_info {
    const char *runtime; /* Prefix of container IDs. */
    const char *host_ip;
    bool no_generations; /* The server drops observedGeneration. */
} kc__pod_host_info;

/* The whole status, based on that of `pod`; unknown fields are kept. `over`: from the plan. */
void kc__pod_status_make(const kc_pod *pod, const kc__pod_record *state,
                         const kc__pod_host_info *place, kc_time now, bool over, kc_arena *arena,
                         kc_pod_status *ret);
/* Sets the conditions, after the rest of the status. */
void kc__pod_conditions_make(const kc_pod *pod, const kc__pod_record *state,
                             const kc__pod_host_info *place, kc_time now, kc_arena *arena,
                             kc_pod_status *status);

#endif
