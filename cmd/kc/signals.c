/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signals.c: turns SIGTERM and SIGINT into a cancellation; for a program in a terminal SIGHUP too,
 * unless it was started with nohup.
 *
 * All threads block the signals and one thread waits for them, so no signal handler is needed. The
 * first signal stops the program gracefully. The second makes the same thread exit with 128 plus
 * the signal number (130, 143): for process 1 of a container the kernel drops a signal without a
 * handler, but never a blocked one.
 *
 * kc__cli_stop_signal_free ends the thread with a signal directed at it.
 */
#include "signals.h"

#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

struct kc__cli_stop_signal {
    kc_cancel *stop;
    sigset_t set;
    kc_thread *thread;
    pthread_t id;      /* Set by the thread. */
    kc_latch starting; /* Counts down when `id` is set. */
    atomic_bool ending;
};

static int next_signal(kc__cli_stop_signal *s)
{
    int number = 0;
    while (sigwait(&s->set, &number) != 0)
        ;
    return number;
}

/* A second signal is pending: skip the graceful stop. */
static bool another_waits(const kc__cli_stop_signal *s)
{
    sigset_t pending;
    if (sigpending(&pending) < 0)
        return false;
    for (int number = 1; number < NSIG; number++)
        if (sigismember(&s->set, number) == 1 && sigismember(&pending, number) == 1)
            return true;
    return false;
}

static void wait_for_signals(void *user)
{
    kc__cli_stop_signal *s = user;
    s->id = pthread_self();
    kc_latch_count_down(&s->starting);
    next_signal(s);
    if (atomic_load(&s->ending))
        return;
    if (!another_waits(s))
        kc_cancel_fire(s->stop);
    const int number = next_signal(s);
    if (!atomic_load(&s->ending))
        _exit(128 + number);
}

static bool is_ignored(int number)
{
    struct sigaction now;
    return sigaction(number, NULL, &now) == 0 && now.sa_handler == SIG_IGN;
}

kc__cli_stop_signal *kc__cli_stop_signal_new(kc_cancel *stop, bool in_terminal, kc_error *err)
{
    kc_auto(kc__cli_stop_signal) *s = kc_new(kc__cli_stop_signal);
    s->stop = kc_cancel_ref(stop);
    kc_latch_init(&s->starting);
    sigemptyset(&s->set);
    sigaddset(&s->set, SIGTERM);
    sigaddset(&s->set, SIGINT);
    if (!in_terminal)
        signal(SIGHUP, SIG_IGN);
    else if (!is_ignored(SIGHUP))
        sigaddset(&s->set, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &s->set, NULL);
    signal(SIGPIPE, SIG_IGN);
    kc_latch_add(&s->starting, 1);
    s->thread = kc_thread_start("signals", wait_for_signals, s, err);
    if (!s->thread)
        return NULL;
    kc_latch_wait(&s->starting);
    return kc_take(s);
}

kc__cli_stop_signal *kc__cli_stop_signal_free(kc__cli_stop_signal *s)
{
    if (!s)
        return NULL;
    if (s->thread) {
        atomic_store(&s->ending, true);
        pthread_kill(s->id, SIGINT);
        kc_thread_join(s->thread);
    }
    kc_latch_done(&s->starting);
    kc_cancel_unref(s->stop);
    free(s);
    return NULL;
}
