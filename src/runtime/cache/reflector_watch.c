/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reflector_watch.c: reads a watch and restarts it, for as long as no list is needed.
 *
 * A watch that ended within a second without an event counts as failed: something between client
 * and server cannot hold a watch open, and restarting it at once would loop forever.
 */
#include "runtime/cache/reflector_internal.h"

/* How late the server may end a watch; after that the reflector ends it. */
#define OVERTIME (30 * KC_SECOND)
#define SHORTEST KC_SECOND

/* A random time of five to ten minutes, so that watches that started together do not end
 * together. */
static int64_t watch_timeout(kc__reflector *r)
{
    const double seconds = 300 * (1 + kc_rand_double(&r->opts.rand));
    return (int64_t)seconds * KC_SECOND;
}

void kc__reflector_open(kc__reflector *r, const char *resource_version, bool initial)
{
    const kc__cache_scope *scope = r->opts.scope;
    const int64_t timeout = watch_timeout(r);
    r->watch_began = kc_clock_now(r->opts.clock);
    r->watch_over = kc_clock_deadline(r->opts.clock, timeout + OVERTIME);
    r->watch_open = false;
    r->n_events = 0;
    r->stream = kc__client_stream_watch(
        r->opts.client, r->opts.kind,
        &(kc_watch_opts){.ns = scope->ns,
                         .labels = scope->labels_text,
                         .fields = scope->fields_text,
                         .resource_version = *resource_version ? resource_version : NULL,
                         .bookmarks = true,
                         .initial_events = initial,
                         .timeout = timeout,
                         .metadata_only = r->opts.metadata_only},
        r->watch_over, r->opts.wake, r->opts.wake_user);
}

/* ---- start ---- */

int64_t kc__reflector_begin_watch(kc__reflector *r)
{
    kc__reflector_open(r, kc_buf_cstr(&r->last), false);
    return kc__reflector_go(r, KC__REFLECTOR_WATCHING);
}

int64_t kc__reflector_follow_stream(kc__reflector *r)
{
    r->n_watches++;
    r->n_events = 0;
    r->watch_open = true;
    r->watch_began = r->quiet_since = kc_clock_now(r->opts.clock);
    return kc__reflector_go(r, KC__REFLECTOR_WATCHING);
}

static void watch_opened(kc__reflector *r)
{
    r->watch_open = true;
    r->quiet_since = r->watch_began;
    if (r->n_watches++)
        kc_counter_inc(r->opts.metrics.watch_restarts);
    kc__reflector_note_success(r);
}

/* ---- events ---- */

static void take_watch_event(kc__reflector *r, kc__client_stream_event *event)
{
    static const kc__fifo_delta_type types[] = {[KC_WATCH_ADDED] = KC__FIFO_ADDED,
                                                [KC_WATCH_MODIFIED] = KC__FIFO_MODIFIED,
                                                [KC_WATCH_DELETED] = KC__FIFO_DELETED,
                                                [KC_WATCH_BOOKMARK] = KC__FIFO_PROGRESS};
    kc_auto(kc_object) *object = event->object;
    const bool bookmark = event->watch == KC_WATCH_BOOKMARK;
    r->quiet_since = kc_clock_now(r->opts.clock);
    if (!bookmark && !kc__reflector_is_ours(r, object)) {
        kc_log_debug(r->opts.log, "skipped an object of another kind on a watch",
                     kc_kv("resource", r->opts.kind->plural),
                     kc_kv("kind", kc_object_kind(object)));
        return;
    }
    const uint64_t revision = kc_object_revision(object);
    r->n_events++;
    kc__reflector_set_revision(r, kc_object_resource_version(object));
    kc__reflector_note_activity(r);
    kc__reflector_push(r, types[event->watch], bookmark ? NULL : kc_take(object), event->shared,
                       revision);
}

/* ---- end ---- */

static int64_t restart_watch(kc__reflector *r)
{
    return kc__reflector_close(r, KC__REFLECTOR_WATCH);
}

/* The server is down or busy. */
static int64_t restart_watch_later(kc__reflector *r, const kc_error *err)
{
    kc__reflector_failed(r, "watch failed", err);
    return kc__reflector_close_and_back_off(r, KC__REFLECTOR_WATCH);
}

static int64_t relist(kc__reflector *r, const kc_error *err)
{
    kc__reflector_failed(r, "watch failed", err);
    return kc__reflector_close_and_back_off(r, KC__REFLECTOR_LIST);
}

/* The watch ended normally, or its connection broke. */
static int64_t after_watch_end(kc__reflector *r)
{
    kc_scoped(kc_error) err = {0};
    if (r->n_events || kc_clock_now(r->opts.clock) - r->watch_began >= SHORTEST)
        return restart_watch(r);
    kc_error_set(&err, KC_SERVICE_UNAVAILABLE,
                 "very short watch: ended within a second without events");
    return relist(r, &err);
}

static int64_t after_watch_error(kc__reflector *r, const kc_error *err)
{
    if (!r->watch_open)
        return kc__reflector_is_retriable(err) ? restart_watch_later(r, err) : relist(r, err);
    if (err->reason == KC_SERVICE_UNAVAILABLE)
        return after_watch_end(r);
    return err->reason == KC_TOO_MANY_REQUESTS ? restart_watch_later(r, err) : relist(r, err);
}

/* No event is available: when to step again. */
static int64_t watch_wait(kc__reflector *r)
{
    const int64_t now = kc_clock_now(r->opts.clock);
    if (!r->watch_open)
        return kc__client_stream_wake_at(r->stream);
    if (now >= r->watch_over)
        return restart_watch(r);
    const int64_t stalled_at = r->quiet_since + r->opts.watch_stall_timeout;
    if (now < stalled_at)
        return KC_MIN(stalled_at, r->watch_over);
    kc__reflector_stalled(r);
    return restart_watch(r);
}

int64_t kc__reflector_read_watch(kc__reflector *r)
{
    kc_scoped(kc_error) err = {0};
    kc__client_stream_event event = {0};
    int got = KC__STREAM_EVENT;
    while (r->budget && (got = kc__client_stream_next(r->stream, &event, &err)) == KC__STREAM_EVENT)
        if (event.type == KC__STREAM_OPENED)
            watch_opened(r);
        else
            take_watch_event(r, &event);
    if (!r->budget)
        return KC__REFLECTOR_NOW;
    if (got == KC__STREAM_WAIT)
        return watch_wait(r);
    return got == KC__STREAM_DONE ? after_watch_end(r) : after_watch_error(r, &err);
}
