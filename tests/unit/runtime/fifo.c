/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/fifo.h"
#include "testing.h"

#include "kc/arena.h"

static kc_object *object_named(const char *name)
{
    kc_autofree char *text = kc_asprintf("{'metadata':{'namespace':'a','name':'%s'}}", name);
    return object_of(text);
}

static void push(kc__fifo *fifo, kc__delta_type type, const char *name)
{
    assert_true(kc__fifo_push(fifo, &(kc__delta){type, .object = object_named(name)}, 1));
}

static void changes_come_in_the_order_they_were_pushed(void **state)
{
    (void)state;
    kc__fifo *fifo = kc__fifo_new(kc_clock_real());
    kc__deltas batch = {0};
    push(fifo, KC__ADDED, "one");
    push(fifo, KC__MODIFIED, "two");
    push(fifo, KC__DELETED, "one");
    push(fifo, KC__ADDED, "one");
    assert_true(kc__fifo_take(fifo, KC_FOREVER, &batch));
    assert_int_equal(batch.n, 4);
    assert_int_equal(batch.items[0].type, KC__ADDED);
    assert_str(kc_object_name(batch.items[1].object), "two");
    assert_int_equal(batch.items[2].type, KC__DELETED);
    assert_int_equal(batch.items[3].type, KC__ADDED);
    kc__deltas_done(&batch);
    kc__fifo_free(fifo);
}

static void a_kick_or_a_deadline_ends_the_wait_with_nothing(void **state)
{
    (void)state;
    kc__fifo *fifo = kc__fifo_new(kc_clock_real());
    kc__deltas batch = {0};
    kc__fifo_kick(fifo);
    assert_true(kc__fifo_take(fifo, KC_FOREVER, &batch));
    assert_int_equal(batch.n, 0);
    assert_true(kc__fifo_take(fifo, kc_clock_now(kc_clock_real()), &batch));
    assert_int_equal(batch.n, 0);
    kc__deltas_done(&batch);
    kc__fifo_free(fifo);
}

static void when_closed_nothing_is_taken_and_nothing_kept(void **state)
{
    (void)state;
    kc__fifo *fifo = kc__fifo_new(kc_clock_real());
    kc__deltas batch = {0};
    push(fifo, KC__ADDED, "one");
    kc__fifo_close(fifo);
    assert_false(kc__fifo_take(fifo, KC_FOREVER, &batch));
    assert_false(kc__fifo_push(fifo, &(kc__delta){KC__ADDED, .object = object_named("late")}, 1));
    kc__fifo_free(fifo);
}

static void queued_keys_are_known_so_that_a_resync_skips_them(void **state)
{
    (void)state;
    kc__fifo *fifo = kc__fifo_new(kc_clock_real());
    kc_scoped(kc_arena) arena = {0};
    kc_scoped(kc_map) keys = {0};
    push(fifo, KC__MODIFIED, "one");
    kc__fifo_push(fifo, &(kc__delta){KC__PROGRESS, .revision = 9}, 1);
    kc__fifo_keys(fifo, &arena, &keys);
    assert_int_equal(keys.n, 1);
    assert_non_null(kc_map_get(&keys, KC_STR("a/one")));
    kc__fifo_free(fifo);
}

static void push_two_more(void *user)
{
    for (int i = 0; i < 2; i++)
        kc__fifo_push(user, &(kc__delta){KC__PROGRESS, .revision = 1}, 1);
}

static void who_pushes_more_than_there_is_room_for_waits(void **state)
{
    (void)state;
    kc_auto(kc_clock) *clock = kc_clock_virtual_new(0);
    kc__fifo *fifo = kc__fifo_new(clock);
    kc__deltas batch = {0};
    for (int i = 0; i < KC__FIFO_ROOM; i++)
        kc__fifo_push(fifo, &(kc__delta){KC__PROGRESS, .revision = 1}, 1);
    kc_thread *thread = kc_thread_start("pusher", push_two_more, fifo, NULL);
    kc_clock_await_waiters(clock, 1); /* It waits for room. */
    assert_true(kc__fifo_take(fifo, KC_FOREVER, &batch));
    assert_int_equal(batch.n, KC__FIFO_ROOM);
    kc_thread_join(thread);
    kc__deltas_clear(&batch);
    assert_true(kc__fifo_take(fifo, KC_FOREVER, &batch));
    assert_int_equal(batch.n, 2);
    kc__deltas_done(&batch);
    kc__fifo_free(fifo);
}

TESTS(changes_come_in_the_order_they_were_pushed, a_kick_or_a_deadline_ends_the_wait_with_nothing,
      when_closed_nothing_is_taken_and_nothing_kept,
      queued_keys_are_known_so_that_a_resync_skips_them,
      who_pushes_more_than_there_is_room_for_waits)
