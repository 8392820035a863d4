/* SPDX-License-Identifier: Apache-2.0 */
/* Things that run together. */
#include "testing.h"

#include "runtime/group.h"

#include <stdio.h>

typedef struct worker {
    _Atomic int runs, ended;
    _Atomic bool ready;
    bool fails;
    const kc_clock *clock;
} worker;

static int work(kc_cancel *stop, void *user, kc_error *err)
{
    worker *w = user;
    w->runs++;
    if (w->fails)
        return kc_error_set(err, KC_INTERNAL, "broken");
    kc_cancel_sleep_until(stop, w->clock, KC_FOREVER);
    w->ended++;
    return 0;
}

static bool is_ready(void *user)
{
    return ((worker *)user)->ready;
}

typedef struct failures {
    _Atomic int n;
    char text[100];
} failures;

static void note_failure(const char *name, kc_error *err, void *user)
{
    failures *f = user;
    snprintf(f->text, sizeof(f->text), "%s: %s", name, kc_error_text(err));
    f->n++;
}

static void members_start_and_stop_together(void **state)
{
    (void)state;
    kc__group group;
    kc__group_init(&group, kc_clock_real(), NULL, NULL);
    worker a = {.clock = kc_clock_real()}, b = {.clock = kc_clock_real()};
    assert_int_equal(
        kc__group_add(&group, &(kc_runnable){"a", .run = work, .user = &a}, NULL, NULL), 0);
    assert_int_equal(kc__group_start(&group, NULL, NULL), 0);
    assert_int_equal(
        kc__group_add(&group, &(kc_runnable){"b", .run = work, .user = &b}, NULL, NULL), 0);
    assert_true(kc__group_stop(&group, KC_FOREVER));
    assert_int_equal(a.ended, 1);
    assert_int_equal(b.ended, 1);
    kc__group_done(&group);
}

static void a_group_can_be_started_again(void **state)
{
    (void)state;
    kc__group group;
    kc__group_init(&group, kc_clock_real(), NULL, NULL);
    worker a = {.clock = kc_clock_real()};
    kc__group_add(&group, &(kc_runnable){"a", .run = work, .user = &a}, NULL, NULL);
    for (int i = 1; i <= 3; i++) {
        assert_int_equal(kc__group_start(&group, NULL, NULL), 0);
        assert_true(kc__group_stop(&group, KC_FOREVER));
        assert_int_equal(a.runs, i);
    }
    kc__group_done(&group);
}

static void a_parent_stops_it_too(void **state)
{
    (void)state;
    kc_auto(kc_cancel) *parent = kc_cancel_new(NULL);
    kc__group group;
    kc__group_init(&group, kc_clock_real(), NULL, NULL);
    worker a = {.clock = kc_clock_real()};
    kc__group_add(&group, &(kc_runnable){"a", .run = work, .user = &a}, NULL, NULL);
    kc__group_start(&group, parent, NULL);
    kc_cancel_fire(parent);
    assert_true(kc__group_stop(&group, KC_FOREVER));
    kc__group_done(&group);
    assert_int_equal(a.ended, 1);
}

static void a_failure_is_told_with_its_name(void **state)
{
    (void)state;
    failures f = {0};
    kc__group group;
    kc__group_init(&group, kc_clock_real(), note_failure, &f);
    worker a = {.fails = true};
    kc__group_add(&group, &(kc_runnable){"a", .run = work, .user = &a}, NULL, NULL);
    kc__group_start(&group, NULL, NULL);
    kc__group_done(&group);
    assert_int_equal(f.n, 1);
    assert_string_equal(f.text, "a: broken");
}

static void readiness_is_awaited(void **state)
{
    (void)state;
    kc__group group;
    const char *late = NULL;
    kc__group_init(&group, kc_clock_real(), NULL, NULL);
    worker a = {.clock = kc_clock_real()};
    kc__group_add(&group, &(kc_runnable){"slow", .run = work, .ready = is_ready, .user = &a}, NULL,
                  NULL);
    kc__group_start(&group, NULL, NULL);
    assert_false(kc__group_await_ready(&group, 0, NULL, &late));
    assert_string_equal(late, "slow");
    a.ready = true;
    assert_true(kc__group_await_ready(&group, KC_FOREVER, NULL, &late));
    kc__group_done(&group);
}

static void one_can_be_removed_while_others_run(void **state)
{
    (void)state;
    kc__group group;
    kc__group_init(&group, kc_clock_real(), NULL, NULL);
    worker a = {.clock = kc_clock_real()}, b = {.clock = kc_clock_real()};
    kc__group_add(&group, &(kc_runnable){"a", .run = work, .user = &a}, NULL, NULL);
    kc__group_add(&group, &(kc_runnable){"b", .run = work, .user = &b}, NULL, NULL);
    kc__group_start(&group, NULL, NULL);
    kc__group_remove(&group, &a);
    assert_int_equal(a.ended, 1);
    assert_int_equal(b.ended, 0);
    kc__group_done(&group);
    assert_int_equal(b.ended, 1);
}

static int ignore_stop(kc_cancel *stop, void *user, kc_error *err)
{
    (void)stop;
    (void)err;
    kc_latch_wait(user);
    return 0;
}

static void stopping_gives_up_at_its_deadline(void **state)
{
    (void)state;
    kc_latch latch;
    kc_latch_init(&latch);
    kc_latch_add(&latch, 1);
    kc__group group;
    kc__group_init(&group, kc_clock_real(), NULL, NULL);
    kc__group_add(&group, &(kc_runnable){"deaf", .run = ignore_stop, .user = &latch}, NULL, NULL);
    kc__group_start(&group, NULL, NULL);
    assert_false(kc__group_stop(&group, kc_clock_deadline(kc_clock_real(), 10 * KC_MILLISECOND)));
    kc_latch_count_down(&latch);
    kc__group_done(&group);
    kc_latch_done(&latch);
}

TESTS(members_start_and_stop_together, a_group_can_be_started_again, a_parent_stops_it_too,
      a_failure_is_told_with_its_name, readiness_is_awaited, one_can_be_removed_while_others_run,
      stopping_gives_up_at_its_deadline)
