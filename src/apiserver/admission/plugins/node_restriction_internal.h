/* SPDX-License-Identifier: Apache-2.0 */
/* node_restriction_internal.h: a write of a node, as the files of the plugin check it. */
#ifndef KC_APISERVER_NODE_RESTRICTION_INTERNAL_H
#define KC_APISERVER_NODE_RESTRICTION_INTERNAL_H

#include "apiserver/admission/chain/plugin_request.h"

typedef enum kc__admission_node_operation {
    KC__ADMISSION_NODE_CREATE,
    KC__ADMISSION_NODE_UPDATE,
    KC__ADMISSION_NODE_DELETE,
} kc__admission_node_operation;

typedef struct kc__admission_node_write {
    kc__rest_call *call;
    kc_str node; /* The name of the node that writes. */
    kc__admission_node_operation operation;
    const char *subresource; /* "" for the object itself. */
    kc_str name;             /* Of the object; of a deleted collection empty. */
    const kc_value *object;  /* The new object, or the body; NULL for a deletion. */
    const kc_value *old;     /* The stored object; NULL for a creation. */
} kc__admission_node_write;

/* Each rejects a write that a node must not do. */

/* node_restriction_pods.c */
kc__rest_verdict kc__admission_node_pod(const kc__admission_node_write *w);
/* node_restriction_tokens.c */
kc__rest_verdict kc__admission_node_token(const kc__admission_node_write *w);
/* node_restriction_certificates.c */
kc__rest_verdict kc__admission_node_certificate(const kc__admission_node_write *w);

/* "CREATE", "UPDATE", "DELETE": as messages name the operation. */
const char *kc__admission_node_operation_name(const kc__admission_node_write *w);
/* The pod of the request's namespace, in *ret; fails with 404 if it does not exist. */
kc__rest_verdict kc__admission_node_find_pod(const kc__admission_node_write *w, kc_str name,
                                             kc_object **ret);
/* The Node of the node that writes, in the same way. */
kc__rest_verdict kc__admission_node_find_own(const kc__admission_node_write *w, kc_object **ret);

#endif
