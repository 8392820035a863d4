/* SPDX-License-Identifier: Apache-2.0 */
/*
 * object_store.c: a hash table that stores no keys.
 *
 *     slots: [ id, hash │ … ]   ──►   pages: [ object │ object │ … ]   by id
 *
 * An object contains its namespace and name, so a slot holds only the object's id and 32 bits of
 * the hash, which avoid nearly every comparison with a wrong object. Linear probing, at most seven
 * eighths full (memory matters more here than a few probes of eight-byte slots); a removal moves
 * the following slots up, so there are no tombstones. Ids are reused, the last freed first.
 *
 * A snapshot is ordered by id: the order depends on puts and removals, not on hashes.
 */
#include "runtime/cache/object_store.h"

#include <assert.h>

enum { SLOTS_AT_FIRST = 16 };

void kc__cache_store_init(kc__cache_store *store, uint64_t seed, const kc__index_def *defs,
                          size_t n_defs)
{
    *store = (kc__cache_store){.pages = kc__cache_pages_new(), .seed = seed, .n_indexes = n_defs};
    store->slots_mask = SLOTS_AT_FIRST - 1;
    store->slots = kc_calloc(SLOTS_AT_FIRST, sizeof(kc__cache_store_slot));
    store->indexes = kc_calloc(n_defs, sizeof(kc__index));
    for (size_t i = 0; i < n_defs; i++)
        store->indexes[i].def = defs[i];
}

void kc__cache_store_done(kc__cache_store *store)
{
    for (size_t i = 0; i < store->n_indexes; i++)
        kc__index_done(&store->indexes[i]);
    free(store->indexes);
    free(store->slots);
    free(store->marks);
    kc_vec_done(&store->free_ids);
    kc__cache_pages_unref(store->pages);
    *store = (kc__cache_store){0};
}

/* ---- slots ---- */

static uint32_t object_store_hash_of(const kc__cache_store *store, kc_key key)
{
    uint64_t hash = kc_str_hash(key.name, kc_str_hash(key.ns, store->seed));
    return (uint32_t)(hash ^ (hash >> 32));
}

static kc_object *object_in(const kc__cache_store *store, const kc__cache_store_slot *slot)
{
    return kc__cache_pages_at(store->pages, slot->id_plus_one - 1);
}

/* The slot of the key, or the free slot where it belongs. */
static uint32_t object_store_slot_of(const kc__cache_store *store, kc_key key, uint32_t hash)
{
    uint32_t at = hash & store->slots_mask;
    for (;; at = (at + 1) & store->slots_mask) {
        const kc__cache_store_slot *slot = &store->slots[at];
        if (!slot->id_plus_one)
            return at;
        if (slot->hash == hash && kc_key_eq(kc_object_key(object_in(store, slot)), key))
            return at;
    }
}

static void object_store_grow(kc__cache_store *store)
{
    kc__cache_store_slot *old = store->slots;
    const uint32_t n_old = store->slots_mask + 1;
    store->slots_mask = n_old * 2 - 1;
    store->slots = kc_calloc((size_t)n_old * 2, sizeof(kc__cache_store_slot));
    for (uint32_t i = 0; i < n_old; i++) {
        if (!old[i].id_plus_one)
            continue;
        uint32_t at = old[i].hash & store->slots_mask;
        while (store->slots[at].id_plus_one)
            at = (at + 1) & store->slots_mask;
        store->slots[at] = old[i];
    }
    free(old);
}

static void free_slot(kc__cache_store *store, uint32_t hole)
{
    const uint32_t mask = store->slots_mask;
    for (uint32_t at = (hole + 1) & mask; store->slots[at].id_plus_one; at = (at + 1) & mask) {
        if (((at - store->slots[at].hash) & mask) < ((at - hole) & mask))
            continue; /* It would move before its home slot. */
        store->slots[hole] = store->slots[at];
        hole = at;
    }
    store->slots[hole] = (kc__cache_store_slot){0};
}

/* ---- marks ---- */

static void object_store_mark(kc__cache_store *store, uint32_t id)
{
    const size_t word = id / 64;
    if (word >= store->n_marks) {
        const size_t n = KC_MAX(word + 1, store->n_marks * 2);
        store->marks = kc_reallocarray(store->marks, n, sizeof(uint64_t));
        memset(store->marks + store->n_marks, 0, (n - store->n_marks) * sizeof(uint64_t));
        store->n_marks = n;
    }
    store->marks[word] |= UINT64_C(1) << id % 64;
}

static bool object_store_is_marked(const kc__cache_store *store, uint32_t id)
{
    return store->marks[id / 64] >> id % 64 & 1;
}

static bool object_store_is_in(const kc__cache_store *store, uint32_t id, kc_str ns)
{
    const kc_object *object = kc__cache_pages_at(store->pages, id);
    return object && (!ns.n || kc_str_eq(kc_object_namespace(object), ns));
}

void kc__cache_store_unmark(kc__cache_store *store, kc_str ns)
{
    for (uint32_t id = 0; id < store->pages->n; id++)
        if (object_store_is_in(store, id, ns))
            store->marks[id / 64] &= ~(UINT64_C(1) << id % 64);
}

void kc__cache_store_unmarked(const kc__cache_store *store, kc_str ns, kc__cache_object_vec *ret)
{
    for (uint32_t id = 0; id < store->pages->n; id++)
        if (object_store_is_in(store, id, ns) && !object_store_is_marked(store, id))
            kc_vec_push(ret, kc_object_ref(kc__cache_pages_at(store->pages, id)));
}

/* ---- objects ---- */

kc_object *kc__cache_store_get(const kc__cache_store *store, kc_key key)
{
    const kc__cache_store_slot *slot =
        &store->slots[object_store_slot_of(store, key, object_store_hash_of(store, key))];
    return slot->id_plus_one ? object_in(store, slot) : NULL;
}

static uint32_t new_id(kc__cache_store *store)
{
    return store->free_ids.n ? kc_vec_pop(&store->free_ids) : store->pages->n;
}

/* A slot for a key that is not in the table yet. */
static kc__cache_store_slot *new_slot(kc__cache_store *store, kc_key key, uint32_t hash)
{
    if ((store->n + 1) * 8 > ((size_t)store->slots_mask + 1) * 7)
        object_store_grow(store);
    kc__cache_store_slot *slot = &store->slots[object_store_slot_of(store, key, hash)];
    *slot = (kc__cache_store_slot){.id_plus_one = new_id(store) + 1, .hash = hash};
    store->n++;
    return slot;
}

void kc__cache_store_values(const kc__cache_store *store, const kc_object *object,
                            kc__index_values *ret)
{
    kc__index_values_clear(ret);
    for (size_t i = 0; object && i < store->n_indexes; i++)
        kc__index_values_collect(ret, (uint32_t)i, &store->indexes[i].def, object);
}

static void unindex(kc__cache_store *store, const kc__index_values *values, uint32_t id)
{
    kc_vec_each (&values->list, it)
        kc__index_remove(&store->indexes[it->index], kc__index_value_text(values, it), id);
}

static void reindex(kc__cache_store *store, const kc__index_values *before,
                    const kc__index_values *after, uint32_t id)
{
    if (kc__index_values_eq(before, after))
        return;
    unindex(store, before, id);
    kc_vec_each (&after->list, it)
        kc__index_add(&store->indexes[it->index], kc__index_value_text(after, it), id);
}

kc_object *kc__cache_store_put(kc__cache_store *store, kc_object *object,
                               const kc__index_values *before, const kc__index_values *after)
{
    const kc_key key = kc_object_key(object);
    const uint32_t hash = object_store_hash_of(store, key);
    kc__cache_store_slot *slot = &store->slots[object_store_slot_of(store, key, hash)];
    if (!slot->id_plus_one)
        slot = new_slot(store, key, hash);
    const uint32_t id = slot->id_plus_one - 1;
    object_store_mark(store, id);
    reindex(store, before, after, id);
    return kc__cache_pages_set(&store->pages, id, object);
}

kc_object *kc__cache_store_remove(kc__cache_store *store, kc_key key,
                                  const kc__index_values *before)
{
    const uint32_t at = object_store_slot_of(store, key, object_store_hash_of(store, key));
    if (!store->slots[at].id_plus_one)
        return NULL;
    const uint32_t id = store->slots[at].id_plus_one - 1;
    free_slot(store, at);
    unindex(store, before, id);
    kc_vec_push(&store->free_ids, id);
    store->n--;
    return kc__cache_pages_set(&store->pages, id, NULL);
}

void kc__cache_store_mark(kc__cache_store *store, kc_key key)
{
    const kc__cache_store_slot *slot =
        &store->slots[object_store_slot_of(store, key, object_store_hash_of(store, key))];
    if (slot->id_plus_one)
        object_store_mark(store, slot->id_plus_one - 1);
}

kc__cache_pages *kc__cache_store_snapshot(const kc__cache_store *store)
{
    return kc__cache_pages_ref(store->pages);
}

const kc__index *kc__cache_store_index(const kc__cache_store *store, kc_str name)
{
    for (size_t i = 0; i < store->n_indexes; i++)
        if (kc_str_is(name, store->indexes[i].def.name))
            return &store->indexes[i];
    return NULL;
}
