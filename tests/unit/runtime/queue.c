/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of the queue, one by one, in virtual time. */
#include "kc/queue.h"

#include "kc/thread.h"
#include "testing.h"

#include <stdio.h>

typedef struct fixture {
    kc_clock *clock;
    kc_queue *queue;
} fixture;

static fixture begin(kc_queue_opts opts)
{
    fixture f = {.clock = kc_clock_virtual_new(0)};
    opts.clock = f.clock;
    f.queue = kc_queue_new(&opts);
    return f;
}

static void fixture_done(fixture *f)
{
    kc_queue_free(f->queue);
    kc_clock_free(f->clock);
}

static void add(const fixture *f, const char *name)
{
    kc_queue_add(f->queue, KC_KEY("ns", name));
}

static void add_with(const fixture *f, const char *name, kc_queue_add_opts opts)
{
    kc_queue_add_with(f->queue, KC_KEY("ns", name), &opts);
}

/* Takes the next key, which must be this one. */
#define assert_next(f, text, item)                         \
    do {                                                   \
        assert_true(kc_queue_try_get((f)->queue, (item))); \
        assert_str((item)->key.name, text);                \
    } while (0)

/* The same, and is done with it. */
#define assert_comes(f, text)              \
    do {                                   \
        kc_queue_item item_;               \
        assert_next(f, text, &item_);      \
        kc_queue_done((f)->queue, &item_); \
    } while (0)

#define assert_nothing(f)                                   \
    do {                                                    \
        kc_queue_item item_;                                \
        assert_false(kc_queue_try_get((f)->queue, &item_)); \
    } while (0)

/* ---- one worker for each key ---- */

static void keys_come_in_the_order_they_were_added(void **state)
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

static void a_key_that_waits_is_added_once(void **state)
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

static void added_while_processing_runs_once_more(void **state)
{
    (void)state;
    kc_scoped(fixture) f = begin((kc_queue_opts){0});
    kc_queue_item item;
    add(&f, "a");
    assert_next(&f, "a", &item);
    add(&f, "a");
    add(&f, "a");
    assert_nothing(&f); /* Somebody works on it. */
    assert_int_equal(kc_queue_count(f.queue).ready, 1);
    kc_queue_done(f.queue, &item);
    assert_comes(&f, "a");
    assert_nothing(&f);
    assert_int_equal(kc_queue_count(f.queue).processing, 0);
}

static void a_key_that_was_locked_keeps_its_place(void **state)
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

static void namespaces_and_names_are_kept_apart(void **state)
{
    (void)state;
    kc_scoped(fixture) f = begin((kc_queue_opts){0});
    kc_queue_add(f.queue, KC_KEY("a", "bc"));
    kc_queue_add(f.queue, KC_KEY("ab", "c"));
    kc_queue_add(f.queue, KC_KEY("", "abc"));
    assert_int_equal(kc_queue_count(f.queue).ready, 3);
}

static void long_keys_are_kept_whole(void **state)
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

static void higher_priorities_come_first(void **state)
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

static void a_raised_key_goes_to_the_end_of_its_new_priority(void **state)
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

static void a_lower_priority_changes_nothing(void **state)
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

static void a_key_may_be_raised_while_it_is_worked_on(void **state)
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

static void many_priorities_are_in_order(void **state)
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

/* ---- delays ---- */

static void a_delayed_key_comes_when_its_time_has_come(void **state)
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

static void no_delay_or_less_means_now(void **state)
{
    (void)state;
    kc_scoped(fixture) f = begin((kc_queue_opts){0});
    kc_queue_add_after(f.queue, KC_KEY("ns", "a"), 0);
    kc_queue_add_after(f.queue, KC_KEY("ns", "b"), -5);
    assert_comes(&f, "a");
    assert_comes(&f, "b");
}

static void the_earlier_of_two_times_counts(void **state)
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

static void an_immediate_add_swallows_a_delay(void **state)
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

static void a_delay_does_not_take_back_what_is_ready(void **state)
{
    (void)state;
    kc_scoped(fixture) f = begin((kc_queue_opts){0});
    add(&f, "a");
    kc_queue_add_after(f.queue, KC_KEY("ns", "a"), KC_HOUR);
    assert_comes(&f, "a");
    assert_int_equal(kc_queue_count(f.queue).delayed, 0);
}

static void a_key_whose_delay_has_passed_goes_to_the_end(void **state)
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

static void delays_that_pass_together_come_in_the_order_of_their_times(void **state)
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

static void a_delayed_key_may_be_raised(void **state)
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

static void a_delay_may_pass_while_the_key_is_worked_on(void **state)
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

static void a_delay_outlives_the_work_on_its_key(void **state)
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

static void failures_are_limited_and_forgotten(void **state)
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
    assert_int_equal(kc_queue_failures(f.queue, KC_KEY("ns", "a")), 3);
    kc_queue_forget(f.queue, KC_KEY("ns", "a"));
    assert_int_equal(kc_queue_failures(f.queue, KC_KEY("ns", "a")), 0);
}

static void of_a_limit_and_a_delay_the_shorter_counts(void **state)
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

static void priorities_go_before_fairness(void **state)
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

static void many_namespaces_come_and_go(void **state)
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

/* ---- causes ---- */

static const kc_kind pod_kind = {.version = "v1", .kind = "Pod"};

static void an_item_says_why_it_is_there(void **state)
{
    (void)state;
    kc_scoped(fixture) f = begin((kc_queue_opts){0});
    kc_clock_advance(f.clock, 41);
    add_with(&f, "a",
             (kc_queue_add_opts){.cause = &(kc_queue_cause){
                                     .why = KC_WHY_UPDATED, .kind = &pod_kind, .revision = 12}});
    kc_queue_item item;
    assert_next(&f, "a", &item);
    assert_int_equal(item.n_causes, 1);
    assert_int_equal(item.more_causes, 0);
    assert_int_equal(item.causes[0].why, KC_WHY_UPDATED);
    assert_int_equal(item.causes[0].revision, 12);
    assert_ptr_equal(item.causes[0].kind, &pod_kind);
    assert_str(item.causes[0].key.name, "a");
    assert_int_equal(item.causes[0].at, kc_clock_now(f.clock));
    kc_queue_done(f.queue, &item);
    add(&f, "a");
    assert_next(&f, "a", &item);
    assert_int_equal(item.n_causes, 1);
    assert_int_equal(item.causes[0].why, KC_WHY_OTHER);
    kc_queue_done(f.queue, &item);
}

static void the_newest_causes_are_kept_and_the_others_counted(void **state)
{
    (void)state;
    kc_scoped(fixture) f = begin((kc_queue_opts){0});
    char name[200] = "child-";
    for (int i = 0; i < 10; i++) {
        memset(name + 6, 'a' + i, sizeof(name) - 7);
        add_with(&f, "a",
                 (kc_queue_add_opts){
                     .cause = &(kc_queue_cause){.why = KC_WHY_CREATED, .key = KC_KEY("ns", name)}});
    }
    add(&f, "a");
    kc_queue_item item;
    assert_next(&f, "a", &item);
    assert_int_equal(item.n_causes, KC_QUEUE_CAUSES);
    assert_int_equal(item.more_causes, 7);
    assert_int_equal(item.causes[0].why, KC_WHY_OTHER);
    assert_str(item.causes[0].key.name, "a");
    assert_str(item.causes[1].key.ns, "ns");
    assert_int_equal(item.causes[1].key.name.n, 110); /* Cut. */
    assert_true(kc_str_starts(item.causes[1].key.name, KC_STR("child-jjj")));
    assert_true(kc_str_starts(item.causes[3].key.name, KC_STR("child-hhh")));

    /* What is added meanwhile belongs to the next time. */
    add_with(&f, "a",
             (kc_queue_add_opts){
                 .cause = &(kc_queue_cause){.why = KC_WHY_DELETED, .key = KC_KEY("ns", "x")}});
    assert_true(kc_str_starts(item.causes[1].key.name, KC_STR("child-jjj")));
    kc_queue_done(f.queue, &item);
    assert_next(&f, "a", &item);
    assert_int_equal(item.n_causes, 1);
    assert_int_equal(item.more_causes, 0);
    assert_str(item.causes[0].key.name, "x");
    kc_queue_done(f.queue, &item);
}

/* ---- ending ---- */

static void shutting_down_drops_what_waits(void **state)
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

static void draining_works_on_what_waits(void **state)
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

/* ---- waiting ---- */

static void a_worker_waits_for_a_key(void **state)
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

/* ---- looking ---- */

static void metrics_have_the_names_of_controller_runtime(void **state)
{
    (void)state;
    kc_auto(kc_metrics) *metrics = kc_metrics_new();
    kc_scoped(fixture) f = begin((kc_queue_opts){.name = "robot", .metrics = metrics});
    kc_queue_item item;
    add(&f, "a");
    add(&f, "b");
    add(&f, "b");
    add_with(&f, "c", (kc_queue_add_opts){.priority = KC_PRIORITY_LOW});
    kc_queue_add_after(f.queue, KC_KEY("ns", "d"), KC_SECOND);
    assert_next(&f, "a", &item);
    kc_clock_advance(f.clock, 2 * KC_SECOND);
    kc_scoped(kc_buf) out = {0};
    kc_metrics_write(metrics, &out);
    static const char *const lines[] = {
        "workqueue_adds_total{name=\"robot\",controller=\"robot\"} 4\n",
        "workqueue_depth{name=\"robot\",controller=\"robot\",priority=\"0\"} 2\n",
        "workqueue_depth{name=\"robot\",controller=\"robot\",priority=\"-100\"} 1\n",
        "workqueue_retries_total{name=\"robot\",controller=\"robot\"} 1\n",
        "workqueue_queue_duration_seconds_count{name=\"robot\",controller=\"robot\"} 1\n",
        "workqueue_work_duration_seconds_count{name=\"robot\",controller=\"robot\"} 0\n",
        "workqueue_unfinished_work_seconds{name=\"robot\",controller=\"robot\"} 2\n",
        "workqueue_longest_running_processor_seconds{name=\"robot\",controller=\"robot\"} 2\n",
    };
    for (size_t i = 0; i < KC_COUNT(lines); i++)
        assert_contains(kc_buf_cstr(&out), lines[i]);
    kc_queue_done(f.queue, &item);
    kc_buf_clear(&out);
    kc_metrics_write(metrics, &out);
    assert_contains(kc_buf_cstr(&out),
                    "workqueue_work_duration_seconds_sum{name=\"robot\",controller=\"robot\"} 2\n");
    assert_contains(kc_buf_cstr(&out),
                    "workqueue_unfinished_work_seconds{name=\"robot\",controller=\"robot\"} 0\n");
    f.queue = kc_queue_free(f.queue);
    kc_metrics_write(metrics, &out);
}

static void a_queue_can_be_read(void **state)
{
    (void)state;
    kc_scoped(fixture) f = begin((kc_queue_opts){.name = "robot"});
    kc_queue_item item;
    add(&f, "a");
    assert_next(&f, "a", &item);
    kc_clock_advance(f.clock, KC_SECOND);
    add_with(&f, "b",
             (kc_queue_add_opts){.cause = &(kc_queue_cause){.why = KC_WHY_UPDATED,
                                                            .kind = &pod_kind,
                                                            .key = KC_KEY("ns", "pod"),
                                                            .revision = 7}});
    kc_queue_add_rate_limited(f.queue, KC_KEY("ns", "r"));
    kc_queue_add_after(f.queue, KC_KEY("", "node"), KC_MINUTE);
    kc_scoped(kc_buf) out = {0};
    kc_queue_write(f.queue, 10, &out);
    assert_string_equal(
        kc_buf_cstr(&out),
        "{\"name\":\"robot\",\"ready\":1,\"processing\":1,\"delayed\":2,\"retrying\":1,"
        "\"shuttingDown\":false,\"items\":["
        "{\"key\":\"ns/a\",\"state\":\"processing\",\"priority\":0,\"for\":\"1s\",\"failures\":0,"
        "\"causes\":[{\"why\":\"Other\",\"key\":\"ns/a\",\"ago\":\"1s\"}],\"moreCauses\":0},"
        "{\"key\":\"ns/b\",\"state\":\"ready\",\"priority\":0,\"for\":\"0s\",\"failures\":0,"
        "\"causes\":[{\"why\":\"Updated\",\"kind\":\"Pod\",\"key\":\"ns/pod\",\"revision\":7,"
        "\"ago\":\"0s\"}],\"moreCauses\":0},"
        "{\"key\":\"ns/r\",\"state\":\"retrying\",\"priority\":0,\"for\":\"5ms\",\"failures\":1,"
        "\"causes\":[{\"why\":\"Retry\",\"key\":\"ns/r\",\"ago\":\"0s\"}],\"moreCauses\":0},"
        "{\"key\":\"node\",\"state\":\"delayed\",\"priority\":0,\"for\":\"1m0s\",\"failures\":0,"
        "\"causes\":[{\"why\":\"Other\",\"key\":\"node\",\"ago\":\"0s\"}],\"moreCauses\":0}]}");
    kc_queue_done(f.queue, &item);
}

static void only_the_first_of_many_are_written(void **state)
{
    (void)state;
    kc_scoped(fixture) f = begin((kc_queue_opts){0});
    char name[16];
    for (int i = 0; i < 100; i++) {
        snprintf(name, sizeof(name), "d%d", i * 37 % 100);
        kc_queue_add_after(f.queue, KC_KEY("", name), KC_SECOND + i * 37 % 100);
        snprintf(name, sizeof(name), "r%d", i);
        kc_queue_add(f.queue, KC_KEY("", name));
    }
    kc_scoped(kc_buf) out = {0};
    kc_queue_write(f.queue, 3, &out);
    const char *at = kc_buf_cstr(&out);
    static const char *const keys[] = {"r0", "r1", "r2", "d0", "d1", "d2"};
    for (size_t i = 0; i < KC_COUNT(keys); i++) {
        snprintf(name, sizeof(name), "{\"key\":\"%s\"", keys[i]);
        at = strstr(at, name);
        assert_non_null(at);
    }
    assert_null(strstr(kc_buf_cstr(&out), "\"d3\""));
    assert_null(strstr(kc_buf_cstr(&out), "\"r3\""));
}

TESTS(keys_come_in_the_order_they_were_added, a_key_that_waits_is_added_once,
      added_while_processing_runs_once_more, a_key_that_was_locked_keeps_its_place,
      namespaces_and_names_are_kept_apart, long_keys_are_kept_whole, higher_priorities_come_first,
      a_raised_key_goes_to_the_end_of_its_new_priority, a_lower_priority_changes_nothing,
      a_key_may_be_raised_while_it_is_worked_on, many_priorities_are_in_order,
      a_delayed_key_comes_when_its_time_has_come, no_delay_or_less_means_now,
      the_earlier_of_two_times_counts, an_immediate_add_swallows_a_delay,
      a_delay_does_not_take_back_what_is_ready, a_key_whose_delay_has_passed_goes_to_the_end,
      delays_that_pass_together_come_in_the_order_of_their_times, a_delayed_key_may_be_raised,
      a_delay_may_pass_while_the_key_is_worked_on, a_delay_outlives_the_work_on_its_key,
      failures_are_limited_and_forgotten, of_a_limit_and_a_delay_the_shorter_counts,
      namespaces_take_turns_in_a_fair_queue, priorities_go_before_fairness,
      many_namespaces_come_and_go, an_item_says_why_it_is_there,
      the_newest_causes_are_kept_and_the_others_counted, shutting_down_drops_what_waits,
      draining_works_on_what_waits, a_worker_waits_for_a_key, workers_wait_for_delays,
      metrics_have_the_names_of_controller_runtime, a_queue_can_be_read,
      only_the_first_of_many_are_written)
