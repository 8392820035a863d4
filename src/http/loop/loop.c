/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loop.c: the event loop: libuv's, with three additions.
 *
 * Tasks. Other threads push tasks on a stack with one compare-and-swap and wake the loop only if
 * the stack was empty; the loop takes the whole stack at once and reverses it, so tasks run in the
 * order in which they were posted. Tasks posted by the loop's own thread go to a separate list that
 * runs before the loop would sleep: that needs no system call.
 *
 *     other threads ──▶ posted (stack) ──▶ wake ──▶ run
 *     own thread ─────▶ own (list) ───────────────▶ run, before polling
 *
 * Timers. A heap ordered by deadline, in the time of the given clock, and one uv_timer for the
 * earliest. When the earliest deadline moves to a later time the uv_timer is not changed: it fires
 * early, finds nothing due and is set again. A clock other than the real one advances without
 * notice; while a timer runs the loop checks such a clock every millisecond.
 *
 * The text of the Date field, formatted once a second.
 *
 * A simulation (sim.h) has no sockets, and threads may wait only through its clock: there the loop
 * uses a condition variable instead of libuv and handles tasks and timers in the same way.
 *
 * Threads: any thread may access `posted` and `stopping`; all other fields belong to the loop's
 * thread (and to the starting thread until that runs). libuv's loop is created and closed by the
 * loop's thread: since 1.45 it has an io_uring, and the kernel interrupts system calls of every
 * thread that has used one when it is closed. A caller's read with a timeout would fail with EINTR.
 * SIGPIPE is blocked on the loop's thread: a closed connection is an error of a write, not a
 * signal.
 */
#include "http/loop/loop_internal.h"

#include "http/message/header.h"
#include "kc/heap.h"
#include "kc/sim.h"

#include <assert.h>
#include <signal.h>

struct kc__loop {
    uv_loop_t uv;
    uv_async_t wake;
    uv_timer_t timer;
    uv_prepare_t before_poll;
    uv_idle_t no_sleep; /* Active while `own` has tasks, so that polling does not block. */

    const kc_clock *clock;
    kc_heap timers;
    int64_t armed; /* The deadline `timer` is set for; KC_FOREVER: not set. */

    _Atomic(kc__loop_task *) posted; /* Newest first. */
    _Atomic bool stopping;
    kc__loop_task *own, **own_end;

    bool simulated; /* Then libuv is unused, and these two fields are used: */
    kc_mutex mutex; /* Guards `stopping` and `posted` against lost wake-ups. */
    kc_cond more;

    kc_thread *thread;
    pthread_t id;
    int failure;      /* Of libuv, or 0; set before `running` ends. */
    kc_latch running; /* Until the thread has begun, or failed to. */
    kc_latch woken;   /* Until kc__loop_stop does not use libuv's loop any more. */

    int64_t date_second;
    char date[KC__HTTP_DATE];
};

uv_loop_t *kc__loop_uv(kc__loop *loop)
{
    assert(!loop->simulated && "a simulation has no sockets");
    return &loop->uv;
}

const kc_clock *kc__loop_clock(const kc__loop *loop)
{
    return loop->clock;
}

bool kc__loop_is_current(const kc__loop *loop)
{
    return pthread_equal(loop->id, pthread_self());
}

kc_str kc__loop_date(kc__loop *loop)
{
    int64_t wall = kc_clock_wall(loop->clock), second = wall / KC_SECOND;
    if (second != loop->date_second || !loop->date[0]) {
        kc__http_date(wall, loop->date);
        loop->date_second = second;
    }
    return kc_str_of(loop->date, KC__HTTP_DATE - 1);
}

/* ---- tasks ---- */

static void run_list(kc__loop_task *task)
{
    for (kc__loop_task *next; task; task = next) {
        next = task->next; /* The task may be freed or posted again once it has run. */
        task->run(task);
    }
}

static void run_posted(kc__loop *loop)
{
    kc__loop_task *newest = atomic_exchange_explicit(&loop->posted, NULL, memory_order_acquire);
    kc__loop_task *oldest = NULL;
    while (newest) {
        kc__loop_task *next = newest->next;
        newest->next = oldest;
        oldest = newest;
        newest = next;
    }
    run_list(oldest);
}

static void run_own(kc__loop *loop)
{
    kc__loop_task *list = loop->own;
    loop->own = NULL;
    loop->own_end = &loop->own;
    run_list(list);
}

static void never_mind(uv_idle_t *idle)
{
    (void)idle;
}

/* Tasks that post tasks alternate with the connections. */
static void on_before_poll(uv_prepare_t *prepare)
{
    kc__loop *loop = prepare->data;
    run_own(loop);
    if (loop->own)
        uv_idle_start(&loop->no_sleep, never_mind);
    else
        uv_idle_stop(&loop->no_sleep);
}

static void close_handles(kc__loop *loop)
{
    uv_close((uv_handle_t *)&loop->wake, NULL);
    uv_close((uv_handle_t *)&loop->timer, NULL);
    uv_close((uv_handle_t *)&loop->before_poll, NULL);
    uv_close((uv_handle_t *)&loop->no_sleep, NULL);
}

static void on_wake(uv_async_t *async)
{
    kc__loop *loop = async->data;
    bool stopping = atomic_load(&loop->stopping);
    run_posted(loop);
    if (!stopping)
        return;
    while (loop->own || atomic_load(&loop->posted)) {
        run_own(loop);
        run_posted(loop);
    }
    close_handles(loop);
}

static void wake_loop(kc__loop *loop)
{
    if (!loop->simulated) {
        uv_async_send(&loop->wake);
        return;
    }
    kc_locked (&loop->mutex)
        kc_cond_signal(&loop->more);
}

static void post_own(kc__loop *loop, kc__loop_task *task)
{
    task->next = NULL;
    *loop->own_end = task;
    loop->own_end = &task->next;
}

void kc__loop_post(kc__loop *loop, kc__loop_task *task)
{
    if (kc__loop_is_current(loop)) {
        post_own(loop, task);
        return;
    }
    kc__loop_task *first = atomic_load_explicit(&loop->posted, memory_order_relaxed);
    do
        task->next = first;
    while (!atomic_compare_exchange_weak_explicit(&loop->posted, &first, task, memory_order_release,
                                                  memory_order_relaxed));
    if (!first)
        wake_loop(loop);
}

typedef struct loop_call {
    kc__loop_task task;
    void (*run)(void *user);
    void *user;
    kc_latch ended;
} loop_call;

static void run_loop_call(kc__loop_task *task)
{
    loop_call *call = kc_container_of(task, loop_call, task);
    call->run(call->user);
    kc_latch_count_down(&call->ended);
}

void kc__loop_call(kc__loop *loop, void (*run)(void *user), void *user)
{
    loop_call call = {.task.run = run_loop_call, .run = run, .user = user};
    kc_latch_init(&call.ended);
    kc_latch_add(&call.ended, 1);
    kc__loop_post(loop, &call.task);
    kc_latch_wait(&call.ended);
    kc_latch_done(&call.ended);
}

/* ---- timers ---- */

static kc__loop_timer *timer_of(const kc_heap_node *node)
{
    return node ? kc_container_of(node, kc__loop_timer, place) : NULL;
}

static bool earlier(const kc_heap_node *a, const kc_heap_node *b, void *user)
{
    (void)user;
    return timer_of(a)->deadline < timer_of(b)->deadline;
}

static uint64_t milliseconds_until(const kc__loop *loop, int64_t deadline)
{
    if (loop->clock != kc_clock_real())
        return 1;
    int64_t ns = KC_MIN(deadline - kc_clock_now(loop->clock), KC_HOUR);
    return ns <= 0 ? 0 : (uint64_t)((ns + KC_MILLISECOND - 1) / KC_MILLISECOND);
}

static void on_timer(uv_timer_t *timer);

static void arm(kc__loop *loop)
{
    const kc__loop_timer *first = timer_of(kc_heap_peek(&loop->timers));
    if (loop->simulated || !first || first->deadline >= loop->armed)
        return;
    loop->armed = first->deadline;
    uv_timer_start(&loop->timer, on_timer, milliseconds_until(loop, first->deadline), 0);
}

static void fire_due(kc__loop *loop)
{
    const int64_t now = kc_clock_now(loop->clock);
    kc__loop_timer *first;
    while ((first = timer_of(kc_heap_peek(&loop->timers))) && first->deadline <= now) {
        kc_heap_pop(&loop->timers);
        first->fire(first);
    }
}

static void on_timer(uv_timer_t *timer)
{
    kc__loop *loop = timer->data;
    loop->armed = KC_FOREVER;
    fire_due(loop);
    arm(loop);
}

void kc__loop_timer_start(kc__loop_timer *timer, int64_t deadline)
{
    kc__loop *loop = timer->loop;
    timer->deadline = KC_MIN(deadline, KC_FOREVER - 1);
    if (kc_heap_has(&timer->place))
        kc_heap_fix(&loop->timers, &timer->place);
    else
        kc_heap_push(&loop->timers, &timer->place);
    arm(loop);
}

void kc__loop_timer_stop(kc__loop_timer *timer)
{
    if (timer->loop)
        kc_heap_remove(&timer->loop->timers, &timer->place);
}

/* ---- in a simulation ---- */

static bool has_tasks(const kc__loop *loop)
{
    return loop->own || atomic_load(&loop->posted);
}

static void wait_for_more(kc__loop *loop)
{
    const kc__loop_timer *first = timer_of(kc_heap_peek(&loop->timers));
    int64_t deadline = first ? first->deadline : KC_FOREVER;
    kc_locked (&loop->mutex)
        while (!has_tasks(loop) && !atomic_load(&loop->stopping) &&
               kc_cond_wait_until(&loop->more, &loop->mutex, loop->clock, deadline))
            ;
}

static void run_simulated(kc__loop *loop)
{
    while (has_tasks(loop) || !atomic_load(&loop->stopping)) {
        run_posted(loop);
        run_own(loop);
        fire_due(loop);
        if (!has_tasks(loop))
            wait_for_more(loop);
    }
}

/* ---- start and stop ---- */

static void block_sigpipe(void)
{
    sigset_t pipe_only;
    sigemptyset(&pipe_only);
    sigaddset(&pipe_only, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_only, NULL);
}

static int init_handles(kc__loop *loop)
{
    int r = uv_async_init(&loop->uv, &loop->wake, on_wake);
    if (r < 0)
        return r;
    uv_timer_init(&loop->uv, &loop->timer);
    uv_prepare_init(&loop->uv, &loop->before_poll);
    uv_idle_init(&loop->uv, &loop->no_sleep);
    loop->wake.data = loop->timer.data = loop->before_poll.data = loop;
    uv_prepare_start(&loop->before_poll, on_before_poll);
    return 0;
}

static int init_uv(kc__loop *loop)
{
    int r = uv_loop_init(&loop->uv);
    if (r == 0 && (r = init_handles(loop)) < 0)
        uv_loop_close(&loop->uv);
    return r;
}

static void run_uv(kc__loop *loop)
{
    uv_run(&loop->uv, UV_RUN_DEFAULT);
    kc_latch_wait(&loop->woken);
    int r = uv_loop_close(&loop->uv);
    assert(r == 0 && "the loop has open handles");
    (void)r;
}

static void run_event_loop(void *user)
{
    kc__loop *loop = user;
    block_sigpipe();
    loop->id = pthread_self();
    loop->failure = loop->simulated ? 0 : init_uv(loop);
    const bool fine = loop->failure == 0;
    kc_latch_count_down(&loop->running);
    if (fine && loop->simulated)
        run_simulated(loop);
    else if (fine)
        run_uv(loop);
}

/* Ends the thread, which is about to end, and frees the loop. */
static void loop_free(kc__loop *loop)
{
    kc_thread_join(loop->thread);
    kc_heap_done(&loop->timers);
    kc_cond_done(&loop->more);
    kc_mutex_done(&loop->mutex);
    kc_latch_done(&loop->running);
    kc_latch_done(&loop->woken);
    free(loop);
}

static kc__loop *loop_new(const kc_clock *clock)
{
    kc__loop *loop = kc_new(kc__loop);
    loop->simulated = kc_sim_current() != NULL;
    kc_mutex_init(&loop->mutex);
    kc_cond_init(&loop->more);
    loop->clock = clock ? clock : kc_clock_real();
    loop->timers.less = earlier;
    loop->armed = KC_FOREVER;
    loop->own_end = &loop->own;
    kc_latch_init(&loop->running);
    kc_latch_add(&loop->running, 1);
    kc_latch_init(&loop->woken);
    kc_latch_add(&loop->woken, 1);
    return loop;
}

kc__loop *kc__loop_start(const char *name, const kc_clock *clock, kc_error *err)
{
    kc__loop *loop = loop_new(clock);
    loop->thread = kc_thread_start(name, run_event_loop, loop, err);
    if (!loop->thread) {
        loop_free(loop);
        return NULL;
    }
    kc_latch_wait(&loop->running);
    if (loop->failure < 0) {
        kc_error_set(err, KC_INTERNAL, "cannot create an event loop: %s",
                     uv_strerror(loop->failure));
        loop_free(loop);
        return NULL;
    }
    return loop;
}

kc__loop *kc__loop_stop(kc__loop *loop)
{
    if (!loop)
        return NULL;
    assert(!kc__loop_is_current(loop));
    atomic_store(&loop->stopping, true);
    wake_loop(loop);
    kc_latch_count_down(&loop->woken);
    loop_free(loop);
    return NULL;
}
