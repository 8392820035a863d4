/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guard.c: reports crashes, and recovers from the crash of one call where that is enabled.
 *
 * Without recovery the handler of SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP and SIGABRT writes the
 * call and the location of the crash to standard error, marks the call in the crash journal, and
 * then does what would have happened without the handler: the process ends.
 *
 * With recovery the guard saves the thread's registers before a call (sigsetjmp, without the signal
 * mask, which would cost a system call each time). The handler jumps back there if the signal was
 * raised by this very thread during its call. It does not recover from a crash of another thread or
 * of another part of the program, a signal that was sent, or one crash too many.
 *
 * The handler finds the location of a crash by walking the stack, which is gone after the jump. The
 * stack may be damaged, so a second fault during the walk jumps back into the handler (`nested`).
 * The unwinder is loaded and warmed up when the handlers are installed, because the first walk of a
 * process allocates.
 *
 * Signal handlers belong to the process, so this file has the only mutable globals of the runtime:
 * the previous handlers, the number of guards, the number of crashes, the open crash journal, and
 * each thread's own guard.
 *
 * Under sanitizers signals are left to the sanitizer, which is run to find the fault;
 * kc_reconcile_abort is caught there too.
 */
#include "runtime/crash/guard.h"

#include "base/sanitizer.h"
#include "kc/thread.h"
#include "runtime/crash/crash_slots.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <signal.h>
#include <stdio.h>
#include <ucontext.h>
#include <unistd.h>

enum { STACK = 64 << 10 };

static const struct {
    int number;
    const char *text;
} caught[] = {
    {SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"},   {SIGFPE, "SIGFPE"},
    {SIGILL, "SIGILL"},   {SIGTRAP, "SIGTRAP"}, {SIGABRT, "SIGABRT"},
};

static _Thread_local kc__guard *mine;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* Guards the next two. */
static size_t guards;
static struct sigaction before[KC_COUNT(caught)];
static _Atomic int crashes;
static _Atomic(kc__crash_journal_header *) journal;
static _Atomic bool dying; /* The crash report is being written. */

void kc__guard_set_journal(kc__crash_journal_header *header)
{
    atomic_store(&journal, header);
}

/* ---- crash location ---- */

/* The faulting instruction; NULL on an unknown architecture. */
static void *program_counter(const void *context)
{
#if defined(__x86_64__)
    return (void *)((const ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    return (void *)((const ucontext_t *)context)->uc_mcontext.pc;
#else
    (void)context;
    return NULL;
#endif
}

/* After a call through a bad pointer the caller's address is on top of the stack. */
static void *return_address(const void *context)
{
#if defined(__x86_64__)
    return *(void *const *)((const ucontext_t *)context)->uc_mcontext.gregs[REG_RSP];
#else
    (void)context;
    return NULL;
#endif
}

/* Drops the handler's own frames, which precede the faulting instruction. False if that is not
 * among the frames. */
static bool keep_from(kc__guard *guard, const void *pc)
{
    int first = 0;
    while (first < guard->n_frames && guard->frames[first] != pc)
        first++;
    if (first == guard->n_frames)
        return false;
    guard->n_frames -= first;
    memmove(guard->frames, guard->frames + first, (size_t)guard->n_frames * sizeof(void *));
    return true;
}

static void walk_stack(kc__guard *guard, const void *context)
{
    void *pc = program_counter(context);
    guard->n_frames = 0;
    guard->unwinding = true;
    if (sigsetjmp(guard->nested, 0) == 0)
        guard->n_frames = backtrace(guard->frames, KC__GUARD_FRAMES);
    if (!keep_from(guard, pc)) {
        guard->n_frames = 0;
        guard->frames[guard->n_frames++] = pc;
        if (sigsetjmp(guard->nested, 0) == 0) {
            void *caller = return_address(context);
            guard->frames[guard->n_frames++] = caller;
        }
    }
    guard->unwinding = false;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void put_frame(void *frame, kc_buf *out)
{
    Dl_info info;
    if (!dladdr(frame, &info) || !info.dli_fname || !*info.dli_fname) {
        kc_buf_printf(out, "%p", frame);
        return;
    }
    kc_buf_printf(out, "%s+0x%zx", base_name(info.dli_fname),
                  (size_t)((char *)frame - (char *)info.dli_fbase));
    if (info.dli_sname)
        kc_buf_printf(out, " (%s+0x%zx)", info.dli_sname,
                      (size_t)((char *)frame - (char *)info.dli_saddr));
}

void kc__guard_where(const kc__guard *guard, kc_buf *out)
{
    enum { SHOWN = 8 };
    for (int i = 0; i < KC_MIN(guard->n_frames, SHOWN); i++) {
        kc_buf_puts(out, i ? ", " : "");
        put_frame(guard->frames[i], out);
    }
}

/* ---- signals ---- */

static size_t index_of(int number)
{
    size_t i = 0;
    while (i + 1 < KC_COUNT(caught) && caught[i].number != number)
        i++;
    return i;
}

static void guard_write_str(kc_str text)
{
    const ssize_t ignored = write(STDERR_FILENO, text.p, text.n);
    (void)ignored;
}

static void guard_write_text(const char *text)
{
    guard_write_str(kc_cstr(text));
}

/* " in controller robot, key plant/r1" */
static void guard_write_call(const kc__guard *guard)
{
    if (!guard->role)
        return;
    guard_write_text(" in ");
    guard_write_text(guard->role);
    guard_write_text(" ");
    guard_write_text(guard->name);
    if (!guard->key.name.n)
        return;
    guard_write_text(", key ");
    guard_write_str(guard->key.ns);
    guard_write_text(guard->key.ns.n ? "/" : "");
    guard_write_str(guard->key.name);
}

static void note_in_journal(int number, kc__crash_journal_slot *slot)
{
    kc__crash_journal_header *header = atomic_load(&journal);
    if (header)
        kc__crash_journal_died(header, number);
    if (slot)
        slot->state = KC__CRASH_SLOT_CRASHED;
}

/* Reports the call and the location of the crash, and records it in the journal. Runs once; uses
 * only async-signal-safe calls. */
static void note_death(int number)
{
    if (atomic_exchange(&dying, true))
        return;
    const kc__guard *guard = mine && mine->armed ? mine : NULL;
    note_in_journal(number, guard ? guard->slot : NULL);
    guard_write_text("fatal: ");
    guard_write_text(caught[index_of(number)].text);
    if (guard)
        guard_write_call(guard);
    guard_write_text("; stack:\n");
    void *frames[KC__GUARD_FRAMES];
    backtrace_symbols_fd(frames, backtrace(frames, KC__GUARD_FRAMES), STDERR_FILENO);
}

/* True for a fault of this thread, or its own raise(); siginfo tells these from a signal that was
 * sent. */
static bool guard_is_own(int number, const siginfo_t *info)
{
    if (number == SIGABRT)
        return info->si_code == SI_TKILL && info->si_pid == getpid();
    return info->si_code > 0;
}

/* Does what would have happened without the guard. */
static void guard_forward(int number, siginfo_t *info, void *context)
{
    const struct sigaction *old = &before[index_of(number)];
    if (old->sa_flags & SA_SIGINFO) {
        old->sa_sigaction(number, info, context);
    } else if (old->sa_handler != SIG_DFL && old->sa_handler != SIG_IGN) {
        old->sa_handler(number);
    } else {
        signal(number, SIG_DFL);
        if (!guard_is_own(number, info) || number == SIGABRT || number == SIGTRAP)
            raise(number); /* A fault repeats by itself. */
    }
}

/* Whether a crash of the current call ends only the call. Counts the crash. */
static bool guard_recovers(const kc__guard *guard)
{
    if (!guard || !guard->armed || !guard->recovers)
        return false;
    return !guard->limited || atomic_fetch_add(&crashes, 1) < KC__GUARD_CRASHES;
}

static void on_signal(int number, siginfo_t *info, void *context)
{
    kc__guard *guard = mine;
    if (guard && guard->unwinding && guard_is_own(number, info))
        siglongjmp(guard->nested, 1);
    if (!guard_is_own(number, info) || !guard_recovers(guard)) {
        if (guard_is_own(number, info))
            note_death(number);
        guard_forward(number, info, context);
        return;
    }
    guard->signal = number;
    guard->address = number == SIGABRT ? NULL : info->si_addr;
    walk_stack(guard, context);
    guard->armed = false;
    siglongjmp(guard->back, 1);
}

static void install(void)
{
    /* SA_NODEFER: a fault within the handler is delivered to the handler again. */
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER,
                               .sa_sigaction = on_signal};
    void *frame;
    backtrace(&frame, 1); /* Loads the unwinder. */
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < KC_COUNT(caught); i++)
        sigaction(caught[i].number, &action, &before[i]);
}

static void uninstall(void)
{
    for (size_t i = 0; i < KC_COUNT(caught); i++)
        sigaction(caught[i].number, &before[i], NULL);
}

/* Adjusts the number of threads with a guard. */
static void guard_count(int by)
{
    pthread_mutex_lock(&lock);
    if (by > 0 && guards++ == 0)
        install();
    else if (by < 0 && --guards == 0)
        uninstall();
    pthread_mutex_unlock(&lock);
}

/* ---- guards ---- */

void kc__guard_begin(kc__guard *guard)
{
    *guard = (kc__guard){0};
    mine = guard;
    if (KC__SANITIZED)
        return;
    guard->stack = kc_alloc(STACK);
    sigaltstack(&(stack_t){.ss_sp = guard->stack, .ss_size = STACK}, NULL);
    guard_count(1);
}

void kc__guard_end(kc__guard *guard)
{
    mine = NULL;
    if (!guard->stack)
        return;
    guard_count(-1);
    sigaltstack(&(stack_t){.ss_flags = SS_DISABLE}, NULL);
    free(guard->stack);
    guard->stack = NULL;
}

static const char *describe_signal(kc__guard *guard)
{
    if (!guard->signal)
        return guard->text;
    const char *name = caught[index_of(guard->signal)].text;
    if (guard->signal == SIGABRT)
        snprintf(guard->text, sizeof(guard->text), "%s", name);
    else
        snprintf(guard->text, sizeof(guard->text), "%s at address %p", name, guard->address);
    return guard->text;
}

bool kc__guard_call(kc__guard *guard, void (*fn)(void *user), void *user, const char **ret_what)
{
    if (guard->recovers) {
        if (sigsetjmp(guard->back, 0) != 0) {
            *ret_what = describe_signal(guard);
            return false;
        }
    }
    guard->signal = 0;
    guard->n_frames = 0;
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
    if (guard_recovers(guard)) {
        guard->n_frames = backtrace(guard->frames, KC__GUARD_FRAMES);
        guard->armed = false;
        memcpy(guard->text, text, sizeof(text));
        siglongjmp(guard->back, 1);
    }
    fprintf(stderr, "%s\n", text);
    fflush(stderr); /* A redirected stream may be buffered. */
    if (guard)
        guard->recovers = false; /* So that abort() ends the process. */
    abort();
}
