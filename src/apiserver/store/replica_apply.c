/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replica_apply.c: applies the changes that a shared storage reports to the trees.
 *
 * The storage's thread copies each event into the inbox and waits while the inbox is full. The
 * replica's thread turns an event into a change and publishes all that have arrived up to a
 * complete revision: the changes of a group become visible together.
 *
 * The object of a change that this server made is not parsed again: the value is compared with the
 * one that was sent. What a change replaced is the object in the tree.
 *
 * A value that cannot be read (foreign, or encrypted with an unknown key) must not stop all others:
 * it is logged, and requests for its object fail until a readable value replaces it.
 *
 * Reload. If the storage has dropped history that was not read, everything is listed again and the
 * trees are changed to it. What happened in between is unknown: the rings are emptied, and all
 * watches expire.
 */
#include "apiserver/store/replica_internal.h"

/* ---- callbacks of the watch, on the storage's thread ---- */

static kc__store_arrival *arrival_new(const kc__storage_event *event)
{
    kc__store_arrival *a = kc_alloc(sizeof(*a) + event->key.n + event->value.n);
    char *text = (char *)(a + 1);
    *a = (kc__store_arrival){.verb = event->verb,
                             .revision = event->revision,
                             .key = kc_str_of(text, event->key.n),
                             .value = kc_str_of(text + event->key.n, event->value.n)};
    memcpy(text, event->key.p, event->key.n);
    if (event->value.n)
        memcpy(text + event->key.n, event->value.p, event->value.n);
    return a;
}

void kc__store_arrivals_free(kc__store_arrival *first)
{
    while (first) {
        kc__store_arrival *next = first->next;
        free(first);
        first = next;
    }
}

int kc__store_replica_arrive(const kc__storage_event *event, void *user)
{
    kc__store_replica *r = user;
    kc__store_arrival *a = arrival_new(event);
    kc_locked (&r->store->queue) {
        if (r->arrived_bytes > KC__STORE_INBOX_BYTES)
            kc_counter_inc(r->store->metrics.inbox_waits);
        while (r->arrived_bytes > KC__STORE_INBOX_BYTES && !r->store->closing && !r->discarding)
            kc_cond_wait(&r->taken, &r->store->queue);
        if (r->inbox.last)
            r->inbox.last->next = a;
        else
            r->inbox.first = a;
        r->inbox.last = a;
        r->arrived_bytes += sizeof(*a) + a->key.n + a->value.n;
        kc_gauge_set(r->store->metrics.inbox_bytes, (double)r->arrived_bytes);
    }
    return 0;
}

void kc__store_replica_progress(uint64_t revision, void *user)
{
    kc__store_replica *r = user;
    kc_locked (&r->store->queue) {
        r->inbox.complete = KC_MAX(r->inbox.complete, revision);
        kc__store_replica_wake(r);
    }
}

void kc__store_replica_expire(const kc_error *err, void *user)
{
    kc__store_replica *r = user;
    kc_log_warn(r->store->opts.log, "watch of the storage expired", kc_kv("err", err));
    kc_locked (&r->store->queue) {
        r->inbox.expired = true;
        kc__store_replica_wake(r);
    }
}

/* ---- changes ---- */

/* NULL on error. */
static kc_object *read_value(kc__watch_cache *cache, kc_str stored_key, kc_str value,
                             uint64_t revision, kc_error *err)
{
    kc_scoped(kc_buf) out = {0};
    kc_str plain;
    bool stale = false;
    if (kc__store_form_open(cache, stored_key, value, &out, &plain, &stale, err) < 0)
        return NULL;
    kc__store_form_read(cache, kc__store_key_in(cache, stored_key), stale);
    return kc__store_value_read(cache, stored_key, plain, revision, err);
}

/* The object that a put shows; NULL: it cannot be read, which is recorded. */
static kc_object *object_of(kc__store_replica *r, kc__watch_cache *cache,
                            const kc__store_arrival *a)
{
    const kc_str key = kc__store_key_in(cache, a->key);
    bool stale = false;
    const kc__store_write *own = kc__store_value_is_lossy(cache, key)
                                     ? NULL
                                     : kc__store_replica_sent_write(r, a->key, a->value, &stale);
    kc_scoped(kc_error) err = {0};
    kc_object *object = own ? kc_object_with_revision(own->object, a->revision)
                            : read_value(cache, a->key, a->value, a->revision, &err);
    if (own)
        kc__store_form_read(cache, key, stale);
    if (object)
        kc__store_form_is_readable(cache, key);
    else
        kc__store_form_is_unreadable(cache, a->key, &err);
    return object;
}

static void forget_value(kc__watch_cache *cache, kc_str key)
{
    kc__store_form_is_readable(cache, key);
    kc__store_value_deleted(cache, key);
}

/* The event that changes the tree to an object, or to none; NULL if there is nothing to change. */
static kc__store_event *event_to(kc__watch_cache *cache, kc_str key, const kc_object *object,
                                 uint64_t revision)
{
    const kc_object *previous = kc__cow_tree_get(cache->tree, key);
    if (!object && !previous)
        return NULL;
    kc_auto(kc_object) *gone = object ? NULL : kc_object_with_revision(previous, revision);
    const kc__store_event_type type = !object    ? KC__STORE_DELETED
                                      : previous ? KC__STORE_MODIFIED
                                                 : KC__STORE_ADDED;
    return kc__store_event_new(type, revision, key, object ? object : gone, previous);
}

static void apply_arrival(kc__store_replica *r, const kc__store_arrival *a)
{
    kc__watch_cache *cache = kc__store_cache_of_key(r->store, a->key, NULL);
    if (!cache)
        return; /* Another program's key, or one of another store. */
    const kc_str key = kc__store_key_in(cache, a->key);
    kc_auto(kc_object) *object = a->verb == KC__STORAGE_PUT ? object_of(r, cache, a) : NULL;
    if (a->verb == KC__STORAGE_DELETE)
        forget_value(cache, key);
    kc__store_event *event = event_to(cache, key, object, a->revision);
    if (!event)
        return;
    if (event->type == KC__STORE_DELETED)
        kc__store_replica_deleted(r, a->key, event->object);
    kc__store_batch_change(&r->batch, cache, event);
}

void kc__store_replica_apply(kc__store_replica *r)
{
    kc__store_replica_inbox *in = &r->taken_inbox;
    kc__store_arrival *rest = NULL, **end = &rest;
    for (kc__store_arrival *a = kc_take(in->first), *next; a; a = next) {
        next = a->next;
        if (a->revision <= in->complete) {
            apply_arrival(r, a);
            free(a);
        } else {
            a->next = NULL;
            *end = a;
            end = &a->next;
        }
    }
    in->first = rest;
    if (in->complete > kc__store_revision(r->store))
        kc__store_batch_publish(&r->batch, in->complete);
}

/* ---- reload ---- */

typedef struct replica_reload {
    kc__store_replica *r;
    KC_VEC(kc_map) listed; /* By the number of the cache: the keys of the storage. */
    kc_arena keys;
} replica_reload;

static void replica_reload_done(replica_reload *l)
{
    kc_vec_each (&l->listed, map)
        kc_map_done(map);
    kc_vec_done(&l->listed);
    kc_arena_done(&l->keys);
}

static kc_map *listed_of(replica_reload *l, const kc__watch_cache *cache)
{
    while (l->listed.n <= cache->number)
        kc_vec_add(&l->listed);
    return &l->listed.items[cache->number];
}

/* Puts an object into the tree, or removes it, without an event. */
static void replace_object(kc__store_replica *r, kc__watch_cache *cache, kc_str key,
                           const kc_object *object)
{
    kc_auto(kc_object) *replaced =
        object ? kc__cow_tree_put(cache->tree, key, object) : kc__cow_tree_remove(cache->tree, key);
    if (replaced)
        cache->forgotten += kc_object_size(replaced);
    if (!cache->changed)
        kc_vec_push(&r->batch.changed, cache);
    cache->changed = true;
}

static int reload_entry(const kc__storage_entry *entry, void *user)
{
    replica_reload *l = user;
    kc_scoped(kc_error) err = {0};
    kc__watch_cache *cache = kc__store_cache_of_key(l->r->store, entry->key, &err);
    if (!cache)
        return 0;
    const kc_str key = kc_arena_str(&l->keys, kc__store_key_in(cache, entry->key));
    const kc_object *current = kc__cow_tree_get(cache->tree, key);
    if (!current || kc_object_revision(current) != entry->revision) {
        kc_auto(kc_object) *object =
            read_value(cache, entry->key, entry->value, entry->revision, &err);
        if (!object) {
            kc__store_form_is_unreadable(cache, entry->key, &err);
            return 0;
        }
        kc__store_form_is_readable(cache, key);
        replace_object(l->r, cache, key, object);
    }
    kc_map_put(listed_of(l, cache), key, l);
    return 0;
}

/* Removes the objects of a cache that the storage does not have. */
static void remove_gone(replica_reload *l, kc__watch_cache *cache)
{
    kc_auto(kc__cow_snapshot) *before = kc__cow_tree_snapshot(cache->tree);
    kc__cow_iter it = kc__cow_iter_start(before, NULL);
    while (kc__cow_iter_next(&it))
        if (!kc_map_get(listed_of(l, cache), it.key)) {
            kc__store_value_deleted(cache, it.key);
            replace_object(l->r, cache, it.key, NULL);
        }
}

/* No ring has events up to this revision any more, nor has one that is created later. */
static void forget_events(kc__store *store, uint64_t revision)
{
    kc__watch_cache *cache;
    kc__store_recent_clear(&store->recent);
    kc_locked (&store->naming)
        store->oldest = revision;
    for (size_t i = 0; (cache = kc__store_next_cache(store, &i));)
        kc_locked (&cache->ring.mutex)
            cache->ring.oldest = revision;
}

int kc__store_replica_reload(kc__store_replica *r, kc_error *err)
{
    kc__store *store = r->store;
    kc_scoped(replica_reload) l = {.r = r};
    kc__storage_state state = {0};
    kc__watch_cache *cache;
    for (size_t i = 0; (cache = kc__store_next_cache(store, &i));)
        kc__store_form_reset(cache);
    if (kc__storage_load(store->storage, reload_entry, &l, &state, err) < 0)
        return kc_error_result(err); /* The next attempt goes on from what is in the trees. */
    for (size_t i = 0; (cache = kc__store_next_cache(store, &i));)
        remove_gone(&l, cache);
    forget_events(store, state.revision);
    kc__store_batch_replace(&r->batch, state.revision);
    kc_locked (&store->queue)
        r->inbox.complete = r->taken_inbox.complete = state.revision;
    kc_log_info(store->opts.log, "reloaded the store", kc_kv("revision", state.revision));
    return 0;
}
