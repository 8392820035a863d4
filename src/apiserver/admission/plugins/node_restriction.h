/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_restriction.h: the admission plugin NodeRestriction: what a node (authz/node_identity.h) may
 * write. The Node authorizer decides by name and verb alone; this plugin sees the objects.
 */
#ifndef KC_APISERVER_NODE_RESTRICTION_H
#define KC_APISERVER_NODE_RESTRICTION_H

#include "apiserver/call/call.h"

/* Creations, updates and deletions of objects. */
kc__rest_verdict kc__admission_node_restriction(kc__rest_call *call);
/* Requests whose body replaces the object: evictions, bindings, requests for tokens. */
kc__rest_verdict kc__admission_node_restriction_body(kc__rest_call *call);
/* The deletion of one object of a collection. */
kc__rest_verdict kc__admission_node_restriction_deletion(kc__rest_call *call,
                                                         const kc_object *object);

#endif
