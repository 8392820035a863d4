/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reflector_list.c: a list, plain or streamed, straight into the fifo.
 *
 * Each object is pushed as soon as it was read, so that memory never holds a list beside the store.
 * The price: a list that breaks off has been shown in part. That is harmless: what was shown is
 * true, and newer than what it replaced; nothing is taken for deleted before KC__LIST_ENDS; and the
 * next list is asked to be not older than the newest object shown (`newest`), so that nothing goes
 * back in time.
 *
 * A streamed list is a watch that begins with what there is, ends that part with a bookmark and
 * goes on as a watch: one request and no page tokens. Servers that do not know it, or ways on which
 * the bookmark gets lost, are asked for a plain list.
 */
#include "runtime/reflector_internal.h"

#include <inttypes.h>

static bool begin(kc__reflector *r)
{
    kc__deltas_clear(&r->pending);
    return kc__reflector_collect(r, KC__LIST_BEGINS, NULL, 0);
}

static bool listed(kc__reflector *r, kc_object *object)
{
    r->newest = KC_MAX(r->newest, kc_object_revision(object));
    return kc__reflector_collect(r, KC__LISTED, object, 0);
}

static uint64_t revision_of(kc_str resource_version)
{
    uint64_t revision;
    return kc_str_to_u64(resource_version, &revision) ? revision : 0;
}

static bool end(kc__reflector *r, kc_str resource_version)
{
    kc__reflector_reached(r, resource_version);
    r->last_unavailable = false;
    r->newest = 0;
    kc__reflector_heard(r);
    if (r->n_lists++)
        kc_counter_inc(r->opts.metrics.relists);
    return kc__reflector_collect(r, KC__LIST_ENDS, NULL, revision_of(resource_version)) &&
           kc__reflector_flush(r);
}

/* What a list must not be older than; empty when nothing is asked. */
static void write_floor(const kc__reflector *r, kc_buf *out)
{
    const uint64_t shown = KC_MAX(r->newest, r->n_lists ? 0 : r->opts.not_older);
    if (shown > revision_of(kc_buf_str(&r->last)))
        kc_buf_printf(out, "%" PRIu64, shown);
    else
        kc_buf_append(out, kc_buf_str(&r->last));
}

/* ---- plain ---- */

typedef struct listing {
    kc__reflector *r;
    size_t n;
} listing;

static int each_listed(kc_object *object, void *user, kc_error *err)
{
    listing *l = user;
    l->n++;
    return listed(l->r, object) ? 0 : kc_error_set(err, KC_TIMEOUT, "cancelled");
}

/* "" is the newest state, "0" any. Pages only for these: in a list of another version the server
 * would take them to mean exactly that one. */
static int list_at(kc__reflector *r, const char *version, bool pages, size_t *ret_n, kc_error *err)
{
    kc_objects list = {0};
    listing l = {.r = r};
    if (!begin(r))
        return kc_error_set(err, KC_TIMEOUT, "cancelled");
    int failed = kc_client_list_each(r->client, r->opts.kind,
                                     &(kc_list_opts){.ns = r->opts.scope->ns,
                                                     .labels = r->opts.scope->labels_text,
                                                     .fields = r->opts.scope->fields_text,
                                                     .resource_version = *version ? version : NULL,
                                                     .page = pages ? 0 : -1,
                                                     .metadata_only = r->opts.metadata_only,
                                                     .live = true},
                                     each_listed, &l, &list, err);
    *ret_n = l.n;
    if (failed < 0) {
        kc__reflector_flush(r);
        return failed;
    }
    bool open = end(r, kc_cstr(list.resource_version));
    kc_objects_done(&list);
    return open ? 0 : kc_error_set(err, KC_TIMEOUT, "cancelled");
}

/* A page token that expired on the way: then all at once. */
static int list_in_pages(kc__reflector *r, const char *version, kc_error *err)
{
    const bool pages = !*version || strcmp(version, "0") == 0;
    size_t n = 0;
    int failed = list_at(r, version, pages, &n, err);
    if (failed < 0 && pages && n && kc__is_expired(err)) {
        kc_error_done(err);
        failed = list_at(r, version, false, &n, err);
    }
    return failed;
}

static int plain_list(kc__reflector *r, kc_error *err)
{
    kc_scoped(kc_buf) floor = {0};
    if (!r->last_unavailable)
        write_floor(r, &floor);
    if (!r->last_unavailable && !floor.n)
        kc_buf_puts(&floor, "0");
    int failed = list_in_pages(r, kc_buf_cstr(&floor), err);
    if (failed < 0 && (kc__is_expired(err) || kc__is_too_large_version(err))) {
        kc_error_done(err);
        r->last_unavailable = true;
        failed = list_in_pages(r, "", err);
    }
    return failed;
}

/* ---- streamed ---- */

typedef enum streamed {
    STREAM_ENDED,  /* The list is whole; the watch goes on. */
    STREAM_AGAIN,  /* Once more. */
    STREAM_FAILED, /* A plain list instead. */
} streamed;

/* Takes one event. True when it was the end of the list. */
static bool stream_event(kc__reflector *r, kc_watch_event *event)
{
    kc_auto(kc_object) *object = event->object;
    if (event->type == KC_EVENT_BOOKMARK)
        return event->initial_end && (end(r, kc_object_resource_version(object)), true);
    if (!kc__reflector_is_ours(r, object))
        return false;
    if (event->type == KC_EVENT_DELETED)
        kc__reflector_collect(r, KC__DELETED, kc_take(object), 0);
    else
        listed(r, kc_take(object));
    return false;
}

static streamed after_stream_error(kc__reflector *r, const kc_error *err)
{
    if (kc_cancel_fired(r->cancel))
        return STREAM_FAILED;
    if (kc__is_retriable(err)) {
        kc__reflector_failed(r, "stream a list", err);
        return kc__reflector_back_off(r) ? STREAM_AGAIN : STREAM_FAILED;
    }
    if (!kc__is_expired(err) && !kc__is_too_large_version(err))
        return STREAM_FAILED;
    if (r->last_unavailable)
        return STREAM_FAILED;
    r->last_unavailable = true;
    return STREAM_AGAIN;
}

static streamed read_stream(kc__reflector *r, kc_watch *watch, int64_t deadline, kc_error *err)
{
    kc_watch_event event = {0};
    int got;
    if (!begin(r))
        return STREAM_FAILED;
    while ((got = kc_watch_next(watch, deadline, &event, err)) > 0)
        if (stream_event(r, &event))
            return STREAM_ENDED;
    kc__reflector_flush(r);
    return got == 0 ? STREAM_FAILED : after_stream_error(r, err);
}

static streamed stream_once(kc__reflector *r, int64_t deadline, kc_watch **ret, kc_error *err)
{
    kc_scoped(kc_buf) floor = {0};
    if (!r->last_unavailable)
        write_floor(r, &floor);
    kc_watch *watch = kc__reflector_open(r, kc_buf_cstr(&floor), true, err);
    if (!watch)
        return after_stream_error(r, err);
    streamed how = read_stream(r, watch, deadline, err);
    if (how == STREAM_ENDED)
        *ret = kc_take(watch);
    kc_watch_close(watch);
    return how;
}

/* A server that refuses it, or a way on which the end gets lost, will do so again. (One that could
 * not be reached may stream when it can.) */
static bool never_again(const kc_error *err)
{
    return err->reason == KC_TIMEOUT || err->reason == KC_BAD_REQUEST ||
           err->reason == KC_INVALID || err->reason == KC_METHOD_NOT_ALLOWED;
}

/* NULL when there must be a plain list instead, or it was cancelled. */
static kc_watch *streamed_list(kc__reflector *r)
{
    const int64_t deadline = kc_clock_deadline(r->opts.clock, r->opts.list_deadline);
    kc_scoped(kc_error) err = {0};
    kc_watch *watch = NULL;
    streamed how = STREAM_AGAIN;
    while (how == STREAM_AGAIN && kc_clock_now(r->opts.clock) < deadline) {
        kc_error_done(&err);
        how = stream_once(r, deadline, &watch, &err);
    }
    if (how != STREAM_ENDED && !kc_cancel_fired(r->cancel)) {
        r->plain = never_again(&err);
        kc_log_debug(r->opts.log, "no streamed list, a plain one instead",
                     kc_kv("resource", r->opts.kind->plural), kc_kv("error", &err));
    }
    return watch;
}

int kc__reflector_list(kc__reflector *r, kc_watch **ret_watch, kc_error *err)
{
    if (!r->plain) {
        kc_watch *watch = streamed_list(r);
        if (watch) {
            *ret_watch = watch;
            return 0;
        }
        if (kc_cancel_check(r->cancel, err) < 0)
            return -KC_TIMEOUT;
    }
    return plain_list(r, err);
}
