/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reflector_watch.c: following a watch, and making it anew, for as long as no list is needed.
 *
 * A watch that ended within a second and brought nothing counts as failed: something on the way
 * cannot hold a watch open, and asking again at once would never end.
 */
#include "runtime/reflector_internal.h"

/* The server may be that late in ending a watch; then we do. */
#define OVERTIME     (30 * KC_SECOND)
#define SHORTEST     KC_SECOND
#define SHOW_SILENCE (30 * KC_SECOND) /* How often the metric is brought up to date. */

typedef enum followed {
    WATCH_ENDED,   /* Regularly, or it broke: again, at once. */
    WATCH_BUSY,    /* 429: again, after a while. */
    WATCH_USELESS, /* 410 and others: a list is needed. */
} followed;

/* Five to ten minutes, by chance, so that those who began together do not all come again
 * together. */
static int64_t watch_timeout(kc__reflector *r)
{
    const double seconds = 300 * (1 + kc_rand_double(&r->opts.rand));
    return (int64_t)seconds * KC_SECOND;
}

kc_watch *kc__reflector_open(kc__reflector *r, const char *resource_version, bool initial,
                             kc_error *err)
{
    const int64_t timeout = watch_timeout(r);
    r->watch_over = kc_clock_deadline(r->opts.clock, timeout + OVERTIME);
    kc_auto(kc_client) *client =
        kc_client_with(r->client, &(kc_client_bind){.deadline = r->watch_over});
    return kc_client_watch(
        client, r->opts.kind,
        &(kc_watch_opts){.ns = r->opts.scope->ns,
                         .labels = r->opts.scope->labels_text,
                         .fields = r->opts.scope->fields_text,
                         .resource_version = *resource_version ? resource_version : NULL,
                         .bookmarks = true,
                         .initial_events = initial,
                         .timeout = timeout,
                         .metadata_only = r->opts.metadata_only},
        err);
}

/* Takes one event. False when it is none of ours. */
static bool watch_event(kc__reflector *r, kc_watch_event *event)
{
    static const kc__delta_type types[] = {[KC_EVENT_ADDED] = KC__ADDED,
                                           [KC_EVENT_MODIFIED] = KC__MODIFIED,
                                           [KC_EVENT_DELETED] = KC__DELETED,
                                           [KC_EVENT_BOOKMARK] = KC__PROGRESS};
    kc_auto(kc_object) *object = event->object;
    const bool bookmark = event->type == KC_EVENT_BOOKMARK;
    if (!bookmark && !kc__reflector_is_ours(r, object)) {
        kc_log_debug(r->opts.log, "an object of another kind on a watch is passed over",
                     kc_kv("resource", r->opts.kind->plural),
                     kc_kv("kind", kc_object_kind(object)));
        return false;
    }
    const uint64_t revision = kc_object_revision(object);
    kc__reflector_reached(r, kc_object_resource_version(object));
    kc__reflector_heard(r);
    kc__reflector_push(r, types[event->type], bookmark ? NULL : kc_take(object), revision);
    return true;
}

static followed after_end(kc__reflector *r, int64_t start, size_t n_events, kc_error *err)
{
    if (n_events || kc_clock_now(r->opts.clock) - start >= SHORTEST)
        return WATCH_ENDED;
    kc_error_done(err);
    kc_error_set(err, KC_SERVICE_UNAVAILABLE,
                 "very short watch: it ended within a second and brought nothing");
    return WATCH_USELESS;
}

/* The deadline passed before something came. True when it was too long. */
static bool is_stalled(kc__reflector *r, int64_t quiet_since)
{
    kc__reflector_silent(r);
    if (kc_clock_now(r->opts.clock) - quiet_since < r->opts.stall)
        return false;
    kc__reflector_stalled(r);
    return true;
}

static followed follow(kc__reflector *r, kc_watch *watch, int64_t start, kc_error *err)
{
    const kc_clock *clock = r->opts.clock;
    int64_t quiet_since = start;
    for (size_t n_events = 0;;) {
        kc_watch_event event = {0};
        const int64_t deadline =
            KC_MIN(quiet_since + r->opts.stall, kc_clock_deadline(clock, SHOW_SILENCE));
        const int got = kc_watch_next(watch, deadline, &event, err);
        if (got > 0) {
            n_events += watch_event(r, &event);
            quiet_since = kc_clock_now(clock);
            continue;
        }
        if (kc_cancel_fired(r->cancel))
            return WATCH_ENDED;
        if (got == 0 || err->reason == KC_SERVICE_UNAVAILABLE)
            return after_end(r, start, n_events, err);
        if (err->reason == KC_TOO_MANY_REQUESTS)
            return WATCH_BUSY;
        if (err->reason != KC_TIMEOUT || kc_clock_now(clock) < KC_MIN(deadline, r->watch_over))
            return WATCH_USELESS;
        if (kc_clock_now(clock) >= r->watch_over)
            return WATCH_ENDED;
        kc_error_done(err);
        if (is_stalled(r, quiet_since))
            return WATCH_ENDED;
    }
}

static kc_watch *open_watch(kc__reflector *r, kc_error *err)
{
    kc_watch *watch = kc__reflector_open(r, kc_buf_cstr(&r->last), false, err);
    if (!watch)
        return NULL;
    if (r->n_watches++)
        kc_counter_inc(r->opts.metrics.watch_restarts);
    kc__reflector_works(r);
    return watch;
}

void kc__reflector_watch(kc__reflector *r, kc_watch *watch)
{
    r->n_watches += watch != NULL;
    while (!kc_cancel_fired(r->cancel)) {
        kc_scoped(kc_error) err = {0};
        /* Before the request: some proxies hold back the head of the answer until the first event.
         */
        const int64_t start = kc_clock_now(r->opts.clock);
        followed how = WATCH_ENDED;
        if (!watch) {
            watch = open_watch(r, &err);
            if (!watch)
                how = kc__is_retriable(&err) ? WATCH_BUSY : WATCH_USELESS;
        }
        if (watch)
            how = follow(r, watch, start, &err);
        watch = kc_watch_close(watch);
        if (how != WATCH_ENDED)
            kc__reflector_failed(r, "watch", &err);
        if (how == WATCH_USELESS || (how == WATCH_BUSY && !kc__reflector_back_off(r)))
            break;
    }
    kc_watch_close(watch);
}
