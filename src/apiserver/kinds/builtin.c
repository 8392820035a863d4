/* SPDX-License-Identifier: Apache-2.0 */
/*
 * builtin.c: the table of built-in resources: those that Kubernetes v1.34 serves by default, one or
 * a few lines each, as discovery shows them.
 *
 * Each group version has a macro that sets what its resources have in common: names, the type in
 * the API definitions, the storage. The rest of a row is what differs. Order matters: the resources
 * of a group version are adjacent, and they and their subresources are sorted by name, which is the
 * order of discovery. A test checks this.
 *
 * Two resources are not stored under their own name: the events of events.k8s.io are those of the
 * core group in another form, and both versions of autoscaling share the stored form of v2.
 *
 * MutatingAdmissionPolicies, a beta that v1.34 serves on request, are served, too. One version is
 * older than v1.34: CRDs of apiextensions.k8s.io/v1beta1, which Kubernetes has
 * removed and manifests still use. Discovery lists it after v1, so only clients that name it get
 * it.
 *
 * The storage keys are those of Kubernetes v1.34 in etcd: a resource is stored under its plural
 * without its group. Five resources keep names from before they were renamed (minions are nodes)
 * and use an _UNDER macro. CRDs and APIServices are stored under their group.
 *
 * Resources that are not stored (reviews, bindings, component statuses) are listed as well, with
 * the verbs they support; dedicated handlers serve them.
 *
 * To add a resource: add a row in its group version. To add a group: add a macro, its rows, and a
 * row in kc__resource_builtin_groups at its position in discovery.
 */
#include "apiserver/kinds/apiextensions/crd_strategy.h"
#include "apiserver/kinds/resource.h"
#include "apiserver/storage/stored_key.h"

/* ---- macros of the table ---- */

/* clang-format off */
#define NAMES(...) (const char *const[]){__VA_ARGS__, NULL}
#define WITH(...)  .subresources = (const kc__resource_subresource[]){__VA_ARGS__, {.name = NULL}}
/* clang-format on */

/* `package` is the group's name in the API definitions: "rbac" for "rbac.authorization.k8s.io". */
#define NAMED(in_group, in_version, package, with_plural, with_singular, with_kind)             \
    .group = in_group, .version = in_version, .plural = with_plural, .singular = with_singular, \
    .kind = with_kind, .type_name = "io.k8s.api." package "." in_version "." with_kind
#define LISTED(with_kind) .list_kind = with_kind "List"
/* `under` is the key prefix in the storage, below the root: that of Kubernetes in etcd. */
#define STORED(as, under, api_version) \
    .storage = as, .key_prefix = KC__STORAGE_KEY_ROOT under "/", .storage_api_version = api_version
#define USUAL_UNDER(under, in_group, package, plural, singular, kind)                            \
    NAMED(in_group, "v1", package, plural, singular, kind), .verbs = KC__VERB_ALL, LISTED(kind), \
        STORED(in_group "/" plural, under, in_group "/v1")
#define USUAL(in_group, package, plural, singular, kind) \
    USUAL_UNDER(plural, in_group, package, plural, singular, kind)

/* Kubernetes stores it in another version than this server: see stored_value.h. */
#define IN_ETCD(api_version) .etcd_api_version = api_version

#define NAMESPACED      .namespaced = true
#define SHORT(...)      .short_names = NAMES(__VA_ARGS__)
#define CATEGORIES(...) .categories = NAMES(__VA_ARGS__)
#define VERBS(set)      .verbs = (set)

#define READ_WRITE (KC__VERB_GET | KC__VERB_PATCH | KC__VERB_UPDATE)
#define PROXIED \
    (KC__VERB_CREATE | KC__VERB_DELETE | KC__VERB_GET | KC__VERB_PATCH | KC__VERB_UPDATE)
#define CONNECTED      (KC__VERB_CREATE | KC__VERB_GET)
#define SUB(of, verbs) {.name = of, VERBS(verbs)}
/* A subresource with another kind, of its parent's group version or of another one. */
#define SUB_KIND(of, verbs, its_kind) {.name = of, VERBS(verbs), .kind = its_kind}
#define SUB_OF(of, verbs, its_group, its_version, its_kind) \
    {.name = of, VERBS(verbs), .group = its_group, .version = its_version, .kind = its_kind}
#define STATUS SUB("status", READ_WRITE)
#define SCALE  SUB_OF("scale", READ_WRITE, "autoscaling", "v1", "Scale")

/* ---- the group versions ---- */

#define CORE_NAMED(plural, singular, kind) NAMED("", "v1", "core", plural, singular, kind)
#define CORE_STORED(under, plural, singular, kind) \
    CORE_NAMED(plural, singular, kind), LISTED(kind), STORED("core/" plural, under, "v1")
#define CORE_UNDER(under, plural, singular, kind) \
    CORE_STORED(under, plural, singular, kind), .verbs = KC__VERB_ALL
#define CORE(plural, singular, kind) CORE_UNDER(plural, plural, singular, kind)

/* Kubernetes serves this group from a separate server, so its API definitions have another
 * package. */
#define REGISTRATION(in_plural, in_singular, in_kind)                                \
    .group = "apiregistration.k8s.io", .version = "v1", .plural = in_plural,         \
    .singular = in_singular, .kind = in_kind,                                        \
    .type_name = "io.k8s.kube-aggregator.pkg.apis.apiregistration.v1." in_kind,      \
    VERBS(KC__VERB_ALL), LISTED(in_kind),                                            \
    STORED("apiregistration.k8s.io/" in_plural, "apiregistration.k8s.io/" in_plural, \
           "apiregistration.k8s.io/v1"),                                             \
    CATEGORIES("api-extensions")
#define ADMISSION(plural, singular, kind)                                                   \
    USUAL("admissionregistration.k8s.io", "admissionregistration", plural, singular, kind), \
        CATEGORIES("api-extensions")
/* Kubernetes v1.34 serves these with --runtime-config. */
#define MUTATION(in_plural, in_singular, in_kind)                                        \
    NAMED("admissionregistration.k8s.io", "v1beta1", "admissionregistration", in_plural, \
          in_singular, in_kind),                                                         \
        .verbs = KC__VERB_ALL, LISTED(in_kind),                                          \
        STORED("admissionregistration.k8s.io/" in_plural, in_plural,                     \
               "admissionregistration.k8s.io/v1beta1"),                                  \
        IN_ETCD("admissionregistration.k8s.io/v1alpha1"), CATEGORIES("api-extensions")
/* The same for the group of CRDs. */
#define DEFINITIONS(in_version)                                                                    \
    .group = "apiextensions.k8s.io", .version = in_version, .plural = "customresourcedefinitions", \
    .singular = "customresourcedefinition", .kind = "CustomResourceDefinition",                    \
    .type_name = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions." in_version               \
                 ".CustomResourceDefinition",                                                      \
    VERBS(KC__VERB_ALL), LISTED("CustomResourceDefinition"),                                       \
    STORED("apiextensions.k8s.io/customresourcedefinitions",                                       \
           "apiextensions.k8s.io/customresourcedefinitions", "apiextensions.k8s.io/v1"),           \
    IN_ETCD("apiextensions.k8s.io/v1beta1"), SHORT("crd", "crds"), CATEGORIES("api-extensions"),   \
    WITH(STATUS)
#define APPS(plural, singular, kind) USUAL("apps", "apps", plural, singular, kind), NAMESPACED
#define AUTHENTICATION(plural, singular, kind)                                      \
    NAMED("authentication.k8s.io", "v1", "authentication", plural, singular, kind), \
        VERBS(KC__VERB_CREATE)
#define AUTHORIZATION(plural, singular, kind)                                     \
    NAMED("authorization.k8s.io", "v1", "authorization", plural, singular, kind), \
        VERBS(KC__VERB_CREATE)
#define AUTOSCALER(version)                                                        \
    NAMED("autoscaling", version, "autoscaling", "horizontalpodautoscalers",       \
          "horizontalpodautoscaler", "HorizontalPodAutoscaler"),                   \
        LISTED("HorizontalPodAutoscaler"),                                         \
        STORED("autoscaling/horizontalpodautoscalers", "horizontalpodautoscalers", \
               "autoscaling/v2"),                                                  \
        VERBS(KC__VERB_ALL), NAMESPACED, SHORT("hpa"), CATEGORIES("all"), WITH(STATUS)
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
#define NETWORKING_UNDER(under, plural, singular, kind) \
    USUAL_UNDER(under, "networking.k8s.io", "networking", plural, singular, kind)
#define NODE(plural, singular, kind)   USUAL("node.k8s.io", "node", plural, singular, kind)
#define POLICY(plural, singular, kind) USUAL("policy", "policy", plural, singular, kind)
#define RBAC(plural, singular, kind) \
    USUAL("rbac.authorization.k8s.io", "rbac", plural, singular, kind)
#define DEVICES(plural, singular, kind) \
    USUAL("resource.k8s.io", "resource", plural, singular, kind), IN_ETCD("resource.k8s.io/v1beta2")
#define SCHEDULING(plural, singular, kind) \
    USUAL("scheduling.k8s.io", "scheduling", plural, singular, kind)
#define VOLUMES(plural, singular, kind) USUAL("storage.k8s.io", "storage", plural, singular, kind)

/* ---- the groups ---- */

#define GROUP(of, ...) {.name = of, .versions = NAMES(__VA_ARGS__)}

const kc__resource_group kc__resource_builtin_groups[] = {
    GROUP("", "v1"),
    GROUP("apiregistration.k8s.io", "v1"),
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
    GROUP("admissionregistration.k8s.io", "v1", "v1beta1"),
    GROUP("apiextensions.k8s.io", "v1", "v1beta1"),
    GROUP("scheduling.k8s.io", "v1"),
    GROUP("coordination.k8s.io", "v1"),
    GROUP("node.k8s.io", "v1"),
    GROUP("discovery.k8s.io", "v1"),
    GROUP("resource.k8s.io", "v1"),
    GROUP("flowcontrol.apiserver.k8s.io", "v1"),
};
const size_t kc__resource_n_builtin_groups = KC_COUNT(kc__resource_builtin_groups);

/* ---- the resources ---- */

const kc__resource kc__resource_builtins[] = {
    /* v1 */
    {CORE_NAMED("bindings", "binding", "Binding"), NAMESPACED, VERBS(KC__VERB_CREATE)},
    {CORE_NAMED("componentstatuses", "componentstatus", "ComponentStatus"),
     LISTED("ComponentStatus"), VERBS(KC__VERB_GET | KC__VERB_LIST), SHORT("cs"),
     .deprecation = "v1 ComponentStatus is deprecated in v1.19+"},
    {CORE("configmaps", "configmap", "ConfigMap"), NAMESPACED, SHORT("cm")},
    {CORE_UNDER("services/endpoints", "endpoints", "endpoints", "Endpoints"), NAMESPACED,
     SHORT("ep"),
     .deprecation = "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"},
    {CORE("events", "event", "Event"), NAMESPACED, SHORT("ev")},
    {CORE("limitranges", "limitrange", "LimitRange"), NAMESPACED, SHORT("limits")},
    {CORE_STORED("namespaces", "namespaces", "namespace", "Namespace"),
     VERBS(KC__VERB_ALL & ~(unsigned)KC__VERB_DELETE_COLLECTION), SHORT("ns"),
     WITH(SUB("finalize", KC__VERB_UPDATE), STATUS)},
    {CORE_UNDER("minions", "nodes", "node", "Node"), SHORT("no"),
     WITH(SUB_KIND("proxy", PROXIED, "NodeProxyOptions"), STATUS)},
    {CORE("persistentvolumeclaims", "persistentvolumeclaim", "PersistentVolumeClaim"), NAMESPACED,
     SHORT("pvc"), WITH(STATUS)},
    {CORE("persistentvolumes", "persistentvolume", "PersistentVolume"), SHORT("pv"), WITH(STATUS)},
    {CORE("pods", "pod", "Pod"), NAMESPACED, SHORT("po"), CATEGORIES("all"),
     WITH(SUB_KIND("attach", CONNECTED, "PodAttachOptions"),
          SUB_KIND("binding", KC__VERB_CREATE, "Binding"), SUB("ephemeralcontainers", READ_WRITE),
          {.name = "eviction",
           VERBS(KC__VERB_CREATE),
           .group = "policy",
           .version = "v1",
           .kind = "Eviction",
           .also = "policy/v1beta1"},
          SUB_KIND("exec", CONNECTED, "PodExecOptions"), SUB("log", KC__VERB_GET),
          SUB_KIND("portforward", CONNECTED, "PodPortForwardOptions"),
          SUB_KIND("proxy", PROXIED, "PodProxyOptions"), SUB("resize", READ_WRITE), STATUS)},
    {CORE("podtemplates", "podtemplate", "PodTemplate"), NAMESPACED},
    {CORE_UNDER("controllers", "replicationcontrollers", "replicationcontroller",
                "ReplicationController"),
     NAMESPACED, SHORT("rc"), CATEGORIES("all"), WITH(SCALE, STATUS)},
    {CORE("resourcequotas", "resourcequota", "ResourceQuota"), NAMESPACED, SHORT("quota"),
     WITH(STATUS)},
    {CORE("secrets", "secret", "Secret"), NAMESPACED},
    {CORE("serviceaccounts", "serviceaccount", "ServiceAccount"), NAMESPACED, SHORT("sa"),
     WITH(SUB_OF("token", KC__VERB_CREATE, "authentication.k8s.io", "v1", "TokenRequest"))},
    {CORE_UNDER("services/specs", "services", "service", "Service"), NAMESPACED, SHORT("svc"),
     CATEGORIES("all"), WITH(SUB_KIND("proxy", PROXIED, "ServiceProxyOptions"), STATUS)},

    /* apiregistration.k8s.io/v1 */
    {REGISTRATION("apiservices", "apiservice", "APIService"), WITH(STATUS)},

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
     STORED("core/events", "events", "v1"), NAMESPACED, VERBS(KC__VERB_ALL), SHORT("ev")},

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
    {NETWORKING_UNDER("ingress", "ingresses", "ingress", "Ingress"), NAMESPACED, SHORT("ing"),
     WITH(STATUS)},
    {NETWORKING("ipaddresses", "ipaddress", "IPAddress"), SHORT("ip")},
    {NETWORKING("networkpolicies", "networkpolicy", "NetworkPolicy"), NAMESPACED, SHORT("netpol")},
    {NETWORKING("servicecidrs", "servicecidr", "ServiceCIDR"), WITH(STATUS)},

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
    {VOLUMES("volumeattributesclasses", "volumeattributesclass", "VolumeAttributesClass"),
     IN_ETCD("storage.k8s.io/v1beta1"), SHORT("vac")},

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

    /* admissionregistration.k8s.io/v1beta1 */
    {MUTATION("mutatingadmissionpolicies", "mutatingadmissionpolicy", "MutatingAdmissionPolicy")},
    {MUTATION("mutatingadmissionpolicybindings", "mutatingadmissionpolicybinding",
              "MutatingAdmissionPolicyBinding")},

    /* apiextensions.k8s.io/v1, apiextensions.k8s.io/v1beta1 */
    {DEFINITIONS("v1")},
    {DEFINITIONS("v1beta1"), .strategy = &kc__strategy_crd_beta,
     .deprecation =
         "apiextensions.k8s.io/v1beta1 CustomResourceDefinition is deprecated in v1.16+, "
         "unavailable in v1.22+; use apiextensions.k8s.io/v1 CustomResourceDefinition",
     .removed_release = "1.22"},

    /* scheduling.k8s.io/v1, coordination.k8s.io/v1, node.k8s.io/v1, discovery.k8s.io/v1 */
    {SCHEDULING("priorityclasses", "priorityclass", "PriorityClass"), SHORT("pc")},
    {COORDINATION("leases", "lease", "Lease"), NAMESPACED},
    {NODE("runtimeclasses", "runtimeclass", "RuntimeClass")},
    {DISCOVERY("endpointslices", "endpointslice", "EndpointSlice"), NAMESPACED},

    /* resource.k8s.io/v1 */
    {DEVICES("deviceclasses", "deviceclass", "DeviceClass")},
    {DEVICES("resourceclaims", "resourceclaim", "ResourceClaim"), NAMESPACED, WITH(STATUS)},
    {DEVICES("resourceclaimtemplates", "resourceclaimtemplate", "ResourceClaimTemplate"),
     NAMESPACED},
    {DEVICES("resourceslices", "resourceslice", "ResourceSlice")},

    /* flowcontrol.apiserver.k8s.io/v1 */
    {FLOW("flowschemas", "flowschema", "FlowSchema")},
    {FLOW("prioritylevelconfigurations", "prioritylevelconfiguration",
          "PriorityLevelConfiguration")},
};
const size_t kc__resource_n_builtins = KC_COUNT(kc__resource_builtins);
