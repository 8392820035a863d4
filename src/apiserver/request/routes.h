/* SPDX-License-Identifier: Apache-2.0 */
/*
 * routes.h: what a request can be routed to: the verbs, subresources, reviews and endpoints of the
 * folders above this one. routes/routes.c fills the table; the phases call what it names, and
 * include nothing of those folders.
 */
#ifndef KC_APISERVER_ROUTES_H
#define KC_APISERVER_ROUTES_H

#include "apiserver/request/phases.h"

/* A subresource that is served. */
typedef struct kc__rest_part_route {
    const char *name;
    /* `own` replaces the object's verb `usual`; NULL: the object's verbs apply. */
    const kc__rest_verb *usual, *own;
} kc__rest_part_route;

typedef struct kc__rest_routes {
    const kc__rest_verb *const *verbs; /* Of objects and collections. */
    size_t n_verbs;
    const kc__rest_part_route *parts;
    size_t n_parts;
    /* The endpoint of a path that is not a resource; NULL: there is none. */
    const kc__rest_endpoint *(*find_endpoint)(const kc__target *target);
    /* Whether the resource is created and answered, but never stored. */
    bool (*is_review)(const kc__resource *resource);
} kc__rest_routes;

extern const kc__rest_routes kc__rest_routes_served; /* routes/routes.c */

#endif
