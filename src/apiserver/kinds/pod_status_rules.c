/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_status_rules.c: what a node's agent, or a scheduler, tells of a pod: its addresses, one of
 * each family, and where it may come to be; and what annotations of pods must say.
 */
#include "apiserver/kinds/address_rules.h"
#include "apiserver/kinds/inner.h"
#include "apiserver/kinds/pod_rules.h"

/* {"IP":"10.0.0.1"}, … */
static const char *shown_addresses(const kc__place *list)
{
    kc_scoped(kc_buf) out = {0};
    kc_items (list->value, value)
        kc_buf_printf(&out, "%s%s", out.n ? "," : "",
                      kc__inner_json("io.k8s.api.core.v1.PodIP", value, &list->errors->arena));
    return kc_arena_printf(&list->errors->arena, "[%s]", kc_buf_cstr(&out));
}

/* Errors are about the item, not its member. */
static void check_addresses(const kc__place *list)
{
    size_t i = 0, four = 0, six = 0;
    kc_items (list->value, value) {
        kc__place item = kc__item(list, value, i++);
        item.value = kc_get(value, "ip");
        kc__check_ip(&item);
        if (kc__address_is_v6(kc__text(&item)))
            six++;
        else
            four++;
    }
    if (four > 1 || six > 1)
        kc__wrong_as(list, KC_FIELD_INVALID, shown_addresses(list),
                     "may specify no more than one IP for each IP family");
}

static void check_host_addresses(const kc__place *status)
{
    kc__place list = kc__member(status, "hostIPs");
    kc__place first = kc__item(&list, kc_at(list.value, 0), 0), ip = kc__member(&first, "ip");
    if (!kc__there(&list))
        return;
    if (!kc_str_eq(kc__text(&ip), kc__text_in(status, "hostIP")))
        kc__wrong(&ip, KC_FIELD_INVALID, "must be equal to `hostIP`");
    check_addresses(&list);
}

/* Those of Kubernetes itself have no domain and are fine. */
static void check_conditions(const kc__place *conditions)
{
    size_t i = 0;
    kc_items (conditions->value, value) {
        kc__place condition = kc__item(conditions, value, i++);
        kc__place type = kc__member(&condition, "Type"); /* As Kubernetes spells it. */
        type.value = kc_get(value, "type");
        kc__check_name(&type, KC_NAME_QUALIFIED);
    }
}

static void check_node(const kc__place *node)
{
    if (kc__there(node))
        kc__check_name(node, KC_NAME_DNS_SUBDOMAIN);
}

static const kc__rule status_[] = {
    {"conditions", .code = check_conditions},
    {"nominatedNodeName", .code = check_node},
    {"podIPs", .code = check_addresses},
    {.code = check_host_addresses},
};
static const kc__rules status_rules = KC__RULES(status_);

void kc__check_pod_status(const kc__place *status)
{
    kc__rules_check(&status_rules, status);
}

/* ---- annotations ---- */

static bool is_i32(kc_str text)
{
    int64_t number;
    return kc_str_to_i64(text, &number) && number >= INT32_MIN && number <= INT32_MAX &&
           !kc_str_starts(text, KC_STR("+")) &&
           (text.n == 1 || (text.p[0] != '0' && !kc_str_starts(text, KC_STR("-0"))));
}

void kc__check_pod_annotations(const kc__place *root)
{
    static const char mirror[] = "kubernetes.io/config.mirror";
    static const char cost[] = "controller.kubernetes.io/pod-deletion-cost";
    kc__place metadata = kc__member(root, "metadata"), all = kc__member(&metadata, "annotations");
    kc__place mirrored = kc__entry(&all, kc_cstr(mirror), kc_get(all.value, mirror));
    kc__place costs = kc__entry(&all, kc_cstr(cost), kc_get(all.value, cost));
    const kc_value *node = kc_get(kc_get(root->value, "spec"), "nodeName");
    if (mirrored.value && !kc_as_str(node).n)
        kc__wrong(&mirrored, KC_FIELD_INVALID,
                  "must set spec.nodeName if mirror pod annotation is set");
    if (costs.value && !is_i32(kc__text(&costs)))
        kc__wrong(&costs, KC_FIELD_INVALID, "must be a 32bit integer");
}
