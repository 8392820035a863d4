/* SPDX-License-Identifier: Apache-2.0 */
/* cluster_ip.c: see cluster_ip.h. */
#include "apiserver/services/cluster_ip.h"

#include "apiserver/kinds/networking/address_rules.h"
#include "kc/json.h"
#include "kc/uid.h"

#define FAMILY_LABEL  "ipaddress.kubernetes.io/ip-family"
#define MANAGER_LABEL "ipaddress.kubernetes.io/managed-by"
#define MANAGER       "ipallocator.k8s.io"

/* What the manager "kube-apiserver" owns of an IPAddress that it creates. */
#define OWNED                                                                              \
    "{\"f:metadata\":{\"f:labels\":{\".\":{},\"f:" FAMILY_LABEL "\":{},\"f:" MANAGER_LABEL \
    "\":{}}},\"f:spec\":{\"f:parentRef\":{\".\":{},\"f:name\":{},\"f:namespace\":{},\"f:"  \
    "resource\":{}}}}"

kc__cluster_ip_list kc__cluster_ip_list_of(const kc_value *spec)
{
    kc__cluster_ip_list list = {0};
    if (kc_str_is(kc_value_as_str(kc_value_get(spec, "type")), "ExternalName"))
        return list;
    kc_value_each_item (kc_value_get(spec, "clusterIPs"), item) {
        const kc_str ip = kc_value_as_str(item);
        if (list.n < KC__CLUSTER_IP_MAX && kc__validate_address_is_valid(ip))
            list.items[list.n++] = ip;
    }
    return list;
}

bool kc__cluster_ip_list_has(const kc__cluster_ip_list *list, kc_str ip)
{
    for (size_t i = 0; i < list->n; i++)
        if (kc_str_eq(list->items[i], ip))
            return true;
    return false;
}

static const char *family_name(kc_str ip)
{
    return kc__validate_address_is_v6(ip) ? "IPv6" : "IPv4";
}

kc_object *kc__cluster_ip_object(kc_str ip, const kc__cluster_ip_owner *owner, kc_rand *rand)
{
    uint8_t random[16];
    char uid[KC_UID_TEXT], now[KC_TIME_TEXT];
    kc_scoped(kc_buf) json = {0};
    kc_rand_bytes(rand, random, sizeof(random));
    kc_uid_of(random, uid);
    kc_time_print(owner->now, now);
    kc_buf_printf(&json,
                  "{\"kind\":\"IPAddress\",\"apiVersion\":\"networking.k8s.io/v1\",\"metadata\":{"
                  "\"name\":\"%.*s\",\"uid\":\"%s\",\"resourceVersion\":\"0\","
                  "\"creationTimestamp\":\"%s\",\"labels\":{\"" FAMILY_LABEL
                  "\":\"%s\",\"" MANAGER_LABEL "\":\"" MANAGER "\"},\"managedFields\":[{"
                  "\"manager\":\"kube-apiserver\",\"operation\":\"Update\",\"apiVersion\":"
                  "\"networking.k8s.io/v1\",\"time\":\"%s\",\"fieldsType\":\"FieldsV1\","
                  "\"fieldsV1\":" OWNED
                  "}]},\"spec\":{\"parentRef\":{\"resource\":\"services\",\"namespace\":",
                  KC_ARG(ip), uid, now, family_name(ip), now);
    kc_json_quote(&json, owner->ns);
    kc_buf_puts(&json, ",\"name\":");
    kc_json_quote(&json, owner->name);
    kc_buf_puts(&json, "}}}");
    return kc_object_parse(kc_buf_str(&json), NULL, NULL);
}

bool kc__cluster_ip_is_managed(const kc_object *address)
{
    kc_auto(kc_view) *view = kc_view_of(address);
    const kc_value *labels = kc_value_nested(kc_view_root(view), "metadata.labels");
    return kc_str_is(kc_value_as_str(kc_value_get(labels, MANAGER_LABEL)), MANAGER);
}

bool kc__cluster_ip_has_labels(const kc_object *address)
{
    kc_auto(kc_view) *view = kc_view_of(address);
    const kc_value *labels = kc_value_nested(kc_view_root(view), "metadata.labels");
    return kc_str_is(kc_value_as_str(kc_value_get(labels, MANAGER_LABEL)), MANAGER) &&
           kc_str_is(kc_value_as_str(kc_value_get(labels, FAMILY_LABEL)),
                     family_name(kc_object_name(address)));
}

bool kc__cluster_ip_parent(const kc_object *address, kc_buf *out)
{
    kc_auto(kc_view) *view = kc_view_of(address);
    const kc_value *parent = kc_value_nested(kc_view_root(view), "spec.parentRef");
    if (kc_value_as_str(kc_value_get(parent, "group")).n ||
        !kc_str_is(kc_value_as_str(kc_value_get(parent, "resource")), "services"))
        return false;
    kc_buf_printf(out, "%.*s/%.*s", KC_ARG(kc_value_as_str(kc_value_get(parent, "namespace"))),
                  KC_ARG(kc_value_as_str(kc_value_get(parent, "name"))));
    return true;
}
