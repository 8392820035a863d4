/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipe.c: bytes from another thread to the body of an answer.
 *
 *     writer ──put──▶ bytes ──task on the loop──▶ kc__exchange_wake ──▶ fill ──▶ client
 *
 * The task that wakes lives in the pipe and is posted once however much is written before it runs.
 * The exchange is known between kc__pipe_read_by and `done`, both on its loop, where the task runs
 * too: so it never wakes one that is gone. It is posted under the mutex while the reader is there,
 * and a loop runs what was posted before it ends.
 */
#include "http/pipe.h"

#include "kc/ref.h"

struct kc__pipe {
    kc_ref refs;
    const kc_clock *clock;
    size_t room;
    void (*drained)(void *user);
    void (*release)(void *user);
    void *user;      /* Of both. */
    kc__exchange *x; /* The loop's own. */

    kc_mutex mutex; /* Guards what follows. */
    kc_cond changed;
    kc_buf bytes;
    kc__loop *loop; /* Of the reader; NULL: there is none yet, or no more. */
    kc__task wake;
    bool waking; /* The task is posted. */
    bool full;   /* The writer was told so. */
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

static void wake(kc__task *task)
{
    kc__pipe *p = kc_container_of(task, kc__pipe, wake);
    kc_locked (&p->mutex)
        p->waking = false;
    if (p->x)
        kc__exchange_wake(p->x);
    kc__pipe_unref(p);
}

/* Under the mutex. */
static void post_wake(kc__pipe *p)
{
    if (!p->loop || p->waking)
        return;
    p->waking = true;
    p->wake.run = wake;
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

/* Under the mutex. */
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

/* Under the mutex: true when the writer is to be told that there is room. */
static bool take(kc__pipe *p, kc_buf *out, size_t room, kc__fill *ret)
{
    const size_t n = KC_MIN(room, p->bytes.n);
    kc_buf_append(out, kc_str_of(p->bytes.p, n));
    if (n < p->bytes.n) /* One that never held anything has no memory to move. */
        memmove(p->bytes.p, p->bytes.p + n, p->bytes.n - n);
    p->bytes.n -= n;
    if (p->bytes.n)
        *ret = KC__FILL_MORE;
    else if (p->closed)
        *ret = p->broken ? KC__FILL_ABORT : KC__FILL_END;
    else
        *ret = KC__FILL_WAIT;
    const bool was_full = p->full && p->bytes.n <= p->room / 2;
    p->full = p->full && !was_full;
    if (was_full)
        kc_cond_broadcast(&p->changed);
    return was_full;
}

static kc__fill fill(kc_buf *out, size_t room, void *user)
{
    kc__pipe *p = user;
    kc__fill more = KC__FILL_WAIT;
    bool drained = false;
    kc_locked (&p->mutex)
        drained = take(p, out, room ? room : 1, &more);
    if (drained && p->drained)
        p->drained(p->user);
    return more;
}

static void done(void *user)
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

const kc__body_source kc__pipe_source = {.fill = fill, .done = done};
