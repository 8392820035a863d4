/* SPDX-License-Identifier: Apache-2.0 */
/*
 * service_endpoint_objects.h: the objects that list the servers of the Service "kubernetes", as the
 * lease reconciler of kube-apiserver makes them. Pure.
 */
#ifndef KC_APISERVER_SERVICE_ENDPOINT_OBJECTS_H
#define KC_APISERVER_SERVICE_ENDPOINT_OBJECTS_H

#include "kc/object.h"
#include "kc/rand.h"
#include "kc/time.h"
#include "kc/vec.h"

#define KC__SERVICE_ENDPOINT_KEY "default/kubernetes"

/* Addresses, in the order of their text. */
typedef KC_VEC(char *) kc__service_endpoint_list;

void kc__service_endpoint_list_add(kc__service_endpoint_list *list, kc_str address);
void kc__service_endpoint_list_done(kc__service_endpoint_list *list);

/* The lease of a server. The caller drops the reference. */
kc_object *kc__service_endpoint_lease(const char *address, int64_t generation);

/* What a new object gets. */
typedef struct kc__service_endpoint_new {
    kc_time now;
    kc_rand *rand; /* For the uid. */
} kc__service_endpoint_new;

/* The Endpoints to store, without managedFields: the servers; if the stored object (NULL: none) has
 * no valid ports, the port. NULL: the stored object is right. The caller drops the reference. */
kc_object *kc__service_endpoint_endpoints(const kc__service_endpoint_list *servers, int port,
                                          const kc_object *stored,
                                          const kc__service_endpoint_new *new);
/* The EndpointSlice that has the addresses and ports of the Endpoints. The same results. */
kc_object *kc__service_endpoint_slice(const kc_object *endpoints, const kc_object *stored,
                                      const kc__service_endpoint_new *new);

#endif
