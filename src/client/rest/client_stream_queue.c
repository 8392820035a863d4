/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client_stream_queue.c: the queue between a transport's callbacks and the owner of a stream.
 *
 * Callbacks run on a thread that serves many streams (an event loop or the curl loop), so they only
 * copy bytes or take references. The owner is woken once for all data that arrives until it takes
 * it. `wake` is called with the queue's mutex held: the owner sees the end only after the last
 * callback has finished, and may free the stream then.
 */
#include "client/rest/client_stream_internal.h"

/* Queued bytes above which the transport is paused. */
#define QUEUE_LIMIT ((size_t)256 << 10)
/* An idle stream releases a buffer larger than this. */
#define KEEP_BYTES ((size_t)32 << 10)

/* Requires the mutex. */
static void queue_wake(kc__client_stream_queue *queue)
{
    if (queue->woken)
        return;
    queue->woken = true;
    queue->wake(queue->user);
}

/* Requires the mutex. Returns whether the transport may continue. */
static bool queue_grew(kc__client_stream_queue *queue, size_t n)
{
    queue->queued_bytes += n;
    queue->paused = queue->queued_bytes >= QUEUE_LIMIT;
    queue_wake(queue);
    return !queue->paused;
}

static void queue_on_head(kc_stream *stream, const kc_http_response *head, void *user)
{
    kc__client_stream_queue *queue = user;
    const kc_clock *clock = queue->attempt->client->core->clock;
    (void)stream;
    kc__client_attempt_note(queue->attempt, head, kc_clock_now(clock) - queue->began);
    kc_locked (&queue->mutex) {
        queue->arrived.head = true;
        queue->arrived.status = head->status;
        kc_buf_clear(&queue->retry_after);
        kc_buf_append(&queue->retry_after, kc_http_response_field(head, KC_STR("retry-after")));
        queue_wake(queue);
    }
}

static bool queue_on_body(kc_stream *stream, kc_str bytes, void *user)
{
    kc__client_stream_queue *queue = user;
    bool more = true;
    (void)stream;
    kc_locked (&queue->mutex) {
        kc_buf_append(&queue->arrived.bytes, bytes);
        more = queue_grew(queue, bytes.n);
    }
    return more;
}

static bool queue_on_object(kc_stream *stream, kc_stream_item item, const kc_object *object,
                            void *user)
{
    kc__client_stream_queue *queue = user;
    bool more = true;
    (void)stream;
    kc_locked (&queue->mutex) {
        kc_vec_push(&queue->arrived.objects,
                    (kc__client_stream_queued){.item = item, .object = kc_object_ref(object)});
        more = queue_grew(queue, kc_object_json(object).n);
    }
    return more;
}

static void queue_on_end(kc_stream *stream, const kc_error *err, void *user)
{
    kc__client_stream_queue *queue = user;
    (void)stream;
    kc_locked (&queue->mutex) {
        queue->arrived.ended = true;
        if (err) {
            kc_error_set(&queue->arrived.failure, err->reason, "%s", kc_error_text(err));
            queue->arrived.failure.code = err->code;
        }
        queue->woken = false; /* The owner may already have taken everything else. */
        queue_wake(queue);
    }
}

const kc_stream_callbacks kc__client_stream_queue_callbacks = {.on_head = queue_on_head,
                                                               .on_body = queue_on_body,
                                                               .on_object = queue_on_object,
                                                               .on_end = queue_on_end};

/* ---- the owner's side ---- */

void kc__client_stream_arrivals_clear(kc__client_stream_arrivals *arrivals)
{
    kc_vec_each (&arrivals->objects, queued)
        kc_object_unref(queued->object);
    kc_vec_done(&arrivals->objects);
    kc_buf_done(&arrivals->bytes);
    kc_error_done(&arrivals->failure);
    *arrivals = (kc__client_stream_arrivals){0};
}

void kc__client_stream_queue_init(kc__client_stream_queue *queue, kc__client_stream_wake *wake,
                                  void *user)
{
    *queue = (kc__client_stream_queue){.wake = wake, .user = user};
    kc_mutex_init(&queue->mutex);
}

void kc__client_stream_queue_done(kc__client_stream_queue *queue)
{
    kc__client_stream_arrivals_clear(&queue->arrived);
    kc_buf_done(&queue->retry_after);
    kc_mutex_done(&queue->mutex);
}

void kc__client_stream_queue_reset(kc__client_stream_queue *queue)
{
    kc_locked (&queue->mutex) {
        kc__client_stream_arrivals_clear(&queue->arrived);
        kc_buf_clear(&queue->retry_after);
        queue->queued_bytes = 0;
        queue->paused = queue->woken = false;
    }
}

/* Takes the whole buffer; the content of a small one is copied. */
static void take_bytes(kc_buf *from, kc_buf *to)
{
    if (from->cap > KEEP_BYTES) {
        kc_buf_done(to);
        *to = *from;
        *from = (kc_buf){0};
        return;
    }
    kc_buf_clear(to);
    kc_buf_append(to, kc_buf_str(from));
    kc_buf_clear(from);
}

bool kc__client_stream_queue_take(kc__client_stream_queue *queue, kc__client_stream_arrivals *ret)
{
    bool resume = false;
    kc_locked (&queue->mutex) {
        kc__client_stream_arrivals *in = &queue->arrived;
        take_bytes(&in->bytes, &ret->bytes);
        kc_vec_done(&ret->objects);
        ret->objects.items = in->objects.items;
        ret->objects.n = in->objects.n;
        ret->objects.cap = in->objects.cap;
        in->objects.items = NULL;
        in->objects.n = in->objects.cap = 0;
        ret->head = in->head;
        ret->status = in->status;
        ret->ended = in->ended;
        if (in->failure.reason != KC_OK)
            kc_error_move(&ret->failure, &in->failure);
        resume = queue->paused && !in->ended;
        queue->paused = queue->woken = false;
        queue->queued_bytes = 0;
    }
    return resume;
}

bool kc__client_stream_queue_ended(kc__client_stream_queue *queue)
{
    bool ended = false;
    kc_locked (&queue->mutex)
        ended = queue->arrived.ended;
    return ended;
}
