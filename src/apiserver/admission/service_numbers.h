/* SPDX-License-Identifier: Apache-2.0 */
/*
 * service_numbers.h: addresses for Services (10.96.0.0/12) and ports of nodes (30000 to 32767). A
 * phase of admission draws what a Service needs and its client left open, and refuses what somebody
 * else has.
 */
#ifndef KC_APISERVER_SERVICE_NUMBERS_H
#define KC_APISERVER_SERVICE_NUMBERS_H

#include "apiserver/rest/call.h"

typedef struct kc__service_numbers kc__service_numbers;

/* Reads what is stored. */
kc__service_numbers *kc__service_numbers_new(kc__cache *services);
kc__service_numbers *kc__service_numbers_free(kc__service_numbers *numbers);

kc__phase_fn kc__admit_service_numbers;
/* The call has ended: what it took is as free as the store says. */
void kc__service_numbers_settle(kc__call *call);

#endif
