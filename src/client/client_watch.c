/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client_watch.c: watches: one long answer, read event by event by the thread that wants them.
 *
 * Nothing runs in between: who does not ask for the next event stops the sender, by the transport's
 * back-pressure. A watch is one thread's; others end it by its token.
 */
#include "client/client_internal.h"
#include "client/list_cutter.h"
#include "client/watch_frames.h"

enum { CHUNK = 32 << 10 };

static const kc_str INITIAL_END = KC_STR_INIT("k8s.io/initial-events-end");

struct kc_watch {
    kc_client *client;
    const kc_kind *kind; /* Of objects that do not say. */
    kc_http_response *response;
    kc_cancel *stop;  /* Fires with the client's token, */
    kc_cancel *other; /* and with this one. */
    kc_cancel_hook hook;
    kc__frames frames;
};

/* ---- opening ---- */

static void on_other(kc_cancel_hook *hook)
{
    kc_cancel_fire(kc_container_of(hook, kc_watch, hook)->stop);
}

static kc_watch *watch_new(kc_client *client, const kc_kind *kind, const kc_watch_opts *opts)
{
    kc_watch *watch = kc_new(kc_watch);
    watch->client = kc_client_ref(client);
    watch->kind = opts->metadata_only ? &kc__kind_metadata : kind;
    watch->stop = kc_cancel_new(client->bind.cancel);
    watch->other = kc_cancel_ref(opts->cancel);
    watch->hook.fire = on_other;
    if (!kc_cancel_hang(watch->other, &watch->hook))
        kc_cancel_fire(watch->stop);
    return watch;
}

static void fill_params(kc__ask *ask, const kc_watch_opts *opts)
{
    const bool initial = opts->initial_events;
    kc__ask_param(ask, "watch", "true");
    kc__ask_param(ask, "labelSelector", opts->labels);
    kc__ask_param(ask, "fieldSelector", opts->fields);
    kc__ask_param(ask, "resourceVersion", opts->resource_version);
    if (opts->bookmarks || initial)
        kc__ask_param(ask, "allowWatchBookmarks", "true");
    if (initial) {
        kc__ask_param(ask, "sendInitialEvents", "true");
        kc__ask_param(ask, "resourceVersionMatch", "NotOlderThan");
    }
    if (opts->timeout > 0)
        kc__ask_param_i64(ask, "timeoutSeconds", (opts->timeout + KC_SECOND - 1) / KC_SECOND);
}

kc_watch *kc_client_watch(kc_client *client, const kc_kind *kind, const kc_watch_opts *opts,
                          kc_error *err)
{
    static const kc_watch_opts defaults;
    opts = opts ? opts : &defaults;
    kc_auto(kc_watch) *watch = watch_new(client, kind, opts);
    kc_scoped(kc__ask) ask = {
        .accept = kc__accept(opts->metadata_only, false), .watches = true, .cancel = watch->stop};
    kc__ask_for(&ask, &(kc__place){.kind = kind, .ns = kc__list_namespace(client, kind, opts->ns)});
    fill_params(&ask, opts);
    watch->response = kc__send(client, &ask, err);
    return watch->response ? kc_take(watch) : NULL;
}

kc_watch *kc_watch_close(kc_watch *watch)
{
    if (!watch)
        return NULL;
    kc_cancel_unhang(watch->other, &watch->hook);
    kc_http_close(watch->response);
    kc_cancel_unref(watch->other);
    kc_cancel_unref(watch->stop);
    kc__frames_done(&watch->frames);
    kc_client_unref(watch->client);
    free(watch);
    return NULL;
}

/* ---- events ---- */

static const struct {
    kc_str name;
    kc_event_type type;
} event_types[] = {
    {KC_STR_INIT("ADDED"), KC_EVENT_ADDED},
    {KC_STR_INIT("MODIFIED"), KC_EVENT_MODIFIED},
    {KC_STR_INIT("DELETED"), KC_EVENT_DELETED},
    {KC_STR_INIT("BOOKMARK"), KC_EVENT_BOOKMARK},
};

/* The server cannot go on: what it says is an error of ours. */
static int failed(const kc__frame *frame, kc_error *err)
{
    kc_auto(kc_object) *status = kc_object_parse(frame->object, NULL, err);
    return status ? kc__error_of_status(status, 500, err)
                  : kc__bad_answer(err, "an event of the watch");
}

static int give(const kc_watch *watch, const kc__frame *frame, kc_event_type type,
                kc_watch_event *ret, kc_error *err)
{
    kc_object *object = kc__object_of_kind(frame->object, watch->kind, err);
    if (!object)
        return kc__bad_answer(err, "an event of the watch");
    *ret = (kc_watch_event){.type = type,
                            .object = object,
                            .initial_end =
                                type == KC_EVENT_BOOKMARK &&
                                kc_object_annotation_is(object, INITIAL_END, KC_STR("true"))};
    return 1;
}

static int take_frame(const kc_watch *watch, const kc__frame *frame, kc_watch_event *ret,
                      kc_error *err)
{
    for (size_t i = 0; i < KC_COUNT(event_types); i++)
        if (kc_str_eq(frame->type, event_types[i].name))
            return give(watch, frame, event_types[i].type, ret, err);
    if (kc_str_is(frame->type, "ERROR"))
        return failed(frame, err);
    return kc_error_set(err, KC_INTERNAL, "the server sent an event of an unknown type: %.*s",
                        KC_ARG(kc_str_sub(frame->type, 0, 80)));
}

/* 1: something came; 0: the end. */
static int read_some(kc_watch *watch, kc_error *err)
{
    char chunk[CHUNK];
    const ssize_t n = kc_http_read(watch->response, chunk, sizeof(chunk), err);
    if (n > 0) {
        kc__frames_feed(&watch->frames, kc_str_of(chunk, (size_t)n));
        return 1;
    }
    if (n == 0 && kc__frames_pending(&watch->frames))
        return kc_error_set(err, KC_SERVICE_UNAVAILABLE,
                            "the watch ended in the middle of an event");
    return (int)n;
}

int kc_watch_next(kc_watch *watch, int64_t deadline, kc_watch_event *ret, kc_error *err)
{
    int r = kc_cancel_check(watch->stop, err);
    if (r < 0)
        return r;
    watch->response->read_deadline = deadline;
    do {
        kc__frame frame;
        r = kc__frames_next(&watch->frames, &frame, err);
        if (r != 0)
            return r < 0 ? r : take_frame(watch, &frame, ret, err);
    } while ((r = read_some(watch, err)) > 0);
    return r;
}
