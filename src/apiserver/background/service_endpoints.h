/* SPDX-License-Identifier: Apache-2.0 */
/*
 * service_endpoints.h: keeps the Endpoints and the EndpointSlice of the Service "kubernetes" equal
 * to the servers that run.
 *
 *     every server ── every 10 s, TTL 15 s ──▶ /registry/masterleases/ADDRESS
 *                                                        │ the addresses that are there
 *     every server ── when they change ──────▶ default/kubernetes: Endpoints, EndpointSlice
 *
 * The keys and objects are those of kube-apiserver's lease reconciler, so its servers and those of
 * this project list each other. With an exclusive storage there is one server, and no lease.
 */
#ifndef KC_APISERVER_SERVICE_ENDPOINTS_H
#define KC_APISERVER_SERVICE_ENDPOINTS_H

#include "apiserver/call/call.h"

typedef struct kc__service_endpoints kc__service_endpoints;

/* Where clients in the cluster reach this server. */
typedef struct kc__service_endpoint {
    const char *address; /* Not loopback. */
    int port;
} kc__service_endpoint;

/* Lists this server, and starts the thread that keeps the list. Blocks. Not on an event loop. The
 * address is borrowed. */
kc__service_endpoints *kc__service_endpoints_start(kc__rest_api *api,
                                                   const kc__service_endpoint *endpoint,
                                                   kc_error *err);
/* Removes this server from the list, ends the thread and frees everything. The event loops must
 * still run. Blocks. NULL is allowed; returns NULL. */
kc__service_endpoints *kc__service_endpoints_stop(kc__service_endpoints *endpoints);

#endif
