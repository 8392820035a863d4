/* SPDX-License-Identifier: Apache-2.0 */
/* scale.h: requests about the subresource scale, of built-in kinds and of custom ones. */
#ifndef KC_APISERVER_SCALE_H
#define KC_APISERVER_SCALE_H

#include "apiserver/rest/call.h"

/* Whether the call is about one. */
bool kc__is_scale(const kc__call *call);

/* The body as a Scale, into call->sent. */
kc__verdict kc__scale_decode(kc__call *call);
/* Puts the Scale that was sent, if one was, where it stood before it was applied: call->given. */
void kc__scale_resume(kc__call *call);
/* The Scale of call->current, which must have a number where `needs` says so; NULL on error. The
 * caller drops the reference. */
kc_object *kc__scale_of_current(kc__call *call, bool needs, kc_error *err);

/* call->proposed, a Scale, is replaced by call->current with its number. */
kc__verdict kc__scale_apply(kc__call *call);

/* With the Scale of call->current. */
kc__verdict kc__scale_answer(kc__call *call);

#endif
