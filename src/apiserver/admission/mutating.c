/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mutating.c: the phase in which others may change or refuse a proposal before it is validated. A
 * table of plug-ins, in the order in which they run; to add one, add its line.
 */
#include "apiserver/admission/namespace_lifecycle.h"
#include "apiserver/admission/pod_placement.h"
#include "apiserver/admission/service_numbers.h"

/* Nothing is created of a definition that goes; what slips through here the gate stops (write.c).
 */
static kc__verdict admit_definition(kc__call *call)
{
    const kc__resource *r = call->resource;
    if (call->current || !r->custom || r->verbs & KC__CREATE)
        return KC__NEXT;
    return kc__fail_terminating(call, kc_object_name(call->proposed));
}

static kc__phase_fn *const plugins[] = {
    kc__admit_namespace_lifecycle,
    admit_definition,
    kc__admit_pod_placement,
    kc__admit_service_numbers,
};

kc__verdict kc__phase_mutated(kc__call *call)
{
    for (size_t i = 0; i < KC_COUNT(plugins); i++) {
        kc__verdict verdict = plugins[i](call);
        if (verdict != KC__NEXT)
            return verdict;
    }
    return KC__NEXT;
}
