/* SPDX-License-Identifier: Apache-2.0 */
/*
 * always_deny.c: implements the admission plugin AlwaysDeny, for tests of clients. It rejects every
 * write, of objects and of bodies that replace them.
 */
#include "apiserver/admission/plugins/always_deny.h"

#include "apiserver/admission/chain/plugin_request.h"

kc__rest_verdict kc__admission_always_deny(kc__rest_call *call)
{
    return kc__admission_forbid(call, "admission control is denying all modifications");
}

kc__rest_verdict kc__admission_always_deny_deletion(kc__rest_call *call, const kc_object *object)
{
    (void)object;
    return kc__admission_always_deny(call);
}
