/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_history.c: fills the rings from the history of the storage when the store is opened, so that
 * watches and list pages continue across a restart, and on another server.
 *
 * Objects are shared: an event whose object is still current references the tree's, and the
 * `previous` of an event is the object of the preceding event on the same key. So history costs
 * little more than the objects that only history references. The times of the events are unknown
 * here; they count as old as the process.
 *
 * A shared storage keeps far more history than the rings do, and others write while it is read. So
 * only the last SHARED_REVISIONS revisions before that of the loaded objects are read, for at most
 * SHARED_TIMEOUT. If that fails, the rings begin empty, as if the history had been compacted: the
 * server starts, and clients list again.
 *
 * Runs on one thread at a time, before any other thread uses the store.
 */
#include "apiserver/storage/stored_marker.h"
#include "apiserver/store/store_internal.h"

/* etcd delivers about 10,000 past revisions in a second. */
#define SHARED_REVISIONS UINT64_C(10000)
#define SHARED_TIMEOUT   (5 * KC_SECOND)

typedef struct history_loading {
    kc__store *store;
    int64_t now;            /* The time of all events. */
    kc__watch_cache *cache; /* Cache of the last event. */
    /* Indexed by the cache's number: the latest event of each key. */
    KC_VEC(kc_map) latest;
    kc_buf plain; /* The decrypted value. */
    kc_error *err;
} history_loading;

static void history_loading_done(history_loading *l)
{
    kc_vec_each (&l->latest, map) {
        kc_map_each (map, entry)
            kc__store_event_unref(entry->value);
        kc_map_done(map);
    }
    kc_vec_done(&l->latest);
    kc_buf_done(&l->plain);
}

static kc_map *latest_of(history_loading *l, const kc__watch_cache *cache)
{
    while (l->latest.n <= cache->number)
        kc_vec_add(&l->latest);
    return &l->latest.items[cache->number];
}

/* Usually without a lookup: many events in a row are of one resource. */
static kc__watch_cache *history_cache_of(history_loading *l, kc_str stored_key)
{
    if (!l->cache || !kc_str_starts(stored_key, l->cache->prefix))
        l->cache = kc__store_cache_of_key(l->store, stored_key, l->err);
    return l->cache;
}

static kc_str key_in(const kc__watch_cache *cache, kc_str stored_key)
{
    return kc__store_key_in(cache, stored_key);
}

/* The object of a value of the history. NULL on error. */
static kc_object *object_of_value(history_loading *l, kc__watch_cache *cache, kc_str stored_key,
                                  kc_str value, uint64_t revision)
{
    kc_str plain;
    bool stale;
    kc_buf_clear(&l->plain);
    if (kc__store_form_open(cache, stored_key, value, &l->plain, &plain, &stale, l->err) < 0)
        return NULL;
    return kc__store_value_read_past(cache, stored_key, plain, revision, l->err);
}

/* The object that an event replaced: that of the preceding event, or a new one. NULL on error. */
static kc_object *previous_of(history_loading *l, kc__watch_cache *cache,
                              const kc__storage_event *stored)
{
    const kc__store_event *before = kc_map_get(latest_of(l, cache), key_in(cache, stored->key));
    if (before && before->revision == stored->previous_revision)
        return kc_object_ref(before->object);
    return object_of_value(l, cache, stored->key, stored->previous_value,
                           stored->previous_revision);
}

/* The object that an event shows. NULL on error. */
static kc_object *shown_by(history_loading *l, kc__watch_cache *cache,
                           const kc__storage_event *stored, const kc_object *previous)
{
    if (stored->verb == KC__STORAGE_DELETE)
        return kc_object_with_revision(previous, stored->revision);
    const kc_object *current = kc__cow_tree_get(cache->tree, key_in(cache, stored->key));
    if (current && kc_object_revision(current) == stored->revision)
        return kc_object_ref(current);
    return object_of_value(l, cache, stored->key, stored->value, stored->revision);
}

static kc__store_event *make_event(history_loading *l, kc__watch_cache *cache,
                                   const kc__storage_event *stored)
{
    kc_auto(kc_object) *previous = stored->previous_revision ? previous_of(l, cache, stored) : NULL;
    if (stored->previous_revision && !previous)
        return NULL;
    if (stored->verb == KC__STORAGE_DELETE && !previous) {
        kc_error_set(l->err, KC_STORE_READ_ERROR, "the deletion of \"%.*s\" shows no object",
                     KC_ARG(stored->key));
        return NULL;
    }
    kc_auto(kc_object) *object = shown_by(l, cache, stored, previous);
    if (!object)
        return NULL;
    kc__store_event_type type = stored->verb == KC__STORAGE_DELETE ? KC__STORE_DELETED
                                : previous                         ? KC__STORE_MODIFIED
                                                                   : KC__STORE_ADDED;
    return kc__store_event_new(type, stored->revision, key_in(cache, stored->key), object,
                               previous);
}

/* Counts the change as if the tree had seen it: holds.c compares dropped events with these
 * counts. */
static void count_past(kc__watch_cache *cache, const kc__store_event *event)
{
    kc__cow_counts *counts = kc__cow_tree_counts(cache->tree);
    counts->changes++;
    if (event->previous)
        counts->replaced += kc_object_size(event->previous);
}

/* The event as the store has it; NULL if the store has none. */
static int event_of(history_loading *l, const kc__storage_event *stored, kc__store_event **ret)
{
    *ret = NULL;
    if (kc__storage_marker_is_key(stored->key))
        return 0;
    kc__watch_cache *cache = history_cache_of(l, stored->key);
    if (cache && stored->revision <= cache->ring.oldest)
        return 0;
    *ret = cache ? make_event(l, cache, stored) : NULL;
    return *ret ? 0 : kc_error_result(l->err);
}

/* `l->cache` is the cache of the event. */
static void push_event(history_loading *l, kc__store_event *event)
{
    kc__store *store = l->store;
    count_past(l->cache, event);
    kc__store_recent_add(&store->recent, l->cache, event, l->now);
    kc__store_recent_trim(&store->recent, l->now, &store->opts);
    kc__store_event_unref(kc_map_put(latest_of(l, l->cache), kc__store_event_key(event), event));
}

static void begin_history(kc__store *store, uint64_t since)
{
    store->oldest = since;
    kc_vec_each (&store->by_number, cache)
        (*cache)->ring.oldest = since;
}

/* ---- of an exclusive storage ---- */

static int add_event(const kc__storage_event *stored, void *user)
{
    history_loading *l = user;
    kc__store_event *event;
    if (event_of(l, stored, &event) < 0)
        return kc_error_result(l->err);
    if (event)
        push_event(l, event);
    return 0;
}

static bool is_readable(history_loading *l, kc__watch_cache *cache, kc_str stored_key, kc_str value)
{
    kc_str plain;
    bool stale;
    kc_buf_clear(&l->plain);
    return kc__store_form_open(cache, stored_key, value, &l->plain, &plain, &stale, NULL) == 0;
}

/* The history of a resource begins after its last event that cannot be decrypted: after keys were
 * rotated and the old ones removed, old values are unreadable, and watches that need them get 410.
 */
static int check_event(const kc__storage_event *stored, void *user)
{
    history_loading *l = user;
    if (kc__storage_marker_is_key(stored->key))
        return 0;
    kc__watch_cache *cache = history_cache_of(l, stored->key);
    if (!cache)
        return kc_error_result(l->err);
    const bool readable =
        (stored->verb == KC__STORAGE_DELETE || is_readable(l, cache, stored->key, stored->value)) &&
        (!stored->previous_revision || is_readable(l, cache, stored->key, stored->previous_value));
    if (!readable)
        cache->ring.oldest = stored->revision;
    return 0;
}

static int load_exclusive(history_loading *l, uint64_t since, kc_error *err)
{
    begin_history(l->store, since);
    const int failed = kc__storage_history(l->store->storage, since, check_event, l, err);
    return failed ? failed : kc__storage_history(l->store->storage, since, add_event, l, err);
}

/* ---- of a shared storage ---- */

/* Data under a prefix of no resource: of another program, which need not be readable. */
static bool is_foreign(const kc__watch_cache *cache)
{
    return cache->store->opts.format && !cache->kind;
}

/* The history of all resources begins after an event that cannot be read: it is rare, and reading
 * everything twice to find it would make every start slower. Keys of other programs are skipped. */
static int add_shared_event(const kc__storage_event *stored, void *user)
{
    history_loading *l = user;
    kc_scoped(kc_error) err = {0};
    kc__store_event *event;
    l->err = &err;
    const bool unreadable = event_of(l, stored, &event) < 0;
    l->err = NULL;
    if (event)
        push_event(l, event);
    if (unreadable && l->cache && !is_foreign(l->cache)) {
        kc__store_recent_clear(&l->store->recent);
        l->cache->ring.oldest = stored->revision;
    }
    return 0;
}

/* Reads the history once, from the oldest revision that the storage still has. */
static int walk_shared(history_loading *l, uint64_t since, uint64_t up_to, kc_error *err)
{
    uint64_t compacted = 0;
    kc__storage_history_opts opts = {.since = since,
                                     .up_to = up_to,
                                     .timeout = SHARED_TIMEOUT,
                                     .clock = l->store->opts.clock,
                                     .each = add_shared_event,
                                     .user = l};
    begin_history(l->store, since);
    int failed = kc__storage_shared_history(l->store->storage, &opts, &compacted, err);
    if (!failed || compacted <= since)
        return failed;
    kc_error_done(err);
    if (compacted >= up_to) { /* There is no history. */
        begin_history(l->store, up_to);
        return 0;
    }
    opts.since = compacted;
    begin_history(l->store, compacted);
    return kc__storage_shared_history(l->store->storage, &opts, &compacted, err);
}

static void load_shared(history_loading *l, uint64_t revision)
{
    kc__store *store = l->store;
    kc_scoped(kc_error) err = {0};
    const uint64_t since =
        revision > SHARED_REVISIONS ? revision - SHARED_REVISIONS : KC__STORAGE_FIRST;
    if (since >= revision) {
        begin_history(store, revision);
        return;
    }
    if (walk_shared(l, since, revision, &err) < 0) {
        kc_log_warn(store->opts.log,
                    "reading the history of the storage failed; watches of older "
                    "revisions expire",
                    kc_kv("err", &err));
        kc__store_recent_clear(&store->recent);
        begin_history(store, revision);
    }
}

int kc__store_load_history(kc__store *store, const kc__storage_state *state, kc_error *err)
{
    kc_scoped(history_loading) l = {
        .store = store, .now = kc_clock_now(store->opts.clock), .err = err};
    if (store->storage->backend->exclusive)
        return load_exclusive(&l, state->compacted, err);
    load_shared(&l, state->revision);
    return 0;
}
