/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_status_rules.c: validates the status that a node agent or scheduler reports for a pod: its IP
 * addresses, one per family, its conditions and nominated node; also the pod annotations that
 * Kubernetes interprets.
 */
#include "apiserver/kinds/core/pod_rules.h"
#include "apiserver/kinds/core/profile_annotations.h"
#include "apiserver/kinds/internal_form.h"
#include "apiserver/kinds/networking/address_rules.h"

/* Formats addresses for an error: {"IP":"10.0.0.1"}, … */
static const char *shown_addresses(const kc__location *list)
{
    kc_scoped(kc_buf) out = {0};
    kc_value_each_item (list->value, value)
        kc_buf_printf(
            &out, "%s%s", out.n ? "," : "",
            kc__internal_form_json("io.k8s.api.core.v1.PodIP", value, &list->errors->arena));
    return kc_arena_printf(&list->errors->arena, "[%s]", kc_buf_cstr(&out));
}

/* Errors are reported for the item, not for its member. */
static void check_addresses(const kc__location *list)
{
    size_t i = 0, four = 0, six = 0;
    kc_value_each_item (list->value, value) {
        kc__location item = kc__location_item(list, value, i++);
        item.value = kc_value_get(value, "ip");
        kc__validate_ip(&item);
        if (kc__validate_address_is_v6(kc__location_text(&item)))
            six++;
        else
            four++;
    }
    if (four > 1 || six > 1)
        kc__location_error_json(list, KC_FIELD_INVALID, shown_addresses(list),
                                "may specify no more than one IP for each IP family");
}

static void check_host_addresses(const kc__location *status)
{
    kc__location list = kc__location_member(status, "hostIPs");
    kc__location first = kc__location_item(&list, kc_value_at(list.value, 0), 0),
                 ip = kc__location_member(&first, "ip");
    if (!kc__location_is_set(&list))
        return;
    if (!kc_str_eq(kc__location_text(&ip), kc__location_member_text(status, "hostIP")))
        kc__location_error(&ip, KC_FIELD_INVALID, "must be equal to `hostIP`");
    check_addresses(&list);
}

/* Condition types of Kubernetes itself have no domain and are valid. */
static void check_conditions(const kc__location *conditions)
{
    size_t i = 0;
    kc_value_each_item (conditions->value, value) {
        kc__location condition = kc__location_item(conditions, value, i++);
        kc__location type = kc__location_member(&condition, "Type"); /* As Kubernetes spells it. */
        type.value = kc_value_get(value, "type");
        kc__validate_name(&type, KC_NAME_QUALIFIED);
    }
}

static void check_node(const kc__location *node)
{
    if (kc__location_is_set(node))
        kc__validate_name(node, KC_NAME_DNS_SUBDOMAIN);
}

static const kc__validate_rule status_[] = {
    {"conditions", .code = check_conditions},
    {"nominatedNodeName", .code = check_node},
    {"podIPs", .code = check_addresses},
    {.code = check_host_addresses},
};
static const kc__validate_rule_table status_rules = KC__VALIDATE_RULES(status_);

void kc__validate_pod_status(const kc__location *status)
{
    kc__validate_by_rules(&status_rules, status);
}

/* ---- annotations ---- */

static bool is_i32(kc_str text)
{
    int64_t number;
    return kc_str_to_i64(text, &number) && number >= INT32_MIN && number <= INT32_MAX &&
           !kc_str_starts(text, KC_STR("+")) &&
           (text.n == 1 || (text.p[0] != '0' && !kc_str_starts(text, KC_STR("-0"))));
}

void kc__validate_pod_annotations(const kc__location *root)
{
    static const char mirror[] = "kubernetes.io/config.mirror";
    static const char cost[] = "controller.kubernetes.io/pod-deletion-cost";
    kc__location metadata = kc__location_member(root, "metadata"),
                 all = kc__location_member(&metadata, "annotations");
    kc__location mirrored =
        kc__location_entry(&all, kc_cstr(mirror), kc_value_get(all.value, mirror));
    kc__location costs = kc__location_entry(&all, kc_cstr(cost), kc_value_get(all.value, cost));
    const kc_value *node = kc_value_get(kc_value_get(root->value, "spec"), "nodeName");
    if (mirrored.value && !kc_value_as_str(node).n)
        kc__location_error(&mirrored, KC_FIELD_INVALID,
                           "must set spec.nodeName if mirror pod annotation is set");
    if (costs.value && !is_i32(kc__location_text(&costs)))
        kc__location_error(&costs, KC_FIELD_INVALID, "must be a 32bit integer");
    kc__validate_profile_annotations(&all, kc_value_get(root->value, "spec"));
}
