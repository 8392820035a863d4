/* SPDX-License-Identifier: Apache-2.0 */
/* Order, backoff and retries of the scheduling queue. */
#include "scheduler_testing.h"

#include "scheduler/queue.h"

#define S KC_SECOND

typedef struct line {
    kc__sched_cluster cluster;
    kc__sched_queue q;
} line;

static void line_init(line *l)
{
    kc__sched_cluster_init(&l->cluster);
    kc__sched_queue_init(&l->q);
}

static void line_done(line *l)
{
    kc__sched_queue_done(&l->q);
    kc__sched_cluster_done(&l->cluster);
}

#define LINE(l)        \
    kc_scoped(line) l; \
    line_init(&l)

static kc__sched_pod *come(line *l, const char *name, const char *spec, int64_t now)
{
    kc__sched_pod *p = place(&l->cluster, name, NULL, "", spec);
    kc__sched_queue_add(&l->q, p, now);
    return p;
}

static void assert_next(line *l, int64_t now, const char *name)
{
    const kc__sched_pod *p = kc__sched_queue_pop(&l->q, now);
    if (!name) {
        assert_null(p);
        return;
    }
    assert_non_null(p);
    assert_str(p->demand->key.name, name);
}

static void queue_orders_by_priority_then_age(void **state)
{
    (void)state;
    LINE(l);
    come(&l, "a", "", 1);
    come(&l, "b", "'priority':5", 2);
    come(&l, "c", "", 3);
    kc_auto(kc_object) *old = object_of(
        "{'kind':'Pod','metadata':{'name':'old','namespace':'default','uid':'u','creationTimestamp':"
        "'1969-01-01T00:00:00Z'},'spec':{'containers':[{'name':'c'}]}}");
    kc__sched_queue_add(&l.q, place_object(&l.cluster, old), 4);
    assert_next(&l, 5, "b");
    assert_next(&l, 5, "old");
    assert_next(&l, 5, "a");
    assert_next(&l, 5, "c");
    assert_next(&l, 5, NULL);
    assert_true(kc__sched_queue_next(&l.q) == KC_FOREVER);
}

static void backoff_grows_up_to_ten_seconds(void **state)
{
    (void)state;
    static const int64_t waits[] = {1, 2, 4, 8, 10, 10, 10};
    LINE(l);
    kc__sched_pod *p = come(&l, "a", "", 0);
    int64_t now = 0;
    for (size_t i = 0; i < KC_COUNT(waits); i++) {
        assert_next(&l, now, "a");
        kc__sched_queue_back_off(&l.q, p, now);
        assert_true(kc__sched_queue_next(&l.q) == now + waits[i] * S);
        assert_next(&l, now + waits[i] * S - 1, NULL);
        now += waits[i] * S;
    }
}

static void unschedulable_pod_waits_for_an_event(void **state)
{
    (void)state;
    LINE(l);
    kc__sched_pod *p = come(&l, "a", "", 0);
    assert_next(&l, 0, "a");
    kc__sched_queue_add_unschedulable(&l.q, p, 1, 0);
    assert_next(&l, 100 * S, NULL);
    kc__sched_queue_move(&l.q, p, 100 * S);
    assert_next(&l, 100 * S, "a");
}

static void event_does_not_shorten_the_backoff(void **state)
{
    (void)state;
    LINE(l);
    kc__sched_pod *p = come(&l, "a", "", 0);
    assert_next(&l, 0, "a");
    kc__sched_queue_add_unschedulable(&l.q, p, 1, 0);
    kc__sched_queue_move(&l.q, p, S / 2);
    assert_next(&l, S / 2, NULL);
    assert_next(&l, S, "a");
}

static void unschedulable_pod_is_flushed_after_five_minutes(void **state)
{
    (void)state;
    LINE(l);
    kc__sched_pod *a = come(&l, "a", "", 0), *b = come(&l, "b", "", 0);
    assert_next(&l, 0, "a");
    kc__sched_queue_add_unschedulable(&l.q, a, 1, 0);
    assert_next(&l, S, "b");
    kc__sched_queue_add_unschedulable(&l.q, b, 1, S);
    assert_true(kc__sched_queue_next(&l.q) == 300 * S);
    kc__sched_queue_flush(&l.q, 300 * S);
    assert_next(&l, 300 * S, "a");
    assert_next(&l, 300 * S, NULL);
    assert_true(kc__sched_queue_next(&l.q) == 301 * S);
}

static void gated_pod_is_not_queued(void **state)
{
    (void)state;
    LINE(l);
    kc__sched_pod *p = come(&l, "a", "'schedulingGates':[{'name':'g'}]", 0);
    assert_int_equal(l.q.n_gated, 1);
    assert_next(&l, 1000 * S, NULL);
    kc__sched_queue_move(&l.q, p, 1000 * S);
    assert_next(&l, 1000 * S, NULL);
    kc__sched_queue_add(&l.q, place(&l.cluster, "a", NULL, "", ""), 1000 * S);
    assert_next(&l, 1000 * S, "a");
    assert_int_equal(l.q.n_gated, 0);
}

static void removed_pod_is_not_returned(void **state)
{
    (void)state;
    LINE(l);
    kc__sched_pod *places[3];
    for (int i = 0; i < 3; i++) {
        const char name[2] = {(char)('a' + i), 0};
        places[i] = come(&l, name, "", 0);
    }
    assert_next(&l, 0, "a");
    kc__sched_queue_add_unschedulable(&l.q, places[0], 1, 0);
    assert_next(&l, 0, "b");
    kc__sched_queue_back_off(&l.q, places[1], 0);
    for (int i = 0; i < 3; i++)
        kc__sched_queue_remove(&l.q, places[i]);
    assert_next(&l, 1000 * S, NULL);
    assert_int_equal(l.q.n_stuck, 0);
    assert_true(kc__sched_queue_next(&l.q) == KC_FOREVER);
}

TESTS(queue_orders_by_priority_then_age, backoff_grows_up_to_ten_seconds,
      unschedulable_pod_waits_for_an_event, event_does_not_shorten_the_backoff,
      unschedulable_pod_is_flushed_after_five_minutes, gated_pod_is_not_queued,
      removed_pod_is_not_returned)
