/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storage_read.c: reads the state of a resource at an older revision from a shared storage, whose
 * history is longer than the rings: for a continue token of another server, whose first page this
 * server did not see.
 *
 * The objects at that revision are listed, and laid over the latest tree: an object that is the
 * same in both is shared. The result is a cached snapshot (snapshot_cache.c), so that the next
 * pages find it without the storage.
 *
 * Bounds. One thread reads, one after the other; at most MAX_WAITING readers wait, more are refused
 * (429). Objects that are not in the latest tree may take half of the budget for old snapshots;
 * beyond it the revision counts as expired.
 */
#include "apiserver/store/replica_internal.h"

enum { MAX_WAITING = 16 };

typedef struct older_read {
    kc__watch_cache *cache;
    kc__cow_snapshot *latest;
    kc__cow_tree *tree;
    kc_map listed; /* Keys at the revision. */
    kc_arena keys;
    size_t bytes, limit; /* Of objects that only this snapshot has. */
    kc_error *err;
} older_read;

static void older_read_done(older_read *p)
{
    kc__cow_tree_free(p->tree);
    kc__cow_snapshot_unref(p->latest);
    kc_map_done(&p->listed);
    kc_arena_done(&p->keys);
}

bool kc__watch_cache_reaches(kc__watch_cache *cache, uint64_t revision)
{
    uint64_t cached = 0;
    if (revision >= kc__watch_cache_oldest(cache))
        return true;
    kc_auto(kc__cow_snapshot) *found = kc__store_snapshot_cache_find(
        &cache->snapshots, revision, kc_clock_now(cache->store->opts.clock), &cached);
    return found && cached == revision;
}

/* NULL on error. */
static kc_object *read_older_object(older_read *p, const kc__storage_entry *entry)
{
    kc_scoped(kc_buf) out = {0};
    kc_str plain;
    bool stale;
    if (kc__store_form_open(p->cache, entry->key, entry->value, &out, &plain, &stale, p->err) < 0)
        return NULL;
    return kc__store_value_read_past(p->cache, entry->key, plain, entry->revision, p->err);
}

static int add_older_entry(const kc__storage_entry *entry, void *user)
{
    older_read *p = user;
    const kc_str key = kc_arena_str(&p->keys, kc__store_key_in(p->cache, entry->key));
    const kc_object *latest = kc__cow_tree_get(p->tree, key);
    kc_map_put(&p->listed, key, p);
    if (latest && kc_object_revision(latest) == entry->revision)
        return 0;
    kc_auto(kc_object) *object = read_older_object(p, entry);
    if (!object)
        return kc_error_result(p->err);
    p->bytes += kc_object_size(object);
    if (p->bytes > p->limit)
        return kc_error_set(p->err, KC_EXPIRED, "too much has changed since the revision");
    kc_object_unref(kc__cow_tree_put(p->tree, key, object));
    return 0;
}

/* Removes the objects that were created later. */
static void remove_later(older_read *p)
{
    kc__cow_iter it = kc__cow_iter_start(p->latest, NULL);
    while (kc__cow_iter_next(&it))
        if (!kc_map_get(&p->listed, it.key))
            kc_object_unref(kc__cow_tree_remove(p->tree, it.key));
}

static int read_older(kc__watch_cache *cache, uint64_t revision, kc_error *err)
{
    kc__store *store = cache->store;
    kc_scoped(older_read) p = {.cache = cache,
                               .latest = kc__watch_cache_snapshot(cache, NULL),
                               .limit = store->opts.snapshot_bytes / 2,
                               .err = err};
    p.tree = kc__cow_tree_of(p.latest);
    const kc__cow_counts counts = *kc__cow_tree_counts(p.tree);
    if (kc__storage_list(store->storage,
                         &(kc__storage_list_opts){.prefix = cache->prefix, .revision = revision},
                         add_older_entry, &p, NULL, err) < 0)
        return kc_error_result(err);
    remove_later(&p);
    *kc__cow_tree_counts(p.tree) = counts; /* What changes from now on counts as usual. */
    kc__cow_tree_publish(p.tree, revision);
    kc_auto(kc__cow_snapshot) *snapshot = kc__cow_tree_snapshot(p.tree);
    kc__store_snapshot_cache_put(&cache->snapshots, revision, snapshot,
                                 kc__store_hold_storage_read(cache, snapshot, p.bytes),
                                 kc_clock_now(store->opts.clock));
    return 0;
}

/* ---- the thread ---- */

static void complete_read(kc__loop_task *task)
{
    kc__store_storage_read *read = kc_container_of(task, kc__store_storage_read, task);
    kc__store *store = read->cache->store;
    read->done(read);
    kc__store_finished(store, 1);
}

static void post_read(kc__store_storage_read *read)
{
    read->task = (kc__loop_task){.run = complete_read};
    kc__loop_post(read->loop, &read->task);
}

static void run_read(kc_job *job, void *local)
{
    kc__store_storage_read *read = kc_container_of(job, kc__store_storage_read, job);
    kc__store *store = read->cache->store;
    (void)local;
    if (!kc__watch_cache_reaches(read->cache, read->revision)) {
        kc_counter_inc(store->metrics.past_reads);
        read_older(read->cache, read->revision, &read->error);
    }
    post_read(read);
}

void kc__store_storage_read_start(kc__store_storage_read *read)
{
    kc__store *store = read->cache->store;
    read->error = (kc_error){0};
    read->job = (kc_job){.run = run_read};
    kc_locked (&store->queue)
        store->unfinished++;
    if (kc_thread_pool_add(store->replica->storage_read, &read->job))
        return;
    kc_counter_inc(store->metrics.past_refused);
    kc_error_set(&read->error, KC_TOO_MANY_REQUESTS,
                 "too many lists of older revisions wait for the storage");
    read->error.retry_after_seconds = 1;
    post_read(read);
}

kc_thread_pool *kc__store_storage_read_pool(const kc_clock *clock)
{
    return kc_thread_pool_new(&(kc_thread_pool_opts){
        .name = "storage-read", .threads = 1, .max_waiting = MAX_WAITING, .clock = clock});
}
