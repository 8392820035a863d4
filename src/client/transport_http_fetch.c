/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transport_http_fetch.c: a request and its answer as the caller sees them: waiting for the
 * head, reading the body, giving up.
 *
 * The fetch is shared by its caller and the lane's thread, and counted: whoever gives up leaves
 * at once, and the lane lets go when it hears of it. Deadlines and cancellation are kept here, by
 * the one who waits, in the transport's clock; curl itself only knows the limit for connecting.
 */
#include "client/transport_http_internal.h"

/* A buffer above this is not kept by a watch that has nothing to say. */
#define KEEP_BUFFER ((size_t)64 << 10)

static void wake_cancelled(kc_cancel_hook *hook)
{
    kc__fetch *x = kc_container_of(hook, kc__fetch, hook);
    kc_locked (&x->mutex) {
        x->cancelled = true;
        kc_cond_signal(&x->changed);
    }
}

kc__fetch *kc__fetch_new(const kc__http *http, const kc_http_request *request)
{
    kc__fetch *x = kc_new(kc__fetch);
    kc_ref_init(&x->refs);
    kc_mutex_init(&x->mutex);
    kc_cond_init(&x->changed);
    x->response.ops = http->transport.ops;
    x->http = http;
    x->lane = kc__request_is_slow(request) ? http->slow : http->quick;
    x->method = kc_arena_strndup(&x->arena, request->method, strlen(request->method));
    x->deadline = request->deadline ? request->deadline : KC_FOREVER;
    x->cancel = kc_cancel_ref(request->cancel);
    x->hook.fire = wake_cancelled;
    x->cancelled = !kc_cancel_hang(x->cancel, &x->hook);
    return x;
}

kc__fetch *kc__fetch_unref(kc__fetch *x)
{
    if (!x || !kc_ref_drop(&x->refs))
        return NULL;
    kc__handle_free(x->handle);
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

void kc__fetch_finish(kc__fetch *x, CURLcode result)
{
    kc__handle *handle = kc_take(x->handle);
    const char *text = *handle->error ? handle->error : curl_easy_strerror(result);
    kc_locked (&x->mutex) {
        x->done = true;
        x->result = result;
        if (result != CURLE_OK)
            x->why = kc_strdup(text);
    }
    *handle->error = '\0';
    /* One that failed, or was stopped in the middle, is not used again. */
    if (result == CURLE_OK)
        kc__lane_give_handle(x->lane, handle);
    else
        kc__handle_free(handle);
}

/* With the mutex held: waits for something to change. */
static int await_change(kc__fetch *x, int64_t deadline, kc_error *err)
{
    if (x->cancelled)
        return kc_error_set(err, KC_TIMEOUT, "cancelled");
    if (kc_cond_wait_until(&x->changed, &x->mutex, x->http->clock, deadline))
        return 0;
    if (deadline < x->deadline)
        return kc_error_set(err, KC_TIMEOUT, "nothing has come for now");
    return kc_error_set(err, KC_TIMEOUT, "%s %s: the deadline has passed", x->method,
                        x->http->base);
}

int kc__fetch_await_head(kc__fetch *x, kc_error *err)
{
    int result = 0;
    kc_locked (&x->mutex) {
        while (!x->head && !x->done && result == 0)
            result = await_change(x, x->deadline, err);
        if (result == 0 && !x->head)
            result = kc__fetch_failed(x, err);
    }
    return result;
}

/* Gives back what only a burst needed. */
static void shrink(kc_buf *buf)
{
    if (buf->cap > KEEP_BUFFER)
        kc_buf_done(buf);
    else
        kc_buf_clear(buf);
}

/* Waits until there is something to take, and takes it all. 1, 0 at the end, or negative. */
static int take(kc__fetch *x, bool *ret_resume, kc_error *err)
{
    const int64_t mine = x->response.read_deadline;
    const int64_t deadline = mine ? KC_MIN(mine, x->deadline) : x->deadline;
    int result = 0;
    kc_locked (&x->mutex) {
        if (!x->filling.n)
            shrink(&x->draining);
        while (!x->filling.n && !x->done && result == 0)
            result = await_change(x, deadline, err);
        if (result < 0)
            break;
        if (!x->filling.n) {
            result = x->result == CURLE_OK ? 0 : kc__fetch_failed(x, err);
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

ssize_t kc__fetch_read(kc__fetch *x, char *ret_bytes, size_t n, kc_error *err)
{
    bool resume = false;
    if (x->drained == x->draining.n) {
        kc_buf_clear(&x->draining);
        x->drained = 0;
        const int got = take(x, &resume, err);
        if (got <= 0)
            return got;
    }
    if (resume)
        kc__lane_post(x->lane, x, KC__WISH_RESUME);
    n = KC_MIN(n, x->draining.n - x->drained);
    memcpy(ret_bytes, x->draining.p + x->drained, n);
    x->drained += n;
    return (ssize_t)n;
}

void kc__fetch_close(kc__fetch *x)
{
    bool done = false;
    kc_cancel_unhang(x->cancel, &x->hook);
    x->cancel = kc_cancel_unref(x->cancel);
    kc_locked (&x->mutex)
        done = x->done;
    if (!done)
        kc__lane_post(x->lane, x, KC__WISH_STOP);
    kc__fetch_unref(x);
}
