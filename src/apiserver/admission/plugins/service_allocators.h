/* SPDX-License-Identifier: Apache-2.0 */
/*
 * service_allocators.h: chooses the cluster IP and node ports that the client of a Service did not
 * set, and rejects those that another Service has. services/service_claim.h takes them when the
 * Service is stored.
 */
#ifndef KC_APISERVER_SERVICE_ALLOCATORS_H
#define KC_APISERVER_SERVICE_ALLOCATORS_H

#include "apiserver/call/call.h"

/* The plugin (admission/plugins.c): edits call->draft, which is prepared and has its name.
 */
kc__rest_phase_fn kc__service_allocators_allocate;

#endif
