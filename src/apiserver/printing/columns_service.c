/* SPDX-License-Identifier: Apache-2.0 */
/*
 * columns_service.c: columns of what leads to pods: Services, Endpoints, Ingresses, IngressClasses,
 * NetworkPolicies.
 */
#include "apiserver/printing/columns_internal.h"
#include "kc/vec.h"

/* How many are written out; of the others their number. */
#define SHOWN 3

static void put_or_none(kc_buf *out, const kc_buf *text, const char *otherwise)
{
    kc__cell_put_text(out, text->n ? kc_buf_str(text) : kc_cstr(otherwise));
}

static void add(kc_buf *text, kc_str part)
{
    kc_buf_puts(text, text->n ? "," : "");
    kc_buf_append(text, part);
}

/* The addresses of load balancers, sorted, each once. */
static void add_ingress(kc_buf *text, const kc_value *ingress)
{
    KC_VEC(kc_str) all = {0};
    kc_items (ingress, item) {
        kc_str ip = kc_as_str(kc_get(item, "ip")), name = kc_as_str(kc_get(item, "hostname"));
        if (ip.n || name.n)
            kc_vec_push(&all, ip.n ? ip : name);
    }
    if (all.n)
        qsort(all.items, all.n, sizeof(all.items[0]), kc_str_compare);
    for (size_t i = 0; i < all.n; i++)
        if (!i || !kc_str_eq(all.items[i], all.items[i - 1]))
            add(text, all.items[i]);
    kc_vec_done(&all);
}

/* ---- Service ---- */

static void cell_cluster_ip(kc_buf *out, kc__row *row)
{
    kc_str ip = kc_as_str(kc_at(kc__row_at(row, "spec.clusterIPs"), 0));
    kc__cell_put_text(out, ip.n ? ip : KC_STR("<none>"));
}

static void cell_external_ip(kc_buf *out, kc__row *row)
{
    kc_scoped(kc_buf) text = {0};
    kc_str type = kc_as_str(kc__row_at(row, "spec.type"));
    bool balanced = kc_str_is(type, "LoadBalancer");
    if (kc_str_is(type, "ExternalName")) {
        kc__cell_put_text(out, kc_as_str(kc__row_at(row, "spec.externalName")));
        return;
    }
    if (balanced)
        add_ingress(&text, kc__row_at(row, "status.loadBalancer.ingress"));
    kc_items (kc__row_at(row, "spec.externalIPs"), item)
        add(&text, kc_as_str(item));
    put_or_none(out, &text, balanced ? "<pending>" : "<none>");
}

static void cell_ports(kc_buf *out, kc__row *row)
{
    kc_scoped(kc_buf) text = {0};
    kc_items (kc__row_at(row, "spec.ports"), port) {
        int64_t node = kc_as_i64_or(kc_get(port, "nodePort"), 0);
        kc_buf_printf(&text, "%s%lld", text.n ? "," : "",
                      (long long)kc_as_i64_or(kc_get(port, "port"), 0));
        if (node)
            kc_buf_printf(&text, ":%lld", (long long)node);
        kc_buf_printf(&text, "/%s", kc_as_cstr(kc_get(port, "protocol"), ""));
    }
    put_or_none(out, &text, "<none>");
}

static void cell_selector(kc_buf *out, kc__row *row)
{
    kc__put_labels(out, kc__row_at(row, "spec.selector"));
}

static const kc__column service[] = {
    KC__NAME_COLUMN,
    KC__PATH_COLUMN("Type", "spec.type", "", "From where it can be reached."),
    KC__TEXT_COLUMN("Cluster-IP", cell_cluster_ip, "Its address inside the cluster."),
    KC__TEXT_COLUMN("External-IP", cell_external_ip, "Its addresses outside the cluster."),
    KC__TEXT_COLUMN("Port(s)", cell_ports, "Its ports, and those of nodes that lead to them."),
    KC__AGE_COLUMN,
    KC__WIDE_COLUMN("Selector", cell_selector, "Which pods answer."),
};
const kc__columns kc__service_columns = KC__COLUMNS(service);

/* ---- Endpoints ---- */

typedef struct endpoints {
    kc_buf text;
    size_t shown, all;
} endpoints;

static void add_addresses(endpoints *e, const kc_value *addresses, const kc_value *port)
{
    kc_items (addresses, item) {
        kc_str ip = kc_as_str(kc_get(item, "ip"));
        e->all++;
        if (e->shown == SHOWN)
            continue;
        e->shown++;
        if (!port)
            add(&e->text, ip);
        else
            kc_buf_printf(&e->text, kc_str_find(ip, ':') < 0 ? "%s%.*s:%lld" : "%s[%.*s]:%lld",
                          e->text.n ? "," : "", KC_ARG(ip),
                          (long long)kc_as_i64_or(kc_get(port, "port"), 0));
    }
}

static void cell_endpoints(kc_buf *out, kc__row *row)
{
    endpoints e = {0};
    const kc_value *subsets = kc__row_at(row, "subsets");
    kc_items (subsets, subset) {
        const kc_value *ports = kc_get(subset, "ports"), *addresses = kc_get(subset, "addresses");
        if (!kc_len(ports))
            add_addresses(&e, addresses, NULL);
        kc_items (ports, port)
            add_addresses(&e, addresses, port);
    }
    if (e.all > SHOWN)
        kc_buf_printf(&e.text, " + %zu more...", e.all - SHOWN);
    put_or_none(out, &e.text, kc_len(subsets) ? "" : "<none>");
    kc_buf_done(&e.text);
}

static const kc__column endpoints_list[] = {
    KC__NAME_COLUMN,
    KC__TEXT_COLUMN("Endpoints", cell_endpoints, "The addresses that answer."),
    KC__AGE_COLUMN,
};
const kc__columns kc__endpoints_columns = KC__COLUMNS(endpoints_list);

/* ---- Ingress ---- */

static void cell_hosts(kc_buf *out, kc__row *row)
{
    kc_scoped(kc_buf) text = {0};
    const kc_value *rules = kc__row_at(row, "spec.rules");
    size_t shown = 0;
    bool more = false;
    kc_items (rules, rule) {
        kc_str host = kc_as_str(kc_get(rule, "host"));
        more = more || shown == SHOWN;
        if (more || !host.n)
            continue;
        add(&text, host);
        shown++;
    }
    if (more)
        kc_buf_printf(&text, " + %zu more...", kc_len(rules) - SHOWN);
    put_or_none(out, &text, "*");
}

static void cell_address(kc_buf *out, kc__row *row)
{
    kc_scoped(kc_buf) text = {0};
    add_ingress(&text, kc__row_at(row, "status.loadBalancer.ingress"));
    put_or_none(out, &text, "");
}

static void cell_ingress_ports(kc_buf *out, kc__row *row)
{
    bool tls = kc_len(kc__row_at(row, "spec.tls")) > 0;
    kc__cell_put_text(out, tls ? KC_STR("80, 443") : KC_STR("80"));
}

static const kc__column ingress_list[] = {
    KC__NAME_COLUMN,
    KC__PATH_COLUMN("Class", "spec.ingressClassName", "<none>", "Which IngressClass serves it."),
    KC__TEXT_COLUMN("Hosts", cell_hosts, "The hosts of its rules."),
    KC__TEXT_COLUMN("Address", cell_address, "The addresses of its load balancers."),
    KC__TEXT_COLUMN("Ports", cell_ingress_ports, "The ports it listens on."),
    KC__AGE_COLUMN,
};
const kc__columns kc__ingress_columns = KC__COLUMNS(ingress_list);

static void cell_parameters(kc_buf *out, kc__row *row)
{
    const kc_value *parameters = kc__row_at(row, "spec.parameters");
    kc_str group = kc_as_str(kc_get(parameters, "apiGroup"));
    kc_scoped(kc_buf) text = {0};
    if (parameters)
        kc_buf_printf(&text, "%s%s%.*s/%s", kc_as_cstr(kc_get(parameters, "kind"), ""),
                      group.n ? "." : "", KC_ARG(group),
                      kc_as_cstr(kc_get(parameters, "name"), ""));
    put_or_none(out, &text, "<none>");
}

static const kc__column ingress_class[] = {
    KC__NAME_COLUMN,
    KC__PATH_COLUMN("Controller", "spec.controller", "", "Who serves Ingresses of this class."),
    KC__TEXT_COLUMN("Parameters", cell_parameters, "Where more about it stands."),
    KC__AGE_COLUMN,
};
const kc__columns kc__ingress_class_columns = KC__COLUMNS(ingress_class);

/* ---- NetworkPolicy ---- */

static void cell_pod_selector(kc_buf *out, kc__row *row)
{
    kc__put_selector(out, kc__row_at(row, "spec.podSelector"));
}

static const kc__column network_policy[] = {
    KC__NAME_COLUMN,
    KC__TEXT_COLUMN("Pod-Selector", cell_pod_selector, "Which pods it is about."),
    KC__AGE_COLUMN,
};
const kc__columns kc__network_policy_columns = KC__COLUMNS(network_policy);
