/* SPDX-License-Identifier: Apache-2.0 */
/*
 * snapshot.c: the stream of a snapshot, written to a file descriptor.
 *
 *     channel's thread: message ──▶ `received` ──▶ caller's thread: write
 *
 * Writing to a file may block, so it happens on the caller's thread. The stream is paused while
 * MAX_BUFFERED bytes wait to be written: a slow disk slows the server, not the memory down.
 *
 * etcd sends the database and then its SHA-256 as the last bytes. A snapshot is complete if the
 * stream ends with OK and no bytes remain.
 */
#include "etcd/etcd_internal.h"

#include <errno.h>
#include <unistd.h>

#define MAX_BUFFERED ((size_t)4 << 20)

typedef struct snapshot_writer {
    kc__etcd_auth_waiter token;
    kc_mutex mutex; /* Guards the rest. */
    kc_cond changed;
    bool ready; /* The wait for a token is over. */
    kc__grpc_stream *stream;
    kc_buf received;
    bool paused, ended;
    uint64_t remaining; /* Bytes that the server has yet to send. */
    uint64_t size;      /* Bytes that have arrived. */
    kc__etcd_code code;
    kc_error err;
} snapshot_writer;

/* ---- the stream, on the channel's thread ---- */

static void snapshot_failed(snapshot_writer *s, kc__etcd_code code, const char *message)
{
    if (s->code != KC__ETCD_OK)
        return;
    s->code = code;
    kc_error_set(&s->err, kc__etcd_code_reason(code), "etcd Snapshot: %s", message);
}

static void take_chunk(snapshot_writer *s, const kc__etcd_snapshot_response *chunk)
{
    s->remaining = chunk->remaining_bytes;
    s->size += chunk->blob.n;
    kc_buf_append(&s->received, chunk->blob);
    if (s->received.n >= MAX_BUFFERED && !s->paused) {
        s->paused = true;
        kc__grpc_stream_pause(s->stream);
    }
}

static void snapshot_message(kc_str message, void *user)
{
    snapshot_writer *s = user;
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc_arena) arena = {0};
    kc__etcd_snapshot_response chunk;
    const int decoded = kc__etcd_proto_decode(&kc__etcd_snapshot_response_table, message, NULL,
                                              &arena, &chunk, &err);
    kc_locked (&s->mutex) {
        if (decoded < 0) {
            snapshot_failed(s, KC__ETCD_INTERNAL, kc_error_text(&err));
            kc__grpc_stream_cancel(s->stream);
        } else {
            take_chunk(s, &chunk);
        }
        kc_cond_broadcast(&s->changed);
    }
}

static void snapshot_closed(const kc__grpc_status *status, void *user)
{
    snapshot_writer *s = user;
    kc_locked (&s->mutex) {
        if (status->code != KC__GRPC_OK)
            snapshot_failed(s, kc__etcd_code_of(status->code, kc_cstr(status->message)),
                            status->message);
        else if (s->remaining || !s->size)
            snapshot_failed(s, KC__ETCD_INTERNAL, "the server sent only a part");
        s->ended = true;
        kc_cond_broadcast(&s->changed);
    }
}

/* ---- the caller's thread ---- */

static bool write_chunk(int fd, kc_str bytes)
{
    while (bytes.n) {
        const ssize_t n = write(fd, bytes.p, bytes.n);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        bytes = kc_str_sub(bytes, (size_t)n, bytes.n);
    }
    return true;
}

/* Waits for bytes and takes them. False at the end of the stream. */
static bool take_received(snapshot_writer *s, kc_buf *chunk)
{
    kc_buf_clear(chunk);
    kc_locked (&s->mutex) {
        while (!s->received.n && !s->ended)
            kc_cond_wait(&s->changed, &s->mutex);
        const kc_buf taken = s->received;
        s->received = *chunk;
        *chunk = taken;
        if (s->paused) {
            s->paused = false;
            kc__grpc_stream_resume(s->stream);
        }
    }
    return chunk->n > 0;
}

static void write_received(snapshot_writer *s, int fd)
{
    kc_scoped(kc_buf) chunk = {0};
    bool failed = false;
    while (take_received(s, &chunk)) {
        if (failed || write_chunk(fd, kc_buf_str(&chunk)))
            continue;
        failed = true;
        kc_locked (&s->mutex) {
            snapshot_failed(s, KC__ETCD_INVALID, strerror(errno));
            kc__grpc_stream_cancel(s->stream);
        }
    }
}

static void snapshot_token_ready(kc__etcd_auth_waiter *waiter, const kc__etcd_reply *refused)
{
    snapshot_writer *s = kc_container_of(waiter, snapshot_writer, token);
    kc_locked (&s->mutex) {
        s->ready = true;
        if (refused)
            snapshot_failed(s, refused->code, kc_error_text(&refused->err));
        kc_cond_broadcast(&s->changed);
    }
}

/* False if there is no token, and why in the snapshot. */
static bool await_token(kc__etcd *etcd, snapshot_writer *s, uint64_t *ret_generation)
{
    for (;;) {
        s->ready = false;
        s->token.ready = snapshot_token_ready;
        if (kc__etcd_auth_wait(etcd, &s->token, ret_generation))
            return true;
        kc_locked (&s->mutex) {
            while (!s->ready)
                kc_cond_wait(&s->changed, &s->mutex);
            if (s->code != KC__ETCD_OK)
                return false;
        }
    }
}

static void run_snapshot(kc__etcd *etcd, snapshot_writer *s, int fd)
{
    kc_locked (&s->mutex) {
        s->stream = kc__grpc_stream_open(
            etcd->channel, &(kc__grpc_stream_opts){.method = "/etcdserverpb.Maintenance/Snapshot",
                                                   .message = snapshot_message,
                                                   .closed = snapshot_closed,
                                                   .user = s});
        kc__grpc_stream_send(s->stream, (kc_str){0}, NULL);
        kc__grpc_stream_close_send(s->stream);
    }
    write_received(s, fd);
    kc__grpc_stream_unref(s->stream);
}

static void snapshot_done(snapshot_writer *s)
{
    kc_buf_done(&s->received);
    kc_error_done(&s->err);
    kc_cond_done(&s->changed);
    kc_mutex_done(&s->mutex);
}

/* True if the token was refused before anything was written. */
static bool attempt_snapshot(kc__etcd *etcd, int fd, uint64_t *ret_size, kc_error *err)
{
    snapshot_writer s = {0};
    uint64_t generation = 0;
    kc_mutex_init(&s.mutex);
    kc_cond_init(&s.changed);
    const bool has_token = await_token(etcd, &s, &generation);
    if (has_token)
        run_snapshot(etcd, &s, fd);
    const bool refused = has_token && s.code == KC__ETCD_INVALID_TOKEN && !s.size;
    if (refused)
        kc__etcd_auth_invalidate(etcd, generation);
    if (s.code == KC__ETCD_OK && ret_size)
        *ret_size = s.size;
    kc_error_move(err, &s.err);
    snapshot_done(&s);
    return refused;
}

int kc__etcd_snapshot(kc__etcd *etcd, int fd, uint64_t *ret_size, kc_error *err)
{
    kc_scoped(kc_error) why = {0};
    kc__etcd_operation_begin(etcd);
    if (attempt_snapshot(etcd, fd, ret_size, &why))
        attempt_snapshot(etcd, fd, ret_size, &why);
    kc__etcd_operation_end(etcd);
    return why.reason ? kc_error_move(err, &why) : 0;
}
