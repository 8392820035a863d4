/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/cache/fifo.h"
#include "testing.h"

static kc_object *object_named(const char *name)
{
    kc_autofree char *text = kc_asprintf("{'metadata':{'namespace':'a','name':'%s'}}", name);
    return object_of(text);
}

static void push(kc__fifo *fifo, kc__fifo_delta_type type, const char *name)
{
    kc__fifo_push(fifo, &(kc__fifo_delta){type, .object = object_named(name)});
}

static void changes_are_taken_in_order(void **state)
{
    (void)state;
    kc__fifo fifo = {0};
    kc__fifo_deltas batch = {0};
    push(&fifo, KC__FIFO_ADDED, "one");
    push(&fifo, KC__FIFO_MODIFIED, "two");
    push(&fifo, KC__FIFO_DELETED, "one");
    push(&fifo, KC__FIFO_ADDED, "one");
    kc__fifo_take(&fifo, &batch);
    assert_int_equal(batch.n, 4);
    assert_int_equal(batch.items[0].type, KC__FIFO_ADDED);
    assert_str(kc_object_name(batch.items[1].object), "two");
    assert_int_equal(batch.items[2].type, KC__FIFO_DELETED);
    assert_int_equal(batch.items[3].type, KC__FIFO_ADDED);
    kc__fifo_deltas_done(&batch);
    kc__fifo_done(&fifo);
}

static void taken_changes_are_removed_and_others_freed(void **state)
{
    (void)state;
    kc__fifo fifo = {0};
    kc__fifo_deltas batch = {0};
    push(&fifo, KC__FIFO_ADDED, "one");
    kc__fifo_take(&fifo, &batch);
    kc__fifo_deltas_clear(&batch);
    kc__fifo_take(&fifo, &batch);
    assert_int_equal(batch.n, 0);
    push(&fifo, KC__FIFO_ADDED, "two");
    kc__fifo_deltas_done(&batch);
    kc__fifo_done(&fifo);
}

TESTS(changes_are_taken_in_order, taken_changes_are_removed_and_others_freed)
