/* SPDX-License-Identifier: Apache-2.0 */
/*
 * follower.c: compares snapshots of the store and passes the differences to an index.
 *
 * Readers share a read lock. A reader that finds a change takes the write lock, and applies all
 * changes of all sources; other readers wait for it. A change that arrives meanwhile is left to the
 * next reader.
 */
#include "apiserver/authz/follower.h"

#include "apiserver/governor/governor.h"
#include "apiserver/kinds/key_layout.h"
#include "kc/thread.h"

#include <assert.h>

struct kc__authz_follower {
    const kc__authz_source *sources;
    size_t n;
    kc__watch_cache *caches[KC__AUTHZ_MAX_SOURCES];
    kc__memory_account *memory;
    kc_gauge *gauge;
    void *index;
    const size_t *bytes;
    /* The changes that the index contains. Written under the write lock. */
    _Atomic uint64_t seen[KC__AUTHZ_MAX_SOURCES];
    pthread_rwlock_t lock; /* Guards the index and the snapshots. */
    kc__cow_snapshot *snapshots[KC__AUTHZ_MAX_SOURCES];
};

static bool follows_all(const kc__authz_follower *f)
{
    for (size_t i = 0; i < f->n; i++)
        if (atomic_load_explicit(&f->seen[i], memory_order_acquire) !=
            kc__watch_cache_changed_at(f->caches[i]))
            return false;
    return true;
}

typedef struct source_update {
    void *index;
    kc__authz_follow_fn *set;
} source_update;

static void apply_difference(kc_str key, const kc_object *before, const kc_object *after,
                             void *user)
{
    const source_update *update = user;
    (void)before;
    update->set(update->index, key, after);
}

/* Call it with the write lock held. The revision is loaded first: a change after that may be in the
 * index already, and is then applied once more. */
static void update_source(kc__authz_follower *f, size_t i)
{
    const uint64_t at = kc__watch_cache_changed_at(f->caches[i]);
    if (f->snapshots[i] && at == atomic_load(&f->seen[i]))
        return;
    kc_auto(kc__cow_snapshot) *before = f->snapshots[i];
    f->snapshots[i] = kc__watch_cache_snapshot(f->caches[i], NULL);
    kc__cow_diff(before, f->snapshots[i], apply_difference,
                 &(source_update){f->index, f->sources[i].set});
    atomic_store_explicit(&f->seen[i], at, memory_order_release);
}

static void catch_up(kc__authz_follower *f)
{
    pthread_rwlock_wrlock(&f->lock);
    const size_t before = *f->bytes;
    for (size_t i = 0; i < f->n; i++)
        update_source(f, i);
    kc__memory_add(f->memory, KC__MEMORY_CACHES, (int64_t)*f->bytes - (int64_t)before);
    kc_gauge_set(f->gauge, (double)*f->bytes);
    pthread_rwlock_unlock(&f->lock);
}

void kc__authz_follower_lock(kc__authz_follower *f)
{
    if (!follows_all(f))
        catch_up(f);
    pthread_rwlock_rdlock(&f->lock);
}

void kc__authz_follower_unlock(kc__authz_follower *f)
{
    pthread_rwlock_unlock(&f->lock);
}

/* Call it with the lock held. An upper bound. */
static uint64_t pending_changes(kc__authz_follower *f)
{
    uint64_t changes = 0;
    for (size_t i = 0; i < f->n; i++) {
        kc_auto(kc__cow_snapshot) *now = kc__watch_cache_snapshot(f->caches[i], NULL);
        changes +=
            kc__cow_snapshot_counts(now).changes - kc__cow_snapshot_counts(f->snapshots[i]).changes;
    }
    return changes;
}

bool kc__authz_follower_is_far_behind(kc__authz_follower *f, size_t changes)
{
    if (follows_all(f))
        return false;
    if (pthread_rwlock_tryrdlock(&f->lock) != 0)
        return true;
    const bool far = pending_changes(f) > changes;
    pthread_rwlock_unlock(&f->lock);
    return far;
}

/* A stream of readers must not delay the update that later readers wait for. */
static void init_index_lock(pthread_rwlock_t *lock)
{
    pthread_rwlockattr_t attributes;
    pthread_rwlockattr_init(&attributes);
    pthread_rwlockattr_setkind_np(&attributes, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(lock, &attributes);
    pthread_rwlockattr_destroy(&attributes);
}

kc__authz_follower *kc__authz_follower_new(const kc__authz_follower_opts *opts, kc_error *err)
{
    const kc_metric_opts bytes = {.name = opts->metric, .help = opts->metric_help};
    kc_metric *metric = opts->metrics ? kc_metrics_gauge(opts->metrics, &bytes, err) : NULL;
    if (opts->metrics && !metric)
        return NULL;
    assert(opts->n_sources <= KC__AUTHZ_MAX_SOURCES);
    kc__authz_follower *f = kc_new(kc__authz_follower);
    f->sources = opts->sources;
    f->n = opts->n_sources;
    f->index = opts->index;
    f->bytes = opts->bytes;
    f->memory = opts->memory;
    f->gauge = kc_metric_gauge(metric);
    init_index_lock(&f->lock);
    for (size_t i = 0; i < f->n; i++)
        f->caches[i] = kc__store_watch_cache(
            opts->store,
            kc__resource_key_builtin_prefix(f->sources[i].group, f->sources[i].resource));
    catch_up(f);
    return f;
}

kc__authz_follower *kc__authz_follower_free(kc__authz_follower *f)
{
    if (!f)
        return NULL;
    for (size_t i = 0; i < f->n; i++)
        kc__cow_snapshot_unref(f->snapshots[i]);
    kc__memory_add(f->memory, KC__MEMORY_CACHES, -(int64_t)*f->bytes);
    pthread_rwlock_destroy(&f->lock);
    free(f);
    return NULL;
}
