/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cancel.h: telling those who wait that nobody wants the result any more.
 *
 *     kc_auto(kc_cancel) *stop = kc_cancel_new(NULL);
 *     kc_auto(kc_cancel) *call = kc_cancel_new(stop);       fires with its parent, or alone
 *     …
 *     kc_cancel_fire(stop);                                 whoever waits with either gives up
 *
 * A token is fired once and stays so. Calls that block take one and return KC_TIMEOUT ("cancelled")
 * soon after it was fired. Whoever waits on a condition of its own hangs a hook on the token that
 * signals it. Counted; any thread may use one. NULL is a token that never fires.
 */
#ifndef KC_CANCEL_H
#define KC_CANCEL_H

#include "kc/thread.h"

typedef struct kc_cancel kc_cancel;

/* With a parent (which may be NULL) it fires when that does; it keeps the parent alive. */
kc_cancel *kc_cancel_new(kc_cancel *parent);
kc_cancel *kc_cancel_ref(kc_cancel *cancel);
kc_cancel *kc_cancel_unref(kc_cancel *cancel);
KC_AUTO_DEFINE(kc_cancel, kc_cancel_unref)

/* Runs the hooks, then those of its children. Again: nothing. */
void kc_cancel_fire(kc_cancel *cancel);
bool kc_cancel_fired(const kc_cancel *cancel);
/* KC_TIMEOUT "cancelled" when it was fired, else 0. */
int kc_cancel_check(const kc_cancel *cancel, kc_error *err);

/* Lives inside whoever waits. `fire` is called at most once, on the thread that fires; it may lock
 * what it wakes, and must neither block nor touch the token. */
typedef struct kc_cancel_hook {
    void (*fire)(struct kc_cancel_hook *hook);
    kc_link link; /* Private. */
} kc_cancel_hook;

/* False, and `fire` is never called, when the token was fired before. With NULL: true. */
bool kc_cancel_hang(kc_cancel *cancel, kc_cancel_hook *hook);
/* After it `fire` is not running and will not. The caller holds no lock that `fire` takes. */
void kc_cancel_unhang(kc_cancel *cancel, kc_cancel_hook *hook);

/* Sleeps until a deadline of the clock. False when it was fired before that. */
bool kc_cancel_sleep_until(kc_cancel *cancel, const kc_clock *clock, int64_t deadline);

#endif
