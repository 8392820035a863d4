/* SPDX-License-Identifier: Apache-2.0 */
/*
 * holds.c: tracks which readers and list pages hold old snapshots of a resource, their cost, and
 * the budget for them.
 *
 * A snapshot shares everything that has not changed since with the latest state. It costs what has
 * changed: the objects that were replaced or deleted (unless the event ring holds them anyway) and
 * the tree nodes that were copied. The tree counts both as it changes (kc__cow_counts), and a
 * snapshot records the counts of its time:
 *
 *     replaced    0 ────── A's ──────────── B's ────── now
 *     only A holds         ├── replaced ───┤
 *     A and B hold                          ├─ replaced ┤
 *
 * So the total cost of a cache's holds, sorted by their counts, is the sum of what each one holds
 * up to the next, limited by the size of all objects of its state. This is an upper bound, computed
 * without looking at a tree.
 *
 * When the total exceeds the budget, the oldest holds are revoked first. A cached page
 * (snapshot_cache.c) is dropped, so its continue token expires once the ring no longer reaches back
 * that far; a reader is notified on its loop and drops its snapshot at once.
 *
 * The committer checks when changes may have cost 1/CHECKS of the budget, and periodically. Any
 * thread may hold and release.
 */
#include "apiserver/store/store_internal.h"

/* Bytes of tree nodes that a change copies when it is published alone: see cow_tree.h. */
#define PATH_BYTES ((uint64_t)4096)
/* Bytes of tree nodes per object: see cow_tree.h. */
#define ENTRY_BYTES ((uint64_t)64)
#define CHECKS      64

void kc__store_holds_forget(kc__watch_cache *cache, const kc__store_event *event)
{
    const size_t bytes = event->previous ? kc_object_size(event->previous) : 0;
    cache->forgotten += bytes;
    cache->store->unmeasured += bytes;
}

void kc__store_holds_changed(kc__store *store, size_t changes)
{
    store->unmeasured += changes * PATH_BYTES;
}

/* ---- holding ---- */

/* Call it with `holding` locked. Most holds are of the latest state, so the position is near the
 * end. */
static void insert(kc__watch_cache *cache, kc__store_hold *hold)
{
    kc_dlist_link *after = cache->holds.head.prev;
    while (after != &cache->holds.head &&
           kc_container_of(after, kc__store_hold, in_cache)->counts.replaced >
               hold->counts.replaced)
        after = after->prev;
    kc__dlist_insert_between(after, &hold->in_cache, after->next);
}

/* Complete before the committer can see it. */
static kc__store_hold *hold_new(kc__watch_cache *cache, const kc__cow_snapshot *snapshot,
                                kc__store_hold like)
{
    kc__store_hold *hold = kc_new(kc__store_hold);
    *hold = like;
    kc_ref_init(&hold->refs);
    hold->cache = cache;
    hold->counts = kc__cow_snapshot_counts(snapshot);
    hold->nodes = kc__cow_snapshot_count(snapshot) * ENTRY_BYTES;
    kc_locked (&cache->store->holding) {
        insert(cache, hold);
        kc_dlist_push(&cache->store->holds, &hold->in_store);
        cache->store->n_holds++;
    }
    return hold;
}

kc__store_hold *kc__store_hold_new(kc__watch_cache *cache, const kc__cow_snapshot *snapshot)
{
    return hold_new(cache, snapshot, (kc__store_hold){0});
}

kc__store_hold *kc__store_hold_storage_read(kc__watch_cache *cache,
                                            const kc__cow_snapshot *snapshot, size_t own)
{
    return hold_new(cache, snapshot, (kc__store_hold){.own = own});
}

kc__store_hold *kc__watch_cache_hold(kc__watch_cache *cache, const kc__cow_snapshot *snapshot,
                                     kc__loop *loop, void (*revoked)(void *user), void *user)
{
    return hold_new(cache, snapshot,
                    (kc__store_hold){.loop = loop, .user = user, .revoked = revoked});
}

static void unref(kc__store_hold *hold)
{
    if (kc_ref_drop(&hold->refs))
        free(hold);
}

/* Call it with `holding` locked. */
static void unlink_hold(kc__store_hold *hold)
{
    kc__store *store = hold->cache->store;
    if (!kc_dlist_is_linked(&hold->in_store))
        return;
    kc_dlist_remove(&hold->in_cache);
    kc_dlist_remove(&hold->in_store);
    store->n_holds--;
}

kc__store_hold *kc__store_hold_release(kc__store_hold *hold)
{
    if (!hold)
        return NULL;
    kc_locked (&hold->cache->store->holding)
        unlink_hold(hold);
    hold->revoked = NULL;
    unref(hold);
    return NULL;
}

size_t kc__store_hold_bytes(kc__store_hold *hold)
{
    return hold ? atomic_load_explicit(&hold->cost, memory_order_relaxed) : 0;
}

/* ---- the cost of holds; with `holding` locked ---- */

static uint64_t less(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

static size_t cost_of(const kc__store_hold *hold, kc__cow_counts next, uint64_t forgotten)
{
    uint64_t nodes = less(next.changes, hold->counts.changes) * PATH_BYTES;
    uint64_t objects = less(KC_MIN(next.replaced, forgotten), hold->counts.replaced);
    return hold->own + (size_t)(KC_MIN(nodes, hold->nodes) + KC_MIN(objects, hold->counts.bytes));
}

/* Computes the cost of all holds of a cache, from the newest to the oldest. */
static size_t measure_cache(kc__watch_cache *cache)
{
    kc__cow_counts next = *kc__cow_tree_counts(cache->tree);
    size_t sum = 0;
    for (kc_dlist_link *link = cache->holds.head.prev; link != &cache->holds.head;
         link = link->prev) {
        kc__store_hold *hold = kc_container_of(link, kc__store_hold, in_cache);
        size_t cost = cost_of(hold, next, cache->forgotten);
        atomic_store_explicit(&hold->cost, cost, memory_order_relaxed);
        sum += cost;
        next = hold->counts;
    }
    return sum;
}

/* Measures each cache once, when its oldest hold is reached. */
static size_t measure_all(kc__store *store)
{
    size_t sum = 0;
    kc_dlist_each (&store->holds, kc__store_hold, in_store, hold)
        if (hold->cache->holds.head.next == &hold->in_cache)
            sum += measure_cache(hold->cache);
    return sum;
}

/* ---- the budget; by the committer ---- */

typedef KC_VEC(kc__store_hold *) chosen_holds;

static void notify_hold_revoked(kc__loop_task *task)
{
    kc__store_hold *hold = kc_container_of(task, kc__store_hold, task);
    if (hold->revoked)
        hold->revoked(hold->user);
    unref(hold);
}

/* Removes the oldest holds with a cost from the lists until the rest is within the budget. The
 * references pass to the caller. */
static size_t choose_hold_to_revoke(kc__store *store, size_t sum, size_t budget,
                                    chosen_holds *chosen)
{
    kc_dlist_each (&store->holds, kc__store_hold, in_store, hold) {
        size_t cost = kc__store_hold_bytes(hold);
        if (sum <= budget)
            break;
        if (!cost)
            continue;
        sum -= cost;
        unlink_hold(hold);
        kc_ref_add(&hold->refs);
        kc_vec_push(chosen, hold);
    }
    return sum;
}

static void revoke(kc__store *store, chosen_holds *chosen)
{
    kc_vec_each (chosen, it) {
        kc__store_hold *hold = *it;
        kc_counter_inc(hold->loop ? store->metrics.ended_readers : store->metrics.expired_pages);
        if (hold->loop) {
            hold->task.run = notify_hold_revoked;
            kc__loop_post(hold->loop, &hold->task);
        } else {
            kc__store_snapshot_cache_drop(&hold->cache->snapshots, hold);
            unref(hold);
        }
    }
}

void kc__store_holds_check(kc__store *store, bool now)
{
    bool squeeze = atomic_exchange_explicit(&store->squeezed, false, memory_order_relaxed);
    const size_t budget = squeeze ? 0 : store->opts.snapshot_bytes;
    if (!now && !squeeze && store->unmeasured < store->opts.snapshot_bytes / CHECKS)
        return;
    store->unmeasured = 0;
    chosen_holds chosen = {0};
    size_t sum = 0, n = 0;
    kc_locked (&store->holding) {
        sum = measure_all(store);
        if (sum > budget)
            sum = choose_hold_to_revoke(store, sum, budget, &chosen);
        n = store->n_holds;
    }
    revoke(store, &chosen);
    kc_vec_done(&chosen);
    kc_gauge_set(store->metrics.snapshots, (double)n);
    kc_gauge_set(store->metrics.snapshot_bytes, (double)sum);
    kc__memory_add(store->opts.memory, KC__MEMORY_SNAPSHOTS,
                   (int64_t)sum - (int64_t)store->held_bytes);
    store->held_bytes = sum;
}

void kc__store_revoke_holds(kc__store *store)
{
    atomic_store_explicit(&store->squeezed, true, memory_order_relaxed);
    kc_vec_each (&store->others, other)
        kc__store_revoke_holds(*other);
}
