/* SPDX-License-Identifier: Apache-2.0 */
/*
 * informer_pump.c: a step of an informer: runs the reflectors, applies the deltas they pushed to
 * the cache store in order, and calls the event handlers.
 *
 * A list marks the objects that it contains. An object without a mark at the end of the list was
 * deleted without an event: event handlers get its last known state, flagged as such. This is
 * decided when every delta before the end of the list has been applied, so no queued delta has to
 * be taken into account.
 *
 * An object that is listed with its known resourceVersion has not changed, and no event handler is
 * called; an event of a watch always is a change.
 */
#include "runtime/cache/informer_internal.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

enum { LONG_LIST = 1000 };

/* Advances the origin's revision after a delta and drops the own writes that it has passed. Call
 * it with the lock held. */
static void informer_pump_advance(kc__informer_source *origin, uint64_t revision)
{
    if (revision <= origin->revision)
        return;
    origin->revision = revision;
    if (!kc__overlay_empty(&origin->own))
        kc__overlay_advance(&origin->own, revision);
}

/* Takes ownership of the reference. */
static void informer_pump_put(kc_informer *i, kc__informer_source *origin, kc_object *object,
                              uint64_t revision)
{
    kc_auto(kc_object) *old = NULL;
    kc__cache_store_values(&i->store, kc__cache_store_get(&i->store, kc_object_key(object)),
                           &i->before);
    kc__cache_store_values(&i->store, object, &i->after);
    kc_locked (&i->mutex) {
        old = kc__cache_store_put(&i->store, object, &i->before, &i->after);
        if (!kc__overlay_empty(&origin->own))
            kc__overlay_observe(&origin->own, object, false);
        informer_pump_advance(origin, revision);
    }
    if (old) {
        kc__informer_handlers_updated(i, old, object);
        return;
    }
    kc_gauge_inc(i->metrics.objects);
    kc__informer_handlers_added(i, object, !origin->synced);
}

/* An object with a known resourceVersion stays as it is. Only steps read the marks. */
static void put_listed(kc_informer *i, kc__informer_source *origin, kc_object *object)
{
    const kc_object *known = kc__cache_store_get(&i->store, kc_object_key(object));
    if (!known ||
        !kc_str_eq(kc_object_resource_version(known), kc_object_resource_version(object))) {
        informer_pump_put(i, origin, object, 0);
        return;
    }
    kc__cache_store_mark(&i->store, kc_object_key(object));
    kc_object_unref(object);
}

static void informer_pump_drop(kc_informer *i, kc__informer_source *origin, const kc_object *last,
                               uint64_t revision, bool state_unknown)
{
    const kc_key key = kc_object_key(last);
    kc_auto(kc_object) *old = NULL;
    kc__cache_store_values(&i->store, kc__cache_store_get(&i->store, key), &i->before);
    kc_locked (&i->mutex) {
        old = kc__cache_store_remove(&i->store, key, &i->before);
        if (!kc__overlay_empty(&origin->own))
            kc__overlay_observe(&origin->own, last, true);
        informer_pump_advance(origin, revision);
    }
    if (!old)
        return; /* No event handler is called for it. */
    kc_gauge_dec(i->metrics.objects);
    kc__informer_handlers_deleted(i, last, state_unknown);
}

static void informer_pump_sweep(kc_informer *i, kc__informer_source *origin)
{
    kc__cache_object_vec gone = {0};
    kc__cache_store_unmarked(&i->store, kc_cstr(origin->scope.ns), &gone);
    kc_vec_each (&gone, object) {
        informer_pump_drop(i, origin, *object, 0, true);
        kc_object_unref(*object);
    }
    kc_vec_done(&gone);
}

static void set_flag(kc_informer *i, _Atomic bool *flag)
{
    kc_locked (&i->mutex) {
        *flag = true;
        kc_cond_broadcast(&i->changed);
    }
}

/* Memory that a long list used temporarily (buffers, objects before their transform) is free in
 * the heap, but would stay there until the process ends. */
static void trim_memory(size_t n_objects)
{
#ifdef __GLIBC__
    if (n_objects >= LONG_LIST)
        malloc_trim(0);
#else
    (void)n_objects;
#endif
}

static void list_ends(kc_informer *i, kc__informer_source *origin, uint64_t revision)
{
    informer_pump_sweep(i, origin);
    const bool first = !origin->synced;
    kc_locked (&i->mutex) {
        origin->synced = true;
        /* A list of the newest state may have an older revision than one already seen: the server
         * was reset to an older state. The revision then restarts from the list's. */
        origin->revision = 0;
        informer_pump_advance(origin, revision);
    }
    trim_memory(i->store.n);
    if (!first || ++i->n_synced < i->n_origins)
        return;
    set_flag(i, &i->readable);
    kc__informer_handlers_synced(i);
    set_flag(i, &i->synced);
}

static void progress(kc_informer *i, kc__informer_source *origin, uint64_t revision)
{
    kc_locked (&i->mutex)
        informer_pump_advance(origin, revision);
}

static void informer_pump_apply(kc_informer *i, kc__fifo_delta *delta)
{
    kc__informer_source *origin = &i->origins[delta->origin];
    switch (delta->type) {
    case KC__FIFO_LIST_BEGIN: kc__cache_store_unmark(&i->store, kc_cstr(origin->scope.ns)); break;
    case KC__FIFO_LISTED: put_listed(i, origin, kc_take(delta->object)); break;
    case KC__FIFO_LIST_END: list_ends(i, origin, delta->revision); break;
    case KC__FIFO_ADDED:
    case KC__FIFO_MODIFIED:
        informer_pump_put(i, origin, kc_take(delta->object), delta->revision);
        break;
    case KC__FIFO_DELETED:
        informer_pump_drop(i, origin, delta->object, delta->revision, false);
        break;
    case KC__FIFO_PROGRESS: progress(i, origin, delta->revision); break;
    }
}

static void apply_batch(kc_informer *i)
{
    kc__fifo_take(&i->fifo, &i->batch);
    kc_vec_each (&i->batch, delta) {
        informer_pump_apply(i, delta);
        if (atomic_load(&i->listeners_changed))
            kc__informer_handlers_update(i);
    }
    kc__fifo_deltas_clear(&i->batch);
}

static bool is_stopping(kc_informer *i)
{
    bool stopping = false;
    kc_locked (&i->mutex)
        stopping = i->stopping;
    return stopping;
}

/* Ends the reflectors; each wakes the task when its stream has ended. */
static void step_to_the_end(kc_informer *i)
{
    bool ended = true;
    for (size_t k = 0; k < i->n_origins; k++)
        ended = kc__reflector_end(i->origins[k].reflector) && ended;
    if (!ended)
        return;
    kc_locked (&i->mutex) {
        i->running = false;
        kc_cond_broadcast(&i->changed);
    }
}

int64_t kc__informer_step(void *user)
{
    kc_informer *i = user;
    int64_t next = KC_FOREVER;
    if (is_stopping(i)) {
        step_to_the_end(i);
        return KC_FOREVER;
    }
    kc__informer_handlers_update(i);
    for (size_t k = 0; k < i->n_origins; k++)
        next = KC_MIN(next, kc__reflector_step(i->origins[k].reflector));
    apply_batch(i);
    kc__informer_handlers_resync(i);
    return KC_MIN(next, kc__informer_handlers_next_resync(i));
}
