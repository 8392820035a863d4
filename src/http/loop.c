/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loop.c: the event loop: libuv's, with three things added to it.
 *
 * Tasks. Other threads push them on a stack with one compare-and-swap and wake the loop only if the
 * stack was empty; the loop takes the whole stack at once and turns it round, so tasks run in the
 * order they came. What the loop's own thread posts goes to a list of its own that is run before
 * the loop would sleep: that costs no system call.
 *
 *     other threads ──▶ posted (stack) ──▶ wake ──▶ run
 *     own thread ─────▶ own (list) ───────────────▶ run, before polling
 *
 * Timers. A heap ordered by deadline, in the time of the clock that was given, and one uv_timer for
 * the earliest. When the earliest moves to a later time the uv_timer stays: it fires early, finds
 * nothing due and is set again. A clock other than the real one moves by itself, without telling;
 * while a timer runs the loop looks at such a clock every millisecond.
 *
 * The text of Date, made once a second.
 *
 * In a simulation (sim.h) there are no sockets, and nothing may wait but through its clock: there
 * the loop is a condition instead of libuv, and does the same with tasks and timers.
 *
 * Threads: `posted` and `stopping` are anybody's, all else belongs to the loop's thread (and to the
 * starting one until that runs). SIGPIPE is blocked there: a client that goes away is an error of
 * a write, not a signal.
 */
#include "http/loop_internal.h"

#include "http/header.h"
#include "kc/heap.h"
#include "kc/sim.h"

#include <assert.h>
#include <signal.h>

struct kc__loop {
    uv_loop_t uv;
    uv_async_t wake;
    uv_timer_t timer;
    uv_prepare_t before_poll;
    uv_idle_t no_sleep; /* Runs while `own` has tasks: polling does not wait then. */

    const kc_clock *clock;
    kc_heap timers;
    int64_t armed; /* The deadline `timer` is set for; KC_FOREVER: not set. */

    _Atomic(kc__task *) posted; /* Newest first. */
    _Atomic bool stopping;
    kc__task *own, **own_end;

    bool simulated; /* Then all of libuv's is unused, and these two are not: */
    kc_mutex mutex; /* Guards `stopping` and `posted` against being missed by who waits. */
    kc_cond more;

    kc_thread *thread;
    pthread_t id;
    kc_latch running;

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

bool kc__loop_is_mine(const kc__loop *loop)
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

static void run_list(kc__task *task)
{
    for (kc__task *next; task; task = next) {
        next = task->next; /* It may be gone, or posted again, when it has run. */
        task->run(task);
    }
}

static void run_posted(kc__loop *loop)
{
    kc__task *newest = atomic_exchange_explicit(&loop->posted, NULL, memory_order_acquire);
    kc__task *oldest = NULL;
    while (newest) {
        kc__task *next = newest->next;
        newest->next = oldest;
        oldest = newest;
        newest = next;
    }
    run_list(oldest);
}

static void run_own(kc__loop *loop)
{
    kc__task *list = loop->own;
    loop->own = NULL;
    loop->own_end = &loop->own;
    run_list(list);
}

static void never_mind(uv_idle_t *idle)
{
    (void)idle;
}

/* Tasks that post tasks take turns with the connections. */
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

static void wake(kc__loop *loop)
{
    if (!loop->simulated) {
        uv_async_send(&loop->wake);
        return;
    }
    kc_locked (&loop->mutex)
        kc_cond_signal(&loop->more);
}

static void post_own(kc__loop *loop, kc__task *task)
{
    task->next = NULL;
    *loop->own_end = task;
    loop->own_end = &task->next;
}

void kc__loop_post(kc__loop *loop, kc__task *task)
{
    if (kc__loop_is_mine(loop)) {
        post_own(loop, task);
        return;
    }
    kc__task *first = atomic_load_explicit(&loop->posted, memory_order_relaxed);
    do
        task->next = first;
    while (!atomic_compare_exchange_weak_explicit(&loop->posted, &first, task, memory_order_release,
                                                  memory_order_relaxed));
    if (!first)
        wake(loop);
}

/* ---- timers ---- */

static kc__timer *timer_of(const kc_heap_node *node)
{
    return node ? kc_container_of(node, kc__timer, place) : NULL;
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
    const kc__timer *first = timer_of(kc_heap_peek(&loop->timers));
    if (loop->simulated || !first || first->deadline >= loop->armed)
        return;
    loop->armed = first->deadline;
    uv_timer_start(&loop->timer, on_timer, milliseconds_until(loop, first->deadline), 0);
}

static void fire_due(kc__loop *loop)
{
    const int64_t now = kc_clock_now(loop->clock);
    kc__timer *first;
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

void kc__timer_start(kc__timer *timer, int64_t deadline)
{
    kc__loop *loop = timer->loop;
    timer->deadline = KC_MIN(deadline, KC_FOREVER - 1);
    if (kc_heap_has(&timer->place))
        kc_heap_fix(&loop->timers, &timer->place);
    else
        kc_heap_push(&loop->timers, &timer->place);
    arm(loop);
}

void kc__timer_stop(kc__timer *timer)
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
    const kc__timer *first = timer_of(kc_heap_peek(&loop->timers));
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

/* ---- life ---- */

static void block_sigpipe(void)
{
    sigset_t pipe_only;
    sigemptyset(&pipe_only);
    sigaddset(&pipe_only, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_only, NULL);
}

static void run(void *user)
{
    kc__loop *loop = user;
    block_sigpipe();
    loop->id = pthread_self();
    kc_latch_count_down(&loop->running);
    if (loop->simulated)
        run_simulated(loop);
    else
        uv_run(&loop->uv, UV_RUN_DEFAULT);
}

static void loop_free(kc__loop *loop)
{
    int r = loop->simulated ? 0 : uv_loop_close(&loop->uv);
    assert(r == 0 && "something still lives on the loop");
    (void)r;
    kc_heap_done(&loop->timers);
    kc_cond_done(&loop->more);
    kc_mutex_done(&loop->mutex);
    kc_latch_done(&loop->running);
    free(loop);
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

static kc__loop *loop_new(const kc_clock *clock, kc_error *err)
{
    kc__loop *loop = kc_new(kc__loop);
    loop->simulated = kc_sim_current() != NULL;
    int r = loop->simulated ? 0 : init_uv(loop);
    if (r < 0) {
        kc_error_set(err, KC_INTERNAL, "cannot make an event loop: %s", uv_strerror(r));
        free(loop);
        return NULL;
    }
    kc_mutex_init(&loop->mutex);
    kc_cond_init(&loop->more);
    loop->clock = clock ? clock : kc_clock_real();
    loop->timers.less = earlier;
    loop->armed = KC_FOREVER;
    loop->own_end = &loop->own;
    kc_latch_init(&loop->running);
    kc_latch_add(&loop->running, 1);
    return loop;
}

kc__loop *kc__loop_start(const char *name, const kc_clock *clock, kc_error *err)
{
    kc__loop *loop = loop_new(clock, err);
    if (!loop)
        return NULL;
    loop->thread = kc_thread_start(name, run, loop, err);
    if (!loop->thread) {
        if (!loop->simulated) {
            close_handles(loop);
            uv_run(&loop->uv, UV_RUN_DEFAULT);
        }
        loop_free(loop);
        return NULL;
    }
    kc_latch_wait(&loop->running);
    return loop;
}

kc__loop *kc__loop_stop(kc__loop *loop)
{
    if (!loop)
        return NULL;
    assert(!kc__loop_is_mine(loop));
    atomic_store(&loop->stopping, true);
    wake(loop);
    kc_thread_join(loop->thread);
    loop_free(loop);
    return NULL;
}
