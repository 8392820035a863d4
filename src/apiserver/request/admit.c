/* SPDX-License-Identifier: Apache-2.0 */
/*
 * admit.c: the two phases of admission: `mutated`, before the object is prepared, and `admitted`,
 * after it is validated. admission/plugins.c defines the plugins and their order. A webhook
 * may change managedFields; `mutated` checks them if one has changed the object. An update or apply
 * that creates its object needs the permission to create, which `admitted` checks first.
 */
#include "apiserver/admission/chain/admission.h"
#include "apiserver/request/own.h"
#include "apiserver/request/write.h"

kc__rest_verdict kc__rest_phase_mutated(kc__rest_call *call)
{
    kc__rest_verdict verdict = kc__admission_run(call, KC__ADMISSION_MUTATE);
    if (verdict != KC__REST_NEXT || !call->admission_patched)
        return verdict;
    return kc__rest_own_check_admitted(call);
}

kc__rest_verdict kc__rest_phase_admitted(kc__rest_call *call)
{
    const kc__rest_verdict verdict = kc__rest_authorize_create(call);
    return verdict == KC__REST_NEXT ? kc__admission_run(call, KC__ADMISSION_VALIDATE) : verdict;
}
