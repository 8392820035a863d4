/* SPDX-License-Identifier: Apache-2.0 */
/*
 * work.c: the current work of each thread. Reading a thread's CPU time is a system call, so it is
 * read with every CHECKS_PER_CLOCK_READ-th check and at the end.
 */
#include "base/work.h"

#include <stddef.h>
#include <time.h>

enum { CHECKS_PER_CLOCK_READ = 256 };

static _Thread_local kc__work *current;

static int64_t cpu_time(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void check_work_limits(kc__work *work)
{
    if (work->cpu_end && cpu_time() > work->cpu_end)
        atomic_store_explicit(&work->over, true, memory_order_relaxed);
}

void kc__work_init(kc__work *work)
{
    *work = (kc__work){0};
}

void kc__work_begin(kc__work *work, int64_t cpu_limit)
{
    work->cpu_end = cpu_limit ? cpu_time() + cpu_limit : 0;
    work->checks = 0;
    work->outer = current;
    current = work;
}

bool kc__work_end(kc__work *work)
{
    current = work->outer;
    check_work_limits(work);
    return atomic_load_explicit(&work->over, memory_order_relaxed);
}

void kc__work_cancel(kc__work *work)
{
    atomic_store_explicit(&work->over, true, memory_order_relaxed);
}

int kc__work_fail(kc_error *err)
{
    return kc_error_set(err, KC_TIMEOUT, "the request exceeded its CPU time limit");
}

bool kc__work_is_over_now(void)
{
    if (!current)
        return false;
    check_work_limits(current);
    return atomic_load_explicit(&current->over, memory_order_relaxed);
}

bool kc__work_is_over(void)
{
    kc__work *work = current;
    if (!work)
        return false;
    if (++work->checks % CHECKS_PER_CLOCK_READ == 0)
        check_work_limits(work);
    return atomic_load_explicit(&work->over, memory_order_relaxed);
}
