/* SPDX-License-Identifier: Apache-2.0 */
/*
 * informer_pump.c: the informer's thread: takes changes from the fifo in their order, applies each
 * to the store, and tells the listeners.
 *
 * A list marks what it has, and what has no mark at its end has been deleted without our seeing it:
 * listeners get its last known state, as such. That is decided here, when everything before the end
 * of the list has been applied, so there is nothing queued to be considered.
 *
 * What was listed with the resourceVersion that is known already is no news and told to nobody; a
 * change from a watch always is.
 */
#include "runtime/informer_internal.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

enum { LONG_LIST = 1000 };

/* The revision of the origin after a delta, and own writes it has passed. Under the lock. */
static void advance(kc__origin *origin, uint64_t revision)
{
    if (revision <= origin->revision)
        return;
    origin->revision = revision;
    if (!kc__own_writes_empty(&origin->own))
        kc__own_writes_reached(&origin->own, revision);
}

/* Takes the reference. */
static void put(kc_informer *i, kc__origin *origin, kc_object *object, uint64_t revision)
{
    kc_auto(kc_object) *old = NULL;
    kc__store_values(&i->store, kc__store_get(&i->store, kc_object_key(object)), &i->before);
    kc__store_values(&i->store, object, &i->after);
    kc_locked (&i->mutex) {
        old = kc__store_put(&i->store, object, &i->before, &i->after);
        if (!kc__own_writes_empty(&origin->own))
            kc__own_writes_saw(&origin->own, object, false);
        advance(origin, revision);
    }
    if (old) {
        kc__listeners_updated(i, old, object);
        return;
    }
    kc_gauge_inc(i->metrics.objects);
    kc__listeners_added(i, object, !origin->synced);
}

/* What is known already stays where it is. Only this thread looks at marks. */
static void put_listed(kc_informer *i, kc__origin *origin, kc_object *object)
{
    const kc_object *known = kc__store_get(&i->store, kc_object_key(object));
    if (!known ||
        !kc_str_eq(kc_object_resource_version(known), kc_object_resource_version(object))) {
        put(i, origin, object, 0);
        return;
    }
    kc__store_mark(&i->store, kc_object_key(object));
    kc_object_unref(object);
}

static void drop(kc_informer *i, kc__origin *origin, const kc_object *last, uint64_t revision,
                 bool state_unknown)
{
    const kc_key key = kc_object_key(last);
    kc_auto(kc_object) *old = NULL;
    kc__store_values(&i->store, kc__store_get(&i->store, key), &i->before);
    kc_locked (&i->mutex) {
        old = kc__store_remove(&i->store, key, &i->before);
        if (!kc__own_writes_empty(&origin->own))
            kc__own_writes_saw(&origin->own, last, true);
        advance(origin, revision);
    }
    if (!old)
        return; /* Nobody was told of it. */
    kc_gauge_dec(i->metrics.objects);
    kc__listeners_deleted(i, last, state_unknown);
}

static void sweep(kc_informer *i, kc__origin *origin)
{
    kc__object_vec gone = {0};
    kc__store_unmarked(&i->store, kc_cstr(origin->scope.ns), &gone);
    kc_vec_each (&gone, object) {
        drop(i, origin, *object, 0, true);
        kc_object_unref(*object);
    }
    kc_vec_done(&gone);
}

static void set_flag(kc_informer *i, bool *flag)
{
    kc_locked (&i->mutex) {
        *flag = true;
        kc_cond_broadcast(&i->changed);
    }
}

/* What a long list took on its way (buffers, objects before they were transformed) lies free in
 * the heap, and would until the process ends. */
static void give_back_memory(size_t n_objects)
{
#ifdef __GLIBC__
    if (n_objects >= LONG_LIST)
        malloc_trim(0);
#else
    (void)n_objects;
#endif
}

static void list_ends(kc_informer *i, kc__origin *origin, uint64_t revision)
{
    sweep(i, origin);
    const bool first = !origin->synced;
    kc_locked (&i->mutex) {
        origin->synced = true;
        /* A list of the newest state may be of an older revision than what was seen: a server that
         * was set back. It counts from there. */
        origin->revision = 0;
        advance(origin, revision);
    }
    give_back_memory(i->store.n);
    if (!first || ++i->n_synced < i->n_origins)
        return;
    set_flag(i, &i->readable);
    kc__listeners_synced(i);
    set_flag(i, &i->synced);
}

static void progress(kc_informer *i, kc__origin *origin, uint64_t revision)
{
    kc_locked (&i->mutex)
        advance(origin, revision);
}

static void apply(kc_informer *i, kc__delta *delta)
{
    kc__origin *origin = &i->origins[delta->origin];
    switch (delta->type) {
    case KC__LIST_BEGINS: kc__store_unmark(&i->store, kc_cstr(origin->scope.ns)); break;
    case KC__LISTED: put_listed(i, origin, kc_take(delta->object)); break;
    case KC__LIST_ENDS: list_ends(i, origin, delta->revision); break;
    case KC__ADDED:
    case KC__MODIFIED: put(i, origin, kc_take(delta->object), delta->revision); break;
    case KC__DELETED: drop(i, origin, delta->object, delta->revision, false); break;
    case KC__PROGRESS: progress(i, origin, delta->revision); break;
    }
}

void kc__informer_run(void *user)
{
    kc_informer *i = user;
    kc__deltas batch = {0};
    while (kc__fifo_take(i->fifo, kc__listeners_next_resync(i), &batch)) {
        kc__listeners_update(i);
        kc_vec_each (&batch, delta) {
            apply(i, delta);
            if (atomic_load(&i->listeners_changed))
                kc__listeners_update(i);
        }
        kc__deltas_clear(&batch);
        kc__listeners_resync(i);
    }
    kc__deltas_done(&batch);
    kc_locked (&i->mutex) {
        i->running = false;
        kc_cond_broadcast(&i->changed);
    }
}
