/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request_info.h: what a request is for, read from its method, path and query alone: the same words
 * for authorization, routing, audit and metrics.
 *
 *     GET /apis/apps/v1/namespaces/default/deployments/web/scale
 *         verb "get", group "apps", version "v1", namespace "default", resource "deployments",
 *         name "web", subresource "scale"
 */
#ifndef KC_APISERVER_REQUEST_INFO_H
#define KC_APISERVER_REQUEST_INFO_H

#include "http/exchange.h"
#include "http/query.h"

typedef struct kc__request_info {
    bool is_resource;
    const char *verb; /* Of a resource: "get", "list", "watch", …; else the method in lower case. ""
                         for a method no resource has. */
    kc_str group, version, ns, resource, name, subresource;
    kc_str rest; /* What follows the subresource. */
    bool named;  /* The name stands in the path (a selector may give it too, for authorization). */
} kc__request_info;

/* Never fails: what is no resource is a path. The slices are the request's. */
void kc__request_info_of(const kc__request *request, const kc__query *query, kc_arena *arena,
                         kc__request_info *ret);

#endif
