/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine.h: the scheduler at work, for its files.
 *
 *     listeners (informers' threads) ──notes──▶ inbox ──▶ loop: cluster, queue, decisions
 *                                                 ▲          │
 *                                                 └──notes── workers ◀──jobs── (bind, say, preempt)
 *
 * The loop is one thread and the only one that touches the cluster and the queue, so none of that
 * is locked, and a decision waits for nobody. What has to be written goes to workers as jobs; how
 * it went comes back as a note. Jobs and notes name pods by key and uid: a pod may be gone
 * meanwhile.
 *
 * An engine lives while we lead: it is made of what the caches have at that moment.
 */
#ifndef KC_SCHEDULER_ENGINE_H
#define KC_SCHEDULER_ENGINE_H

#include "kc/cancel.h"
#include "kc/manager.h"
#include "scheduler/cycle.h"
#include "scheduler/pending.h"

/* ---- notes: what the loop is told (inbox.c) ---- */

typedef enum kc__note_type {
    KC__NOTE_NODE,
    KC__NOTE_POD,
    KC__NOTE_NAMESPACE,
    KC__NOTE_CLAIM,
    KC__NOTE_BUDGET,
    KC__NOTE_SYNCED,    /* A listener has told all there was. */
    KC__NOTE_BOUND,     /* A binding was written… */
    KC__NOTE_NOT_BOUND, /* …or not: `text` says why. */
    KC__NOTE_SAID,      /* A condition was written… */
    KC__NOTE_NOT_SAID,  /* …or could not be. */
    KC__NOTE_PREEMPTED, /* All victims were deleted, or that failed. */
} kc__note_type;

typedef struct kc__note {
    kc__note_type type;
    kc_object *object; /* What it is about. The note's. */
    bool gone;         /* It was deleted. */
    char *text;        /* The note's. */
} kc__note;

typedef struct kc__inbox {
    kc_mutex mutex; /* Guards what follows; the last lock taken. */
    kc_cond filled;
    KC_VEC(kc__note) notes;
    bool closed;
} kc__inbox;

void kc__inbox_init(kc__inbox *inbox);
void kc__inbox_done(kc__inbox *inbox);
/* Any thread. The note is taken over. */
void kc__inbox_put(kc__inbox *inbox, kc__note note);
/* Nothing is waited for any more. */
void kc__inbox_close(kc__inbox *inbox);

typedef KC_VEC(kc__note) kc__notes;
/* All there are; waits for one until the deadline (0: not at all). False when it was closed. */
bool kc__inbox_take(kc__inbox *inbox, const kc_clock *clock, int64_t deadline, kc__notes *ret);
void kc__note_done(kc__note *note);

/* ---- jobs: what is written (workers.c) ---- */

typedef struct kc__victim {
    kc_object *pod;
    bool leaving; /* It is being deleted already. */
} kc__victim;

typedef struct kc__job {
    kc_link link;
    enum { KC__BIND, KC__SAY, KC__PREEMPT } type;
    kc_object *pod; /* As it was when it was decided. */
    char *node;     /* To bind to; or where room is made. */
    char *patch;    /* Of its status. */
    KC_VEC(kc__victim) victims;
    int64_t queued_at; /* When the pod first came. */
    int attempts;
} kc__job;

typedef struct kc__workers {
    kc_client *client;
    kc_recorder *recorder;
    kc_log *log;
    const kc_clock *clock;
    kc__inbox *inbox;
    struct kc__measures *measures;
    KC_VEC(kc_thread *) threads;
    kc_mutex mutex; /* Guards what follows. */
    kc_cond more;
    kc_list urgent, jobs; /* Bindings, which come first; the rest. */
    bool closed;
} kc__workers;

int kc__workers_start(kc__workers *w, int n, kc_error *err);
/* What is under way is waited for, the rest is dropped. */
void kc__workers_stop(kc__workers *w);
void kc__workers_add(kc__workers *w, kc__job *job); /* Taken over. */

/* ---- measures ---- */

typedef struct kc__measures {
    kc_counter *attempts[3]; /* By kc__outcome. */
    kc_histogram *durations[3];
    kc_gauge *pending[4]; /* active, backoff, unschedulable, gated */
    kc_metric *sli;
    kc_counter *preemptions;
    kc_histogram *victims;
} kc__measures;

typedef enum kc__outcome { KC__SCHEDULED, KC__UNSCHEDULABLE, KC__ERROR } kc__outcome;

int kc__measures_init(kc__measures *m, kc_metrics *metrics, kc_error *err);
void kc__measure_attempt(const kc__measures *m, kc__outcome outcome, int64_t took);
void kc__measure_pending(const kc__measures *m, const kc__pending *q);
void kc__measure_bound(const kc__measures *m, int attempts, int64_t took);

/* ---- the engine ---- */

typedef struct kc__engine {
    const kc_clock *clock;
    kc_log *log;
    kc_recorder *recorder;
    kc_rand rand;
    kc__inbox inbox;
    kc__workers workers;
    kc__measures measures;
    kc__cluster cluster;
    kc__pending pending;
    size_t awaited; /* Listeners that have not told all yet. */
    int64_t sweep_at;
    /* What has happened since the queue was last looked through. */
    unsigned changes;
    KC_VEC(size_t) touched; /* Slots of hosts it happened to. */
} kc__engine;

/* Brings what a note says into the cluster and the queue (changes.c). */
void kc__engine_apply(kc__engine *e, const kc__note *note);
/* Moves pods that what happened may help. */
void kc__engine_move(kc__engine *e);
void kc__engine_touch(kc__engine *e, kc__host *host, unsigned change);

/* One pod is decided on, and what follows is set going (attempt.c). */
void kc__engine_attempt(kc__engine *e, kc__place *place);
/* A binding failed. */
void kc__engine_failed(kc__engine *e, kc__place *place, const char *why);
/* What was on its way to be said has arrived, or not. */
void kc__engine_said(kc__engine *e, kc__place *place);
/* A pod with gates says that it has them. */
void kc__engine_say_gated(kc__engine *e, kc__place *place);
/* A lesser pod was to run where room is made for another. */
void kc__engine_withdraw(kc__engine *e, kc__place *place);

#endif
