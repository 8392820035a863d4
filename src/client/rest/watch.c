/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch.c: watches: one long response, read event by event on the caller's thread.
 *
 * No other thread is involved: a caller that does not read the next event stops the server by the
 * transport's back-pressure. A watch belongs to one thread; other threads end it by its
 * cancellation token.
 */
#include "client/rest/client_internal.h"
#include "client/stream/list_splitter.h"
#include "client/stream/watch_frames.h"

enum { CHUNK = 32 << 10 };

static const kc_str INITIAL_END = KC_STR_INIT("k8s.io/initial-events-end");

struct kc_watch {
    kc_client *client;
    const kc_kind *kind; /* Applies to objects that do not state their kind. */
    kc_http_response *response;
    kc_cancel *stop;  /* Fires with the client's token */
    kc_cancel *other; /* and with this one. */
    kc_cancel_hook hook;
    kc__stream_frames frames;
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
    watch->kind = opts->metadata_only ? &kc__client_kind_partial_metadata : kind;
    watch->stop = kc_cancel_new(client->bind.cancel);
    watch->other = kc_cancel_ref(opts->cancel);
    watch->hook.fire = on_other;
    if (!kc_cancel_add_hook(watch->other, &watch->hook))
        kc_cancel_fire(watch->stop);
    return watch;
}

void kc__client_watch_params(kc__client_request *request, const kc_watch_opts *opts)
{
    const bool initial = opts->initial_events;
    kc__client_request_param(request, "watch", "true");
    kc__client_request_param(request, "labelSelector", opts->labels);
    kc__client_request_param(request, "fieldSelector", opts->fields);
    kc__client_request_param(request, "resourceVersion", opts->resource_version);
    if (opts->bookmarks || initial)
        kc__client_request_param(request, "allowWatchBookmarks", "true");
    if (initial) {
        kc__client_request_param(request, "sendInitialEvents", "true");
        kc__client_request_param(request, "resourceVersionMatch", "NotOlderThan");
    }
    if (opts->timeout > 0)
        kc__client_request_param_i64(request, "timeoutSeconds",
                                     (opts->timeout + KC_SECOND - 1) / KC_SECOND);
}

kc_watch *kc_client_watch(kc_client *client, const kc_kind *kind, const kc_watch_opts *opts,
                          kc_error *err)
{
    static const kc_watch_opts defaults;
    opts = opts ? opts : &defaults;
    kc_auto(kc_watch) *watch = watch_new(client, kind, opts);
    kc_scoped(kc__client_request) request = {.accept =
                                                 kc__client_accept(opts->metadata_only, false),
                                             .watches = true,
                                             .cancel = watch->stop};
    kc__client_request_set_target(
        &request, &(kc__client_location){.kind = kind,
                                         .ns = kc__client_list_namespace(client, kind, opts->ns)});
    kc__client_watch_params(&request, opts);
    watch->response = kc__client_send(client, &request, err);
    return watch->response ? kc_take(watch) : NULL;
}

kc_watch *kc_watch_close(kc_watch *watch)
{
    if (!watch)
        return NULL;
    kc_cancel_remove_hook(watch->other, &watch->hook);
    kc_http_response_close(watch->response);
    kc_cancel_unref(watch->other);
    kc_cancel_unref(watch->stop);
    kc__stream_frames_done(&watch->frames);
    kc_client_unref(watch->client);
    free(watch);
    return NULL;
}

/* ---- events ---- */

static const struct {
    kc_str name;
    kc_watch_event_type type;
} event_types[] = {
    {KC_STR_INIT("ADDED"), KC_WATCH_ADDED},
    {KC_STR_INIT("MODIFIED"), KC_WATCH_MODIFIED},
    {KC_STR_INIT("DELETED"), KC_WATCH_DELETED},
    {KC_STR_INIT("BOOKMARK"), KC_WATCH_BOOKMARK},
};

/* An ERROR event ends the watch: converts its Status to an error. */
static int client_watch_failed(const kc__stream_frame *frame, kc_error *err)
{
    kc_auto(kc_object) *status = kc_object_parse(frame->object, NULL, err);
    return status ? kc__client_error_from_status(status, 500, err)
                  : kc__client_bad_response(err, "watch event");
}

bool kc__client_is_initial_end(kc_watch_event_type type, const kc_object *object)
{
    return type == KC_WATCH_BOOKMARK &&
           kc_object_annotation_is(object, INITIAL_END, KC_STR("true"));
}

static int client_watch_return(const kc__stream_frame *frame, const kc_kind *kind,
                               kc_watch_event_type type, kc_watch_event *ret, kc_error *err)
{
    kc_object *object = kc__stream_object_of_kind(frame->object, kind, err);
    if (!object)
        return kc__client_bad_response(err, "watch event");
    *ret = (kc_watch_event){
        .type = type, .object = object, .initial_end = kc__client_is_initial_end(type, object)};
    return 1;
}

int kc__client_watch_event_of(const kc__stream_frame *frame, const kc_kind *kind,
                              kc_watch_event *ret, kc_error *err)
{
    for (size_t i = 0; i < KC_COUNT(event_types); i++)
        if (kc_str_eq(frame->type, event_types[i].name))
            return client_watch_return(frame, kind, event_types[i].type, ret, err);
    if (kc_str_is(frame->type, "ERROR"))
        return client_watch_failed(frame, err);
    return kc_error_set(err, KC_INTERNAL, "unknown watch event type: %.*s",
                        KC_ARG(kc_str_sub(frame->type, 0, 80)));
}

/* Returns 1 if data arrived, 0 at the end. */
static int client_watch_read_some(kc_watch *watch, kc_error *err)
{
    char chunk[CHUNK];
    const ssize_t n = kc_http_response_read(watch->response, chunk, sizeof(chunk), err);
    if (n > 0) {
        kc__stream_frames_feed(&watch->frames, kc_str_of(chunk, (size_t)n));
        return 1;
    }
    if (n == 0 && kc__stream_frames_pending(&watch->frames))
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
        kc__stream_frame frame;
        r = kc__stream_frames_next(&watch->frames, &frame, err);
        if (r != 0)
            return r < 0 ? r : kc__client_watch_event_of(&frame, watch->kind, ret, err);
    } while ((r = client_watch_read_some(watch, err)) > 0);
    return r;
}
