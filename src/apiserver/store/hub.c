/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hub.c: events on their way from the committer to the watchers of a loop.
 *
 *     committer ── one delivery for a batch, shared ──▶ task on each loop concerned ──▶ hub
 *                                                                                       │
 *     section of a cache:   all ─▶ w w w                                             ◀──┘
 *                           by_namespace "default/" ─▶ w w
 *                           by_key "default/web" ─▶ w
 *
 * The step. With `joining` locked the committer sees which loops have watchers of the caches that
 * changed, marks the revision as posted there, and makes it the store's. A watcher joins with
 * `joining` locked too: up to the store's revision it must have read the ring, and of all that
 * follows the committer will know that somebody is there. So there is no gap; and a delivery that
 * is still under way when it joins holds only revisions it has read, which it skips by its
 * position.
 *
 * Bookmarks. A loop that nothing concerns is not woken, yet its watchers may claim the store's
 * newest revision: kc__hub_revision reads that first and then `posted`, which was written
 * before. If `posted` is not beyond what was delivered, nothing up to that revision is still on its
 * way.
 *
 * A delivery first goes to all queues; only then are the owners told. They may start and stop
 * watchers meanwhile.
 */
#include "apiserver/store/store_internal.h"

/* ---- hubs ---- */

static kc__hub *hub_new(kc__store *store, kc__loop *loop)
{
    kc__hub *hub = kc_new(kc__hub);
    kc_ref_init(&hub->refs);
    hub->store = store;
    hub->loop = loop;
    hub->delivered = kc__store_revision(store);
    kc_list_init(&hub->waking);
    return hub;
}

static kc__hub *hub_ref(kc__hub *hub)
{
    kc_ref_add(&hub->refs);
    return hub;
}

static void section_free(kc__section *section)
{
    if (!section)
        return;
    assert(kc_list_empty(&section->all) && !section->by_namespace.n && !section->by_key.n);
    kc_map_done(&section->by_namespace);
    kc_map_done(&section->by_key);
    free(section);
}

kc__hub *kc__hub_unref(kc__hub *hub)
{
    if (hub && kc_ref_drop(&hub->refs)) {
        kc_vec_each (&hub->sections, section)
            section_free(*section);
        kc_vec_done(&hub->sections);
        free(hub);
    }
    return NULL;
}

kc__hub *kc__hub_of(kc__store *store, kc__loop *loop)
{
    kc__hub *found = NULL;
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

uint64_t kc__hub_revision(kc__hub *hub)
{
    const uint64_t revision = kc__store_revision(hub->store);
    if (atomic_load_explicit(&hub->posted, memory_order_relaxed) <= hub->delivered)
        hub->delivered = KC_MAX(hub->delivered, revision);
    return hub->delivered;
}

/* ---- the index of watchers, on the loop's thread ---- */

static kc__section *section_of(kc__hub *hub, const kc__cache *cache)
{
    while (hub->sections.n <= cache->number)
        kc_vec_push(&hub->sections, NULL);
    kc__section **section = &hub->sections.items[cache->number];
    if (!*section) {
        *section = kc_new(kc__section);
        kc_list_init(&(*section)->all);
    }
    return *section;
}

/* The part of a key up to and including its first slash; empty when it has none. */
static kc_str namespace_of(kc_str key)
{
    return kc_str_sub(key, 0, (size_t)(kc_str_find(key, '/') + 1));
}

/* The map that has a list for this interest, and its key there; NULL for the list of all. */
static kc_map *map_for(kc__section *section, const kc__interest *interest, kc_str *ret_key)
{
    *ret_key = interest->key.n ? interest->key : interest->prefix;
    if (interest->key.n)
        return &section->by_key;
    if (interest->prefix.n && kc_str_eq(namespace_of(interest->prefix), interest->prefix))
        return &section->by_namespace;
    return NULL;
}

static kc__watch_list *list_in(kc_map *map, kc_str key)
{
    kc__watch_list *list = kc_map_get(map, key);
    if (list)
        return list;
    list = kc_calloc(1, sizeof(*list) + key.n);
    memcpy(list + 1, key.p, key.n);
    list->key = kc_str_of((const char *)(list + 1), key.n);
    kc_list_init(&list->watchers);
    kc_map_put(map, list->key, list);
    return list;
}

static void enlist(kc__hub *hub, kc__watcher *watcher)
{
    kc__section *section = section_of(hub, watcher->cache);
    kc_str key;
    kc_map *map = map_for(section, &watcher->interest, &key);
    watcher->list = map ? list_in(map, key) : NULL;
    kc_list_push(watcher->list ? &watcher->list->watchers : &section->all, &watcher->link);
}

static void delist(kc__hub *hub, kc__watcher *watcher)
{
    kc_str key;
    kc_map *map = map_for(section_of(hub, watcher->cache), &watcher->interest, &key);
    kc_list_remove(&watcher->link);
    if (watcher->list && kc_list_empty(&watcher->list->watchers)) {
        kc_map_remove(map, key);
        free(watcher->list);
    }
    watcher->list = NULL;
}

/* ---- joining and leaving ---- */

/* With `joining` locked. */
static kc__audience *audience_of(kc__cache *cache, kc__hub *hub)
{
    kc_vec_each (&cache->audience, audience)
        if (audience->hub == hub)
            return audience;
    kc_vec_push(&cache->audience, (kc__audience){.hub = hub});
    return kc_vec_last(&cache->audience);
}

bool kc__hub_join(kc__hub *hub, kc__watcher *watcher)
{
    bool joined = false;
    kc_locked (&hub->store->joining) {
        const uint64_t revision = kc__store_revision(hub->store);
        joined = kc__ring_is_read(&watcher->cache->ring, watcher->position, revision);
        if (joined) {
            audience_of(watcher->cache, hub)->watchers++;
            watcher->position = KC_MAX(watcher->position, revision);
        }
    }
    if (joined)
        enlist(hub, watcher);
    return joined;
}

void kc__hub_leave(kc__hub *hub, kc__watcher *watcher)
{
    delist(hub, watcher);
    kc_locked (&hub->store->joining)
        audience_of(watcher->cache, hub)->watchers--;
}

/* ---- deliveries ---- */

typedef struct parcel {
    size_t cache; /* Its number. */
    kc__event *event;
} parcel;

/* The events of a batch, shared by the hubs. */
typedef struct delivery {
    kc_ref refs;
    uint64_t revision;
    size_t n;
    parcel parcels[];
} delivery;

/* A delivery to one hub. */
typedef struct errand {
    kc__task task;
    kc__hub *hub;
    delivery *delivery;
} errand;

static delivery *delivery_new(const kc__batch *batch)
{
    delivery *d = kc_alloc(sizeof(*d) + batch->changes.n * sizeof(parcel));
    kc_ref_init(&d->refs);
    d->revision = batch->revision;
    d->n = batch->changes.n;
    for (size_t i = 0; i < d->n; i++)
        d->parcels[i] = (parcel){.cache = batch->changes.items[i].cache->number,
                                 .event = kc__event_ref(batch->changes.items[i].event)};
    return d;
}

static void delivery_unref(delivery *d)
{
    if (!kc_ref_drop(&d->refs))
        return;
    for (size_t i = 0; i < d->n; i++)
        kc__event_unref(d->parcels[i].event);
    free(d);
}

static void offer_to_list(kc_list *watchers, const kc__event *event)
{
    kc_list_each (watchers, kc__watcher, link, watcher)
        kc__watcher_offer(watcher, event);
}

static void offer_to_map(kc_map *map, kc_str key, const kc__event *event)
{
    kc__watch_list *list = map->n ? kc_map_get(map, key) : NULL;
    if (list)
        offer_to_list(&list->watchers, event);
}

static void hand_out(kc__hub *hub, const parcel *p)
{
    kc__section *section = p->cache < hub->sections.n ? hub->sections.items[p->cache] : NULL;
    if (!section)
        return;
    const kc_str key = kc__event_key(p->event);
    offer_to_list(&section->all, p->event);
    offer_to_map(&section->by_namespace, namespace_of(key), p->event);
    offer_to_map(&section->by_key, key, p->event);
}

static void wake(kc__hub *hub)
{
    for (kc_link *link; (link = kc_list_pop(&hub->waking));) {
        kc__watcher *watcher = kc_container_of(link, kc__watcher, waking);
        watcher->ready(watcher->user);
    }
}

static void run_errand(kc__task *task)
{
    errand *e = kc_container_of(task, errand, task);
    for (size_t i = 0; i < e->delivery->n; i++)
        hand_out(e->hub, &e->delivery->parcels[i]);
    e->hub->delivered = e->delivery->revision;
    wake(e->hub);
    delivery_unref(e->delivery);
    kc__hub_unref(e->hub);
    free(e);
}

static void post(kc__hub *hub, delivery *d)
{
    errand *e = kc_new(errand);
    kc_ref_add(&d->refs);
    *e = (errand){.task = {.run = run_errand}, .hub = hub_ref(hub), .delivery = d};
    kc__loop_post(hub->loop, &e->task);
}

/* Marks the hubs that somebody watches a changed cache at. With `joining` locked. */
static bool mark_hubs(const kc__batch *batch)
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

void kc__hubs_tell(kc__store *store, const kc__batch *batch)
{
    bool any = false;
    kc_locked (&store->joining) {
        any = mark_hubs(batch);
        atomic_store_explicit(&store->revision, batch->revision, memory_order_release);
    }
    if (!any)
        return;
    delivery *d = delivery_new(batch);
    for (size_t i = 0;; i++) {
        kc__hub *hub = NULL;
        kc_locked (&store->joining)
            hub = i < store->hubs.n ? store->hubs.items[i] : NULL;
        if (!hub)
            break;
        if (hub->marked)
            post(hub, d);
        hub->marked = false;
    }
    delivery_unref(d);
}
