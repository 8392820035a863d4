/* SPDX-License-Identifier: Apache-2.0 */
/* scale.h: requests for the subresource scale, of built-in kinds and custom resources. */
#ifndef KC_APISERVER_SCALE_H
#define KC_APISERVER_SCALE_H

#include "apiserver/request/phases.h"

/* Decodes the body as a Scale into call->subresource_body. */
kc__rest_verdict kc__rest_scale_decode(kc__rest_call *call);
/* Restores call->body to the Scale of the request, if there is one, before it is applied again. */
void kc__rest_scale_resume(kc__rest_call *call);
/* The Scale of call->current; with `needs` it must have a replica count; NULL on error. The caller
 * drops the reference. */
kc_object *kc__rest_scale_of_current(kc__rest_call *call, bool needs, kc_error *err);

/* Replaces the Scale in call->proposed by call->current with the new replica count. */
kc__rest_verdict kc__rest_scale_apply(kc__rest_call *call);

/* Responds with the Scale of call->current. */
kc__rest_verdict kc__rest_scale_respond(kc__rest_call *call);

#endif
