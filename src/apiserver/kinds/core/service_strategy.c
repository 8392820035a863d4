/* SPDX-License-Identifier: Apache-2.0 */
/*
 * service_strategy.c: the strategy of Services: defaults, the fields that the server keeps on
 * updates, and which fields belong to which type. Admission allocates addresses and ports that a
 * client leaves unset (service_allocators.c), between `prepare` and `validate`.
 */
#include "apiserver/kinds/core/service_rules.h"
#include "apiserver/kinds/strategy.h"
#include "apiserver/kinds/warnings.h"
#include "kc/diff.h"

/* ---- defaults ---- */

static bool reached_from_outside(const kc_node *spec)
{
    kc_str type = kc__defaults_node_text(spec, "type");
    return kc_str_is(type, "NodePort") || kc_str_is(type, "LoadBalancer") ||
           (kc_str_is(type, "ClusterIP") && kc_node_len(kc_node_get(spec, KC_STR("externalIPs"))));
}

static void choose_affinity(kc_edit *edit, kc_node *spec)
{
    kc__defaults_set(edit, spec, "sessionAffinity", "\"None\"");
    kc_str affinity = kc__defaults_node_text(spec, "sessionAffinity");
    if (kc_str_is(affinity, "None"))
        kc_node_remove(spec, KC_STR("sessionAffinityConfig"));
    if (!kc_str_is(affinity, "ClientIP"))
        return;
    kc_node *config = kc__defaults_set(edit, spec, "sessionAffinityConfig", "{}");
    kc_node *client = kc__defaults_set(edit, config, "clientIP", "{}");
    kc__defaults_set(edit, client, "timeoutSeconds", "10800");
}

static void choose_ports(kc_edit *edit, kc_node *spec)
{
    kc_node_each_item (kc_node_get(spec, KC_STR("ports")), port) {
        kc_node *target = kc_node_get(port, KC_STR("targetPort"));
        int64_t number = 0;
        bool none =
            kc_node_as_i64(target, &number) ? number == 0 : kc_str_empty(kc_node_as_str(target));
        kc__defaults_set(edit, port, "protocol", "\"TCP\"");
        if (none && !kc__defaults_node_absent(port, "port"))
            kc_node_set(edit, port, KC_STR("targetPort"),
                        kc_node_clone(edit, kc_node_get(port, KC_STR("port"))));
    }
}

static void complete_service(kc_edit *edit, kc_node *spec)
{
    choose_affinity(edit, spec);
    kc__defaults_set(edit, spec, "type", "\"ClusterIP\"");
    choose_ports(edit, spec);
    kc_str type = kc__defaults_node_text(spec, "type");
    if (reached_from_outside(spec))
        kc__defaults_set(edit, spec, "externalTrafficPolicy", "\"Cluster\"");
    if (!kc_str_is(type, "ExternalName"))
        kc__defaults_set(edit, spec, "internalTrafficPolicy", "\"Cluster\"");
    else
        kc_node_remove(spec, KC_STR("internalTrafficPolicy"));
    if (kc_str_is(type, "LoadBalancer"))
        kc__defaults_set(edit, spec, "allocateLoadBalancerNodePorts", "true");
}

static const kc__defaults spec_defaults = {.code = complete_service};

static void choose_mode(kc_edit *edit, kc_node *ingress)
{
    if (kc__defaults_node_text(ingress, "ip").n)
        kc__defaults_set(edit, ingress, "ipMode", "\"VIP\"");
}
static const kc__defaults ingress_defaults = {.code = choose_mode};
static const kc__defaults_entry balancer[] = {{.field = "ingress", .of = &ingress_defaults}};
static const kc__defaults balancer_defaults = KC__DEFAULTS(balancer);
static const kc__defaults_entry status[] = {{.field = "loadBalancer", .of = &balancer_defaults}};
static const kc__defaults status_defaults = KC__DEFAULTS(status);

static const kc__defaults_entry service[] = {
    {.field = "spec", .of = &spec_defaults},
    {.field = "status", .of = &status_defaults},
};
static const kc__defaults defaults = KC__DEFAULTS(service);

/* ---- clusterIP and clusterIPs ---- */

static bool has_address(const kc_node *spec)
{
    return !kc_str_is(kc__defaults_node_text(spec, "type"), "ExternalName");
}

/* A client that sets only clusterIP sets clusterIPs as well. */
static void align_addresses(kc_edit *edit, kc_node *spec)
{
    kc_node *list = kc_node_get(spec, KC_STR("clusterIPs"));
    kc_str one = kc__defaults_node_text(spec, "clusterIP");
    if (one.n && !kc_node_len(list)) {
        list = kc_node_array(edit);
        kc_node_append(list, kc_node_str(edit, one));
        kc_node_set(edit, spec, KC_STR("clusterIPs"), list);
    }
}

static void append_text(kc_edit *edit, kc_node *list, const char *text)
{
    kc_node_append(list, kc_node_str(edit, kc_cstr(text)));
}

/* Services are single-stack, except for headless Services without a selector, whose endpoints
 * are managed by others. */
static void choose_families(kc_edit *edit, kc_node *spec)
{
    bool open = kc_str_is(kc__defaults_node_text(spec, "clusterIP"), "None") &&
                !kc_node_len(kc_node_get(spec, KC_STR("selector")));
    if (kc__defaults_node_absent(spec, "ipFamilyPolicy"))
        kc__defaults_set(edit, spec, "ipFamilyPolicy",
                         open ? "\"RequireDualStack\"" : "\"SingleStack\"");
    if (kc_node_len(kc_node_get(spec, KC_STR("ipFamilies"))))
        return;
    kc_node *families = kc_node_array(edit);
    append_text(edit, families, "IPv4");
    if (open && !kc_str_is(kc__defaults_node_text(spec, "ipFamilyPolicy"), "SingleStack"))
        append_text(edit, families, "IPv6");
    kc_node_set(edit, spec, KC_STR("ipFamilies"), families);
}

static void prepare_service(kc_edit *edit)
{
    kc_node *spec = kc_node_get(kc_edit_root(edit), KC_STR("spec"));
    if (!spec)
        return;
    align_addresses(edit, spec);
    if (has_address(spec))
        choose_families(edit, spec);
}

/* ---- updates: allocated values are kept while the type uses them ---- */

static void keep_service_field(kc_edit *edit, kc_node *spec, const kc_value *old, const char *name)
{
    if (kc__defaults_node_absent(spec, name) && kc_value_get(old, name))
        kc_node_set(edit, spec, kc_cstr(name), kc_node_from_value(edit, kc_value_get(old, name)));
}

/* Drops a member that is unchanged and that the new type does not use. */
static void drop_if_same(kc_edit *edit, kc_node *spec, const kc_value *old, const char *name)
{
    kc_auto(kc_edit) *copy = kc_edit_new();
    (void)edit;
    kc_edit_set_root(copy, kc_node_clone(copy, kc_node_get(spec, kc_cstr(name))));
    kc_auto(kc_view) *view = kc_edit_root(copy) ? kc_edit_view(copy, NULL) : NULL;
    if (view && kc_value_equal(kc_view_root(view), kc_value_get(old, name), NULL))
        kc_node_remove(spec, kc_cstr(name));
}

static bool uses_node_ports(kc_str type)
{
    return kc_str_is(type, "NodePort") || kc_str_is(type, "LoadBalancer");
}

/* With externalTrafficPolicy Local only pods of the receiving node get traffic, and the load
 * balancer checks a health check node port. */
static bool balances_locally(const kc_node *spec)
{
    return kc_str_is(kc__defaults_node_text(spec, "type"), "LoadBalancer") &&
           kc_str_is(kc__defaults_node_text(spec, "externalTrafficPolicy"), "Local");
}

/* Returns a key of protocol and port, as text, for the node ports. */
static kc_str port_key(kc_arena *arena, kc_str protocol, int64_t port)
{
    return kc_cstr(kc_arena_printf(arena, "%.*s/%lld", KC_ARG(protocol), (long long)port));
}

static void keep_node_ports(kc_edit *edit, kc_node *spec, const kc_value *old)
{
    kc_scoped(kc_arena) arena = {0};
    kc_scoped(kc_map) before = {0};
    kc_value_each_item (kc_value_get(old, "ports"), port)
        kc_map_put(&before,
                   port_key(&arena, kc_value_as_str(kc_value_get(port, "protocol")),
                            kc_value_as_i64_or(kc_value_get(port, "port"), 0)),
                   (void *)port);
    kc_node_each_item (kc_node_get(spec, KC_STR("ports")), port) {
        int64_t number = 0;
        kc_node_as_i64(kc_node_get(port, KC_STR("port")), &number);
        const kc_value *was =
            kc_map_get(&before, port_key(&arena, kc__defaults_node_text(port, "protocol"), number));
        if (was)
            keep_service_field(edit, port, was, "nodePort");
    }
}

static void drop_node_ports(kc_node *spec)
{
    kc_node_each_item (kc_node_get(spec, KC_STR("ports")), port)
        kc_node_remove(port, KC_STR("nodePort"));
}

static void keep_numbers(kc_edit *edit, kc_node *spec, const kc_value *old)
{
    kc_str type = kc__defaults_node_text(spec, "type"),
           before = kc_value_as_str(kc_value_get(old, "type"));
    bool had = !kc_str_is(before, "ExternalName"), has = has_address(spec);
    if (had && has) {
        if (kc_str_empty(kc__defaults_node_text(spec, "clusterIP")) &&
            !kc_node_len(kc_node_get(spec, KC_STR("clusterIPs")))) {
            keep_service_field(edit, spec, old, "clusterIP");
            keep_service_field(edit, spec, old, "clusterIPs");
        }
        keep_service_field(edit, spec, old, "ipFamilies");
        keep_service_field(edit, spec, old, "ipFamilyPolicy");
    } else if (had) {
        static const char *const fields[] = {"clusterIP", "clusterIPs", "ipFamilies",
                                             "ipFamilyPolicy", "internalTrafficPolicy"};
        for (size_t i = 0; i < KC_COUNT(fields); i++)
            drop_if_same(edit, spec, old, fields[i]);
    }
    if (balances_locally(spec))
        keep_service_field(edit, spec, old, "healthCheckNodePort");
    else
        drop_if_same(edit, spec, old, "healthCheckNodePort");
    if (uses_node_ports(before) && uses_node_ports(type))
        keep_node_ports(edit, spec, old);
    else if (uses_node_ports(before))
        drop_node_ports(spec);
}

static bool same_list(const kc_node *list, const kc_value *old)
{
    bool same = kc_node_len(list) == kc_value_len(old);
    kc_value_iter before = kc__value_iter(old, KC_JSON_ARRAY);
    kc_node_each_item (list, item)
        same =
            same && kc_str_eq(kc_node_as_str(item), kc_value_as_str(kc__value_iter_item(&before)));
    return same;
}

/* A client that changes only clusterIP changes clusterIPs as well. */
static void follow_address(kc_edit *edit, kc_node *spec, const kc_value *old)
{
    kc_str now = kc__defaults_node_text(spec, "clusterIP"),
           before = kc_value_as_str(kc_value_get(old, "clusterIP"));
    if (!before.n || kc_str_eq(now, before) ||
        !same_list(kc_node_get(spec, KC_STR("clusterIPs")), kc_value_get(old, "clusterIPs")))
        return;
    kc_node_remove(spec, KC_STR("clusterIPs"));
    if (now.n)
        align_addresses(edit, spec);
}

static void prepare_service_update(kc_edit *edit, const kc_value *old_object,
                                   const char *subresource)
{
    kc_node *spec = kc_node_get(kc_edit_root(edit), KC_STR("spec"));
    const kc_value *old = kc_value_get(old_object, "spec");
    bool was_balanced = kc_str_is(kc_value_as_str(kc_value_get(old, "type")), "LoadBalancer");
    if (!spec || subresource)
        return;
    follow_address(edit, spec, old);
    keep_numbers(edit, spec, old);
    if (was_balanced && !kc_str_is(kc__defaults_node_text(spec, "type"), "LoadBalancer"))
        drop_if_same(edit, spec, old, "allocateLoadBalancerNodePorts");
    if (!reached_from_outside(spec))
        drop_if_same(edit, spec, old, "externalTrafficPolicy");
    prepare_service(edit);
}

/* ---- checks ---- */

static void validate_service(const kc_value *object, kc_field_errors *errors)
{
    kc__location root = kc__location_root(object, errors),
                 spec = kc__location_member(&root, "spec");
    kc__validate_service(&spec);
}

static void validate_service_update(const kc_value *object, const kc_value *old,
                                    kc_field_errors *errors)
{
    kc__location root = kc__location_root(object, errors),
                 spec = kc__location_member(&root, "spec");
    kc__validate_service_update(&spec, kc_value_get(old, "spec"));
    kc__validate_service(&spec);
}

static void validate_service_status(const kc_value *object, const kc_value *old,
                                    kc_field_errors *errors)
{
    kc__location root = kc__location_root(object, errors);
    (void)old;
    kc__validate_service_status(&root);
}

static const kc_field_def selectable[] = {{.field = "spec.clusterIP"}, {.field = "spec.type"}};

const kc__strategy kc__strategy_service = {
    .names = KC_NAME_DNS_1035_LABEL,
    .shows_deleted = true,
    .upserts = true,
    .selectable = selectable,
    .n_selectable = KC_COUNT(selectable),
    .defaults = &defaults,
    .prepare = prepare_service,
    .prepare_update = prepare_service_update,
    .validate = validate_service,
    .validate_update = validate_service_update,
    .validate_status = validate_service_status,
    .warn = kc__warnings_service,
};
