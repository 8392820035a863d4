/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bootstrap.c: creates the objects that every cluster has: the namespaces default, kube-system,
 * kube-public and kube-node-lease, the Service of the API server, the network of cluster IPs, the
 * PriorityClasses of system pods, and an APIService for each group version. They are written like a
 * client's objects, and not again once they exist.
 *
 * One object is kept current: kube-system/extension-apiserver-authentication contains the CAs of
 * clients and front proxies, for extension servers that accept the same clients. client_ca.c
 * restores it while the server runs.
 *
 * To add one: a row in the table.
 */
#include "apiserver/background/bootstrap.h"

#include "apiserver/background/bootstrap_owners.h"
#include "apiserver/background/bootstrap_writes.h"
#include "apiserver/background/trust_merge.h"
#include "apiserver/kinds/key_layout.h"
#include "apiserver/services/cluster_ip.h"
#include "apiserver/services/service_network.h"
#include "kc/edit.h"
#include "kc/view.h"

#define DEFAULT_PORT 6443

#define NAMESPACES      "", "namespaces"
#define CONFIG_MAPS     "", "configmaps"
#define SERVICES        "", "services"
#define PRIORITIES      "scheduling.k8s.io", "priorityclasses"
#define ACTIVE          "\"spec\":{\"finalizers\":[\"kubernetes\"]},\"status\":{\"phase\":\"Active\"}"
#define NAME_LABEL(own) "{\"kubernetes.io/metadata.name\":\"" own "\"}"
#define CIDRS           "networking.k8s.io", "servicecidrs"
#define ADDRESSES       "networking.k8s.io", "ipaddresses"
#define API_SERVICES    "apiregistration.k8s.io", "apiservices"
#define PREEMPTS        ",\"preemptionPolicy\":\"PreemptLowerPriority\""

#define CONDITION(type, reason, message)                                      \
    "\"status\":{\"conditions\":[{\"type\":\"" type "\",\"status\":\"True\"," \
    "\"lastTransitionTime\":\"$\",\"reason\":\"" reason "\",\"message\":\"" message "\"}]}"
/* `named` is the member "group", if there is one. */
#define REGISTERED(own, named, version, group_priority, version_priority)                       \
    {API_SERVICES,                                                                              \
     "APIService",                                                                              \
     "apiregistration.k8s.io/v1",                                                               \
     "",                                                                                        \
     own,                                                                                       \
     0,                                                                                         \
     "{\"kube-aggregator.kubernetes.io/automanaged\":\"onstart\"}",                             \
     "\"spec\":{" named "\"version\":\"" version "\",\"groupPriorityMinimum\":" #group_priority \
     ",\"versionPriority\":" #version_priority                                                  \
     "}," CONDITION("Available", "Local", "Local APIServices are always available")}
#define API_SERVICE(group, version, group_priority, version_priority)                  \
    REGISTERED(version "." group, "\"group\":\"" group "\",", version, group_priority, \
               version_priority)
#define CORE_API_SERVICE(version, group_priority, version_priority) \
    REGISTERED(version ".", "", version, group_priority, version_priority)

static const struct first_object {
    const char *group, *plural, *kind, *api_version;
    const char *ns; /* "": none. */
    const char *name;
    int generation;     /* 0: none. */
    const char *labels; /* JSON; "": none. */
    /* The members after metadata; '$' is replaced by the time, '@' by the address of the Service,
     * '&' by the network, '#' by the port of HTTPS. */
    const char *rest;
} objects[] = {
    {NAMESPACES, "Namespace", "v1", "", "default", 0, NAME_LABEL("default"), ACTIVE},
    {NAMESPACES, "Namespace", "v1", "", "kube-system", 0, NAME_LABEL("kube-system"), ACTIVE},
    {NAMESPACES, "Namespace", "v1", "", "kube-public", 0, NAME_LABEL("kube-public"), ACTIVE},
    {NAMESPACES, "Namespace", "v1", "", "kube-node-lease", 0, NAME_LABEL("kube-node-lease"),
     ACTIVE},
    {SERVICES, "Service", "v1", "default", "kubernetes", 0,
     "{\"component\":\"apiserver\",\"provider\":\"kubernetes\"}",
     "\"spec\":{\"ports\":[{\"name\":\"https\",\"protocol\":\"TCP\",\"port\":443,\"targetPort\":#}"
     "],\"clusterIP\":\"@\",\"clusterIPs\":[\"@\"],\"type\":\"ClusterIP\","
     "\"sessionAffinity\":\"None\",\"ipFamilies\":[\"IPv4\"],\"ipFamilyPolicy\":\"SingleStack\","
     "\"internalTrafficPolicy\":\"Cluster\"},\"status\":{\"loadBalancer\":{}}"},
    {PRIORITIES, "PriorityClass", "scheduling.k8s.io/v1", "", "system-cluster-critical", 1, "",
     "\"value\":2000000000,\"description\":\"Used for system critical pods that must run in the "
     "cluster, but can be moved to another node if necessary.\"" PREEMPTS},
    {PRIORITIES, "PriorityClass", "scheduling.k8s.io/v1", "", "system-node-critical", 1, "",
     "\"value\":2000001000,\"description\":\"Used for system critical pods that must not be moved "
     "from their current node.\"" PREEMPTS},
    {CIDRS, "ServiceCIDR", "networking.k8s.io/v1", "", "kubernetes", 0, "",
     "\"spec\":{\"cidrs\":[\"&\"]}," CONDITION("Ready", "",
                                               "Kubernetes default Service CIDR is ready")},
    CORE_API_SERVICE("v1", 18000, 1),
    API_SERVICE("admissionregistration.k8s.io", "v1", 16700, 15),
    API_SERVICE("admissionregistration.k8s.io", "v1beta1", 16700, 12),
    API_SERVICE("apiextensions.k8s.io", "v1", 16700, 15),
    API_SERVICE("apps", "v1", 17800, 15),
    API_SERVICE("authentication.k8s.io", "v1", 17700, 15),
    API_SERVICE("authorization.k8s.io", "v1", 17600, 15),
    API_SERVICE("autoscaling", "v1", 17500, 15),
    API_SERVICE("batch", "v1", 17400, 15),
    API_SERVICE("certificates.k8s.io", "v1", 17300, 15),
    API_SERVICE("coordination.k8s.io", "v1", 16500, 15),
    API_SERVICE("discovery.k8s.io", "v1", 16200, 15),
    API_SERVICE("events.k8s.io", "v1", 17750, 15),
    API_SERVICE("flowcontrol.apiserver.k8s.io", "v1", 16100, 21),
    API_SERVICE("networking.k8s.io", "v1", 17200, 15),
    API_SERVICE("node.k8s.io", "v1", 16300, 15),
    API_SERVICE("policy", "v1", 17100, 15),
    API_SERVICE("rbac.authorization.k8s.io", "v1", 17000, 15),
    API_SERVICE("resource.k8s.io", "v1", 16200, 21),
    API_SERVICE("scheduling.k8s.io", "v1", 16600, 15),
    API_SERVICE("storage.k8s.io", "v1", 16800, 15),
    API_SERVICE("autoscaling", "v2", 17500, 30),
};

static void bootstrap_text_member(kc_buf *out, const char *name, const char *text)
{
    if (*text)
        kc_buf_printf(out, ",\"%s\":\"%s\"", name, text);
}

/* What the placeholders of the table stand for. */
typedef struct bootstrap_values {
    char now[KC_TIME_TEXT], address[INET_ADDRSTRLEN];
    const char *range;
    int port;
} bootstrap_values;

static void put_rest(kc_buf *out, const char *rest, const bootstrap_values *values)
{
    for (; *rest; rest++) {
        switch (*rest) {
        case '$': kc_buf_puts(out, values->now); break;
        case '@': kc_buf_puts(out, values->address); break;
        case '&': kc_buf_puts(out, values->range); break;
        case '#': kc_buf_printf(out, "%d", values->port); break;
        default: kc_buf_putc(out, *rest);
        }
    }
}

static int read_values(const kc__rest_api *api, const kc__bootstrap_network *network,
                       bootstrap_values *ret, kc_error *err)
{
    kc__service_network parsed;
    ret->range = network->range ? network->range : KC__SERVICE_NETWORK_DEFAULT;
    ret->port = network->port ? network->port : DEFAULT_PORT;
    kc_time_print(kc_clock_wall(api->clock), ret->now);
    if (!kc__service_network_parse(kc_cstr(ret->range), &parsed))
        return kc_error_set(err, KC_INVALID, "\"%s\" is not a network of cluster IPs", ret->range);
    kc__service_network_print(parsed.first, ret->address);
    return 0;
}

static kc_object *make(kc__rest_api *api, const struct first_object *o,
                       const bootstrap_values *values)
{
    kc_scoped(kc_buf) json = {0};
    kc_buf_printf(&json, "{\"kind\":\"%s\",\"apiVersion\":\"%s\",\"metadata\":{\"name\":\"%s\"",
                  o->kind, o->api_version, o->name);
    bootstrap_text_member(&json, "namespace", o->ns);
    kc__bootstrap_system_fields(api, o->generation, &json);
    if (*o->labels)
        kc_buf_printf(&json, ",\"labels\":%s", o->labels);
    kc_buf_puts(&json, "},");
    put_rest(&json, o->rest, values);
    kc_buf_putc(&json, '}');
    return kc_object_parse(kc_buf_str(&json), NULL, NULL);
}

static kc__watch_cache *cache_of(kc__rest_api *api, const struct first_object *o)
{
    return kc__store_watch_cache(api->store, kc__resource_key_builtin_prefix(o->group, o->plural));
}

/* The IPAddress of the Service, which is written beside it. */
static void create_service_address(kc__bootstrap_writes *writes, const struct first_object *o,
                                   const bootstrap_values *values)
{
    const kc__cluster_ip_owner owner = {
        .ns = kc_cstr(o->ns), .name = kc_cstr(o->name), .now = kc_clock_wall(writes->api->clock)};
    kc__watch_cache *addresses =
        kc__store_watch_cache(writes->api->store, kc__resource_key_builtin_prefix(ADDRESSES));
    kc__bootstrap_writes_put(
        writes, addresses, kc_cstr(values->address),
        kc__cluster_ip_object(kc_cstr(values->address), &owner, &writes->api->contexts[0].rand),
        KC__STORAGE_ABSENT);
}

/* Submits the object unless it exists. */
static void create_first_object(kc__bootstrap_writes *writes, const struct first_object *o,
                                const bootstrap_values *values)
{
    kc__watch_cache *cache = cache_of(writes->api, o);
    kc_autofree char *key = kc_asprintf("%s%s%s", o->ns, *o->ns ? "/" : "", o->name);
    kc_auto(kc_object) *there = kc__watch_cache_get(cache, kc_cstr(key));
    if (there)
        return;
    if (!strcmp(o->kind, "Service"))
        create_service_address(writes, o, values);
    kc__bootstrap_writes_put(writes, cache, kc_cstr(key),
                             kc__bootstrap_own(writes->api, NULL, make(writes->api, o, values)),
                             KC__STORAGE_ABSENT);
}

/* As in Kubernetes, the stored ServiceCIDR is used. */
static void warn_of_other_range(const kc__rest_api *api, const bootstrap_values *values)
{
    kc__watch_cache *cidrs =
        kc__store_watch_cache(api->store, kc__resource_key_builtin_prefix(CIDRS));
    kc_auto(kc_object) *stored = kc__watch_cache_get(cidrs, KC_STR("kubernetes"));
    kc_auto(kc_view) *view = stored ? kc_view_of(stored) : NULL;
    const kc_value *range =
        view ? kc_value_at(kc_value_nested(kc_view_root(view), "spec.cidrs"), 0) : NULL;
    if (range && !kc_str_is(kc_value_as_str(range), values->range))
        kc_log_warn(api->log,
                    "the stored ServiceCIDR differs from --service-cluster-ip-range, and is used",
                    kc_kv("stored", kc_value_as_str(range)), kc_kv("flag", values->range));
}

/* ---- accepted clients ---- */

static const struct first_object authentication = {
    CONFIG_MAPS,  "ConfigMap",          "v1", "kube-system", "extension-apiserver-authentication",
    .labels = "", .rest = "\"data\":{}"};

/* The member "data" as an object, whatever a client has written there. */
static kc_node *data_of(kc_edit *edit)
{
    kc_node *data = kc_node_get(kc_edit_root(edit), KC_STR("data"));
    if (data && kc_node_type(data) == KC_JSON_OBJECT)
        return data;
    data = kc_node_object(edit);
    kc_node_set(edit, kc_edit_root(edit), KC_STR("data"), data);
    return data;
}

/* Sets a member to what this server trusts; beside other servers, to what all of them do. Returns
 * whether that is a change. */
static bool set_trusted(kc_edit *edit, const char *name, kc_str own, bool shared)
{
    kc_node *data = data_of(edit);
    const kc_str published = kc_node_as_str(kc_node_get(data, kc_cstr(name)));
    kc_scoped(kc_buf) value = {0};
    if (shared)
        kc__bootstrap_merge_trust(name, published, own, &value);
    else
        kc_buf_append(&value, own);
    if (kc_str_eq(published, kc_buf_str(&value)))
        return false;
    kc_node_set(edit, data, kc_cstr(name), kc_node_str(edit, kc_buf_str(&value)));
    return true;
}

kc_object *kc__bootstrap_client_ca_object(kc__rest_api *api, const kc__bootstrap_trust *trust,
                                          kc__bootstrap_client_ca_target *ret)
{
    const struct first_object *o = &authentication;
    const bool shared = kc__store_is_shared(api->store);
    kc__watch_cache *cache = cache_of(api, o);
    kc_auto(kc_object) *there = kc__watch_cache_get(cache, KC_STR(KC__BOOTSTRAP_CLIENT_CA_KEY));
    *ret = (kc__bootstrap_client_ca_target){cache,
                                            there ? kc_object_revision(there) : KC__STORAGE_ABSENT};
    kc_auto(kc_object) *base = there ? kc_object_ref(there) : make(api, o, &(bootstrap_values){0});
    kc_auto(kc_edit) *edit = kc_edit_of(base);
    bool changed = !there;
    for (size_t i = 0; i < trust->n; i++)
        if (set_trusted(edit, trust->members[i].name, trust->members[i].value, shared))
            changed = true;
    return changed ? kc__bootstrap_own(api, there, kc_edit_freeze(edit, NULL)) : NULL;
}

static void publish_trust(kc__bootstrap_writes *writes, const kc__bootstrap_trust *trust)
{
    kc__bootstrap_client_ca_target place;
    kc_object *object = kc__bootstrap_client_ca_object(writes->api, trust, &place);
    if (object)
        kc__bootstrap_writes_put(writes, place.cache, KC_STR(KC__BOOTSTRAP_CLIENT_CA_KEY), object,
                                 place.expected);
}

/* ---- all objects ---- */

int kc__bootstrap_objects(kc__rest_api *api, const kc__bootstrap_trust *trust,
                          const kc__bootstrap_network *network, kc_error *err)
{
    bootstrap_values values;
    kc__bootstrap_writes writes;
    if (read_values(api, network, &values, err) < 0)
        return kc_error_result(err);
    warn_of_other_range(api, &values);
    kc__bootstrap_writes_init(&writes, api);
    for (size_t i = 0; i < KC_COUNT(objects); i++)
        create_first_object(&writes, &objects[i], &values);
    if (trust->n)
        publish_trust(&writes, trust);
    return kc__bootstrap_writes_wait(&writes, err);
}
