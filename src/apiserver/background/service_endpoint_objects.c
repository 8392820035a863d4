/* SPDX-License-Identifier: Apache-2.0 */
/* service_endpoint_objects.c: see service_endpoint_objects.h. */
#include "apiserver/background/service_endpoint_objects.h"

#include "apiserver/kinds/networking/address_rules.h"
#include "kc/diff.h"
#include "kc/edit.h"
#include "kc/uid.h"
#include "kc/view.h"

#define SKIP_MIRROR  "endpointslice.kubernetes.io/skip-mirror"
#define SERVICE_NAME "kubernetes.io/service-name"
#define NAME         "\"name\":\"kubernetes\",\"namespace\":\"default\""

void kc__service_endpoint_list_add(kc__service_endpoint_list *list, kc_str address)
{
    if (kc__validate_address_is_valid(address))
        kc_vec_push(list, kc_str_dup(address));
}

void kc__service_endpoint_list_done(kc__service_endpoint_list *list)
{
    kc_vec_each (list, address)
        free(*address);
    kc_vec_done(list);
}

kc_object *kc__service_endpoint_lease(const char *address, int64_t generation)
{
    kc_scoped(kc_buf) json = {0};
    kc_buf_printf(&json,
                  "{\"kind\":\"Endpoints\",\"apiVersion\":\"v1\",\"metadata\":{"
                  "\"resourceVersion\":\"0\",\"generation\":%lld},\"subsets\":[{\"addresses\":[{"
                  "\"ip\":\"%s\"}]}]}",
                  (long long)generation, address);
    return kc_object_parse(kc_buf_str(&json), NULL, NULL);
}

/* uid, resourceVersion, generation and creationTimestamp: those of the stored object, or new ones.
 */
static void put_system_fields(kc_buf *out, const kc_object *stored, int64_t generation,
                              const kc__service_endpoint_new *new)
{
    char uid[KC_UID_TEXT], now[KC_TIME_TEXT];
    uint8_t random[16];
    kc_rand_bytes(new->rand, random, sizeof(random));
    const kc_str id = stored ? kc_object_uid(stored) : kc_uid_of(random, uid),
                 created =
                     stored ? kc_object_creation_timestamp(stored) : kc_time_print(new->now, now);
    kc_buf_printf(out, ",\"uid\":\"%.*s\",\"resourceVersion\":\"0\"", KC_ARG(id));
    if (generation)
        kc_buf_printf(out, ",\"generation\":%lld", (long long)generation);
    kc_buf_printf(out, ",\"creationTimestamp\":\"%.*s\"", KC_ARG(created));
}

static kc_node *node_of_json(kc_edit *edit, const kc_buf *json)
{
    kc_auto(kc_view) *view = kc_view_parse(kc_buf_str(json), NULL, NULL);
    return kc_node_from_value(edit, kc_view_root(view));
}

/* ---- Endpoints ---- */

/* The only subset of the stored Endpoints; NULL: it has none or several. */
static const kc_value *subset_of(const kc_value *endpoints)
{
    const kc_value *subsets = kc_value_get(endpoints, "subsets");
    return kc_value_len(subsets) == 1 ? kc_value_at(subsets, 0) : NULL;
}

static bool has_servers(const kc_value *endpoints, const kc__service_endpoint_list *servers)
{
    const kc_value *addresses = kc_value_get(subset_of(endpoints), "addresses");
    size_t i = 0;
    if (kc_value_len(addresses) != servers->n)
        return false;
    kc_value_each_item (addresses, address)
        if (!kc_str_is(kc_value_as_str(kc_value_get(address, "ip")), servers->items[i++]))
            return false;
    return servers->n || !kc_value_len(kc_value_get(endpoints, "subsets"));
}

static void put_subsets(kc_buf *out, const kc__service_endpoint_list *servers, int port,
                        const kc_value *stored)
{
    const kc_value *ports = kc_value_get(subset_of(stored), "ports");
    kc_buf_puts(out, "[{\"addresses\":[");
    for (size_t i = 0; i < servers->n; i++)
        kc_buf_printf(out, "%s{\"ip\":\"%s\"}", i ? "," : "", servers->items[i]);
    kc_buf_puts(out, "],\"ports\":");
    if (kc_value_len(ports))
        kc_json_write(out, ports);
    else
        kc_buf_printf(out, "[{\"name\":\"https\",\"port\":%d,\"protocol\":\"TCP\"}]", port);
    kc_buf_puts(out, "}]");
}

static kc_object *new_endpoints(const kc__service_endpoint_new *new)
{
    kc_scoped(kc_buf) json = {0};
    kc_buf_puts(&json, "{\"kind\":\"Endpoints\",\"apiVersion\":\"v1\",\"metadata\":{" NAME);
    put_system_fields(&json, NULL, 0, new);
    kc_buf_puts(&json, "}}");
    return kc_object_parse(kc_buf_str(&json), NULL, NULL);
}

kc_object *kc__service_endpoint_endpoints(const kc__service_endpoint_list *servers, int port,
                                          const kc_object *stored,
                                          const kc__service_endpoint_new *new)
{
    kc_scoped(kc_buf) subsets = {0};
    kc_auto(kc_object) *base = stored ? kc_object_ref(stored) : new_endpoints(new);
    kc_auto(kc_view) *view = kc_view_of(base);
    const kc_value *root = kc_view_root(view),
                   *label = kc_value_get(kc_value_nested(root, "metadata.labels"), SKIP_MIRROR);
    if (stored && kc_str_is(kc_value_as_str(label), "true") && has_servers(root, servers))
        return NULL;
    kc_auto(kc_edit) *edit = kc_edit_of(base);
    kc_node *metadata = kc_node_get(kc_edit_root(edit), KC_STR("metadata"));
    kc_node_set(edit, kc_node_ensure_object(edit, metadata, KC_STR("labels")), KC_STR(SKIP_MIRROR),
                kc_node_str(edit, KC_STR("true")));
    put_subsets(&subsets, servers, port, root);
    if (servers->n)
        kc_node_set(edit, kc_edit_root(edit), KC_STR("subsets"), node_of_json(edit, &subsets));
    else
        kc_node_remove(kc_edit_root(edit), KC_STR("subsets"));
    return kc_edit_freeze(edit, NULL);
}

/* ---- EndpointSlice ---- */

/* IPv6 if all addresses are. */
static bool is_v6_slice(const kc_value *addresses)
{
    bool all = kc_value_len(addresses);
    kc_value_each_item (addresses, address)
        all = all && kc__validate_address_is_v6(kc_value_as_str(kc_value_get(address, "ip")));
    return all;
}

static void put_slice_endpoints(kc_buf *out, const kc_value *addresses, bool v6)
{
    size_t n = 0;
    kc_value_each_item (addresses, address) {
        const kc_str ip = kc_value_as_str(kc_value_get(address, "ip"));
        if (kc__validate_address_is_v6(ip) != v6)
            continue;
        kc_buf_printf(out, "%s{\"addresses\":[\"%.*s\"],\"conditions\":{\"ready\":true}}",
                      n++ ? "," : "[", KC_ARG(ip));
    }
    kc_buf_puts(out, n ? "]" : "null");
}

static void put_slice_ports(kc_buf *out, const kc_value *ports)
{
    size_t n = 0;
    kc_value_each_item (ports, port) {
        kc_buf_puts(out, n++ ? ",{\"name\":" : "[{\"name\":");
        kc_json_quote(out, kc_value_as_str(kc_value_get(port, "name")));
        kc_buf_puts(out, ",\"protocol\":");
        kc_json_quote(out, kc_value_as_str(kc_value_get(port, "protocol")));
        kc_buf_printf(out, ",\"port\":%lld}",
                      (long long)kc_value_as_i64_or(kc_value_get(port, "port"), 0));
    }
    kc_buf_puts(out, n ? "]" : "null");
}

/* Whether both have the same endpoints, ports and labels. An absent list equals null. */
static bool is_same_slice(const kc_object *a, const kc_object *b)
{
    static const char *const parts[] = {"addressType", "endpoints", "ports", "metadata.labels"};
    kc_auto(kc_view) *x = kc_view_of(a);
    kc_auto(kc_view) *y = kc_view_of(b);
    for (size_t i = 0; i < KC_COUNT(parts); i++) {
        const kc_value *one = kc_value_nested(kc_view_root(x), parts[i]),
                       *other = kc_value_nested(kc_view_root(y), parts[i]);
        const bool none = !kc_value_count(one) && !kc_value_count(other);
        if (i > 0 && none)
            continue;
        if (!kc_value_equal(one, other, NULL))
            return false;
    }
    return true;
}

kc_object *kc__service_endpoint_slice(const kc_object *endpoints, const kc_object *stored,
                                      const kc__service_endpoint_new *new)
{
    kc_scoped(kc_buf) json = {0};
    kc_auto(kc_view) *view = kc_view_of(endpoints);
    const kc_value *subset = kc_value_at(kc_value_get(kc_view_root(view), "subsets"), 0),
                   *addresses = kc_value_get(subset, "addresses");
    const bool v6 = is_v6_slice(addresses);
    kc_buf_puts(&json, "{\"kind\":\"EndpointSlice\",\"apiVersion\":\"discovery.k8s.io/v1\","
                       "\"metadata\":{" NAME);
    put_system_fields(&json, stored, stored ? kc_object_generation(stored) + 1 : 1, new);
    kc_buf_printf(&json,
                  ",\"labels\":{\"" SERVICE_NAME
                  "\":\"kubernetes\"}},\"addressType\":\"%s\",\"endpoints\":",
                  v6 ? "IPv6" : "IPv4");
    put_slice_endpoints(&json, addresses, v6);
    kc_buf_puts(&json, ",\"ports\":");
    put_slice_ports(&json, kc_value_get(subset, "ports"));
    kc_buf_putc(&json, '}');
    kc_auto(kc_object) *object = kc_object_parse(kc_buf_str(&json), NULL, NULL);
    return stored && is_same_slice(object, stored) ? NULL : kc_take(object);
}
