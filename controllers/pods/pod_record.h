/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_record.h: what the runner remembers of a pod between two looks at it, and what it decides.
 *
 *     kc__pod_record_observe(state, runtime);            what there is
 *     kc__pod_plan(pod, state, now, &plan);             what is to be done: pure deciding
 *     … the driver carries the plan's actions out …
 *     kc__pod_status_make(pod, state, now, arena, &status);   what people see
 *
 * Containers have one number each: init containers first, in order, then the others. All times are
 * wall times. A state belongs to the worker that has the pod's key; nothing in it is locked.
 */
#ifndef KC_CONTROLLERS_POD_RECORD_H
#define KC_CONTROLLERS_POD_RECORD_H

#include "common/containers.h"
#include "pods/runtime.h"

#include "kc/map.h"
#include "kc/vec.h"

/* One attempt of a container: what the runtime says of it, kept. */
typedef struct kc__attempt {
    kc__container_phase phase;
    int number; /* -1: there was none. With KC__CONTAINER_NONE: it is starting. */
    kc_time started, ended;
    int exit_code, signal;
    char *reason, *message; /* NULL: none. */
} kc__attempt;

typedef enum kc__probe_type {
    KC__PROBE_STARTUP,
    KC__PROBE_LIVENESS,
    KC__PROBE_READINESS,
    KC__PROBES,
} kc__probe_type;

/* Of one attempt: zeroed when another one starts. */
typedef struct kc__probe_state {
    kc_time last; /* When it began the last time; 0: never. */
    bool under_way;
    bool held;      /* It has decided, for this attempt. */
    bool has_value; /* Thresholds were reached: `value` is what the probe says. */
    bool value;
    bool last_ok;
    int run; /* How many times in a row it was last_ok. */
} kc__probe_state;

typedef enum kc__hook_state {
    KC__HOOK_NONE,
    KC__HOOK_RUNS,
    KC__HOOK_OK,
    KC__HOOK_FAILED,
} kc__hook_state;

/* How far the stopping of a container has come. */
typedef enum kc__stop_stage {
    KC__STOP_NOT,
    KC__STOP_HOOK,   /* Its preStop hook runs. */
    KC__STOP_TURN,   /* A sidecar waits for those before it. */
    KC__STOP_ASKED,  /* SIGTERM */
    KC__STOP_FORCED, /* SIGKILL */
} kc__stop_stage;

typedef struct kc__container_state {
    kc__attempt now, last; /* The newest, and the one before it. */
    char *image;           /* Of the newest. */
    kc__probe_state probes[KC__PROBES];
    kc__hook_state post_start, pre_stop;
    kc_time hook_until; /* Of a hook that only sleeps; 0: it does more. */
    kc__stop_stage stop;
    kc_time stop_until; /* Grace ends; from KC__STOP_ASKED on: it is forced. */
    int stop_grace;     /* In seconds, as it was when stopping began. */
    /* Why it does not run, if there is more to say than that it is being made. */
    const char *waiting;
    char *waiting_message;
    kc_time retry_at; /* After a start that failed. */
    /* As client-go's Backoff. */
    int64_t backoff;
    kc_time backoff_at;
} kc__container_state;

/* A probe or a hook: pod_jobs.h. */
typedef enum kc__job_type {
    KC__JOB_PROBE,
    KC__JOB_POST_START,
    KC__JOB_PRE_STOP,
} kc__job_type;

typedef struct kc__job {
    kc__job_type type;
    kc__probe_type probe;
    size_t container;
    int attempt;
    int grace; /* Of hooks: seconds. */
} kc__job;

typedef struct kc__job_result {
    kc__job job;
    bool ok;
    char *message; /* Why not; the receiver's. */
} kc__job_result;

typedef struct kc__pod_record {
    char *uid, *ns, *name, *key; /* key: "namespace/name". */
    struct kc__node *node;
    size_t n_init, n;
    kc__container_state *containers;
    bool admitted, prepared;
    /* It has failed, and why, if that is for the runner to say: not admitted, too long. */
    const char *failed;
    char *failed_message;
    kc_time start_time;
    char ip[46];
    bool counted; /* It takes this of its node: thousandths, bytes. */
    int64_t cpu, memory;
    uint64_t filled;              /* Hash of what its volumes were filled with; 0: they were not. */
    bool mount_said;              /* Why they could not be was said. */
    kc_map sources;               /* Of pod_refs.c. */
    KC_VEC(kc__job_result) inbox; /* Under the lock of the table of states. */
} kc__pod_record;

kc__pod_record *kc__pod_record_new(const kc_pod *pod);
/* NULL is allowed; returns NULL. */
kc__pod_record *kc__pod_record_free(kc__pod_record *state);
KC_AUTO_DEFINE(kc__pod_record, kc__pod_record_free)

/* Looks at every container. */
void kc__pod_record_observe(kc__pod_record *state, const kc_pod *pod, kc__runtime *runtime);
/* The first look at a pod after a start of this process: what has run before is taken up. */
void kc__pod_record_resume(kc__pod_record *state, const kc_pod *pod, kc__runtime *runtime);
/* Container i has been told to start, as this attempt. */
void kc__pod_record_started(kc__pod_record *state, const kc_pod *pod, size_t i, int attempt);
/* It could not be started, and will be tried again. `reason` is static. */
void kc__pod_record_not_started(kc__pod_record *state, size_t i, const char *reason,
                                const char *message, kc_time retry_at);
/* A probe of an attempt has ended. False if it does not matter any more. */
bool kc__pod_record_probed(kc__pod_record *state, const kc_pod *pod, size_t i, int attempt,
                           kc__probe_type type, bool ok);
/* A hook that only sleeps has slept. */
void kc__pod_record_wake_hooks(kc__pod_record *state, kc_time now);

/* By number. */
const kc_container *kc__pod_container(const kc_pod *pod, size_t i);
const kc_probe *kc__container_probe(const kc_container *container, kc__probe_type type);
/* Is running, its startup probe and postStart hook have succeeded. */
bool kc__container_is_started(const kc__container_state *c, const kc_container *spec);
bool kc__container_is_ready(const kc__container_state *c, const kc_container *spec);
/* Runs, or is about to. */
static inline bool kc__container_is_alive(const kc__container_state *c)
{
    return c->now.phase == KC__CONTAINER_RUNNING ||
           (c->now.phase == KC__CONTAINER_NONE && c->now.number >= 0);
}
bool kc__pod_is_alive(const kc__pod_record *state);
/* Failed or Succeeded. */
bool kc__phase_is_terminal(const char *phase);
bool kc__pod_restarts(const kc_pod *pod, int exit_code);

/* ---- deciding ---- */

typedef enum kc__act {
    KC__ACT_START,
    KC__ACT_STOP,  /* Ask it to end. */
    KC__ACT_FORCE, /* End it. */
    KC__ACT_POST_START,
    KC__ACT_PRE_STOP,
    KC__ACT_PROBE,
    KC__ACT_SAY, /* An event: `event` and `message`. */
} kc__act;

typedef struct kc__action {
    kc__act act;
    size_t container;
    int attempt;
    kc__probe_type probe;
    bool warning;
    const char *event;
    char *message; /* The plan's. */
} kc__action;

typedef struct kc__plan {
    KC_VEC(kc__action) actions;
    kc_time next; /* Look again then, if nothing happens before; KC_FOREVER: no need. */
    bool over;    /* Nothing of it runs, and nothing will any more. */
} kc__plan;

void kc__plan_done(kc__plan *plan);
void kc__plan_add(kc__plan *plan, kc__act act, size_t container, int attempt);
void kc__plan_say(kc__plan *plan, size_t container, bool warning, const char *event,
                  const char *fmt, ...) KC_PRINTF(5, 6);
void kc__plan_look(kc__plan *plan, kc_time at);

/* Fills a zeroed plan. What was decided (that a container is being stopped, its back-off) is noted
 * in the state. */
void kc__pod_plan(const kc_pod *pod, kc__pod_record *state, kc_time now, kc__plan *plan);

/* Parts of it. `why`: of the event; NULL: "Stopping container …". */
void kc__plan_probes(const kc_pod *pod, kc__pod_record *state, size_t i, kc_time now,
                     kc__plan *plan);
void kc__plan_stop(const kc_pod *pod, kc__pod_record *state, size_t i, int64_t grace_seconds,
                   const char *why, kc_time now, kc__plan *plan);
void kc__plan_stop_all(const kc_pod *pod, kc__pod_record *state, kc_time now, kc__plan *plan);
/* Moves containers that are being stopped on. */
void kc__plan_stopping(const kc_pod *pod, kc__pod_record *state, kc_time now, kc__plan *plan);

/* ---- telling ---- */

/* As timestamps are written. */
static inline kc_time kc__whole_seconds(kc_time at)
{
    return at - at % KC_SECOND;
}

typedef struct kc__pod_place {
    const char *runtime; /* Of container IDs. */
    const char *host_ip;
    bool no_generations; /* The server does not keep observedGeneration. */
} kc__pod_place;

/* The whole status, over that of `pod`; what the runner does not know of stays. `over`: as the plan
 * says. */
void kc__pod_status_make(const kc_pod *pod, const kc__pod_record *state, const kc__pod_place *place,
                         kc_time now, bool over, kc_arena *arena, kc_pod_status *ret);
/* Conditions, once the rest of the status is there. */
void kc__pod_conditions_make(const kc_pod *pod, const kc__pod_record *state,
                             const kc__pod_place *place, kc_time now, kc_arena *arena,
                             kc_pod_status *status);

#endif
