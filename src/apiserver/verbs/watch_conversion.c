/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch_conversion.c: one job at a time for each watch. Watches of the same events need the same
 * conversions: the converter runs each once, and all watches wait for it.
 *
 * A watch takes events from the store in groups, so that a burst needs few reviews. Pins keep the
 * conversions of a group until its last event is sent.
 */
#include "apiserver/verbs/watch_conversion.h"

/* Maximum number of events and objects that are converted at a time. */
enum { HELD_EVENTS = 64, WINDOW = 100 };

/* ---- jobs ---- */

/* Adds an object that will be shown, or pins its conversion if it is kept. `like` may be NULL. */
static void need_conversion(kc__rest_watch_conversion *c, const kc_object *object,
                            const kc_object *like)
{
    if (!kc__remote_is_needed(c->resource, object))
        return;
    kc__remote_converted *pin = kc__remote_converted_pin(c->resource, object);
    if (pin) {
        kc_vec_push(&c->pins, pin);
        return;
    }
    if (!c->job) {
        c->job = kc__remote_conversion_new(c->resource, c->loop);
        c->job->keep = true;
    }
    kc__remote_conversion_add(c->job, object, like);
}

static void watch_job_done(kc__remote_conversion *job)
{
    kc__rest_watch_conversion *c = job->user;
    const kc_error *error = kc__remote_conversion_error(job);
    if (error)
        kc_error_set(&c->error, error->reason, "%s", kc_error_text(error));
    kc__remote_conversion_take_pins(job, &c->pins);
    c->job = kc__remote_conversion_free(job);
    c->waiting = false;
    c->ready(c->user);
}

static void start_watch_job(kc__rest_watch_conversion *c)
{
    if (!c->job)
        return;
    c->job->done = watch_job_done;
    c->job->user = c;
    c->waiting = true;
    kc__remote_conversion_start(c->job);
}

static void unpin_sent(kc__rest_watch_conversion *c)
{
    for (size_t i = 0; i < c->pins.n; i++)
        kc__remote_converted_unpin(c->pins.items[i]);
    c->pins.n = 0;
}

/* ---- events ---- */

static void drop_held(kc__rest_watch_conversion *c)
{
    kc_vec_each (&c->held, event)
        kc__store_event_unref(*event);
    c->held.n = c->held_at = 0;
    unpin_sent(c);
}

/* Selectors and deletions also show the previous state. */
static void convert_event(kc__rest_watch_conversion *c, const kc__rest_selection *selection,
                          const kc__store_event *event)
{
    const bool deleted = event->type == KC__STORE_DELETED;
    if (event->previous && !kc__rest_selection_is_everything(selection))
        need_conversion(c, event->previous, NULL);
    need_conversion(c, event->object, deleted ? event->previous : NULL);
}

/* Takes the next events, and starts the conversion of their objects. */
static void hold_events(kc__rest_watch_conversion *c, const kc__rest_selection *selection,
                        kc__store_watcher *watcher)
{
    drop_held(c);
    c->after_held = KC__STORE_WATCH_EVENT;
    while (c->held.n < HELD_EVENTS && c->after_held == KC__STORE_WATCH_EVENT) {
        kc__store_event *event = NULL;
        c->after_held = kc__store_watch_next(watcher, &event);
        if (c->after_held != KC__STORE_WATCH_EVENT)
            break;
        convert_event(c, selection, event);
        kc_vec_push(&c->held, event);
    }
    start_watch_job(c);
}

kc__store_watch_result kc__rest_watch_convert_next(kc__rest_watch_conversion *c,
                                                   const kc__rest_selection *selection,
                                                   kc__store_watcher *watcher,
                                                   kc__store_event **ret_event)
{
    if (!c->resource)
        return kc__store_watch_next(watcher, ret_event);
    if (c->held_at == c->held.n)
        hold_events(c, selection, watcher);
    if (c->waiting)
        return KC__STORE_WATCH_EMPTY;
    if (c->held_at == c->held.n)
        return c->after_held;
    *ret_event = kc_take(c->held.items[c->held_at]);
    c->held_at++;
    return KC__STORE_WATCH_EVENT;
}

bool kc__rest_watch_convert_holds(const kc__rest_watch_conversion *c)
{
    return c->waiting || c->held_at < c->held.n;
}

/* ---- the initial state ---- */

/* Starts to convert the next objects; false if none is left. */
static bool open_window(kc__rest_watch_conversion *c, kc__cow_iter at)
{
    unpin_sent(c);
    while (c->window < WINDOW && kc__cow_iter_next(&at)) {
        need_conversion(c, at.object, NULL);
        c->window++;
    }
    start_watch_job(c);
    return c->window > 0;
}

bool kc__rest_watch_convert_initial(kc__rest_watch_conversion *c,
                                    const kc__rest_selection *selection, kc__cow_iter *at,
                                    size_t *budget)
{
    if (!c->resource)
        return kc__rest_selection_next_within(selection, at, budget);
    while (*budget && (c->window || open_window(c, *at)) && !c->waiting && !c->error.reason) {
        c->window--;
        kc__cow_iter_next(at);
        *budget -= KC_MIN(*budget, kc__rest_selection_cost(at->object));
        if (kc__rest_selection_has(selection, at))
            return true;
    }
    return false;
}

/* ---- the end ---- */

void kc__rest_watch_convert_done(kc__rest_watch_conversion *c)
{
    if (c->job && c->waiting)
        kc__remote_conversion_abandon(c->job);
    else
        kc__remote_conversion_free(c->job);
    c->job = NULL;
    c->waiting = false;
    drop_held(c);
    kc_vec_done(&c->held);
    kc__remote_pins_done(&c->pins);
    kc_error_done(&c->error);
}
