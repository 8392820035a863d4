/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policy_roles.c: the ClusterRoles of users, nodes and components that every cluster has, as in
 * Kubernetes v1.34. The roles of controllers are in policy_controllers.c; policy.h explains the
 * text of the rules.
 */
#include "apiserver/authz/policy.h"

const kc__policy_role kc__policy_cluster_roles[] = {
    {"admin", .aggregates = "admin"},
    {"cluster-admin", .rules = "* | * | *\n"
                               "* | *\n"},
    {"edit", .aggregate_to = "admin", .aggregates = "edit"},
    {"system:aggregate-to-admin", .aggregate_to = "admin",
     .rules = "create | authorization.k8s.io | localsubjectaccessreviews\n"
              "create delete deletecollection get list patch update watch | "
              "rbac.authorization.k8s.io | rolebindings roles\n"},
    {"system:aggregate-to-edit", .aggregate_to = "edit",
     .rules = "get list watch | core | pods/attach pods/exec pods/portforward pods/proxy "
              "secrets services/proxy\n"
              "impersonate | core | serviceaccounts\n"
              "create delete deletecollection patch update | core | pods pods/attach pods/exec "
              "pods/portforward pods/proxy\n"
              "create | core | pods/eviction\n"
              "create delete deletecollection patch update | core | configmaps events "
              "persistentvolumeclaims replicationcontrollers replicationcontrollers/scale "
              "secrets serviceaccounts services services/proxy\n"
              "create | core | serviceaccounts/token\n"
              "create delete deletecollection patch update | apps | daemonsets deployments "
              "deployments/rollback deployments/scale replicasets replicasets/scale "
              "statefulsets statefulsets/scale\n"
              "create delete deletecollection patch update | autoscaling | "
              "horizontalpodautoscalers\n"
              "create delete deletecollection patch update | batch | cronjobs jobs\n"
              "create delete deletecollection patch update | extensions | daemonsets "
              "deployments deployments/rollback deployments/scale ingresses networkpolicies "
              "replicasets replicasets/scale replicationcontrollers/scale\n"
              "create delete deletecollection patch update | policy | poddisruptionbudgets\n"
              "create delete deletecollection patch update | networking.k8s.io | ingresses "
              "networkpolicies\n"
              "create delete deletecollection get list patch update watch | coordination.k8s.io "
              "| leases\n"
              "create delete deletecollection patch update | resource.k8s.io | resourceclaims "
              "resourceclaimtemplates\n"},
    {"system:aggregate-to-view", .aggregate_to = "view",
     .rules = "get list watch | core | configmaps endpoints persistentvolumeclaims "
              "persistentvolumeclaims/status pods replicationcontrollers "
              "replicationcontrollers/scale serviceaccounts services services/status\n"
              "get list watch | core | bindings events limitranges namespaces/status pods/log "
              "pods/status replicationcontrollers/status resourcequotas resourcequotas/status\n"
              "get list watch | core | namespaces\n"
              "get list watch | discovery.k8s.io | endpointslices\n"
              "get list watch | apps | controllerrevisions daemonsets daemonsets/status "
              "deployments deployments/scale deployments/status replicasets replicasets/scale "
              "replicasets/status statefulsets statefulsets/scale statefulsets/status\n"
              "get list watch | autoscaling | horizontalpodautoscalers "
              "horizontalpodautoscalers/status\n"
              "get list watch | batch | cronjobs cronjobs/status jobs jobs/status\n"
              "get list watch | extensions | daemonsets daemonsets/status deployments "
              "deployments/scale deployments/status ingresses ingresses/status networkpolicies "
              "replicasets replicasets/scale replicasets/status replicationcontrollers/scale\n"
              "get list watch | policy | poddisruptionbudgets poddisruptionbudgets/status\n"
              "get list watch | networking.k8s.io | ingresses ingresses/status "
              "networkpolicies\n"
              "get list watch | resource.k8s.io | resourceclaims resourceclaims/status "
              "resourceclaimtemplates\n"},
    {"system:auth-delegator", .rules = "create | authentication.k8s.io | tokenreviews\n"
                                       "create | authorization.k8s.io | subjectaccessreviews\n"},
    {"system:basic-user", .rules = "create | authorization.k8s.io | selfsubjectaccessreviews "
                                   "selfsubjectrulesreviews\n"
                                   "create | authentication.k8s.io | selfsubjectreviews\n"},
    {"system:certificates.k8s.io:certificatesigningrequests:nodeclient",
     .rules = "create | certificates.k8s.io | certificatesigningrequests/nodeclient\n"},
    {"system:certificates.k8s.io:certificatesigningrequests:selfnodeclient",
     .rules = "create | certificates.k8s.io | certificatesigningrequests/selfnodeclient\n"},
    {"system:certificates.k8s.io:kube-apiserver-client-approver",
     .rules = "approve | certificates.k8s.io | signers | kubernetes.io/kube-apiserver-client\n"},
    {"system:certificates.k8s.io:kube-apiserver-client-kubelet-approver",
     .rules = "approve | certificates.k8s.io | signers | "
              "kubernetes.io/kube-apiserver-client-kubelet\n"},
    {"system:certificates.k8s.io:kubelet-serving-approver",
     .rules = "approve | certificates.k8s.io | signers | kubernetes.io/kubelet-serving\n"},
    {"system:certificates.k8s.io:legacy-unknown-approver",
     .rules = "approve | certificates.k8s.io | signers | kubernetes.io/legacy-unknown\n"},
    {"system:discovery",
     .rules = "get | /api /api/* /apis /apis/* /healthz /livez /openapi /openapi/* /readyz "
              "/version /version/\n"},
    {"system:heapster", .rules = "get list watch | core | events namespaces nodes pods\n"
                                 "get list watch | extensions | deployments\n"},
    {"system:kube-aggregator", .rules = "get list watch | core | endpoints services\n"},
    {"system:kube-controller-manager",
     .rules = "create patch update | core events.k8s.io | events\n"
              "create | coordination.k8s.io | leases\n"
              "get update | coordination.k8s.io | leases | kube-controller-manager\n"
              "create | core | secrets serviceaccounts\n"
              "delete | core | secrets\n"
              "get | core | configmaps namespaces secrets serviceaccounts\n"
              "update | core | secrets serviceaccounts\n"
              "create | authentication.k8s.io | tokenreviews\n"
              "create | authorization.k8s.io | subjectaccessreviews\n"
              "list watch | * | *\n"
              "create | core | serviceaccounts/token\n"},
    {"system:kube-dns", .rules = "list watch | core | endpoints services\n"},
    {"system:kube-scheduler",
     .rules = "create patch update | core events.k8s.io | events\n"
              "create | coordination.k8s.io | leases\n"
              "get list update watch | coordination.k8s.io | leases | kube-scheduler\n"
              "create delete deletecollection get list patch update watch | coordination.k8s.io "
              "| leasecandidates\n"
              "get list watch | core | nodes\n"
              "delete get list watch | core | pods\n"
              "create | core | bindings pods/binding\n"
              "patch update | core | pods/status\n"
              "get list watch | core | replicationcontrollers services\n"
              "get list watch | apps extensions | replicasets\n"
              "get list watch | apps | statefulsets\n"
              "get list watch | policy | poddisruptionbudgets\n"
              "get list watch | core | persistentvolumeclaims persistentvolumes\n"
              "create | authentication.k8s.io | tokenreviews\n"
              "create | authorization.k8s.io | subjectaccessreviews\n"
              "get list watch | storage.k8s.io | csinodes\n"
              "get list watch | storage.k8s.io | volumeattachments\n"
              "get list watch | core | namespaces\n"
              "get list watch | storage.k8s.io | csidrivers\n"
              "get list watch | storage.k8s.io | csistoragecapacities\n"
              "get list watch | resource.k8s.io | deviceclasses\n"
              "get list patch update watch | resource.k8s.io | resourceclaims\n"
              "get list patch update watch | resource.k8s.io | resourceclaims/status\n"
              "update | core | pods/finalizers\n"
              "get list watch | resource.k8s.io | resourceslices\n"},
    {"system:kubelet-api-admin", .rules =
                                     "get list watch | core | nodes\n"
                                     "proxy | core | nodes\n"
                                     "* | core | nodes/log nodes/metrics nodes/proxy nodes/stats\n"
                                     "* | core | nodes/configz nodes/healthz nodes/pods\n"},
    {"system:monitoring",
     .rules = "get | /healthz /healthz/* /livez /livez/* /metrics /metrics/slis /readyz "
              "/readyz/*\n"
              "get | core | nodes/metrics\n"},
    {"system:node",
     .rules = "create | authentication.k8s.io | tokenreviews\n"
              "create | authorization.k8s.io | localsubjectaccessreviews subjectaccessreviews\n"
              "get list watch | core | services\n"
              "create get list watch | core | nodes\n"
              "patch update | core | nodes/status\n"
              "patch update | core | nodes\n"
              "create patch update | core | events\n"
              "get list watch | core | pods\n"
              "create delete | core | pods\n"
              "patch update | core | pods/status\n"
              "create | core | pods/eviction\n"
              "get list watch | core | configmaps secrets\n"
              "get | core | persistentvolumeclaims persistentvolumes\n"
              "get | core | endpoints\n"
              "create get list watch | certificates.k8s.io | certificatesigningrequests\n"
              "create delete get patch update | coordination.k8s.io | leases\n"
              "get | storage.k8s.io | volumeattachments\n"
              "create | core | serviceaccounts/token\n"
              "get patch update | core | persistentvolumeclaims/status\n"
              "get list watch | storage.k8s.io | csidrivers\n"
              "create delete get patch update | storage.k8s.io | csinodes\n"
              "get list watch | node.k8s.io | runtimeclasses\n"
              "get | resource.k8s.io | resourceclaims\n"
              "deletecollection | resource.k8s.io | resourceslices\n"
              "get | core | serviceaccounts\n"},
    {"system:node-bootstrapper",
     .rules = "create get list watch | certificates.k8s.io | certificatesigningrequests\n"},
    {"system:node-problem-detector", .rules =
                                         "get | core | nodes\n"
                                         "patch | core | nodes/status\n"
                                         "create patch update | core events.k8s.io | events\n"},
    {"system:node-proxier", .rules = "list watch | core | endpoints services\n"
                                     "get list watch | core | nodes\n"
                                     "create patch update | core events.k8s.io | events\n"
                                     "list watch | networking.k8s.io | servicecidrs\n"
                                     "list watch | discovery.k8s.io | endpointslices\n"},
    {"system:persistent-volume-provisioner",
     .rules = "create delete get list watch | core | persistentvolumes\n"
              "get list update watch | core | persistentvolumeclaims\n"
              "get list watch | storage.k8s.io | storageclasses\n"
              "watch | core | events\n"
              "create patch update | core events.k8s.io | events\n"},
    {"system:public-info-viewer", .rules = "get | /healthz /livez /readyz /version /version/\n"},
    {"system:service-account-issuer-discovery",
     .rules = "get | /.well-known/openid-configuration /.well-known/openid-configuration/ "
              "/openid/v1/jwks /openid/v1/jwks/\n"},
    {"system:volume-scheduler",
     .rules = "get list patch update watch | core | persistentvolumes\n"
              "get list watch | storage.k8s.io | storageclasses\n"
              "get list patch update watch | core | persistentvolumeclaims\n"},
    {"view", .aggregate_to = "edit", .aggregates = "view"},
    {0},
};
