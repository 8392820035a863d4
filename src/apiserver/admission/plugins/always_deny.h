/* SPDX-License-Identifier: Apache-2.0 */
/* always_deny.h: the admission plugin AlwaysDeny. */
#ifndef KC_APISERVER_ALWAYS_DENY_H
#define KC_APISERVER_ALWAYS_DENY_H

#include "apiserver/call/call.h"

kc__rest_phase_fn kc__admission_always_deny;
/* The deletion of one object of a collection. */
kc__rest_verdict kc__admission_always_deny_deletion(kc__rest_call *call, const kc_object *object);

#endif
