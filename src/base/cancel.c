/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cancel.c: cancellation tokens: a flag, and hooks that wake waiting threads.
 *
 * A child is a hook on its parent, so firing walks down the tree. Hooks run under the token's
 * mutex; so kc_cancel_remove_hook can guarantee that none is running. Lock order: a parent's mutex,
 * its child's, then the locks that a hook takes. A thread that adds or removes a hook holds none of
 * the last.
 */
#include "kc/cancel.h"

#include "kc/ref.h"

#include <assert.h>

struct kc_cancel {
    kc_ref refs;
    kc_cancel *parent;
    kc_cancel_hook on_parent;
    _Atomic bool fired; /* Written with the mutex held. */
    kc_mutex mutex;     /* Guards hooks. */
    kc_dlist hooks;
};

static void fire_with_parent(kc_cancel_hook *hook)
{
    kc_cancel_fire(kc_container_of(hook, kc_cancel, on_parent));
}

kc_cancel *kc_cancel_new(kc_cancel *parent)
{
    kc_cancel *cancel = kc_new(kc_cancel);
    kc_ref_init(&cancel->refs);
    kc_mutex_init(&cancel->mutex);
    kc_dlist_init(&cancel->hooks);
    cancel->parent = kc_cancel_ref(parent);
    cancel->on_parent.fire = fire_with_parent;
    if (parent && !kc_cancel_add_hook(parent, &cancel->on_parent))
        atomic_store(&cancel->fired, true);
    return cancel;
}

kc_cancel *kc_cancel_ref(kc_cancel *cancel)
{
    if (cancel)
        kc_ref_add(&cancel->refs);
    return cancel;
}

kc_cancel *kc_cancel_unref(kc_cancel *cancel)
{
    if (!cancel || !kc_ref_drop(&cancel->refs))
        return NULL;
    if (cancel->parent) {
        kc_cancel_remove_hook(cancel->parent, &cancel->on_parent);
        kc_cancel_unref(cancel->parent);
    }
    assert(kc_dlist_empty(&cancel->hooks));
    kc_mutex_done(&cancel->mutex);
    free(cancel);
    return NULL;
}

void kc_cancel_fire(kc_cancel *cancel)
{
    if (!cancel)
        return;
    kc_locked (&cancel->mutex) {
        if (atomic_exchange(&cancel->fired, true))
            break;
        kc_dlist_each (&cancel->hooks, kc_cancel_hook, link, hook) {
            kc_dlist_remove(&hook->link);
            hook->fire(hook);
        }
    }
}

bool kc_cancel_fired(const kc_cancel *cancel)
{
    return cancel && atomic_load(&cancel->fired);
}

int kc_cancel_check(const kc_cancel *cancel, kc_error *err)
{
    return kc_cancel_fired(cancel) ? kc_error_set(err, KC_TIMEOUT, "cancelled") : 0;
}

bool kc_cancel_add_hook(kc_cancel *cancel, kc_cancel_hook *hook)
{
    bool added = true;
    hook->link = (kc_dlist_link){0};
    if (!cancel)
        return true;
    kc_locked (&cancel->mutex) {
        added = !atomic_load(&cancel->fired);
        if (added)
            kc_dlist_push(&cancel->hooks, &hook->link);
    }
    return added;
}

void kc_cancel_remove_hook(kc_cancel *cancel, kc_cancel_hook *hook)
{
    if (!cancel)
        return;
    kc_locked (&cancel->mutex)
        if (kc_dlist_is_linked(&hook->link))
            kc_dlist_remove(&hook->link);
}

/* ---- sleeping ---- */

typedef struct cancel_sleeper {
    kc_cancel_hook hook;
    kc_mutex mutex; /* Guards woken. */
    kc_cond wake;
    bool woken;
} cancel_sleeper;

static void wake_sleeper(kc_cancel_hook *hook)
{
    cancel_sleeper *s = kc_container_of(hook, cancel_sleeper, hook);
    kc_locked (&s->mutex) {
        s->woken = true;
        kc_cond_signal(&s->wake);
    }
}

static void sleep_hung(cancel_sleeper *s, const kc_clock *clock, int64_t deadline)
{
    kc_locked (&s->mutex)
        while (!s->woken && kc_cond_wait_until(&s->wake, &s->mutex, clock, deadline))
            ;
}

bool kc_cancel_sleep_until(kc_cancel *cancel, const kc_clock *clock, int64_t deadline)
{
    cancel_sleeper s = {.hook.fire = wake_sleeper};
    kc_mutex_init(&s.mutex);
    kc_cond_init(&s.wake);
    if (kc_cancel_add_hook(cancel, &s.hook)) {
        sleep_hung(&s, clock, deadline);
        kc_cancel_remove_hook(cancel, &s.hook);
    }
    kc_cond_done(&s.wake);
    kc_mutex_done(&s.mutex);
    return !kc_cancel_fired(cancel);
}
