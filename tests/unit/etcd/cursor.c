/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "etcd/cursor.h"
#include "kc/rand.h"

enum { MAX = 64 };

/* A response of events with these revisions, which end with 0. The keys are numbers. */
typedef struct response {
    kc__etcd_key_value kvs[MAX];
    kc__etcd_event events[MAX];
    size_t n;
} response;

static kc__etcd_events response_of(response *r, const int *revisions)
{
    r->n = 0;
    for (; revisions[r->n]; r->n++) {
        r->kvs[r->n] = (kc__etcd_key_value){.mod_revision = revisions[r->n]};
        r->events[r->n] = (kc__etcd_event){.kv = &r->kvs[r->n]};
    }
    return (kc__etcd_events){r->events, r->n};
}
#define REVISIONS(...) ((const int[]){__VA_ARGS__, 0})

/* Asserts how many events at the end of a response are new. */
static void assert_fresh(kc__etcd_cursor *cursor, const int *revisions, bool more, size_t expected)
{
    response r;
    kc__etcd_events fresh = {0};
    const kc__etcd_events all = response_of(&r, revisions);
    assert_true(kc__etcd_cursor_take(cursor, all, more, &fresh));
    assert_int_equal(fresh.n, expected);
    if (fresh.n)
        assert_ptr_equal(fresh.items + fresh.n, all.items + all.n);
}

static void complete_response_resumes_after_its_last_revision(void **state)
{
    (void)state;
    kc__etcd_cursor cursor = {.next = 5};
    assert_fresh(&cursor, REVISIONS(5, 6, 6, 9), false, 4);
    kc__etcd_cursor_restart(&cursor);
    assert_int_equal(cursor.next, 10);
    assert_int_equal(cursor.skip, 0);
}

static void fragment_resumes_within_its_last_revision(void **state)
{
    (void)state;
    kc__etcd_cursor cursor = {.next = 5};
    assert_fresh(&cursor, REVISIONS(5, 7, 7, 7), true, 4);
    assert_int_equal(cursor.next, 7);
    kc__etcd_cursor_restart(&cursor);
    /* Repeated in other fragments. */
    assert_fresh(&cursor, REVISIONS(7, 7), true, 0);
    assert_fresh(&cursor, REVISIONS(7, 7, 7), true, 2);
    assert_fresh(&cursor, REVISIONS(7, 8), false, 2);
    assert_int_equal(cursor.next, 9);
}

static void second_break_within_a_revision_keeps_the_count(void **state)
{
    (void)state;
    kc__etcd_cursor cursor = {.next = 7};
    assert_fresh(&cursor, REVISIONS(7, 7, 7), true, 3);
    kc__etcd_cursor_restart(&cursor);
    assert_fresh(&cursor, REVISIONS(7, 7), true, 0);
    kc__etcd_cursor_restart(&cursor);
    assert_fresh(&cursor, REVISIONS(7, 7, 7, 7), false, 1);
    assert_int_equal(cursor.next, 8);
}

static void fragments_on_one_stream_are_not_skipped(void **state)
{
    (void)state;
    kc__etcd_cursor cursor = {.next = 7};
    assert_fresh(&cursor, REVISIONS(7, 7), true, 2);
    assert_fresh(&cursor, REVISIONS(7, 7), true, 2);
    assert_fresh(&cursor, REVISIONS(7), false, 1);
    assert_int_equal(cursor.next, 8);
}

static void delivered_revisions_are_dropped(void **state)
{
    (void)state;
    kc__etcd_cursor cursor = {.next = 7};
    assert_fresh(&cursor, REVISIONS(4, 6, 7), false, 1);
    assert_fresh(&cursor, REVISIONS(4, 6, 7), false, 0);
    assert_int_equal(cursor.next, 8);
}

static void progress_never_goes_back(void **state)
{
    (void)state;
    kc__etcd_cursor cursor = {.next = 7};
    kc__etcd_cursor_advance(&cursor, 20);
    assert_int_equal(cursor.next, 21);
    kc__etcd_cursor_advance(&cursor, 3);
    assert_int_equal(cursor.next, 21);
}

static void events_out_of_order_are_refused(void **state)
{
    (void)state;
    response r;
    kc__etcd_events fresh;
    kc__etcd_cursor cursor = {.next = 1};
    assert_false(kc__etcd_cursor_take(&cursor, response_of(&r, REVISIONS(3, 2)), false, &fresh));
    kc__etcd_events without_kv = response_of(&r, REVISIONS(3));
    r.events[0].kv = NULL;
    assert_false(kc__etcd_cursor_take(&cursor, without_kv, false, &fresh));
}

/* A history of 40 events, sent in fragments of random length over streams that break at random:
 * each event is delivered once. */
static void random_breaks_deliver_each_event_once(void **state)
{
    (void)state;
    static const int history[] = {2, 3, 3, 3, 4, 5, 5, 5, 5, 5, 5, 5, 5, 6, 7, 7, 8, 9, 9, 9, 0};
    const size_t n = KC_COUNT(history) - 1;
    for (uint64_t seed = 0; seed < 2000; seed++) {
        kc_rand rand;
        kc__etcd_cursor cursor = {.next = 2};
        size_t delivered = 0;
        kc_rand_seed(&rand, seed);
        while (cursor.next < 10) {
            size_t at = 0;
            kc__etcd_cursor_restart(&cursor);
            while (history[at] < cursor.next)
                at++;
            for (bool broken = false; at < n && !broken; broken = !kc_rand_below(&rand, 4)) {
                int part[MAX] = {0};
                const size_t take = 1 + kc_rand_below(&rand, n - at);
                memcpy(part, history + at, take * sizeof(*part));
                at += take;
                /* Only at the end of a revision may a response be complete. */
                const bool more =
                    at < n && (history[at] == history[at - 1] || kc_rand_below(&rand, 2));
                response r;
                kc__etcd_events fresh;
                assert_true(kc__etcd_cursor_take(&cursor, response_of(&r, part), more, &fresh));
                for (size_t i = 0; i < fresh.n; i++)
                    assert_int_equal(fresh.items[i].kv->mod_revision, history[delivered++]);
            }
        }
        assert_int_equal(delivered, n);
    }
}

TESTS(complete_response_resumes_after_its_last_revision, fragment_resumes_within_its_last_revision,
      second_break_within_a_revision_keeps_the_count, fragments_on_one_stream_are_not_skipped,
      delivered_revisions_are_dropped, progress_never_goes_back, events_out_of_order_are_refused,
      random_breaks_deliver_each_event_once)
