/* SPDX-License-Identifier: Apache-2.0 */
/* thread_testing.h: the threads of the test's own process. */
#ifndef THREAD_TESTING_H
#define THREAD_TESTING_H

#include "testing.h"

#include "kc/thread.h"
#include "kc/vec.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Number of threads with a name. */
static inline size_t threads_named(const char *name)
{
    size_t found = 0;
    DIR *dir = opendir("/proc/self/task");
    assert_non_null(dir);
    for (const struct dirent *task; (task = readdir(dir));) {
        char path[300], line[32] = "";
        snprintf(path, sizeof(path), "/proc/self/task/%s/comm", task->d_name);
        FILE *file = fopen(path, "r");
        if (!file)
            continue; /* "." and "..", or the thread has ended. */
        if (fgets(line, sizeof(line), file))
            line[strcspn(line, "\n")] = '\0';
        fclose(file);
        found += !strcmp(line, name);
    }
    closedir(dir);
    return found;
}

/* A waiting thread: its number, and how often it has left its processor. */
typedef struct waiting_thread {
    long number;
    unsigned long long switches;
} waiting_thread;
typedef KC_VEC(waiting_thread) waiting_threads;

/* False if the thread runs, or is to run. */
static inline bool thread_waits(long number, waiting_thread *ret)
{
    char path[64], text[4096];
    snprintf(path, sizeof(path), "/proc/self/task/%ld/status", number);
    FILE *file = fopen(path, "r");
    if (!file)
        return false; /* It is ending. */
    const size_t n = fread(text, 1, sizeof(text) - 1, file);
    fclose(file);
    text[n] = '\0';
    const char *state = strstr(text, "\nState:\tS");
    const char *switches = strstr(text, "\nvoluntary_ctxt_switches:");
    const char *forced = strstr(text, "\nnonvoluntary_ctxt_switches:");
    if (!state || !switches || !forced)
        return false;
    *ret = (waiting_thread){number, strtoull(strchr(switches, ':') + 1, NULL, 10) +
                                        strtoull(strchr(forced, ':') + 1, NULL, 10)};
    return true;
}

/* The other threads of this process, if all of them wait. */
static inline bool list_waiting_threads(waiting_threads *ret)
{
    bool all = true;
    DIR *dir = opendir("/proc/self/task");
    assert_non_null(dir);
    kc_vec_clear(ret);
    for (const struct dirent *task; all && (task = readdir(dir));) {
        const long number = strtol(task->d_name, NULL, 10);
        waiting_thread one;
        if (!number || number == (long)gettid())
            continue;
        all = thread_waits(number, &one);
        if (all)
            kc_vec_push(ret, one);
    }
    closedir(dir);
    return all;
}

/*
 * Whether all other threads of this process wait, so that nothing happens by itself any more. One
 * look at each is not enough: a thread that was looked at may be woken by one that is looked at
 * later. All that wait in two looks without having run in between waited at the same moment.
 */
static inline bool other_threads_wait(void)
{
    waiting_threads first = {0}, second = {0};
    const bool wait =
        list_waiting_threads(&first) && list_waiting_threads(&second) && first.n == second.n &&
        (!first.n || !memcmp(first.items, second.items, first.n * sizeof(*first.items)));
    kc_vec_done(&first);
    kc_vec_done(&second);
    return wait;
}

/* Blocks until they do. */
static inline void await_other_threads(void)
{
    const int64_t end = kc_clock_deadline(kc_clock_real(), 2 * KC_MINUTE);
    while (!other_threads_wait()) {
        if (kc_clock_now(kc_clock_real()) > end)
            fail_msg("a thread does not come to rest");
        kc_clock_sleep(kc_clock_real(), 100 * KC_MICROSECOND);
    }
}

#endif
