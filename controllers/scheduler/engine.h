/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine.h: the running scheduler; shared by its files.
 *
 *     event handlers (informer threads) ─events─▶ inbox ──▶ loop: cluster, queue, decisions
 *                                                   ▲         │
 *                                                   └─events─ workers ◀─jobs─ (writes)
 *
 * The loop is one thread and the only one that uses the cluster and the queue, so neither is locked
 * and a decision never blocks. Workers execute writes as jobs (bind, update status, preempt); the
 * result returns as an event. Jobs and events identify pods by key and uid: the pod may be gone by
 * then.
 *
 * An engine lives while this process is the leader: it is built from the caches at that moment.
 */
#ifndef KC_SCHEDULER_ENGINE_H
#define KC_SCHEDULER_ENGINE_H

#include "kc/cancel.h"
#include "kc/manager.h"
#include "kc/thread_pool.h"
#include "scheduler/cycle.h"
#include "scheduler/queue.h"

/* ---- events for the loop (inbox.c) ---- */

typedef enum kc__sched_event_type {
    KC__SCHED_EVENT_NODE,
    KC__SCHED_EVENT_POD,
    KC__SCHED_EVENT_NAMESPACE,
    KC__SCHED_EVENT_CLAIM,
    KC__SCHED_EVENT_BUDGET,
    KC__SCHED_EVENT_SYNCED,         /* An event handler has delivered its initial list. */
    KC__SCHED_EVENT_BOUND,          /* A binding succeeded… */
    KC__SCHED_EVENT_BIND_FAILED,    /* …or failed: `text` is the error. */
    KC__SCHED_EVENT_STATUS_WRITTEN, /* A condition was written… */
    KC__SCHED_EVENT_STATUS_FAILED,  /* …or the write failed. */
    KC__SCHED_EVENT_PREEMPTED,      /* All victims were deleted, or a deletion failed. */
} kc__sched_event_type;

typedef struct kc__sched_event {
    kc__sched_event_type type;
    kc_object *object; /* The object concerned. Owned. */
    bool gone;         /* The object was deleted. */
    char *text;        /* Owned. */
} kc__sched_event;

typedef struct kc__sched_inbox {
    kc_mutex mutex; /* Guards the rest; taken last. */
    kc_cond filled;
    KC_VEC(kc__sched_event) notes;
    bool closed;
} kc__sched_inbox;

void kc__sched_inbox_init(kc__sched_inbox *inbox);
void kc__sched_inbox_done(kc__sched_inbox *inbox);
/* Thread-safe. Takes ownership of the event. */
void kc__sched_inbox_put(kc__sched_inbox *inbox, kc__sched_event note);
/* Wakes all waiters; no more events are delivered. */
void kc__sched_inbox_close(kc__sched_inbox *inbox);

typedef KC_VEC(kc__sched_event) kc__sched_event_vec;
/* Takes all events; waits for one until the deadline (0: does not wait). False if closed. */
bool kc__sched_inbox_take(kc__sched_inbox *inbox, const kc_clock *clock, int64_t deadline,
                          kc__sched_event_vec *ret);
void kc__sched_event_done(kc__sched_event *note);

/* ---- jobs: writes (workers.c) ---- */

typedef struct kc__sched_victim {
    kc_object *pod;
    bool leaving; /* It is terminating already. */
} kc__sched_victim;

typedef struct kc__sched_job {
    kc_job job;
    struct kc__sched_workers *workers;
    enum { KC__SCHED_BIND, KC__SCHED_UPDATE_STATUS, KC__SCHED_PREEMPT } type;
    kc_object *pod; /* The pod at the time of the decision. */
    char *node;     /* The node to bind to, or on which pods are preempted. */
    char *patch;    /* Fields of its status. */
    KC_VEC(kc__sched_victim) victims;
    int64_t queued_at; /* When the pod was first queued. */
    int attempts;
} kc__sched_job;

typedef struct kc__sched_workers {
    kc_client *client;
    kc_recorder *recorder;
    kc_log *log;
    const kc_clock *clock;
    kc__sched_inbox *inbox;
    struct kc__sched_metrics *measures;
    kc_thread_pool *threads;
} kc__sched_workers;

/* Up to n threads, which come with jobs. */
void kc__sched_workers_start(kc__sched_workers *w, int n);
/* What is under way is waited for, the rest is dropped. */
void kc__sched_workers_stop(kc__sched_workers *w);
void kc__sched_workers_add(kc__sched_workers *w, kc__sched_job *job); /* Takes ownership. */

/* ---- metrics ---- */

typedef struct kc__sched_metrics {
    kc_counter *attempts[3]; /* By kc__sched_outcome. */
    kc_histogram *durations[3];
    kc_gauge *pending[4]; /* active, backoff, unschedulable, gated */
    kc_metric *sli;
    kc_counter *preemptions;
    kc_histogram *victims;
} kc__sched_metrics;

typedef enum kc__sched_outcome {
    KC__SCHED_SCHEDULED,
    KC__SCHED_UNSCHEDULABLE,
    KC__SCHED_ERROR
} kc__sched_outcome;

int kc__sched_metrics_init(kc__sched_metrics *m, kc_metrics *metrics, kc_error *err);
void kc__sched_metrics_attempt(const kc__sched_metrics *m, kc__sched_outcome outcome, int64_t took);
void kc__sched_metrics_pending(const kc__sched_metrics *m, const kc__sched_queue *q);
void kc__sched_metrics_bound(const kc__sched_metrics *m, int attempts, int64_t took);

/* ---- the engine ---- */

typedef struct kc__sched_engine {
    const kc_clock *clock;
    kc_log *log;
    kc_recorder *recorder;
    kc_rand rand;
    kc__sched_inbox inbox;
    kc__sched_workers workers;
    kc__sched_metrics measures;
    kc__sched_cluster cluster;
    kc__sched_queue pending;
    size_t awaited; /* Event handlers that have not delivered their initial list. */
    int64_t sweep_at;
    /* What has happened since the last pass over the queue. */
    unsigned changes;
    KC_VEC(size_t) touched; /* Slots of the affected nodes. */
} kc__sched_engine;

/* Applies an event to the cluster and the queue (changes.c). */
void kc__sched_engine_apply(kc__sched_engine *e, const kc__sched_event *note);
/* Moves unschedulable pods that recent events may help. */
void kc__sched_engine_move(kc__sched_engine *e);
void kc__sched_engine_touch(kc__sched_engine *e, kc__sched_node *host, unsigned change);

/* Decides for one pod and starts the consequences (attempt.c). */
void kc__sched_engine_attempt(kc__sched_engine *e, kc__sched_pod *place);
/* A binding failed. */
void kc__sched_engine_failed(kc__sched_engine *e, kc__sched_pod *place, const char *why);
/* A write of a condition has finished. */
void kc__sched_engine_status_written(kc__sched_engine *e, kc__sched_pod *place);
/* Sets the condition of a pod with scheduling gates. */
void kc__sched_engine_report_gated(kc__sched_engine *e, kc__sched_pod *place);
/* Clears the nomination of a pod of lower priority. */
void kc__sched_engine_withdraw(kc__sched_engine *e, kc__sched_pod *place);

#endif
