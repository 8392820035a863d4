/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cancel.h: cancellation tokens. A token tells waiting code that its result is no longer needed.
 *
 *     kc_auto(kc_cancel) *stop = kc_cancel_new(NULL);
 *     kc_auto(kc_cancel) *call = kc_cancel_new(stop);       fires with its parent, or alone
 *     …
 *     kc_cancel_fire(stop);                                 ends waits that use either token
 *
 * A token fires once and stays fired. Blocking calls take a token and return KC_TIMEOUT
 * ("cancelled") soon after it fires. Code that waits on its own condition variable adds a hook that
 * signals the variable. Reference-counted and thread-safe. NULL is a token that never fires.
 */
#ifndef KC_CANCEL_H
#define KC_CANCEL_H

#include "kc/thread.h"

typedef struct kc_cancel kc_cancel;

/* A token that also fires when its parent (may be NULL) fires. It keeps the parent alive. */
kc_cancel *kc_cancel_new(kc_cancel *parent);
kc_cancel *kc_cancel_ref(kc_cancel *cancel);
kc_cancel *kc_cancel_unref(kc_cancel *cancel);
KC_AUTO_DEFINE(kc_cancel, kc_cancel_unref)

/* Runs the hooks, then those of its children. Firing again has no effect. */
void kc_cancel_fire(kc_cancel *cancel);
bool kc_cancel_fired(const kc_cancel *cancel);
/* Returns KC_TIMEOUT "cancelled" if the token has fired, else 0. */
int kc_cancel_check(const kc_cancel *cancel, kc_error *err);

/* Embedded in the waiting object. `fire` is called at most once, on the thread that fires the
 * token. It may lock what it wakes; it must neither block nor use the token. */
typedef struct kc_cancel_hook {
    void (*fire)(struct kc_cancel_hook *hook);
    kc_dlist_link link; /* Private. */
} kc_cancel_hook;

/* Adds a hook. False, and `fire` is never called, when the token has already fired. NULL token:
 * true. */
bool kc_cancel_add_hook(kc_cancel *cancel, kc_cancel_hook *hook);
/* After it returns, `fire` is not running and will not run. The caller must hold no lock that
 * `fire` takes. */
void kc_cancel_remove_hook(kc_cancel *cancel, kc_cancel_hook *hook);

/* Sleeps until a deadline of the clock. False if the token fires first. */
bool kc_cancel_sleep_until(kc_cancel *cancel, const kc_clock *clock, int64_t deadline);

#endif
