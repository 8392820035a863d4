/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch_response.c: what a message on the watch stream means.
 *
 *     created                  the oldest unanswered creation; with canceled: refused
 *     canceled                 compacted, or the server gives up the watch
 *     no events, an id         progress of this watch: it has everything up to header.revision
 *     no events, id -1         progress of all watches that are created; the answer to a request
 *     events                   in order; `fragment`: the next message continues this one
 *
 * Progress with id -1 says nothing about a watch whose creation is not answered: etcd holds its
 * events back until it has answered.
 *
 * Each response changes the state under the mutex, and then calls back without it. Both happen on
 * the channel's thread, so the order of callbacks is that of responses.
 */
#include "etcd/etcd_internal.h"

#define ALL_WATCHES INT64_C(-1)

static int64_t header_revision(const kc__etcd_watch_response *response)
{
    return response->header ? response->header->revision : 0;
}

/* With the mutex held; the caller unreferences the result. */
static kc__etcd_watch *find_watch(kc__etcd *etcd, int64_t id)
{
    kc__etcd_watch *watch =
        kc_map_get(&etcd->watches.by_id, kc_str_of((const char *)&id, sizeof(id)));
    if (watch)
        kc_ref_add(&watch->refs);
    return watch;
}

/* The callbacks for all events before the cursor have returned. Reports an awaited revision, unless
 * the caller reports progress anyway. */
static void complete_watch(kc__etcd_watch *watch, bool report)
{
    int64_t reached = 0;
    kc_locked (&watch->etcd->mutex) {
        watch->complete = watch->cursor.next - 1;
        if (watch->awaited && watch->complete >= watch->awaited) {
            watch->awaited = 0;
            reached = watch->complete;
        }
    }
    if (report && reached)
        kc__etcd_watch_tell(watch, &(kc__etcd_watch_news){.progress = reached});
}

/* ---- end of a watch ---- */

static void end_watch(kc__etcd_watch *watch, const kc__etcd_watch_news *news)
{
    bool was_active = false;
    kc_locked (&watch->etcd->mutex) {
        was_active = kc_dlist_is_linked(&watch->link);
        kc_dlist_remove(&watch->link);
        if (watch->has_id)
            kc_map_remove(&watch->etcd->watches.by_id,
                          kc_str_of((const char *)&watch->id, sizeof(watch->id)));
        watch->has_id = false;
        watch->ended = true;
        kc__etcd_watch_stream_rest(watch->etcd);
    }
    kc__etcd_watch_tell(watch, news);
    if (was_active)
        kc__etcd_watch_unref(watch);
}

/* The server refused the watch, or cancelled it. */
static void handle_cancel(kc__etcd_watch *watch, const kc__etcd_watch_response *response)
{
    kc__etcd *etcd = watch->etcd;
    kc_scoped(kc_error) err = {0};
    const kc__etcd_code code = kc__etcd_code_of(KC__GRPC_UNKNOWN, response->cancel_reason);
    if (code == KC__ETCD_INVALID_TOKEN && etcd->auth.username) {
        kc__etcd_auth_invalidate(etcd, etcd->watches.token_generation);
        kc_locked (&etcd->mutex)
            if (etcd->watches.stream)
                kc__grpc_stream_cancel(etcd->watches.stream);
    } else if (response->compact_revision) {
        end_watch(watch, &(kc__etcd_watch_news){.compact_revision = response->compact_revision});
    } else {
        kc_error_set(&err, kc__etcd_code_reason(code), "etcd Watch: cancelled by the server: %.*s",
                     KC_ARG(response->cancel_reason));
        end_watch(watch, &(kc__etcd_watch_news){.code = code, .err = &err});
    }
}

/* ---- creation ---- */

/* With the mutex held. */
static void note_creation(kc__etcd_watch *watch, const kc__etcd_watch_response *response)
{
    kc__etcd_watches *watches = &watch->etcd->watches;
    if (watch->stopped || watch->ended) {
        kc__etcd_watch_stream_send(
            watch->etcd, &(kc__etcd_watch_request){.cancel = &(kc__etcd_watch_cancel_request){
                                                       .watch_id = response->watch_id}});
        return;
    }
    watch->has_id = true;
    watch->id = response->watch_id;
    kc_map_put(&watches->by_id, kc_str_of((const char *)&watch->id, sizeof(watch->id)), watch);
    if (!watch->cursor.next) {
        kc__etcd_cursor_advance(&watch->cursor, header_revision(response));
        watch->complete = watch->cursor.next - 1;
    }
    kc__etcd_watch_stream_ask_progress(watch->etcd);
}

static bool handle_created(kc__etcd *etcd, const kc__etcd_watch_response *response, kc_error *err)
{
    kc__etcd_watch *watch = NULL;
    kc_locked (&etcd->mutex) {
        kc_dlist_link *link = kc_dlist_pop(&etcd->watches.creating);
        watch = link ? kc_container_of(link, kc__etcd_watch, creating) : NULL;
        if (watch && !response->canceled)
            note_creation(watch, response);
    }
    if (!watch) {
        kc_error_set(err, KC_BAD_REQUEST, "a watch was created that was not requested");
        return false;
    }
    if (response->canceled)
        handle_cancel(watch, response);
    kc__etcd_watch_unref(watch);
    return true;
}

/* ---- progress and events ---- */

static void handle_progress(kc__etcd_watch *watch, int64_t revision)
{
    kc_locked (&watch->etcd->mutex)
        kc__etcd_cursor_advance(&watch->cursor, revision);
    complete_watch(watch, false);
    kc__etcd_watch_tell(watch, &(kc__etcd_watch_news){.progress = revision});
}

static void handle_progress_of_all(kc__etcd *etcd, int64_t revision)
{
    KC_VEC(kc__etcd_watch *) created = {0};
    kc_locked (&etcd->mutex)
        kc_map_each (&etcd->watches.by_id, entry) {
            kc__etcd_watch *watch = entry->value;
            kc_ref_add(&watch->refs);
            kc_vec_push(&created, watch);
        }
    kc_vec_each (&created, watch) {
        handle_progress(*watch, revision);
        kc__etcd_watch_unref(*watch);
    }
    kc_vec_done(&created);
}

static bool handle_events(kc__etcd_watch *watch, const kc__etcd_watch_response *response)
{
    kc__etcd_watch_news news = {0};
    kc__etcd_events fresh = {0};
    bool in_order = false;
    kc_locked (&watch->etcd->mutex) {
        in_order =
            kc__etcd_cursor_take(&watch->cursor, response->events, response->fragment, &fresh);
        news.batch = (kc__etcd_batch){fresh.items, fresh.n, watch->cursor.next - 1};
    }
    kc_counter_add(watch->etcd->metrics.events, (double)fresh.n);
    if (!in_order)
        return false;
    kc__etcd_watch_tell(watch, &news);
    complete_watch(watch, true);
    return true;
}

static bool handle_watch(kc__etcd_watch *watch, const kc__etcd_watch_response *response,
                         kc_error *err)
{
    if (response->events.n && !handle_events(watch, response)) {
        kc_error_set(err, KC_BAD_REQUEST, "events are out of order");
        return false;
    }
    if (response->canceled)
        handle_cancel(watch, response);
    else if (!response->events.n && !response->fragment && header_revision(response))
        handle_progress(watch, header_revision(response));
    return true;
}

bool kc__etcd_watch_response_handle(kc__etcd *etcd, kc_str message, kc_error *err)
{
    kc__etcd_watch_response response;
    kc__etcd_watch *watch = NULL;
    kc_arena_clear(&etcd->watches.arena);
    if (kc__etcd_proto_decode(&kc__etcd_watch_response_table, message, NULL, &etcd->watches.arena,
                              &response, err) < 0)
        return false;
    kc_locked (&etcd->mutex) {
        if (!response.canceled)
            etcd->watches.attempts = 0;
        etcd->watches.heard = kc_clock_now(etcd->clock);
        watch = response.created ? NULL : find_watch(etcd, response.watch_id);
    }
    bool ok = true;
    if (response.created)
        ok = handle_created(etcd, &response, err);
    else if (watch)
        ok = handle_watch(watch, &response, err);
    else if (response.watch_id == ALL_WATCHES && !response.canceled && !response.events.n)
        handle_progress_of_all(etcd, header_revision(&response));
    kc__etcd_watch_unref(watch);
    return ok;
}
