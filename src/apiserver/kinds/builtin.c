/* SPDX-License-Identifier: Apache-2.0 */
/*
 * builtin.c: the built-in resources: what Kubernetes v1.34 serves as stable and the published API
 * definitions describe, one line or a few each, as discovery shows them.
 *
 * A group version has a macro that fills in what its resources have in common: names, the type
 * among the definitions, where it is stored. What follows in the line is what differs. Order
 * matters: resources of a group version stand together, and they and their subresources are sorted
 * by name, which is the order of discovery. A test holds the table to that.
 *
 * Two resources are stored elsewhere than their own name says: the events of events.k8s.io are
 * those of the core group in other clothes, and both versions of autoscaling share what v2 stores.
 *
 * One version is older than all that: definitions of apiextensions.k8s.io/v1beta1, which Kubernetes
 * gave up and manifests still have. Discovery shows it after v1, so only who names it gets it.
 *
 * What is not stored (reviews, bindings, component statuses) is listed all the same, with the verbs
 * it has; handlers of their own answer for it.
 *
 * To add a resource: a line in its group version. To add a group: a macro, its lines, and a line in
 * kc__builtin_groups, at its place in discovery.
 */
#include "apiserver/crd/crd_strategy.h"
#include "apiserver/kinds/resource.h"

/* ---- the words of the table ---- */

/* clang-format off */
#define NAMES(...) (const char *const[]){__VA_ARGS__, NULL}
#define WITH(...)  .subresources = (const kc__subresource[]){__VA_ARGS__, {.name = NULL}}
/* clang-format on */

/* `package` is the group's name among the definitions: "rbac" of "rbac.authorization.k8s.io". */
#define NAMED(in_group, in_version, package, with_plural, with_singular, with_kind)             \
    .group = in_group, .version = in_version, .plural = with_plural, .singular = with_singular, \
    .kind = with_kind, .type_name = "io.k8s.api." package "." in_version "." with_kind
#define LISTED(with_kind)       .list_kind = with_kind "List"
#define STORED(at, api_version) .storage = at, .storage_api_version = api_version
#define USUAL(in_group, package, plural, singular, kind)                                          \
    NAMED(in_group, "v1", package, plural, singular, kind), .verbs = KC__ALL_VERBS, LISTED(kind), \
        STORED(in_group "/" plural, in_group "/v1")

#define NAMESPACED      .namespaced = true
#define SHORT(...)      .short_names = NAMES(__VA_ARGS__)
#define CATEGORIES(...) .categories = NAMES(__VA_ARGS__)
#define VERBS(set)      .verbs = (set)

#define READ_WRITE     (KC__GET | KC__PATCH | KC__UPDATE)
#define PROXIED        (KC__CREATE | KC__DELETE | KC__GET | KC__PATCH | KC__UPDATE)
#define CONNECTED      (KC__CREATE | KC__GET)
#define SUB(of, verbs) {.name = of, VERBS(verbs)}
/* One that speaks a kind of its parent's group version, or of another. */
#define SUB_KIND(of, verbs, its_kind) {.name = of, VERBS(verbs), .kind = its_kind}
#define SUB_OF(of, verbs, its_group, its_version, its_kind) \
    {.name = of, VERBS(verbs), .group = its_group, .version = its_version, .kind = its_kind}
#define STATUS SUB("status", READ_WRITE)
#define SCALE  SUB_OF("scale", READ_WRITE, "autoscaling", "v1", "Scale")

/* ---- the group versions ---- */

#define CORE_NAMED(plural, singular, kind) NAMED("", "v1", "core", plural, singular, kind)
#define CORE_STORED(plural, singular, kind) \
    CORE_NAMED(plural, singular, kind), LISTED(kind), STORED("core/" plural, "v1")
#define CORE(plural, singular, kind) CORE_STORED(plural, singular, kind), .verbs = KC__ALL_VERBS

#define ADMISSION(plural, singular, kind)                                                   \
    USUAL("admissionregistration.k8s.io", "admissionregistration", plural, singular, kind), \
        CATEGORIES("api-extensions")
/* Kubernetes serves it from a server of its own, and so are its definitions elsewhere. */
#define DEFINITIONS(in_version)                                                                    \
    .group = "apiextensions.k8s.io", .version = in_version, .plural = "customresourcedefinitions", \
    .singular = "customresourcedefinition", .kind = "CustomResourceDefinition",                    \
    .type_name = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions." in_version               \
                 ".CustomResourceDefinition",                                                      \
    VERBS(KC__ALL_VERBS), LISTED("CustomResourceDefinition"),                                      \
    STORED("apiextensions.k8s.io/customresourcedefinitions", "apiextensions.k8s.io/v1"),           \
    SHORT("crd", "crds"), CATEGORIES("api-extensions"), WITH(STATUS)
#define APPS(plural, singular, kind) USUAL("apps", "apps", plural, singular, kind), NAMESPACED
#define AUTHENTICATION(plural, singular, kind)                                      \
    NAMED("authentication.k8s.io", "v1", "authentication", plural, singular, kind), \
        VERBS(KC__CREATE)
#define AUTHORIZATION(plural, singular, kind) \
    NAMED("authorization.k8s.io", "v1", "authorization", plural, singular, kind), VERBS(KC__CREATE)
#define AUTOSCALER(version)                                                                     \
    NAMED("autoscaling", version, "autoscaling", "horizontalpodautoscalers",                    \
          "horizontalpodautoscaler", "HorizontalPodAutoscaler"),                                \
        LISTED("HorizontalPodAutoscaler"),                                                      \
        STORED("autoscaling/horizontalpodautoscalers", "autoscaling/v2"), VERBS(KC__ALL_VERBS), \
        NAMESPACED, SHORT("hpa"), CATEGORIES("all"), WITH(STATUS)
#define BATCH(plural, singular, kind) \
    USUAL("batch", "batch", plural, singular, kind), NAMESPACED, CATEGORIES("all"), WITH(STATUS)
#define CERTIFICATES(plural, singular, kind) \
    USUAL("certificates.k8s.io", "certificates", plural, singular, kind)
#define COORDINATION(plural, singular, kind) \
    USUAL("coordination.k8s.io", "coordination", plural, singular, kind)
#define DISCOVERY(plural, singular, kind) \
    USUAL("discovery.k8s.io", "discovery", plural, singular, kind)
#define FLOW(plural, singular, kind) \
    USUAL("flowcontrol.apiserver.k8s.io", "flowcontrol", plural, singular, kind), WITH(STATUS)
#define NETWORKING(plural, singular, kind) \
    USUAL("networking.k8s.io", "networking", plural, singular, kind)
#define NODE(plural, singular, kind)   USUAL("node.k8s.io", "node", plural, singular, kind)
#define POLICY(plural, singular, kind) USUAL("policy", "policy", plural, singular, kind)
#define RBAC(plural, singular, kind) \
    USUAL("rbac.authorization.k8s.io", "rbac", plural, singular, kind)
#define SCHEDULING(plural, singular, kind) \
    USUAL("scheduling.k8s.io", "scheduling", plural, singular, kind)
#define VOLUMES(plural, singular, kind) USUAL("storage.k8s.io", "storage", plural, singular, kind)

/* ---- the groups ---- */

#define GROUP(of, ...) {.name = of, .versions = NAMES(__VA_ARGS__)}

const kc__group kc__builtin_groups[] = {
    GROUP("", "v1"),
    GROUP("apps", "v1"),
    GROUP("events.k8s.io", "v1"),
    GROUP("authentication.k8s.io", "v1"),
    GROUP("authorization.k8s.io", "v1"),
    GROUP("autoscaling", "v2", "v1"),
    GROUP("batch", "v1"),
    GROUP("certificates.k8s.io", "v1"),
    GROUP("networking.k8s.io", "v1"),
    GROUP("policy", "v1"),
    GROUP("rbac.authorization.k8s.io", "v1"),
    GROUP("storage.k8s.io", "v1"),
    GROUP("admissionregistration.k8s.io", "v1"),
    GROUP("apiextensions.k8s.io", "v1", "v1beta1"),
    GROUP("scheduling.k8s.io", "v1"),
    GROUP("coordination.k8s.io", "v1"),
    GROUP("node.k8s.io", "v1"),
    GROUP("discovery.k8s.io", "v1"),
    GROUP("flowcontrol.apiserver.k8s.io", "v1"),
};
const size_t kc__n_builtin_groups = KC_COUNT(kc__builtin_groups);

/* ---- the resources ---- */

const kc__resource kc__builtin_resources[] = {
    /* v1 */
    {CORE_NAMED("bindings", "binding", "Binding"), NAMESPACED, VERBS(KC__CREATE)},
    {CORE_NAMED("componentstatuses", "componentstatus", "ComponentStatus"),
     LISTED("ComponentStatus"), VERBS(KC__GET | KC__LIST), SHORT("cs")},
    {CORE("configmaps", "configmap", "ConfigMap"), NAMESPACED, SHORT("cm")},
    {CORE("endpoints", "endpoints", "Endpoints"), NAMESPACED, SHORT("ep"),
     .deprecation = "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"},
    {CORE("events", "event", "Event"), NAMESPACED, SHORT("ev")},
    {CORE("limitranges", "limitrange", "LimitRange"), NAMESPACED, SHORT("limits")},
    {CORE_STORED("namespaces", "namespace", "Namespace"),
     VERBS(KC__ALL_VERBS & ~(unsigned)KC__DELETE_COLLECTION), SHORT("ns"),
     WITH(SUB("finalize", KC__UPDATE), STATUS)},
    {CORE("nodes", "node", "Node"), SHORT("no"),
     WITH(SUB_KIND("proxy", PROXIED, "NodeProxyOptions"), STATUS)},
    {CORE("persistentvolumeclaims", "persistentvolumeclaim", "PersistentVolumeClaim"), NAMESPACED,
     SHORT("pvc"), WITH(STATUS)},
    {CORE("persistentvolumes", "persistentvolume", "PersistentVolume"), SHORT("pv"), WITH(STATUS)},
    {CORE("pods", "pod", "Pod"), NAMESPACED, SHORT("po"), CATEGORIES("all"),
     WITH(SUB_KIND("attach", CONNECTED, "PodAttachOptions"),
          SUB_KIND("binding", KC__CREATE, "Binding"), SUB("ephemeralcontainers", READ_WRITE),
          {.name = "eviction",
           VERBS(KC__CREATE),
           .group = "policy",
           .version = "v1",
           .kind = "Eviction",
           .also = "policy/v1beta1"},
          SUB_KIND("exec", CONNECTED, "PodExecOptions"), SUB("log", KC__GET),
          SUB_KIND("portforward", CONNECTED, "PodPortForwardOptions"),
          SUB_KIND("proxy", PROXIED, "PodProxyOptions"), SUB("resize", READ_WRITE), STATUS)},
    {CORE("podtemplates", "podtemplate", "PodTemplate"), NAMESPACED},
    {CORE("replicationcontrollers", "replicationcontroller", "ReplicationController"), NAMESPACED,
     SHORT("rc"), CATEGORIES("all"), WITH(SCALE, STATUS)},
    {CORE("resourcequotas", "resourcequota", "ResourceQuota"), NAMESPACED, SHORT("quota"),
     WITH(STATUS)},
    {CORE("secrets", "secret", "Secret"), NAMESPACED},
    {CORE("serviceaccounts", "serviceaccount", "ServiceAccount"), NAMESPACED, SHORT("sa"),
     WITH(SUB_OF("token", KC__CREATE, "authentication.k8s.io", "v1", "TokenRequest"))},
    {CORE("services", "service", "Service"), NAMESPACED, SHORT("svc"), CATEGORIES("all"),
     WITH(SUB_KIND("proxy", PROXIED, "ServiceProxyOptions"), STATUS)},

    /* apps/v1 */
    {APPS("controllerrevisions", "controllerrevision", "ControllerRevision")},
    {APPS("daemonsets", "daemonset", "DaemonSet"), SHORT("ds"), CATEGORIES("all"), WITH(STATUS)},
    {APPS("deployments", "deployment", "Deployment"), SHORT("deploy"), CATEGORIES("all"),
     WITH(SCALE, STATUS)},
    {APPS("replicasets", "replicaset", "ReplicaSet"), SHORT("rs"), CATEGORIES("all"),
     WITH(SCALE, STATUS)},
    {APPS("statefulsets", "statefulset", "StatefulSet"), SHORT("sts"), CATEGORIES("all"),
     WITH(SCALE, STATUS)},

    /* events.k8s.io/v1 */
    {NAMED("events.k8s.io", "v1", "events", "events", "event", "Event"), LISTED("Event"),
     STORED("core/events", "v1"), NAMESPACED, VERBS(KC__ALL_VERBS), SHORT("ev")},

    /* authentication.k8s.io/v1, authorization.k8s.io/v1 */
    {AUTHENTICATION("selfsubjectreviews", "selfsubjectreview", "SelfSubjectReview")},
    {AUTHENTICATION("tokenreviews", "tokenreview", "TokenReview")},
    {AUTHORIZATION("localsubjectaccessreviews", "localsubjectaccessreview",
                   "LocalSubjectAccessReview"),
     NAMESPACED},
    {AUTHORIZATION("selfsubjectaccessreviews", "selfsubjectaccessreview",
                   "SelfSubjectAccessReview")},
    {AUTHORIZATION("selfsubjectrulesreviews", "selfsubjectrulesreview", "SelfSubjectRulesReview")},
    {AUTHORIZATION("subjectaccessreviews", "subjectaccessreview", "SubjectAccessReview")},

    /* autoscaling/v2, autoscaling/v1 */
    {AUTOSCALER("v2")},
    {AUTOSCALER("v1")},

    /* batch/v1 */
    {BATCH("cronjobs", "cronjob", "CronJob"), SHORT("cj")},
    {BATCH("jobs", "job", "Job")},

    /* certificates.k8s.io/v1 */
    {CERTIFICATES("certificatesigningrequests", "certificatesigningrequest",
                  "CertificateSigningRequest"),
     SHORT("csr"), WITH(SUB("approval", READ_WRITE), STATUS)},

    /* networking.k8s.io/v1 */
    {NETWORKING("ingressclasses", "ingressclass", "IngressClass")},
    {NETWORKING("ingresses", "ingress", "Ingress"), NAMESPACED, SHORT("ing"), WITH(STATUS)},
    {NETWORKING("networkpolicies", "networkpolicy", "NetworkPolicy"), NAMESPACED, SHORT("netpol")},

    /* policy/v1 */
    {POLICY("poddisruptionbudgets", "poddisruptionbudget", "PodDisruptionBudget"), NAMESPACED,
     SHORT("pdb"), WITH(STATUS)},

    /* rbac.authorization.k8s.io/v1 */
    {RBAC("clusterrolebindings", "clusterrolebinding", "ClusterRoleBinding")},
    {RBAC("clusterroles", "clusterrole", "ClusterRole")},
    {RBAC("rolebindings", "rolebinding", "RoleBinding"), NAMESPACED},
    {RBAC("roles", "role", "Role"), NAMESPACED},

    /* storage.k8s.io/v1 */
    {VOLUMES("csidrivers", "csidriver", "CSIDriver")},
    {VOLUMES("csinodes", "csinode", "CSINode")},
    {VOLUMES("csistoragecapacities", "csistoragecapacity", "CSIStorageCapacity"), NAMESPACED},
    {VOLUMES("storageclasses", "storageclass", "StorageClass"), SHORT("sc")},
    {VOLUMES("volumeattachments", "volumeattachment", "VolumeAttachment"), WITH(STATUS)},

    /* admissionregistration.k8s.io/v1 */
    {ADMISSION("mutatingwebhookconfigurations", "mutatingwebhookconfiguration",
               "MutatingWebhookConfiguration")},
    {ADMISSION("validatingadmissionpolicies", "validatingadmissionpolicy",
               "ValidatingAdmissionPolicy"),
     WITH(STATUS)},
    {ADMISSION("validatingadmissionpolicybindings", "validatingadmissionpolicybinding",
               "ValidatingAdmissionPolicyBinding")},
    {ADMISSION("validatingwebhookconfigurations", "validatingwebhookconfiguration",
               "ValidatingWebhookConfiguration")},

    /* apiextensions.k8s.io/v1, apiextensions.k8s.io/v1beta1 */
    {DEFINITIONS("v1")},
    {DEFINITIONS("v1beta1"), .strategy = &kc__strategy_crd_beta,
     .deprecation =
         "apiextensions.k8s.io/v1beta1 CustomResourceDefinition is deprecated in v1.16+, "
         "unavailable in v1.22+; use apiextensions.k8s.io/v1 CustomResourceDefinition"},

    /* scheduling.k8s.io/v1, coordination.k8s.io/v1, node.k8s.io/v1, discovery.k8s.io/v1 */
    {SCHEDULING("priorityclasses", "priorityclass", "PriorityClass"), SHORT("pc")},
    {COORDINATION("leases", "lease", "Lease"), NAMESPACED},
    {NODE("runtimeclasses", "runtimeclass", "RuntimeClass")},
    {DISCOVERY("endpointslices", "endpointslice", "EndpointSlice"), NAMESPACED},

    /* flowcontrol.apiserver.k8s.io/v1 */
    {FLOW("flowschemas", "flowschema", "FlowSchema")},
    {FLOW("prioritylevelconfigurations", "prioritylevelconfiguration",
          "PriorityLevelConfiguration")},
};
const size_t kc__n_builtin_resources = KC_COUNT(kc__builtin_resources);
