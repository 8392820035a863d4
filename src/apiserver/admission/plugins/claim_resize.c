/* SPDX-License-Identifier: Apache-2.0 */
/*
 * claim_resize.c: implements the admission plugin PersistentVolumeClaimResize. The storage request
 * of a claim may grow only if the claim is bound and its StorageClass allows expansion.
 */
#include "apiserver/admission/plugins/claim_resize.h"

#include "apiserver/admission/chain/plugin_request.h"
#include "kc/quantity.h"

static kc_quantity requested_storage(const kc_value *claim)
{
    kc_quantity size = {0};
    const kc_value *storage = kc_value_nested(claim, "spec.resources.requests.storage");
    if (storage)
        kc_quantity_from(storage, &size, NULL);
    return size;
}

/* The class of a claim: the annotation that preceded the field wins. */
static kc_str class_of_claim(const kc_value *claim)
{
    const kc_str annotated =
        kc__admission_annotation_of(claim, "volume.beta.kubernetes.io/storage-class");
    return annotated.p ? annotated
                       : kc_value_as_str(kc_value_nested(claim, "spec.storageClassName"));
}

static bool class_allows_growth(const kc__rest_call *call, const kc_value *claim,
                                const kc_value *old)
{
    const kc_str class = class_of_claim(claim);
    if (kc_str_empty(class) || !kc_str_eq(class, class_of_claim(old)))
        return false;
    kc_auto(kc_object) *object =
        kc__watch_cache_get(kc__admission_objects(call, "storage.k8s.io", "storageclasses"), class);
    if (!object)
        return false;
    kc_auto(kc_view) *view = kc_view_of(object);
    return kc_value_as_bool(kc_value_get(kc_view_root(view), "allowVolumeExpansion"), false);
}

kc__rest_verdict kc__admission_claim_resize(kc__rest_call *call)
{
    if (!call->current || !kc__admission_writes(call, "core/persistentvolumeclaims", NULL))
        return KC__REST_NEXT;
    kc_auto(kc_view) *view = kc_view_of(call->proposed);
    kc_auto(kc_view) *old_view = kc_view_of(call->current);
    const kc_value *claim = kc_view_root(view), *old = kc_view_root(old_view);
    if (kc_quantity_cmp(requested_storage(claim), requested_storage(old)) <= 0)
        return KC__REST_NEXT;
    if (!kc_str_is(kc_value_as_str(kc_value_nested(old, "status.phase")), "Bound"))
        return kc__admission_forbid(call, "Only bound persistent volume claims can be expanded");
    if (!class_allows_growth(call, claim, old))
        return kc__admission_forbid(
            call, "only dynamically provisioned pvc can be resized and the storageclass that "
                  "provisions the pvc must support resize");
    return KC__REST_NEXT;
}
