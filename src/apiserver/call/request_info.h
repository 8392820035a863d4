/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request_info.h: the attributes of a request, from its method, path and query alone.
 * Authorization, routing, audit and metrics use the same attributes.
 *
 *     GET /apis/apps/v1/namespaces/default/deployments/web/scale
 *         verb "get", group "apps", version "v1", namespace "default", resource "deployments",
 *         name "web", subresource "scale"
 */
#ifndef KC_APISERVER_REQUEST_INFO_H
#define KC_APISERVER_REQUEST_INFO_H

#include "http/message/query.h"
#include "http/server/exchange.h"

typedef struct kc__rest_request_info {
    bool is_resource;
    const char *verb; /* For a resource: "get", "list", "watch", …; otherwise the method in lower
                         case. "" for a method that resources do not support. */
    kc_str group, version, ns, resource, name, subresource;
    kc_str rest; /* The path after the subresource. */
    /* The text of the selectors; of list, watch and deletecollection only. */
    kc_str field_selector, label_selector;
    bool named; /* The name is in the path (for authorization, a selector may supply it, too). */
} kc__rest_request_info;

/* Never fails: a path that names no resource is a non-resource path. The slices point into the
 * request. */
void kc__rest_request_info_of(const kc__http_request *request, const kc__query *query,
                              kc_arena *arena, kc__rest_request_info *ret);

#endif
