/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_ports.h: the node ports in use, and the object in which the servers of a store share them.
 *
 *     /registry/ranges/servicenodeports   RangeAllocation
 *         range  "30000-32767"
 *         data   a bit for each port of the range, as a large number: bit 0 is the lowest port;
 *                without leading zero bytes, most significant byte first, in base64
 *
 * This is kube-apiserver's key and form, so a server beside it sees the same ports. Pure; any
 * thread.
 */
#ifndef KC_APISERVER_NODE_PORTS_H
#define KC_APISERVER_NODE_PORTS_H

#include "kc/object.h"
#include "kc/rand.h"
#include "kc/view.h"

#define KC__NODE_PORT_PREFIX "/registry/ranges/"
#define KC__NODE_PORT_KEY    "servicenodeports"

/* The range of a server without --service-node-port-range. */
#define KC__NODE_PORT_FIRST 30000
#define KC__NODE_PORT_LAST  32767

typedef struct kc__node_port_range {
    uint16_t first, last; /* Inclusive. */
} kc__node_port_range;

typedef struct kc__node_port_set {
    uint64_t words[(UINT16_MAX + 1) / 64];
} kc__node_port_set;

/* Room for the text of a range. */
enum { KC__NODE_PORT_RANGE_TEXT = 12 };

/* "30000-32767" */
kc_str kc__node_port_range_print(kc__node_port_range range, char out[KC__NODE_PORT_RANGE_TEXT]);
/* Parses "30000-32767", or "30000+2767" as kube-apiserver does. False: not a range. */
bool kc__node_port_range_parse(kc_str text, kc__node_port_range *ret);
bool kc__node_port_range_contains(kc__node_port_range range, int64_t port);

bool kc__node_port_set_has(const kc__node_port_set *set, uint16_t port);
void kc__node_port_set_add(kc__node_port_set *set, uint16_t port);
void kc__node_port_set_remove(kc__node_port_set *set, uint16_t port);
bool kc__node_port_set_is_empty(const kc__node_port_set *set);

/* Adds the node ports of a Service's spec (NULL: none), the one of health checks included. */
void kc__node_port_set_add_service(kc__node_port_set *set, const kc_value *spec);

/* A free port, from a random one on; the lower part of the range, which is left for clients, comes
 * last, as in Kubernetes. False: all are taken. */
bool kc__node_port_draw(kc__node_port_range range, const kc__node_port_set *taken, kc_rand *rand,
                        uint16_t *ret_port);

/* Adds the ports of a RangeAllocation. False: it is invalid. */
bool kc__node_port_set_read(const kc_object *allocation, kc__node_port_range *ret_range,
                            kc__node_port_set *set);
/* The RangeAllocation with the ports of the range. The caller drops the reference. */
kc_object *kc__node_port_set_write(kc__node_port_range range, const kc__node_port_set *set);

#endif
