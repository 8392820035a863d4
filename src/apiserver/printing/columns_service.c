/* SPDX-License-Identifier: Apache-2.0 */
/*
 * columns_service.c: columns of networking kinds: Services, Endpoints, Ingresses, IngressClasses,
 * NetworkPolicies.
 */
#include "apiserver/printing/columns_internal.h"
#include "kc/vec.h"

/* Maximum number of items shown; the others are counted. */
#define SHOWN 3

static void put_or_none(kc_buf *out, const kc_buf *text, const char *fallback)
{
    kc__print_cell_put_text(out, text->n ? kc_buf_str(text) : kc_cstr(fallback));
}

static void append_service_item(kc_buf *text, kc_str part)
{
    kc_buf_puts(text, text->n ? "," : "");
    kc_buf_append(text, part);
}

/* Adds the addresses of load balancers, sorted, without duplicates. */
static void add_ingress(kc_buf *text, const kc_value *ingress)
{
    KC_VEC(kc_str) all = {0};
    kc_value_each_item (ingress, item) {
        kc_str ip = kc_value_as_str(kc_value_get(item, "ip")),
               name = kc_value_as_str(kc_value_get(item, "hostname"));
        if (ip.n || name.n)
            kc_vec_push(&all, ip.n ? ip : name);
    }
    if (all.n)
        qsort(all.items, all.n, sizeof(all.items[0]), kc_str_compare);
    for (size_t i = 0; i < all.n; i++)
        if (!i || !kc_str_eq(all.items[i], all.items[i - 1]))
            append_service_item(text, all.items[i]);
    kc_vec_done(&all);
}

/* ---- Service ---- */

static void cell_cluster_ip(kc_buf *out, kc__print_row *row)
{
    kc_str ip = kc_value_as_str(kc_value_at(kc__print_row_at(row, "spec.clusterIPs"), 0));
    kc__print_cell_put_text(out, ip.n ? ip : KC_STR("<none>"));
}

static void cell_external_ip(kc_buf *out, kc__print_row *row)
{
    kc_scoped(kc_buf) text = {0};
    kc_str type = kc_value_as_str(kc__print_row_at(row, "spec.type"));
    bool balanced = kc_str_is(type, "LoadBalancer");
    if (kc_str_is(type, "ExternalName")) {
        kc__print_cell_put_text(out, kc_value_as_str(kc__print_row_at(row, "spec.externalName")));
        return;
    }
    if (balanced)
        add_ingress(&text, kc__print_row_at(row, "status.loadBalancer.ingress"));
    kc_value_each_item (kc__print_row_at(row, "spec.externalIPs"), item)
        append_service_item(&text, kc_value_as_str(item));
    put_or_none(out, &text, balanced ? "<pending>" : "<none>");
}

static void cell_ports(kc_buf *out, kc__print_row *row)
{
    kc_scoped(kc_buf) text = {0};
    kc_value_each_item (kc__print_row_at(row, "spec.ports"), port) {
        int64_t node = kc_value_as_i64_or(kc_value_get(port, "nodePort"), 0);
        kc_buf_printf(&text, "%s%lld", text.n ? "," : "",
                      (long long)kc_value_as_i64_or(kc_value_get(port, "port"), 0));
        if (node)
            kc_buf_printf(&text, ":%lld", (long long)node);
        kc_buf_printf(&text, "/%s", kc_value_as_cstr(kc_value_get(port, "protocol"), ""));
    }
    put_or_none(out, &text, "<none>");
}

static void service_cell_selector(kc_buf *out, kc__print_row *row)
{
    kc__print_append_labels(out, kc__print_row_at(row, "spec.selector"));
}

static const kc__print_column service[] = {
    KC__PRINT_NAME_COLUMN,
    KC__PRINT_PATH_COLUMN("Type", "spec.type", "", "Type of the service."),
    KC__PRINT_TEXT_COLUMN("Cluster-IP", cell_cluster_ip, "Cluster IP of the service."),
    KC__PRINT_TEXT_COLUMN("External-IP", cell_external_ip, "External IP addresses of the service."),
    KC__PRINT_TEXT_COLUMN("Port(s)", cell_ports, "Ports and node ports of the service."),
    KC__PRINT_AGE_COLUMN,
    KC__PRINT_WIDE_COLUMN("Selector", service_cell_selector, "Label selector of the pods."),
};
const kc__print_columns kc__print_service_columns = KC__PRINT_COLUMNS(service);

/* ---- Endpoints ---- */

typedef struct endpoints {
    kc_buf text;
    size_t shown, all;
} endpoints;

static void add_addresses(endpoints *e, const kc_value *addresses, const kc_value *port)
{
    kc_value_each_item (addresses, item) {
        kc_str ip = kc_value_as_str(kc_value_get(item, "ip"));
        e->all++;
        if (e->shown == SHOWN)
            continue;
        e->shown++;
        if (!port)
            append_service_item(&e->text, ip);
        else
            kc_buf_printf(&e->text, kc_str_find(ip, ':') < 0 ? "%s%.*s:%lld" : "%s[%.*s]:%lld",
                          e->text.n ? "," : "", KC_ARG(ip),
                          (long long)kc_value_as_i64_or(kc_value_get(port, "port"), 0));
    }
}

static void cell_endpoints(kc_buf *out, kc__print_row *row)
{
    endpoints e = {0};
    const kc_value *subsets = kc__print_row_at(row, "subsets");
    kc_value_each_item (subsets, subset) {
        const kc_value *ports = kc_value_get(subset, "ports"),
                       *addresses = kc_value_get(subset, "addresses");
        if (!kc_value_len(ports))
            add_addresses(&e, addresses, NULL);
        kc_value_each_item (ports, port)
            add_addresses(&e, addresses, port);
    }
    if (e.all > SHOWN)
        kc_buf_printf(&e.text, " + %zu more...", e.all - SHOWN);
    put_or_none(out, &e.text, kc_value_len(subsets) ? "" : "<none>");
    kc_buf_done(&e.text);
}

static const kc__print_column endpoints_list[] = {
    KC__PRINT_NAME_COLUMN,
    KC__PRINT_TEXT_COLUMN("Endpoints", cell_endpoints, "Addresses and ports of the endpoints."),
    KC__PRINT_AGE_COLUMN,
};
const kc__print_columns kc__print_endpoints_columns = KC__PRINT_COLUMNS(endpoints_list);

/* ---- Ingress ---- */

static void cell_hosts(kc_buf *out, kc__print_row *row)
{
    kc_scoped(kc_buf) text = {0};
    const kc_value *rules = kc__print_row_at(row, "spec.rules");
    size_t shown = 0;
    bool more = false;
    kc_value_each_item (rules, rule) {
        kc_str host = kc_value_as_str(kc_value_get(rule, "host"));
        more = more || shown == SHOWN;
        if (more || !host.n)
            continue;
        append_service_item(&text, host);
        shown++;
    }
    if (more)
        kc_buf_printf(&text, " + %zu more...", kc_value_len(rules) - SHOWN);
    put_or_none(out, &text, "*");
}

static void cell_address(kc_buf *out, kc__print_row *row)
{
    kc_scoped(kc_buf) text = {0};
    add_ingress(&text, kc__print_row_at(row, "status.loadBalancer.ingress"));
    put_or_none(out, &text, "");
}

static void cell_ingress_ports(kc_buf *out, kc__print_row *row)
{
    bool tls = kc_value_len(kc__print_row_at(row, "spec.tls")) > 0;
    kc__print_cell_put_text(out, tls ? KC_STR("80, 443") : KC_STR("80"));
}

static const kc__print_column ingress_list[] = {
    KC__PRINT_NAME_COLUMN,
    KC__PRINT_PATH_COLUMN(
        "Class", "spec.ingressClassName", "<none>",
        "The name of the IngressClass resource that should be used for additional configuration"),
    KC__PRINT_TEXT_COLUMN(
        "Hosts", cell_hosts,
        "Hosts that incoming requests are matched against before the ingress rule"),
    KC__PRINT_TEXT_COLUMN("Address", cell_address,
                          "Address is a list containing ingress points for the load-balancer"),
    KC__PRINT_TEXT_COLUMN("Ports", cell_ingress_ports, "Ports of TLS configurations that open"),
    KC__PRINT_AGE_COLUMN,
};
const kc__print_columns kc__print_ingress_columns = KC__PRINT_COLUMNS(ingress_list);

static void cell_parameters(kc_buf *out, kc__print_row *row)
{
    const kc_value *parameters = kc__print_row_at(row, "spec.parameters");
    kc_str group = kc_value_as_str(kc_value_get(parameters, "apiGroup"));
    kc_scoped(kc_buf) text = {0};
    if (parameters)
        kc_buf_printf(&text, "%s%s%.*s/%s", kc_value_as_cstr(kc_value_get(parameters, "kind"), ""),
                      group.n ? "." : "", KC_ARG(group),
                      kc_value_as_cstr(kc_value_get(parameters, "name"), ""));
    put_or_none(out, &text, "<none>");
}

static const kc__print_column ingress_class[] = {
    KC__PRINT_NAME_COLUMN,
    KC__PRINT_PATH_COLUMN("Controller", "spec.controller", "",
                          "Controller that is responsible for handling this class"),
    KC__PRINT_TEXT_COLUMN("Parameters", cell_parameters,
                          "A reference to a resource with additional parameters"),
    KC__PRINT_AGE_COLUMN,
};
const kc__print_columns kc__print_ingress_class_columns = KC__PRINT_COLUMNS(ingress_class);

/* ---- NetworkPolicy ---- */

static void cell_pod_selector(kc_buf *out, kc__print_row *row)
{
    kc__print_append_selector(out, kc__print_row_at(row, "spec.podSelector"));
}

static const kc__print_column network_policy[] = {
    KC__PRINT_NAME_COLUMN,
    KC__PRINT_TEXT_COLUMN("Pod-Selector", cell_pod_selector, "Label selector of the pods."),
    KC__PRINT_AGE_COLUMN,
};
const kc__print_columns kc__print_network_policy_columns = KC__PRINT_COLUMNS(network_policy);
