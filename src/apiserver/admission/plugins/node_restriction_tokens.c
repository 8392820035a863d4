/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_restriction_tokens.c: which tokens of service accounts a node may request. A token must be
 * bound to a pod that runs on the node, by name and uid. Its audience must be one that the pod
 * uses, in a projected volume or through a CSI driver, or one that the node may request by a role:
 * the verb request-serviceaccounts-token-audience, with the audience as the resource.
 */
#include "apiserver/admission/plugins/node_restriction_internal.h"
#include "apiserver/authz/request_state.h"
#include "object/gofmt/go_quote.h"

/* ---- the audiences of a pod ---- */

/* Volumes of old types are served by CSI drivers. */
static const struct {
    const char *source, *driver;
} migrated_sources[] = {
    {"awsElasticBlockStore", "ebs.csi.aws.com"},
    {"azureDisk", "disk.csi.azure.com"},
    {"azureFile", "file.csi.azure.com"},
    {"cinder", "cinder.csi.openstack.org"},
    {"gcePersistentDisk", "pd.csi.storage.gke.io"},
    {"portworxVolume", "pxd.portworx.com"},
    {"vsphereVolume", "csi.vsphere.vmware.com"},
};

typedef struct audience_search {
    const kc__admission_node_write *write;
    kc_str audience;
    kc_buf errors; /* ", " and a message for each object that does not exist. */
    size_t n_errors;
} audience_search;

static kc_view *view_or_error(audience_search *s, const char *group, const char *plural,
                              const char *kind, kc_str key, kc_str name)
{
    kc_auto(kc_object) *object =
        kc__watch_cache_get(kc__admission_objects(s->write->call, group, plural), key);
    if (object)
        return kc_view_of(object);
    kc_buf_printf(&s->errors, ", %s%s%s \"%.*s\" not found", kind, *group ? "." : "", group,
                  KC_ARG(name));
    s->n_errors++;
    return NULL;
}

static kc_str driver_of_source(const kc_value *sources)
{
    const kc_str driver = kc_value_as_str(kc_value_nested(sources, "csi.driver"));
    if (driver.n)
        return driver;
    for (size_t i = 0; i < KC_COUNT(migrated_sources); i++)
        if (kc_value_get(sources, migrated_sources[i].source))
            return kc_cstr(migrated_sources[i].driver);
    return (kc_str){0};
}

static bool driver_has_audience(audience_search *s, kc_str name)
{
    kc_auto(kc_view) *driver =
        name.n ? view_or_error(s, "storage.k8s.io", "csidrivers", "csidriver", name, name) : NULL;
    if (!driver)
        return false;
    kc_value_each_item (kc_value_nested(kc_view_root(driver), "spec.tokenRequests"), request)
        if (kc_str_eq(kc_value_as_str(kc_value_get(request, "audience")), s->audience))
            return true;
    return false;
}

static bool claim_has_audience(audience_search *s, kc_str name)
{
    kc__rest_call *call = s->write->call;
    kc_auto(kc_view) *claim =
        view_or_error(s, "", "persistentvolumeclaims", "persistentvolumeclaim",
                      kc__rest_key_of(call, name), name);
    if (!claim)
        return false;
    const kc_str volume = kc_value_as_str(kc_value_nested(kc_view_root(claim), "spec.volumeName"));
    kc_auto(kc_view) *view =
        view_or_error(s, "", "persistentvolumes", "persistentvolume", volume, volume);
    return view &&
           driver_has_audience(s, driver_of_source(kc_value_get(kc_view_root(view), "spec")));
}

static bool projection_has_audience(const audience_search *s, const kc_value *volume)
{
    kc_value_each_item (kc_value_nested(volume, "projected.sources"), source) {
        const kc_value *token = kc_value_get(source, "serviceAccountToken");
        if (token && kc_str_eq(kc_value_as_str(kc_value_get(token, "audience")), s->audience))
            return true;
    }
    return false;
}

static bool volume_has_audience(audience_search *s, const kc_value *volume, kc_str pod)
{
    const kc_value *claim = kc_value_get(volume, "persistentVolumeClaim");
    if (projection_has_audience(s, volume))
        return true;
    if (kc_value_nested(volume, "ephemeral.volumeClaimTemplate"))
        return claim_has_audience(
            s, kc_cstr(kc_arena_printf(s->write->call->arena, "%.*s-%.*s", KC_ARG(pod),
                                       KC_ARG(kc_value_as_str(kc_value_get(volume, "name"))))));
    if (claim)
        return claim_has_audience(s, kc_value_as_str(kc_value_get(claim, "claimName")));
    return driver_has_audience(s, driver_of_source(volume));
}

static bool pod_has_audience(audience_search *s, const kc_value *pod)
{
    const kc_str name = kc_value_as_str(kc_value_nested(pod, "metadata.name"));
    kc_value_each_item (kc_value_nested(pod, "spec.volumes"), volume)
        if (volume_has_audience(s, volume, name))
            return true;
    return false;
}

/* ---- the permission of the node ---- */

static bool may_request_audience(const kc__admission_node_write *w, kc_str audience)
{
    const kc__rest_call *call = w->call;
    const kc__authz_attributes a = {.user = &call->user,
                                    .verb = KC_STR("request-serviceaccounts-token-audience"),
                                    .is_resource = true,
                                    .version = KC_STR("v1"),
                                    .resource = audience,
                                    .ns = call->info.ns,
                                    .name = w->name};
    return kc__authz_wait(call->api->authz, call->x->loop, &a, NULL) == KC__AUTHZ_ALLOW;
}

static kc__rest_verdict refuse_audience(const kc__admission_node_write *w, audience_search *s)
{
    kc_scoped(kc_buf) quoted = {0};
    kc__go_quote(&quoted, s->audience);
    if (s->n_errors)
        return kc__admission_forbid(w->call, "error validating audience %s: %s%s%s",
                                    kc_buf_cstr(&quoted), s->n_errors > 1 ? "[" : "",
                                    kc_buf_cstr(&s->errors) + 2, s->n_errors > 1 ? "]" : "");
    if (may_request_audience(w, s->audience))
        return KC__REST_NEXT;
    return kc__admission_forbid(w->call,
                                "audience %s not found in pod spec volume, %.*s is not authorized "
                                "to request tokens for this audience",
                                kc_buf_cstr(&quoted), KC_ARG(w->call->user.name));
}

static kc__rest_verdict check_audience(const kc__admission_node_write *w, const kc_value *pod)
{
    const kc_value *audiences = kc_value_nested(w->object, "spec.audiences");
    if (kc_value_len(audiences) > 1)
        return kc__admission_forbid(w->call, "node may only request 0 or 1 audiences");
    audience_search s = {.write = w, .audience = kc_value_as_str(kc_value_at(audiences, 0))};
    const kc__rest_verdict verdict =
        pod_has_audience(&s, pod) ? KC__REST_NEXT : refuse_audience(w, &s);
    kc_buf_done(&s.errors);
    return verdict;
}

/* ---- the bound pod ---- */

static kc__rest_verdict check_bound_pod(const kc__admission_node_write *w, const kc_value *ref)
{
    kc_auto(kc_object) *pod = NULL;
    const kc_str uid = kc_value_as_str(kc_value_get(ref, "uid"));
    if (!uid.n)
        return kc__admission_forbid(w->call,
                                    "node requested token with a pod binding without a uid");
    if (kc__admission_node_find_pod(w, kc_value_as_str(kc_value_get(ref, "name")), &pod) !=
        KC__REST_NEXT)
        return KC__REST_FAIL;
    if (!kc_str_eq(uid, kc_object_uid(pod)))
        return kc__admission_forbid(
            w->call,
            "the UID in the bound object reference (%.*s) does not match the UID in record. The "
            "object might have been deleted and then recreated",
            KC_ARG(uid));
    kc_auto(kc_view) *view = kc_view_of(pod);
    const kc_value *node = kc_value_nested(kc_view_root(view), "spec.nodeName");
    if (!kc_str_eq(kc_value_as_str(node), w->node))
        return kc__admission_forbid(
            w->call, "node requested token bound to a pod scheduled on a different node");
    return check_audience(w, kc_view_root(view));
}

kc__rest_verdict kc__admission_node_token(const kc__admission_node_write *w)
{
    const kc_value *ref = kc_value_nested(w->object, "spec.boundObjectRef");
    if (w->operation != KC__ADMISSION_NODE_CREATE || strcmp(w->subresource, "token") != 0)
        return KC__REST_NEXT;
    if (!kc_str_is(kc_value_as_str(kc_value_get(ref, "apiVersion")), "v1") ||
        !kc_str_is(kc_value_as_str(kc_value_get(ref, "kind")), "Pod") ||
        !kc_value_as_str(kc_value_get(ref, "name")).n)
        return kc__admission_forbid(w->call, "node requested token not bound to a pod");
    return check_bound_pod(w, ref);
}
