/* SPDX-License-Identifier: Apache-2.0 */
/* get.h: reads the object of a request. */
#ifndef KC_APISERVER_GET_H
#define KC_APISERVER_GET_H

#include "apiserver/request/phases.h"

/* Reads the stored object into call->current, unless it is there, and converts it to the version of
 * the request. A client that accepts metadata only, such as the garbage collector, does not depend
 * on a conversion webhook. KC__REST_PENDING: the webhook was called; call it again then. */
kc__rest_verdict kc__rest_get_current(kc__rest_call *call);

#endif
