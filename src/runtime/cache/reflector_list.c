/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reflector_list.c: lists, plain or streamed, directly into the fifo.
 *
 * Each object is pushed as soon as it has been read, so memory never holds a whole list in addition
 * to the cache store. The price: an aborted list has been applied in part. That is harmless: the
 * applied part is true, and newer than what it replaced; no object is taken as deleted before
 * KC__FIFO_LIST_END; and the next list must not be older than the newest object pushed (`newest`),
 * so that no object goes back in time.
 *
 * A streamed list is a watch that starts with the existing objects, ends that part with a bookmark
 * and continues as a watch: one request and no continue tokens. The reflector falls back to a plain
 * list if the server does not stream lists or the connection loses the bookmark.
 */
#include "runtime/cache/reflector_internal.h"

#include <inttypes.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    ROOM_EVERY = 64,        /* Objects of a list between two calls of make_cache_room. */
    ROOM_BYTES = 120 << 10, /* Below the size at which free() returns memory to the system. */
};

/*
 * Allocates the memory for the next objects of a list at once. A thread's heap grows by just what
 * the next object needs, and then every page faults when it is first touched: a system call and
 * some page faults for every few objects took a sixth of a list's time.
 */
static void make_cache_room(void)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *room = kc_alloc(ROOM_BYTES);
    char *first = room + (page - (uintptr_t)room % page);
    /* A kernel without MADV_POPULATE_WRITE returns an error, which does no harm. */
    madvise(first, (size_t)(room + ROOM_BYTES - first) / page * page, MADV_POPULATE_WRITE);
    free(room);
}

static void list_begins(kc__reflector *r)
{
    r->n_listed = 0;
    kc__reflector_push(r, KC__FIFO_LIST_BEGIN, NULL, false, 0);
}

static void list_object(kc__reflector *r, kc_object *object, bool shared)
{
    r->newest = KC_MAX(r->newest, kc_object_revision(object));
    kc__reflector_push(r, KC__FIFO_LISTED, object, shared, 0);
    if (++r->n_listed % ROOM_EVERY == 0 && !shared)
        make_cache_room();
}

static uint64_t revision_of(kc_str resource_version)
{
    uint64_t revision;
    return kc_str_to_u64(resource_version, &revision) ? revision : 0;
}

static void list_ends(kc__reflector *r, kc_str resource_version)
{
    kc__reflector_set_revision(r, resource_version);
    r->last_unavailable = false;
    r->newest = 0;
    kc__reflector_note_activity(r);
    if (r->n_lists++)
        kc_counter_inc(r->opts.metrics.relists);
    kc__reflector_push(r, KC__FIFO_LIST_END, NULL, false, revision_of(resource_version));
    kc__reflector_note_success(r);
}

/* The revision that a list must not be older than; empty if there is none. */
static void write_floor(const kc__reflector *r, kc_buf *out)
{
    const uint64_t shown = KC_MAX(r->newest, r->n_lists ? 0 : r->opts.not_older);
    if (shown > revision_of(kc_buf_str(&r->last)))
        kc_buf_printf(out, "%" PRIu64, shown);
    else
        kc_buf_append(out, kc_buf_str(&r->last));
}

static int64_t list_failed(kc__reflector *r, const kc_error *err)
{
    kc__reflector_failed(r, "list failed", err);
    return kc__reflector_close_and_back_off(r, KC__REFLECTOR_LIST);
}

int64_t kc__reflector_begin_list(kc__reflector *r)
{
    if (r->plain)
        return kc__reflector_go(r, KC__REFLECTOR_PLAIN);
    r->stream_deadline = kc_clock_deadline(r->opts.clock, r->opts.list_deadline);
    kc_error_done(&r->stream_failure);
    return kc__reflector_go(r, KC__REFLECTOR_STREAM);
}

/* ---- plain ---- */

static bool is_any_or_newest(kc_str version)
{
    return !version.n || kc_str_is(version, "0");
}

/* Requests r->list_version. Pages are requested only for the newest state and for any: with
 * another version, a limit makes the server return exactly that version. */
static int64_t start_list(kc__reflector *r, bool pages)
{
    const kc__cache_scope *scope = r->opts.scope;
    r->list_pages = pages;
    r->n_listed = 0;
    r->stream = kc__client_stream_list(
        r->opts.client, r->opts.kind,
        &(kc_list_opts){.ns = scope->ns,
                        .labels = scope->labels_text,
                        .fields = scope->fields_text,
                        .resource_version =
                            r->list_version.n ? kc_buf_cstr(&r->list_version) : NULL,
                        .page = pages ? 0 : -1,
                        .metadata_only = r->opts.metadata_only},
        r->opts.wake, r->opts.wake_user);
    return kc__reflector_go(r, KC__REFLECTOR_LISTING);
}

int64_t kc__reflector_begin_plain(kc__reflector *r)
{
    kc_buf_clear(&r->list_version);
    if (!r->last_unavailable)
        write_floor(r, &r->list_version);
    if (!r->last_unavailable && !r->list_version.n)
        kc_buf_puts(&r->list_version, "0");
    return start_list(r, is_any_or_newest(kc_buf_str(&r->list_version)));
}

/* The list failed: tries another form of list at once where that may succeed. */
static int64_t after_list_error(kc__reflector *r, const kc_error *err)
{
    const bool requested_newest = !r->list_version.n;
    if (kc__client_stream_is_over(r->stream)) {
        if (r->list_pages && r->n_listed && kc__reflector_is_expired(err)) {
            /* The continue token expired during the list: request all objects at once. */
            r->stream = kc__client_stream_free(r->stream);
            return start_list(r, false);
        }
        if (!requested_newest &&
            (kc__reflector_is_expired(err) || kc__reflector_is_too_large_version(err))) {
            r->last_unavailable = true;
            r->stream = kc__client_stream_free(r->stream);
            return kc__reflector_go(r, KC__REFLECTOR_PLAIN);
        }
    }
    return list_failed(r, err);
}

int64_t kc__reflector_read_plain(kc__reflector *r)
{
    kc_scoped(kc_error) err = {0};
    kc__client_stream_event event = {0};
    int got = KC__STREAM_EVENT;
    while (r->budget && (got = kc__client_stream_next(r->stream, &event, &err)) == KC__STREAM_EVENT)
        switch (event.type) {
        case KC__STREAM_OPENED: list_begins(r); break;
        case KC__STREAM_LISTED: list_object(r, event.object, event.shared); break;
        case KC__STREAM_WATCHED: kc_object_unref(event.object); break;
        case KC__STREAM_LIST_END:
            list_ends(r, kc_cstr(event.resource_version));
            return kc__reflector_close(r, KC__REFLECTOR_WATCH);
        }
    if (!r->budget)
        return KC__REFLECTOR_NOW;
    return got == KC__STREAM_WAIT ? kc__client_stream_wake_at(r->stream)
                                  : after_list_error(r, &err);
}

/* ---- streamed ---- */

/* A server that rejects streaming, or a connection that loses the final bookmark, will do so
 * again. (A server that could not be reached may stream when it is reachable.) */
static bool is_refusal(const kc_error *err)
{
    return err->reason == KC_TIMEOUT || err->reason == KC_BAD_REQUEST ||
           err->reason == KC_INVALID || err->reason == KC_METHOD_NOT_ALLOWED;
}

static int64_t fall_back_to_list(kc__reflector *r)
{
    r->plain = is_refusal(&r->stream_failure);
    kc_log_debug(r->opts.log, "streamed list failed; falling back to a plain list",
                 kc_kv("resource", r->opts.kind->plural), kc_kv("err", &r->stream_failure));
    return kc__reflector_close(r, KC__REFLECTOR_PLAIN);
}

int64_t kc__reflector_begin_stream(kc__reflector *r)
{
    kc_scoped(kc_buf) floor = {0};
    if (kc_clock_now(r->opts.clock) >= r->stream_deadline)
        return fall_back_to_list(r);
    if (!r->last_unavailable)
        write_floor(r, &floor);
    kc__reflector_open(r, kc_buf_cstr(&floor), true);
    return kc__reflector_go(r, KC__REFLECTOR_STREAMING);
}

/* Decides by r->stream_failure: another stream, or a plain list. */
static int64_t after_stream_error(kc__reflector *r)
{
    const kc_error *err = &r->stream_failure;
    const bool in_time = kc_clock_now(r->opts.clock) < r->stream_deadline;
    if (kc__reflector_is_retriable(err)) {
        kc__reflector_failed(r, "streamed list failed", err);
        return in_time ? kc__reflector_close_and_back_off(r, KC__REFLECTOR_STREAM)
                       : fall_back_to_list(r);
    }
    const bool unavailable =
        kc__reflector_is_expired(err) || kc__reflector_is_too_large_version(err);
    if (!unavailable || r->last_unavailable || !in_time)
        return fall_back_to_list(r);
    r->last_unavailable = true;
    return kc__reflector_close(r, KC__REFLECTOR_STREAM);
}

/* True if the event completed the list. */
static bool take_stream_event(kc__reflector *r, kc__client_stream_event *event)
{
    kc_auto(kc_object) *object = event->object;
    if (event->type == KC__STREAM_OPENED) {
        r->watch_open = true;
        list_begins(r);
        return false;
    }
    if (event->watch == KC_WATCH_BOOKMARK) {
        kc__reflector_note_shared(r, event->shared);
        if (event->initial_end)
            list_ends(r, kc_object_resource_version(object));
        return event->initial_end;
    }
    if (!kc__reflector_is_ours(r, object))
        return false;
    if (event->watch == KC_WATCH_DELETED)
        kc__reflector_push(r, KC__FIFO_DELETED, kc_take(object), event->shared, 0);
    else
        list_object(r, kc_take(object), event->shared);
    return false;
}

int64_t kc__reflector_read_stream(kc__reflector *r)
{
    kc_error *err = &r->stream_failure;
    kc__client_stream_event event = {0};
    int got = KC__STREAM_EVENT;
    kc_error_done(err);
    while (r->budget && (got = kc__client_stream_next(r->stream, &event, err)) == KC__STREAM_EVENT)
        if (take_stream_event(r, &event))
            return kc__reflector_follow_stream(r);
    if (!r->budget)
        return KC__REFLECTOR_NOW;
    if (got != KC__STREAM_WAIT)
        return after_stream_error(r);
    /* A server that has not responded at all may stream when it does. */
    if (!r->watch_open)
        return kc__client_stream_wake_at(r->stream);
    if (kc_clock_now(r->opts.clock) < r->stream_deadline)
        return r->stream_deadline;
    kc_error_set(err, KC_TIMEOUT, "streamed list timed out");
    return after_stream_error(r);
}
