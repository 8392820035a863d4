/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_conversion.h: the conversions by webhook that a call waits for
 * (kinds/remote_conversion.h).
 *
 *     kc__rest_verdict verdict = kc__rest_convert_stored(call, resource, stored);
 *     if (verdict != KC__REST_NEXT)
 *         return verdict;                 PENDING: the phase runs again when the object is there
 *     kc__rest_show_stored(…)             the kept conversion, pinned until the call ends
 *
 * A phase calls these functions before it reads an object, as often as it runs. A call waits for
 * one job at a time. For a resource without a conversion webhook they return KC__REST_NEXT after
 * one check.
 *
 * Verdicts: KC__REST_NEXT, _PENDING, _ON_LOOP (a worker cannot wait), or _FAIL with call->error.
 * The first failure is kept: a phase that runs again fails again.
 */
#ifndef KC_APISERVER_CALL_CONVERSION_H
#define KC_APISERVER_CALL_CONVERSION_H

#include "apiserver/call/call.h"
#include "apiserver/kinds/remote_conversion.h"

typedef struct kc__rest_conversion kc__rest_conversion;

/* Waits until a stored object can be shown in the version of a resource. */
kc__rest_verdict kc__rest_convert_stored(kc__rest_call *call, const kc__resource *resource,
                                         const kc_object *stored);
/* Pins the kept conversion of a stored object, or adds the object to *job, which is created if
 * necessary. For objects that need no conversion it does nothing. */
void kc__rest_convert_collect(kc__rest_call *call, const kc__resource *resource,
                              const kc_object *stored, kc__remote_conversion **job);
/* Waits for a job that the caller has made, and takes it over. Its loop and callback are set
 * here. Later runs of the phase pass NULL: NULL and no job in progress is KC__REST_NEXT. */
kc__rest_verdict kc__rest_convert_job(kc__rest_call *call, kc__remote_conversion *job);
/* Converts the object to store to the storage version. Each run of the phase passes the same
 * object. KC__REST_NEXT: *ret is the result, with a reference for the caller. */
kc__rest_verdict kc__rest_convert_to_storage(kc__rest_call *call, const kc__resource *resource,
                                             const kc_object *object, kc_object **ret);
/* The same to the version of `resource`. */
kc__rest_verdict kc__rest_convert_to_served(kc__rest_call *call, const kc__resource *resource,
                                            const kc_object *object, kc_object **ret);
/* The same to any version of the kind. The result is not pruned by the schema of that version.
 * `api_version` lives as long as the call. */
kc__rest_verdict kc__rest_convert_to_version(kc__rest_call *call, const kc__resource *resource,
                                             const kc_object *object, kc_str api_version,
                                             kc_object **ret);
/* Whether a job is in progress or has failed. */
bool kc__rest_conversion_is_pending(const kc__rest_call *call);
/* Whether a job is in progress, or waits for the loop. */
bool kc__rest_conversion_is_running(const kc__rest_call *call);
/* Forgets a failure: the caller does without the conversion. */
void kc__rest_conversion_forgive(kc__rest_call *call);
/* Moves the pins to a response that outlives the call. */
void kc__rest_conversion_take_pins(kc__rest_call *call, kc__remote_pins *pins);
/* At the end of a call. */
void kc__rest_conversion_release(kc__rest_call *call);

#endif
