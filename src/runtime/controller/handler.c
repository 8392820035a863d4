/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handler.c: turns changes of objects into keys: a source for each kind that a controller watches.
 *
 *     informer ──▶ predicates (the controller's, then the watch's) ──▶ keys ──▶ queue
 *
 * The keys are: the object's own; those of its owners of a kind (its controller, or all owners); or
 * those that a map-to-keys function returns. The last two are computed for both states of an
 * update, so that both owners see an object that moves from one to the other. A missed deletion
 * arrives like any other, with the last known state.
 *
 * Priorities: objects of the first list, and updates that change nothing, get a low priority. All
 * of it runs in steps of the informer. To add a way to find keys: a function beside add_own.
 */
#include "runtime/controller/enqueue.h"
#include "runtime/controller/source_internal.h"
#include "runtime/queue/queue_internal.h"

typedef struct watch_handler_watch {
    kc_watch_spec what; /* Owns its predicate. */
    kc_cache *cache;
    kc_informer *given; /* Used instead of the cache's; not owned. */
    const kc_predicate *global;
    kc_queue *queue;
    kc_enqueuer enqueuer;
    kc_informer *informer;
    kc_event_handler *listener;
    kc_mutex mutex; /* Guards synced. */
    kc_cond changed;
    bool synced; /* The initial adds have been delivered. */
} watch_handler_watch;

/* ---- keys ---- */

static void add_own(watch_handler_watch *w, const kc_change *change, const kc_queue_add_opts *opts)
{
    kc_queue_add_with(w->queue, kc_object_key(change->object), opts);
}

static void add_owner(watch_handler_watch *w, const kc_object *object, const kc_owner *owner)
{
    if (!kc_owner_is(owner, w->what.owner))
        return;
    kc_str ns = w->what.owner->namespaced ? kc_object_namespace(object) : (kc_str){0};
    kc_enqueue(&w->enqueuer, (kc_key){ns, owner->name});
}

static void add_owners(watch_handler_watch *w, const kc_object *object)
{
    kc_scoped(kc_arena) arena = {0};
    kc_owner owner;
    if (!w->what.any_owner) {
        if (kc_object_controller(object, &arena, &owner))
            add_owner(w, object, &owner);
        return;
    }
    kc_meta_iter at = kc_object_owners(object, &arena);
    while (kc_meta_next_owner(&at, &owner))
        add_owner(w, object, &owner);
}

static void add_related(watch_handler_watch *w, const kc_object *object)
{
    if (!object)
        return;
    if (w->what.map)
        w->what.map(object, &w->enqueuer, w->what.map_user);
    else
        add_owners(w, object);
}

/* ---- changes ---- */

static bool changes_nothing(const kc_change *change)
{
    return change->old && kc_str_eq(kc_object_resource_version(change->old),
                                    kc_object_resource_version(change->object));
}

static void watch_handler_handle(watch_handler_watch *w, kc_change_type type,
                                 kc_queue_reason reason, const kc_change *change)
{
    bool unchanged = type == KC_CHANGE_UPDATE && changes_nothing(change);
    if (!kc_predicate_matches(w->global, type, change) ||
        !kc_predicate_matches(w->what.predicate, type, change))
        return;
    const kc_queue_cause cause = {
        .reason = unchanged ? KC_QUEUE_REASON_RESYNC : reason,
        .kind = w->what.kind,
        .key = kc_object_key(change->object),
        .revision = kc_object_revision(change->object),
    };
    bool urgent = w->what.high_priority || !(unchanged || change->initial);
    const kc_queue_add_opts opts = {
        .after = w->what.after, .priority = urgent ? 0 : KC_PRIORITY_LOW, .cause = &cause};
    if (!w->what.map && !w->what.owner) {
        add_own(w, change, &opts);
        return;
    }
    kc__enqueuer_begin(&w->enqueuer, w->queue, &opts);
    add_related(w, change->old);
    add_related(w, change->object);
}

static void added(const kc_change *change, void *user)
{
    watch_handler_handle(user, KC_CHANGE_CREATE, KC_QUEUE_REASON_CREATED, change);
}

static void updated(const kc_change *change, void *user)
{
    watch_handler_handle(user, KC_CHANGE_UPDATE, KC_QUEUE_REASON_UPDATED, change);
}

static void watch_handler_deleted(const kc_change *change, void *user)
{
    const kc_change alone = {.object = change->object, .state_unknown = change->state_unknown};
    watch_handler_handle(user, KC_CHANGE_DELETE, KC_QUEUE_REASON_DELETED, &alone);
}

static void synced(void *user)
{
    watch_handler_watch *w = user;
    kc_locked (&w->mutex) {
        w->synced = true;
        kc_cond_broadcast(&w->changed);
    }
}

/* ---- the source ---- */

static kc_informer *informer_of(watch_handler_watch *w, kc_error *err)
{
    if (w->given)
        return w->given;
    return w->what.metadata_only ? kc_cache_metadata_informer(w->cache, w->what.kind, err)
                                 : kc_cache_informer(w->cache, w->what.kind, err);
}

static int watch_start(void *state, kc_queue *queue, kc_error *err)
{
    static const kc_event_handler_ops ops = {added, updated, watch_handler_deleted, synced};
    watch_handler_watch *w = state;
    w->queue = queue;
    w->synced = false;
    w->informer = informer_of(w, err);
    if (!w->informer)
        return kc_error_wrap(err, "watch %s", w->what.kind->kind);
    w->listener = kc_informer_add_handler(w->informer, &ops, w, w->what.resync);
    return 0;
}

/* Wakes the thread that waits for the initial adds. */
typedef struct waking {
    kc_cancel_hook hook;
    watch_handler_watch *watch;
} waking;

static void watch_handler_wake(kc_cancel_hook *hook)
{
    watch_handler_watch *w = kc_container_of(hook, waking, hook)->watch;
    kc_locked (&w->mutex)
        kc_cond_broadcast(&w->changed);
}

static bool watch_handler_wait(watch_handler_watch *w, int64_t deadline, kc_cancel *cancel)
{
    const kc_clock *clock = kc__queue_clock(w->queue);
    bool in_time = true, done = false;
    kc_locked (&w->mutex) {
        while (!w->synced && in_time && !kc_cancel_fired(cancel))
            in_time = kc_cond_wait_until(&w->changed, &w->mutex, clock, deadline);
        done = w->synced;
    }
    return done;
}

static void explain_unsynced(const watch_handler_watch *w, kc_error *err)
{
    kc_scoped(kc_error) failure = {0};
    if (kc_informer_last_error(w->informer, &failure))
        kc_error_set(err, KC_TIMEOUT, "timed out waiting for the cache of %s to sync: %s",
                     w->what.kind->kind, kc_error_text(&failure));
    else
        kc_error_set(err, KC_TIMEOUT, "timed out waiting for the cache of %s to sync",
                     w->what.kind->kind);
}

static bool watch_wait_synced(void *state, int64_t deadline, kc_cancel *cancel, kc_error *err)
{
    watch_handler_watch *w = state;
    waking waker = {.hook.fire = watch_handler_wake, .watch = w};
    if (!kc_cancel_add_hook(cancel, &waker.hook))
        return false;
    bool done = watch_handler_wait(w, deadline, cancel);
    kc_cancel_remove_hook(cancel, &waker.hook);
    if (!done && !kc_cancel_fired(cancel))
        explain_unsynced(w, err);
    return done;
}

static void watch_stop(void *state)
{
    watch_handler_watch *w = state;
    w->listener = kc_event_handler_remove(w->listener);
    w->informer = w->given ? NULL : kc_informer_release(w->informer);
}

static void watch_free(void *state)
{
    watch_handler_watch *w = state;
    kc_predicate_free(w->what.predicate);
    kc__enqueuer_done(&w->enqueuer);
    kc_cond_done(&w->changed);
    kc_mutex_done(&w->mutex);
    free(w);
}

static const kc_source_ops watch_ops = {watch_start, watch_wait_synced, watch_stop, watch_free};

static watch_handler_watch *watch_new(const kc_watch_spec *what)
{
    watch_handler_watch *w = kc_new(watch_handler_watch);
    w->what = *what;
    kc_mutex_init(&w->mutex);
    kc_cond_init(&w->changed);
    return w;
}

kc_source *kc__source_watch(kc_cache *cache, const kc_watch_spec *what, const kc_predicate *global)
{
    watch_handler_watch *w = watch_new(what);
    w->cache = cache;
    w->global = global;
    return kc_source_new(&watch_ops, w);
}

kc_source *kc_source_informer(kc_informer *informer, const kc_watch_spec *how)
{
    static const kc_watch_spec own_key = {0};
    watch_handler_watch *w = watch_new(how ? how : &own_key);
    w->what.kind = kc_informer_kind(informer);
    w->given = informer;
    return kc_source_new(&watch_ops, w);
}
