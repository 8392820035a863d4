/* SPDX-License-Identifier: Apache-2.0 */
/*
 * object_versions.h: the objects of a request in other versions, converted by the conversion
 * webhook of their CRD (call/call_conversion.h).
 *
 *     verdict = kc__admission_versions_await(call);             at the start of a phase
 *     …
 *     verdict = kc__admission_versions_get(call, &about, object, as, &ret, err);
 *     if (verdict == KC__REST_PENDING || verdict == KC__REST_ON_LOOP)
 *         return verdict;                                       the phase starts over later
 *
 * Evaluation of policies has no side effects, so a phase that waits for a conversion starts over
 * when it is there. Objects are made again then, so they are found by their contents. Each object
 * is converted once for each version.
 */
#ifndef KC_APISERVER_ADMISSION_OBJECT_VERSIONS_H
#define KC_APISERVER_ADMISSION_OBJECT_VERSIONS_H

#include "apiserver/admission/chain/attributes.h"

/*
 * An object in the version `as` of its resource. NULL gives NULL. KC__REST_NEXT: *ret, with a
 * reference for the caller; KC__REST_FAIL: `err`; KC__REST_PENDING or KC__REST_ON_LOOP. An object
 * that is deleted and cannot be converted is returned as it is. `err` must not be NULL.
 */
kc__rest_verdict kc__admission_versions_get(kc__rest_call *call,
                                            const kc__admission_attributes *about,
                                            const kc_object *object, const kc__resource *as,
                                            kc_object **ret, kc_error *err);
/* Waits for the conversion in progress, and starts one that a worker requested. KC__REST_NEXT,
 * KC__REST_PENDING or KC__REST_ON_LOOP. A phase calls it before it evaluates anything: on a loop
 * the evaluation could move to a worker before it gets to the conversion. */
kc__rest_verdict kc__admission_versions_await(kc__rest_call *call);
/* Drops all conversions: at the end of a phase. */
void kc__admission_versions_release(kc__rest_call *call);

#endif
