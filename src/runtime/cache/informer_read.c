/* SPDX-License-Identifier: Apache-2.0 */
/*
 * informer_read.c: reads of an informer: the cache store, with the client's own writes laid over
 * it.
 *
 * Under the lock a read takes only three things: a snapshot of the store (one reference), the ids
 * of an index, and the own writes that change the result, which are few or none. Filtering and
 * reference counting happen after unlocking, so a list of a hundred thousand objects does not delay
 * the informer. A list is consistent: all of it is from one moment.
 */
#include "runtime/cache/informer_internal.h"

/* An own write in a list. */
typedef struct informer_read_overlay {
    kc_object *object; /* A reference, or NULL. */
    bool in_index;     /* It has the index value of the query. */
} informer_read_overlay;

/* What a list takes under the lock. */
typedef struct picture {
    kc__cache_pages *pages;
    kc__index_id_vec ids;
    bool by_ids;
    uint64_t revision;
    kc_arena arena;
    kc_map covered; /* Keys whose cached object must not be returned; values are overlays. */
} picture;

static void picture_done(picture *p)
{
    kc_map_each (&p->covered, entry)
        kc_object_unref(((informer_read_overlay *)entry->value)->object);
    kc_map_done(&p->covered);
    kc_arena_done(&p->arena);
    kc_vec_done(&p->ids);
    kc__cache_pages_unref(p->pages);
}

bool kc__informer_has_namespace(const kc_informer *i, kc_str ns)
{
    if (i->n_origins == 1 && !i->origins[0].scope.ns)
        return true;
    return !ns.n || kc__informer_reflector_for((kc_informer *)i, ns) != NULL;
}

bool kc__informer_has_index(const kc_informer *informer, kc_str name)
{
    kc_informer *i = (kc_informer *)informer;
    bool has = false;
    kc_locked (&i->mutex)
        has = kc__cache_store_index(&i->store, name) != NULL;
    return has;
}

/* Call it with the lock held. Returns the number of expired own writes that a reader may have
 * relied on. */
static size_t expire_own_writes(kc_informer *i, kc__informer_source *origin, kc_buf *ret_key)
{
    if (kc__overlay_empty(&origin->own))
        return 0;
    return kc__overlay_expire(&origin->own, kc_clock_now(i->opts.clock), ret_key);
}

static void log_expired(kc_informer *i, size_t n, kc_buf *key)
{
    if (!n)
        return;
    kc_counter_add(i->metrics.expired_writes, (double)n);
    kc_log_warn(i->opts.log, "read-your-writes overlay expired; reads may be stale",
                kc_kv("resource", i->opts.kind->plural), kc_kv("count", n),
                kc_kv("key", kc_buf_cstr(key)));
}

kc_object *kc__informer_get(kc_informer *i, kc_key key)
{
    kc_object *found = NULL;
    kc_scoped(kc_buf) expired = {0};
    size_t n_expired = 0;
    kc__informer_source *origin = kc__informer_reflector_for(i, key.ns);
    if (!origin)
        return NULL;
    kc_locked (&i->mutex) {
        n_expired = expire_own_writes(i, origin, &expired);
        const kc_object *kept = kc__cache_store_get(&i->store, key);
        found = kc_object_ref(kc__overlay_lookup(&origin->own, key, kept));
    }
    log_expired(i, n_expired, &expired);
    return found;
}

/* ---- list ---- */

static void cover(picture *p, const kc__overlay_entry *write, const kc_object *shown, bool in_index)
{
    kc_scoped(kc_buf) key = {0};
    kc_key_write(&key, write->key);
    informer_read_overlay *o = kc_arena_new(&p->arena, informer_read_overlay);
    *o = (informer_read_overlay){kc_object_ref(shown), in_index};
    kc_map_put(&p->covered, kc_arena_str(&p->arena, kc_buf_str(&key)), o);
}

static void take_own_writes(kc_informer *i, kc__informer_source *origin,
                            const kc__cache_query *query, const kc__index *index, picture *p)
{
    kc_dlist_each (&origin->own.ordered, kc__overlay_entry, link, write) {
        const kc_object *kept = kc__cache_store_get(&i->store, write->key);
        const kc_object *shown = kc__overlay_entry_over(write, kept);
        if (shown == kept)
            continue;
        const bool in_index =
            !index || kc__index_values_have(&write->values, (uint32_t)(index - i->store.indexes),
                                            query->value);
        cover(p, write, shown, in_index);
    }
}

/* The ids that a query has to examine, or all. Call it with the lock held. */
static void take_ids(kc_informer *i, const kc__cache_query *query, const kc__index *index,
                     picture *p)
{
    p->by_ids = true;
    if (index)
        kc__index_ids(index, query->value, &p->ids);
    else if (query->ns.n && i->opts.kind->namespaced)
        kc__index_ids(&i->store.indexes[0], query->ns, &p->ids);
    else
        p->by_ids = false;
}

static int take_picture(kc_informer *i, const kc__cache_query *query, picture *p, kc_error *err)
{
    kc_scoped(kc_buf) expired = {0};
    size_t n_expired = 0;
    kc_locked (&i->mutex) {
        const kc__index *index =
            query->index.p ? kc__cache_store_index(&i->store, query->index) : NULL;
        if (query->index.p && !index)
            return kc_error_set(err, KC_BAD_REQUEST, "the cache of %s has no index \"%.*s\"",
                                i->opts.kind->plural, KC_ARG(query->index));
        p->pages = kc__cache_store_snapshot(&i->store);
        p->revision = UINT64_MAX;
        take_ids(i, query, index, p);
        for (size_t k = 0; k < i->n_origins; k++) {
            n_expired += expire_own_writes(i, &i->origins[k], &expired);
            take_own_writes(i, &i->origins[k], query, index, p);
            p->revision = KC_MIN(p->revision, i->origins[k].revision);
        }
    }
    log_expired(i, n_expired, &expired);
    return 0;
}

static bool matches(const kc__cache_query *query, const kc_object *object)
{
    if (query->ns.n && !kc_str_eq(kc_object_namespace(object), query->ns))
        return false;
    if (!kc_selector_match(query->labels, object))
        return false;
    return !query->fields ||
           kc_field_selector_match_object(query->fields, query->field_paths, object);
}

static void select_object(const kc__cache_query *query, const kc_object *object,
                          kc__cache_object_vec *ret)
{
    if (object && ret->n < query->limit && matches(query, object))
        kc_vec_push(ret, kc_object_ref(object));
}

static bool is_covered(const picture *p, const kc_object *object, kc_buf *scratch)
{
    if (!p->covered.n || !object)
        return false;
    kc_buf_clear(scratch);
    kc_key_write(scratch, kc_object_key(object));
    return kc_map_get(&p->covered, kc_buf_str(scratch)) != NULL;
}

static void select_kept(const kc__cache_query *query, const picture *p, kc__cache_object_vec *ret)
{
    kc_scoped(kc_buf) scratch = {0};
    const size_t n = p->by_ids ? p->ids.n : p->pages->n;
    for (size_t at = 0; at < n && ret->n < query->limit; at++) {
        const uint32_t id = p->by_ids ? p->ids.items[at] : (uint32_t)at;
        const kc_object *object = kc__cache_pages_at(p->pages, id);
        if (!is_covered(p, object, &scratch))
            select_object(query, object, ret);
    }
}

int kc__informer_list(kc_informer *i, const kc__cache_query *query, kc__cache_object_vec *ret,
                      uint64_t *ret_revision, kc_error *err)
{
    picture p = {0};
    int failed = take_picture(i, query, &p, err);
    if (failed == 0) {
        kc_map_each (&p.covered, entry) {
            const informer_read_overlay *o = entry->value;
            if (o->in_index)
                select_object(query, o->object, ret);
        }
        select_kept(query, &p, ret);
        *ret_revision = p.revision;
    }
    picture_done(&p);
    return failed;
}
