/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of the queue, one by one: order, deduplication and priority. */
#include "queue_testing.h"
#include "runtime/queue/queue_internal.h"

/* ---- one worker for each key ---- */

static void keys_are_returned_in_order(void **state)
{
    (void)state;
    kc_scoped(fixture) f = begin((kc_queue_opts){0});
    add(&f, "a");
    add(&f, "b");
    add(&f, "c");
    assert_comes(&f, "a");
    assert_comes(&f, "b");
    assert_comes(&f, "c");
    assert_nothing(&f);
}

static void queued_key_is_added_once(void **state)
{
    (void)state;
    kc_scoped(fixture) f = begin((kc_queue_opts){0});
    add(&f, "a");
    add(&f, "b");
    add(&f, "a");
    assert_int_equal(kc_queue_count(f.queue).ready, 2);
    assert_comes(&f, "a");
    assert_comes(&f, "b");
    assert_nothing(&f);
}

static void key_added_while_processing_runs_once_more(void **state)
{
    (void)state;
    kc_scoped(fixture) f = begin((kc_queue_opts){0});
    kc_queue_item item;
    add(&f, "a");
    assert_next(&f, "a", &item);
    add(&f, "a");
    add(&f, "a");
    assert_nothing(&f); /* A worker processes it. */
    assert_int_equal(kc_queue_count(f.queue).ready, 1);
    kc_queue_done(f.queue, &item);
    assert_comes(&f, "a");
    assert_nothing(&f);
    assert_int_equal(kc_queue_count(f.queue).processing, 0);
}

static void key_added_while_processing_keeps_its_place(void **state)
{
    (void)state;
    kc_scoped(fixture) f = begin((kc_queue_opts){0});
    kc_queue_item a, b;
    add(&f, "a");
    add(&f, "b");
    assert_next(&f, "a", &a);
    assert_next(&f, "b", &b);
    add(&f, "x");
    add(&f, "b");
    add(&f, "a");
    add(&f, "y");
    kc_queue_done(f.queue, &a);
    kc_queue_done(f.queue, &b);
    assert_comes(&f, "x");
    assert_comes(&f, "b"); /* It was added before a, though it became free later. */
    assert_comes(&f, "a");
    assert_comes(&f, "y");
}

static void namespaces_and_names_are_distinct(void **state)
{
    (void)state;
    kc_scoped(fixture) f = begin((kc_queue_opts){0});
    kc_queue_add(f.queue, KC_KEY("a", "bc"));
    kc_queue_add(f.queue, KC_KEY("ab", "c"));
    kc_queue_add(f.queue, KC_KEY("", "abc"));
    assert_int_equal(kc_queue_count(f.queue).ready, 3);
}

static void long_keys_are_complete(void **state)
{
    (void)state;
    kc_scoped(fixture) f = begin((kc_queue_opts){0});
    char name[254], copy[254];
    memset(name, 'x', sizeof(name) - 1);
    name[253] = '\0';
    memcpy(copy, name, sizeof(name));
    kc_queue_add(f.queue, KC_KEY("some-namespace", name));
    memset(name, 'y', 10);
    kc_queue_item item;
    assert_true(kc_queue_try_get(f.queue, &item));
    assert_str(item.key.name, copy);
    assert_str(item.key.ns, "some-namespace");
    kc_queue_done(f.queue, &item);
}

/* ---- priorities ---- */

static void higher_priority_comes_first(void **state)
{
    (void)state;
    kc_scoped(fixture) f = begin((kc_queue_opts){0});
    add_with(&f, "low", (kc_queue_add_opts){.priority = KC_PRIORITY_LOW});
    add(&f, "a");
    add_with(&f, "high", (kc_queue_add_opts){.priority = 5});
    add(&f, "b");
    kc_queue_item item;
    assert_next(&f, "high", &item);
    assert_int_equal(item.priority, 5);
    kc_queue_done(f.queue, &item);
    assert_comes(&f, "a");
    assert_comes(&f, "b");
    assert_comes(&f, "low");
}

static void raised_key_goes_to_the_end_of_its_new_priority(void **state)
{
    (void)state;
    kc_scoped(fixture) f = begin((kc_queue_opts){0});
    add_with(&f, "raised", (kc_queue_add_opts){.priority = KC_PRIORITY_LOW});
    add_with(&f, "low", (kc_queue_add_opts){.priority = KC_PRIORITY_LOW});
    add(&f, "a");
    add(&f, "raised");
    add(&f, "b");
    assert_comes(&f, "a");
    assert_comes(&f, "raised");
    assert_comes(&f, "b");
    assert_comes(&f, "low");
}

static void lower_priority_changes_nothing(void **state)
{
    (void)state;
    kc_scoped(fixture) f = begin((kc_queue_opts){0});
    add(&f, "a");
    add(&f, "b");
    add_with(&f, "a", (kc_queue_add_opts){.priority = KC_PRIORITY_LOW});
    kc_queue_item item;
    assert_next(&f, "a", &item);
    assert_int_equal(item.priority, 0);
    kc_queue_done(f.queue, &item);
}

static void key_may_be_raised_while_processing(void **state)
{
    (void)state;
    kc_scoped(fixture) f = begin((kc_queue_opts){0});
    kc_queue_item item;
    add(&f, "a");
    assert_next(&f, "a", &item);
    add_with(&f, "a", (kc_queue_add_opts){.priority = KC_PRIORITY_LOW});
    add(&f, "b");
    add_with(&f, "a", (kc_queue_add_opts){.priority = 1});
    kc_queue_done(f.queue, &item);
    assert_next(&f, "a", &item);
    assert_int_equal(item.priority, 1);
    kc_queue_done(f.queue, &item);
    assert_comes(&f, "b");
}

static void hundred_priorities_are_in_order(void **state)
{
    (void)state;
    kc_scoped(fixture) f = begin((kc_queue_opts){0});
    char name[16];
    for (int i = 0; i < 100; i++) {
        snprintf(name, sizeof(name), "p%d", i * 37 % 100);
        add_with(&f, name, (kc_queue_add_opts){.priority = i * 37 % 100 - 50});
    }
    for (int i = 99; i >= 0; i--) {
        snprintf(name, sizeof(name), "p%d", i);
        assert_comes(&f, name);
    }
}

/* ---- fairness ---- */

static void namespaces_take_turns_in_a_fair_queue(void **state)
{
    (void)state;
    kc_scoped(fixture) f = begin((kc_queue_opts){.fair = true});
    const char *const busy[] = {"b1", "b2", "b3", "b4"};
    for (size_t i = 0; i < KC_COUNT(busy); i++)
        kc_queue_add(f.queue, KC_KEY("busy", busy[i]));
    kc_queue_add(f.queue, KC_KEY("calm", "c1"));
    kc_queue_add(f.queue, KC_KEY("calm", "c2"));
    kc_queue_add(f.queue, KC_KEY("", "node"));
    assert_comes(&f, "b1");
    assert_comes(&f, "c1");
    assert_comes(&f, "node");
    assert_comes(&f, "b2");
    assert_comes(&f, "c2");
    assert_comes(&f, "b3");
    assert_comes(&f, "b4");
    assert_nothing(&f);
}

static void priority_takes_precedence_over_fairness(void **state)
{
    (void)state;
    kc_scoped(fixture) f = begin((kc_queue_opts){.fair = true});
    kc_queue_add_with(f.queue, KC_KEY("calm", "low"),
                      &(kc_queue_add_opts){.priority = KC_PRIORITY_LOW});
    kc_queue_add(f.queue, KC_KEY("busy", "a"));
    kc_queue_add(f.queue, KC_KEY("busy", "b"));
    assert_comes(&f, "a");
    assert_comes(&f, "b");
    assert_comes(&f, "low");
}

static void many_namespaces_are_added_and_removed(void **state)
{
    (void)state;
    kc_scoped(fixture) f = begin((kc_queue_opts){.fair = true});
    char ns[16];
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 1000; i++) {
            snprintf(ns, sizeof(ns), "ns%d", i);
            kc_queue_add(f.queue, KC_KEY(ns, "a"));
            kc_queue_add(f.queue, KC_KEY(ns, "b"));
        }
        for (int i = 0; i < 2000; i++)
            assert_comes(&f, i < 1000 ? "a" : "b");
        assert_nothing(&f);
    }
}

/* ---- memory ---- */

static void memory_of_a_burst_is_freed(void **state)
{
    (void)state;
    kc_scoped(fixture) f = begin((kc_queue_opts){0});
    char name[16];
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 20000; i++) {
            snprintf(name, sizeof(name), "k%d", i);
            add(&f, name);
        }
        assert_true(f.queue->slabs.n > 20);
        for (int i = 0; i < 20000; i++) {
            snprintf(name, sizeof(name), "k%d", i);
            assert_comes(&f, name);
        }
        assert_true(f.queue->slabs.n <= 5);
        assert_nothing(&f);
    }
}

/* ---- ending ---- */

static void shutdown_drops_queued_keys(void **state)
{
    (void)state;
    kc_scoped(fixture) f = begin((kc_queue_opts){0});
    kc_queue_item item;
    add(&f, "a");
    add(&f, "b");
    kc_queue_add_after(f.queue, KC_KEY("ns", "c"), KC_SECOND);
    assert_next(&f, "a", &item);
    add(&f, "a");
    assert_false(kc_queue_shutting_down(f.queue));
    kc_queue_shut_down(f.queue);
    assert_true(kc_queue_shutting_down(f.queue));
    add(&f, "d");
    kc_queue_counts counts = kc_queue_count(f.queue);
    assert_int_equal(counts.ready + counts.delayed, 0);
    assert_int_equal(counts.processing, 1);
    kc_queue_item none;
    assert_false(kc_queue_get(f.queue, &none));
    kc_queue_done(f.queue, &item);
    assert_false(kc_queue_get(f.queue, &none));
}

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

static void drain_processes_queued_keys(void **state)
{
    (void)state;
    kc_auto(kc_queue) *queue = kc_queue_new(NULL);
    kc_queue_item item;
    kc_queue_add(queue, KC_KEY("", "a"));
    assert_true(kc_queue_get(queue, &item));
    kc_queue_add(queue, KC_KEY("", "a")); /* Comes once more. */
    kc_queue_add(queue, KC_KEY("", "b"));
    kc_queue_add_after(queue, KC_KEY("", "c"), KC_HOUR); /* Is dropped. */
    assert_false(kc_queue_drain(queue, kc_clock_deadline(kc_clock_real(), KC_MILLISECOND)));
    kc_queue_add(queue, KC_KEY("", "d")); /* Is refused. */
    worker w = {.queue = queue};
    kc_thread *thread = kc_thread_start("worker", work, &w, NULL);
    kc_queue_done(queue, &item);
    assert_true(kc_queue_drain(queue, KC_FOREVER));
    kc_thread_join(thread);
    assert_int_equal(w.n, 2);
}

TESTS(memory_of_a_burst_is_freed, keys_are_returned_in_order, queued_key_is_added_once,
      key_added_while_processing_runs_once_more, key_added_while_processing_keeps_its_place,
      namespaces_and_names_are_distinct, long_keys_are_complete, higher_priority_comes_first,
      raised_key_goes_to_the_end_of_its_new_priority, lower_priority_changes_nothing,
      key_may_be_raised_while_processing, hundred_priorities_are_in_order,
      namespaces_take_turns_in_a_fair_queue, priority_takes_precedence_over_fairness,
      many_namespaces_are_added_and_removed, shutdown_drops_queued_keys,
      drain_processes_queued_keys)
