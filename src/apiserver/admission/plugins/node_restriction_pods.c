/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_restriction_pods.c: what a node may do with pods. It creates and deletes mirror pods, which
 * show its static pods, and writes the status of the pods that are bound to it, or evicts them. A
 * mirror pod refers to no API object, so that a node cannot gain access to one.
 */
#include "apiserver/admission/plugins/node_restriction_internal.h"
#include "apiserver/authz/pod_references.h"
#include "kc/diff.h"

#define MIRROR "kubernetes.io/config.mirror"

static kc_str node_of(const kc_value *pod)
{
    return kc_value_as_str(kc_value_nested(pod, "spec.nodeName"));
}

/* ---- references of a mirror pod ---- */

static void note_reference(kc__authz_object_type type, kc_str ns, kc_str name, void *user)
{
    bool *found = user;
    (void)type, (void)ns, (void)name;
    *found = true;
}

/* Sources of volumes, and what they refer to; NULL: no API object. */
static const struct volume_source {
    const char *source, *refers_to;
} volume_sources[] = {
    {"awsElasticBlockStore", NULL},
    {"azureDisk", NULL},
    {"cephfs", NULL},
    {"cinder", NULL},
    {"downwardAPI", NULL},
    {"emptyDir", NULL},
    {"fc", NULL},
    {"flexVolume", NULL},
    {"flocker", NULL},
    {"gcePersistentDisk", NULL},
    {"gitRepo", NULL},
    {"hostPath", NULL},
    {"image", NULL},
    {"iscsi", NULL},
    {"nfs", NULL},
    {"photonPersistentDisk", NULL},
    {"portworxVolume", NULL},
    {"quobyte", NULL},
    {"rbd", NULL},
    {"scaleIO", NULL},
    {"storageos", NULL},
    {"vsphereVolume", NULL},
    {"configMap", "configmaps (via configmap volumes)"},
    {"secret", "secrets (via secret volumes)"},
    {"csi", "csidrivers (via CSI volumes)"},
    {"glusterfs", "endpoints (via glusterFS volumes)"},
    {"persistentVolumeClaim", "persistentvolumeclaims"},
    {"ephemeral", "persistentvolumeclaims (via ephemeral volumes)"},
    {"azureFile", "secrets (via azureFile volumes)"},
};

static const struct volume_source projected_sources[] = {
    {"configMap", "configmaps (via projected volumes)"},
    {"secret", "secrets (via projected volumes)"},
    {"serviceAccountToken", "serviceaccounts (via projected volumes)"},
    {"clusterTrustBundle", "clustertrustbundles"},
    {"podCertificate", "podcertificates"},
    {"downwardAPI", NULL},
};

/* The row of the source that a value has; NULL: none that is known. */
static const struct volume_source *source_of(const kc_value *value,
                                             const struct volume_source *rows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (kc_value_type(kc_value_get(value, rows[i].source)) == KC_JSON_OBJECT)
            return &rows[i];
    return NULL;
}

/* What a reference was found to, or a problem with the pod. */
typedef struct found_reference {
    const char *to;
    const char *problem; /* With the name of a volume. */
    kc_str volume;
} found_reference;

static bool find_in_volume(const kc_value *volume, found_reference *ret)
{
    const kc_value *projected = kc_value_get(volume, "projected");
    ret->volume = kc_value_as_str(kc_value_get(volume, "name"));
    if (kc_value_type(projected) != KC_JSON_OBJECT) {
        const struct volume_source *s = source_of(volume, volume_sources, KC_COUNT(volume_sources));
        ret->to = s ? s->refers_to : NULL;
        ret->problem = s ? NULL : "unknown volume type for volume ";
        return ret->to || ret->problem;
    }
    kc_value_each_item (kc_value_get(projected, "sources"), item) {
        const struct volume_source *s =
            source_of(item, projected_sources, KC_COUNT(projected_sources));
        ret->to = s ? s->refers_to : NULL;
        ret->problem = s ? NULL : "unknown source for projected volume";
        if (ret->to || ret->problem)
            return true;
    }
    return false;
}

static bool find_reference(const kc_value *spec, found_reference *ret)
{
    bool found = false;
    if (kc_value_as_str(kc_value_get(spec, "serviceAccountName")).n)
        ret->to = "serviceaccounts";
    if (!ret->to)
        kc__authz_pod_secrets(spec, (kc_str){0}, note_reference, &found);
    if (!ret->to && found)
        ret->to = "secrets";
    if (!ret->to)
        kc__authz_pod_config_maps(spec, (kc_str){0}, note_reference, &found);
    if (!ret->to && found)
        ret->to = "configmaps";
    if (!ret->to && kc_value_len(kc_value_get(spec, "resourceClaims")))
        ret->to = "resourceclaims";
    if (ret->to)
        return true;
    kc_value_each_item (kc_value_get(spec, "volumes"), volume)
        if (find_in_volume(volume, ret))
            return true;
    return false;
}

static kc__rest_verdict check_references(const kc__admission_node_write *w)
{
    found_reference found = {0};
    if (!find_reference(kc_value_get(w->object, "spec"), &found))
        return KC__REST_NEXT;
    if (found.problem)
        return kc__admission_forbid(w->call,
                                    "error checking mirror pod for API references: %s \"%.*s\"",
                                    found.problem, KC_ARG(found.volume));
    return kc__admission_forbid(w->call, "node \"%.*s\" can not create pods that reference %s",
                                KC_ARG(w->node), found.to);
}

/* ---- owners of a mirror pod ---- */

static bool is_owner_node(const kc_value *owner, kc_str node)
{
    return kc_str_is(kc_value_as_str(kc_value_get(owner, "apiVersion")), "v1") &&
           kc_str_is(kc_value_as_str(kc_value_get(owner, "kind")), "Node") &&
           kc_str_eq(kc_value_as_str(kc_value_get(owner, "name")), node);
}

static kc__rest_verdict check_owner_uid(const kc__admission_node_write *w, const kc_value *owner)
{
    kc_auto(kc_object) *node = NULL;
    const kc_str uid = kc_value_as_str(kc_value_get(owner, "uid"));
    if (kc__admission_node_find_own(w, &node) != KC__REST_NEXT)
        return KC__REST_FAIL;
    if (kc_str_eq(uid, kc_object_uid(node)))
        return KC__REST_NEXT;
    return kc__admission_forbid(w->call, "node %.*s UID mismatch: expected %.*s got %.*s",
                                KC_ARG(w->node), KC_ARG(uid), KC_ARG(kc_object_uid(node)));
}

static kc__rest_verdict check_owner(const kc__admission_node_write *w)
{
    const kc_value *owners = kc_value_nested(w->object, "metadata.ownerReferences"),
                   *owner = kc_value_at(owners, 0);
    if (kc_value_len(owners) > 1)
        return kc__admission_forbid(
            w->call,
            "node \"%.*s\" can only create pods with a single owner reference set to itself",
            KC_ARG(w->node));
    if (!owner || !is_owner_node(owner, w->node))
        return kc__admission_forbid(
            w->call, "node \"%.*s\" can only create pods with an owner reference set to itself",
            KC_ARG(w->node));
    if (!kc_value_as_bool(kc_value_get(owner, "controller"), false))
        return kc__admission_forbid(
            w->call,
            "node \"%.*s\" can only create pods with a controller owner reference set to itself",
            KC_ARG(w->node));
    if (kc_value_as_bool(kc_value_get(owner, "blockOwnerDeletion"), false))
        return kc__admission_forbid(
            w->call, "node \"%.*s\" must not set blockOwnerDeletion on an owner reference",
            KC_ARG(w->node));
    return check_owner_uid(w, owner);
}

static kc__rest_verdict check_new_pod(const kc__admission_node_write *w)
{
    if (!kc__admission_annotation_of(w->object, MIRROR).p)
        return kc__admission_forbid(w->call,
                                    "pod does not have \"" MIRROR
                                    "\" annotation, node \"%.*s\" can only create mirror pods",
                                    KC_ARG(w->node));
    if (!kc_str_eq(node_of(w->object), w->node))
        return kc__admission_forbid(
            w->call, "node \"%.*s\" can only create pods with spec.nodeName set to itself",
            KC_ARG(w->node));
    const kc__rest_verdict verdict = check_owner(w);
    return verdict == KC__REST_NEXT ? check_references(w) : verdict;
}

/* ---- other requests ---- */

static kc__rest_verdict check_deleted_pod(const kc__admission_node_write *w)
{
    if (kc_str_eq(node_of(w->old), w->node))
        return KC__REST_NEXT;
    return kc__admission_forbid(
        w->call, "node \"%.*s\" can only delete pods with spec.nodeName set to itself",
        KC_ARG(w->node));
}

static kc__rest_verdict check_pod(const kc__admission_node_write *w)
{
    switch (w->operation) {
    case KC__ADMISSION_NODE_CREATE: return check_new_pod(w);
    case KC__ADMISSION_NODE_DELETE: return check_deleted_pod(w);
    default:
        return kc__admission_forbid(
            w->call,
            "unexpected operation \"%s\", node \"%.*s\" can only create and delete mirror pods",
            kc__admission_node_operation_name(w), KC_ARG(w->node));
    }
}

static bool equal_in_both(const kc__admission_node_write *w, const char *path)
{
    return kc_value_equal(kc_value_nested(w->old, path), kc_value_nested(w->object, path),
                          &(kc_equal_opts){.empty_is_absent = true});
}

static kc__rest_verdict check_pod_status(const kc__admission_node_write *w)
{
    if (w->operation != KC__ADMISSION_NODE_UPDATE)
        return kc__admission_forbid(w->call, "unexpected operation \"%s\"",
                                    kc__admission_node_operation_name(w));
    if (!kc_str_eq(node_of(w->old), w->node))
        return kc__admission_forbid(
            w->call,
            "node \"%.*s\" can only update pod status for pods with spec.nodeName set to itself",
            KC_ARG(w->node));
    if (!equal_in_both(w, "metadata.labels"))
        return kc__admission_forbid(
            w->call, "node \"%.*s\" cannot update labels through pod status", KC_ARG(w->node));
    if (!equal_in_both(w, "status.resourceClaimStatuses"))
        return kc__admission_forbid(w->call, "node \"%.*s\" cannot update resource claim statues",
                                    KC_ARG(w->node));
    if (!equal_in_both(w, "status.extendedResourceClaimStatus"))
        return kc__admission_forbid(
            w->call, "node \"%.*s\" cannot update extended resource claim status", KC_ARG(w->node));
    return KC__REST_NEXT;
}

static kc__rest_verdict check_eviction(const kc__admission_node_write *w)
{
    kc_auto(kc_object) *pod = NULL;
    if (kc__admission_node_find_pod(w, w->name, &pod) != KC__REST_NEXT)
        return KC__REST_FAIL;
    kc_auto(kc_view) *view = kc_view_of(pod);
    if (kc_str_eq(node_of(kc_view_root(view)), w->node))
        return KC__REST_NEXT;
    return kc__admission_forbid(
        w->call, "node %.*s can only evict pods with spec.nodeName set to itself", KC_ARG(w->node));
}

kc__rest_verdict kc__admission_node_pod(const kc__admission_node_write *w)
{
    if (!*w->subresource)
        return check_pod(w);
    if (!strcmp(w->subresource, "status"))
        return check_pod_status(w);
    if (!strcmp(w->subresource, "eviction"))
        return check_eviction(w);
    return kc__admission_forbid(
        w->call, "unexpected pod subresource \"%s\", only 'status' and 'eviction' are allowed",
        w->subresource);
}
