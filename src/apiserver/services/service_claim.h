/* SPDX-License-Identifier: Apache-2.0 */
/*
 * service_claim.h: the cluster IPs and node ports that the write of a Service takes and releases.
 * The Service, its IPAddresses and the RangeAllocation of node ports are one group of the store:
 * all are stored, or none. So no number is handed out twice, by whatever server, and a write that
 * fails, or a crash, leaks none.
 *
 *     old Service ─┐                        ┌─ PUT IPAddress     of a new cluster IP
 *                  ├─▶ what differs: claim ─┼─ DELETE IPAddress  of one that is not used any more
 *     new Service ─┘                        └─ PUT RangeAllocation, rebased on that of others
 *
 * If another write took one of the numbers first, the claim is `lost`, the group is not stored, and
 * the request proposes the Service again: it draws another number, or is refused.
 */
#ifndef KC_APISERVER_SERVICE_CLAIM_H
#define KC_APISERVER_SERVICE_CLAIM_H

#include "apiserver/services/cluster_ip.h"
#include "apiserver/services/service_numbers.h"

/* Writes that a claim adds to a group: a Service that replaces all its cluster IPs, and the
 * ports. */
enum { KC__SERVICE_CLAIM_MAX = 2 * KC__CLUSTER_IP_MAX + 1 };

typedef struct kc__service_claim kc__service_claim;

/* The change of one stored Service. */
typedef struct kc__service_claim_change {
    const kc_object *old; /* NULL: the Service is created. */
    const kc_object *new; /* NULL: the Service is removed. */
    kc_time now;          /* Creation time of IPAddresses. */
    kc_rand *rand;        /* For their uids. */
} kc__service_claim_change;

/* NULL: the change takes and releases nothing. */
kc__service_claim *kc__service_claim_new(kc__service_numbers *numbers,
                                         const kc__service_claim_change *change);
kc__service_claim *kc__service_claim_free(kc__service_claim *claim);

/* A number of the claim is taken. Set when the claim is made (then it must not join a group), or
 * by the group. */
bool kc__service_claim_is_lost(const kc__service_claim *claim);

/* Why the store refused a write of the claim; NULL: it did not. */
const kc_error *kc__service_claim_error(const kc__service_claim *claim);

/* Appends the writes of the claim to `writes`, at most KC__SERVICE_CLAIM_MAX; returns their number,
 * at least 1. `done` runs on the loop when the last of them is done; the claim must live until
 * then. */
size_t kc__service_claim_join(kc__service_claim *claim, kc__loop *loop, kc__store_write **writes,
                              void (*done)(void *user), void *user);

#endif
