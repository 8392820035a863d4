/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embed_transport.c: a transport to an embedded server: a carrier of exchanges
 * (http/server/exchange.h) whose other end is a stream (kc/transport.h).
 *
 *     any thread                           loop's thread
 *     start ──────────────────start──────▶ kc__rest_api_begin(&s->x), kc__rest_api_handle(&s->x)
 *                                          …
 *                                          answer(): on_head; then fills from the source:
 *                                          on_body, or on_object for each item, until paused
 *     resume ─────────────────pump───────▶ continues filling
 *     cancel ─────────────────leave──────▶ ends the source, on_end
 *
 * If the request accepts objects and the server responds with items (kc__exchange_item_source), the
 * client gets references to the objects of the server's store: nothing is serialized, parsed or
 * copied.
 *
 * The blocking call is blocking.h on top of the same streams.
 *
 * A stream is reference-counted: by its owner until it is released, by the loop until the server
 * has responded and its source is finished, and by each task in flight. Tasks are posted only with
 * the mutex held and `finished` not set: the exchange is then still in the door's list, which keeps
 * the loop alive.
 *
 * on_end is called as soon as the stream is cancelled, even if the server has not responded yet;
 * the late response is dropped.
 *
 * Callers state their identity, which is trusted like that of a peer with a client certificate.
 */
#include "embed/embed_internal.h"

#include "client/transport/blocking.h"
#include "kc/ascii.h"

enum { FILL_BYTES = 64 << 10, MAX_BODY = 3 << 20 };

/* ---- identities ---- */

typedef struct identity {
    kc_ref refs;
    kc__conn_peer peer;
    kc__conn_client_cert cert;
    kc_arena arena;
} identity;

static identity *identity_new(const kc_embedded_server_user *user)
{
    static const char *const masters[] = {KC__USER_GROUP_MASTERS, NULL}, *const none[] = {NULL};
    const kc_embedded_server_user admin = {.name = KC__USER_LOCALHOST, .groups = masters};
    identity *who = kc_new(identity);
    user = user ? user : &admin;
    const char *const *groups = user->groups ? user->groups : none;
    size_t n = 0;
    while (groups[n])
        n++;
    kc_str *names = kc_arena_calloc(&who->arena, n, sizeof(*names));
    for (size_t i = 0; i < n; i++)
        names[i] = kc_arena_str(&who->arena, kc_cstr(groups[i]));
    kc_ref_init(&who->refs);
    who->cert =
        (kc__conn_client_cert){.common_name = kc_arena_str(&who->arena, kc_cstr(user->name)),
                               .organizations = names,
                               .n_organizations = n};
    who->peer = (kc__conn_peer){.loopback = true, .cert = &who->cert};
    return who;
}

static identity *identity_ref(identity *who)
{
    kc_ref_add(&who->refs);
    return who;
}

static void identity_unref(identity *who)
{
    if (!kc_ref_drop(&who->refs))
        return;
    kc_arena_done(&who->arena);
    free(who);
}

/* ---- streams ---- */

typedef struct embed_transport {
    kc_transport base;
    kc__embed_door *door;
    identity *who;
} embed_transport;

typedef struct embed_stream {
    kc_stream stream; /* First member. */
    kc__exchange x;
    kc_ref refs;
    kc__embed_door *door;
    kc__rest_api *api;
    identity *who;
    kc_arena arena; /* Used before the start, then by the loop. */
    kc__http_headers headers;
    kc__loop_task start, pump, leave;
    kc__embed_guest guest; /* While it is inside. */
    const kc_stream_callbacks *callbacks;
    void *user;

    /* Loop's thread only. */
    kc_http_response head;
    const kc__http_body_source *source; /* At most one of these two. */
    const kc__exchange_item_source *items;
    void *source_user;
    kc__exchange_item_sink sink;
    kc_buf piece;
    bool ending;       /* The client gets only the part of the body that is available at once. */
    bool end_reported; /* on_end was called. */

    kc_mutex mutex; /* Guards the fields below. Only locks for posting are taken under it. */
    bool paused;
    bool cancelled;
    bool finished; /* The loop has finished the stream: nothing may be posted any more. */
    bool pumping, leaving;
} embed_stream;

static embed_stream *embed_stream_of(kc_stream *stream)
{
    return kc_container_of(stream, embed_stream, stream);
}

static void embed_stream_unref(embed_stream *s)
{
    if (!kc_ref_drop(&s->refs))
        return;
    kc_buf_done(&s->piece);
    kc__http_headers_done(&s->headers);
    kc_mutex_done(&s->mutex);
    kc_arena_done(&s->arena);
    identity_unref(s->who);
    kc__embed_door_unref(s->door);
    free(s);
}

/* Call it with the mutex held and `finished` not set. */
static void embed_transport_post(embed_stream *s, kc__loop_task *task)
{
    kc_ref_add(&s->refs);
    kc__loop_post(s->x.loop, task);
}

static void post_pump(embed_stream *s)
{
    if (s->pumping || s->finished)
        return;
    s->pumping = true;
    embed_transport_post(s, &s->pump);
}

static void post_leave(embed_stream *s)
{
    if (s->leaving || s->finished)
        return;
    s->leaving = true;
    embed_transport_post(s, &s->leave);
}

/* ---- the loop's side ---- */

static bool is_cancelled(embed_stream *s)
{
    bool cancelled = false;
    kc_locked (&s->mutex)
        cancelled = s->cancelled;
    return cancelled;
}

/* Calls on_end, once. */
static void report_end(embed_stream *s, bool aborted)
{
    kc_scoped(kc_error) err = {0};
    if (s->end_reported)
        return;
    s->end_reported = true;
    if (is_cancelled(s))
        kc_error_set(&err, KC_TIMEOUT, "cancelled");
    else if (aborted)
        kc_error_set(&err, KC_SERVICE_UNAVAILABLE, "the server aborted the response");
    s->callbacks->on_end(&s->stream, err.reason == KC_OK ? NULL : &err, s->user);
}

/* Called when the server has finished the exchange. */
static void embed_transport_finish(embed_stream *s, bool aborted)
{
    kc_locked (&s->mutex)
        s->finished = true;
    report_end(s, aborted);
    kc__embed_door_leave(s->door, &s->guest);
    embed_stream_unref(s);
}

static bool has_source(const embed_stream *s)
{
    return s->source || s->items;
}

static void end_source(embed_stream *s)
{
    const kc__http_body_source *source = kc_take(s->source);
    const kc__exchange_item_source *items = kc_take(s->items);
    if (source)
        source->done(s->source_user);
    if (items)
        items->done(s->source_user);
}

static bool is_paused(embed_stream *s)
{
    bool paused = false;
    kc_locked (&s->mutex)
        paused = s->paused;
    return paused;
}

/* Set before the callback, so that a resume during the callback is not lost. */
static void set_paused(embed_stream *s, bool paused)
{
    kc_locked (&s->mutex)
        s->paused = paused;
}

static void deliver_bytes(embed_stream *s, kc_str bytes)
{
    if (!bytes.n || s->end_reported)
        return;
    set_paused(s, true);
    if (s->callbacks->on_body(&s->stream, bytes, s->user))
        set_paused(s, false);
}

static void take_item(kc__exchange_item_sink *sink, kc__exchange_item_type type,
                      const struct kc_object *object)
{
    static const kc_stream_item items[] = {
        [KC__EXCHANGE_ITEM_ADDED] = KC_STREAM_ADDED,
        [KC__EXCHANGE_ITEM_MODIFIED] = KC_STREAM_MODIFIED,
        [KC__EXCHANGE_ITEM_DELETED] = KC_STREAM_DELETED,
        [KC__EXCHANGE_ITEM_BOOKMARK] = KC_STREAM_BOOKMARK,
        [KC__EXCHANGE_ITEM_ERROR] = KC_STREAM_ERROR,
        [KC__EXCHANGE_ITEM_LISTED] = KC_STREAM_LISTED,
        [KC__EXCHANGE_ITEM_LIST_END] = KC_STREAM_LIST_END,
    };
    embed_stream *s = kc_container_of(sink, embed_stream, sink);
    if (s->end_reported)
        return;
    set_paused(s, true);
    if (s->callbacks->on_object(&s->stream, items[type], object, s->user))
        set_paused(s, false);
}

static kc__http_fill fill_piece(embed_stream *s)
{
    if (s->items)
        return s->items->fill(&s->sink, FILL_BYTES, s->source_user);
    const kc__http_fill more = s->source->fill(&s->piece, FILL_BYTES, s->source_user);
    deliver_bytes(s, kc_buf_str(&s->piece));
    kc_buf_clear(&s->piece);
    return more;
}

static void fill_some(embed_stream *s)
{
    kc__http_fill more = KC__HTTP_FILL_MORE;
    while (has_source(s) && more == KC__HTTP_FILL_MORE && !is_paused(s)) {
        more = fill_piece(s);
        if (more == KC__HTTP_FILL_END || more == KC__HTTP_FILL_ABORT)
            end_source(s);
    }
    const bool cut = has_source(s) && s->ending;
    if (cut)
        end_source(s);
    if (!has_source(s))
        embed_transport_finish(s, cut || more == KC__HTTP_FILL_ABORT);
}

static void run_pump(kc__loop_task *task)
{
    embed_stream *s = kc_container_of(task, embed_stream, pump);
    kc_locked (&s->mutex)
        s->pumping = false;
    if (has_source(s))
        fill_some(s);
    embed_stream_unref(s);
}

static void embed_transport_wake(kc__exchange *x)
{
    embed_stream *s = kc_container_of(x, embed_stream, x);
    kc_locked (&s->mutex)
        post_pump(s);
}

/* Field names are lower-case; the Content-Type is a field like the others. */
static void keep_field(embed_stream *s, kc_http_field *to, kc_str name, kc_str value)
{
    char *lower = kc_arena_strndup(&s->arena, name.p, name.n);
    for (size_t i = 0; i < name.n; i++)
        lower[i] = kc_lower(lower[i]);
    *to = (kc_http_field){kc_str_of(lower, name.n), kc_arena_str(&s->arena, value)};
}

static void keep_head(embed_stream *s, const kc__http_response *response)
{
    kc_http_field *fields =
        kc_arena_calloc(&s->arena, response->n_headers + 1, sizeof(kc_http_field));
    size_t n = 0;
    if (response->type.n)
        keep_field(s, &fields[n++], KC_STR("content-type"), response->type);
    for (size_t i = 0; i < response->n_headers; i++)
        keep_field(s, &fields[n++], response->headers[i].name, response->headers[i].value);
    s->head.status = response->status;
    s->head.fields = fields;
    s->head.n_fields = n;
}

static bool is_bodiless(const embed_stream *s, int status)
{
    return s->x.gone || kc_str_is(s->x.request.method, "HEAD") || status == 204 || status == 304;
}

static void embed_transport_respond(kc__exchange *x, const kc__http_response *response)
{
    embed_stream *s = kc_container_of(x, embed_stream, x);
    const bool bodiless = is_bodiless(s, response->status);
    s->source = response->source;
    s->items = response->items;
    s->source_user = response->user;
    if (bodiless)
        end_source(s);
    if (!s->end_reported) {
        keep_head(s, response);
        s->callbacks->on_head(&s->stream, &s->head, s->user);
    }
    if (!response->source && !response->items && !bodiless)
        deliver_bytes(s, response->body);
    if (response->release)
        response->release(response->owner);
    fill_some(s);
}

static const kc__exchange_ops exchange_ops = {.respond = embed_transport_respond,
                                              .wake = embed_transport_wake};

static void run_start(kc__loop_task *task)
{
    embed_stream *s = kc_container_of(task, embed_stream, start);
    kc__exchange_grant grant = {0};
    if (kc__rest_api_begin(&s->x, &grant, s->api))
        kc__rest_api_handle(&s->x, s->api);
    embed_stream_unref(s);
}

/* The owner has cancelled the stream, or the server stops. */
static void run_leave(kc__loop_task *task)
{
    embed_stream *s = kc_container_of(task, embed_stream, leave);
    s->ending = true;
    if (is_cancelled(s)) {
        s->x.gone = true;
        report_end(s, true);
    }
    if (has_source(s)) {
        end_source(s);
        embed_transport_finish(s, true);
    }
    embed_stream_unref(s);
}

/* ---- the owner's side ---- */

static int fill_headers(embed_stream *s, const kc_http_request *request, kc_error *err)
{
    for (size_t i = 0; i < request->n_fields; i++) {
        const kc_http_field *field = &request->fields[i];
        if (kc__http_headers_add(&s->headers, kc_arena_str(&s->arena, field->name),
                                 kc_arena_str(&s->arena, field->value), err) < 0)
            return kc_error_result(err);
    }
    return 0;
}

/* Copies the request: the caller may free it before the server has read it. */
static int fill_request(embed_stream *s, const kc_http_request *request, kc_error *err)
{
    kc__http_request *to = &s->x.request;
    if (request->body.n > MAX_BODY)
        return kc_error_set(err, KC_TOO_LARGE, "Request entity too large: limit is %d", MAX_BODY);
    if (kc__target_parse(request->target, NULL, &s->arena, &to->target, err) < 0 ||
        fill_headers(s, request, err) < 0)
        return kc_error_result(err);
    to->method = kc_arena_str(&s->arena, kc_cstr(request->method));
    to->headers = s->headers;
    to->body = kc_arena_str(&s->arena, request->body);
    to->peer = &s->who->peer;
    to->protocol = "HTTP/1.1";
    to->arena = &s->arena;
    to->takes_items = request->takes_objects;
    to->received = kc_clock_now(s->door->clock);
    return 0;
}

/* The door closes while the stream is inside. */
static void on_closing(kc__embed_guest *guest)
{
    embed_stream *s = kc_container_of(guest, embed_stream, guest);
    kc_locked (&s->mutex)
        post_leave(s);
}

/* Posts the stream to one of the loops; it holds a reference while it is inside. */
static void on_entry(kc__embed_guest *guest, kc__rest_api *api, kc__loop *loop)
{
    embed_stream *s = kc_container_of(guest, embed_stream, guest);
    s->api = api;
    s->x.loop = loop;
    kc_ref_add(&s->refs);
    embed_transport_post(s, &s->start);
}

static void embed_resume(kc_stream *stream)
{
    embed_stream *s = embed_stream_of(stream);
    kc_locked (&s->mutex) {
        if (s->paused)
            post_pump(s);
        s->paused = false;
    }
}

static void embed_cancel(kc_stream *stream)
{
    embed_stream *s = embed_stream_of(stream);
    kc_locked (&s->mutex) {
        s->cancelled = true;
        post_leave(s);
    }
}

static void embed_release(kc_stream *stream)
{
    embed_stream_unref(embed_stream_of(stream));
}

static const kc_stream_ops stream_ops = {
    .resume = embed_resume, .cancel = embed_cancel, .release = embed_release};

/* A request may have another user than the transport (`as`). */
static embed_stream *embed_stream_new(const embed_transport *t, const kc_client_user *as,
                                      const kc_stream_callbacks *callbacks, void *user)
{
    embed_stream *s = kc_new(embed_stream);
    s->stream.ops = &stream_ops;
    s->door = kc__embed_door_ref(t->door);
    s->who = as ? identity_new(as) : identity_ref(t->who);
    s->x.ops = &exchange_ops;
    s->callbacks = callbacks;
    s->user = user;
    s->sink.take = take_item;
    s->guest = (kc__embed_guest){.enter = on_entry, .leave = on_closing};
    s->start.run = run_start;
    s->pump.run = run_pump;
    s->leave.run = run_leave;
    kc_ref_init(&s->refs);
    kc_mutex_init(&s->mutex);
    return s;
}

/* ---- transports ---- */

static embed_transport *embed_transport_of(kc_transport *t)
{
    return kc_container_of(t, embed_transport, base);
}

static kc_stream *embed_start(kc_transport *t, const kc_http_request *request,
                              const kc_stream_callbacks *callbacks, void *user, kc_error *err)
{
    embed_stream *s = embed_stream_new(embed_transport_of(t), request->as, callbacks, user);
    const bool filled = fill_request(s, request, err) == 0;
    if (filled && kc__embed_door_enter(s->door, &s->guest))
        return &s->stream;
    if (filled) {
        kc_error_set(err, KC_SERVICE_UNAVAILABLE, "the server has stopped");
        if (err)
            err->code = 0;
    }
    embed_stream_unref(s);
    return NULL;
}

static kc_http_response *embed_open(kc_transport *t, const kc_http_request *request, kc_error *err)
{
    return kc__client_transport_blocking_open(t, request, embed_transport_of(t)->door->clock, err);
}

static void embed_free(kc_transport *t)
{
    embed_transport *e = embed_transport_of(t);
    identity_unref(e->who);
    kc__embed_door_unref(e->door);
    free(e);
}

static const kc_transport_ops transport_ops = {.open = embed_open,
                                               .read = kc__client_transport_blocking_read,
                                               .close = kc__client_transport_blocking_close,
                                               .free = embed_free,
                                               .start = embed_start};

kc_transport *kc__embed_transport_new(kc__embed_door *door, const kc_embedded_server_user *user)
{
    embed_transport *e = kc_new(embed_transport);
    *e = (embed_transport){
        .base.ops = &transport_ops, .door = kc__embed_door_ref(door), .who = identity_new(user)};
    return &e->base;
}
