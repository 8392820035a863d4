/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policy_controllers.c: the ClusterRoles of the controllers of Kubernetes v1.34. Each is bound to
 * the service account of its controller in kube-system. policy.h explains the text of the rules.
 */
#include "apiserver/authz/policy.h"

const kc__policy_role kc__policy_controller_roles[] = {
    {"system:controller:attachdetach-controller",
     .rules = "list watch | core | persistentvolumeclaims persistentvolumes\n"
              "get list watch | core | nodes\n"
              "patch update | core | nodes/status\n"
              "list watch | core | pods\n"
              "create patch update | core events.k8s.io | events\n"
              "create delete get list watch | storage.k8s.io | volumeattachments\n"
              "get list watch | storage.k8s.io | csidrivers\n"
              "get list watch | storage.k8s.io | csinodes\n"},
    {"system:controller:certificate-controller",
     .rules = "delete get list watch | certificates.k8s.io | certificatesigningrequests\n"
              "update | certificates.k8s.io | certificatesigningrequests/approval "
              "certificatesigningrequests/status\n"
              "approve | certificates.k8s.io | signers | "
              "kubernetes.io/kube-apiserver-client-kubelet\n"
              "sign | certificates.k8s.io | signers | kubernetes.io/kube-apiserver-client "
              "kubernetes.io/kube-apiserver-client-kubelet kubernetes.io/kubelet-serving "
              "kubernetes.io/legacy-unknown\n"
              "create | authorization.k8s.io | subjectaccessreviews\n"
              "create patch update | core events.k8s.io | events\n"},
    {"system:controller:clusterrole-aggregation-controller",
     .rules = "escalate get list patch update watch | rbac.authorization.k8s.io | "
              "clusterroles\n"},
    {"system:controller:cronjob-controller",
     .rules = "get list update watch | batch | cronjobs\n"
              "create delete get list patch update watch | batch | jobs\n"
              "update | batch | cronjobs/status\n"
              "update | batch | cronjobs/finalizers\n"
              "delete list watch | core | pods\n"
              "create patch update | core events.k8s.io | events\n"},
    {"system:controller:daemon-set-controller",
     .rules = "get list watch | apps extensions | daemonsets\n"
              "update | apps extensions | daemonsets/status\n"
              "update | apps extensions | daemonsets/finalizers\n"
              "list watch | core | nodes\n"
              "create delete list patch watch | core | pods\n"
              "create | core | pods/binding\n"
              "create delete get list patch update watch | apps | controllerrevisions\n"
              "create patch update | core events.k8s.io | events\n"},
    {"system:controller:deployment-controller",
     .rules = "get list update watch | apps extensions | deployments\n"
              "update | apps extensions | deployments/status\n"
              "update | apps extensions | deployments/finalizers\n"
              "create delete get list patch update watch | apps extensions | replicasets\n"
              "get list update watch | core | pods\n"
              "create patch update | core events.k8s.io | events\n"},
    {"system:controller:disruption-controller",
     .rules = "get list watch | apps extensions | deployments\n"
              "get list watch | apps extensions | replicasets\n"
              "get list watch | core | replicationcontrollers\n"
              "get list watch | policy | poddisruptionbudgets\n"
              "get list watch | apps | statefulsets\n"
              "update | policy | poddisruptionbudgets/status\n"
              "patch update | core | pods/status\n"
              "get | * | */scale\n"
              "create patch update | core events.k8s.io | events\n"},
    {"system:controller:endpoint-controller",
     .rules = "get list watch | core | pods services\n"
              "create delete get list update watch | core | endpoints\n"
              "create | core | endpoints/restricted\n"
              "create patch update | core events.k8s.io | events\n"},
    {"system:controller:endpointslice-controller",
     .rules = "get list watch | core | nodes pods services\n"
              "update | core | services/finalizers\n"
              "create delete get list update watch | discovery.k8s.io | endpointslices\n"
              "create patch update | core events.k8s.io | events\n"},
    {"system:controller:endpointslicemirroring-controller",
     .rules = "get list watch | core | endpoints services\n"
              "update | core | services/finalizers\n"
              "update | core | endpoints/finalizers\n"
              "create delete get list update watch | discovery.k8s.io | endpointslices\n"
              "create patch update | core events.k8s.io | events\n"},
    {"system:controller:ephemeral-volume-controller",
     .rules = "get list watch | core | pods\n"
              "update | core | pods/finalizers\n"
              "create get list watch | core | persistentvolumeclaims\n"
              "create patch update | core events.k8s.io | events\n"},
    {"system:controller:expand-controller",
     .rules = "get list patch update watch | core | persistentvolumes\n"
              "patch update | core | persistentvolumeclaims/status\n"
              "get list watch | core | persistentvolumeclaims\n"
              "create patch update | core events.k8s.io | events\n"
              "get | core | services\n"},
    {"system:controller:generic-garbage-collector",
     .rules = "delete get list patch update watch | * | *\n"
              "create patch update | core events.k8s.io | events\n"},
    {"system:controller:horizontal-pod-autoscaler",
     .rules = "get list watch | autoscaling | horizontalpodautoscalers\n"
              "update | autoscaling | horizontalpodautoscalers/status\n"
              "get update | * | */scale\n"
              "list watch | core | pods\n"
              "list watch | metrics.k8s.io | pods\n"
              "get list watch | custom.metrics.k8s.io | *\n"
              "get list watch | external.metrics.k8s.io | *\n"
              "create patch update | core events.k8s.io | events\n"},
    {"system:controller:job-controller", .rules =
                                             "get list patch update watch | batch | jobs\n"
                                             "update | batch | jobs/status\n"
                                             "update | batch | jobs/finalizers\n"
                                             "create delete list patch watch | core | pods\n"
                                             "create patch update | core events.k8s.io | events\n"},
    {"system:controller:legacy-service-account-token-cleaner",
     .rules = "get | core | configmaps | kube-apiserver-legacy-service-account-token-tracking\n"
              "delete patch | core | secrets\n"},
    {"system:controller:namespace-controller",
     .rules = "delete get list watch | core | namespaces\n"
              "update | core | namespaces/finalize namespaces/status\n"
              "delete deletecollection get list watch | * | *\n"},
    {"system:controller:node-controller",
     .rules = "delete get list patch update watch | core | nodes\n"
              "patch update | core | nodes/status\n"
              "patch update | core | pods/status\n"
              "delete get list watch | core | pods\n"
              "create patch update | core events.k8s.io | events\n"},
    {"system:controller:persistent-volume-binder",
     .rules = "create delete get list update watch | core | persistentvolumes\n"
              "update | core | persistentvolumes/status\n"
              "get list update watch | core | persistentvolumeclaims\n"
              "update | core | persistentvolumeclaims/status\n"
              "create delete get list watch | core | pods\n"
              "get list watch | storage.k8s.io | storageclasses\n"
              "list watch | core | nodes\n"
              "create patch update | core events.k8s.io | events\n"
              "watch | core | events\n"
              "get | core | services\n"},
    {"system:controller:pod-garbage-collector", .rules = "delete list watch | core | pods\n"
                                                         "get list watch | core | nodes\n"
                                                         "patch | core | pods/status\n"},
    {"system:controller:pv-protection-controller",
     .rules = "get list update watch | core | persistentvolumes\n"
              "create patch update | core events.k8s.io | events\n"},
    {"system:controller:pvc-protection-controller",
     .rules = "get list update watch | core | persistentvolumeclaims\n"
              "get list watch | core | pods\n"
              "create patch update | core events.k8s.io | events\n"},
    {"system:controller:replicaset-controller",
     .rules = "get list update watch | apps extensions | replicasets\n"
              "update | apps extensions | replicasets/status\n"
              "update | apps extensions | replicasets/finalizers\n"
              "create delete list patch watch | core | pods\n"
              "create patch update | core events.k8s.io | events\n"},
    {"system:controller:replication-controller",
     .rules = "get list update watch | core | replicationcontrollers\n"
              "update | core | replicationcontrollers/status\n"
              "update | core | replicationcontrollers/finalizers\n"
              "create delete list patch watch | core | pods\n"
              "create patch update | core events.k8s.io | events\n"},
    {"system:controller:resource-claim-controller",
     .rules = "get list watch | core | pods\n"
              "update | core | pods/finalizers\n"
              "create delete get list watch | resource.k8s.io | resourceclaims\n"
              "patch update | resource.k8s.io | resourceclaims resourceclaims/status\n"
              "patch update | core | pods/status\n"
              "create patch update | core events.k8s.io | events\n"},
    {"system:controller:resourcequota-controller",
     .rules = "list watch | * | *\n"
              "update | core | resourcequotas/status\n"
              "create patch update | core events.k8s.io | events\n"},
    {"system:controller:root-ca-cert-publisher",
     .rules = "create update | core | configmaps\n"
              "create patch update | core events.k8s.io | events\n"},
    {"system:controller:route-controller",
     .rules = "list watch | core | nodes\n"
              "patch | core | nodes/status\n"
              "create patch update | core events.k8s.io | events\n"},
    {"system:controller:selinux-warning-controller",
     .rules = "create patch update | core events.k8s.io | events\n"
              "get list watch | core | persistentvolumes\n"
              "get list watch | core | persistentvolumeclaims\n"
              "get list watch | core | pods\n"
              "get list watch | storage.k8s.io | csidrivers\n"},
    {"system:controller:service-account-controller",
     .rules = "create | core | serviceaccounts\n"
              "create patch update | core events.k8s.io | events\n"},
    {"system:controller:service-cidrs-controller",
     .rules = "get list patch update watch | networking.k8s.io | servicecidrs\n"
              "patch update | networking.k8s.io | servicecidrs/finalizers\n"
              "patch update | networking.k8s.io | servicecidrs/status\n"
              "get list watch | networking.k8s.io | ipaddresses\n"
              "create patch update | core events.k8s.io | events\n"},
    {"system:controller:service-controller",
     .rules = "get list watch | core | services\n"
              "patch update | core | services/status\n"
              "list watch | core | nodes\n"
              "create patch update | core events.k8s.io | events\n"},
    {"system:controller:statefulset-controller",
     .rules = "list watch | core | pods\n"
              "get list watch | apps | statefulsets\n"
              "update | apps | statefulsets/status\n"
              "update | apps | statefulsets/finalizers\n"
              "create delete get patch update | core | pods\n"
              "create delete get list patch update watch | apps | controllerrevisions\n"
              "create get list watch | core | persistentvolumeclaims\n"
              "create patch update | core events.k8s.io | events\n"
              "delete update | core | persistentvolumeclaims\n"
              "update | core | pods/finalizers\n"},
    {"system:controller:ttl-after-finished-controller",
     .rules = "delete get list watch | batch | jobs\n"
              "create patch update | core events.k8s.io | events\n"},
    {"system:controller:ttl-controller", .rules =
                                             "list patch update watch | core | nodes\n"
                                             "create patch update | core events.k8s.io | events\n"},
    {"system:controller:validatingadmissionpolicy-status-controller",
     .rules = "get list watch | admissionregistration.k8s.io | validatingadmissionpolicies\n"
              "get patch update | admissionregistration.k8s.io | "
              "validatingadmissionpolicies/status\n"
              "create patch update | core events.k8s.io | events\n"},
    {"system:controller:volumeattributesclass-protection-controller",
     .rules = "get list watch | core | persistentvolumeclaims\n"
              "get list watch | core | persistentvolumes\n"
              "get list update watch | storage.k8s.io | volumeattributesclasses\n"
              "create patch update | core events.k8s.io | events\n"},
    {0},
};
