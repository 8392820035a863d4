/* SPDX-License-Identifier: Apache-2.0 */
/* Delayed keys: delays, rate limits, and workers that wait for them. */
#include "queue_testing.h"

typedef struct worker {
    kc_queue *queue;
    _Atomic int n;
} worker;

static void work(void *user)
{
    worker *w = user;
    kc_queue_item item;
    while (kc_queue_get(w->queue, &item)) {
        w->n++;
        kc_queue_done(w->queue, &item);
    }
}

/* ---- delays ---- */

static void delayed_key_is_ready_at_its_time(void **state)
{
    (void)state;
    kc_scoped(fixture) f = begin((kc_queue_opts){0});
    kc_queue_add_after(f.queue, KC_KEY("ns", "a"), KC_SECOND);
    assert_nothing(&f);
    assert_int_equal(kc_queue_count(f.queue).delayed, 1);
    kc_clock_advance(f.clock, KC_SECOND - 1);
    assert_nothing(&f);
    kc_clock_advance(f.clock, 1);
    assert_int_equal(kc_queue_count(f.queue).ready, 1);
    kc_clock_advance(f.clock, 3);
    kc_queue_item item;
    assert_next(&f, "a", &item);
    assert_int_equal(item.waited, 3);
    kc_queue_done(f.queue, &item);
}

static void zero_or_negative_delay_is_ready_at_once(void **state)
{
    (void)state;
    kc_scoped(fixture) f = begin((kc_queue_opts){0});
    kc_queue_add_after(f.queue, KC_KEY("ns", "a"), 0);
    kc_queue_add_after(f.queue, KC_KEY("ns", "b"), -5);
    assert_comes(&f, "a");
    assert_comes(&f, "b");
}

static void earlier_of_two_delays_is_used(void **state)
{
    (void)state;
    kc_scoped(fixture) f = begin((kc_queue_opts){0});
    kc_queue_add_after(f.queue, KC_KEY("ns", "a"), 10 * KC_SECOND);
    kc_queue_add_after(f.queue, KC_KEY("ns", "a"), 2 * KC_SECOND);
    kc_queue_add_after(f.queue, KC_KEY("ns", "a"), 5 * KC_SECOND);
    kc_clock_advance(f.clock, 2 * KC_SECOND);
    assert_comes(&f, "a");
    kc_clock_advance(f.clock, 20 * KC_SECOND);
    assert_nothing(&f);
}

static void immediate_add_replaces_a_delay(void **state)
{
    (void)state;
    kc_scoped(fixture) f = begin((kc_queue_opts){0});
    kc_queue_add_after(f.queue, KC_KEY("ns", "a"), KC_SECOND);
    add(&f, "b");
    add(&f, "a");
    assert_comes(&f, "a"); /* With the place of its first add. */
    assert_comes(&f, "b");
    kc_clock_advance(f.clock, KC_HOUR);
    assert_nothing(&f);
}

static void delay_does_not_defer_a_ready_key(void **state)
{
    (void)state;
    kc_scoped(fixture) f = begin((kc_queue_opts){0});
    add(&f, "a");
    kc_queue_add_after(f.queue, KC_KEY("ns", "a"), KC_HOUR);
    assert_comes(&f, "a");
    assert_int_equal(kc_queue_count(f.queue).delayed, 0);
}

static void key_whose_delay_has_passed_goes_to_the_end(void **state)
{
    (void)state;
    kc_scoped(fixture) f = begin((kc_queue_opts){0});
    kc_queue_add_after(f.queue, KC_KEY("ns", "delayed"), KC_SECOND);
    add(&f, "a");
    add(&f, "b");
    kc_clock_advance(f.clock, KC_SECOND);
    assert_comes(&f, "a");
    assert_comes(&f, "b");
    assert_comes(&f, "delayed");
}

static void delays_that_pass_together_are_in_order_of_their_times(void **state)
{
    (void)state;
    kc_scoped(fixture) f = begin((kc_queue_opts){0});
    kc_queue_add_after(f.queue, KC_KEY("ns", "c"), 3 * KC_SECOND);
    kc_queue_add_after(f.queue, KC_KEY("ns", "a"), KC_SECOND);
    kc_queue_add_after(f.queue, KC_KEY("ns", "b"), 2 * KC_SECOND);
    add_with(&f, "high", (kc_queue_add_opts){.after = 3 * KC_SECOND, .priority = 1});
    kc_clock_advance(f.clock, KC_MINUTE);
    assert_comes(&f, "high");
    assert_comes(&f, "a");
    assert_comes(&f, "b");
    assert_comes(&f, "c");
}

static void delayed_key_may_be_raised(void **state)
{
    (void)state;
    kc_scoped(fixture) f = begin((kc_queue_opts){0});
    add_with(&f, "a", (kc_queue_add_opts){.after = KC_SECOND, .priority = KC_PRIORITY_LOW});
    add_with(&f, "a", (kc_queue_add_opts){.after = KC_HOUR, .priority = 1});
    kc_clock_advance(f.clock, KC_SECOND);
    kc_queue_item item;
    assert_next(&f, "a", &item);
    assert_int_equal(item.priority, 1);
    kc_queue_done(f.queue, &item);
}

static void delay_may_pass_while_the_key_is_processed(void **state)
{
    (void)state;
    kc_scoped(fixture) f = begin((kc_queue_opts){0});
    kc_queue_item item;
    add(&f, "a");
    assert_next(&f, "a", &item);
    kc_queue_add_after(f.queue, KC_KEY("ns", "a"), KC_SECOND);
    kc_clock_advance(f.clock, KC_SECOND);
    assert_nothing(&f);
    kc_queue_done(f.queue, &item);
    assert_comes(&f, "a");
}

static void delay_survives_the_end_of_processing(void **state)
{
    (void)state;
    kc_scoped(fixture) f = begin((kc_queue_opts){0});
    kc_queue_item item;
    add(&f, "a");
    assert_next(&f, "a", &item);
    kc_queue_add_after(f.queue, KC_KEY("ns", "a"), KC_SECOND);
    kc_queue_done(f.queue, &item);
    assert_nothing(&f);
    kc_clock_advance(f.clock, KC_SECOND);
    assert_comes(&f, "a");
}

/* ---- rate limits ---- */

static void failures_are_rate_limited_until_forgotten(void **state)
{
    (void)state;
    kc_scoped(fixture) f = begin((kc_queue_opts){0});
    for (int i = 0; i < 3; i++) {
        kc_queue_add_rate_limited(f.queue, KC_KEY("ns", "a"));
        assert_int_equal(kc_queue_count(f.queue).retrying, 1);
        kc_clock_advance(f.clock, (5 * KC_MILLISECOND << i) - 1);
        assert_nothing(&f);
        kc_clock_advance(f.clock, 1);
        assert_comes(&f, "a");
        assert_int_equal(kc_queue_count(f.queue).retrying, 0);
    }
    assert_int_equal(kc_queue_num_requeues(f.queue, KC_KEY("ns", "a")), 3);
    kc_queue_forget(f.queue, KC_KEY("ns", "a"));
    assert_int_equal(kc_queue_num_requeues(f.queue, KC_KEY("ns", "a")), 0);
}

static void shorter_of_rate_limit_and_delay_is_used(void **state)
{
    (void)state;
    kc_scoped(fixture) f = begin((kc_queue_opts){0});
    add_with(&f, "a", (kc_queue_add_opts){.rate_limited = true, .after = KC_HOUR});
    add_with(&f, "b", (kc_queue_add_opts){.rate_limited = true, .after = KC_MILLISECOND});
    kc_clock_advance(f.clock, KC_MILLISECOND);
    assert_comes(&f, "b");
    assert_nothing(&f);
    kc_clock_advance(f.clock, 4 * KC_MILLISECOND);
    assert_comes(&f, "a");
}

/* ---- waiting ---- */

static void worker_waits_for_a_key(void **state)
{
    (void)state;
    kc_scoped(fixture) f = begin((kc_queue_opts){0});
    worker w = {.queue = f.queue};
    kc_thread *thread = kc_thread_start("worker", work, &w, NULL);
    kc_clock_await_waiters(f.clock, 1);
    add(&f, "a");
    kc_clock_await_waiters(f.clock, 1);
    assert_int_equal(w.n, 1);
    kc_queue_shut_down(f.queue);
    kc_thread_join(thread);
}

static void workers_wait_for_delays(void **state)
{
    (void)state;
    kc_scoped(fixture) f = begin((kc_queue_opts){0});
    worker w = {.queue = f.queue};
    kc_thread *threads[3];
    for (size_t i = 0; i < KC_COUNT(threads); i++)
        threads[i] = kc_thread_start("worker", work, &w, NULL);
    kc_clock_await_waiters(f.clock, 3);
    kc_queue_add_after(f.queue, KC_KEY("ns", "late"), 10 * KC_SECOND);
    kc_clock_await_waiters(f.clock, 3);
    kc_queue_add_after(f.queue, KC_KEY("ns", "early"), KC_SECOND);
    kc_clock_await_waiters(f.clock, 3);
    kc_clock_run(f.clock, KC_SECOND - 1, 3);
    assert_int_equal(w.n, 0);
    kc_clock_run(f.clock, 1, 3);
    assert_int_equal(w.n, 1);
    for (char name[] = "a"; *name <= 'e'; ++*name)
        kc_queue_add_after(f.queue, KC_KEY("ns", name), KC_SECOND);
    kc_clock_run(f.clock, KC_SECOND, 3);
    assert_int_equal(w.n, 6);
    kc_clock_run(f.clock, 9 * KC_SECOND, 3);
    assert_int_equal(w.n, 7);
    kc_queue_shut_down(f.queue);
    for (size_t i = 0; i < KC_COUNT(threads); i++)
        kc_thread_join(threads[i]);
}

TESTS(delayed_key_is_ready_at_its_time, zero_or_negative_delay_is_ready_at_once,
      earlier_of_two_delays_is_used, immediate_add_replaces_a_delay,
      delay_does_not_defer_a_ready_key, key_whose_delay_has_passed_goes_to_the_end,
      delays_that_pass_together_are_in_order_of_their_times, delayed_key_may_be_raised,
      delay_may_pass_while_the_key_is_processed, delay_survives_the_end_of_processing,
      failures_are_rate_limited_until_forgotten, shorter_of_rate_limit_and_delay_is_used,
      worker_waits_for_a_key, workers_wait_for_delays)
