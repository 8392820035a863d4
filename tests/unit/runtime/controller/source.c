/* SPDX-License-Identifier: Apache-2.0 */
/* Keys from channels and timers. */
#include "runtime/controller/source_internal.h"

#include "testing.h"

#include <stdio.h>

static void assert_comes(kc_queue *queue, const char *name)
{
    kc_queue_item item;
    assert_true(kc_queue_try_get(queue, &item));
    assert_str(item.key.name, name);
    assert_int_equal(item.causes[0].reason, KC_QUEUE_REASON_GENERIC);
    kc_queue_done(queue, &item);
}

static void channel_keeps_keys_until_a_controller_starts(void **state)
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

static void full_channel_refuses_keys(void **state)
{
    (void)state;
    kc_auto(kc_channel) *channel = kc_channel_new();
    kc_scoped(kc_error) err = {0};
    for (int i = 0; i < 1024; i++)
        assert_int_equal(kc_channel_send(channel, KC_KEY("", "a"), &err), 0);
    assert_true(kc_channel_send(channel, KC_KEY("", "a"), &err) < 0);
    assert_error(&err, KC_TOO_MANY_REQUESTS, "the channel is full: 1024 keys");
}

static void channel_with_second_controller_is_a_conflict(void **state)
{
    (void)state;
    kc_auto(kc_queue) *queue = kc_queue_new(NULL);
    kc_auto(kc_channel) *channel = kc_channel_new();
    kc_source *one = kc_source_channel(channel), *two = kc_source_channel(channel);
    kc_scoped(kc_error) err = {0};
    assert_int_equal(kc__source_start(one, queue, &err), 0);
    assert_true(kc__source_start(two, queue, &err) < 0);
    assert_error(&err, KC_CONFLICT, "belongs to another controller");
    kc__source_stop(one);
    kc_source_free(one);
    kc_source_free(two);
}

static void timer_adds_its_key_every_period(void **state)
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

static void timer_without_period_is_refused(void **state)
{
    (void)state;
    kc_auto(kc_queue) *queue = kc_queue_new(NULL);
    kc_source *source = kc_source_timer(0, KC_KEY("ns", "tick"));
    kc_scoped(kc_error) err = {0};
    assert_true(kc__source_start(source, queue, &err) < 0);
    assert_error(&err, KC_BAD_REQUEST, "period");
    kc_source_free(source);
}

TESTS(channel_keeps_keys_until_a_controller_starts, full_channel_refuses_keys,
      channel_with_second_controller_is_a_conflict, timer_adds_its_key_every_period,
      timer_without_period_is_refused)
