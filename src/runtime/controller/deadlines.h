/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deadlines.h: cancels calls of a controller that exceed the reconcile timeout.
 *
 * All calls of a controller have the same timeout, so their deadlines are in the order in which
 * they started: a list, for whose first call a serial task (executor.h) keeps the time.
 */
#ifndef KC_RUNTIME_DEADLINES_H
#define KC_RUNTIME_DEADLINES_H

#include "kc/cancel.h"
#include "runtime/executor/executor.h"

typedef struct kc__deadlines {
    const kc_clock *clock;
    kc__serial *serial; /* NULL: not started. */
    kc_mutex mutex;     /* Guards the fields below. Tokens are fired without it. */
    kc_dlist calls;     /* Of kc__deadlines_call, earliest deadline first. */
} kc__deadlines;

typedef struct kc__deadlines_call {
    kc_dlist_link link;
    kc_cancel *cancel;
    int64_t deadline;
    bool late; /* Its token was fired. */
} kc__deadlines_call;

void kc__deadlines_start(kc__deadlines *deadlines, kc__executor *executor, const kc_clock *clock);
/* No call may be in progress. Does nothing if it was not started. */
void kc__deadlines_stop(kc__deadlines *deadlines);

void kc__deadlines_begin(kc__deadlines *deadlines, kc__deadlines_call *call, kc_cancel *cancel,
                         int64_t deadline);
/* True if the call exceeded its deadline; its token has fired, or is about to. */
bool kc__deadlines_end(kc__deadlines *deadlines, kc__deadlines_call *call);

#endif
