/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch.c: changes as they happen, one JSON object a line: {"type":"ADDED","object":{…}}.
 *
 *     (no version, "0", or a streamed list)   what there is now, as ADDED; then the changes since
 *     N                                       the changes after N; a version to come is waited for
 *
 * A selection makes its own events of those of the resource: an object that comes to match was
 * ADDED, one that no longer does was DELETED, with its last matching state and the version of the
 * change. Bookmarks tell a version up to which the client has seen everything, now and then and at
 * the end. A watch that cannot go on (too old, too slow) ends with an ERROR event or closes; the
 * client lists again. That of a custom resource closes when its definition goes or changes, too:
 * what is shown, and how, may be another then.
 */

#include "apiserver/store/watch.h"
#include "apiserver/crd/crd_resource.h"
#include "apiserver/rest/list.h"
#include "apiserver/rest/render.h"
#include "apiserver/rest/watch_websocket.h"
#include "http/websocket.h"
#include "object/status.h"

/* Bookmarks come about once a minute, and at the end. */
#define BOOKMARK_EVERY (60 * KC_SECOND)

enum {
    SHORTEST_SECONDS = 1800, /* Without timeoutSeconds: this to twice as much. */
    AROUND_OBJECT = 64,      /* What an event, and its chunk, have beside the object. */
};

typedef enum stage {
    INITIAL, /* Writing what there is. */
    INITIAL_END,
    LIVE,
    ENDING, /* Time is up, or the server goes down. */
    ENDED,
} stage;

/* An open watch; outlives the call. */
typedef struct watching {
    kc_link link; /* In the lane's list. */
    kc__exchange *x;
    const kc_clock *clock;
    kc__selection selection;
    kc__renderer renderer;
    kc__watcher *watcher;
    kc_cow_snapshot *snapshot; /* While initial events are written. */
    kc_cow_iter at;
    uint64_t from; /* The revision the events begin after. */
    stage stage;
    bool bookmarks, marks_initial_end;
    uint64_t bookmarked; /* The last one sent. */
    bool bookmark_due;
    kc__timer bookmark, end;
    kc__cache *cache;
    kc_error refusal; /* Why it cannot begin: its one event. */
} watching;

/* ---- writing events ---- */

static void write_event(watching *w, kc_buf *out, const char *type, const kc_object *object)
{
    kc_buf_reserve(out, kc_object_json(object).n + AROUND_OBJECT);
    kc_buf_puts(out, "{\"type\":\"");
    kc_buf_puts(out, type);
    kc_buf_puts(out, "\",\"object\":");
    kc__render_one(&w->renderer, out, object);
    kc_buf_puts(out, "}\n");
}

static void write_bookmark(watching *w, kc_buf *out, uint64_t revision, bool initial_end)
{
    const kc__resource *r = w->renderer.resource;
    w->bookmarked = revision;
    w->bookmark_due = false;
    kc_scoped(kc_buf) json = {0};
    kc_buf_printf(&json,
                  "{\"kind\":\"%s\",\"apiVersion\":\"%s%s%s\",\"metadata\":{\"resourceVersion\":"
                  "\"%llu\"%s}}",
                  r->kind, r->group, *r->group ? "/" : "", r->version, (unsigned long long)revision,
                  initial_end ? ",\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}" : "");
    kc_auto(kc_object) *bookmark = kc_object_parse(kc_buf_str(&json), NULL, NULL);
    write_event(w, out, "BOOKMARK", bookmark);
}

static void write_error(kc_buf *out, const kc_error *err)
{
    kc_buf_puts(out, "{\"type\":\"ERROR\",\"object\":");
    kc__status_write(out, err, NULL);
    kc_buf_puts(out, "}\n");
}

/* What it asks for is forgotten. */
static void set_expired(watching *w, kc_error *err)
{
    kc_error_set(err, KC_EXPIRED, "too old resource version: %llu (%llu)",
                 (unsigned long long)w->from, (unsigned long long)kc__cache_oldest(w->cache));
}

static void write_expired(watching *w, kc_buf *out)
{
    kc_scoped(kc_error) err = {0};
    set_expired(w, &err);
    write_error(out, &err);
}

/* What a change means to this selection. */
static void write_change(watching *w, kc_buf *out, const kc__event *event)
{
    bool now = event->type != KC__DELETED && kc__selection_matches(&w->selection, event->object);
    bool before = event->previous && kc__selection_matches(&w->selection, event->previous);
    if (now) {
        write_event(w, out, before ? "MODIFIED" : "ADDED", event->object);
    } else if (before && event->type == KC__DELETED) {
        write_event(w, out, "DELETED", event->object);
    } else if (before) {
        kc_auto(kc_object) *left = kc_object_with_revision(event->previous, event->revision);
        write_event(w, out, "DELETED", left);
    }
}

/* ---- the body, stage by stage ---- */

static void write_initial(watching *w, kc_buf *out, size_t until)
{
    while (out->n < until && kc__selection_next(&w->selection, &w->at))
        write_event(w, out, "ADDED", w->at.object);
    if (out->n < until) {
        w->snapshot = kc_cow_snapshot_unref(w->snapshot);
        w->stage = INITIAL_END;
    }
}

static kc__fill write_changes(watching *w, kc_buf *out, size_t until)
{
    while (out->n < until) {
        kc_auto(kc__event) *event = NULL;
        switch (kc__watch_next(w->watcher, &event)) {
        case KC__WATCH_EVENT: write_change(w, out, event); break;
        case KC__WATCH_EMPTY: return KC__FILL_WAIT;
        case KC__WATCH_EXPIRED: write_expired(w, out); return KC__FILL_END;
        case KC__WATCH_LAGGED: return KC__FILL_END;
        }
    }
    return KC__FILL_MORE;
}

static kc__fill run_stage(watching *w, kc_buf *out, size_t until)
{
    switch (w->stage) {
    case INITIAL: write_initial(w, out, until); return KC__FILL_MORE;
    case INITIAL_END:
        if (w->marks_initial_end)
            write_bookmark(w, out, w->from, true);
        w->stage = LIVE;
        return KC__FILL_MORE;
    case LIVE: {
        kc__fill more = write_changes(w, out, until);
        if (more == KC__FILL_WAIT && w->bookmark_due)
            write_bookmark(w, out, kc__watch_revision(w->watcher), false);
        return more;
    }
    case ENDING:
        if (write_changes(w, out, until) == KC__FILL_MORE)
            return KC__FILL_MORE;
        /* One that has not shown all there is yet must not say that it has. */
        if (w->bookmarks && !w->snapshot && kc__watch_revision(w->watcher) > w->bookmarked)
            write_bookmark(w, out, kc__watch_revision(w->watcher), false);
        w->stage = ENDED;
        return KC__FILL_END;
    case ENDED: break;
    }
    return KC__FILL_END;
}

static kc__fill fill(kc_buf *out, size_t room, void *user)
{
    watching *w = user;
    size_t until = out->n + room;
    if (w->refusal.reason) {
        write_error(out, &w->refusal);
        return KC__FILL_END;
    }
    kc__fill more = KC__FILL_MORE;
    while (more == KC__FILL_MORE && out->n < until)
        more = run_stage(w, out, until);
    return more;
}

static void watching_free(void *user)
{
    watching *w = user;
    kc__timer_stop(&w->bookmark);
    kc__timer_stop(&w->end);
    if (kc_link_in_list(&w->link))
        kc_list_remove(&w->link);
    kc__watch_stop(w->watcher);
    kc_cow_snapshot_unref(w->snapshot);
    kc__selection_done(&w->selection);
    kc_error_done(&w->refusal);
    free(w);
}

static const kc__body_source source = {.fill = fill, .done = watching_free};

/* ---- waking up ---- */

static void events_came(void *user)
{
    kc__exchange_wake(((watching *)user)->x);
}

static void bookmark_due(kc__timer *timer)
{
    watching *w = kc_container_of(timer, watching, bookmark);
    w->bookmark_due = true;
    kc__timer_start(timer, kc_clock_deadline(w->clock, BOOKMARK_EVERY));
    kc__exchange_wake(w->x);
}

static void end(watching *w)
{
    if (w->stage <= LIVE)
        w->stage = ENDING;
    kc__exchange_wake(w->x);
}

static void time_is_up(kc__timer *timer)
{
    end(kc_container_of(timer, watching, end));
}

void kc__lane_drain(kc__lane *lane)
{
    kc_list_each (&lane->watches, watching, link, w)
        end(w);
    kc_list_each (&lane->custom_watches, watching, link, w)
        end(w);
}

/* ---- when definitions change ---- */

/* Whether what is watched is served in the same way as when the watch began. */
static bool is_current(const watching *w, const kc__snapshot *now)
{
    const kc__resource *then = w->renderer.resource;
    const kc__resource *found = kc__kinds_find(now->kinds, kc_cstr(then->group),
                                               kc_cstr(then->version), kc_cstr(then->plural));
    return found && found->custom && kc__crd_serves_alike(found->custom->crd, then->custom->crd);
}

/* One for each lane. */
typedef struct renewal {
    kc__task task;
    kc__api *api;
    kc__lane *lane;
    uint64_t revision; /* What was stored up to it is still told. */
} renewal;

static void renew_lane(kc__task *task)
{
    renewal *r = kc_container_of(task, renewal, task);
    const kc__snapshot *now = kc__snapshots_current(r->api->snapshots, &r->lane->snapshot);
    bool again = false;
    kc_list_each (&r->lane->custom_watches, watching, link, w) {
        if (w->stage > LIVE || is_current(w, now))
            continue;
        if (kc__watch_is_told(w->watcher, r->revision))
            end(w);
        else
            again = true;
    }
    if (again)
        kc__loop_post(r->lane->loop, &r->task);
    else
        free(r);
}

void kc__watches_renew(kc__api *api, uint64_t revision)
{
    for (size_t i = 0; i < api->n_lanes; i++) {
        renewal *r = kc_new(renewal);
        *r = (renewal){
            .task.run = renew_lane, .api = api, .lane = &api->lanes[i], .revision = revision};
        kc__loop_post(r->lane->loop, &r->task);
    }
}

/* ---- starting ---- */

static kc__verdict decode(kc__call *call)
{
    return kc__options_read_list(&call->query, true, &call->options, &call->error) < 0 ? KC__FAIL
                                                                                       : KC__NEXT;
}

/* Watches of a version that is no number fail in a way of their own upstream. */
static kc__verdict read_version(kc__call *call, uint64_t *ret)
{
    kc_scoped(kc_error) err = {0};
    if (kc__parse_version(call->options.resource_version, ret, &err) == 0)
        return KC__NEXT;
    return kc__fail(call, KC_UNKNOWN, "%s", kc_error_text(&err));
}

/* From what there is, if that has come as far as the client has seen elsewhere. */
static void begin_with_state(watching *w, uint64_t at_least)
{
    w->snapshot = kc__cache_snapshot(w->cache, &w->from);
    w->at = kc__selection_start(&w->selection, w->snapshot, (kc_str){0});
    w->stage = INITIAL;
    if (w->from < at_least)
        kc__too_large(&w->refusal, at_least, w->from);
}

static void begin_after(watching *w, uint64_t revision)
{
    w->from = revision;
    w->stage = LIVE;
    if (revision < kc__cache_oldest(w->cache))
        set_expired(w, &w->refusal);
}

static void start_timers(kc__call *call, watching *w)
{
    int64_t seconds = call->options.timeout_seconds;
    if (seconds == 0)
        seconds = SHORTEST_SECONDS + (int64_t)kc_rand_below(&call->lane->rand, SHORTEST_SECONDS);
    w->end = (kc__timer){.loop = w->x->loop, .fire = time_is_up};
    kc__timer_start(&w->end, kc_clock_deadline(w->clock, seconds * KC_SECOND));
    w->bookmark = (kc__timer){.loop = w->x->loop, .fire = bookmark_due};
    if (w->bookmarks)
        kc__timer_start(
            &w->bookmark,
            kc_clock_deadline(
                w->clock, kc_rand_jitter(&call->lane->rand, BOOKMARK_EVERY - 10 * KC_SECOND, 0.2)));
}

static void start(kc__call *call, watching *w, uint64_t version)
{
    const kc__options *o = &call->options;
    /* Without a version a watch begins as a streamed list does, unless the client does not want it.
     */
    bool any = version == 0 && o->initial_events == KC__UNSET;
    bool streams = any || o->initial_events == KC__YES;
    w->x = call->x;
    w->clock = call->api->clock;
    w->cache = call->served->cache;
    w->bookmarks = o->bookmarks;
    w->marks_initial_end = streams && o->bookmarks;
    w->renderer = kc__renderer_of(call);
    if (streams)
        begin_with_state(w, version);
    else
        begin_after(w, version ? version : kc__store_revision(call->api->store));
    w->watcher = kc__watch_start(&(kc__watch_opts){.cache = call->served->cache,
                                                   .loop = call->x->loop,
                                                   .since = w->from,
                                                   .prefix = w->selection.prefix,
                                                   .key = w->selection.key,
                                                   .ready = events_came,
                                                   .user = w});
    start_timers(call, w);
    kc_list_push(call->resource->custom ? &call->lane->custom_watches : &call->lane->watches,
                 &w->link);
}

/* The call has held its snapshot for a while. */
static bool is_outdated(kc__call *call, const watching *w)
{
    return call->resource->custom &&
           !is_current(w, kc__snapshots_current(call->api->snapshots, &call->lane->snapshot));
}

static kc__verdict answer(kc__call *call)
{
    uint64_t version = 0;
    watching *w = kc_new(watching);
    kc__verdict verdict = read_version(call, &version);
    if (verdict == KC__NEXT)
        verdict = kc__selection_take(call, &w->selection);
    if (verdict != KC__NEXT) {
        watching_free(w);
        return verdict;
    }
    start(call, w, version);
    if (atomic_load(&call->api->draining) || is_outdated(call, w))
        w->stage = ENDING;
    kc__answer events = {.status = 200,
                         .type = KC_STR("application/json"),
                         .source = &source,
                         .user = w,
                         .flush = true};
    return kc__websocket_is_asked(&call->x->request) ? kc__watch_over_websocket(call, &events)
                                                     : kc__answer_bytes(call, &events);
}

const kc__verb kc__verb_watch = {
    .name = "watch",
    .bit = KC__WATCH,
    .decode = decode,
    .answer = answer,
};
