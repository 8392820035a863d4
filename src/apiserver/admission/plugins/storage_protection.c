/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storage_protection.c: implements the admission plugin StorageObjectInUseProtection. New volumes,
 * claims and attribute classes get a finalizer; the controller `storage-protection` removes it from
 * a deleted object when no pod, claim or volume uses the object any more.
 */
#include "apiserver/admission/plugins/storage_protection.h"

#include "apiserver/admission/chain/plugin_request.h"

static const struct {
    const char *storage, *finalizer;
} protected_kinds[] = {
    {"core/persistentvolumes", "kubernetes.io/pv-protection"},
    {"core/persistentvolumeclaims", "kubernetes.io/pvc-protection"},
    {"storage.k8s.io/volumeattributesclasses", "kubernetes.io/vac-protection"},
};

static void add_finalizer(kc_edit *edit, const char *finalizer)
{
    kc_node *metadata = kc_node_ensure_object(edit, kc_edit_root(edit), KC_STR("metadata")),
            *list = kc_node_get(metadata, KC_STR("finalizers"));
    kc_node_each_item (list, item)
        if (kc_str_is(kc_node_as_str(item), finalizer))
            return;
    if (kc_node_type(list) != KC_JSON_ARRAY) {
        list = kc_node_array(edit);
        kc_node_set(edit, metadata, KC_STR("finalizers"), list);
    }
    kc_node_append(list, kc_node_str(edit, kc_cstr(finalizer)));
}

kc__rest_verdict kc__admission_storage_protection(kc__rest_call *call)
{
    for (size_t i = 0; i < KC_COUNT(protected_kinds); i++)
        if (kc__admission_creates(call, protected_kinds[i].storage))
            add_finalizer(kc__draft_edit(&call->draft), protected_kinds[i].finalizer);
    return KC__REST_NEXT;
}
