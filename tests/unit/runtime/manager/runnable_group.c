/* SPDX-License-Identifier: Apache-2.0 */
/* Groups of runnables. */
#include "testing.h"

#include "runtime/manager/runnable_group.h"

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
    kc__runnable_group group;
    kc__runnable_group_init(&group, kc_clock_real(), NULL, NULL);
    worker a = {.clock = kc_clock_real()}, b = {.clock = kc_clock_real()};
    assert_int_equal(
        kc__runnable_group_add(&group, &(kc_runnable){"a", .run = work, .user = &a}, NULL, NULL),
        0);
    assert_int_equal(kc__runnable_group_start(&group, NULL, NULL), 0);
    assert_int_equal(
        kc__runnable_group_add(&group, &(kc_runnable){"b", .run = work, .user = &b}, NULL, NULL),
        0);
    assert_true(kc__runnable_group_stop(&group, KC_FOREVER));
    assert_int_equal(a.ended, 1);
    assert_int_equal(b.ended, 1);
    kc__runnable_group_done(&group);
}

static void group_can_be_started_again(void **state)
{
    (void)state;
    kc__runnable_group group;
    kc__runnable_group_init(&group, kc_clock_real(), NULL, NULL);
    worker a = {.clock = kc_clock_real()};
    kc__runnable_group_add(&group, &(kc_runnable){"a", .run = work, .user = &a}, NULL, NULL);
    for (int i = 1; i <= 3; i++) {
        assert_int_equal(kc__runnable_group_start(&group, NULL, NULL), 0);
        assert_true(kc__runnable_group_stop(&group, KC_FOREVER));
        assert_int_equal(a.runs, i);
    }
    kc__runnable_group_done(&group);
}

static void cancelled_parent_stops_the_group(void **state)
{
    (void)state;
    kc_auto(kc_cancel) *parent = kc_cancel_new(NULL);
    kc__runnable_group group;
    kc__runnable_group_init(&group, kc_clock_real(), NULL, NULL);
    worker a = {.clock = kc_clock_real()};
    kc__runnable_group_add(&group, &(kc_runnable){"a", .run = work, .user = &a}, NULL, NULL);
    kc__runnable_group_start(&group, parent, NULL);
    kc_cancel_fire(parent);
    assert_true(kc__runnable_group_stop(&group, KC_FOREVER));
    kc__runnable_group_done(&group);
    assert_int_equal(a.ended, 1);
}

static void failure_is_reported_with_its_name(void **state)
{
    (void)state;
    failures f = {0};
    kc__runnable_group group;
    kc__runnable_group_init(&group, kc_clock_real(), note_failure, &f);
    worker a = {.fails = true};
    kc__runnable_group_add(&group, &(kc_runnable){"a", .run = work, .user = &a}, NULL, NULL);
    kc__runnable_group_start(&group, NULL, NULL);
    kc__runnable_group_done(&group);
    assert_int_equal(f.n, 1);
    assert_string_equal(f.text, "a: broken");
}

static void await_ready_waits_for_every_member(void **state)
{
    (void)state;
    kc__runnable_group group;
    const char *late = NULL;
    kc__runnable_group_init(&group, kc_clock_real(), NULL, NULL);
    worker a = {.clock = kc_clock_real()};
    kc__runnable_group_add(
        &group, &(kc_runnable){"slow", .run = work, .ready = is_ready, .user = &a}, NULL, NULL);
    kc__runnable_group_start(&group, NULL, NULL);
    assert_false(kc__runnable_group_await_ready(&group, 0, NULL, &late));
    assert_string_equal(late, "slow");
    a.ready = true;
    assert_true(kc__runnable_group_await_ready(&group, KC_FOREVER, NULL, &late));
    kc__runnable_group_done(&group);
}

static void member_is_removed_while_others_run(void **state)
{
    (void)state;
    kc__runnable_group group;
    kc__runnable_group_init(&group, kc_clock_real(), NULL, NULL);
    worker a = {.clock = kc_clock_real()}, b = {.clock = kc_clock_real()};
    kc__runnable_group_add(&group, &(kc_runnable){"a", .run = work, .user = &a}, NULL, NULL);
    kc__runnable_group_add(&group, &(kc_runnable){"b", .run = work, .user = &b}, NULL, NULL);
    kc__runnable_group_start(&group, NULL, NULL);
    kc__runnable_group_remove(&group, &a);
    assert_int_equal(a.ended, 1);
    assert_int_equal(b.ended, 0);
    kc__runnable_group_done(&group);
    assert_int_equal(b.ended, 1);
}

static int ignore_stop(kc_cancel *stop, void *user, kc_error *err)
{
    (void)stop;
    (void)err;
    kc_latch_wait(user);
    return 0;
}

static void stop_returns_at_its_deadline(void **state)
{
    (void)state;
    kc_latch latch;
    kc_latch_init(&latch);
    kc_latch_add(&latch, 1);
    kc__runnable_group group;
    kc__runnable_group_init(&group, kc_clock_real(), NULL, NULL);
    kc__runnable_group_add(&group, &(kc_runnable){"deaf", .run = ignore_stop, .user = &latch}, NULL,
                           NULL);
    kc__runnable_group_start(&group, NULL, NULL);
    assert_false(
        kc__runnable_group_stop(&group, kc_clock_deadline(kc_clock_real(), 10 * KC_MILLISECOND)));
    kc_latch_count_down(&latch);
    kc__runnable_group_done(&group);
    kc_latch_done(&latch);
}

static int begin_and_park(kc_cancel *stop, void *user, kc_error *err)
{
    worker *w = user;
    (void)stop;
    (void)err;
    w->runs++;
    return KC_RUN_PARKED;
}

static void end_parked(void *user)
{
    ((worker *)user)->ended++;
}

static void parked_member_ends_once_when_stopped_or_removed(void **state)
{
    (void)state;
    kc__runnable_group group;
    kc__runnable_group_init(&group, kc_clock_real(), NULL, NULL);
    worker a = {0}, b = {0};
    kc__runnable_group_add(
        &group, &(kc_runnable){"a", .run = begin_and_park, .end = end_parked, .user = &a}, NULL,
        NULL);
    kc__runnable_group_add(
        &group, &(kc_runnable){"b", .run = begin_and_park, .end = end_parked, .user = &b}, NULL,
        NULL);
    for (int i = 1; i <= 3; i++) {
        assert_int_equal(kc__runnable_group_start(&group, NULL, NULL), 0);
        assert_true(kc__runnable_group_stop(&group, KC_FOREVER));
        assert_int_equal(a.runs, i);
        assert_int_equal(a.ended, i);
    }
    assert_int_equal(kc__runnable_group_start(&group, NULL, NULL), 0);
    kc__runnable_group_remove(&group, &b);
    assert_int_equal(b.ended, 4);
    kc__runnable_group_done(&group);
    assert_int_equal(a.ended, 4);
}

TESTS(members_start_and_stop_together, group_can_be_started_again, cancelled_parent_stops_the_group,
      failure_is_reported_with_its_name, await_ready_waits_for_every_member,
      member_is_removed_while_others_run, stop_returns_at_its_deadline,
      parked_member_ends_once_when_stopped_or_removed)
