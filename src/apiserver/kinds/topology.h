/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topology.h: the topology of a kind in one version: which of its fields have owners of their own,
 * and what an empty object is. Field ownership and server-side apply need both (request/own.h).
 *
 * Topologies of built-in kinds are built when first needed and kept in a cache, those of custom
 * resources with their CRD. A topology is immutable; any thread may use it.
 */
#ifndef KC_APISERVER_TOPOLOGY_H
#define KC_APISERVER_TOPOLOGY_H

#include "apiserver/kinds/resource.h"
#include "kc/arena.h"
#include "object/fields/fields_updater.h"

typedef struct kc__resource_topology {
    kc__fields_types *types;     /* Owned. */
    const kc__fields_type *type; /* Of the object. */
    kc_view *empty;              /* An object without content, as the decoder makes it. */
    bool decoded; /* Decoding makes objects valid for the type; others are to be checked. */
} kc__resource_topology;

/* The topology of a type whose graph is finished; takes over the reference to the graph. `empty` is
 * the JSON of the empty object. */
kc__resource_topology *kc__resource_topology_new(kc__fields_types *types,
                                                 const kc__fields_type *type, kc_str empty);
kc__resource_topology *kc__resource_topology_free(kc__resource_topology *topology);

/* The topologies of built-in kinds. */
typedef struct kc__resource_topology_cache kc__resource_topology_cache;

kc__resource_topology_cache *kc__resource_topology_cache_new(void);
kc__resource_topology_cache *kc__resource_topology_cache_free(kc__resource_topology_cache *cache);
/* The topology of a built-in type; built on the first call. Lives as long as the cache. */
const kc__resource_topology *kc__resource_topology_cache_get(kc__resource_topology_cache *cache,
                                                             const kc__type_message *type);

/*
 * The fields that a request cannot change, and so cannot own: the status, or for the subresource
 * status everything else. `subresource` may be NULL, `version` is an apiVersion of the resource.
 * False: it can own all fields. The set is allocated in the arena.
 */
bool kc__resource_reset_fields(const kc__resource *resource, const char *subresource,
                               kc_str version, kc_arena *arena, kc__fields_ignored *ret);

#endif
