/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client_stream.c: the event-driven list and watch of client_stream.h.
 *
 *     PREPARE ─▶ SEND (at send_at) ─▶ READ ─┬─▶ more pages: PREPARE
 *                  ▲                        ├─▶ failed, to be retried: SEND, later
 *                  └────────────────────────┘─▶ END
 *
 * Everything here runs on the owner's thread, in kc__client_stream_next. Objects from a transport
 * in the same process become events without parsing. Bytes are split: those of a list by
 * list_splitter.h, those of a watch by watch_frames.h. At most 64 KiB are split at a time, so that
 * the text of a list and its objects are never in memory together.
 */
#include "client/rest/client_stream_internal.h"

enum { CUT_BYTES = 64 << 10 };

/* In addition to the results of kc__client_stream_next: no event yet, continue. */
enum { STREAM_GO_ON = 3 };

/* ---- construction ---- */

static const char *stream_text(kc__client_stream *s, const char *text)
{
    return text ? kc_arena_strndup(&s->arena, text, strlen(text)) : NULL;
}

static kc__client_stream *stream_new(kc_client *client, const kc_kind *kind, bool metadata_only,
                                     kc__client_stream_wake *wake, void *user)
{
    kc__client_stream *s = kc_new(kc__client_stream);
    s->client = kc_client_ref(client);
    s->kind = kind;
    s->object_kind = metadata_only ? &kc__client_kind_partial_metadata : kind;
    s->open_deadline = KC_FOREVER;
    kc__client_stream_queue_init(&s->queue, wake, user);
    s->queue.attempt = &s->attempt;
    return s;
}

kc__client_stream *kc__client_stream_list(kc_client *client, const kc_kind *kind,
                                          const kc_list_opts *opts, kc__client_stream_wake *wake,
                                          void *user)
{
    kc__client_stream *s = stream_new(client, kind, opts->metadata_only, wake, user);
    s->is_list = true;
    s->list = *opts;
    s->list.ns = stream_text(s, opts->ns);
    s->list.labels = stream_text(s, opts->labels);
    s->list.fields = stream_text(s, opts->fields);
    s->list.resource_version = stream_text(s, opts->resource_version);
    s->list.resource_version_match = stream_text(s, opts->resource_version_match);
    return s;
}

kc__client_stream *kc__client_stream_watch(kc_client *client, const kc_kind *kind,
                                           const kc_watch_opts *opts, int64_t deadline,
                                           kc__client_stream_wake *wake, void *user)
{
    kc__client_stream *s = stream_new(client, kind, opts->metadata_only, wake, user);
    s->watch = *opts;
    s->watch.ns = stream_text(s, opts->ns);
    s->watch.labels = stream_text(s, opts->labels);
    s->watch.fields = stream_text(s, opts->fields);
    s->watch.resource_version = stream_text(s, opts->resource_version);
    s->open_deadline = deadline;
    return s;
}

static void drop_listed(kc__client_stream *s)
{
    for (; s->at_listed < s->listed.n; s->at_listed++)
        kc_object_unref(s->listed.items[s->at_listed]);
    kc_vec_clear(&s->listed);
    s->at_listed = 0;
}

/* Releases `taken`, except for the objects that were already passed on. */
static void drop_taken(kc__client_stream *s)
{
    for (size_t i = 0; i < s->at_object; i++)
        s->taken.objects.items[i].object = NULL;
    kc__client_stream_arrivals_clear(&s->taken);
    s->at_object = s->at_byte = 0;
}

static void drop_parts(kc__client_stream *s)
{
    drop_listed(s);
    drop_taken(s);
    kc__stream_frames_done(&s->frames);
    kc__stream_splitter_done(&s->cutter);
    s->frames = (kc__stream_frames){0};
    s->cutter = (kc__stream_splitter){0};
    s->list_end = kc_object_unref(s->list_end);
    kc_buf_done(&s->error_body);
}

kc__client_stream *kc__client_stream_free(kc__client_stream *s)
{
    if (!s)
        return NULL;
    kc_stream_release(s->stream);
    drop_parts(s);
    kc_vec_done(&s->listed);
    kc_object_list_done(&s->about);
    kc__client_request_done(&s->request);
    kc__client_stream_queue_done(&s->queue);
    kc_arena_done(&s->arena);
    kc_client_unref(s->client);
    free(s);
    return NULL;
}

/* ---- sending ---- */

static int64_t page_of(const kc__client_stream *s)
{
    const int64_t page = s->list.page ? s->list.page : KC__LIST_PAGE;
    return page < 0 ? 0 : page;
}

static int stream_prepare(kc__client_stream *s, kc_error *err)
{
    const char *ns = s->is_list ? s->list.ns : s->watch.ns;
    kc__client_request_done(&s->request);
    s->request =
        (kc__client_request){.watches = !s->is_list,
                             .accept = kc__client_accept(
                                 s->object_kind == &kc__client_kind_partial_metadata, s->is_list)};
    kc__client_request_set_target(
        &s->request, &(kc__client_location){
                         .kind = s->kind, .ns = kc__client_list_namespace(s->client, s->kind, ns)});
    if (s->is_list)
        kc__client_list_params(&s->request, &s->list, page_of(s), s->about.continue_token);
    else
        kc__client_watch_params(&s->request, &s->watch);
    if (s->request.broken)
        return kc_error_move(err, &s->request.why);
    s->attempt = kc__client_attempt_of(s->client, &s->request);
    s->attempt.deadline = KC_MIN(s->attempt.deadline, s->open_deadline);
    s->phase = KC__CLIENT_STREAM_SEND;
    return kc__client_attempt_take_turn(&s->attempt, s->attempt.deadline, &s->send_at, err);
}

static int stream_send(kc__client_stream *s, kc_error *err)
{
    kc__client_core *core = s->client->core;
    kc_http_field fields[3];
    drop_parts(s);
    kc__client_stream_queue_reset(&s->queue);
    s->cutter.kind = s->object_kind;
    s->queue.began = kc_clock_now(core->clock);
    s->phase = KC__CLIENT_STREAM_READ;
    s->stream = kc_transport_start(
        core->transport,
        &(kc_http_request){.method = s->attempt.method,
                           .target = kc_buf_str(&s->request.target),
                           .fields = fields,
                           .n_fields = kc__client_attempt_fields(&s->attempt, fields),
                           .takes_objects = true,
                           .as = s->client->bind.act_as},
        &kc__client_stream_queue_callbacks, &s->queue, err);
    return s->stream ? 0 : kc_error_result(err);
}

/* An attempt failed: sets when to send again, or returns the error. */
static int stream_retry(kc__client_stream *s, kc_error *why, kc_error *err)
{
    int64_t at = 0;
    if (!kc__client_attempt_retry_at(&s->attempt, why, &at))
        return kc_error_move(err, why);
    s->phase = KC__CLIENT_STREAM_SEND;
    if (kc__client_attempt_take_turn(&s->attempt, s->attempt.deadline, &s->send_at, err) < 0)
        return kc_error_result(err);
    s->send_at = KC_MAX(s->send_at, at);
    return STREAM_GO_ON;
}

/* ---- reading ---- */

/* `each` of the splitter. */
static int keep_listed(kc_object *object, void *user, kc_error *err)
{
    kc__client_stream *s = user;
    (void)err;
    kc_vec_push(&s->listed, object);
    return 0;
}

/* Passes more of the received bytes to the splitter or the frames. Returns 1, or 0 if none are
 * left. */
static int cut_more(kc__client_stream *s, kc_error *err)
{
    const kc_str rest = kc_str_sub(kc_buf_str(&s->taken.bytes), s->at_byte, s->taken.bytes.n);
    const kc_str piece = kc_str_sub(rest, 0, KC_MIN(rest.n, (size_t)CUT_BYTES));
    if (!piece.n)
        return 0;
    s->at_byte += piece.n;
    if (s->taken.status >= 300) {
        if (s->error_body.n + piece.n <= KC__MAX_ERROR_BODY)
            kc_buf_append(&s->error_body, piece);
        return 1;
    }
    if (!s->is_list) {
        kc__stream_frames_feed(&s->frames, piece);
        return 1;
    }
    s->cutter.each = keep_listed;
    s->cutter.user = s;
    return kc__stream_splitter_feed(&s->cutter, piece, err) < 0 ? kc_error_result(err) : 1;
}

static int return_watch_event(kc_watch_event event, bool shared, kc__client_stream_event *ret)
{
    *ret = (kc__client_stream_event){.type = KC__STREAM_WATCHED,
                                     .watch = event.type,
                                     .initial_end = event.initial_end,
                                     .shared = shared,
                                     .object = event.object};
    return KC__STREAM_EVENT;
}

/* Returns an object of a transport in the same process as an event. */
static int return_object(kc__client_stream *s, kc__client_stream_event *ret, kc_error *err)
{
    static const kc_watch_event_type types[] = {[KC_STREAM_ADDED] = KC_WATCH_ADDED,
                                                [KC_STREAM_MODIFIED] = KC_WATCH_MODIFIED,
                                                [KC_STREAM_DELETED] = KC_WATCH_DELETED,
                                                [KC_STREAM_BOOKMARK] = KC_WATCH_BOOKMARK};
    const kc__client_stream_queued *queued = &s->taken.objects.items[s->at_object++];
    kc_auto(kc_object) *object = queued->object;
    switch (queued->item) {
    case KC_STREAM_ERROR: return kc__client_error_from_status(object, 500, err);
    case KC_STREAM_LIST_END:
        kc_object_unref(s->list_end);
        s->list_end = kc_take(object);
        return STREAM_GO_ON;
    case KC_STREAM_LISTED:
        *ret = (kc__client_stream_event){
            .type = KC__STREAM_LISTED, .shared = true, .object = kc_take(object)};
        return KC__STREAM_EVENT;
    case KC_STREAM_ADDED:
    case KC_STREAM_MODIFIED:
    case KC_STREAM_DELETED:
    case KC_STREAM_BOOKMARK: break;
    }
    const kc_watch_event_type type = types[queued->item];
    const bool initial_end = kc__client_is_initial_end(type, object);
    return return_watch_event(
        (kc_watch_event){.type = type, .object = kc_take(object), .initial_end = initial_end}, true,
        ret);
}

/* Returns an event or an error from the parsed input, or STREAM_GO_ON if there is none. */
static int return_parsed(kc__client_stream *s, kc__client_stream_event *ret, kc_error *err)
{
    if (s->at_object < s->taken.objects.n)
        return return_object(s, ret, err);
    if (s->at_listed < s->listed.n) {
        *ret = (kc__client_stream_event){.type = KC__STREAM_LISTED,
                                         .object = s->listed.items[s->at_listed++]};
        return KC__STREAM_EVENT;
    }
    kc_vec_clear(&s->listed);
    s->at_listed = 0;
    if (s->is_list || s->taken.status >= 300)
        return STREAM_GO_ON;
    kc__stream_frame frame;
    kc_watch_event event = {0};
    const int got = kc__stream_frames_next(&s->frames, &frame, err);
    if (got <= 0)
        return got < 0 ? got : STREAM_GO_ON;
    const int r = kc__client_watch_event_of(&frame, s->object_kind, &event, err);
    return r < 0 ? r : return_watch_event(event, false, ret);
}

/* ---- end of an attempt ---- */

/* A page is complete: requests the next one or ends the list. */
static int end_page(kc__client_stream *s, kc__client_stream_event *ret, kc_error *err)
{
    kc_auto(kc_object) *list =
        s->list_end ? kc_take(s->list_end) : kc__stream_splitter_end(&s->cutter, err);
    if (!list)
        return kc_error_result(err);
    kc__client_objects_describe(&s->about, list);
    if (s->about.continue_token) {
        s->phase = KC__CLIENT_STREAM_PREPARE;
        return STREAM_GO_ON;
    }
    *ret = (kc__client_stream_event){.type = KC__STREAM_LIST_END,
                                     .resource_version = s->about.resource_version};
    return KC__STREAM_EVENT;
}

static int end_refused(kc__client_stream *s, kc_error *err)
{
    kc_scoped(kc_error) why = {0};
    const kc_str retry_after = kc_buf_str(&s->queue.retry_after);
    if (s->taken.status == 401 && !s->was_unauthorized) {
        /* The transport fetches a newer credential before it sends again. */
        s->was_unauthorized = true;
        s->phase = KC__CLIENT_STREAM_SEND;
        return STREAM_GO_ON;
    }
    kc__client_attempt_refused(&s->attempt, s->taken.status, retry_after);
    kc__client_error_of_body(s->attempt.method, s->taken.status, kc_buf_str(&s->error_body),
                             retry_after, &why);
    return stream_retry(s, &why, err);
}

/* The transport has ended and all received data was passed on. */
static int end_try(kc__client_stream *s, kc__client_stream_event *ret, kc_error *err)
{
    kc_scoped(kc_error) why = {0};
    s->stream = kc_stream_release(s->stream);
    s->phase = KC__CLIENT_STREAM_END;
    if (s->taken.head && s->taken.status >= 300)
        return end_refused(s, err);
    if (s->taken.failure.reason != KC_OK)
        kc_error_move(&why, &s->taken.failure);
    if (why.reason != KC_OK && !s->taken.head) {
        kc__client_attempt_broke(&s->attempt, &why);
        return stream_retry(s, &why, err);
    }
    if (why.reason != KC_OK)
        return kc_error_move(err, &why);
    if (s->is_list)
        return end_page(s, ret, err);
    if (kc__stream_frames_pending(&s->frames))
        return kc_error_set(err, KC_SERVICE_UNAVAILABLE,
                            "the watch ended in the middle of an event");
    return KC__STREAM_DONE;
}

/* ---- events ---- */

/* Takes what the queue received. Returns false if it is empty. */
static bool take_arrivals(kc__client_stream *s)
{
    const bool had_head = s->taken.head;
    drop_taken(s);
    const bool resume = kc__client_stream_queue_take(&s->queue, &s->taken);
    if (resume)
        kc_stream_resume(s->stream);
    return s->taken.bytes.n || s->taken.objects.n || s->taken.head != had_head || s->taken.ended;
}

/* Nothing arrived: checks the deadline. */
static int stream_wait(const kc__client_stream *s, kc_error *err)
{
    const bool bound = s->is_list || !s->opened;
    if (!bound || kc_clock_now(s->client->core->clock) < s->attempt.deadline)
        return KC__STREAM_WAIT;
    return kc_error_set(err, KC_TIMEOUT, "%s %.*s: deadline exceeded", s->attempt.method,
                        KC_ARG(kc_buf_str(&s->request.target)));
}

static bool is_accepted(const kc__client_stream *s)
{
    return s->taken.head && s->taken.status < 300;
}

static int stream_read(kc__client_stream *s, kc__client_stream_event *ret, kc_error *err)
{
    const int parsed = return_parsed(s, ret, err);
    if (parsed != STREAM_GO_ON || s->at_object < s->taken.objects.n)
        return parsed;
    const int cut = cut_more(s, err);
    if (cut != 0)
        return cut < 0 ? cut : STREAM_GO_ON;
    if (s->taken.ended)
        return end_try(s, ret, err);
    if (!take_arrivals(s))
        return stream_wait(s, err);
    if (!is_accepted(s) || s->opened)
        return STREAM_GO_ON;
    s->opened = true;
    *ret = (kc__client_stream_event){.type = KC__STREAM_OPENED};
    return KC__STREAM_EVENT;
}

static int stream_send_in_time(kc__client_stream *s, kc_error *err)
{
    kc_scoped(kc_error) why = {0};
    const int64_t now = kc_clock_now(s->client->core->clock);
    if (now < s->send_at)
        return KC__STREAM_WAIT;
    if (now >= s->attempt.deadline)
        return kc_error_set(err, KC_TIMEOUT, "request deadline exceeded");
    if (stream_send(s, &why) == 0)
        return STREAM_GO_ON;
    kc__client_attempt_note(&s->attempt, NULL, 0);
    kc__client_attempt_broke(&s->attempt, &why);
    return stream_retry(s, &why, err);
}

static int stream_step(kc__client_stream *s, kc__client_stream_event *ret, kc_error *err)
{
    switch (s->phase) {
    case KC__CLIENT_STREAM_PREPARE:
        return stream_prepare(s, err) < 0 ? kc_error_result(err) : STREAM_GO_ON;
    case KC__CLIENT_STREAM_SEND: return stream_send_in_time(s, err);
    case KC__CLIENT_STREAM_READ: return stream_read(s, ret, err);
    case KC__CLIENT_STREAM_END: break;
    }
    return KC__STREAM_DONE;
}

int kc__client_stream_next(kc__client_stream *s, kc__client_stream_event *ret, kc_error *err)
{
    int r;
    do
        r = stream_step(s, ret, err);
    while (r == STREAM_GO_ON);
    return r;
}

int64_t kc__client_stream_wake_at(const kc__client_stream *s)
{
    if (s->phase == KC__CLIENT_STREAM_SEND)
        return s->send_at;
    return s->is_list || !s->opened ? s->attempt.deadline : KC_FOREVER;
}

void kc__client_stream_cancel(kc__client_stream *s)
{
    if (s->stream)
        kc_stream_cancel(s->stream);
}

bool kc__client_stream_is_over(kc__client_stream *s)
{
    return !s->stream || kc__client_stream_queue_ended(&s->queue);
}
