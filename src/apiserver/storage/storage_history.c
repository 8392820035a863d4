/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storage_history.c: reads past events of a shared backend: a watch that ends at a revision.
 *
 * A shared backend delivers past events on its own thread, as later ones. The caller waits here
 * until the last one has arrived; `each` runs under the mutex of the walk, so that no call of it is
 * in progress once the caller has given up.
 */
#include "apiserver/storage/storage.h"

#include "kc/thread.h"

typedef struct history_walk {
    const kc__storage_history_opts *opts;
    kc_mutex mutex; /* Guards the fields below. */
    kc_cond changed;
    bool ended;
    int stopped; /* What `each` returned. */
    uint64_t compacted;
    kc_error error;
} history_walk;

static void end_walk(history_walk *walk)
{
    walk->ended = true;
    kc_cond_broadcast(&walk->changed);
}

static int take_past_event(const kc__storage_event *event, void *user)
{
    history_walk *walk = user;
    const kc__storage_history_opts *o = walk->opts;
    int stop = 1;
    kc_locked (&walk->mutex) {
        if (!walk->ended && event->revision <= o->up_to)
            walk->stopped = o->each(event, o->user);
        if (walk->stopped || event->revision > o->up_to)
            end_walk(walk);
        stop = walk->ended;
    }
    return stop;
}

static void take_past_progress(uint64_t revision, void *user)
{
    history_walk *walk = user;
    kc_locked (&walk->mutex)
        if (revision >= walk->opts->up_to)
            end_walk(walk);
}

static void take_compaction(uint64_t compacted, void *user)
{
    history_walk *walk = user;
    kc_locked (&walk->mutex)
        walk->compacted = compacted;
}

static void take_past_failure(const kc_error *err, void *user)
{
    history_walk *walk = user;
    kc_locked (&walk->mutex) {
        if (!walk->ended)
            kc_error_set(&walk->error, err->reason, "%s", kc_error_text(err));
        end_walk(walk);
    }
}

/* Waits until the walk has ended. */
static void await_walk(history_walk *walk)
{
    const kc_clock *clock = walk->opts->clock ? walk->opts->clock : kc_clock_real();
    const int64_t deadline = kc_clock_deadline(clock, walk->opts->timeout);
    kc_locked (&walk->mutex) {
        while (!walk->ended)
            if (!kc_cond_wait_until(&walk->changed, &walk->mutex, clock, deadline))
                break;
        if (!walk->ended)
            kc_error_set(&walk->error, KC_TIMEOUT, "past events up to revision %llu did not arrive",
                         (unsigned long long)walk->opts->up_to);
        walk->ended = true;
    }
}

int kc__storage_shared_history(kc__storage *storage, const kc__storage_history_opts *opts,
                               uint64_t *ret_compacted, kc_error *err)
{
    history_walk walk = {.opts = opts};
    kc__storage_watch *watch = NULL;
    kc_mutex_init(&walk.mutex);
    kc_cond_init(&walk.changed);
    int failed = kc__storage_watch_start(storage,
                                         &(kc__storage_watch_opts){.since = opts->since,
                                                                   .previous = true,
                                                                   .event = take_past_event,
                                                                   .progress = take_past_progress,
                                                                   .compacted = take_compaction,
                                                                   .failed = take_past_failure,
                                                                   .user = &walk},
                                         &watch, err);
    if (!failed) {
        kc__storage_request_progress(storage, watch, opts->up_to);
        await_walk(&walk);
        kc__storage_watch_stop(storage, watch);
        failed = walk.error.reason ? kc_error_move(err, &walk.error) : walk.stopped;
    }
    if (failed && walk.compacted)
        *ret_compacted = walk.compacted;
    kc_error_done(&walk.error);
    kc_cond_done(&walk.changed);
    kc_mutex_done(&walk.mutex);
    return failed;
}
