/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conn_output.c: the bytes that wait to be sent on a connection.
 *
 *     out      [ head of a chunk ][ CRLF, head of a chunk ][ CRLF ]      the connection's own text
 *     slices                     ^ frame A                ^ frame B      bytes shared with others
 *
 * Most bytes belong to the connection and are in conn->out. Bytes that several connections send are
 * not copied there: a slice holds a reference and the offset in `out` before which it is sent. The
 * number of slices is small; a protocol that finds none free appends a copy to `out`.
 *
 * Most connections are idle, so none keeps an empty buffer. Those of a loop take turns, and most
 * send their output at once; so they pass on one buffer (`spare`), which costs no allocation and
 * stays in the processor's cache. A connection whose client does not read keeps its buffer, and the
 * next one allocates another.
 *
 * Threads: everything runs on the loop's thread.
 */
#include "http/server/conn.h"

/* A larger spare buffer is freed. */
#define SPARE_MOST ((size_t)128 << 10)

static void release_buffer(kc__conn *conn)
{
    if (!conn->spare || conn->spare->p || conn->out.cap > SPARE_MOST) {
        kc_buf_done(&conn->out);
        return;
    }
    *conn->spare = conn->out;
    conn->spare->n = 0;
    conn->out = (kc_buf){0};
}

void kc__conn_output_begin(kc__conn *conn)
{
    if (conn->out.p || !conn->spare)
        return;
    conn->out = *conn->spare;
    *conn->spare = (kc_buf){0};
}

void kc__conn_output_end(kc__conn *conn)
{
    if (conn->out.p && !conn->out.n && !conn->n_slices)
        release_buffer(conn);
}

bool kc__conn_share(kc__conn *conn, kc__http_shared_bytes *bytes, size_t from, size_t n)
{
    if (!conn->shares || conn->n_slices == KC__CONN_SLICES)
        return false;
    conn->slices[conn->n_slices++] = (kc__conn_slice){.at = conn->out.n,
                                                      .next = from,
                                                      .end = from + n,
                                                      .bytes = kc__http_shared_bytes_ref(bytes)};
    conn->slice_bytes += n;
    return true;
}

size_t kc__conn_parts(const kc__conn *conn, kc_str parts[KC__CONN_PARTS])
{
    size_t n = 0, at = 0;
    for (size_t i = 0; i < conn->n_slices; i++) {
        const kc__conn_slice *slice = &conn->slices[i];
        if (slice->at > at)
            parts[n++] = kc_str_of(conn->out.p + at, slice->at - at);
        parts[n++] = kc_str_of(slice->bytes->p + slice->next, slice->end - slice->next);
        at = slice->at;
    }
    if (conn->out.n > at)
        parts[n++] = kc_str_of(conn->out.p + at, conn->out.n - at);
    return n;
}

/* Removes `n` bytes from the front of `out`. */
static void drop_own_bytes(kc__conn *conn, size_t n)
{
    kc_buf *out = &conn->out;
    if (n == out->n) {
        release_buffer(conn);
    } else if (n) {
        memmove(out->p, out->p + n, out->n - n);
        out->n -= n;
    }
    for (size_t i = 0; i < conn->n_slices; i++)
        conn->slices[i].at -= n;
}

static void drop_first_slice(kc__conn *conn)
{
    kc__http_shared_bytes_unref(conn->slices[0].bytes);
    conn->n_slices--;
    memmove(conn->slices, conn->slices + 1, conn->n_slices * sizeof(conn->slices[0]));
}

void kc__conn_sent(kc__conn *conn, size_t n)
{
    size_t own = 0;
    while (n && conn->n_slices) {
        kc__conn_slice *slice = &conn->slices[0];
        const size_t before = KC_MIN(n, slice->at - own);
        own += before;
        n -= before;
        const size_t shared = own == slice->at ? KC_MIN(n, slice->end - slice->next) : 0;
        slice->next += shared;
        conn->slice_bytes -= shared;
        n -= shared;
        if (own < slice->at || slice->next < slice->end)
            break;
        drop_first_slice(conn);
    }
    drop_own_bytes(conn, own + n);
}

void kc__conn_output_done(kc__conn *conn)
{
    while (conn->n_slices)
        drop_first_slice(conn);
    conn->slice_bytes = 0;
    kc_buf_done(&conn->out);
}
