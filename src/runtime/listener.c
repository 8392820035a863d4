/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listener.c: who is told of changes.
 *
 * Listeners are called on the informer's thread, one after the other, with no lock held. So the
 * thread has a list of its own (`active`), and whoever comes or goes leaves word: a newcomer is put
 * on `joining` and greeted by the thread between two changes, with an add for everything that is
 * there; one that is to go is marked, and waits until the thread has let go of it. A removed mark
 * is also looked at before each call, so after the mark at most the call under way ends.
 *
 * When the thread does not run (yet, or any more), coming and going touch the lists directly.
 */
#include "runtime/informer_internal.h"

static const kc_listener_ops NO_OPS;

/* ---- coming and going: any thread ---- */

kc_listener *kc_informer_listen(kc_informer *i, const kc_listener_ops *ops, void *user,
                                int64_t resync)
{
    kc_listener *l = kc_new(kc_listener);
    l->informer = i;
    l->ops = ops ? ops : &NO_OPS;
    l->user = user;
    l->resync = resync > 0 ? resync : resync < 0 ? 0 : i->opts.resync;
    l->next_resync = l->resync ? kc_clock_deadline(i->opts.clock, l->resync) : KC_FOREVER;
    kc_locked (&i->mutex) {
        kc_vec_push(&i->joining, l);
        atomic_store(&i->listeners_changed, true);
    }
    kc__fifo_kick(i->fifo);
    return l;
}

bool kc_listener_synced(const kc_listener *l)
{
    return atomic_load(&l->synced);
}

static bool take_out(kc__listeners *list, const kc_listener *l)
{
    for (size_t at = 0; at < list->n; at++)
        if (list->items[at] == l) {
            kc_vec_remove(list, at);
            return true;
        }
    return false;
}

kc_listener *kc_listener_remove(kc_listener *l)
{
    if (!l)
        return NULL;
    kc_informer *i = l->informer;
    atomic_store(&l->removed, true);
    atomic_store(&i->listeners_changed, true);
    kc__fifo_kick(i->fifo);
    kc_locked (&i->mutex) {
        l->detached |= take_out(&i->joining, l);
        while (!l->detached && i->running)
            kc_cond_wait_until(&i->changed, &i->mutex, i->opts.clock, KC_FOREVER);
        if (!l->detached)
            take_out(&i->active, l);
    }
    free(l);
    return NULL;
}

/* ---- telling: the informer's thread ---- */

static bool is_there(const kc_listener *l)
{
    return !atomic_load(&l->removed);
}

static void tell_added(const kc_listener *l, const kc_object *object, bool initial)
{
    if (l->ops->added && is_there(l))
        l->ops->added(&(kc_change){.object = object, .initial = initial}, l->user);
}

static void tell_synced(kc_listener *l)
{
    if (l->ops->synced && is_there(l))
        l->ops->synced(l->user);
    atomic_store(&l->synced, true);
}

/* Everything that is there, as adds. */
static void greet(kc_informer *i, kc_listener *l)
{
    for (uint32_t id = 0; id < i->store.pages->n; id++) {
        const kc_object *object = kc__pages_at(i->store.pages, id);
        if (object)
            tell_added(l, object, true);
    }
    if (i->n_synced == i->n_origins)
        tell_synced(l);
}

/* Under the lock. */
static void let_go(kc_informer *i)
{
    size_t kept = 0;
    for (size_t at = 0; at < i->active.n; at++) {
        kc_listener *l = i->active.items[at];
        if (atomic_load(&l->removed))
            l->detached = true;
        else
            i->active.items[kept++] = l;
    }
    i->active.n = kept;
    kc_cond_broadcast(&i->changed);
}

void kc__listeners_update(kc_informer *i)
{
    if (!atomic_exchange(&i->listeners_changed, false))
        return;
    size_t known = 0, n = 0;
    kc_locked (&i->mutex) {
        let_go(i);
        known = i->active.n;
        kc_vec_each (&i->joining, l)
            kc_vec_push(&i->active, *l);
        kc_vec_clear(&i->joining);
        n = i->active.n;
    }
    for (size_t at = known; at < n; at++)
        greet(i, i->active.items[at]);
}

void kc__listeners_added(kc_informer *i, const kc_object *object, bool initial)
{
    kc_vec_each (&i->active, l)
        tell_added(*l, object, initial);
}

static void tell_updated(const kc_listener *l, const kc_object *old, const kc_object *object,
                         bool resync)
{
    if (l->ops->updated && is_there(l))
        l->ops->updated(&(kc_change){.old = old, .object = object, .resync = resync}, l->user);
}

void kc__listeners_updated(kc_informer *i, const kc_object *old, const kc_object *object)
{
    kc_vec_each (&i->active, l)
        tell_updated(*l, old, object, false);
}

void kc__listeners_deleted(kc_informer *i, const kc_object *object, bool state_unknown)
{
    kc_vec_each (&i->active, at) {
        const kc_listener *l = *at;
        if (l->ops->deleted && is_there(l))
            l->ops->deleted(&(kc_change){.object = object, .state_unknown = state_unknown},
                            l->user);
    }
}

void kc__listeners_synced(kc_informer *i)
{
    kc_vec_each (&i->active, l)
        tell_synced(*l);
}

/* ---- telling again ---- */

int64_t kc__listeners_next_resync(const kc_informer *i)
{
    int64_t next = KC_FOREVER;
    kc_vec_each (&i->active, l)
        next = KC_MIN(next, (*l)->next_resync);
    return next;
}

/* Those whose time has come; their next time is set. */
static void find_due(kc_informer *i, kc__listeners *ret)
{
    const int64_t now = kc_clock_now(i->opts.clock);
    kc_vec_each (&i->active, at) {
        kc_listener *l = *at;
        if (l->next_resync > now)
            continue;
        l->next_resync = kc_clock_deadline(i->opts.clock, l->resync);
        kc_vec_push(ret, l);
    }
}

/* Tells everything but what is about to be told anyway. */
static void tell_again(kc_informer *i, const kc__listeners *due, const kc_map *queued)
{
    kc_scoped(kc_buf) key = {0};
    for (uint32_t id = 0; id < i->store.pages->n; id++) {
        const kc_object *object = kc__pages_at(i->store.pages, id);
        if (!object)
            continue;
        kc_buf_clear(&key);
        kc_key_write(&key, kc_object_key(object));
        if (kc_map_get(queued, kc_buf_str(&key)))
            continue;
        kc_vec_each (due, l)
            tell_updated(*l, object, object, true);
    }
}

void kc__listeners_resync(kc_informer *i)
{
    kc__listeners due = {0};
    find_due(i, &due);
    if (due.n) {
        kc_scoped(kc_arena) arena = {0};
        kc_scoped(kc_map) queued = {0};
        kc__fifo_keys(i->fifo, &arena, &queued);
        tell_again(i, &due, &queued);
    }
    kc_vec_done(&due);
}
