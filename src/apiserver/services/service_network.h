/* SPDX-License-Identifier: Apache-2.0 */
/*
 * service_network.h: the network of cluster IPs: its addresses, and their text.
 *
 *     10.96.0.0/12 ─▶  .0 │ first … draw_from │ … last │ broadcast
 *                          └ left for clients ┘└ drawn ┘
 *
 * As in Kubernetes, addresses are drawn from the upper part of a network; the lower part is left
 * for clients that request an address, and is drawn from when the upper part is full. Networks are
 * IPv4. Pure; any thread.
 */
#ifndef KC_APISERVER_SERVICE_NETWORK_H
#define KC_APISERVER_SERVICE_NETWORK_H

#include "kc/rand.h"
#include "kc/str.h"

#include <netinet/in.h>

/* The network of a server without --service-cluster-ip-range. */
#define KC__SERVICE_NETWORK_DEFAULT "10.96.0.0/12"

typedef struct kc__service_network {
    uint32_t first, last; /* Inclusive, without the addresses of the network and of broadcasts. */
    uint32_t draw_from;   /* Draws begin here. */
} kc__service_network;

/* Parses "10.96.0.0/12". False: not an IPv4 network, or one without usable addresses. */
bool kc__service_network_parse(kc_str text, kc__service_network *ret);
bool kc__service_network_contains(const kc__service_network *network, uint32_t address);

/*
 * Calls `is_taken` for the addresses of the network from a random one on, first in the upper part,
 * until one is free. False: all are taken. The number of calls is at most that of the taken
 * addresses, plus one.
 */
bool kc__service_network_draw(const kc__service_network *network, kc_rand *rand,
                              bool (*is_taken)(uint32_t address, void *user), void *user,
                              uint32_t *ret_address);

/* The text of an IPv4 address, which is the name of its IPAddress. */
kc_str kc__service_network_print(uint32_t address, char out[INET_ADDRSTRLEN]);
/* False: not an IPv4 address. */
bool kc__service_network_parse_address(kc_str text, uint32_t *ret);

#endif
