/* SPDX-License-Identifier: Apache-2.0 */
/*
 * discovery.h: what a client is told when it asks which resources there are, as finished documents.
 *
 * They are made from a snapshot of the kinds (registry.h), each when it is first asked for, and
 * never change: answering is handing out bytes. Whoever replaces the snapshot makes a new
 * kc__discovery of it, which costs nothing until somebody asks.
 *
 *     const kc__document *doc = kc__discovery_resources(discovery, group, version);
 *     if (!doc)
 *         return …;                                                             404
 *     if (!kc_str_empty(doc->etag) && kc__etag_matches(if_none_match, doc->etag))
 *         return …;                                                             304
 *
 * | path                  | without aggregation         | aggregated (as Accept may ask)   |
 * |-----------------------|-----------------------------|----------------------------------|
 * | /api                  | kc__discovery_api_versions  | kc__discovery_aggregated_core    |
 * | /apis                 | kc__discovery_groups        | kc__discovery_aggregated_groups  |
 * | /apis/G               | kc__discovery_group         |                                  |
 * | /api/v1, /apis/G/V    | kc__discovery_resources     |                                  |
 *
 * Aggregated answers also carry "Vary: Accept" and "Cache-Control: public".
 */
#ifndef KC_APISERVER_DISCOVERY_H
#define KC_APISERVER_DISCOVERY_H

#include "apiserver/kinds/registry.h"

/* Lives as long as what it came from. */
typedef struct kc__document {
    kc_str type; /* Content-Type. */
    kc_str body;
    kc_str etag; /* With its quotes; empty: it has none. */
} kc__document;

/* Immutable, counted, any thread. */
typedef struct kc__discovery kc__discovery;

typedef struct kc__discovery_opts {
    const char *server_address; /* Host and port for all clients, in /api. Defaults to none. */
} kc__discovery_opts;

/* Keeps a reference to `kinds`. `opts` may be NULL. Never NULL. */
kc__discovery *kc__discovery_new(const kc__kinds *kinds, const kc__discovery_opts *opts);
kc__discovery *kc__discovery_ref(const kc__discovery *discovery);
kc__discovery *kc__discovery_unref(const kc__discovery *discovery);
KC_AUTO_DEFINE(kc__discovery, kc__discovery_unref)

/* What it describes; its own reference. */
const kc__kinds *kc__discovery_kinds(const kc__discovery *discovery);

/* APIVersions */
const kc__document *kc__discovery_api_versions(const kc__discovery *discovery);
/* APIGroupList; the core group is not in it. */
const kc__document *kc__discovery_groups(const kc__discovery *discovery);
/* APIGroup; NULL when there is no such group, and for the core group. */
const kc__document *kc__discovery_group(const kc__discovery *discovery, kc_str group);
/* APIResourceList; NULL when there is no such group version. The core group is "". */
const kc__document *kc__discovery_resources(const kc__discovery *discovery, kc_str group,
                                            kc_str version);

/* APIGroupDiscoveryList of apidiscovery.k8s.io/v2: the core group, and all others. */
const kc__document *kc__discovery_aggregated_core(const kc__discovery *discovery);
const kc__document *kc__discovery_aggregated_groups(const kc__discovery *discovery);

#endif
