/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exchange.c: the response of one call or stream: heads, messages, end.
 *
 *     session ─▶ field, head ─▶ response.c
 *             ─▶ data ─▶ held (while paused) ─▶ frame.c ─▶ ops->message
 *             ─▶ end, close ─▶ ops->closed, after the last held message
 *
 * While an exchange is paused, received bytes are held and their flow-control window is not
 * returned, so that a server can send KC__GRPC_STREAM_WINDOW bytes at most. The window of the
 * connection is returned at once: a paused exchange does not stop the others.
 *
 * Every way to the end goes through finish_exchange, and `closed` is called once. An owner that
 * needs the exchange no longer calls kc__grpc_exchange_cancel and gets no callback.
 */
#include "grpc/session.h"

void kc__grpc_exchange_init(kc__grpc_exchange *x, const kc__grpc_exchange_ops *ops,
                            size_t max_receive)
{
    *x = (kc__grpc_exchange){.ops = ops, .deframer.max = max_receive};
}

void kc__grpc_exchange_clear(kc__grpc_exchange *x)
{
    kc__grpc_response_clear(&x->response);
    kc__grpc_deframer_clear(&x->deframer);
    kc_buf_done(&x->held);
    kc__grpc_status_done(&x->status);
    x->held_at = 0;
    x->sent = x->deferred = x->closing = x->lost = false;
}

void kc__grpc_exchange_cancel(kc__grpc_exchange *x)
{
    if (x->session)
        kc__grpc_session_cancel(x->session, x);
}

/* ---- the end ---- */

static void finish_exchange(kc__grpc_exchange *x)
{
    if (x->status.code == KC__GRPC_OK && kc__grpc_deframer_is_inside(&x->deframer))
        kc__grpc_status_set(&x->status, KC__GRPC_INTERNAL, "the server sent a truncated message");
    x->ops->closed(x);
}

static void fail_exchange(kc__grpc_exchange *x, kc__grpc_status *failure)
{
    kc__grpc_exchange_cancel(x);
    kc__grpc_status_done(&x->status);
    x->status = *failure;
    x->ops->closed(x);
}

void kc__grpc_exchange_close(kc__grpc_exchange *x)
{
    x->closing = true;
    if (!x->held.n)
        finish_exchange(x);
}

void kc__grpc_exchange_end(kc__grpc_exchange *x)
{
    kc__grpc_session_finish(x->session, x);
    kc__grpc_response_finish(&x->response, &x->status);
    kc__grpc_exchange_close(x);
}

/* ---- heads ---- */

void kc__grpc_exchange_field(kc__grpc_exchange *x, kc_str name, kc_str value)
{
    kc__grpc_status failure = {0};
    if (!kc__grpc_response_field(&x->response, name, value, &failure))
        fail_exchange(x, &failure);
}

void kc__grpc_exchange_head(kc__grpc_exchange *x, bool end)
{
    kc__grpc_status failure = {0};
    const kc__grpc_head head = kc__grpc_response_head(&x->response, end, &failure);
    if (head == KC__GRPC_HEAD_FAILED)
        fail_exchange(x, &failure);
    else if (head == KC__GRPC_HEAD_OPENED)
        x->ops->opened(x);
}

/* ---- messages ---- */

/* Passes on the messages in *bytes, until the exchange is paused. False: it has ended. */
static bool pass_messages(kc__grpc_exchange *x, kc_str *bytes)
{
    kc__grpc_status failure = {0};
    while (bytes->n && !atomic_load(&x->paused)) {
        kc_str message;
        const kc__grpc_deframed found = kc__grpc_deframe(&x->deframer, bytes, &message, &failure);
        if (found == KC__GRPC_DEFRAMED_ALL)
            break;
        if (found == KC__GRPC_DEFRAMED_FAILED || !x->ops->message(x, message, &failure)) {
            fail_exchange(x, &failure);
            return false;
        }
    }
    return true;
}

static void consume(const kc__grpc_exchange *x, size_t n)
{
    if (x->session && n)
        kc__grpc_session_consume(x->session, x, n);
}

/* Forgets what was passed on. Moves the rest only if that is the smaller part: linear in total. */
static void compact_held(kc__grpc_exchange *x)
{
    const size_t rest = x->held.n - x->held_at;
    if (!rest)
        kc_buf_done(&x->held);
    else if (rest > x->held_at)
        return;
    else
        memmove(x->held.p, x->held.p + x->held_at, rest);
    x->held.n = rest;
    x->held_at = 0;
}

void kc__grpc_exchange_data(kc__grpc_exchange *x, kc_str bytes)
{
    kc_str rest = bytes;
    if (!x->held.n && !pass_messages(x, &rest))
        return;
    if (rest.n)
        kc_buf_append(&x->held, rest);
    consume(x, bytes.n - rest.n);
}

void kc__grpc_exchange_resume(kc__grpc_exchange *x)
{
    if (!x->held.n)
        return;
    const kc_str held = kc_str_sub(kc_buf_str(&x->held), x->held_at, x->held.n);
    kc_str rest = held;
    if (!pass_messages(x, &rest))
        return;
    x->held_at += held.n - rest.n;
    consume(x, held.n - rest.n);
    compact_held(x);
    if (x->closing && !x->held.n)
        finish_exchange(x);
}
