/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_references.c: finds references in pods and PersistentVolumes, by tables of the members that
 * name an object.
 *
 * To add a type of volume: a row of the tables.
 */
#include "apiserver/authz/pod_references.h"

#include "kc/buf.h"
#include "kc/map.h"

typedef struct reference_visit {
    const kc_value *spec; /* Of the pod. */
    kc_str ns;            /* Of the pod. */
    kc__authz_reference_fn *fn;
    void *user;
} reference_visit;

static void report_reference(const reference_visit *v, kc__authz_object_type type,
                             const kc_value *name)
{
    const kc_str text = kc_value_as_str(name);
    if (text.n)
        v->fn(type, v->ns, text, v->user);
}

/* ---- containers ---- */

/* The names of two members: of an item of envFrom, and of valueFrom in an item of env. */
typedef struct variable_source {
    kc__authz_object_type type;
    const char *all, *one;
} variable_source;

static const variable_source from_secrets = {KC__AUTHZ_SECRET, "secretRef", "secretKeyRef"},
                             from_config_maps = {KC__AUTHZ_CONFIG_MAP, "configMapRef",
                                                 "configMapKeyRef"};

static void visit_container(const reference_visit *v, const kc_value *container,
                            const variable_source *from)
{
    kc_value_each_item (kc_value_get(container, "envFrom"), item)
        report_reference(v, from->type, kc_value_get(kc_value_get(item, from->all), "name"));
    kc_value_each_item (kc_value_get(container, "env"), item) {
        const kc_value *source = kc_value_get(kc_value_get(item, "valueFrom"), from->one);
        report_reference(v, from->type, kc_value_get(source, "name"));
    }
}

static void visit_containers(const reference_visit *v, const variable_source *from)
{
    static const char *const lists[] = {"initContainers", "containers", "ephemeralContainers"};
    for (size_t i = 0; i < KC_COUNT(lists); i++)
        kc_value_each_item (kc_value_get(v->spec, lists[i]), container)
            visit_container(v, container, from);
}

/* ---- volumes of pods ---- */

/* A member of a volume, and where it names a Secret. */
static const struct {
    const char *source, *name;
} secret_sources[] = {
    {"azureFile", "secretName"},     {"cephfs", "secretRef.name"},
    {"cinder", "secretRef.name"},    {"flexVolume", "secretRef.name"},
    {"rbd", "secretRef.name"},       {"secret", "secretName"},
    {"scaleIO", "secretRef.name"},   {"iscsi", "secretRef.name"},
    {"storageos", "secretRef.name"}, {"csi", "nodePublishSecretRef.name"},
};

static void visit_projected(const reference_visit *v, const kc_value *projected,
                            kc__authz_object_type type, const char *member)
{
    kc_value_each_item (kc_value_get(projected, "sources"), source)
        report_reference(v, type, kc_value_get(kc_value_get(source, member), "name"));
}

static void visit_secret_volume(const reference_visit *v, const kc_value *volume)
{
    kc_value_each_member (volume, member, source) {
        if (kc_str_is(member, "projected"))
            visit_projected(v, source, KC__AUTHZ_SECRET, "secret");
        for (size_t i = 0; i < KC_COUNT(secret_sources); i++)
            if (kc_str_is(member, secret_sources[i].source))
                report_reference(v, KC__AUTHZ_SECRET,
                                 kc_value_nested(source, secret_sources[i].name));
    }
}

void kc__authz_pod_secrets(const kc_value *spec, kc_str ns, kc__authz_reference_fn *fn, void *user)
{
    const reference_visit v = {spec, ns, fn, user};
    kc_value_each_item (kc_value_get(spec, "imagePullSecrets"), reference)
        report_reference(&v, KC__AUTHZ_SECRET, kc_value_get(reference, "name"));
    visit_containers(&v, &from_secrets);
    kc_value_each_item (kc_value_get(spec, "volumes"), volume)
        visit_secret_volume(&v, volume);
}

void kc__authz_pod_config_maps(const kc_value *spec, kc_str ns, kc__authz_reference_fn *fn,
                               void *user)
{
    const reference_visit v = {spec, ns, fn, user};
    visit_containers(&v, &from_config_maps);
    kc_value_each_item (kc_value_get(spec, "volumes"), volume) {
        report_reference(&v, KC__AUTHZ_CONFIG_MAP,
                         kc_value_get(kc_value_get(volume, "configMap"), "name"));
        visit_projected(&v, kc_value_get(volume, "projected"), KC__AUTHZ_CONFIG_MAP, "configMap");
    }
}

/* The claim of an ephemeral volume is named "POD-VOLUME". */
static void visit_volume_claims(const reference_visit *v, kc_str pod)
{
    kc_value_each_item (kc_value_get(v->spec, "volumes"), volume) {
        const kc_value *claim = kc_value_get(volume, "persistentVolumeClaim");
        report_reference(v, KC__AUTHZ_VOLUME_CLAIM, kc_value_get(claim, "claimName"));
        if (claim || !kc_value_get(volume, "ephemeral"))
            continue;
        kc_scoped(kc_buf) name = {0};
        kc_buf_printf(&name, "%.*s-%.*s", KC_ARG(pod),
                      KC_ARG(kc_value_as_str(kc_value_get(volume, "name"))));
        v->fn(KC__AUTHZ_VOLUME_CLAIM, v->ns, kc_buf_str(&name), v->user);
    }
}

/* ---- resource claims ---- */

/* A claim is named by the pod, or made from a template: then the status has its name. */
static void visit_resource_claims(const reference_visit *v, const kc_value *status)
{
    const kc_value *claims = kc_value_get(v->spec, "resourceClaims");
    kc_scoped(kc_map) made = {0};
    if (claims)
        kc_value_each_item (kc_value_get(status, "resourceClaimStatuses"), item) {
            const kc_value *name = kc_value_get(item, "resourceClaimName");
            if (name)
                kc_map_put(&made, kc_value_as_str(kc_value_get(item, "name")), (void *)name);
        }
    kc_value_each_item (claims, claim) {
        const kc_value *name = kc_value_get(claim, "resourceClaimName");
        if (!name && kc_value_get(claim, "resourceClaimTemplateName"))
            name = kc_map_get(&made, kc_value_as_str(kc_value_get(claim, "name")));
        report_reference(v, KC__AUTHZ_RESOURCE_CLAIM, name);
    }
    report_reference(v, KC__AUTHZ_RESOURCE_CLAIM,
                     kc_value_nested(status, "extendedResourceClaimStatus.resourceClaimName"));
}

void kc__authz_pod_references(const kc_value *pod, kc__authz_reference_fn *fn, void *user)
{
    const kc_value *spec = kc_value_get(pod, "spec"), *metadata = kc_value_get(pod, "metadata");
    const kc_str ns = kc_value_as_str(kc_value_get(metadata, "namespace"));
    const reference_visit v = {spec, ns, fn, user};
    report_reference(&v, KC__AUTHZ_SERVICE_ACCOUNT, kc_value_get(spec, "serviceAccountName"));
    kc__authz_pod_secrets(spec, ns, fn, user);
    kc__authz_pod_config_maps(spec, ns, fn, user);
    visit_volume_claims(&v, kc_value_as_str(kc_value_get(metadata, "name")));
    visit_resource_claims(&v, kc_value_get(pod, "status"));
}

/* ---- persistent volumes ---- */

/* A member of spec, the reference to a Secret in it, and whether a reference without a namespace is
 * one into the namespace of the claim. */
static const struct {
    const char *source, *reference;
    bool in_claim_ns;
} volume_secret_sources[] = {
    {"cephfs", "secretRef", true},        {"cinder", "secretRef", false},
    {"flexVolume", "secretRef", true},    {"rbd", "secretRef", true},
    {"scaleIO", "secretRef", true},       {"iscsi", "secretRef", true},
    {"storageos", "secretRef", false},    {"csi", "nodePublishSecretRef", false},
    {"csi", "nodeStageSecretRef", false}, {"csi", "nodeExpandSecretRef", false},
};

static void report_volume_secret(const kc_value *ns, const kc_value *name, kc_str otherwise,
                                 kc__authz_reference_fn *fn, void *user)
{
    const kc_str given = kc_value_as_str(ns), text = kc_value_as_str(name);
    if (text.n)
        fn(KC__AUTHZ_SECRET, given.n ? given : otherwise, text, user);
}

void kc__authz_volume_secrets(const kc_value *volume, kc__authz_reference_fn *fn, void *user)
{
    const kc_value *spec = kc_value_get(volume, "spec"), *azure = kc_value_get(spec, "azureFile");
    const kc_str claim_ns = kc_value_as_str(kc_value_nested(spec, "claimRef.namespace"));
    report_volume_secret(kc_value_get(azure, "secretNamespace"), kc_value_get(azure, "secretName"),
                         claim_ns, fn, user);
    for (size_t i = 0; i < KC_COUNT(volume_secret_sources); i++) {
        const kc_value *ref = kc_value_get(kc_value_get(spec, volume_secret_sources[i].source),
                                           volume_secret_sources[i].reference);
        report_volume_secret(kc_value_get(ref, "namespace"), kc_value_get(ref, "name"),
                             volume_secret_sources[i].in_claim_ns ? claim_ns : (kc_str){0}, fn,
                             user);
    }
}
