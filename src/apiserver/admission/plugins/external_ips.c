/* SPDX-License-Identifier: Apache-2.0 */
/*
 * external_ips.c: implements the admission plugin DenyServiceExternalIPs. It rejects external IPs
 * that a Service does not have yet: a user that sets one can intercept the traffic to it. Services
 * keep those that they have.
 */
#include "apiserver/admission/plugins/external_ips.h"

#include "apiserver/admission/chain/plugin_request.h"
#include "kc/map.h"

kc__rest_verdict kc__admission_deny_external_ips(kc__rest_call *call)
{
    if (!kc__admission_writes(call, "core/services", NULL))
        return KC__REST_NEXT;
    kc_auto(kc_view) *view = kc_view_of(call->proposed);
    kc_auto(kc_view) *old = call->current ? kc_view_of(call->current) : NULL;
    kc_scoped(kc_map) before = {0};
    if (old)
        kc_value_each_item (kc_value_nested(kc_view_root(old), "spec.externalIPs"), ip)
            kc_map_put(&before, kc_value_as_str(ip), (void *)ip);
    kc_value_each_item (kc_value_nested(kc_view_root(view), "spec.externalIPs"), ip)
        if (!kc_map_get(&before, kc_value_as_str(ip)))
            return kc__admission_forbid(call, "Use of external IPs is denied by admission control");
    return KC__REST_NEXT;
}
