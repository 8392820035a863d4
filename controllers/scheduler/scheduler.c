/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scheduler.c: a node for every pod. Here it is wired: informers, the loop, workers; see engine.h
 * for how they go together, and docs/internals/scheduler.md for the whole.
 *
 * The loop: take all notes; when something happened, look whom it helps; try the next pod. It
 * sleeps when there is neither a note nor a pod whose time has come. Decisions begin when every
 * listener has told what there was: with half of the pods unseen, nodes would look emptier than
 * they are.
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

/* What is listened to. */
static const struct {
    const kc_kind *kind;
    kc__note_type note;
} sources[] = {
    {&kc_kind_node, KC__NOTE_NODE},           {&kc_kind_pod, KC__NOTE_POD},
    {&kc_kind_namespace, KC__NOTE_NAMESPACE}, {&kc_kind_persistent_volume_claim, KC__NOTE_CLAIM},
    {&budget_kind, KC__NOTE_BUDGET},
};

enum { SOURCES = KC_COUNT(sources) };

typedef struct scheduler {
    kc_manager *manager;
    int workers;
    kc_rand rand;
    kc_informer *informers[SOURCES];
} scheduler;

/* ---- listening ---- */

typedef struct source {
    kc__inbox *inbox;
    kc__note_type note;
    kc_listener *listener;
} source;

static void put(const source *s, const kc_object *object, bool gone)
{
    kc__inbox_put(s->inbox,
                  (kc__note){.type = s->note, .object = kc_object_ref(object), .gone = gone});
}

static void heard_of(const kc_change *change, void *user)
{
    put(user, change->object, false);
}

static void changed(const kc_change *change, void *user)
{
    if (!change->resync)
        put(user, change->object, false);
}

static void deleted(const kc_change *change, void *user)
{
    put(user, change->object, true);
}

static void synced(void *user)
{
    const source *s = user;
    kc__inbox_put(s->inbox, (kc__note){.type = KC__NOTE_SYNCED});
}

static const kc_listener_ops listener_ops = {
    .added = heard_of, .updated = changed, .deleted = deleted, .synced = synced};

/* ---- the loop ---- */

static void sweep(kc__engine *e, int64_t now)
{
    if (now < e->sweep_at)
        return;
    e->sweep_at = now + SWEEP;
    kc__cluster_forget_tallies(&e->cluster, now - TALLY_AGE);
}

static void apply_notes(kc__engine *e, kc__notes *notes)
{
    kc_vec_each (notes, note) {
        kc__engine_apply(e, note);
        kc__note_done(note);
    }
    kc_vec_done(notes);
}

/* Until the inbox is closed. */
static void loop(kc__engine *e)
{
    bool idle = false;
    for (;;) {
        kc__notes notes = {0};
        const int64_t until = e->awaited ? KC_FOREVER : idle ? kc__pending_next(&e->pending) : 0;
        const bool open = kc__inbox_take(&e->inbox, e->clock, until, &notes);
        apply_notes(e, &notes);
        if (!open)
            return;
        if (e->awaited)
            continue;
        kc__engine_move(e);
        sweep(e, kc_clock_now(e->clock));
        kc__place *place = kc__pending_pop(&e->pending, kc_clock_now(e->clock));
        if (place)
            kc__engine_attempt(e, place);
        idle = !place;
        kc__measure_pending(&e->measures, &e->pending);
    }
}

/* ---- while we lead ---- */

typedef struct closer {
    kc_cancel_hook hook;
    kc__inbox *inbox;
} closer;

static void close_inbox(kc_cancel_hook *hook)
{
    kc__inbox_close(kc_container_of(hook, closer, hook)->inbox);
}

static void run_loop(kc__engine *e, const scheduler *s, kc_cancel *stop)
{
    source listening[SOURCES];
    closer at_stop = {.hook = {.fire = close_inbox}, .inbox = &e->inbox};
    if (!kc_cancel_hang(stop, &at_stop.hook))
        return;
    for (size_t i = 0; i < SOURCES; i++) {
        listening[i] = (source){&e->inbox, sources[i].note, NULL};
        listening[i].listener =
            kc_informer_listen(s->informers[i], &listener_ops, &listening[i], -1);
    }
    loop(e);
    for (size_t i = 0; i < SOURCES; i++)
        kc_listener_remove(listening[i].listener);
    kc_cancel_unhang(stop, &at_stop.hook);
}

static int start(kc__engine *e, scheduler *s, kc_cancel *stop, kc_error *err)
{
    e->recorder = kc_recorder_new(&(kc_recorder_opts){.client = kc_manager_live_client(s->manager),
                                                      .component = KC__SCHEDULER_NAME,
                                                      .rand = &e->rand,
                                                      .log = e->log},
                                  err);
    if (!e->recorder)
        return -1;
    e->workers = (kc__workers){
        .client = kc_client_with(kc_manager_client(s->manager), &(kc_client_bind){.cancel = stop}),
        .recorder = e->recorder,
        .log = e->log,
        .clock = e->clock,
        .inbox = &e->inbox,
        .measures = &e->measures};
    return kc__workers_start(&e->workers, s->workers, err);
}

static kc__engine *engine_new(scheduler *s, kc_log *log)
{
    kc__engine *e = kc_new(kc__engine);
    e->clock = kc_manager_clock(s->manager);
    e->log = log;
    e->rand = kc_rand_split(&s->rand);
    e->awaited = SOURCES;
    kc__inbox_init(&e->inbox);
    kc__cluster_init(&e->cluster);
    kc__pending_init(&e->pending);
    return e;
}

static void engine_free(kc__engine *e)
{
    kc_client_unref(e->workers.client);
    kc_recorder_stop(e->recorder, kc_clock_deadline(e->clock, KC_SECOND));
    kc_vec_done(&e->touched);
    kc__pending_done(&e->pending);
    kc__cluster_done(&e->cluster);
    kc__inbox_done(&e->inbox);
    free(e);
}

static int run(kc_cancel *stop, void *user, kc_error *err)
{
    scheduler *s = user;
    kc_auto(kc_log) *log = kc_log_child(kc_manager_log(s->manager), "scheduler");
    kc__engine *e = engine_new(s, log);
    int result = kc__measures_init(&e->measures, kc_manager_metrics(s->manager), err);
    if (result == 0)
        result = start(e, s, stop, err);
    if (result == 0)
        run_loop(e, s, stop);
    if (e->workers.client)
        kc__workers_stop(&e->workers);
    engine_free(e);
    return result;
}

/* ---- setting up ---- */

static void scheduler_free(void *state)
{
    scheduler *s = state;
    for (size_t i = 0; i < SOURCES; i++)
        kc_informer_release(s->informers[i]);
    free(s);
}

int kc__scheduler_setup(kc_manager *manager, const kc_controllers_opts *opts, kc_error *err)
{
    scheduler *s = kc_new(scheduler);
    s->manager = manager;
    s->workers = opts->workers;
    s->rand = kc_manager_rand(manager);
    kc_manager_keep(manager, s, scheduler_free);
    for (size_t i = 0; i < SOURCES; i++) {
        s->informers[i] = kc_cache_informer(kc_manager_cache(manager), sources[i].kind, err);
        if (!s->informers[i])
            return -1;
    }
    return kc_manager_add(
        manager,
        &(kc_runnable){.name = "scheduler", .group = KC_GROUP_LEADER, .run = run, .user = s}, err);
}
