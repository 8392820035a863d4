/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many threads add, get and finish keys, with priorities, delays, namespaces and a concurrent
 * reader: no key is processed concurrently, and none is lost.
 */
#include "kc/queue.h"

#include "kc/thread.h"
#include "testing.h"

#include <stdio.h>

enum { KEYS = 64, PRODUCERS = 4, WORKERS = 4, ADDS = 5000 };

typedef struct plane {
    kc_queue *queue;
    _Atomic int working[KEYS];      /* How many work on it. */
    _Atomic uint32_t wanted[KEYS];  /* Raised before each add. */
    _Atomic uint32_t reached[KEYS]; /* The value of wanted when work began. */
    _Atomic uint64_t done;
    kc_latch producers;
} plane;

typedef struct producer {
    plane *plane;
    uint64_t seed;
} producer;

static kc_key key_of(int i, char *text)
{
    snprintf(text, 8, "%d", i);
    static const char *const namespaces[] = {"", "a", "b", "c"};
    return KC_KEY(namespaces[i % 4], text);
}

static void produce(void *user)
{
    const producer *p = user;
    kc_rand rand;
    char text[8];
    kc_rand_seed(&rand, p->seed);
    for (int i = 0; i < ADDS; i++) {
        int k = (int)kc_rand_below(&rand, KEYS);
        atomic_fetch_add(&p->plane->wanted[k], 1);
        kc_queue_add_with(p->plane->queue, key_of(k, text),
                          &(kc_queue_add_opts){
                              .priority = (int)kc_rand_below(&rand, 3) - 1,
                              .after = kc_rand_below(&rand, 4) ? 0 : 50 * KC_MICROSECOND,
                              .rate_limited = kc_rand_below(&rand, 16) == 0,
                              .cause = &(kc_queue_cause){.key = KC_KEY("x", text)},
                          });
    }
    kc_latch_count_down(&p->plane->producers);
}

static void consume(void *user)
{
    plane *p = user;
    kc_queue_item item;
    while (kc_queue_get(p->queue, &item)) {
        int k = atoi((char[]){item.key.name.p[0], item.key.name.n > 1 ? item.key.name.p[1] : 0, 0});
        assert_int_equal(atomic_fetch_add(&p->working[k], 1), 0);
        assert_true(item.n_causes > 0);
        p->reached[k] = p->wanted[k];
        kc_queue_forget(p->queue, item.key);
        atomic_fetch_sub(&p->working[k], 1);
        kc_queue_done(p->queue, &item);
        p->done++;
    }
}

static bool all_keys_were_processed(plane *p)
{
    for (int k = 0; k < KEYS; k++)
        if (p->reached[k] != p->wanted[k])
            return false;
    return true;
}

static void read_counts(plane *p)
{
    kc_scoped(kc_buf) out = {0};
    kc_queue_write(p->queue, 20, &out);
    kc_queue_count(p->queue);
}

static void run(bool fair)
{
    plane p = {0};
    kc_auto(kc_metrics) *metrics = kc_metrics_new();
    p.queue = kc_queue_new(&(kc_queue_opts){
        .fair = fair,
        .name = "q",
        .metrics = metrics,
        .limiter = kc_rate_limiter_exponential(KC_MICROSECOND, KC_MILLISECOND),
    });
    kc_latch_init(&p.producers);
    kc_latch_add(&p.producers, PRODUCERS);
    kc_thread *threads[PRODUCERS + WORKERS];
    producer producers[PRODUCERS];
    for (int i = 0; i < WORKERS; i++)
        threads[PRODUCERS + i] = kc_thread_start("worker", consume, &p, NULL);
    for (int i = 0; i < PRODUCERS; i++) {
        producers[i] = (producer){&p, (uint64_t)i};
        threads[i] = kc_thread_start("producer", produce, &producers[i], NULL);
    }
    const kc_clock *clock = kc_clock_real();
    while (!kc_latch_wait_until(&p.producers, clock, kc_clock_deadline(clock, KC_MILLISECOND))) {
        read_counts(&p);
        kc_scoped(kc_buf) out = {0};
        kc_metrics_write(metrics, &out);
    }
    int64_t deadline = kc_clock_deadline(clock, KC_MINUTE);
    while (!all_keys_were_processed(&p) && kc_clock_now(clock) < deadline)
        kc_clock_sleep(clock, 100 * KC_MICROSECOND);
    assert_true(all_keys_were_processed(&p));
    kc_queue_shut_down(p.queue);
    for (size_t i = 0; i < KC_COUNT(threads); i++)
        kc_thread_join(threads[i]);
    kc_queue_counts counts = kc_queue_count(p.queue);
    assert_int_equal(counts.ready + counts.processing + counts.delayed + counts.retrying, 0);
    kc_latch_done(&p.producers);
    kc_queue_free(p.queue);
}

static void no_key_is_lost_or_processed_concurrently(void **state)
{
    (void)state;
    run(false);
}

static void no_key_of_a_fair_queue_is_lost_or_processed_concurrently(void **state)
{
    (void)state;
    run(true);
}

static void drain(void *user)
{
    plane *p = user;
    assert_true(kc_queue_drain(p->queue, KC_FOREVER));
}

static void drain_ends_while_many_threads_work(void **state)
{
    (void)state;
    plane p = {.queue = kc_queue_new(NULL)};
    char text[8];
    for (int i = 0; i < KEYS; i++)
        kc_queue_add(p.queue, key_of(i, text));
    kc_thread *threads[WORKERS + 1];
    for (int i = 0; i < WORKERS; i++)
        threads[i] = kc_thread_start("worker", consume, &p, NULL);
    threads[WORKERS] = kc_thread_start("drain", drain, &p, NULL);
    for (size_t i = 0; i < KC_COUNT(threads); i++)
        kc_thread_join(threads[i]);
    assert_int_equal(p.done, KEYS);
    kc_queue_free(p.queue);
}

TESTS(no_key_is_lost_or_processed_concurrently,
      no_key_of_a_fair_queue_is_lost_or_processed_concurrently, drain_ends_while_many_threads_work)
