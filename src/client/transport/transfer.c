/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transfer.c: the caller's side of a transfer: waiting for the head, reading the body, giving up.
 *
 * A caller that waits drives the loop if no other thread does (http/client/curl_loop.h): curl runs
 * on the caller's thread, and neither sending nor receiving switches threads. Otherwise the caller
 * waits for a signal of the driver. A virtual clock cannot end a wait in curl, so callers with such
 * a clock never drive.
 *
 * The caller and the driver share a transfer by reference counting: a caller that gives up returns
 * at once, and the loop drops its reference when its thread processes the stop. The waiting thread
 * enforces deadlines and cancellation, on the transport's clock; curl itself only has the connect
 * timeout.
 */
#include "client/transport/transport_http_internal.h"

/* An idle watch releases a buffer larger than this. */
#define KEEP_BUFFER ((size_t)64 << 10)

static void wake_cancelled(kc_cancel_hook *hook)
{
    kc__client_transport_transfer *x = kc_container_of(hook, kc__client_transport_transfer, hook);
    kc_locked (&x->mutex) {
        x->cancelled = true;
        kc_cond_signal(&x->changed);
    }
    kc__client_transport_loop_wake(x->loop); /* The caller may sleep in curl. */
}

kc__client_transport_transfer *kc__client_transport_transfer_new(kc__client_transport_http *http,
                                                                 const kc_http_request *request)
{
    kc__client_transport_transfer *x = kc_new(kc__client_transport_transfer);
    kc_ref_init(&x->refs);
    kc_mutex_init(&x->mutex);
    kc_cond_init(&x->changed);
    x->response.ops = http->transport.ops;
    x->http = http;
    x->loop = kc__client_transport_request_is_slow(request) ? http->slow : http->quick;
    x->method = kc_arena_strndup(&x->arena, request->method, strlen(request->method));
    x->deadline = request->deadline ? request->deadline : KC_FOREVER;
    x->cancel = kc_cancel_ref(request->cancel);
    x->hook.fire = wake_cancelled;
    /* The hook may fire as soon as it is added. */
    if (!kc_cancel_add_hook(x->cancel, &x->hook))
        wake_cancelled(&x->hook);
    return x;
}

kc__client_transport_transfer *kc__client_transport_transfer_unref(kc__client_transport_transfer *x)
{
    if (!x || !kc_ref_drop(&x->refs))
        return NULL;
    kc__client_transport_handle_free(x->handle);
    kc__credential_unref(x->credential);
    kc_vec_done(&x->fields);
    kc_buf_done(&x->filling);
    kc_buf_done(&x->draining);
    kc_cond_done(&x->changed);
    kc_mutex_done(&x->mutex);
    kc_arena_done(&x->arena);
    free(x->why);
    free(x);
    return NULL;
}

void kc__client_transport_transfer_finish(kc__client_transport_transfer *x, CURLcode result)
{
    kc__client_transport_handle *handle = kc_take(x->handle);
    const char *text = *handle->error ? handle->error : curl_easy_strerror(result);
    kc_locked (&x->mutex) {
        x->done = true;
        x->result = result;
        if (result != CURLE_OK)
            x->why = kc_strdup(text);
    }
    *handle->error = '\0';
    /* A handle that failed or was stopped midway is not reused. */
    if (result == CURLE_OK)
        kc__client_transport_loop_put_handle(x->loop, handle);
    else
        kc__client_transport_handle_free(handle);
    if (x->callbacks)
        kc__client_transport_tell_end(x);
}

/* ---- waiting ---- */

/* What a caller waits for. Requires the mutex. */
typedef bool transfer_is_ready(const kc__client_transport_transfer *x);

static bool has_head(const kc__client_transport_transfer *x)
{
    return x->head || x->done;
}

static bool has_bytes(const kc__client_transport_transfer *x)
{
    return x->filling.n || x->done;
}

static bool need_not_wait(kc__client_transport_transfer *x, transfer_is_ready *is_ready)
{
    bool over = false;
    kc_locked (&x->mutex)
        over = is_ready(x) || x->cancelled;
    return over;
}

static bool has_passed(const kc__client_transport_transfer *x, int64_t deadline)
{
    return deadline != KC_FOREVER && kc_clock_now(x->http->clock) >= deadline;
}

/* Drives the loop until the wait is over or another thread drives: for one turn at least, so that a
 * reader that polls with a deadline in the past receives what has arrived. */
static void drive_until(kc__client_transport_transfer *x, transfer_is_ready *is_ready,
                        int64_t deadline)
{
    if (need_not_wait(x, is_ready) || !kc__client_transport_loop_enter(x->loop, x))
        return;
    while (kc__client_transport_loop_turn(x->loop)) {
        if (need_not_wait(x, is_ready) || has_passed(x, deadline)) {
            kc__client_transport_loop_leave(x->loop, x);
            return;
        }
        kc__client_transport_loop_sleep(x->loop, deadline);
    }
}

/* Requires the mutex. Waits for a change that another thread makes. */
static int await_change(kc__client_transport_transfer *x, int64_t deadline, kc_error *err)
{
    if (x->cancelled)
        return kc_error_set(err, KC_TIMEOUT, "cancelled");
    if (kc_cond_wait_until(&x->changed, &x->mutex, x->http->clock, deadline))
        return 0;
    if (deadline < x->deadline)
        return kc_error_set(err, KC_TIMEOUT, "no data within the read timeout");
    return kc_error_set(err, KC_TIMEOUT, "%s %s: deadline exceeded", x->method, x->http->base);
}

int kc__client_transport_transfer_wait_head(kc__client_transport_transfer *x, kc_error *err)
{
    int result = 0;
    drive_until(x, has_head, x->deadline);
    kc_locked (&x->mutex) {
        while (!has_head(x) && result == 0)
            result = await_change(x, x->deadline, err);
        if (result == 0 && !x->head)
            result = kc__client_transport_transfer_error(x, err);
    }
    return result;
}

/* ---- reading ---- */

/* Releases memory that only a burst needed. */
static void transport_transfer_shrink(kc_buf *buf)
{
    if (buf->cap > KEEP_BUFFER)
        kc_buf_done(buf);
    else
        kc_buf_clear(buf);
}

/* Waits for data and takes all of it. Returns 1, 0 at the end, or a negative error. */
static int transport_transfer_take(kc__client_transport_transfer *x, bool *ret_resume,
                                   kc_error *err)
{
    const int64_t mine = x->response.read_deadline;
    const int64_t deadline = mine ? KC_MIN(mine, x->deadline) : x->deadline;
    int result = 0;
    kc_locked (&x->mutex)
        if (!x->filling.n)
            transport_transfer_shrink(&x->draining);
    drive_until(x, has_bytes, deadline);
    kc_locked (&x->mutex) {
        while (!has_bytes(x) && result == 0)
            result = await_change(x, deadline, err);
        if (result < 0)
            break;
        if (!x->filling.n) {
            result = x->result == CURLE_OK ? 0 : kc__client_transport_transfer_error(x, err);
            break;
        }
        const kc_buf taken = x->filling;
        x->filling = x->draining;
        x->draining = taken;
        *ret_resume = x->paused;
        x->paused = false;
        result = 1;
    }
    return result;
}

ssize_t kc__client_transport_transfer_read(kc__client_transport_transfer *x, char *ret_bytes,
                                           size_t n, kc_error *err)
{
    bool resume = false;
    if (x->drained == x->draining.n) {
        kc_buf_clear(&x->draining);
        x->drained = 0;
        const int got = transport_transfer_take(x, &resume, err);
        if (got <= 0)
            return got;
    }
    if (resume)
        kc__client_transport_loop_resume(x->loop, x);
    n = KC_MIN(n, x->draining.n - x->drained);
    memcpy(ret_bytes, x->draining.p + x->drained, n);
    x->drained += n;
    return (ssize_t)n;
}

void kc__client_transport_transfer_close(kc__client_transport_transfer *x)
{
    bool done = false;
    kc_cancel_remove_hook(x->cancel, &x->hook);
    x->cancel = kc_cancel_unref(x->cancel);
    kc_locked (&x->mutex)
        done = x->done;
    if (!done)
        kc__client_transport_loop_end(x->loop, x);
    kc__client_transport_transfer_unref(x);
}
