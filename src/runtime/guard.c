/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guard.c: surviving a crash of one call.
 *
 * Before a call the thread's registers are saved (sigsetjmp, without the signal mask: that would be
 * a system call each time); a handler of SIGSEGV, SIGBUS, SIGFPE and SIGABRT jumps back there when
 * the signal was raised by this very thread while its call was under way. In all other cases
 * (another thread, another part of the program, a signal that somebody sent, too many crashes) it
 * does what would have happened without it.
 *
 * Handlers of signals belong to the process, so this file has the only mutable globals of the
 * runtime: who used them before, how many guards there are, how many crashes there were, and each
 * thread's own guard.
 *
 * Under sanitizers signals are left to them, since finding the fault is why one runs them;
 * kc_reconcile_abort is caught there too.
 */
#include "runtime/guard.h"

#include "kc/thread.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SIGNALS_ARE_LEFT_ALONE 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(memory_sanitizer)
#define SIGNALS_ARE_LEFT_ALONE 1
#endif
#endif
#ifndef SIGNALS_ARE_LEFT_ALONE
#define SIGNALS_ARE_LEFT_ALONE 0
#endif

enum { STACK = 64 << 10 };

static const struct {
    int number;
    const char *text;
} caught[] = {
    {SIGSEGV, "SIGSEGV"},
    {SIGBUS, "SIGBUS"},
    {SIGFPE, "SIGFPE"},
    {SIGABRT, "SIGABRT"},
};

static _Thread_local kc__guard *mine;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* Guards the next two. */
static size_t guards;
static struct sigaction before[KC_COUNT(caught)];
static _Atomic int crashes;

/* ---- signals ---- */

static size_t index_of(int number)
{
    size_t i = 0;
    while (i + 1 < KC_COUNT(caught) && caught[i].number != number)
        i++;
    return i;
}

/* A fault of this thread's, or its own raise: a signal that was sent says so. */
static bool is_own(int number, const siginfo_t *info)
{
    if (number == SIGABRT)
        return info->si_code == SI_TKILL && info->si_pid == getpid();
    return info->si_code > 0;
}

/* What would have happened without us. */
static void pass_on(int number, siginfo_t *info, void *context)
{
    const struct sigaction *old = &before[index_of(number)];
    if (old->sa_flags & SA_SIGINFO) {
        old->sa_sigaction(number, info, context);
    } else if (old->sa_handler != SIG_DFL && old->sa_handler != SIG_IGN) {
        old->sa_handler(number);
    } else {
        signal(number, SIG_DFL);
        if (!is_own(number, info) || number == SIGABRT)
            raise(number); /* A fault comes again by itself. */
    }
}

static void on_signal(int number, siginfo_t *info, void *context)
{
    kc__guard *guard = mine;
    if (!guard || !guard->armed || !is_own(number, info) ||
        atomic_fetch_add(&crashes, 1) >= KC__GUARDED_CRASHES) {
        pass_on(number, info, context);
        return;
    }
    guard->armed = false;
    guard->signal = number;
    guard->address = number == SIGABRT ? NULL : info->si_addr;
    siglongjmp(guard->back, 1);
}

static void install(void)
{
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_ONSTACK, .sa_sigaction = on_signal};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < KC_COUNT(caught); i++)
        sigaction(caught[i].number, &action, &before[i]);
}

static void uninstall(void)
{
    for (size_t i = 0; i < KC_COUNT(caught); i++)
        sigaction(caught[i].number, &before[i], NULL);
}

/* Counts a thread that guards its calls, or one less. */
static void count(int by)
{
    pthread_mutex_lock(&lock);
    if (by > 0 && guards++ == 0)
        install();
    else if (by < 0 && --guards == 0)
        uninstall();
    pthread_mutex_unlock(&lock);
}

/* The handler did not return, so its signal is still blocked. */
static void unblock(int number)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

/* ---- guards ---- */

void kc__guard_begin(kc__guard *guard)
{
    *guard = (kc__guard){0};
    mine = guard;
    if (SIGNALS_ARE_LEFT_ALONE)
        return;
    guard->stack = kc_alloc(STACK);
    sigaltstack(&(stack_t){.ss_sp = guard->stack, .ss_size = STACK}, NULL);
    count(1);
}

void kc__guard_end(kc__guard *guard)
{
    mine = NULL;
    if (!guard->stack)
        return;
    count(-1);
    sigaltstack(&(stack_t){.ss_flags = SS_DISABLE}, NULL);
    free(guard->stack);
    guard->stack = NULL;
}

static const char *say_what(kc__guard *guard)
{
    if (!guard->signal)
        return guard->text;
    unblock(guard->signal);
    const char *name = caught[index_of(guard->signal)].text;
    if (guard->signal == SIGABRT)
        snprintf(guard->text, sizeof(guard->text), "%s", name);
    else
        snprintf(guard->text, sizeof(guard->text), "%s at address %p", name, guard->address);
    return guard->text;
}

bool kc__guard_call(kc__guard *guard, void (*fn)(void *user), void *user, const char **ret_what)
{
    if (sigsetjmp(guard->back, 0) != 0) {
        *ret_what = say_what(guard);
        return false;
    }
    guard->signal = 0;
    guard->armed = true;
    fn(user);
    guard->armed = false;
    return true;
}

void kc_reconcile_abort(const char *fmt, ...)
{
    kc__guard *guard = mine;
    char text[sizeof(guard->text)];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    if (guard && guard->armed && atomic_fetch_add(&crashes, 1) < KC__GUARDED_CRASHES) {
        guard->armed = false;
        memcpy(guard->text, text, sizeof(text));
        siglongjmp(guard->back, 1);
    }
    fprintf(stderr, "%s\n", text);
    if (guard)
        guard->armed = false; /* So that the next line does what it says. */
    abort();
}
