/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topology.c: builds the topologies of built-in kinds.
 *
 * A server uses few of its kinds, and the graph of a kind with a pod template takes a hundred
 * kilobytes, so a graph is built when the first object of its kind is written. The cache is a hash
 * table of a fixed size, which is several times the number of built-in types. Entries are only ever
 * added, by compare-and-swap: readers take no lock. Two threads that need the same new entry build
 * it twice, and one of the results is freed.
 */
#include "apiserver/kinds/topology.h"

#include "apiserver/codec/type_fields.h"
#include "apiserver/codec/typed.h"

#include <assert.h>
#include <stdatomic.h>

kc__resource_topology *kc__resource_topology_new(kc__fields_types *types,
                                                 const kc__fields_type *type, kc_str empty)
{
    kc__resource_topology *topology = kc_new(kc__resource_topology);
    topology->types = types;
    topology->type = type;
    topology->empty = kc_view_parse(empty, NULL, NULL);
    assert(topology->empty);
    return topology;
}

kc__resource_topology *kc__resource_topology_free(kc__resource_topology *topology)
{
    if (!topology)
        return NULL;
    kc__fields_types_free(topology->types);
    kc_view_free(topology->empty);
    free(topology);
    return NULL;
}

/* ---- built-in types ---- */

enum { SLOTS = 512 };

typedef struct topology_slot {
    _Atomic(const kc__type_message *) type; /* NULL: free. */
    _Atomic(kc__resource_topology *) topology;
} topology_slot;

struct kc__resource_topology_cache {
    topology_slot slots[SLOTS];
};

kc__resource_topology_cache *kc__resource_topology_cache_new(void)
{
    return kc_new(kc__resource_topology_cache);
}

kc__resource_topology_cache *kc__resource_topology_cache_free(kc__resource_topology_cache *cache)
{
    for (size_t i = 0; cache && i < SLOTS; i++)
        kc__resource_topology_free(atomic_load(&cache->slots[i].topology));
    free(cache);
    return NULL;
}

/* The slot of a type, claimed for it if it has none. */
static topology_slot *slot_of(kc__resource_topology_cache *cache, const kc__type_message *type)
{
    size_t at = ((uintptr_t)type >> 4) * 0x9E3779B97F4A7C15u >> 55;
    for (size_t i = 0; i < SLOTS; i++, at++) {
        topology_slot *slot = &cache->slots[at % SLOTS];
        const kc__type_message *holder = atomic_load_explicit(&slot->type, memory_order_acquire);
        if (holder == type ||
            (!holder &&
             (atomic_compare_exchange_strong(&slot->type, &holder, type) || holder == type)))
            return slot;
    }
    assert(!"there are more slots than types");
    return NULL;
}

static kc__resource_topology *build_topology(const kc__type_message *message)
{
    kc__fields_types *types = kc__fields_types_new();
    const kc__fields_type *type = kc__type_fields_add(types, message);
    kc__fields_types_finish(types);
    kc_auto(kc_object) *nothing = kc_object_parse(KC_STR("{}"), NULL, NULL);
    kc_auto(kc_object) *empty = kc__typed_decode(message, nothing, NULL, NULL);
    kc__resource_topology *topology = kc__resource_topology_new(types, type, kc_object_json(empty));
    topology->decoded = true;
    return topology;
}

const kc__resource_topology *kc__resource_topology_cache_get(kc__resource_topology_cache *cache,
                                                             const kc__type_message *type)
{
    topology_slot *slot = slot_of(cache, type);
    kc__resource_topology *known = atomic_load_explicit(&slot->topology, memory_order_acquire);
    if (known)
        return known;
    kc__resource_topology *built = build_topology(type);
    if (atomic_compare_exchange_strong(&slot->topology, &known, built))
        return built;
    kc__resource_topology_free(built);
    return known;
}
