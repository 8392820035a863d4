/* SPDX-License-Identifier: Apache-2.0 */
#include "base/periodic.h"

#include "testing.h"

#include <stdatomic.h>
#include <unistd.h>

static void count_run(void *user)
{
    atomic_fetch_add((_Atomic int *)user, 1);
}

static void await_runs(_Atomic int *runs, int wanted)
{
    for (int i = 0; i < 10000 && atomic_load(runs) < wanted; i++)
        usleep(1000);
    assert_true(atomic_load(runs) >= wanted);
}

static void each_job_runs_at_its_interval(void **state)
{
    (void)state;
    _Atomic int often = 0, never = 0;
    kc__periodic *periodic = kc__periodic_new(NULL);
    kc__periodic_add(periodic, KC_HOUR, count_run, &never);
    kc__periodic_add(periodic, KC_MILLISECOND, count_run, &often);
    assert_int_equal(kc__periodic_start(periodic, "test", NULL), 0);
    await_runs(&often, 3);
    assert_null(kc__periodic_free(periodic));
    assert_int_equal(never, 0);
}

static void slow_job_does_not_keep_others_from_running(void **state)
{
    (void)state;
    _Atomic int slow = 0, other = 0;
    kc__periodic *periodic = kc__periodic_new(NULL);
    kc__periodic_add(periodic, 0, count_run, &slow);
    kc__periodic_add(periodic, KC_MILLISECOND, count_run, &other);
    assert_int_equal(kc__periodic_start(periodic, "test", NULL), 0);
    await_runs(&other, 3);
    kc__periodic_free(periodic);
}

static void free_without_start_or_jobs_is_allowed(void **state)
{
    (void)state;
    kc__periodic *periodic = kc__periodic_new(NULL);
    assert_int_equal(kc__periodic_start(periodic, "test", NULL), 0);
    assert_null(kc__periodic_free(periodic));
    assert_null(kc__periodic_free(kc__periodic_new(NULL)));
    assert_null(kc__periodic_free(NULL));
}

static void free_does_not_wait_for_the_next_run(void **state)
{
    (void)state;
    _Atomic int runs = 0;
    kc__periodic *periodic = kc__periodic_new(NULL);
    kc__periodic_add(periodic, KC_HOUR, count_run, &runs);
    assert_int_equal(kc__periodic_start(periodic, "test", NULL), 0);
    assert_null(kc__periodic_free(periodic));
    assert_int_equal(runs, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_job_runs_at_its_interval),
        cmocka_unit_test(slow_job_does_not_keep_others_from_running),
        cmocka_unit_test(free_without_start_or_jobs_is_allowed),
        cmocka_unit_test(free_does_not_wait_for_the_next_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
