/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scheduler.c: assigns pods to nodes. This file connects informers, the loop and workers; see
 * engine.h for their interplay and docs/internals/scheduler.md for an overview.
 *
 * The loop takes all events, moves the pods that they may help, and tries the next pod. It sleeps
 * when there is neither an event nor a pod that is ready. Decisions start when every event handler
 * has delivered its initial list: with pods missing, nodes would look emptier than they are.
 */
#include "internal.h"

#include "kc/kinds.h"
#include "scheduler/engine.h"

#define SWEEP     (1 * KC_MINUTE)
#define TALLY_AGE (5 * KC_MINUTE)

static const kc_kind budget_kind = {
    .group = "policy",
    .version = "v1",
    .kind = "PodDisruptionBudget",
    .plural = "poddisruptionbudgets",
    .singular = "poddisruptionbudget",
    .namespaced = true,
};

/* Watched kinds. */
static const struct {
    const kc_kind *kind;
    kc__sched_event_type note;
} sources[] = {
    {&kc_kind_node, KC__SCHED_EVENT_NODE},
    {&kc_kind_pod, KC__SCHED_EVENT_POD},
    {&kc_kind_namespace, KC__SCHED_EVENT_NAMESPACE},
    {&kc_kind_persistent_volume_claim, KC__SCHED_EVENT_CLAIM},
    {&budget_kind, KC__SCHED_EVENT_BUDGET},
};

enum { SOURCES = KC_COUNT(sources) };

typedef struct scheduler {
    kc_manager *manager;
    int workers;
    const kc_client_user *act_as; /* NULL: the user of the manager's client. */
    kc_rand rand;
    kc_informer *informers[SOURCES];
} scheduler;

/* ---- event handlers ---- */

typedef struct sched_source {
    kc__sched_inbox *inbox;
    kc__sched_event_type note;
    kc_event_handler *listener;
} sched_source;

static void sched_put(const sched_source *s, const kc_object *object, bool gone)
{
    kc__sched_inbox_put(
        s->inbox,
        (kc__sched_event){.type = s->note, .object = kc_object_ref(object), .gone = gone});
}

static void sched_added(const kc_change *change, void *user)
{
    sched_put(user, change->object, false);
}

static void changed(const kc_change *change, void *user)
{
    if (!change->resync)
        sched_put(user, change->object, false);
}

static void sched_deleted(const kc_change *change, void *user)
{
    sched_put(user, change->object, true);
}

static void synced(void *user)
{
    const sched_source *s = user;
    kc__sched_inbox_put(s->inbox, (kc__sched_event){.type = KC__SCHED_EVENT_SYNCED});
}

static const kc_event_handler_ops listener_ops = {
    .added = sched_added, .updated = changed, .deleted = sched_deleted, .synced = synced};

/* ---- the loop ---- */

static void sched_sweep(kc__sched_engine *e, int64_t now)
{
    if (now < e->sweep_at)
        return;
    e->sweep_at = now + SWEEP;
    kc__sched_cluster_forget_tallies(&e->cluster, now - TALLY_AGE);
}

static void apply_notes(kc__sched_engine *e, kc__sched_event_vec *notes)
{
    kc_vec_each (notes, note) {
        kc__sched_engine_apply(e, note);
        kc__sched_event_done(note);
    }
    kc_vec_done(notes);
}

/* Until the inbox is closed. */
static void loop(kc__sched_engine *e)
{
    bool idle = false;
    for (;;) {
        kc__sched_event_vec notes = {0};
        const int64_t until = e->awaited ? KC_FOREVER
                              : idle     ? kc__sched_queue_next(&e->pending)
                                         : 0;
        const bool open = kc__sched_inbox_take(&e->inbox, e->clock, until, &notes);
        apply_notes(e, &notes);
        if (!open)
            return;
        if (e->awaited)
            continue;
        kc__sched_engine_move(e);
        sched_sweep(e, kc_clock_now(e->clock));
        kc__sched_pod *place = kc__sched_queue_pop(&e->pending, kc_clock_now(e->clock));
        if (place)
            kc__sched_engine_attempt(e, place);
        idle = !place;
        kc__sched_metrics_pending(&e->measures, &e->pending);
    }
}

/* ---- start and stop with the lease ---- */

typedef struct closer {
    kc_cancel_hook hook;
    kc__sched_inbox *inbox;
} closer;

static void close_inbox(kc_cancel_hook *hook)
{
    kc__sched_inbox_close(kc_container_of(hook, closer, hook)->inbox);
}

static void run_loop(kc__sched_engine *e, const scheduler *s, kc_cancel *stop)
{
    sched_source listening[SOURCES];
    closer at_stop = {.hook = {.fire = close_inbox}, .inbox = &e->inbox};
    if (!kc_cancel_add_hook(stop, &at_stop.hook))
        return;
    for (size_t i = 0; i < SOURCES; i++) {
        listening[i] = (sched_source){&e->inbox, sources[i].note, NULL};
        listening[i].listener =
            kc_informer_add_handler(s->informers[i], &listener_ops, &listening[i], -1);
    }
    loop(e);
    for (size_t i = 0; i < SOURCES; i++)
        kc_event_handler_remove(listening[i].listener);
    kc_cancel_remove_hook(stop, &at_stop.hook);
}

static int sched_start(kc__sched_engine *e, scheduler *s, kc_cancel *stop, kc_error *err)
{
    kc_auto(kc_client) *live = kc_client_with(kc_manager_live_client(s->manager),
                                              &(kc_client_overrides){.act_as = s->act_as});
    e->recorder = kc_recorder_new(&(kc_recorder_opts){.client = live,
                                                      .component = KC__SCHED_SCHEDULER_NAME,
                                                      .field_manager = KC__CONTROLLERS_SCHEDULER,
                                                      .rand = &e->rand,
                                                      .log = e->log},
                                  err);
    if (!e->recorder)
        return kc_error_result(err);
    e->workers = (kc__sched_workers){
        .client = kc_client_with(kc_manager_client(s->manager),
                                 &(kc_client_overrides){.cancel = stop,
                                                        .field_manager = KC__CONTROLLERS_SCHEDULER,
                                                        .act_as = s->act_as}),
        .recorder = e->recorder,
        .log = e->log,
        .clock = e->clock,
        .inbox = &e->inbox,
        .measures = &e->measures};
    kc__sched_workers_start(&e->workers, s->workers);
    return 0;
}

static kc__sched_engine *engine_new(scheduler *s, kc_log *log)
{
    kc__sched_engine *e = kc_new(kc__sched_engine);
    e->clock = kc_manager_clock(s->manager);
    e->log = log;
    e->rand = kc_rand_split(&s->rand);
    e->awaited = SOURCES;
    kc__sched_inbox_init(&e->inbox);
    kc__sched_cluster_init(&e->cluster);
    kc__sched_queue_init(&e->pending);
    return e;
}

static void engine_free(kc__sched_engine *e)
{
    kc_client_unref(e->workers.client);
    kc_recorder_stop(e->recorder, kc_clock_deadline(e->clock, KC_SECOND));
    kc_vec_done(&e->touched);
    kc__sched_queue_done(&e->pending);
    kc__sched_cluster_done(&e->cluster);
    kc__sched_inbox_done(&e->inbox);
    free(e);
}

static int sched_run(kc_cancel *stop, void *user, kc_error *err)
{
    scheduler *s = user;
    kc_auto(kc_log) *log = kc_log_child(kc_manager_log(s->manager), "scheduler");
    kc__sched_engine *e = engine_new(s, log);
    int result = kc__sched_metrics_init(&e->measures, kc_manager_metrics(s->manager), err);
    if (result == 0)
        result = sched_start(e, s, stop, err);
    if (result == 0)
        run_loop(e, s, stop);
    if (e->workers.client)
        kc__sched_workers_stop(&e->workers);
    engine_free(e);
    return result;
}

/* ---- setup ---- */

static void scheduler_free(void *state)
{
    scheduler *s = state;
    for (size_t i = 0; i < SOURCES; i++)
        kc_informer_release(s->informers[i]);
    free(s);
}

int kc__sched_setup(kc_manager *manager, const kc_controllers_opts *opts, kc_error *err)
{
    scheduler *s = kc_new(scheduler);
    s->manager = manager;
    s->workers = opts->workers;
    s->act_as = kc__common_identity(opts, KC__COMMON_SCHEDULER);
    s->rand = kc_manager_rand(manager);
    kc_manager_defer(manager, s, scheduler_free);
    for (size_t i = 0; i < SOURCES; i++) {
        s->informers[i] = kc_cache_informer(kc_manager_cache(manager), sources[i].kind, err);
        if (!s->informers[i])
            return kc_error_result(err);
    }
    return kc_manager_add(
        manager,
        &(kc_runnable){
            .name = "scheduler", .group = KC_RUNNABLE_LEADER, .run = sched_run, .user = s},
        err);
}
