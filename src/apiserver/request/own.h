/* SPDX-License-Identifier: Apache-2.0 */
/*
 * own.h: field ownership: metadata.managedFields of every write, and server-side apply.
 *
 *     create, update, other patches   own.c          phase `owned`: the manager of the request owns
 *                                                    what differs between the stored object and the
 *                                                    draft
 *     apply                           own_apply.c    called by `proposed`: merges the configuration
 *                                                    into the stored object
 *     scale                           own_scale.c    owners of the replicas, in the object and in
 *                                                    its Scale
 *
 * Ownership is computed before mutating admission: what admission changes has no owner. The engine
 * is object/fields; own_version.c converts objects to the versions that entries were written in.
 */
#ifndef KC_APISERVER_OWN_H
#define KC_APISERVER_OWN_H

#include "apiserver/kinds/topology.h"
#include "apiserver/request/phases.h"
#include "object/fields/fields_managed.h"

/* Whether a body, as the client sent it, clears managedFields. An empty list does, which decoding
 * drops. */
bool kc__rest_resets_owners(const kc__rest_call *call, const kc_object *body);

/* Applies the request's configuration to call->current, or to an empty object without one. Sets
 * call->body to the result, with its managedFields. */
kc__rest_verdict kc__rest_own_apply(kc__rest_call *call);

/*
 * Conversions by webhook, which the engine needs in the middle of a computation. The computation
 * fails at the first one that is missing; the call waits for it and computes again:
 *
 *     kc__rest_verdict verdict = kc__rest_own_await(call);
 *     if (verdict != KC__REST_NEXT)
 *         return verdict;
 *     …                                 the engine
 *     if (kc__rest_own_is_waiting(call))
 *         return kc__rest_own_await(call);
 */
bool kc__rest_own_is_waiting(const kc__rest_call *call);
/* Waits for the missing conversion. Its failure is no failure of the call: the engine gets it. */
kc__rest_verdict kc__rest_own_await(kc__rest_call *call);
/* At the end of a call. */
void kc__rest_own_release(kc__rest_call *call);

/* After mutating admission: managedFields that are not valid any more become what they were before,
 * with a warning. */
kc__rest_verdict kc__rest_own_check_admitted(kc__rest_call *call);

/* Sets the managedFields of call->proposed, the scaled object, from those of its Scale. 0 or
 * negative (call->error). */
int kc__rest_own_scaled_object(kc__rest_call *call, kc_str scale_fields);

/* Whether two objects are equal but for the times of their managedFields. */
bool kc__rest_own_same_but_times(const kc_object *a, const kc_object *b);

#endif
