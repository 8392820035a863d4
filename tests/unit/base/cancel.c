/* SPDX-License-Identifier: Apache-2.0 */
/* cancel.c: cancellation tokens, their children, hooks and sleepers. */
#include "testing.h"

#include "kc/cancel.h"

typedef struct counted_hook {
    kc_cancel_hook hook;
    int fired;
} counted_hook;

static void count(kc_cancel_hook *hook)
{
    kc_container_of(hook, counted_hook, hook)->fired++;
}

static void token_fires_once(void **state)
{
    (void)state;
    kc_auto(kc_cancel) *cancel = kc_cancel_new(NULL);
    counted_hook h = {.hook.fire = count};
    assert_true(kc_cancel_add_hook(cancel, &h.hook));
    assert_false(kc_cancel_fired(cancel));
    kc_cancel_fire(cancel);
    kc_cancel_fire(cancel);
    assert_true(kc_cancel_fired(cancel));
    assert_int_equal(h.fired, 1);
}

static void add_hook_to_fired_token_returns_false(void **state)
{
    (void)state;
    kc_auto(kc_cancel) *cancel = kc_cancel_new(NULL);
    kc_cancel_fire(cancel);
    counted_hook h = {.hook.fire = count};
    assert_false(kc_cancel_add_hook(cancel, &h.hook));
    assert_int_equal(h.fired, 0);
}

static void removed_hook_is_not_called(void **state)
{
    (void)state;
    kc_auto(kc_cancel) *cancel = kc_cancel_new(NULL);
    counted_hook h = {.hook.fire = count};
    kc_cancel_add_hook(cancel, &h.hook);
    kc_cancel_remove_hook(cancel, &h.hook);
    kc_cancel_fire(cancel);
    assert_int_equal(h.fired, 0);
}

static void child_fires_with_parent_but_parent_not_with_child(void **state)
{
    (void)state;
    kc_auto(kc_cancel) *parent = kc_cancel_new(NULL);
    kc_auto(kc_cancel) *one = kc_cancel_new(parent);
    kc_auto(kc_cancel) *two = kc_cancel_new(parent);
    kc_cancel_fire(one);
    assert_false(kc_cancel_fired(parent));
    assert_false(kc_cancel_fired(two));
    kc_cancel_fire(parent);
    assert_true(kc_cancel_fired(two));
    kc_auto(kc_cancel) *late = kc_cancel_new(parent);
    assert_true(kc_cancel_fired(late));
}

static void null_token_never_fires(void **state)
{
    (void)state;
    kc_cancel_fire(NULL);
    assert_false(kc_cancel_fired(NULL));
    assert_int_equal(kc_cancel_check(NULL, NULL), 0);
    assert_true(kc_cancel_sleep_until(NULL, kc_clock_real(), 1));
}

static void check_of_fired_token_returns_timeout(void **state)
{
    (void)state;
    kc_auto(kc_cancel) *cancel = kc_cancel_new(NULL);
    kc_scoped(kc_error) err = {0};
    kc_cancel_fire(cancel);
    assert_int_equal(kc_cancel_check(cancel, &err), -KC_TIMEOUT);
    assert_string_equal(kc_error_text(&err), "cancelled");
}

typedef struct sleep_test {
    kc_cancel *cancel;
    const kc_clock *clock;
    _Atomic int slept;
} sleep_test;

static void sleep_for_an_hour(void *user)
{
    sleep_test *t = user;
    int64_t deadline = kc_clock_deadline(t->clock, KC_HOUR);
    t->slept = kc_cancel_sleep_until(t->cancel, t->clock, deadline) ? 1 : 2;
}

static void fire_wakes_sleeper(void **state)
{
    (void)state;
    kc_auto(kc_clock) *clock = kc_clock_virtual_new(0);
    kc_auto(kc_cancel) *cancel = kc_cancel_new(NULL);
    sleep_test t = {cancel, clock, 0};
    kc_thread *thread = kc_thread_start("sleeper", sleep_for_an_hour, &t, NULL);
    kc_clock_await_waiters(clock, 1);
    kc_cancel_fire(cancel);
    kc_thread_join(thread);
    assert_int_equal(t.slept, 2);
}

static void sleeper_wakes_at_its_deadline(void **state)
{
    (void)state;
    kc_auto(kc_clock) *clock = kc_clock_virtual_new(0);
    kc_auto(kc_cancel) *cancel = kc_cancel_new(NULL);
    sleep_test t = {cancel, clock, 0};
    kc_thread *thread = kc_thread_start("sleeper", sleep_for_an_hour, &t, NULL);
    kc_clock_await_waiters(clock, 1);
    kc_clock_advance(clock, KC_HOUR);
    kc_thread_join(thread);
    assert_int_equal(t.slept, 1);
}

TESTS(token_fires_once, add_hook_to_fired_token_returns_false, removed_hook_is_not_called,
      child_fires_with_parent_but_parent_not_with_child, null_token_never_fires,
      check_of_fired_token_returns_timeout, fire_wakes_sleeper, sleeper_wakes_at_its_deadline)
