/* SPDX-License-Identifier: Apache-2.0 */
/*
 * threaded.c: streams for transports that implement only open and read.
 *
 * One thread per stream calls open and read and converts their results to callbacks. Production
 * transports implement streams themselves; this adapter serves transports of users and of tests,
 * which then only need the blocking calls.
 *
 * A paused stream does not read: the transport's own back-pressure stops the sender. The thread
 * waits for `resumed` under the stream's mutex. Cancelling fires the token of the request, which
 * ends open and read; on_end then reports KC_TIMEOUT.
 *
 * Threads: callbacks run on the stream's thread. kc_stream_release joins it.
 */
#include "client/transport/threaded.h"

#include "kc/arena.h"

enum { PIECE_BYTES = 32 << 10 };

typedef struct threaded_stream {
    kc_stream stream; /* First. */
    kc_transport *transport;
    kc_http_request request; /* Its strings are in the arena. */
    kc_arena arena;
    const kc_stream_callbacks *callbacks;
    void *user;
    kc_cancel *cancel;
    kc_cancel_hook hook; /* Wakes a paused thread. */
    kc_thread *thread;
    kc_mutex mutex; /* Guards the next two fields. No other lock is taken while it is held. */
    kc_cond resumed;
    bool paused, cancelled;
} threaded_stream;

static threaded_stream *threaded_of(kc_stream *stream)
{
    return kc_container_of(stream, threaded_stream, stream);
}

/* ---- the stream's thread ---- */

static void threaded_await_resume(threaded_stream *s)
{
    kc_locked (&s->mutex)
        while (s->paused && !s->cancelled)
            kc_cond_wait(&s->resumed, &s->mutex);
}

/* Marks the stream as paused before the callback, so that a resume during the callback counts. */
static void threaded_give(threaded_stream *s, kc_str bytes)
{
    kc_locked (&s->mutex)
        s->paused = true;
    if (s->callbacks->on_body(&s->stream, bytes, s->user))
        kc_locked (&s->mutex)
            s->paused = false;
    threaded_await_resume(s);
}

static int threaded_read_body(threaded_stream *s, kc_http_response *response, kc_error *err)
{
    char piece[PIECE_BYTES];
    ssize_t n;
    while ((n = kc_http_response_read(response, piece, sizeof(piece), err)) > 0)
        threaded_give(s, kc_str_of(piece, (size_t)n));
    return (int)n;
}

static void threaded_run(void *user)
{
    threaded_stream *s = user;
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_http_response) *response = kc_transport_open(s->transport, &s->request, &err);
    int failed = response ? 0 : -1;
    if (response) {
        s->callbacks->on_head(&s->stream, response, s->user);
        failed = threaded_read_body(s, response, &err);
    }
    response = kc_http_response_close(response);
    s->callbacks->on_end(&s->stream, failed < 0 ? &err : NULL, s->user);
}

/* ---- the owner's side ---- */

static void threaded_on_cancel(kc_cancel_hook *hook)
{
    threaded_stream *s = kc_container_of(hook, threaded_stream, hook);
    kc_locked (&s->mutex) {
        s->cancelled = true;
        kc_cond_broadcast(&s->resumed);
    }
}

static void threaded_resume(kc_stream *stream)
{
    threaded_stream *s = threaded_of(stream);
    kc_locked (&s->mutex) {
        s->paused = false;
        kc_cond_broadcast(&s->resumed);
    }
}

static void threaded_cancel(kc_stream *stream)
{
    kc_cancel_fire(threaded_of(stream)->cancel);
}

static void threaded_release(kc_stream *stream)
{
    threaded_stream *s = threaded_of(stream);
    kc_thread_join(s->thread);
    kc_cancel_remove_hook(s->cancel, &s->hook);
    kc_cancel_unref(s->cancel);
    kc_cond_done(&s->resumed);
    kc_mutex_done(&s->mutex);
    kc_arena_done(&s->arena);
    free(s);
}

static const kc_stream_ops threaded_ops = {
    .resume = threaded_resume, .cancel = threaded_cancel, .release = threaded_release};

static void threaded_copy_request(threaded_stream *s, const kc_http_request *request)
{
    kc_http_field *fields = kc_arena_calloc(&s->arena, request->n_fields, sizeof(*fields));
    for (size_t i = 0; i < request->n_fields; i++)
        fields[i] = (kc_http_field){kc_arena_str(&s->arena, request->fields[i].name),
                                    kc_arena_str(&s->arena, request->fields[i].value)};
    s->request = (kc_http_request){
        .method = kc_arena_strndup(&s->arena, request->method, strlen(request->method)),
        .target = kc_arena_str(&s->arena, request->target),
        .fields = fields,
        .n_fields = request->n_fields,
        .body = kc_arena_str(&s->arena, request->body),
        .cancel = s->cancel,
        .as = request->as};
}

kc_stream *kc__client_transport_threaded_start(kc_transport *t, const kc_http_request *request,
                                               const kc_stream_callbacks *callbacks, void *user,
                                               kc_error *err)
{
    threaded_stream *s = kc_new(threaded_stream);
    s->stream.ops = &threaded_ops;
    s->transport = t;
    s->callbacks = callbacks;
    s->user = user;
    s->cancel = kc_cancel_new(NULL);
    s->hook.fire = threaded_on_cancel;
    kc_mutex_init(&s->mutex);
    kc_cond_init(&s->resumed);
    kc_cancel_add_hook(s->cancel, &s->hook);
    threaded_copy_request(s, request);
    s->thread = kc_thread_start("kc-stream", threaded_run, s, err);
    if (s->thread)
        return &s->stream;
    threaded_release(&s->stream);
    return NULL;
}
