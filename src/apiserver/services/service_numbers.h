/* SPDX-License-Identifier: Apache-2.0 */
/*
 * service_numbers.h: which cluster IPs and node ports can be allocated, and which are taken.
 *
 *     cluster IPs   networks: ServiceCIDRs that are ready          taken: IPAddresses
 *     node ports    range: --service-node-port-range               taken: the RangeAllocation
 *
 * The stored objects alone decide, so several servers of a store agree, kube-apiserver included. A
 * number that this server sees as free may be taken by the time it is stored; then the write of the
 * Service fails as a whole and is repeated (service_claim.h). Any thread.
 */
#ifndef KC_APISERVER_SERVICE_NUMBERS_H
#define KC_APISERVER_SERVICE_NUMBERS_H

#include "apiserver/services/node_ports.h"
#include "apiserver/services/service_network.h"
#include "apiserver/store/store.h"

typedef struct kc__service_numbers kc__service_numbers;

typedef struct kc__service_numbers_opts {
    kc__store *store;
    kc__node_port_range ports; /* Defaults to KC__NODE_PORT_FIRST to KC__NODE_PORT_LAST. */
    kc_metrics *metrics;
} kc__service_numbers_opts;

kc__service_numbers *kc__service_numbers_new(const kc__service_numbers_opts *opts, kc_error *err);
kc__service_numbers *kc__service_numbers_free(kc__service_numbers *numbers);

/* The caches of Services, IPAddresses and RangeAllocations. */
kc__watch_cache *kc__service_numbers_services(const kc__service_numbers *numbers);
kc__watch_cache *kc__service_numbers_addresses(const kc__service_numbers *numbers);
kc__watch_cache *kc__service_numbers_ranges(const kc__service_numbers *numbers);
kc__node_port_range kc__service_numbers_range(const kc__service_numbers *numbers);
/* Counts writes that were repeated because another one took a number first. */
kc_counter *kc__service_numbers_conflicts(const kc__service_numbers *numbers);

/* ---- cluster IPs ---- */

/* Whether a network contains the address. */
bool kc__service_numbers_has_network(kc__service_numbers *numbers, uint32_t address);
bool kc__service_numbers_is_taken(const kc__service_numbers *numbers, kc_str ip);
/* A free address. False: there is none. */
bool kc__service_numbers_draw(kc__service_numbers *numbers, kc_rand *rand, uint32_t *ret_address);

/* ---- node ports ---- */

/* Adds the ports that are taken. If that is unknown, *ret_why is the reason: there is no
 * RangeAllocation yet, or it is one of another range. Else it is NULL. */
void kc__service_numbers_ports(const kc__service_numbers *numbers, kc__node_port_set *set,
                               const char **ret_why);

#endif
