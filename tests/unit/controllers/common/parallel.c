/* SPDX-License-Identifier: Apache-2.0 */
/* Running tasks in parallel, and the slow start of batches. */
#include "testing.h"

#include "common/parallel.h"
#include "kc/thread.h"

enum { MOST = 1000 };

typedef struct job {
    _Atomic int done[MOST];
    size_t fails_from; /* Those from here on fail. */
} job;

static int work(size_t i, void *user, kc_error *err)
{
    job *j = user;
    j->done[i]++;
    return i < j->fails_from ? 0 : kc_error_set(err, KC_FORBIDDEN, "task %zu", i);
}

static size_t tried(const job *j)
{
    size_t n = 0;
    for (size_t i = 0; i < MOST; i++)
        n += j->done[i] > 0;
    return n;
}

static void each_task_runs_once(void **state)
{
    (void)state;
    const size_t sizes[] = {0, 1, 3, 64, MOST};
    for (size_t k = 0; k < KC_COUNT(sizes); k++) {
        job j = {.fails_from = MOST};
        kc_scoped(kc_error) err = {0};
        assert_int_equal(kc__common_parallel(sizes[k], work, &j, &err), sizes[k]);
        assert_int_equal(err.reason, KC_OK);
        for (size_t i = 0; i < MOST; i++)
            assert_int_equal(j.done[i], i < sizes[k]);
    }
}

static void all_tasks_run_and_first_error_is_returned(void **state)
{
    (void)state;
    job j = {.fails_from = 40};
    kc_scoped(kc_error) err = {0};
    assert_int_equal(kc__common_parallel(100, work, &j, &err), 40);
    assert_int_equal(tried(&j), 100);
    assert_string_equal(kc_error_text(&err), "task 40");
    job k = {.fails_from = 0};
    assert_int_equal(kc__common_parallel(10, work, &k, NULL), 0);
}

static void slow_start_stops_with_the_batch_that_fails(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    job none = {.fails_from = MOST}, at_once = {.fails_from = 0}, later = {.fails_from = 10};
    assert_int_equal(kc__common_slow_start(500, work, &none, &err), 500);
    assert_int_equal(tried(&none), 500);
    assert_int_equal(err.reason, KC_OK);
    assert_int_equal(kc__common_slow_start(500, work, &at_once, &err), 0);
    assert_int_equal(tried(&at_once), 1);
    assert_string_equal(kc_error_text(&err), "task 0");
    assert_int_equal(kc__common_slow_start(500, work, &later, &err), 10); /* 1, 2, 4, and 3 of 8. */
    assert_int_equal(tried(&later), 15);
    assert_string_equal(kc_error_text(&err), "task 10");
}

TESTS(each_task_runs_once, all_tasks_run_and_first_error_is_returned,
      slow_start_stops_with_the_batch_that_fails)
