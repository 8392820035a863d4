/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plugins.c: the table of admission plugins, in execution order, which is that of Kubernetes'
 * AllOrderedPlugins. Each stage (mutated, prepared, admitted) runs the functions of its column.
 *
 * To add a plugin: a file with its functions (plugins.h has the contract of each) and its row in
 * the table, at the place that it has in Kubernetes. A plugin that edits objects changes
 * call->draft through kc__draft_edit and leaves type checks to the end of `prepared`. A plugin that
 * keeps something for a request frees it in `release`: a request can fail in any phase. The names
 * are those of Kubernetes' plugins; flags select by them (plugin_selection.h). Rows marked
 * `builtin` are parts of this server.
 */
#include "apiserver/admission/chain/plugins.h"

#include "apiserver/admission/plugins/always_deny.h"
#include "apiserver/admission/plugins/always_pull_images.h"
#include "apiserver/admission/plugins/anti_affinity.h"
#include "apiserver/admission/plugins/app_armor_fields.h"
#include "apiserver/admission/plugins/certificate_permissions.h"
#include "apiserver/admission/plugins/certificate_request.h"
#include "apiserver/admission/plugins/claim_resize.h"
#include "apiserver/admission/plugins/default_class.h"
#include "apiserver/admission/plugins/default_tolerations.h"
#include "apiserver/admission/plugins/event_quota.h"
#include "apiserver/admission/plugins/event_rate_limit.h"
#include "apiserver/admission/plugins/extended_tolerations.h"
#include "apiserver/admission/plugins/external_ips.h"
#include "apiserver/admission/plugins/image_policy.h"
#include "apiserver/admission/plugins/limit_ranger.h"
#include "apiserver/admission/plugins/namespace_auto_provision.h"
#include "apiserver/admission/plugins/namespace_exists.h"
#include "apiserver/admission/plugins/namespace_lifecycle.h"
#include "apiserver/admission/plugins/node_restriction.h"
#include "apiserver/admission/plugins/node_taint.h"
#include "apiserver/admission/plugins/owner_permissions.h"
#include "apiserver/admission/plugins/pod_node_selector.h"
#include "apiserver/admission/plugins/pod_toleration_restriction.h"
#include "apiserver/admission/plugins/pod_topology_labels.h"
#include "apiserver/admission/plugins/priority.h"
#include "apiserver/admission/plugins/runtime_class.h"
#include "apiserver/admission/plugins/service_account.h"
#include "apiserver/admission/plugins/service_allocators.h"
#include "apiserver/admission/plugins/storage_protection.h"
#include "apiserver/admission/plugins/system_crds_guard.h"
#include "apiserver/admission/pod_security/pod_security.h"
#include "apiserver/admission/policies/policy_phases.h"
#include "apiserver/admission/quota/resource_quota.h"
#include "apiserver/admission/webhooks/webhook_phases.h"
#include "apiserver/kinds/resource_ops.h"

/* Rejects the creation of an object whose CRD is being deleted. The gate (request/commit.c) stops a
 * creation that passes here before the deletion begins. */
static kc__rest_verdict refuse_terminating_crd(kc__rest_call *call)
{
    const kc__resource *r = call->resource;
    if (call->current || !r->ops->is_terminating || !r->ops->is_terminating(r))
        return KC__REST_NEXT;
    return kc__rest_fail_terminating(call, kc__rest_proposed_name(call));
}

const kc__admission_plugin kc__admission_plugins[] = {
    {.name = "AlwaysAdmit", .off_by_default = true},
    {.name = "NamespaceAutoProvision",
     .off_by_default = true,
     .mutate = kc__admission_auto_provision,
     .admit_body = kc__admission_auto_provision_body,
     .waits = true},
    {.name = "NamespaceLifecycle",
     .mutate = kc__admission_namespace_lifecycle,
     .admit_body = kc__admission_namespace_lifecycle_body},
    {.name = "NamespaceExists", .off_by_default = true, .validate = kc__admission_namespace_exists},
    {.name = "CustomResourceTermination", .builtin = true, .mutate = refuse_terminating_crd},
    {.name = "SystemCRDs", .builtin = true, .validate = kc__admission_system_crds},
    {.name = "LimitPodHardAntiAffinityTopology",
     .off_by_default = true,
     .validate = kc__admission_anti_affinity},
    {.name = "LimitRanger",
     .mutate = kc__admission_limit_ranger_mutate,
     .validate = kc__admission_limit_ranger_validate},
    {.name = "ServiceAccount",
     .mutate = kc__admission_service_account_mutate,
     .validate = kc__admission_service_account_validate,
     .release = kc__admission_service_account_release},
    {.name = "NodeRestriction",
     .mutate = kc__admission_node_restriction,
     .admit_body = kc__admission_node_restriction_body,
     .admit_deletion = kc__admission_node_restriction_deletion},
    {.name = "TaintNodesByCondition", .mutate = kc__admission_node_taint},
    {.name = "AlwaysPullImages",
     .off_by_default = true,
     .mutate = kc__admission_always_pull_mutate,
     .validate = kc__admission_always_pull_validate},
    {.name = "ImagePolicyWebhook",
     .off_by_default = true,
     .validate = kc__admission_image_policy_validate,
     .waits = true},
    {.name = "PodSecurity", .validate = kc__admission_pod_security},
    {.name = "PodNodeSelector",
     .off_by_default = true,
     .mutate = kc__admission_pod_node_selector_mutate,
     .validate = kc__admission_pod_node_selector_validate},
    {.name = "Priority",
     .mutate = kc__admission_priority_mutate,
     .validate = kc__admission_priority_validate},
    {.name = "DefaultTolerationSeconds", .mutate = kc__admission_default_tolerations},
    {.name = "PodTolerationRestriction",
     .off_by_default = true,
     .mutate = kc__admission_toleration_restriction_mutate,
     .validate = kc__admission_toleration_restriction_validate},
    {.name = "EventQuota", .builtin = true, .mutate = kc__admission_event_quota},
    {.name = "EventRateLimit", .off_by_default = true, .validate = kc__admission_event_rate_limit},
    {.name = "ExtendedResourceToleration",
     .off_by_default = true,
     .mutate = kc__admission_extended_tolerations},
    {.name = "DefaultStorageClass", .mutate = kc__admission_default_storage_class},
    {.name = "StorageObjectInUseProtection", .mutate = kc__admission_storage_protection},
    {.name = "OwnerReferencesPermissionEnforcement",
     .off_by_default = true,
     .validate = kc__admission_owner_permissions},
    {.name = "PersistentVolumeClaimResize", .validate = kc__admission_claim_resize},
    {.name = "RuntimeClass",
     .mutate = kc__admission_runtime_class_mutate,
     .validate = kc__admission_runtime_class_validate},
    {.name = "CertificateApproval", .validate = kc__admission_certificate_approval},
    {.name = "CertificateSigning", .validate = kc__admission_certificate_signing},
    {.name = "ClusterTrustBundleAttest"}, /* The resource is not served. */
    {.name = "CertificateSubjectRestriction", .validate = kc__admission_certificate_subject},
    {.name = "AppArmorFields", .builtin = true, .allocate = kc__admission_app_armor_fields},
    {.name = "CertificateFields", .builtin = true, .allocate = kc__admission_certificate_fields},
    {.name = "DefaultIngressClass", .mutate = kc__admission_default_ingress_class},
    {.name = "DenyServiceExternalIPs",
     .off_by_default = true,
     .validate = kc__admission_deny_external_ips},
    {.name = "PodTopologyLabels",
     .off_by_default = true,
     .mutate = kc__admission_topology_labels_mutate,
     .admit_body = kc__admission_topology_labels_body},
    {.name = "MutatingAdmissionPolicy",
     .mutate = kc__admission_policies_mutate,
     .release = kc__admission_policies_release},
    {.name = "MutatingAdmissionWebhook", .mutate = kc__admission_webhooks_mutate, .waits = true},
    {.name = "ServiceAllocation", .builtin = true, .allocate = kc__service_allocators_allocate},
    {.name = "ValidatingAdmissionPolicy", .validate = kc__admission_policies_validate},
    {.name = "ValidatingAdmissionWebhook",
     .validate = kc__admission_webhooks_validate,
     .waits = true},
    {.name = "ResourceQuota",
     .validate = kc__admission_resource_quota,
     .release = kc__admission_resource_quota_release},
    {.name = "AlwaysDeny",
     .off_by_default = true,
     .mutate = kc__admission_always_deny,
     .admit_body = kc__admission_always_deny,
     .admit_deletion = kc__admission_always_deny_deletion,
     .validate = kc__admission_always_deny},
};
const size_t kc__admission_n_plugins = KC_COUNT(kc__admission_plugins);
_Static_assert(KC_COUNT(kc__admission_plugins) <= 64, "kc__admission_selection has 64 bits");
