/* SPDX-License-Identifier: Apache-2.0 */
/*
 * default.c: the phase that sets absent fields of the draft to the defaults of its kind.
 *
 * Mutating webhooks see the defaults, and the result of a webhook's patch is defaulted again
 * (admission/webhooks/dispatch_mutating.c).
 */
#include "apiserver/kinds/resource_ops.h"
#include "apiserver/request/write.h"

kc__rest_verdict kc__rest_phase_defaulted(kc__rest_call *call)
{
    const kc__resource *r = call->resource;
    /* A Scale has no defaults, and a deletion has no draft. */
    if (kc__draft_is_empty(&call->draft) || call->request_resource != r)
        return KC__REST_NEXT;
    return r->ops->default_(r, &call->draft, &call->error) < 0 ? KC__REST_FAIL : KC__REST_NEXT;
}
