/* SPDX-License-Identifier: Apache-2.0 */
/*
 * system_crds_guard.c: rejects an update of a CRD that belongs to the server
 * (background/system_crds.h), if it changes the spec or the status. Metadata may change, so
 * that `kubectl apply` of the same manifest works. verbs/deletion.c rejects deletions.
 */
#include "apiserver/admission/plugins/system_crds_guard.h"

#include "apiserver/background/system_crds.h"
#include "kc/diff.h"

static bool changes_member(const kc_value *old, const kc_value *now, const char *member)
{
    return !kc_value_equal(kc_value_get(old, member), kc_value_get(now, member), NULL);
}

kc__rest_verdict kc__admission_system_crds(kc__rest_call *call)
{
    if (!call->current || !call->proposed || call->removes ||
        !kc__bootstrap_is_system_crd(call, kc_object_name(call->current)))
        return KC__REST_NEXT;
    kc_auto(kc_view) *before = kc_view_of(call->current), *after = kc_view_of(call->proposed);
    const kc_value *old = kc_view_root(before), *now = kc_view_root(after);
    if (!changes_member(old, now, "spec") && !changes_member(old, now, "status"))
        return KC__REST_NEXT;
    return kc__bootstrap_protect_crd(call, kc_object_name(call->current), "changed");
}
