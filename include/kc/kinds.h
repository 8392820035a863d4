/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kinds.h: the Kubernetes kinds that controllers use most, for functions that take a kc_kind.
 * Define other kinds with four lines (kind.h), or let `kc generate` define them.
 */
#ifndef KC_KINDS_H
#define KC_KINDS_H

#include "kc/kind.h"

/*   name, group, version, kind, plural, singular, namespaced */
#define KC_KINDS_BUILTIN(X)                                                                       \
    X(namespace, "", "v1", "Namespace", "namespaces", "namespace", false)                         \
    X(node, "", "v1", "Node", "nodes", "node", false)                                             \
    X(pod, "", "v1", "Pod", "pods", "pod", true)                                                  \
    X(config_map, "", "v1", "ConfigMap", "configmaps", "configmap", true)                         \
    X(secret, "", "v1", "Secret", "secrets", "secret", true)                                      \
    X(service, "", "v1", "Service", "services", "service", true)                                  \
    X(service_account, "", "v1", "ServiceAccount", "serviceaccounts", "serviceaccount", true)     \
    X(endpoints, "", "v1", "Endpoints", "endpoints", "endpoints", true)                           \
    X(event, "", "v1", "Event", "events", "event", true)                                          \
    X(persistent_volume_claim, "", "v1", "PersistentVolumeClaim", "persistentvolumeclaims",       \
      "persistentvolumeclaim", true)                                                              \
    X(deployment, "apps", "v1", "Deployment", "deployments", "deployment", true)                  \
    X(replica_set, "apps", "v1", "ReplicaSet", "replicasets", "replicaset", true)                 \
    X(stateful_set, "apps", "v1", "StatefulSet", "statefulsets", "statefulset", true)             \
    X(daemon_set, "apps", "v1", "DaemonSet", "daemonsets", "daemonset", true)                     \
    X(job, "batch", "v1", "Job", "jobs", "job", true)                                             \
    X(cron_job, "batch", "v1", "CronJob", "cronjobs", "cronjob", true)                            \
    X(lease, "coordination.k8s.io", "v1", "Lease", "leases", "lease", true)                       \
    X(events_event, "events.k8s.io", "v1", "Event", "events", "event", true)                      \
    X(ingress, "networking.k8s.io", "v1", "Ingress", "ingresses", "ingress", true)                \
    X(role, "rbac.authorization.k8s.io", "v1", "Role", "roles", "role", true)                     \
    X(role_binding, "rbac.authorization.k8s.io", "v1", "RoleBinding", "rolebindings",             \
      "rolebinding", true)                                                                        \
    X(custom_resource_definition, "apiextensions.k8s.io", "v1", "CustomResourceDefinition",       \
      "customresourcedefinitions", "customresourcedefinition", false)                             \
    X(mutating_webhook, "admissionregistration.k8s.io", "v1", "MutatingWebhookConfiguration",     \
      "mutatingwebhookconfigurations", "mutatingwebhookconfiguration", false)                     \
    X(validating_webhook, "admissionregistration.k8s.io", "v1", "ValidatingWebhookConfiguration", \
      "validatingwebhookconfigurations", "validatingwebhookconfiguration", false)

#define KC_KIND_DECLARE(name, ...) extern const kc_kind kc_kind_##name;
KC_KINDS_BUILTIN(KC_KIND_DECLARE)
#undef KC_KIND_DECLARE

#endif
