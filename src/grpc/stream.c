/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream.c: bidirectional streams: any number of messages in both directions.
 *
 *     any thread: send ─▶ queue (a lock) ─▶ wake ─▶ channel's thread: out ─▶ DATA frames
 *
 * Senders frame their messages into `queue`; the channel's thread takes the whole queue at once.
 * The bytes that wait, there and in `out`, are bounded: a server that does not read makes `send`
 * fail, and does not fill the memory.
 *
 * A stream is never opened again once it was sent: messages may be lost, and only its owner knows
 * how to continue.
 */
#include "grpc/grpc_internal.h"

#define DEFAULT_QUEUE ((size_t)4 << 20)

struct kc__grpc_stream {
    kc__grpc_rpc rpc; /* First. */
    kc__grpc_stream_opts opts;
    kc_mutex mutex; /* Guards the next three fields. Innermost. */
    kc_buf queue;   /* Framed messages. */
    bool closed_send;
    bool ended;
    _Atomic size_t queued; /* Bytes in `queue`, and in rpc.out from out_at on. */
};

static kc__grpc_stream *stream_of(kc__grpc_rpc *rpc)
{
    return (kc__grpc_stream *)rpc;
}

/* ---- a kind of rpc ---- */

static size_t read_stream(kc__grpc_exchange *x, char *to, size_t size, bool *ret_end)
{
    kc__grpc_stream *stream = (kc__grpc_stream *)x;
    kc__grpc_rpc *rpc = &stream->rpc;
    const size_t n = kc__grpc_rpc_read(x, to, size, ret_end);
    atomic_fetch_sub(&stream->queued, n);
    if (rpc->out_at == rpc->out.n) {
        kc_buf_clear(&rpc->out);
        rpc->out_at = 0;
    }
    return n;
}

static void stream_opened(kc__grpc_exchange *x)
{
    const kc__grpc_stream_opts *opts = &((kc__grpc_stream *)x)->opts;
    if (opts->opened)
        opts->opened(opts->user);
}

static bool stream_message(kc__grpc_exchange *x, kc_str message, kc__grpc_status *failure)
{
    (void)failure;
    const kc__grpc_stream_opts *opts = &((kc__grpc_stream *)x)->opts;
    opts->message(message, opts->user);
    return true;
}

static bool rewind_stream(kc__grpc_rpc *rpc)
{
    return !rpc->exchange.sent;
}

/* The channel's thread takes over what other threads have queued. */
static void take_queue(kc__grpc_stream *stream)
{
    kc__grpc_rpc *rpc = &stream->rpc;
    kc_locked (&stream->mutex) {
        if (!rpc->out.n) {
            const kc_buf empty = rpc->out;
            rpc->out = stream->queue;
            stream->queue = empty;
        } else if (stream->queue.n) {
            kc_buf_append(&rpc->out, kc_buf_str(&stream->queue));
            kc_buf_clear(&stream->queue);
        }
        rpc->out_end = stream->closed_send;
    }
}

/* Sent bytes of `out` are dropped once they are the larger part: linear in total. */
static void compact_out(kc__grpc_rpc *rpc)
{
    const size_t rest = rpc->out.n - rpc->out_at;
    if (!rpc->out_at || rest > rpc->out_at)
        return;
    memmove(rpc->out.p, rpc->out.p + rpc->out_at, rest);
    rpc->out.n = rest;
    rpc->out_at = 0;
}

static void stream_woken(kc__grpc_rpc *rpc)
{
    kc__grpc_exchange *x = &rpc->exchange;
    compact_out(rpc);
    take_queue(stream_of(rpc));
    if (x->session && (rpc->out.n || rpc->out_end))
        kc__grpc_session_resume(x->session, x);
    if (x->session)
        kc__grpc_connection_flush(x->session);
    if (!atomic_load(&x->paused))
        kc__grpc_exchange_resume(x);
}

static void stream_ended(kc__grpc_rpc *rpc, kc__grpc_status *status)
{
    kc__grpc_stream *stream = stream_of(rpc);
    kc_locked (&stream->mutex) {
        stream->ended = true;
        kc_buf_done(&stream->queue);
    }
    stream->opts.closed(status, stream->opts.user);
}

static void free_stream(kc__grpc_rpc *rpc)
{
    kc__grpc_stream *stream = stream_of(rpc);
    kc_buf_done(&stream->queue);
    kc_mutex_done(&stream->mutex);
    free(stream);
}

static const kc__grpc_rpc_kind bidirectional = {
    .exchange = {read_stream, stream_opened, stream_message, kc__grpc_rpc_closed},
    .rewind = rewind_stream,
    .woken = stream_woken,
    .ended = stream_ended,
    .free = free_stream,
};

/* ---- the interface ---- */

kc__grpc_stream *kc__grpc_stream_open(kc__grpc_channel *channel, const kc__grpc_stream_opts *opts)
{
    kc__grpc_stream *stream = kc_new(kc__grpc_stream);
    kc__grpc_rpc_init(&stream->rpc, channel, &bidirectional,
                      &(kc__grpc_rpc_opts){.method = opts->method,
                                           .wait_for_ready = opts->wait_for_ready,
                                           .metadata = opts->metadata,
                                           .n_metadata = opts->n_metadata});
    stream->opts = *opts; /* Only callbacks and sizes are used from now on. */
    if (!stream->opts.max_queued)
        stream->opts.max_queued = DEFAULT_QUEUE;
    kc_mutex_init(&stream->mutex);
    kc__grpc_rpc_wake(&stream->rpc);
    return stream;
}

static int check_room(kc__grpc_stream *stream, size_t size, kc_error *err)
{
    const size_t queued = atomic_load(&stream->queued);
    if (stream->ended)
        return kc_error_set(err, KC_GONE, "the stream has ended");
    if (stream->closed_send)
        return kc_error_set(err, KC_GONE, "the sending side of the stream is closed");
    if (size > UINT32_MAX)
        return kc_error_set(err, KC_TOO_LARGE, "a message of %zu bytes is too large", size);
    if (queued && queued + size > stream->opts.max_queued)
        return kc_error_set(err, KC_TOO_MANY_REQUESTS,
                            "%zu bytes wait to be sent on the stream; the limit is %zu", queued,
                            stream->opts.max_queued);
    return 0;
}

int kc__grpc_stream_send(kc__grpc_stream *stream, kc_str message, kc_error *err)
{
    int result = 0;
    kc_locked (&stream->mutex) {
        result = check_room(stream, message.n + KC__GRPC_PREFIX, err);
        if (result == 0) {
            kc__grpc_frame_write(&stream->queue, message);
            atomic_fetch_add(&stream->queued, message.n + KC__GRPC_PREFIX);
        }
    }
    if (result == 0)
        kc__grpc_rpc_wake(&stream->rpc);
    return result;
}

void kc__grpc_stream_close_send(kc__grpc_stream *stream)
{
    kc_locked (&stream->mutex)
        stream->closed_send = true;
    kc__grpc_rpc_wake(&stream->rpc);
}

void kc__grpc_stream_cancel(kc__grpc_stream *stream)
{
    kc__grpc_rpc_cancel(&stream->rpc);
}

void kc__grpc_stream_pause(kc__grpc_stream *stream)
{
    atomic_store(&stream->rpc.exchange.paused, true);
}

void kc__grpc_stream_resume(kc__grpc_stream *stream)
{
    if (atomic_exchange(&stream->rpc.exchange.paused, false))
        kc__grpc_rpc_wake(&stream->rpc);
}

kc__grpc_stream *kc__grpc_stream_unref(kc__grpc_stream *stream)
{
    if (stream)
        kc__grpc_rpc_unref(&stream->rpc);
    return NULL;
}
