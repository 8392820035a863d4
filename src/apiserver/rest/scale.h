/* SPDX-License-Identifier: Apache-2.0 */
/* scale.h: the subresource scale of custom resources: a number of their objects as a Scale. */
#ifndef KC_APISERVER_SCALE_H
#define KC_APISERVER_SCALE_H

#include "apiserver/rest/call.h"

/* Whether the call is about one. */
bool kc__is_scale(const kc__call *call);

/* The body as a Scale, into call->scale. */
kc__verdict kc__scale_decode(kc__call *call);
/* What a patch made of the Scale of call->current, likewise. `patched` stays the caller's. */
int kc__scale_take(kc__call *call, const kc_object *patched, kc_error *err);
/* The Scale of call->current; NULL on error. The caller drops the reference. */
kc_object *kc__scale_of_current(kc__call *call, kc_error *err);

/* call->current with the number of call->scale becomes call->given. */
kc__verdict kc__scale_apply(kc__call *call);

/* With the Scale of call->current. */
kc__verdict kc__scale_answer(kc__call *call);

#endif
