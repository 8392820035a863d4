/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blocking.c: implements the blocking open and read on top of a stream: callbacks fill a buffer,
 * and the caller's thread waits for it.
 *
 *     caller's thread                    transport's thread
 *     open: start, waits for the head    on_head ─▶ stores it, wakes
 *     read: takes from the buffer        on_body ─▶ appends, wakes; pauses above BODY_AHEAD
 *           room again: resume           on_end  ─▶ stores the error, wakes
 *     close: cancel
 *
 * A response is reference-counted: the caller holds a reference until it closes the response, the
 * stream until on_end. A caller that gives up returns at once. The waiting thread enforces
 * deadlines and cancellation, on the transport's clock.
 */
#include "client/transport/blocking.h"

#include "kc/arena.h"
#include "kc/ref.h"
#include "kc/thread.h"

/* Unread bytes of a body above which the stream is paused. */
#define BODY_AHEAD ((size_t)256 << 10)
/* An idle response releases a buffer larger than this. */
#define KEEP_BUFFER ((size_t)64 << 10)

typedef struct blocking_response {
    kc_http_response response; /* First. */
    kc_ref refs;
    const kc_clock *clock;
    int64_t deadline;
    kc_cancel *cancel; /* With a reference; may be NULL. */
    kc_cancel_hook hook;
    kc_arena arena; /* Header fields. */

    kc_mutex mutex; /* Guards the fields below. */
    kc_cond changed;
    kc_stream *stream; /* NULL before start has returned and after the end. */
    bool head, ended, cancelled, paused, closed;
    kc_error failure; /* Valid if `ended` is set. */
    kc_buf body;      /* Unread from offset `taken` on. */
    size_t taken;
} blocking_response;

static blocking_response *blocking_of(kc_http_response *response)
{
    return kc_container_of(response, blocking_response, response);
}

static void blocking_unref(blocking_response *b)
{
    if (!kc_ref_drop(&b->refs))
        return;
    kc_buf_done(&b->body);
    kc_error_done(&b->failure);
    kc_cond_done(&b->changed);
    kc_mutex_done(&b->mutex);
    kc_arena_done(&b->arena);
    free(b);
}

/* ---- callbacks ---- */

static void blocking_on_head(kc_stream *stream, const kc_http_response *head, void *user)
{
    blocking_response *b = user;
    kc_http_field *fields = kc_arena_calloc(&b->arena, head->n_fields, sizeof(*fields));
    (void)stream;
    for (size_t i = 0; i < head->n_fields; i++)
        fields[i] = (kc_http_field){kc_arena_str(&b->arena, head->fields[i].name),
                                    kc_arena_str(&b->arena, head->fields[i].value)};
    kc_locked (&b->mutex) {
        b->response.status = head->status;
        b->response.fields = fields;
        b->response.n_fields = head->n_fields;
        b->head = true;
        kc_cond_signal(&b->changed);
    }
}

static bool blocking_on_body(kc_stream *stream, kc_str bytes, void *user)
{
    blocking_response *b = user;
    bool more = true;
    (void)stream;
    kc_locked (&b->mutex) {
        kc_buf_append(&b->body, bytes);
        b->paused = b->body.n - b->taken >= BODY_AHEAD;
        more = !b->paused;
        kc_cond_signal(&b->changed);
    }
    return more;
}

static void blocking_on_end(kc_stream *stream, const kc_error *err, void *user)
{
    blocking_response *b = user;
    kc_locked (&b->mutex) {
        b->ended = true;
        b->stream = NULL;
        if (err) {
            kc_error_set(&b->failure, err->reason, "%s", kc_error_text(err));
            b->failure.code = err->code;
        }
        kc_cond_signal(&b->changed);
    }
    kc_stream_release(stream);
    blocking_unref(b);
}

static const kc_stream_callbacks blocking_callbacks = {
    .on_head = blocking_on_head, .on_body = blocking_on_body, .on_end = blocking_on_end};

/* ---- the caller's side ---- */

static void blocking_on_cancel(kc_cancel_hook *hook)
{
    blocking_response *b = kc_container_of(hook, blocking_response, hook);
    kc_locked (&b->mutex) {
        b->cancelled = true;
        kc_cond_signal(&b->changed);
    }
}

static bool has_head(const blocking_response *b)
{
    return b->head || b->ended;
}

static bool has_bytes(const blocking_response *b)
{
    return b->taken < b->body.n || b->ended;
}

/* Requires the mutex. Waits until `what` holds. */
static int blocking_await(blocking_response *b, bool (*what)(const blocking_response *b),
                          kc_error *err)
{
    const int64_t mine = b->response.read_deadline ? b->response.read_deadline : KC_FOREVER;
    bool late = false;
    while (!what(b)) {
        if (b->cancelled)
            return kc_error_set(err, KC_TIMEOUT, "cancelled");
        if (late)
            return kc_error_set(err, KC_TIMEOUT, "timed out waiting for the response");
        late = !kc_cond_wait_until(&b->changed, &b->mutex, b->clock, KC_MIN(mine, b->deadline));
    }
    return 0;
}

static int blocking_failure(const blocking_response *b, kc_error *err)
{
    const int r = kc_error_set(err, b->failure.reason, "%s", kc_error_text(&b->failure));
    if (err)
        err->code = b->failure.code;
    return r;
}

static blocking_response *blocking_new(kc_transport *t, const kc_http_request *request,
                                       const kc_clock *clock)
{
    blocking_response *b = kc_new(blocking_response);
    b->response.ops = t->ops;
    b->clock = clock;
    b->deadline = request->deadline ? request->deadline : KC_FOREVER;
    b->cancel = kc_cancel_ref(request->cancel);
    b->hook.fire = blocking_on_cancel;
    kc_ref_init(&b->refs);
    kc_mutex_init(&b->mutex);
    kc_cond_init(&b->changed);
    return b;
}

/* Starts the stream, which holds a reference; its handle may already have been released on
 * return. */
static int blocking_start(blocking_response *b, kc_transport *t, const kc_http_request *request,
                          kc_error *err)
{
    kc_ref_add(&b->refs);
    kc_http_request plain = *request;
    plain.takes_objects = false;
    kc_stream *stream = NULL;
    kc_locked (&b->mutex) /* on_end must not run before the handle is stored. */
        stream = b->stream = kc_transport_start(t, &plain, &blocking_callbacks, b, err);
    if (stream)
        return 0;
    b->ended = true;
    blocking_unref(b);
    return kc_error_result(err);
}

void kc__client_transport_blocking_close(kc_http_response *response)
{
    blocking_response *b = blocking_of(response);
    kc_cancel_remove_hook(b->cancel, &b->hook);
    kc_cancel_unref(b->cancel);
    kc_locked (&b->mutex)
        if (b->stream)
            kc_stream_cancel(b->stream);
    blocking_unref(b);
}

kc_http_response *kc__client_transport_blocking_open(kc_transport *t,
                                                     const kc_http_request *request,
                                                     const kc_clock *clock, kc_error *err)
{
    blocking_response *b = blocking_new(t, request, clock);
    int r = 0;
    if (!kc_cancel_add_hook(b->cancel, &b->hook))
        r = kc_error_set(err, KC_TIMEOUT, "cancelled");
    else
        r = blocking_start(b, t, request, err);
    kc_locked (&b->mutex) {
        if (r == 0)
            r = blocking_await(b, has_head, err);
        if (r == 0 && !b->head)
            r = blocking_failure(b, err);
    }
    if (r == 0)
        return &b->response;
    kc__client_transport_blocking_close(&b->response);
    return NULL;
}

/* Requires the mutex. Takes the available bytes. */
static size_t blocking_take(blocking_response *b, char *ret_bytes, size_t n)
{
    n = KC_MIN(n, b->body.n - b->taken);
    if (n)
        memcpy(ret_bytes, b->body.p + b->taken, n);
    b->taken += n;
    if (b->taken == b->body.n) {
        b->taken = 0;
        if (b->body.cap > KEEP_BUFFER)
            kc_buf_done(&b->body);
        else
            kc_buf_clear(&b->body);
    }
    if (b->paused && b->stream && b->body.n - b->taken < BODY_AHEAD / 2) {
        b->paused = false;
        kc_stream_resume(b->stream);
    }
    return n;
}

ssize_t kc__client_transport_blocking_read(kc_http_response *response, char *ret_bytes, size_t n,
                                           kc_error *err)
{
    blocking_response *b = blocking_of(response);
    ssize_t r = 0;
    kc_locked (&b->mutex) {
        r = blocking_await(b, has_bytes, err);
        if (r == 0)
            r = (ssize_t)blocking_take(b, ret_bytes, n);
        if (r == 0 && b->ended && b->failure.reason != KC_OK)
            r = blocking_failure(b, err);
    }
    return r;
}
