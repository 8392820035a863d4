/* SPDX-License-Identifier: Apache-2.0 */
/*
 * service_repair.h: repairs the objects that record cluster IPs and node ports, from the stored
 * Services: those of a store that an earlier version, an import or a failed kube-apiserver left.
 *
 *     Service without IPAddress, or with a wrong one    ─▶ the IPAddress is created
 *     IPAddress of the allocator without its Service    ─▶ removed, a minute after its creation
 *     node port that is not recorded                    ─▶ recorded
 *     recorded node port without a Service              ─▶ released, if seen three times
 *
 * kube-apiserver repairs in the same way. The delays are for other servers that record a number
 * before they store the Service.
 */
#ifndef KC_APISERVER_SERVICE_REPAIR_H
#define KC_APISERVER_SERVICE_REPAIR_H

#include "apiserver/call/call.h"

typedef struct kc__service_repair kc__service_repair;

/* How often a server repairs. */
#define KC__SERVICE_REPAIR_INTERVAL (3 * KC_MINUTE)

/* Repairs, so that api->numbers can be used. Call it before requests are served, after
 * kc__bootstrap_objects; blocks. NULL on error. */
kc__service_repair *kc__service_repair_start(kc__rest_api *api, kc_error *err);
/* Repairs again, as a job of housekeeping. Blocks; one thread at a time. */
void kc__service_repair_run(void *repair);
/* NULL is allowed; returns NULL. */
kc__service_repair *kc__service_repair_free(kc__service_repair *repair);

#endif
