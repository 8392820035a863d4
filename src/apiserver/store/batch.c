/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch.c: some writes become one commit.
 *
 *     decide each ──▶ storage ──▶ rings ──▶ trees ──▶ revision, hubs ──▶ answers
 *        │               │
 *        └ in the tree   └ failed: undo in the trees, every write gets the error
 *
 * Deciding looks at the tree and changes it at once; readers do not see that before it is
 * published. So a second write on the same key finds what the first one did, a conflict is answered
 * without asking the storage, and a commit that fails is taken back by undoing its changes, last
 * one first.
 *
 * The storage numbers the changes of a batch one after the other, and this is its only writer, so
 * the revision of each change is known before: the object is stored with it, and the same object is
 * shown. The storage checks each expectation itself; should it ever see things otherwise, neither
 * memory nor revisions can be trusted, and the store gives up.
 *
 * The order of publishing is what cache.c, history.c and hub.c count on: events into rings, then
 * trees, then the revision. By the committer's thread.
 */
#include "apiserver/store/store_internal.h"

void kc__batch_done(kc__batch *batch)
{
    kc_vec_done(&batch->writes);
    kc_vec_done(&batch->changes);
    kc_vec_done(&batch->ops);
    kc_vec_done(&batch->results);
    kc_vec_done(&batch->changed);
    kc_arena_done(&batch->keys);
}

static void clear(kc__batch *batch)
{
    kc_vec_each (&batch->changes, change)
        kc__event_unref(change->event);
    kc_vec_each (&batch->changed, cache)
        (*cache)->changed = false;
    kc_vec_clear(&batch->changes);
    kc_vec_clear(&batch->ops);
    kc_vec_clear(&batch->results);
    kc_vec_clear(&batch->changed);
    kc_arena_clear(&batch->keys);
}

/* ---- deciding ---- */

static kc_str stored_key(kc__batch *batch, const kc__write *write)
{
    const kc_str prefix = write->cache->prefix;
    char *key = kc_arena_alloc(&batch->keys, prefix.n + write->key.n);
    memcpy(key, prefix.p, prefix.n);
    if (write->key.n)
        memcpy(key + prefix.n, write->key.p, write->key.n);
    return kc_str_of(key, prefix.n + write->key.n);
}

static bool is_conflict(const kc__write *write, const kc_object *current)
{
    const uint64_t revision = current ? kc_object_revision(current) : 0;
    return (write->expected != KC_STORAGE_ANY && write->expected != revision) ||
           (write->verb == KC_STORAGE_DELETE && !current);
}

/* The change a write makes, with the revision it is going to have. */
static kc__event *event_of(const kc__write *write, const kc_object *current, uint64_t revision)
{
    const bool deletion = write->verb == KC_STORAGE_DELETE;
    const kc__event_type type = deletion ? KC__DELETED : current ? KC__MODIFIED : KC__ADDED;
    const kc_object *shown = write->object ? write->object : current;
    kc_auto(kc_object) *object = kc_object_with_revision(shown, revision);
    return kc__event_new(type, revision, write->key, object, current);
}

static void apply(kc__batch *batch, kc__cache *cache, kc__event *event)
{
    const kc_str key = kc__event_key(event);
    kc_auto(kc_object) *replaced = event->type == KC__DELETED
                                       ? kc_cow_tree_remove(cache->tree, key)
                                       : kc_cow_tree_put(cache->tree, key, event->object);
    kc_vec_push(&batch->changes, (kc__change){cache, event});
    if (!cache->changed)
        kc_vec_push(&batch->changed, cache);
    cache->changed = true;
}

static void refuse(kc__write *write, const char *problem)
{
    write->outcome = KC_STORAGE_REFUSED;
    kc_error_set(&write->error, KC_INVALID, "cannot store \"%.*s\": %s", KC_ARG(write->key),
                 problem);
}

static void conflict(const kc__batch *batch, kc__write *write, const kc_object *current)
{
    kc_counter_inc(batch->store->metrics.conflicts);
    write->outcome = KC_STORAGE_CONFLICT;
    write->result = current ? kc_object_ref(current) : NULL;
}

static void change(kc__batch *batch, kc__write *write, const kc_object *current)
{
    kc__event *event = event_of(write, current, batch->revision + 1);
    const kc_storage_op op = {
        .verb = write->verb,
        .key = stored_key(batch, write),
        .expected = write->expected,
        .value = kc_object_json(event->object),
    };
    const char *problem = kc_storage_op_problem(&op);
    if (problem) {
        kc__event_unref(event);
        refuse(write, problem);
        return;
    }
    batch->revision = event->revision;
    write->outcome = KC_STORAGE_STORED;
    write->result = kc_object_ref(event->object);
    kc_vec_push(&batch->ops, op);
    apply(batch, write->cache, event);
}

static void decide(kc__batch *batch, kc__write *write)
{
    write->result = NULL;
    write->error = (kc_error){0};
    if (write->key.n == 0) {
        refuse(write, "the key is empty");
    } else {
        const kc_object *current = kc_cow_tree_get(write->cache->tree, write->key);
        if (is_conflict(write, current))
            conflict(batch, write, current);
        else
            change(batch, write, current);
    }
    write->revision = batch->revision;
}

/* ---- storing ---- */

/* Whether the storage did what was foreseen. */
static int compare(const kc__batch *batch, kc_error *err)
{
    for (size_t i = 0; i < batch->changes.n; i++) {
        const kc_storage_result *result = &batch->results.items[i];
        if (result->outcome != KC_STORAGE_STORED ||
            result->revision != batch->changes.items[i].event->revision)
            return kc_error_set(err, KC_INTERNAL,
                                "the storage and the memory of it differ at revision %llu: it must "
                                "be opened again",
                                (unsigned long long)batch->changes.items[i].event->revision);
    }
    return 0;
}

static void measure(const kc__batch *batch, int64_t started, bool failed)
{
    const kc__store *store = batch->store;
    kc_histogram_observe_duration(store->metrics.took, kc_clock_now(store->opts.clock) - started);
    kc_histogram_observe(store->metrics.changes, (double)batch->ops.n);
    if (failed)
        kc_counter_inc(store->metrics.failures);
}

static int store_all(kc__batch *batch, kc_error *err)
{
    kc__store *store = batch->store;
    const size_t n = batch->ops.n;
    if (kc__store_given_up(store, err))
        return -KC_INTERNAL;
    if (n == 0)
        return 0;
    const int64_t started = kc_clock_now(store->opts.clock);
    kc_vec_reserve(&batch->results, n);
    int failed =
        kc_storage_commit(store->storage, batch->ops.items, n, batch->results.items, NULL, err);
    if (!failed)
        failed = compare(batch, err);
    kc__store_judge(store, failed ? err : NULL);
    measure(batch, started, failed);
    return failed;
}

static void undo(kc__batch *batch)
{
    while (batch->changes.n) {
        kc__change change = kc_vec_pop(&batch->changes);
        const kc_str key = kc__event_key(change.event);
        kc_auto(kc_object) *replaced =
            change.event->previous
                ? kc_cow_tree_put(change.cache->tree, key, change.event->previous)
                : kc_cow_tree_remove(change.cache->tree, key);
        kc__event_unref(change.event);
    }
    batch->revision = kc__store_revision(batch->store);
}

static void fail(kc__batch *batch, const kc_error *err)
{
    kc_vec_each (&batch->writes, it) {
        kc__write *write = *it;
        write->outcome = KC_STORAGE_REFUSED;
        write->result = kc_object_unref(write->result);
        write->revision = batch->revision;
        kc_error_done(&write->error);
        kc__error_copy(&write->error, err);
    }
}

/* ---- publishing ---- */

static void publish(kc__batch *batch)
{
    kc__store *store = batch->store;
    const int64_t now = kc_clock_now(store->opts.clock);
    kc_vec_each (&batch->changes, change)
        kc__recent_add(&store->recent, change->cache, change->event, now);
    kc_vec_each (&batch->changed, cache) {
        kc_cow_tree_publish((*cache)->tree, batch->revision);
        atomic_store_explicit(&(*cache)->changed_at, batch->revision, memory_order_release);
    }
    kc__hubs_tell(store, batch);
}

void kc__batch_run(kc__batch *batch)
{
    kc_scoped(kc_error) err = {0};
    kc_vec_each (&batch->writes, write)
        decide(batch, *write);
    if (store_all(batch, &err)) {
        undo(batch);
        fail(batch, &err);
    } else if (batch->changes.n) {
        publish(batch);
    }
    clear(batch);
}
