/* SPDX-License-Identifier: Apache-2.0 */
/*
 * qos.c: computes the QoS class. Guaranteed: every container limits cpu and memory, and the
 * requests equal the limits in total. BestEffort: no container has requests or limits for them.
 * Burstable: all other pods. A quantity of zero counts as unset.
 */
#include "apiserver/kinds/core/qos.h"

#include "kc/mem.h"
#include "kc/quantity.h"

enum { CPU, MEMORY, N_RESOURCES };
static const char *const names[N_RESOURCES] = {"cpu", "memory"};

typedef struct totals {
    kc_quantity requests[N_RESOURCES], limits[N_RESOURCES];
    bool requested[N_RESOURCES], limited[N_RESOURCES];
    bool all_limited; /* Every container so far limits both resources. */
} totals;

/* Adds the quantity of a resource in a list to the total; returns whether it is set. */
static bool add_qos_quantity(const kc_node *list, const char *name, kc_quantity *total)
{
    kc_quantity one;
    kc_str text = kc_node_as_str(kc_node_get(list, kc_cstr(name)));
    if (kc_quantity_parse(text, &one, NULL) < 0 || kc_quantity_sign(one) <= 0)
        return false;
    return kc_quantity_add(total, one);
}

static void count_qos_resources(const kc_node *containers, totals *t)
{
    kc_node_each_item (containers, container) {
        kc_node *resources = kc_node_get(container, KC_STR("resources"));
        kc_node *requests = kc_node_get(resources, KC_STR("requests"));
        kc_node *limits = kc_node_get(resources, KC_STR("limits"));
        for (size_t i = 0; i < N_RESOURCES; i++) {
            bool limited = add_qos_quantity(limits, names[i], &t->limits[i]);
            t->requested[i] |= add_qos_quantity(requests, names[i], &t->requests[i]);
            t->limited[i] |= limited;
            t->all_limited = t->all_limited && limited;
        }
    }
}

const char *kc__qos_class(const kc_node *spec)
{
    totals t = {.all_limited = true};
    bool any = false, equal = true;
    count_qos_resources(kc_node_get(spec, KC_STR("containers")), &t);
    count_qos_resources(kc_node_get(spec, KC_STR("initContainers")), &t);
    for (size_t i = 0; i < N_RESOURCES; i++) {
        any = any || t.requested[i] || t.limited[i];
        equal = equal && (!t.requested[i] || kc_quantity_cmp(t.requests[i], t.limits[i]) == 0);
    }
    if (!any)
        return "BestEffort";
    return t.all_limited && equal ? "Guaranteed" : "Burstable";
}
