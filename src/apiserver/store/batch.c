/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch.c: commits a batch of writes.
 *
 *     decide each ──▶ storage ──▶ rings ──▶ trees ──▶ revision, hubs ──▶ results
 *        │               │
 *        └ in the tree   └ failed: undo in the trees, every write gets the error
 *
 * Deciding a write compares it with the tree and applies it to the tree at once; readers do not see
 * the change until it is published. A second write to the same key therefore sees the first one, a
 * conflict is detected without the storage, and a failed commit is rolled back by undoing its
 * changes, newest first. The writes of a group are decided together: the first write that is not
 * stored rolls back those before it.
 *
 * The storage is exclusive (storage.h) and assigns consecutive revisions, so the committer knows
 * the revision of each change in advance: the object is stored with its resourceVersion, and the
 * same object is published. The storage compares each expected revision itself. If its results ever
 * differ from the decisions made here, neither memory nor revisions can be trusted, and the store
 * refuses writes.
 *
 * `publish` is the only way into the caches: for a commit, for a batch whose outcome was unknown
 * (recover.c), and for the changes that a shared storage reports (replica_apply.c). cache.c,
 * history.c and hub.c rely on its order: events into rings, then trees, then the revision. Runs on
 * the committer's thread.
 */
#include "apiserver/store/store_internal.h"

void kc__store_batch_done(kc__store_batch *batch)
{
    kc_vec_done(&batch->writes);
    kc_vec_done(&batch->changes);
    kc_vec_done(&batch->ops);
    kc_vec_done(&batch->results);
    kc_vec_done(&batch->changed);
    kc_vec_done(&batch->sealed);
    kc_arena_done(&batch->keys);
}

static void clear(kc__store_batch *batch)
{
    kc_vec_each (&batch->changes, change)
        kc__store_event_unref(change->event);
    kc_vec_each (&batch->changed, cache)
        (*cache)->changed = false;
    kc_vec_clear(&batch->changes);
    kc_vec_clear(&batch->ops);
    kc_vec_clear(&batch->results);
    kc_vec_clear(&batch->changed);
    kc_arena_clear(&batch->keys);
    kc__store_forms_end(batch);
}

/* ---- deciding ---- */

static kc_str stored_key(kc__store_batch *batch, const kc__store_write *write)
{
    const kc_str prefix = write->cache->prefix;
    char *key = kc_arena_alloc(&batch->keys, prefix.n + write->key.n);
    memcpy(key, prefix.p, prefix.n);
    if (write->key.n)
        memcpy(key + prefix.n, write->key.p, write->key.n);
    return kc_str_of(key, prefix.n + write->key.n);
}

/* An unreadable object exists, at a revision that no write expects. */
static bool is_conflict(const kc__store_write *write, const kc_object *current)
{
    const uint64_t revision = current ? kc_object_revision(current) : 0;
    if (!current && kc__watch_cache_check_readable(write->cache, write->key, NULL) < 0)
        return true;
    return (write->expected != KC__STORAGE_ANY && write->expected != revision) ||
           (write->verb == KC__STORAGE_DELETE && !current);
}

/* Lets a write that was made from an older state of the object adapt to the current one. */
static bool rebase_write(kc__store_write *write, const kc_object *current)
{
    if (!write->rebase || !current || !write->rebase(write, current))
        return false;
    write->expected = kc_object_revision(current);
    return true;
}

/*
 * In glibc the heap of every thread but the first grows by a few pages at a time, with a system
 * call each, which is one for almost every object of a kilobyte or more. A larger block that is
 * freed at once grows it for many objects; its pages stay untouched until objects take them. Blocks
 * of 64 KiB and more would make `free` shrink the heap again.
 */
static void grow_heap(kc__store_batch *batch, size_t needed)
{
    enum { STEP = 60 << 10 };
    if (needed > STEP)
        return;
    if (batch->heap_room < needed) {
        void *block = malloc(STEP);
        __asm__ volatile("" : : "r"(block) : "memory"); /* Keeps the compiler from removing it. */
        free(block);
        batch->heap_room = STEP;
    }
    batch->heap_room -= needed;
}

/* The event of a write, with the revision that the commit will assign. */
static kc__store_event *event_of(const kc__store_write *write, const kc_object *current,
                                 uint64_t revision)
{
    const bool deletion = write->verb == KC__STORAGE_DELETE;
    const kc__store_event_type type = deletion  ? KC__STORE_DELETED
                                      : current ? KC__STORE_MODIFIED
                                                : KC__STORE_ADDED;
    const kc_object *shown = write->object ? write->object : current;
    kc_auto(kc_object) *object = kc_object_with_revision(shown, revision);
    return kc__store_event_new(type, revision, write->key, object, current);
}

void kc__store_batch_change(kc__store_batch *batch, kc__watch_cache *cache, kc__store_event *event)
{
    const kc_str key = kc__store_event_key(event);
    kc_auto(kc_object) *replaced = event->type == KC__STORE_DELETED
                                       ? kc__cow_tree_remove(cache->tree, key)
                                       : kc__cow_tree_put(cache->tree, key, event->object);
    kc_vec_push(&batch->changes, (kc__store_change){cache, event});
    if (!cache->changed)
        kc_vec_push(&batch->changed, cache);
    cache->changed = true;
}

static void refuse_batch_write(kc__store_write *write, const char *problem)
{
    write->outcome = KC__STORAGE_REFUSED;
    kc_error_set(&write->error, KC_INVALID, "cannot store \"%.*s\": %s", KC_ARG(write->key),
                 problem);
}

static void conflict_batch_write(const kc__store_batch *batch, kc__store_write *write,
                                 const kc_object *current)
{
    kc_counter_inc(batch->store->metrics.conflicts);
    write->outcome = KC__STORAGE_CONFLICT;
    write->result = current ? kc_object_ref(current) : NULL;
}

/* Whether a write may use the room that the storage reserves for deletions: a deletion, or an
 * update of an object that is being deleted (such as of its finalizers) that hardly grows the
 * object. */
static bool frees_room(const kc__store_write *write, const kc_object *current)
{
    enum { GROWTH = 1024 };
    if (write->verb == KC__STORAGE_DELETE)
        return true;
    return current && kc_object_deletion_timestamp(write->object).n &&
           kc_object_size(write->object) <= kc_object_size(current) + GROWTH;
}

/* Replaces the value of a put by its encrypted form. */
static int seal_batch_write(kc__store_batch *batch, kc__store_write *write, kc__storage_op *op)
{
    if (op->verb == KC__STORAGE_DELETE || !batch->encryption)
        return 0;
    const int failed =
        kc__store_form_seal(batch, write->cache, op->key, op->value, &op->value, &write->error);
    if (failed)
        write->outcome = KC__STORAGE_REFUSED;
    return failed;
}

static void change(kc__store_batch *batch, kc__store_write *write, const kc_object *current)
{
    if (batch->writes.n > 1 && write->object)
        grow_heap(batch, kc_object_size(write->object));
    kc__store_event *event = event_of(write, current, batch->revision + 1);
    kc__storage_op op = {
        .verb = write->verb,
        .key = stored_key(batch, write),
        .expected = write->expected,
        .value = kc_object_json(event->object),
        .frees = frees_room(write, current),
        .joined = write->joined,
    };
    const char *problem = kc__storage_op_problem(&op);
    if (problem || seal_batch_write(batch, write, &op) < 0) {
        kc__store_event_unref(event);
        if (problem)
            refuse_batch_write(write, problem);
        return;
    }
    batch->revision = event->revision;
    write->outcome = KC__STORAGE_STORED;
    write->result = kc_object_ref(event->object);
    kc_vec_push(&batch->ops, op);
    kc__store_batch_change(batch, write->cache, event);
}

static void decide(kc__store_batch *batch, kc__store_write *write)
{
    write->result = NULL;
    write->error = (kc_error){0};
    if (write->key.n == 0) {
        refuse_batch_write(write, "the key is empty");
    } else {
        const kc_object *current = kc__cow_tree_get(write->cache->tree, write->key);
        if (is_conflict(write, current) && !rebase_write(write, current))
            conflict_batch_write(batch, write, current);
        else
            change(batch, write, current);
    }
    write->revision = batch->revision;
}

/* Undoes the newest changes in the trees until the first `n` are left. */
static void undo_changes(kc__store_batch *batch, size_t n)
{
    while (batch->changes.n > n) {
        kc__store_change change = kc_vec_pop(&batch->changes);
        const kc_str key = kc__store_event_key(change.event);
        kc_auto(kc_object) *replaced =
            change.event->previous
                ? kc__cow_tree_put(change.cache->tree, key, change.event->previous)
                : kc__cow_tree_remove(change.cache->tree, key);
        kc__store_event_unref(change.event);
    }
}

/* ---- groups ---- */

/* The number of writes in the group that begins at `at`. */
static size_t group_size(const kc__store_batch *batch, size_t at)
{
    size_t n = 1;
    while (at + n < batch->writes.n && batch->writes.items[at + n]->joined)
        n++;
    return n;
}

static void skip_write(kc__store_write *write)
{
    write->outcome = KC__STORAGE_SKIPPED;
    write->result = kc_object_unref(write->result);
}

/* Decides the writes of a group until one is not stored; returns the index of that one, or `n`. */
static size_t decide_until_failure(kc__store_batch *batch, kc__store_write **writes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        decide(batch, writes[i]);
        if (writes[i]->outcome != KC__STORAGE_STORED)
            return i;
    }
    return n;
}

static void refuse_group(kc__store_write **writes, size_t n, const char *problem)
{
    for (size_t i = 0; i < n; i++) {
        writes[i]->result = kc_object_unref(writes[i]->result);
        refuse_batch_write(writes[i], problem);
    }
}

static void decide_group(kc__store_batch *batch, kc__store_write **writes, size_t n)
{
    const size_t before = batch->changes.n;
    const uint64_t revision = batch->revision;
    const size_t failed = decide_until_failure(batch, writes, n);
    const char *problem =
        failed == n && n > 1 ? kc__storage_group_problem(&batch->ops.items[before], n) : NULL;
    if (failed == n && !problem)
        return;
    undo_changes(batch, before);
    batch->ops.n = before;
    batch->revision = revision;
    if (problem)
        refuse_group(writes, n, problem);
    for (size_t i = 0; i < n && !problem; i++) {
        if (i > failed) {
            writes[i]->result = NULL;
            writes[i]->error = (kc_error){0};
        }
        if (i != failed)
            skip_write(writes[i]);
    }
    for (size_t i = 0; i < n; i++)
        writes[i]->revision = revision;
}

/* ---- storing ---- */

/* Compares the results of the storage with the decisions. */
static int compare_batch_write(const kc__store_batch *batch, kc_error *err)
{
    for (size_t i = 0; i < batch->changes.n; i++) {
        const kc__storage_result *result = &batch->results.items[i];
        if (result->outcome != KC__STORAGE_STORED ||
            result->revision != batch->changes.items[i].event->revision)
            return kc_error_set(
                err, KC_INTERNAL,
                "the storage and the store differ at revision %llu: the storage must be reopened",
                (unsigned long long)batch->changes.items[i].event->revision);
    }
    return 0;
}

static void measure(const kc__store_batch *batch, int64_t started, bool failed)
{
    const kc__store *store = batch->store;
    kc_histogram_observe_duration(store->metrics.took, kc_clock_now(store->opts.clock) - started);
    kc_histogram_observe(store->metrics.changes, (double)batch->ops.n);
    if (failed)
        kc_counter_inc(store->metrics.failures);
}

static int store_all(kc__store_batch *batch, kc_error *err)
{
    kc__store *store = batch->store;
    const size_t n = batch->ops.n;
    if (kc__store_is_failed(store, err))
        return kc_error_result(err);
    if (n == 0)
        return 0;
    const int64_t started = kc_clock_now(store->opts.clock);
    kc_vec_reserve(&batch->results, n);
    int failed =
        kc__storage_commit(store->storage, batch->ops.items, n, batch->results.items, NULL, err);
    const bool differs = !failed && compare_batch_write(batch, err) < 0;
    if (differs) {
        failed = kc_error_result(err);
        kc__store_set_inconsistent(store, err);
    } else {
        if (failed && kc_error_has_reason(err, KC_INTERNAL))
            kc__store_recovery_begin(batch);
        kc__store_set_health(store, failed ? err : NULL);
    }
    measure(batch, started, failed);
    return failed;
}

static void undo_batch(kc__store_batch *batch)
{
    undo_changes(batch, 0);
    batch->revision = kc__store_revision(batch->store);
}

static void fail_batch(const kc__store_batch *batch, kc__store_write *write, const kc_error *err)
{
    write->outcome = KC__STORAGE_REFUSED;
    write->result = kc_object_unref(write->result);
    write->revision = batch->revision;
    kc_error_done(&write->error);
    kc__store_error_copy(&write->error, err);
}

static void forget_decisions(kc__store_batch *batch)
{
    kc_vec_each (&batch->writes, it) {
        kc__store_write *write = *it;
        write->result = kc_object_unref(write->result);
        kc_error_done(&write->error);
    }
    clear(batch);
}

/* ---- publishing ---- */

static void publish_trees(const kc__store_batch *batch)
{
    kc_vec_each (&batch->changed, cache) {
        kc__cow_tree_publish((*cache)->tree, batch->revision);
        atomic_store_explicit(&(*cache)->changed_at, batch->revision, memory_order_release);
    }
}

static void publish_batch(kc__store_batch *batch)
{
    kc__store *store = batch->store;
    const int64_t now = kc_clock_now(store->opts.clock);
    kc_vec_each (&batch->changes, change) {
        kc__store_recent_add(&store->recent, change->cache, change->event, now);
        kc__store_form_stored(batch, change);
    }
    kc__store_holds_changed(store, batch->changes.n);
    publish_trees(batch);
    kc__store_watch_hubs_notify(store, batch);
}

void kc__store_batch_publish(kc__store_batch *batch, uint64_t revision)
{
    batch->revision = revision;
    publish_batch(batch);
    clear(batch);
}

void kc__store_batch_replace(kc__store_batch *batch, uint64_t revision)
{
    batch->revision = revision;
    publish_trees(batch);
    kc__store_watch_hubs_expire(batch->store, revision);
    clear(batch);
}

/* ---- the whole batch ---- */

static bool has_both(const kc__store_batch *batch)
{
    size_t n_free = 0;
    kc_vec_each (&batch->ops, op)
        n_free += op->frees;
    return n_free > 0 && n_free < batch->ops.n;
}

static bool is_freeing(kc__store_write *const *writes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const kc__store_write *write = writes[i];
        if (!write->key.n || !frees_room(write, kc__cow_tree_get(write->cache->tree, write->key)))
            return false;
    }
    return true;
}

/* Decides all groups or, after `refusal`, only those that free room. */
static void decide_all(kc__store_batch *batch, const kc_error *refusal)
{
    for (size_t at = 0, n = 0; at < batch->writes.n; at += n) {
        kc__store_write **writes = &batch->writes.items[at];
        n = group_size(batch, at);
        if (!refusal || is_freeing(writes, n)) {
            decide_group(batch, writes, n);
            continue;
        }
        for (size_t i = 0; i < n; i++)
            fail_batch(batch, writes[i], refusal);
    }
}

/* Attempts one commit: of all groups or, after `refusal`, of those that free room. Returns the
 * result of kc__storage_commit; on failure nothing has changed. */
static int attempt_batch_commit(kc__store_batch *batch, const kc_error *refusal, kc_error *err)
{
    kc__store_forms_begin(batch);
    decide_all(batch, refusal);
    const int failed = store_all(batch, err);
    if (!failed)
        return 0;
    const bool both =
        !refusal && kc_error_has_reason(err, KC_SERVICE_UNAVAILABLE) && has_both(batch);
    undo_batch(batch);
    if (both)
        return failed;
    kc_vec_each (&batch->writes, write)
        fail_batch(batch, *write, err);
    return 0;
}

/* If the storage has no room for a batch, commits it again without the writes that need room. */
void kc__store_batch_run(kc__store_batch *batch)
{
    kc_scoped(kc_error) no_room = {0};
    kc_scoped(kc_error) err = {0};
    if (attempt_batch_commit(batch, NULL, &no_room)) {
        forget_decisions(batch);
        attempt_batch_commit(batch, &no_room, &err);
    }
    if (batch->changes.n)
        publish_batch(batch);
    clear(batch);
}
