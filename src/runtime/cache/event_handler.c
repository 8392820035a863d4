/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_handler.c: the event handlers of an informer.
 *
 * Event handlers are called in steps of the informer, one after the other, with no lock held. Steps
 * therefore have their own list (`active`), and additions and removals are only marked: a new
 * handler is put on `joining` and gets, between two changes, an add for each cached object; a
 * removal waits until a step has dropped the handler. The removed mark is also read before each
 * call, so after it is set at most the call in progress completes.
 *
 * While the informer is not running (not yet started, or stopped), adding and removing change the
 * lists directly.
 */
#include "runtime/cache/informer_internal.h"

static const kc_event_handler_ops NO_OPS;

/* ---- adding and removing: any thread ---- */

kc_event_handler *kc_informer_add_handler(kc_informer *i, const kc_event_handler_ops *ops,
                                          void *user, int64_t resync)
{
    kc_event_handler *l = kc_new(kc_event_handler);
    l->informer = i;
    l->ops = ops ? ops : &NO_OPS;
    l->user = user;
    l->resync = resync > 0 ? resync : resync < 0 ? 0 : i->opts.resync;
    l->next_resync = l->resync ? kc_clock_deadline(i->opts.clock, l->resync) : KC_FOREVER;
    kc_locked (&i->mutex) {
        kc_vec_push(&i->joining, l);
        atomic_store(&i->listeners_changed, true);
    }
    kc__informer_wake(i);
    return l;
}

bool kc_event_handler_has_synced(const kc_event_handler *l)
{
    return atomic_load(&l->synced);
}

static bool event_handler_take_out(kc__informer_handlers *list, const kc_event_handler *l)
{
    for (size_t at = 0; at < list->n; at++)
        if (list->items[at] == l) {
            kc_vec_remove(list, at);
            return true;
        }
    return false;
}

kc_event_handler *kc_event_handler_remove(kc_event_handler *l)
{
    if (!l)
        return NULL;
    kc_informer *i = l->informer;
    atomic_store(&l->removed, true);
    atomic_store(&i->listeners_changed, true);
    kc__informer_wake(i);
    kc__executor_block_begin();
    kc_locked (&i->mutex) {
        l->detached |= event_handler_take_out(&i->joining, l);
        while (!l->detached && i->running)
            kc_cond_wait_until(&i->changed, &i->mutex, i->opts.clock, KC_FOREVER);
        if (!l->detached)
            event_handler_take_out(&i->active, l);
    }
    kc__executor_block_end();
    free(l);
    return NULL;
}

/* ---- calls: in steps ---- */

static bool is_there(const kc_event_handler *l)
{
    return !atomic_load(&l->removed);
}

static void notify_added(const kc_event_handler *l, const kc_object *object, bool initial)
{
    if (l->ops->added && is_there(l))
        l->ops->added(&(kc_change){.object = object, .initial = initial}, l->user);
}

static void notify_synced(kc_event_handler *l)
{
    if (l->ops->synced && is_there(l))
        l->ops->synced(l->user);
    atomic_store(&l->synced, true);
}

/* Reports every cached object as an add. */
static void greet(kc_informer *i, kc_event_handler *l)
{
    for (uint32_t id = 0; id < i->store.pages->n; id++) {
        const kc_object *object = kc__cache_pages_at(i->store.pages, id);
        if (object)
            notify_added(l, object, true);
    }
    if (i->n_synced == i->n_origins)
        notify_synced(l);
}

/* Call it with the lock held. */
static void event_handler_release(kc_informer *i)
{
    size_t kept = 0;
    for (size_t at = 0; at < i->active.n; at++) {
        kc_event_handler *l = i->active.items[at];
        if (atomic_load(&l->removed))
            l->detached = true;
        else
            i->active.items[kept++] = l;
    }
    i->active.n = kept;
    kc_cond_broadcast(&i->changed);
}

void kc__informer_handlers_update(kc_informer *i)
{
    if (!atomic_exchange(&i->listeners_changed, false))
        return;
    size_t known = 0, n = 0;
    kc_locked (&i->mutex) {
        event_handler_release(i);
        known = i->active.n;
        kc_vec_each (&i->joining, l)
            kc_vec_push(&i->active, *l);
        kc_vec_clear(&i->joining);
        n = i->active.n;
    }
    for (size_t at = known; at < n; at++)
        greet(i, i->active.items[at]);
}

void kc__informer_handlers_added(kc_informer *i, const kc_object *object, bool initial)
{
    kc_vec_each (&i->active, l)
        notify_added(*l, object, initial);
}

static void notify_updated(const kc_event_handler *l, const kc_object *old, const kc_object *object,
                           bool resync)
{
    if (l->ops->updated && is_there(l))
        l->ops->updated(&(kc_change){.old = old, .object = object, .resync = resync}, l->user);
}

void kc__informer_handlers_updated(kc_informer *i, const kc_object *old, const kc_object *object)
{
    kc_vec_each (&i->active, l)
        notify_updated(*l, old, object, false);
}

void kc__informer_handlers_deleted(kc_informer *i, const kc_object *object, bool state_unknown)
{
    kc_vec_each (&i->active, at) {
        const kc_event_handler *l = *at;
        if (l->ops->deleted && is_there(l))
            l->ops->deleted(&(kc_change){.object = object, .state_unknown = state_unknown},
                            l->user);
    }
}

void kc__informer_handlers_synced(kc_informer *i)
{
    kc_vec_each (&i->active, l)
        notify_synced(*l);
}

/* ---- resync ---- */

int64_t kc__informer_handlers_next_resync(const kc_informer *i)
{
    int64_t next = KC_FOREVER;
    kc_vec_each (&i->active, l)
        next = KC_MIN(next, (*l)->next_resync);
    return next;
}

/* The handlers whose resync is due; sets their next resync. */
static void find_due(kc_informer *i, kc__informer_handlers *ret)
{
    const int64_t now = kc_clock_now(i->opts.clock);
    kc_vec_each (&i->active, at) {
        kc_event_handler *l = *at;
        if (l->next_resync > now)
            continue;
        l->next_resync = kc_clock_deadline(i->opts.clock, l->resync);
        kc_vec_push(ret, l);
    }
}

static void notify_resync(kc_informer *i, const kc__informer_handlers *due)
{
    for (uint32_t id = 0; id < i->store.pages->n; id++) {
        const kc_object *object = kc__cache_pages_at(i->store.pages, id);
        if (object)
            kc_vec_each (due, l)
                notify_updated(*l, object, object, true);
    }
}

void kc__informer_handlers_resync(kc_informer *i)
{
    kc__informer_handlers due = {0};
    find_due(i, &due);
    if (due.n)
        notify_resync(i, &due);
    kc_vec_done(&due);
}
