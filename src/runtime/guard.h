/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guard.h: a call that may crash without ending the process. What that is worth, and what not,
 * stands in kc/controller.h.
 */
#ifndef KC_RUNTIME_GUARD_H
#define KC_RUNTIME_GUARD_H

#include "kc/controller.h"

#include <setjmp.h>

/* Crashes that a process survives: the next one ends it. */
enum { KC__GUARDED_CRASHES = 4 };

/* Of one thread. */
typedef struct kc__guard {
    sigjmp_buf back;
    bool armed;     /* A call is under way. */
    void *stack;    /* For signals, so that also an overflow of the thread's own is survived. */
    int signal;     /* What ended the call; 0: kc_reconcile_abort. */
    void *address;  /* Where, of a fault. */
    char text[256]; /* Of kc_reconcile_abort. */
} kc__guard;

/* Around all calls of a thread, and on it. The first of all threads also installs the handlers of
 * signals, the last takes them away. */
void kc__guard_begin(kc__guard *guard);
void kc__guard_end(kc__guard *guard);

/* Calls fn(user). False when that crashed; then `ret_what` says how, until the next call. */
bool kc__guard_call(kc__guard *guard, void (*fn)(void *user), void *user, const char **ret_what);

#endif
