/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guard.h: calls of functions that may crash. Without recovery a crash ends the process, after a
 * report of its location; with recovery it ends only the call. kc/controller.h documents what
 * recovery guarantees and what it does not.
 */
#ifndef KC_RUNTIME_GUARD_H
#define KC_RUNTIME_GUARD_H

#include "kc/buf.h"
#include "kc/controller.h"

#include <setjmp.h>

struct kc__crash_journal_slot;
struct kc__crash_journal_header;

/* Crashes that a process survives in guards with `recovers` and `limited`; the next one ends it. */
enum { KC__GUARD_CRASHES = 4, KC__GUARD_FRAMES = 16 };

/* The guard of one thread. */
typedef struct kc__guard {
    /* Set between kc__guard_begin and a call. Zero is the default. */
    bool recovers;    /* A crash ends the call, not the process. */
    bool limited;     /* Recovered crashes count towards KC__GUARD_CRASHES. */
    const char *role; /* "controller", "webhook": for the report. NULL: unknown. */
    const char *name; /* Of the controller or webhook. */
    kc_key key;       /* Of the call. Empty: none. */
    struct kc__crash_journal_slot *slot; /* Marked if the call ends the process. NULL: none. */

    sigjmp_buf back;
    bool armed;     /* A call is in progress. */
    bool unwinding; /* The handler is walking the stack, which may fault again: then it jumps to
                       `nested`. */
    sigjmp_buf nested;
    void *stack; /* Signal stack, so that an overflow of the thread's own stack is survived too. */
    int signal;  /* What ended the call; 0: kc_reconcile_abort. */
    void *address;                  /* The faulting address. */
    void *frames[KC__GUARD_FRAMES]; /* Return addresses, the faulting instruction first. */
    int n_frames;
    char text[256]; /* The message of kc_reconcile_abort. */
} kc__guard;

/* Enclose all calls of a thread, on that thread. The first guard of the process also installs the
 * signal handlers, the last removes them. */
void kc__guard_begin(kc__guard *guard);
void kc__guard_end(kc__guard *guard);

/* Calls fn(user). False if that crashed and the guard recovered; then `ret_what` describes the
 * crash, until the next call. */
bool kc__guard_call(kc__guard *guard, void (*fn)(void *user), void *user, const char **ret_what);

/* Appends the location of the last crash, innermost frame first, in the form that addr2line takes:
 * "robot.so+0x1139 (grab+0x9), kc+0x8f1c2". Appends nothing if it is unknown. */
void kc__guard_where(const kc__guard *guard, kc_buf *out);

/* Where the handler records the signal that ends the process; NULL: nowhere. One per process. */
void kc__guard_set_journal(struct kc__crash_journal_header *header);

#endif
