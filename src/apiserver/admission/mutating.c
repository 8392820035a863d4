/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mutating.c: the phase in which others may change or refuse a proposal before it is prepared and
 * validated: the server's own plug-ins, then webhooks. A table of plug-ins, in the order in which
 * they run; to add one, add its line. Each may run twice.
 */
#include "apiserver/admission/asking.h"
#include "apiserver/admission/namespace_lifecycle.h"
#include "apiserver/admission/plugins.h"
#include "apiserver/admission/pod_placement.h"
#include "apiserver/rest/write.h"

/* Nothing is created of a definition that goes; what slips through here the gate stops (write.c).
 */
static kc__verdict admit_definition(kc__call *call)
{
    const kc__resource *r = call->resource;
    if (call->current || !r->custom || r->verbs & KC__CREATE)
        return KC__NEXT;
    return kc__fail_terminating(call, kc__proposed_name(call));
}

static kc__phase_fn *const plugins[] = {
    kc__admit_namespace_lifecycle,
    admit_definition,
    kc__admit_pod_placement,
};

kc__verdict kc__admit_plugins(kc__call *call)
{
    for (size_t i = 0; i < KC_COUNT(plugins); i++) {
        kc__verdict verdict = plugins[i](call);
        if (verdict != KC__NEXT)
            return verdict;
    }
    return KC__NEXT;
}

kc__verdict kc__phase_mutated(kc__call *call)
{
    kc__verdict verdict = kc__admit_plugins(call);
    return verdict == KC__NEXT ? kc__admit_mutating_hooks(call) : verdict;
}
