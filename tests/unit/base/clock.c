/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "kc/rand.h"
#include "kc/thread.h"

enum { THREADS = 4 };

static const int64_t monday = INT64_C(1763337600) * KC_SECOND; /* 2025-11-17 00:00 UTC */

static kc_thread *start(void (*fn)(void *user), void *user)
{
    kc_thread *thread = kc_thread_start("test", fn, user, NULL);
    assert_non_null(thread);
    return thread;
}

/* ---- reading ---- */

static void real_clock_moves_forward(void **state)
{
    (void)state;
    const kc_clock *clock = kc_clock_real();
    int64_t before = kc_clock_now(clock);
    kc_clock_sleep(clock, 1);
    kc_clock_sleep(clock, -5);
    kc_clock_sleep_until(clock, before);
    assert_true(kc_clock_now(clock) > before);
    assert_true(kc_clock_wall(clock) > monday);
}

static void virtual_time_stands_still_until_advanced(void **state)
{
    (void)state;
    kc_auto(kc_clock) *clock = kc_clock_virtual_new(monday);
    int64_t begin = kc_clock_now(clock);
    assert_true(begin > 0);
    assert_true(kc_clock_wall(clock) == monday);
    kc_clock_advance(clock, 90 * KC_SECOND);
    assert_true(kc_clock_now(clock) == begin + 90 * KC_SECOND);
    assert_true(kc_clock_wall(clock) == monday + 90 * KC_SECOND);
}

static void virtual_time_never_moves_back(void **state)
{
    (void)state;
    kc_auto(kc_clock) *clock = kc_clock_virtual_new(0);
    int64_t begin = kc_clock_now(clock);
    kc_clock_advance_to(clock, begin - 1);
    kc_clock_advance(clock, 0);
    assert_true(kc_clock_now(clock) == begin);
    kc_clock_advance_to(clock, begin + 7);
    assert_true(kc_clock_now(clock) == begin + 7);
}

static void overflowing_deadline_is_forever(void **state)
{
    (void)state;
    kc_auto(kc_clock) *clock = kc_clock_virtual_new(INT64_MAX);
    assert_true(kc_clock_deadline(clock, 5) == kc_clock_now(clock) + 5);
    assert_true(kc_clock_deadline(clock, INT64_MAX) == KC_FOREVER);
    kc_clock_advance(clock, 1);
    assert_true(kc_clock_wall(clock) == INT64_MAX);
}

/* ---- sleeping ---- */

typedef struct sleeper {
    kc_clock *clock;
    int64_t deadline, woke_at;
    _Atomic bool woke;
} sleeper;

static void sleep_once(void *user)
{
    sleeper *s = user;
    kc_clock_sleep_until(s->clock, s->deadline);
    s->woke_at = kc_clock_now(s->clock);
    atomic_store(&s->woke, true);
}

static void sleeper_wakes_exactly_at_its_deadline(void **state)
{
    (void)state;
    kc_auto(kc_clock) *clock = kc_clock_virtual_new(0);
    int64_t begin = kc_clock_now(clock);
    sleeper s = {.clock = clock, .deadline = begin + KC_SECOND};
    kc_thread *thread = start(sleep_once, &s);
    kc_clock_await_waiters(clock, 1);
    kc_clock_advance(clock, KC_SECOND - 1);
    assert_int_equal(kc_clock_waiters(clock), 1);
    assert_false(s.woke);
    kc_clock_advance(clock, 1);
    assert_int_equal(kc_clock_waiters(clock), 0);
    kc_thread_join(thread);
    assert_true(s.woke_at == begin + KC_SECOND);
}

static void advance_wakes_exactly_the_due_waiters(void **state)
{
    (void)state;
    kc_auto(kc_clock) *clock = kc_clock_virtual_new(0);
    int64_t begin = kc_clock_now(clock), next = 0;
    sleeper s[THREADS];
    kc_thread *threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        s[i] = (sleeper){.clock = clock, .deadline = begin + (i + 1) * KC_MINUTE};
        threads[i] = start(sleep_once, &s[i]);
    }
    kc_clock_await_waiters(clock, THREADS);
    assert_true(kc_clock_next_deadline(clock, &next) && next == begin + KC_MINUTE);
    kc_clock_advance(clock, 3 * KC_MINUTE);
    assert_int_equal(kc_clock_waiters(clock), 1);
    assert_true(kc_clock_next_deadline(clock, &next) && next == begin + 4 * KC_MINUTE);
    for (int i = 0; i < 3; i++)
        kc_thread_join(threads[i]);
    assert_false(s[3].woke);
    kc_clock_advance_to(clock, next);
    kc_thread_join(threads[3]);
    assert_false(kc_clock_next_deadline(clock, &next));
}

/* ---- waiting on a condition variable ---- */

typedef struct room {
    kc_clock *clock;
    kc_mutex mutex;
    kc_cond changed;
    int tokens, timed_out, order_n;
    int64_t order[64];
} room;

static void room_init(room *r, kc_clock *clock)
{
    *r = (room){.clock = clock};
    kc_mutex_init(&r->mutex);
    kc_cond_init(&r->changed);
}

static void room_done(room *r)
{
    kc_cond_done(&r->changed);
    kc_mutex_done(&r->mutex);
}

static void wait_forever_for_a_token(void *user)
{
    room *r = user;
    kc_locked (&r->mutex) {
        while (!r->tokens)
            assert_true(kc_cond_wait_until(&r->changed, &r->mutex, r->clock, KC_FOREVER));
        r->tokens--;
    }
}

static void endless_wait_is_counted_without_deadline(void **state)
{
    (void)state;
    kc_auto(kc_clock) *clock = kc_clock_virtual_new(0);
    room r;
    room_init(&r, clock);
    kc_thread *thread = start(wait_forever_for_a_token, &r);
    kc_clock_await_waiters(clock, 1);
    int64_t next = 42;
    assert_false(kc_clock_next_deadline(clock, &next));
    assert_int_equal(next, 42);
    kc_clock_advance(clock, INT64_MAX);
    assert_int_equal(kc_clock_waiters(clock), 1);
    kc_locked (&r.mutex)
        r.tokens++;
    kc_cond_signal(&r.changed);
    kc_thread_join(thread);
    room_done(&r);
}

static void signalled_waiter_is_not_counted(void **state)
{
    (void)state;
    kc_auto(kc_clock) *clock = kc_clock_virtual_new(0);
    room r;
    room_init(&r, clock);
    kc_thread *threads[2] = {start(wait_forever_for_a_token, &r),
                             start(wait_forever_for_a_token, &r)};
    kc_clock_await_waiters(clock, 2);
    kc_locked (&r.mutex) {
        r.tokens = 2;
        kc_cond_signal(&r.changed);
        assert_int_equal(kc_clock_waiters(clock), 1);
        kc_cond_broadcast(&r.changed);
        assert_int_equal(kc_clock_waiters(clock), 0);
    }
    kc_thread_join(threads[0]);
    kc_thread_join(threads[1]);
    room_done(&r);
}

static void wait_one_second_for_a_token(void *user)
{
    room *r = user;
    int64_t deadline = kc_clock_deadline(r->clock, KC_SECOND);
    kc_locked (&r->mutex) {
        while (!r->tokens && kc_cond_wait_until(&r->changed, &r->mutex, r->clock, deadline))
            ;
        if (r->tokens)
            r->tokens--;
        else
            r->timed_out++;
    }
}

static void wait_ends_by_signal_or_deadline(void **state)
{
    (void)state;
    kc_auto(kc_clock) *clock = kc_clock_virtual_new(0);
    room r;
    room_init(&r, clock);
    kc_thread *threads[3];
    for (int i = 0; i < 3; i++)
        threads[i] = start(wait_one_second_for_a_token, &r);
    kc_clock_await_waiters(clock, 3);
    kc_locked (&r.mutex)
        r.tokens = 1;
    kc_cond_signal(&r.changed);
    kc_clock_advance(clock, KC_SECOND);
    for (int i = 0; i < 3; i++)
        kc_thread_join(threads[i]);
    assert_int_equal(r.timed_out, 2);
    room_done(&r);
}

/* A signal after one waiter's deadline has passed wakes another waiter. */
static void signal_skips_timed_out_waiter(void **state)
{
    (void)state;
    kc_auto(kc_clock) *clock = kc_clock_virtual_new(0);
    room r;
    room_init(&r, clock);
    kc_thread *hasty = start(wait_one_second_for_a_token, &r);
    kc_clock_await_waiters(clock, 1);
    kc_thread *patient = start(wait_forever_for_a_token, &r);
    kc_clock_await_waiters(clock, 2);
    kc_locked (
        &r.mutex) { /* The timed-out waiter is woken, but cannot leave while the mutex is held. */
        kc_clock_advance(clock, KC_SECOND);
        kc_cond_signal(&r.changed);
        assert_int_equal(kc_clock_waiters(clock), 0);
        r.tokens = 2;
    }
    kc_thread_join(hasty);
    kc_thread_join(patient);
    room_done(&r);
}

/* ---- many threads ---- */

typedef struct ticker {
    room *room;
    int64_t period;
    int ticks;
} ticker;

/* Records the time of each tick, in order. */
static void tick(void *user)
{
    ticker *t = user;
    int64_t next = kc_clock_now(t->room->clock);
    for (int i = 0; i < t->ticks; i++) {
        next += t->period;
        kc_clock_sleep_until(t->room->clock, next);
        kc_locked (&t->room->mutex) {
            assert_true(kc_clock_now(t->room->clock) == next);
            t->room->order[t->room->order_n++] = next;
        }
    }
    kc_locked (&t->room->mutex)
        while (!t->room->tokens)
            kc_cond_wait_until(&t->room->changed, &t->room->mutex, t->room->clock, KC_FOREVER);
}

static void run_steps_from_deadline_to_deadline(void **state)
{
    (void)state;
    kc_auto(kc_clock) *clock = kc_clock_virtual_new(0);
    int64_t begin = kc_clock_now(clock);
    room r;
    room_init(&r, clock);
    ticker tickers[3] = {{&r, 2 * KC_SECOND, 15}, {&r, 3 * KC_SECOND, 10}, {&r, 5 * KC_SECOND, 6}};
    kc_thread *threads[3];
    for (int i = 0; i < 3; i++)
        threads[i] = start(tick, &tickers[i]);
    kc_clock_run(clock, 29 * KC_SECOND, 3);
    assert_int_equal(r.order_n, 14 + 9 + 5);
    kc_clock_run(clock, KC_HOUR, 3);
    assert_true(kc_clock_now(clock) == begin + 29 * KC_SECOND + KC_HOUR);
    assert_int_equal(r.order_n, 15 + 10 + 6);
    for (int i = 1; i < r.order_n; i++)
        assert_true(r.order[i - 1] <= r.order[i]);
    kc_locked (&r.mutex)
        r.tokens = 1;
    kc_cond_broadcast(&r.changed);
    for (int i = 0; i < 3; i++)
        kc_thread_join(threads[i]);
    room_done(&r);
}

typedef struct worker {
    room *room;
    uint64_t seed;
    int64_t slept;
} worker;

/* Waits, sometimes with a deadline, and wakes others, in an order given by the seed. */
static void wait_and_wake(void *user)
{
    worker *w = user;
    room *r = w->room;
    kc_rand rand;
    kc_rand_seed(&rand, w->seed);
    for (int i = 0; i < 500; i++) {
        int64_t deadline = kc_clock_deadline(r->clock, (int64_t)kc_rand_below(&rand, 1000));
        kc_locked (&r->mutex) {
            if (!kc_cond_wait_until(&r->changed, &r->mutex, r->clock, deadline))
                assert_true(kc_clock_now(r->clock) >= deadline);
            r->tokens++;
        }
        if (kc_rand_below(&rand, 3) == 0)
            kc_cond_signal(&r->changed);
        else if (kc_rand_below(&rand, 8) == 0)
            kc_cond_broadcast(&r->changed);
    }
    kc_locked (&r->mutex)
        r->timed_out++;
}

static void racing_signals_and_time_lose_no_wakeup(void **state)
{
    (void)state;
    kc_auto(kc_clock) *clock = kc_clock_virtual_new(0);
    room r;
    room_init(&r, clock);
    worker workers[THREADS];
    kc_thread *threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (worker){.room = &r, .seed = (uint64_t)i};
        threads[i] = start(wait_and_wake, &workers[i]);
    }
    for (int finished = 0; finished < THREADS;) {
        kc_clock_advance(clock, 100);
        kc_locked (&r.mutex)
            finished = r.timed_out;
    }
    for (int i = 0; i < THREADS; i++)
        kc_thread_join(threads[i]);
    assert_int_equal(r.tokens, THREADS * 500);
    assert_int_equal(kc_clock_waiters(clock), 0);
    room_done(&r);
}

TESTS(real_clock_moves_forward, virtual_time_stands_still_until_advanced,
      virtual_time_never_moves_back, overflowing_deadline_is_forever,
      sleeper_wakes_exactly_at_its_deadline, advance_wakes_exactly_the_due_waiters,
      endless_wait_is_counted_without_deadline, signalled_waiter_is_not_counted,
      wait_ends_by_signal_or_deadline, signal_skips_timed_out_waiter,
      run_steps_from_deadline_to_deadline, racing_signals_and_time_lose_no_wakeup)
