/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipe.c: passes bytes from another thread to the body of a response.
 *
 *     writer ──put──▶ bytes ──task on the loop──▶ kc__exchange_wake ──▶ fill ──▶ client
 *
 * The task that wakes the exchange is part of the pipe and is posted once, however much is written
 * before it runs. The pipe refers to the exchange between kc__pipe_read_by and `done`. Both run on
 * the exchange's loop, as the task does, so the task never wakes an exchange that is gone. The task
 * is posted under the mutex while there is a reader, and a loop runs all posted tasks before it
 * ends.
 */
#include "http/client/pipe.h"

#include "kc/ref.h"

struct kc__pipe {
    kc_ref refs;
    const kc_clock *clock;
    size_t room;
    void (*drained)(void *user);
    void (*release)(void *user);
    void *user;      /* Argument of both. */
    kc__exchange *x; /* Owned by the loop. */

    kc_mutex mutex; /* Guards the fields below. */
    kc_cond changed;
    kc_buf bytes;
    kc__loop *loop; /* The reader's; NULL before there is a reader and after it is gone. */
    kc__loop_task wake;
    bool waking; /* The task is posted. */
    bool full;   /* KC__PIPE_FULL was returned to the writer. */
    bool closed, broken, gone;
};

kc__pipe *kc__pipe_new(const kc_clock *clock, size_t room)
{
    kc__pipe *p = kc_new(kc__pipe);
    kc_ref_init(&p->refs);
    p->clock = clock;
    p->room = room;
    kc_mutex_init(&p->mutex);
    kc_cond_init(&p->changed);
    return p;
}

kc__pipe *kc__pipe_ref(kc__pipe *pipe)
{
    kc_ref_add(&pipe->refs);
    return pipe;
}

kc__pipe *kc__pipe_unref(kc__pipe *pipe)
{
    if (!pipe || !kc_ref_drop(&pipe->refs))
        return NULL;
    if (pipe->release)
        pipe->release(pipe->user);
    kc_buf_done(&pipe->bytes);
    kc_cond_done(&pipe->changed);
    kc_mutex_done(&pipe->mutex);
    free(pipe);
    return NULL;
}

/* ---- waking the reader ---- */

static void wake_pipe_reader(kc__loop_task *task)
{
    kc__pipe *p = kc_container_of(task, kc__pipe, wake);
    kc_locked (&p->mutex)
        p->waking = false;
    if (p->x)
        kc__exchange_wake(p->x);
    kc__pipe_unref(p);
}

/* Requires the mutex. */
static void post_wake(kc__pipe *p)
{
    if (!p->loop || p->waking)
        return;
    p->waking = true;
    p->wake.run = wake_pipe_reader;
    kc__loop_post(kc__pipe_ref(p)->loop, &p->wake);
}

/* ---- writing ---- */

void kc__pipe_on_drained(kc__pipe *pipe, void (*drained)(void *user), void (*release)(void *user),
                         void *user)
{
    pipe->drained = drained;
    pipe->release = release;
    pipe->user = user;
}

/* Requires the mutex. */
static kc__pipe_state state_of(kc__pipe *p)
{
    p->full = p->bytes.n >= p->room;
    return p->gone ? KC__PIPE_GONE : p->full ? KC__PIPE_FULL : KC__PIPE_OPEN;
}

kc__pipe_state kc__pipe_check(kc__pipe *pipe)
{
    kc__pipe_state state = KC__PIPE_GONE;
    kc_locked (&pipe->mutex)
        state = state_of(pipe);
    return state;
}

kc__pipe_state kc__pipe_put(kc__pipe *pipe, kc_str bytes)
{
    kc__pipe_state state = KC__PIPE_GONE;
    kc_locked (&pipe->mutex) {
        if (!pipe->gone) {
            kc_buf_append(&pipe->bytes, bytes);
            post_wake(pipe);
        }
        state = state_of(pipe);
    }
    return state;
}

bool kc__pipe_write(kc__pipe *pipe, kc_str bytes)
{
    if (kc__pipe_put(pipe, bytes) == KC__PIPE_OPEN)
        return true;
    bool gone = false;
    kc_locked (&pipe->mutex) {
        while (state_of(pipe) == KC__PIPE_FULL)
            kc_cond_wait_until(&pipe->changed, &pipe->mutex, pipe->clock, KC_FOREVER);
        gone = pipe->gone;
    }
    return !gone;
}

bool kc__pipe_wait_gone(kc__pipe *pipe, int64_t deadline)
{
    bool gone = false;
    kc_locked (&pipe->mutex) {
        while (!pipe->gone &&
               kc_cond_wait_until(&pipe->changed, &pipe->mutex, pipe->clock, deadline))
            ;
        gone = pipe->gone;
    }
    return gone;
}

void kc__pipe_abandon(kc__pipe *pipe)
{
    kc_locked (&pipe->mutex) {
        pipe->gone = true;
        kc_cond_broadcast(&pipe->changed);
    }
}

void kc__pipe_close(kc__pipe *pipe, bool broken)
{
    kc_locked (&pipe->mutex) {
        pipe->closed = true;
        pipe->broken = broken;
        post_wake(pipe);
    }
}

/* ---- reading ---- */

void *kc__pipe_read_by(kc__pipe *pipe, kc__exchange *x)
{
    pipe->x = x;
    kc_locked (&pipe->mutex)
        pipe->loop = x->loop;
    return kc__pipe_ref(pipe);
}

/* Requires the mutex. Returns true if the writer must be notified of free space. */
static bool take_pipe_bytes(kc__pipe *p, kc_buf *out, size_t room, kc__http_fill *ret)
{
    const size_t n = KC_MIN(room, p->bytes.n);
    kc_buf_append(out, kc_str_of(p->bytes.p, n));
    if (n < p->bytes.n) /* A buffer that was never filled has no memory to move. */
        memmove(p->bytes.p, p->bytes.p + n, p->bytes.n - n);
    p->bytes.n -= n;
    if (p->bytes.n)
        *ret = KC__HTTP_FILL_MORE;
    else if (p->closed)
        *ret = p->broken ? KC__HTTP_FILL_ABORT : KC__HTTP_FILL_END;
    else
        *ret = KC__HTTP_FILL_WAIT;
    const bool was_full = p->full && p->bytes.n <= p->room / 2;
    p->full = p->full && !was_full;
    if (was_full)
        kc_cond_broadcast(&p->changed);
    return was_full;
}

static kc__http_fill fill_pipe_body(kc_buf *out, size_t room, void *user)
{
    kc__pipe *p = user;
    kc__http_fill more = KC__HTTP_FILL_WAIT;
    bool drained = false;
    kc_locked (&p->mutex)
        drained = take_pipe_bytes(p, out, room ? room : 1, &more);
    if (drained && p->drained)
        p->drained(p->user);
    return more;
}

static void pipe_body_done(void *user)
{
    kc__pipe *p = user;
    p->x = NULL;
    kc_locked (&p->mutex) {
        p->gone = true;
        p->loop = NULL;
        kc_cond_broadcast(&p->changed);
    }
    if (p->drained)
        p->drained(p->user);
    kc__pipe_unref(p);
}

const kc__http_body_source kc__pipe_source = {.fill = fill_pipe_body, .done = pipe_body_done};
