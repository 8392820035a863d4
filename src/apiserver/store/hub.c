/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hub.c: delivers events from the committer to the watchers of an event loop.
 *
 *     committer ── one delivery per batch, shared ──▶ task on each loop concerned ──▶ hub
 *                                                                                      │
 *     section of a cache:   all ─▶ w w w                                          ◀────┘
 *                           by_namespace "default/" ─▶ w w
 *                           by_key "default/web" ─▶ w
 *
 * Joining. The committer locks `joining`, finds the loops with watchers of the changed caches,
 * records the revision as posted in their hubs, and advances the store's revision to it. A watcher
 * joins with `joining` locked too: it must have read the ring up to the store's revision, and the
 * committer sees it for every later change. So no event is missed. A delivery that is in flight
 * when a watcher joins contains only revisions that the watcher has read; the watcher skips them by
 * its position.
 *
 * Bookmarks. A loop without watchers of the changed caches is not woken, yet its watchers may
 * report the store's latest revision: kc__store_watch_hub_revision loads that revision first and
 * then `posted`, which was written before it. If `posted` is not beyond the delivered revision, no
 * event up to that revision is in flight.
 *
 * A delivery first fills all queues; then the hub calls `ready` of the watchers, whose owners may
 * start and stop watchers in that callback. It calls WAKE_STEP of them, lets their connections
 * send, and continues: the memory of a few connections fits into the processor's cache, that of all
 * watchers does not, and other connections of the loop get their turn in between.
 *
 * Threads: the committer creates and posts deliveries; sections, lists and queues belong to the
 * loop's thread.
 */
#include "apiserver/store/store_internal.h"

/* Watchers that are woken at once. */
#define WAKE_STEP 32

/* ---- hubs ---- */

static void run_wake_more(kc__loop_task *task);

static kc__store_watch_hub *hub_new(kc__store *store, kc__loop *loop)
{
    kc__store_watch_hub *hub = kc_new(kc__store_watch_hub);
    kc_ref_init(&hub->refs);
    hub->store = store;
    hub->loop = loop;
    hub->delivered = kc__store_revision(store);
    kc_dlist_init(&hub->waking);
    hub->wake_more.run = run_wake_more;
    return hub;
}

static kc__store_watch_hub *hub_ref(kc__store_watch_hub *hub)
{
    kc_ref_add(&hub->refs);
    return hub;
}

static void section_free(kc__store_watch_section *section)
{
    if (!section)
        return;
    assert(kc_dlist_empty(&section->all) && !section->by_namespace.n && !section->by_key.n);
    kc_map_done(&section->by_namespace);
    kc_map_done(&section->by_key);
    free(section);
}

kc__store_watch_hub *kc__store_watch_hub_unref(kc__store_watch_hub *hub)
{
    if (hub && kc_ref_drop(&hub->refs)) {
        kc_vec_each (&hub->sections, section)
            section_free(*section);
        kc_vec_done(&hub->sections);
        kc_vec_done(&hub->awaiting);
        free(hub);
    }
    return NULL;
}

kc__store_watch_hub *kc__store_watch_hub_of(kc__store *store, kc__loop *loop)
{
    kc__store_watch_hub *found = NULL;
    kc_locked (&store->joining) {
        kc_vec_each (&store->hubs, hub)
            if ((*hub)->loop == loop)
                found = *hub;
        if (!found) {
            found = hub_new(store, loop);
            kc_vec_push(&store->hubs, found);
        }
        hub_ref(found);
    }
    return found;
}

uint64_t kc__store_watch_hub_revision(kc__store_watch_hub *hub)
{
    const uint64_t revision = kc__store_revision(hub->store);
    if (atomic_load_explicit(&hub->posted, memory_order_relaxed) <= hub->delivered)
        hub->delivered = KC_MAX(hub->delivered, revision);
    return hub->delivered;
}

/* ---- the index of watchers, on the loop's thread ---- */

static kc__store_watch_section *section_of(kc__store_watch_hub *hub, const kc__watch_cache *cache)
{
    while (hub->sections.n <= cache->number)
        kc_vec_push(&hub->sections, NULL);
    kc__store_watch_section **section = &hub->sections.items[cache->number];
    if (!*section) {
        *section = kc_new(kc__store_watch_section);
        kc_dlist_init(&(*section)->all);
    }
    return *section;
}

/* The part of a key up to and including its first slash; empty if there is none. */
static kc_str namespace_of(kc_str key)
{
    return kc_str_sub(key, 0, (size_t)(kc_str_find(key, '/') + 1));
}

/* The map with the list for this key filter, and its key there; NULL for the list `all`. */
static kc_map *map_for(kc__store_watch_section *section, const kc__store_key_filter *interest,
                       kc_str *ret_key)
{
    *ret_key = interest->key.n ? interest->key : interest->prefix;
    if (interest->key.n)
        return &section->by_key;
    if (interest->prefix.n && kc_str_eq(namespace_of(interest->prefix), interest->prefix))
        return &section->by_namespace;
    return NULL;
}

static kc__store_watch_list *list_in(kc_map *map, kc_str key)
{
    kc__store_watch_list *list = kc_map_get(map, key);
    if (list)
        return list;
    list = kc_calloc(1, sizeof(*list) + key.n);
    memcpy(list + 1, key.p, key.n);
    list->key = kc_str_of((const char *)(list + 1), key.n);
    kc_dlist_init(&list->watchers);
    kc_map_put(map, list->key, list);
    return list;
}

static void enlist(kc__store_watch_hub *hub, kc__store_watcher *watcher)
{
    kc__store_watch_section *section = section_of(hub, watcher->cache);
    kc_str key;
    kc_map *map = map_for(section, &watcher->interest, &key);
    watcher->list = map ? list_in(map, key) : NULL;
    kc_dlist_push(watcher->list ? &watcher->list->watchers : &section->all, &watcher->link);
}

static void delist(kc__store_watch_hub *hub, kc__store_watcher *watcher)
{
    kc_str key;
    kc_map *map = map_for(section_of(hub, watcher->cache), &watcher->interest, &key);
    kc_dlist_remove(&watcher->link);
    if (watcher->list && kc_dlist_empty(&watcher->list->watchers)) {
        kc_map_remove(map, key);
        free(watcher->list);
    }
    watcher->list = NULL;
}

/* ---- joining and leaving ---- */

/* Call it with `joining` locked. */
static kc__store_watch_audience *audience_of(kc__watch_cache *cache, kc__store_watch_hub *hub)
{
    kc_vec_each (&cache->audience, audience)
        if (audience->hub == hub)
            return audience;
    kc_vec_push(&cache->audience, (kc__store_watch_audience){.hub = hub});
    return kc_vec_last(&cache->audience);
}

bool kc__store_watch_hub_join(kc__store_watch_hub *hub, kc__store_watcher *watcher)
{
    bool joined = false;
    kc_locked (&hub->store->joining) {
        const uint64_t revision = kc__store_revision(hub->store);
        joined = kc__store_ring_is_read(&watcher->cache->ring, watcher->position, revision);
        if (joined) {
            audience_of(watcher->cache, hub)->watchers++;
            watcher->position = KC_MAX(watcher->position, revision);
        }
    }
    if (joined)
        enlist(hub, watcher);
    return joined;
}

void kc__store_watch_hub_leave(kc__store_watch_hub *hub, kc__store_watcher *watcher)
{
    delist(hub, watcher);
    kc_locked (&hub->store->joining)
        audience_of(watcher->cache, hub)->watchers--;
}

/* ---- deliveries ---- */

typedef struct hub_change {
    size_t cache; /* The cache's number. */
    kc__store_event *event;
} hub_change;

/* The events of a batch, shared by the hubs. */
typedef struct delivery {
    kc_ref refs;
    uint64_t revision;
    size_t n;
    hub_change changes[];
} delivery;

/* A delivery to one hub. */
typedef struct delivery_task {
    kc__loop_task task;
    kc__store_watch_hub *hub;
    delivery *delivery;
} delivery_task;

static delivery *delivery_new(const kc__store_batch *batch)
{
    delivery *d = kc_alloc(sizeof(*d) + batch->changes.n * sizeof(hub_change));
    kc_ref_init(&d->refs);
    d->revision = batch->revision;
    d->n = batch->changes.n;
    for (size_t i = 0; i < d->n; i++)
        d->changes[i] = (hub_change){.cache = batch->changes.items[i].cache->number,
                                     .event = kc__store_event_ref(batch->changes.items[i].event)};
    return d;
}

static void delivery_unref(delivery *d)
{
    if (!kc_ref_drop(&d->refs))
        return;
    for (size_t i = 0; i < d->n; i++)
        kc__store_event_unref(d->changes[i].event);
    free(d);
}

static void offer_to_list(kc_dlist *watchers, const kc__store_event *event)
{
    kc_dlist_each (watchers, kc__store_watcher, link, watcher)
        kc__store_watcher_offer(watcher, event);
}

static void offer_to_map(kc_map *map, kc_str key, const kc__store_event *event)
{
    kc__store_watch_list *list = map->n ? kc_map_get(map, key) : NULL;
    if (list)
        offer_to_list(&list->watchers, event);
}

static void offer_change(kc__store_watch_hub *hub, const hub_change *change)
{
    kc__store_watch_section *section =
        change->cache < hub->sections.n ? hub->sections.items[change->cache] : NULL;
    if (!section)
        return;
    const kc_str key = kc__store_event_key(change->event);
    offer_to_list(&section->all, change->event);
    offer_to_map(&section->by_namespace, namespace_of(key), change->event);
    offer_to_map(&section->by_key, key, change->event);
}

/* Wakes the next watchers; posts a task for the rest, which runs after their connections. */
static void wake_watchers(kc__store_watch_hub *hub)
{
    kc_dlist_link *link;
    for (size_t i = 0; i < WAKE_STEP && (link = kc_dlist_pop(&hub->waking)); i++) {
        kc__store_watcher *watcher = kc_container_of(link, kc__store_watcher, waking);
        watcher->ready(watcher->user);
    }
    if (hub->waking_more || kc_dlist_empty(&hub->waking))
        return;
    hub->waking_more = true;
    kc__loop_post(hub->loop, &hub_ref(hub)->wake_more);
}

static void run_wake_more(kc__loop_task *task)
{
    kc__store_watch_hub *hub = kc_container_of(task, kc__store_watch_hub, wake_more);
    hub->waking_more = false;
    wake_watchers(hub);
    kc__store_watch_hub_unref(hub);
}

static void post_awaiting(kc__store_watch_hub *hub)
{
    kc_vec_each (&hub->awaiting, task)
        kc__loop_post(hub->loop, *task);
    kc_vec_clear(&hub->awaiting);
}

static void run_delivery(kc__loop_task *task)
{
    delivery_task *posted = kc_container_of(task, delivery_task, task);
    for (size_t i = 0; i < posted->delivery->n; i++)
        offer_change(posted->hub, &posted->delivery->changes[i]);
    posted->hub->delivered = posted->delivery->revision;
    wake_watchers(posted->hub);
    post_awaiting(posted->hub);
    delivery_unref(posted->delivery);
    kc__store_watch_hub_unref(posted->hub);
    free(posted);
}

static void post(kc__store_watch_hub *hub, delivery *d)
{
    delivery_task *posted = kc_new(delivery_task);
    kc_ref_add(&d->refs);
    *posted = (delivery_task){.task = {.run = run_delivery}, .hub = hub_ref(hub), .delivery = d};
    kc__loop_post(hub->loop, &posted->task);
}

/* ---- expiry ---- */

typedef struct expiry_task {
    kc__loop_task task;
    kc__store_watch_hub *hub;
    uint64_t revision;
} expiry_task;

static void expire_list(kc_dlist *watchers)
{
    kc_dlist_each (watchers, kc__store_watcher, link, watcher)
        kc__store_watcher_expire(watcher);
}

static void expire_map(kc_map *map)
{
    kc_map_each (map, entry)
        expire_list(&((kc__store_watch_list *)entry->value)->watchers);
}

static void run_expiry(kc__loop_task *task)
{
    expiry_task *posted = kc_container_of(task, expiry_task, task);
    kc_vec_each (&posted->hub->sections, section)
        if (*section) {
            expire_list(&(*section)->all);
            expire_map(&(*section)->by_namespace);
            expire_map(&(*section)->by_key);
        }
    posted->hub->delivered = posted->revision;
    wake_watchers(posted->hub);
    post_awaiting(posted->hub);
    kc__store_watch_hub_unref(posted->hub);
    free(posted);
}

static kc__store_watch_hub *hub_at(kc__store *store, size_t i)
{
    kc__store_watch_hub *hub = NULL;
    kc_locked (&store->joining)
        hub = i < store->hubs.n ? store->hubs.items[i] : NULL;
    return hub;
}

/* `posted` keeps watchers from reporting the new revision before they have expired. */
void kc__store_watch_hubs_expire(kc__store *store, uint64_t revision)
{
    kc_locked (&store->joining) {
        kc_vec_each (&store->hubs, hub)
            atomic_store_explicit(&(*hub)->posted, revision, memory_order_relaxed);
        atomic_store_explicit(&store->revision, revision, memory_order_release);
    }
    kc__store_watch_hub *hub;
    for (size_t i = 0; (hub = hub_at(store, i)); i++) {
        expiry_task *posted = kc_new(expiry_task);
        *posted =
            (expiry_task){.task = {.run = run_expiry}, .hub = hub_ref(hub), .revision = revision};
        kc__loop_post(hub->loop, &posted->task);
    }
}

/* ---- notification ---- */

/* Marks the hubs with watchers of a changed cache. Call it with `joining` locked. */
static bool mark_hubs(const kc__store_batch *batch)
{
    bool any = false;
    kc_vec_each (&batch->changed, cache)
        kc_vec_each (&(*cache)->audience, audience)
            if (audience->watchers) {
                audience->hub->marked = any = true;
                atomic_store_explicit(&audience->hub->posted, batch->revision,
                                      memory_order_relaxed);
            }
    return any;
}

void kc__store_watch_hubs_notify(kc__store *store, const kc__store_batch *batch)
{
    bool any = false;
    kc_locked (&store->joining) {
        any = mark_hubs(batch);
        atomic_store_explicit(&store->revision, batch->revision, memory_order_release);
    }
    if (!any)
        return;
    delivery *d = delivery_new(batch);
    kc__store_watch_hub *hub;
    for (size_t i = 0; (hub = hub_at(store, i)); i++) {
        if (hub->marked)
            post(hub, d);
        hub->marked = false;
    }
    delivery_unref(d);
}
