/* SPDX-License-Identifier: Apache-2.0 */
/*
 * discovery.h: API discovery: which resources the server has, as finished documents.
 *
 * Each document is built from a registry (registry.h) when it is first requested and never changes,
 * so a response only sends its bytes. A new registry gets a new kc__discovery, which costs nothing
 * until the first request.
 *
 *     const kc__discovery_document *doc = kc__discovery_resources(discovery, group, version);
 *     if (!doc)
 *         return …;                                                             404
 *     if (!kc_str_empty(doc->etag) && kc__http_etag_matches(if_none_match, doc->etag))
 *         return …;                                                             304
 *
 * | path                  | without aggregation         | aggregated (if Accept asks)      |
 * |-----------------------|-----------------------------|----------------------------------|
 * | /api                  | kc__discovery_api_versions  | kc__discovery_aggregated_core    |
 * | /apis                 | kc__discovery_groups        | kc__discovery_aggregated_groups  |
 * | /apis/G               | kc__discovery_group         |                                  |
 * | /api/v1, /apis/G/V    | kc__discovery_resources     |                                  |
 *
 * Aggregated responses also have "Vary: Accept" and "Cache-Control: public".
 */
#ifndef KC_APISERVER_DISCOVERY_H
#define KC_APISERVER_DISCOVERY_H

#include "apiserver/kinds/registry.h"

/* Lives as long as the kc__discovery it came from. */
typedef struct kc__discovery_document {
    kc_str type; /* Content-Type. */
    kc_str body;
    kc_str etag; /* With its quotes; empty: none. */
} kc__discovery_document;

/* Immutable; any thread. */
typedef struct kc__discovery kc__discovery;

typedef struct kc__discovery_opts {
    /* Host and port that /api reports to all clients. Defaults to none. */
    const char *server_address;
} kc__discovery_opts;

/* Keeps a reference to `kinds`. `opts` may be NULL. Never NULL. */
kc__discovery *kc__discovery_new(const kc__registry *kinds, const kc__discovery_opts *opts);
/* NULL is allowed; returns NULL. */
kc__discovery *kc__discovery_free(kc__discovery *discovery);
KC_AUTO_DEFINE(kc__discovery, kc__discovery_free)

/* APIVersions */
const kc__discovery_document *kc__discovery_api_versions(const kc__discovery *discovery);
/* APIGroupList; the core group is not in it. */
const kc__discovery_document *kc__discovery_groups(const kc__discovery *discovery);
/* APIGroup; NULL if the group does not exist, and for the core group. */
const kc__discovery_document *kc__discovery_group(const kc__discovery *discovery, kc_str group);
/* APIResourceList; NULL if the group version does not exist. The core group is "". */
const kc__discovery_document *kc__discovery_resources(const kc__discovery *discovery, kc_str group,
                                                      kc_str version);

/* APIGroupDiscoveryList of apidiscovery.k8s.io/v2: of the core group, and of all others. */
const kc__discovery_document *kc__discovery_aggregated_core(const kc__discovery *discovery);
const kc__discovery_document *kc__discovery_aggregated_groups(const kc__discovery *discovery);

#endif
