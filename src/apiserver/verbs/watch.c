/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch.c: streams changes as they happen, one JSON object per line: {"type":"ADDED","object":{…}}.
 *
 *     (no version, "0", or a streamed list)   the state as ADDED events, then the changes since
 *     N                                       the changes after N; waits for a future revision
 *
 * A watch with selectors derives its own events from those of the resource: an object that starts
 * to match is ADDED; an object that stops to match is DELETED, with its last matching state and the
 * revision of the change. A bookmark tells the client a revision up to which it has seen
 * everything: once a minute and at the end. A watch that cannot continue, because the
 * server no longer has the next events, ends with an ERROR event; the client lists again. A watch
 * of a custom resource also closes when its CRD is deleted or changed, because the objects may then
 * be served in another form, and every watch when its credential is revoked or expires
 * (request/credential_check.h).
 *
 *     kc__store_watcher ─▶ stage by stage ─▶ kc__rest_watch_output ─┬▶ bytes, frames: connection
 *                                            (watch_output.c)       └▶ objects: same process
 *
 * Limits: a user may have a limited number of watches, and the selectors of all watches share one
 * budget (watch_quota.h). When memory is short, the watches with the longest queues are cancelled:
 * they drop what they hold and close.
 */

#include "apiserver/store/watch.h"
#include "apiserver/governor/watch_quota.h"
#include "apiserver/kinds/resource_ops.h"
#include "apiserver/request/credential_check.h"
#include "apiserver/request/outgoing.h"
#include "apiserver/verbs/list.h"
#include "apiserver/verbs/watch_conversion.h"
#include "apiserver/verbs/watch_output.h"
#include "apiserver/verbs/watch_render.h"
#include "apiserver/verbs/watch_websocket.h"
#include "http/server/websocket.h"

/* Interval of bookmarks; shorter than the age from which on the store drops the events of a burst
 * (kc__store_opts.settle_age), so that a watch can resume from its last bookmark. */
#define BOOKMARK_EVERY (30 * KC_SECOND)

enum {
    SHORTEST_SECONDS = 1800, /* Without timeoutSeconds the timeout is random, from this to twice
                                as much. */
};

typedef enum watch_stage {
    INITIAL, /* Sends the initial state. */
    INITIAL_END,
    LIVE,
    ENDING, /* The timeout has passed, or the server shuts down. */
    ENDED,
} watch_stage;

/* An open watch; outlives the call. */
typedef struct watching {
    kc_dlist_link link; /* In the context's list. */
    kc__rest_outgoing out;
    kc__watch_quota *quota;
    kc__watch_quota_share share; /* Of the quota. */
    kc__store_hold *hold;        /* Of the snapshot. */
    kc__exchange *x;
    const kc_clock *clock;
    kc__rest_selection selection;
    kc__rest_renderer renderer;
    kc__rest_frames *frames;
    kc__rest_near_frames *near;        /* Of the loop. */
    kc__rest_watch_render_opts render; /* For long objects. */
    char *user_name;                   /* Owned by the watch. */
    kc__rest_watch_wait *wait;         /* For an event that a worker renders; NULL: none. */
    kc__exchange_item_type waited;     /* What that event is. */
    kc__store_watcher *watcher;
    kc__rest_watch_conversion conversion; /* Of objects, by a webhook. */
    kc__cow_snapshot *snapshot;           /* Held while initial events are written. */
    kc__cow_iter at;
    uint64_t from; /* Events begin after this revision. */
    size_t budget; /* Cost of objects that may still be examined in this turn. */
    watch_stage stage;
    bool bookmarks, marks_initial_end;
    uint64_t bookmarked; /* The revision of the last bookmark. */
    bool bookmark_due;
    bool in_process; /* The client is part of this process. */
    kc__loop_timer bookmark, end;
    kc__rest_credential_check credential;
    kc__watch_cache *cache;
    kc_error refusal; /* Why the watch cannot begin: its only event. */
} watching;

/* ---- writing events ---- */

static void write_bookmark(watching *w, kc__rest_watch_output *out, uint64_t revision,
                           bool initial_end)
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
    kc__rest_watch_put(out, &w->renderer, KC__EXCHANGE_ITEM_BOOKMARK, bookmark);
}

/* The watch asks for a compacted revision. */
static void set_expired(watching *w, kc_error *err)
{
    kc_error_set(err, KC_EXPIRED, "too old resource version: %llu (%llu)",
                 (unsigned long long)w->from, (unsigned long long)kc__watch_cache_oldest(w->cache));
}

static void write_expired(watching *w, kc__rest_watch_output *out)
{
    kc_scoped(kc_error) err = {0};
    set_expired(w, &err);
    kc__rest_watch_put_error(out, &err);
}

/* Writes an event that takes long to render. If a worker has rendered it for another watch, writes
 * that frame; otherwise a worker renders it now, and the watch continues afterwards. If no worker
 * accepts it, the loop renders it. */
static void write_long(watching *w, kc__rest_watch_output *out, const kc__rest_watch_change *change)
{
    const bool shared = !out->items && kc__rest_frames_has(&w->renderer, change);
    kc_auto(kc__http_shared_bytes) *frame =
        shared ? kc__rest_frames_find(w->frames, &w->renderer, change) : NULL;
    if (frame) {
        kc__rest_watch_put_frame(out, frame);
        return;
    }
    w->wait = kc__rest_watch_render_start(&w->render, &w->renderer, change);
    w->waited = change->type;
    if (w->wait)
        w->budget = 0;
    else
        kc__rest_watch_put_unshared(out, &w->renderer, change);
}

static void write_change(watching *w, kc__rest_watch_output *out,
                         const kc__rest_watch_change *change)
{
    if (kc__rest_watch_render_is_long(&w->renderer, change))
        write_long(w, out, change);
    else
        kc__rest_watch_put_change(out, w->near, &w->renderer, change);
}

/* Converts an event of the resource into the event of this selection. */
static void write_event(watching *w, kc__rest_watch_output *out, const kc__store_event *event)
{
    bool now = event->type != KC__STORE_DELETED &&
               kc__rest_selection_matches(&w->selection, event->object);
    bool before = event->previous && kc__rest_selection_matches(&w->selection, event->previous);
    const kc__exchange_item_type type = !now     ? KC__EXCHANGE_ITEM_DELETED
                                        : before ? KC__EXCHANGE_ITEM_MODIFIED
                                                 : KC__EXCHANGE_ITEM_ADDED;
    if (now || before)
        write_change(w, out, &(kc__rest_watch_change){.type = type, .event = event});
}

/* Writes the event that a worker has rendered. False: not rendered yet. */
static bool write_waited(watching *w, kc__rest_watch_output *out)
{
    if (!w->wait)
        return true;
    if (!kc__rest_watch_wait_is_over(w->wait))
        return false;
    if (out->items)
        kc__rest_watch_put_object(out, w->waited, kc__rest_watch_wait_object(w->wait));
    else
        kc__rest_watch_put_frame(out, kc__rest_watch_wait_frame(w->wait));
    w->wait = kc__rest_watch_wait_free(w->wait);
    return true;
}

static void spend(watching *w, const kc_object *object)
{
    w->budget -= KC_MIN(w->budget, kc__rest_selection_cost(object));
}

/* A webhook failed: the watch ends, and its client lists again. */
static kc__http_fill end_unconverted(watching *w, kc__rest_watch_output *out)
{
    kc__rest_watch_put_error(out, &w->conversion.error);
    return KC__HTTP_FILL_END;
}

/* ---- the body, stage by stage ---- */

static kc__http_fill write_initial(watching *w, kc__rest_watch_output *out)
{
    while (out->room &&
           kc__rest_watch_convert_initial(&w->conversion, &w->selection, &w->at, &w->budget))
        write_change(
            w, out,
            &(kc__rest_watch_change){.type = KC__EXCHANGE_ITEM_ADDED, .object = w->at.object});
    if (w->conversion.waiting)
        return KC__HTTP_FILL_WAIT;
    if (w->conversion.error.reason)
        return end_unconverted(w, out);
    if (out->room && w->budget) {
        w->hold = kc__store_hold_release(w->hold);
        w->snapshot = kc__cow_snapshot_unref(w->snapshot);
        w->stage = INITIAL_END;
    }
    return KC__HTTP_FILL_MORE;
}

static kc__http_fill write_changes(watching *w, kc__rest_watch_output *out)
{
    while (out->room && w->budget) {
        kc_auto(kc__store_event) *event = NULL;
        const kc__store_watch_result result =
            kc__rest_watch_convert_next(&w->conversion, &w->selection, w->watcher, &event);
        if (w->conversion.error.reason)
            return end_unconverted(w, out);
        switch (result) {
        case KC__STORE_WATCH_EVENT:
            spend(w, event->object);
            write_event(w, out, event);
            break;
        case KC__STORE_WATCH_EMPTY: return KC__HTTP_FILL_WAIT;
        case KC__STORE_WATCH_EXPIRED: write_expired(w, out); return KC__HTTP_FILL_END;
        }
    }
    return KC__HTTP_FILL_MORE;
}

static kc__http_fill run_stage(watching *w, kc__rest_watch_output *out)
{
    switch (w->stage) {
    case INITIAL: return write_initial(w, out);
    case INITIAL_END:
        if (w->marks_initial_end)
            write_bookmark(w, out, w->from, true);
        w->stage = LIVE;
        return KC__HTTP_FILL_MORE;
    case LIVE: {
        kc__http_fill more = write_changes(w, out);
        if (more == KC__HTTP_FILL_WAIT && w->bookmark_due &&
            !kc__rest_watch_convert_holds(&w->conversion))
            write_bookmark(w, out, kc__store_watch_revision(w->watcher), false);
        return more;
    }
    case ENDING: {
        kc__http_fill more = write_changes(w, out);
        if (more == KC__HTTP_FILL_MORE || kc__rest_watch_convert_holds(&w->conversion))
            return more;
        /* A watch that has not sent its initial state must not send a bookmark. */
        if (w->bookmarks && !w->snapshot && kc__store_watch_revision(w->watcher) > w->bookmarked)
            write_bookmark(w, out, kc__store_watch_revision(w->watcher), false);
        w->stage = ENDED;
        return KC__HTTP_FILL_END;
    }
    case ENDED: break;
    }
    return KC__HTTP_FILL_END;
}

static kc__http_fill fill_output(watching *w, kc__rest_watch_output *out)
{
    if (w->refusal.reason) {
        kc__rest_watch_put_error(out, &w->refusal);
        return KC__HTTP_FILL_END;
    }
    if (!write_waited(w, out))
        return KC__HTTP_FILL_WAIT;
    kc__http_fill more = KC__HTTP_FILL_MORE;
    w->budget = KC__REST_SELECTION_SLICE;
    while (more == KC__HTTP_FILL_MORE && out->room && w->budget)
        more = run_stage(w, out);
    if (more != KC__HTTP_FILL_MORE || w->budget)
        return more;
    /* Enough for one turn: serve the other connections of this loop. */
    if (!w->wait)
        kc__exchange_wake(w->x);
    return KC__HTTP_FILL_WAIT;
}

static kc__http_fill fill_bytes(kc_buf *out, size_t room, void *user)
{
    kc__http_body_sink sink = {.text = out};
    return fill_output(user, &(kc__rest_watch_output){.bytes = &sink, .room = room});
}

static kc__http_fill fill_sink(kc__http_body_sink *sink, size_t room, void *user)
{
    return fill_output(user, &(kc__rest_watch_output){.bytes = sink, .room = room});
}

static kc__http_fill fill_items(kc__exchange_item_sink *sink, size_t room, void *user)
{
    return fill_output(user, &(kc__rest_watch_output){.items = sink, .room = room});
}

/* Frees the memory that the watch holds. */
static void watching_drop(watching *w)
{
    kc__loop_timer_stop(&w->bookmark);
    kc__loop_timer_stop(&w->end);
    kc__rest_credential_check_stop(&w->credential);
    if (kc_dlist_is_linked(&w->link))
        kc_dlist_remove(&w->link);
    w->watcher = kc__store_watch_stop(w->watcher);
    w->wait = kc__rest_watch_wait_free(w->wait);
    kc__rest_watch_convert_done(&w->conversion);
    w->hold = kc__store_hold_release(w->hold);
    w->snapshot = kc__cow_snapshot_unref(w->snapshot);
    kc__rest_selection_done(&w->selection);
    kc__watch_quota_release(w->quota, &w->share);
}

static void watching_free(void *user)
{
    watching *w = user;
    kc__rest_outgoing_close(&w->out);
    watching_drop(w);
    kc_error_done(&w->refusal);
    free(w->user_name);
    free(w);
}

/* ---- when memory is short ---- */

static size_t held(const kc__rest_outgoing *out)
{
    const watching *w = kc_container_of(out, watching, out);
    return kc__store_watch_queued_bytes(w->watcher) + kc__store_hold_bytes(w->hold);
}

static void cancel(kc__rest_outgoing *out)
{
    watching *w = kc_container_of(out, watching, out);
    watching_drop(w);
    w->stage = ENDED;
}

static const kc__rest_outgoing_kind kind = {
    .name = "watch", .category = KC__MEMORY_WATCHES, .held = held, .cancel = cancel};

/* The snapshot of the initial state is too old; the store revokes the hold. */
static void revoked(void *user)
{
    kc__rest_outgoing_cancel(&((watching *)user)->out);
}

static const kc__http_body_source source = {
    .fill = fill_bytes, .fill_sink = fill_sink, .done = watching_free};
static const kc__exchange_item_source item_source = {.fill = fill_items, .done = watching_free};

/* ---- wake-ups ---- */

static void events_available(void *user)
{
    kc__exchange_wake(((watching *)user)->x);
}

/* All watches of this process get their bookmarks at the same times, so that an idle server wakes
 * up once for all of them. Those of other clients are spread, because there may be thousands. */
static int64_t next_bookmark(const watching *w, int64_t after)
{
    if (!w->in_process)
        return kc_clock_deadline(w->clock, after);
    return kc_clock_deadline(w->clock, BOOKMARK_EVERY) / BOOKMARK_EVERY * BOOKMARK_EVERY;
}

static void bookmark_due(kc__loop_timer *timer)
{
    watching *w = kc_container_of(timer, watching, bookmark);
    w->bookmark_due = true;
    kc__loop_timer_start(timer, next_bookmark(w, BOOKMARK_EVERY));
    kc__exchange_wake(w->x);
}

static void end_watch(watching *w)
{
    if (w->stage <= LIVE)
        w->stage = ENDING;
    kc__exchange_wake(w->x);
}

static void time_is_up(kc__loop_timer *timer)
{
    end_watch(kc_container_of(timer, watching, end));
}

static void credential_revoked(kc__rest_credential_check *check)
{
    end_watch(kc_container_of(check, watching, credential));
}

void kc__rest_context_drain(kc__rest_context *context)
{
    kc_dlist_each (&context->watches, watching, link, w)
        end_watch(w);
    kc_dlist_each (&context->custom_watches, watching, link, w)
        end_watch(w);
}

/* ---- changes of CRDs ---- */

/* Whether the watched resource is served in the same way as when the watch began. */
static bool is_current(const watching *w, const kc__rest_catalog *now)
{
    const kc__resource *then = w->renderer.resource;
    const kc__resource *found = kc__registry_find(now->kinds, kc_cstr(then->group),
                                                  kc_cstr(then->version), kc_cstr(then->plural));
    return kc__resource_serves_alike(then, found);
}

/* Of one context. */
typedef struct renewal {
    kc__loop_task task;
    kc__rest_api *api;
    kc__rest_context *context;
    uint64_t revision; /* Changes up to this revision are still sent. */
} renewal;

static void run_renewal(kc__loop_task *task)
{
    renewal *r = kc_container_of(task, renewal, task);
    const kc__rest_catalog *now =
        kc__rest_catalog_slot_current(r->api->catalog_slot, &r->context->catalog);
    kc__store_watcher *behind = NULL;
    kc_dlist_each (&r->context->custom_watches, watching, link, w) {
        if (w->stage > LIVE || is_current(w, now))
            continue;
        if (kc__store_watch_is_notified(w->watcher, r->revision))
            end_watch(w);
        else
            behind = w->watcher;
    }
    if (behind)
        kc__store_watch_await(behind, &r->task);
    else
        free(r);
}

static void renew_context(kc__rest_api *api, kc__rest_context *context, uint64_t revision)
{
    renewal *r = kc_new(renewal);
    *r = (renewal){.task.run = run_renewal, .api = api, .context = context, .revision = revision};
    run_renewal(&r->task);
}

void kc__rest_restart_watches(kc__rest_api *api, uint64_t revision)
{
    kc__rest_each_context(api, renew_context, revision);
}

/* ---- start ---- */

static kc__rest_verdict decode_watch(kc__rest_call *call)
{
    return kc__rest_options_read_list(&call->query, true, &call->options, &call->error) < 0
               ? KC__REST_FAIL
               : KC__REST_NEXT;
}

/* Kubernetes fails watches with an invalid resourceVersion with a different error. */
static kc__rest_verdict read_version(kc__rest_call *call, uint64_t *ret)
{
    kc_scoped(kc_error) err = {0};
    if (kc__rest_parse_revision(call->options.resource_version, ret, &err) == 0)
        return KC__REST_NEXT;
    return kc__rest_fail(call, KC_UNKNOWN, "%s", kc_error_text(&err));
}

/* Begins with the current state, which must have reached the revision `at_least`. */
static void begin_with_state(watching *w, uint64_t at_least)
{
    w->snapshot = kc__watch_cache_snapshot(w->cache, &w->from);
    w->hold = kc__watch_cache_hold(w->cache, w->snapshot, w->x->loop, revoked, w);
    w->at = kc__rest_selection_start(&w->selection, w->snapshot, (kc_str){0});
    w->stage = INITIAL;
    if (kc__watch_cache_check_all_readable(w->cache, w->selection.prefix, &w->refusal) < 0)
        return;
    if (w->from < at_least)
        kc__rest_future_revision_error(&w->refusal, at_least, w->from);
}

static void begin_after(watching *w, uint64_t revision)
{
    w->from = revision;
    w->stage = LIVE;
    if (revision < kc__watch_cache_oldest(w->cache))
        set_expired(w, &w->refusal);
}

static void start_timers(kc__rest_call *call, watching *w)
{
    int64_t seconds = call->options.timeout_seconds;
    if (seconds == 0)
        seconds = SHORTEST_SECONDS + (int64_t)kc_rand_below(&call->context->rand, SHORTEST_SECONDS);
    w->end = (kc__loop_timer){.loop = w->x->loop, .fire = time_is_up};
    kc__loop_timer_start(&w->end, kc_clock_deadline(w->clock, seconds * KC_SECOND));
    kc__rest_credential_check_start(&w->credential, call, credential_revoked);
    w->bookmark = (kc__loop_timer){.loop = w->x->loop, .fire = bookmark_due};
    w->in_process = call->x->request.takes_items;
    if (w->bookmarks)
        kc__loop_timer_start(
            &w->bookmark, next_bookmark(w, kc_rand_jitter(&call->context->rand,
                                                          BOOKMARK_EVERY - 10 * KC_SECOND, 0.2)));
}

/* Objects can be sent as stored or in another version; every other form exists as bytes only. */
static bool sends_items(const kc__rest_call *call)
{
    return call->x->request.takes_items && call->form.as == KC__REST_AS_OBJECT;
}

static void start_watch_response(kc__rest_call *call, watching *w, uint64_t version)
{
    const kc__rest_options *o = &call->options;
    /* Without a resourceVersion a watch begins like a streamed list, unless sendInitialEvents is
     * false. */
    bool any = version == 0 && o->initial_events == KC__REST_UNSET;
    bool streams = any || o->initial_events == KC__REST_YES;
    w->x = call->x;
    w->clock = call->api->clock;
    w->cache = call->served->cache;
    w->bookmarks = o->bookmarks;
    w->marks_initial_end = streams && o->bookmarks;
    w->renderer = kc__rest_renderer_of(call);
    w->frames = call->api->frames;
    w->near = call->context->frames;
    w->user_name = kc_str_dup(call->user.name);
    w->render = (kc__rest_watch_render_opts){.api = call->api,
                                             .loop = call->x->loop,
                                             .catalog = w->selection.catalog,
                                             .user_name = kc_cstr(w->user_name),
                                             .items = sends_items(call),
                                             .ready = events_available,
                                             .user = w};
    if (call->form.as != KC__REST_AS_PARTIAL && kc__remote_may_be_needed(call->resource))
        w->conversion = (kc__rest_watch_conversion){.resource = call->resource,
                                                    .loop = call->x->loop,
                                                    .ready = events_available,
                                                    .user = w};
    if (streams)
        begin_with_state(w, version);
    else
        begin_after(w, version ? version : kc__watch_cache_revision(w->cache));
    w->watcher = kc__store_watch_start(&(kc__store_watch_opts){.cache = call->served->cache,
                                                               .loop = call->x->loop,
                                                               .since = w->from,
                                                               .prefix = w->selection.prefix,
                                                               .key = w->selection.key,
                                                               .ready = events_available,
                                                               .user = w});
    kc__rest_outgoing_init(&w->out, &kind, call, sizeof(*w) + w->share.selector_bytes);
    kc__rest_outgoing_open(&w->out);
    start_timers(call, w);
    bool changes = call->resource->ops->serves_alike;
    kc_dlist_push(changes ? &call->context->custom_watches : &call->context->watches, &w->link);
}

/* Whether the catalog of the call is outdated: the call may have held it for a while. */
static bool is_outdated(kc__rest_call *call, const watching *w)
{
    return call->resource->ops->serves_alike &&
           !is_current(
               w, kc__rest_catalog_slot_current(call->api->catalog_slot, &call->context->catalog));
}

/* The memory of the parsed selectors, and of the request text, which lives as long as the watch:
 * raw, decoded, and in the read buffer. */
static size_t selector_bytes(const kc__rest_call *call, const watching *w)
{
    return kc__rest_selection_bytes(&w->selection) + 3 * call->x->request.target.query.n;
}

static kc__rest_verdict take_share(kc__rest_call *call, watching *w)
{
    w->quota = call->api->watches;
    return kc__watch_quota_acquire(w->quota, call->user.name, selector_bytes(call, w), &w->share,
                                   &call->error) < 0
               ? KC__REST_FAIL
               : KC__REST_NEXT;
}

static kc__rest_verdict respond_watch(kc__rest_call *call)
{
    uint64_t version = 0;
    kc__rest_verdict verdict = kc__rest_convert_first(call);
    if (verdict != KC__REST_NEXT)
        return verdict;
    watching *w = kc_new(watching);
    verdict = read_version(call, &version);
    if (verdict == KC__REST_NEXT)
        verdict = kc__rest_selection_take(call, &w->selection);
    if (verdict == KC__REST_NEXT)
        verdict = take_share(call, w);
    if (verdict != KC__REST_NEXT) {
        watching_free(w);
        return verdict;
    }
    start_watch_response(call, w, version);
    if (atomic_load(&call->api->draining) || is_outdated(call, w))
        w->stage = ENDING;
    kc__http_response events = {
        .status = 200, .type = KC_STR("application/json"), .user = w, .flush = true};
    if (w->render.items)
        events.items = &item_source;
    else
        events.source = &source;
    return kc__websocket_is_requested(&call->x->request) ? kc__rest_watch_websocket(call, &events)
                                                         : kc__rest_respond_bytes(call, &events);
}

const kc__rest_verb kc__rest_verb_watch = {
    .name = "watch",
    .bit = KC__VERB_WATCH,
    .on_loop = true,
    .decode = decode_watch,
    .respond = respond_watch,
};
