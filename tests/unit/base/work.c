/* SPDX-License-Identifier: Apache-2.0 */
/* work.c: work that ends by cancellation or at its time limit. */
#include "testing.h"

#include "base/work.h"

static void is_over_is_false_without_work(void **state)
{
    (void)state;
    for (int i = 0; i < 1000; i++)
        assert_false(kc__work_is_over());
}

static void cancelled_work_is_over(void **state)
{
    (void)state;
    kc__work work;
    kc__work_init(&work);
    kc__work_begin(&work, 0);
    assert_false(kc__work_is_over());
    kc__work_cancel(&work);
    assert_true(kc__work_is_over());
    assert_true(kc__work_end(&work));
    assert_false(kc__work_is_over());
}

static void work_that_uses_its_cpu_time_is_over(void **state)
{
    (void)state;
    kc__work work;
    kc__work_init(&work);
    kc__work_begin(&work, 20 * 1000000);
    while (!kc__work_is_over())
        ;
    assert_true(kc__work_end(&work));
}

static void is_over_now_reads_clock_at_once(void **state)
{
    (void)state;
    kc__work work;
    kc__work_init(&work);
    kc__work_begin(&work, 1);
    for (volatile int i = 0; i < 100000; i++)
        ;
    assert_false(kc__work_is_over());
    assert_true(kc__work_is_over_now());
    assert_true(kc__work_end(&work));
}

static void nested_work_ends_independently(void **state)
{
    (void)state;
    kc__work outer, inner;
    kc__work_init(&outer);
    kc__work_init(&inner);
    kc__work_begin(&outer, 0);
    kc__work_begin(&inner, 0);
    kc__work_cancel(&inner);
    assert_true(kc__work_is_over());
    assert_true(kc__work_end(&inner));
    assert_false(kc__work_is_over());
    assert_false(kc__work_end(&outer));
}

TESTS(is_over_is_false_without_work, cancelled_work_is_over, work_that_uses_its_cpu_time_is_over,
      is_over_now_reads_clock_at_once, nested_work_ends_independently)
