/* SPDX-License-Identifier: Apache-2.0 */
/* endpoints.h: paths that are not resources. To add one: a row in the table of endpoints.c. */
#ifndef KC_APISERVER_ENDPOINTS_H
#define KC_APISERVER_ENDPOINTS_H

#include "apiserver/request/phases.h"

/* NULL if the path is not an endpoint. */
const kc__rest_endpoint *kc__rest_endpoint_find(const kc__target *target);

/* /api, /apis and the paths below them (discovery_endpoint.c). */
kc__rest_phase_fn kc__rest_endpoint_discovery;
/* /healthz, /livez, /readyz (health_endpoint.c). */
kc__rest_phase_fn kc__rest_endpoint_health;
/* /openapi/v2, /openapi/v3 (openapi_endpoint.c). */
kc__rest_phase_fn kc__rest_endpoint_openapi_v2, kc__rest_endpoint_openapi_v3;
/* /.well-known/openid-configuration, /openid/v1/jwks (openid_endpoint.c). */
kc__rest_phase_fn kc__rest_endpoint_openid_configuration, kc__rest_endpoint_openid_keys;
/* /people/…: credentials of people (people_endpoint.c). */
kc__rest_phase_fn kc__rest_endpoint_login, kc__rest_endpoint_renew, kc__rest_endpoint_logout,
    kc__rest_endpoint_password, kc__rest_endpoint_token, kc__rest_endpoint_revoke;

#endif
