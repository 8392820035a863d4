/* SPDX-License-Identifier: Apache-2.0 */
/* endpoints.h: paths that are no resources. To add one: a line in the table of endpoints.c. */
#ifndef KC_APISERVER_ENDPOINTS_H
#define KC_APISERVER_ENDPOINTS_H

#include "apiserver/rest/call.h"

/* NULL when the path is none. */
const kc__endpoint *kc__endpoint_find(const kc__target *target);

/* /api, /apis and what is under them (discovery_endpoint.c). */
kc__phase_fn kc__endpoint_discovery;
/* /healthz, /livez, /readyz (health_endpoint.c). */
kc__phase_fn kc__endpoint_health;
/* /openapi/v2, /openapi/v3 (openapi_endpoint.c). */
kc__phase_fn kc__endpoint_openapi_v2, kc__endpoint_openapi_v3;

#endif
