/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signals.c: turns a signal into a cancellation token.
 *
 *     handler ──one byte──▶ pipe ──▶ thread ──▶ kc_cancel_fire
 *
 * A signal handler may call only a few functions, so it writes to a pipe; a thread that reads the
 * pipe does the rest. The handler can find the pipe only through a global variable: the one here.
 */
#include "runtime/manager/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

static _Atomic int pipe_in = -1; /* Where the handler writes; -1: signals are not caught. */
static _Atomic int seen;

struct kc__manager_signals {
    kc_cancel *stop;
    kc_thread *thread;
    int out, in;
    struct sigaction before_int, before_term;
};

static void signals_handle(int number)
{
    (void)number;
    int saved = errno;
    if (atomic_fetch_add(&seen, 1) > 0)
        _exit(1);
    if (write(atomic_load(&pipe_in), "s", 1) < 0)
        _exit(1);
    errno = saved;
}

static void listen_to_pipe(void *user)
{
    kc__manager_signals *s = user;
    char what = 0;
    while (read(s->out, &what, 1) < 0 && errno == EINTR)
        ;
    if (what == 's')
        kc_cancel_fire(s->stop);
}

static int open_pipe(kc__manager_signals *s, kc_error *err)
{
    int ends[2], unset = -1;
    if (pipe2(ends, O_CLOEXEC) < 0)
        return kc_error_set(err, KC_INTERNAL, "cannot create a pipe: %s", strerrordesc_np(errno));
    s->out = ends[0];
    s->in = ends[1];
    if (atomic_compare_exchange_strong(&pipe_in, &unset, s->in))
        return 0;
    close(s->out);
    close(s->in);
    return kc_error_set(err, KC_CONFLICT, "another manager of this process handles signals");
}

kc__manager_signals *kc__manager_signals_catch(kc_cancel *stop, kc_error *err)
{
    kc__manager_signals *s = kc_new(kc__manager_signals);
    s->stop = kc_cancel_ref(stop);
    if (open_pipe(s, err) < 0)
        goto failed;
    s->thread = kc_thread_start("signals", listen_to_pipe, s, err);
    if (!s->thread) {
        atomic_store(&pipe_in, -1);
        close(s->out);
        close(s->in);
        goto failed;
    }
    atomic_store(&seen, 0);
    struct sigaction action = {.sa_handler = signals_handle, .sa_flags = SA_RESTART};
    sigaction(SIGINT, &action, &s->before_int);
    sigaction(SIGTERM, &action, &s->before_term);
    return s;
failed:
    kc_cancel_unref(s->stop);
    free(s);
    return NULL;
}

kc__manager_signals *kc__manager_signals_release(kc__manager_signals *s)
{
    if (!s)
        return NULL;
    sigaction(SIGINT, &s->before_int, NULL);
    sigaction(SIGTERM, &s->before_term, NULL);
    atomic_store(&pipe_in, -1);
    close(s->in); /* Ends the thread's read. */
    kc_thread_join(s->thread);
    close(s->out);
    kc_cancel_unref(s->stop);
    free(s);
    return NULL;
}
