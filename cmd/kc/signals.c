/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signals.c: SIGTERM and SIGINT as a token that fires; for a program that belongs to a terminal its
 * end (SIGHUP) too, unless it was started with nohup.
 *
 * They are blocked in all threads, and one thread waits for them: so no handler is needed, in which
 * next to nothing may be done. The first one stops the program in order. The second one ends it at
 * once with 128 and its number (130, 143): by the same thread, for the kernel ignores a signal that
 * nobody takes if it is for the first process of a container, but never one that is blocked.
 *
 * The thread is ended by a signal to it alone.
 */
#include "signals.h"

#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

struct kc__stopper {
    kc_cancel *stop;
    sigset_t set;
    kc_thread *thread;
    pthread_t id;      /* Of the thread, which sets it. */
    kc_latch starting; /* Until it has. */
    atomic_bool ending;
};

static int next_signal(kc__stopper *s)
{
    int number = 0;
    while (sigwait(&s->set, &number) != 0)
        ;
    return number;
}

/* Then there is nothing to stop in order, and nobody to race with. */
static bool another_waits(const kc__stopper *s)
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
    kc__stopper *s = user;
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

kc__stopper *kc__stopper_new(kc_cancel *stop, bool in_terminal, kc_error *err)
{
    kc_auto(kc__stopper) *s = kc_new(kc__stopper);
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

kc__stopper *kc__stopper_free(kc__stopper *s)
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
