/* SPDX-License-Identifier: Apache-2.0 */
/* Which pod is next, and when it is tried again. */
#include "scheduler_testing.h"

#include "scheduler/pending.h"

#define S KC_SECOND

typedef struct line {
    kc__cluster cluster;
    kc__pending q;
} line;

static void line_init(line *l)
{
    kc__cluster_init(&l->cluster);
    kc__pending_init(&l->q);
}

static void line_done(line *l)
{
    kc__pending_done(&l->q);
    kc__cluster_done(&l->cluster);
}

#define LINE(l)        \
    kc_scoped(line) l; \
    line_init(&l)

static kc__place *come(line *l, const char *name, const char *spec, int64_t now)
{
    kc__place *p = place(&l->cluster, name, NULL, "", spec);
    kc__pending_add(&l->q, p, now);
    return p;
}

static void assert_next(line *l, int64_t now, const char *name)
{
    const kc__place *p = kc__pending_pop(&l->q, now);
    if (!name) {
        assert_null(p);
        return;
    }
    assert_non_null(p);
    assert_str(p->demand->key.name, name);
}

static void the_more_important_comes_first_then_the_older(void **state)
{
    (void)state;
    LINE(l);
    come(&l, "a", "", 1);
    come(&l, "b", "'priority':5", 2);
    come(&l, "c", "", 3);
    kc_auto(kc_object) *old = object_of(
        "{'kind':'Pod','metadata':{'name':'old','namespace':'default','uid':'u','creationTimestamp':"
        "'1969-01-01T00:00:00Z'},'spec':{'containers':[{'name':'c'}]}}");
    kc__pending_add(&l.q, place_object(&l.cluster, old), 4);
    assert_next(&l, 5, "b");
    assert_next(&l, 5, "old");
    assert_next(&l, 5, "a");
    assert_next(&l, 5, "c");
    assert_next(&l, 5, NULL);
    assert_true(kc__pending_next(&l.q) == KC_FOREVER);
}

static void each_failure_waits_longer_up_to_ten_seconds(void **state)
{
    (void)state;
    static const int64_t waits[] = {1, 2, 4, 8, 10, 10, 10};
    LINE(l);
    kc__place *p = come(&l, "a", "", 0);
    int64_t now = 0;
    for (size_t i = 0; i < KC_COUNT(waits); i++) {
        assert_next(&l, now, "a");
        kc__pending_back_off(&l.q, p, now);
        assert_true(kc__pending_next(&l.q) == now + waits[i] * S);
        assert_next(&l, now + waits[i] * S - 1, NULL);
        now += waits[i] * S;
    }
}

static void what_is_stuck_waits_for_a_change(void **state)
{
    (void)state;
    LINE(l);
    kc__place *p = come(&l, "a", "", 0);
    assert_next(&l, 0, "a");
    kc__pending_stick(&l.q, p, 1, 0);
    assert_next(&l, 100 * S, NULL);
    kc__pending_move(&l.q, p, 100 * S);
    assert_next(&l, 100 * S, "a");
}

static void a_change_does_not_shorten_the_wait(void **state)
{
    (void)state;
    LINE(l);
    kc__place *p = come(&l, "a", "", 0);
    assert_next(&l, 0, "a");
    kc__pending_stick(&l.q, p, 1, 0);
    kc__pending_move(&l.q, p, S / 2);
    assert_next(&l, S / 2, NULL);
    assert_next(&l, S, "a");
}

static void nothing_is_stuck_for_more_than_five_minutes(void **state)
{
    (void)state;
    LINE(l);
    kc__place *a = come(&l, "a", "", 0), *b = come(&l, "b", "", 0);
    assert_next(&l, 0, "a");
    kc__pending_stick(&l.q, a, 1, 0);
    assert_next(&l, S, "b");
    kc__pending_stick(&l.q, b, 1, S);
    assert_true(kc__pending_next(&l.q) == 300 * S);
    kc__pending_flush(&l.q, 300 * S);
    assert_next(&l, 300 * S, "a");
    assert_next(&l, 300 * S, NULL);
    assert_true(kc__pending_next(&l.q) == 301 * S);
}

static void gates_keep_a_pod_out(void **state)
{
    (void)state;
    LINE(l);
    kc__place *p = come(&l, "a", "'schedulingGates':[{'name':'g'}]", 0);
    assert_int_equal(l.q.n_gated, 1);
    assert_next(&l, 1000 * S, NULL);
    kc__pending_move(&l.q, p, 1000 * S);
    assert_next(&l, 1000 * S, NULL);
    kc__pending_add(&l.q, place(&l.cluster, "a", NULL, "", ""), 1000 * S);
    assert_next(&l, 1000 * S, "a");
    assert_int_equal(l.q.n_gated, 0);
}

static void what_is_removed_does_not_come(void **state)
{
    (void)state;
    LINE(l);
    kc__place *places[3];
    for (int i = 0; i < 3; i++) {
        const char name[2] = {(char)('a' + i), 0};
        places[i] = come(&l, name, "", 0);
    }
    assert_next(&l, 0, "a");
    kc__pending_stick(&l.q, places[0], 1, 0);
    assert_next(&l, 0, "b");
    kc__pending_back_off(&l.q, places[1], 0);
    for (int i = 0; i < 3; i++)
        kc__pending_remove(&l.q, places[i]);
    assert_next(&l, 1000 * S, NULL);
    assert_int_equal(l.q.n_stuck, 0);
    assert_true(kc__pending_next(&l.q) == KC_FOREVER);
}

TESTS(the_more_important_comes_first_then_the_older, each_failure_waits_longer_up_to_ten_seconds,
      what_is_stuck_waits_for_a_change, a_change_does_not_shorten_the_wait,
      nothing_is_stuck_for_more_than_five_minutes, gates_keep_a_pod_out,
      what_is_removed_does_not_come)
