/* SPDX-License-Identifier: Apache-2.0 */
/* Keys from channels and timers. */
#include "runtime/source_internal.h"

#include "testing.h"

#include <stdio.h>

static void assert_comes(kc_queue *queue, const char *name)
{
    kc_queue_item item;
    assert_true(kc_queue_try_get(queue, &item));
    assert_str(item.key.name, name);
    assert_int_equal(item.causes[0].why, KC_WHY_GENERIC);
    kc_queue_done(queue, &item);
}

static void a_channel_keeps_keys_until_a_controller_takes_them(void **state)
{
    (void)state;
    kc_auto(kc_queue) *queue = kc_queue_new(NULL);
    kc_auto(kc_channel) *channel = kc_channel_new();
    kc_source *source = kc_source_channel(channel);
    char name[8] = "early";
    assert_int_equal(kc_channel_send(channel, KC_KEY("ns", name), NULL), 0);
    memset(name, 'x', sizeof(name) - 1);
    assert_int_equal(kc__source_start(source, queue, NULL), 0);
    assert_true(kc__source_wait_synced(source, 0, NULL, NULL));
    kc_channel_send(channel, KC_KEY("ns", "now"), NULL);
    assert_comes(queue, "early");
    assert_comes(queue, "now");
    kc__source_stop(source);
    kc_channel_send(channel, KC_KEY("ns", "late"), NULL);
    assert_int_equal(kc_queue_count(queue).ready, 0);
    kc__source_start(source, queue, NULL); /* Leads again. */
    assert_comes(queue, "late");
    kc__source_stop(source);
    kc_source_free(source);
}

static void a_channel_nobody_takes_from_gets_full(void **state)
{
    (void)state;
    kc_auto(kc_channel) *channel = kc_channel_new();
    kc_scoped(kc_error) err = {0};
    for (int i = 0; i < 1024; i++)
        assert_int_equal(kc_channel_send(channel, KC_KEY("", "a"), &err), 0);
    assert_true(kc_channel_send(channel, KC_KEY("", "a"), &err) < 0);
    assert_error(&err, KC_TOO_MANY_REQUESTS, "1024 keys wait");
}

static void a_channel_has_one_controller(void **state)
{
    (void)state;
    kc_auto(kc_queue) *queue = kc_queue_new(NULL);
    kc_auto(kc_channel) *channel = kc_channel_new();
    kc_source *one = kc_source_channel(channel), *two = kc_source_channel(channel);
    kc_scoped(kc_error) err = {0};
    assert_int_equal(kc__source_start(one, queue, &err), 0);
    assert_true(kc__source_start(two, queue, &err) < 0);
    assert_error(&err, KC_CONFLICT, "another controller");
    kc__source_stop(one);
    kc_source_free(one);
    kc_source_free(two);
}

static void a_timer_adds_its_key_every_period(void **state)
{
    (void)state;
    kc_auto(kc_clock) *clock = kc_clock_virtual_new(0);
    kc_auto(kc_queue) *queue = kc_queue_new(&(kc_queue_opts){.clock = clock});
    kc_source *source = kc_source_timer(KC_MINUTE, KC_KEY("ns", "tick"));
    assert_int_equal(kc__source_start(source, queue, NULL), 0);
    kc_clock_run(clock, KC_MINUTE - 1, 1);
    assert_int_equal(kc_queue_count(queue).ready, 0);
    kc_clock_run(clock, 1, 1);
    assert_comes(queue, "tick");
    kc_clock_run(clock, KC_MINUTE, 1);
    assert_comes(queue, "tick");
    kc__source_stop(source);
    kc_clock_advance(clock, KC_HOUR);
    assert_int_equal(kc_queue_count(queue).ready, 0);
    kc_source_free(source);
}

static void a_timer_needs_a_period(void **state)
{
    (void)state;
    kc_auto(kc_queue) *queue = kc_queue_new(NULL);
    kc_source *source = kc_source_timer(0, KC_KEY("ns", "tick"));
    kc_scoped(kc_error) err = {0};
    assert_true(kc__source_start(source, queue, &err) < 0);
    assert_error(&err, KC_BAD_REQUEST, "period");
    kc_source_free(source);
}

TESTS(a_channel_keeps_keys_until_a_controller_takes_them, a_channel_nobody_takes_from_gets_full,
      a_channel_has_one_controller, a_timer_adds_its_key_every_period, a_timer_needs_a_period)
