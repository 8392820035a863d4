/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deadlines.h: fires the tokens of calls that take too long.
 *
 * All calls of a controller have the same time, so they end in the order they began: a list, whose
 * first one a thread waits for.
 */
#ifndef KC_RUNTIME_DEADLINES_H
#define KC_RUNTIME_DEADLINES_H

#include "kc/cancel.h"

typedef struct kc__deadlines {
    const kc_clock *clock;
    kc_mutex mutex; /* Guards what follows. Tokens are fired without it. */
    kc_cond changed;
    kc_list calls; /* Of kc__timed_call, the first to end first. */
    bool stop;
    kc_thread *thread;
} kc__deadlines;

typedef struct kc__timed_call {
    kc_link link;
    kc_cancel *cancel;
    int64_t deadline;
    bool late; /* It was told to give up. */
} kc__timed_call;

int kc__deadlines_start(kc__deadlines *deadlines, const kc_clock *clock, kc_error *err);
/* No call is under way. Does nothing if it was not started. */
void kc__deadlines_stop(kc__deadlines *deadlines);

void kc__deadlines_begin(kc__deadlines *deadlines, kc__timed_call *call, kc_cancel *cancel,
                         int64_t deadline);
/* True when it took too long; its token has fired, or is about to. */
bool kc__deadlines_end(kc__deadlines *deadlines, kc__timed_call *call);

#endif
