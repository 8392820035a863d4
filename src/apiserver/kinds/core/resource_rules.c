/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resource_rules.c: validates the resources of containers and pods: names, quantities, requests
 * within limits, and the resource claims that a container uses.
 */
#include "apiserver/kinds/core/resource_rules.h"
#include "apiserver/kinds/core/pod_rules.h"
#include "apiserver/kinds/internal_form.h"
#include "kc/quantity.h"
#include "object/model/value_members.h"

#include <stdio.h>

static bool is_huge_pages(kc_str name)
{
    return kc_str_starts(name, KC_STR("hugepages-"));
}

static bool is_standard(kc_str name)
{
    static const char *const names[] = {"cpu",
                                        "memory",
                                        "ephemeral-storage",
                                        "requests.cpu",
                                        "requests.memory",
                                        "requests.ephemeral-storage",
                                        "limits.cpu",
                                        "limits.memory",
                                        "limits.ephemeral-storage",
                                        "pods",
                                        "resourcequotas",
                                        "services",
                                        "replicationcontrollers",
                                        "secrets",
                                        "configmaps",
                                        "persistentvolumeclaims",
                                        "storage",
                                        "requests.storage",
                                        "services.nodeports",
                                        "services.loadbalancers",
                                        NULL};
    return kc_str_is_any(name, names) || is_huge_pages(name) ||
           kc_str_starts(name, KC_STR("requests.hugepages-"));
}

static bool is_for_containers(kc_str name)
{
    static const char *const names[] = {"cpu", "memory", "ephemeral-storage", NULL};
    return kc_str_is_any(name, names) || is_huge_pages(name);
}

/* Whether this is an extended resource: "example.com/gpu". They are counted in integers and
 * cannot be overcommitted. */
static bool is_extended(kc_str name)
{
    return kc_str_find(name, '/') >= 0 && !kc_str_contains(name, KC_STR("kubernetes.io/"));
}

static void wrong_name(const kc__location *location, const char *detail)
{
    kc__location_error_text(location, KC_FIELD_INVALID, location->key, detail);
}

bool kc__validate_resource_name(const kc__location *location)
{
    const char *messages[KC_NAME_MESSAGES];
    size_t n = kc_name_check(KC_NAME_QUALIFIED, location->key, messages);
    for (size_t i = 0; i < n; i++)
        wrong_name(location, messages[i]);
    if (n)
        return false;
    if (kc_str_find(location->key, '/') >= 0 || is_standard(location->key))
        return true;
    wrong_name(location, "must be a standard resource type or fully qualified");
    return false;
}

/* In a quota the name has the prefix "requests.", with which it must still be valid. */
static bool is_for_quotas(kc_str name)
{
    char prefixed[400];
    int n = snprintf(prefixed, sizeof(prefixed), "requests.%.*s", KC_ARG(name));
    return !kc_str_starts(name, KC_STR("requests.")) && n < (int)sizeof(prefixed) &&
           kc_name_valid(KC_NAME_QUALIFIED, kc_cstr(prefixed));
}

void kc__validate_container_resource_name(const kc__location *location)
{
    kc__validate_resource_name(location);
    bool own = kc_str_find(location->key, '/') < 0;
    if (own && !is_for_containers(location->key))
        wrong_name(location, "must be a standard resource for containers");
    else if (is_extended(location->key) && !is_for_quotas(location->key))
        wrong_name(location, "doesn't follow extended resource name standard");
}

static void check_pod_name(const kc__location *location)
{
    if (kc__validate_resource_name(location) && !kc_str_is(location->key, "cpu") &&
        !kc_str_is(location->key, "memory") && !is_huge_pages(location->key))
        kc__location_error_text(location, KC_FIELD_NOT_SUPPORTED, location->key,
                                "supported values: \"cpu\", \"hugepages-\", \"memory\"");
}

/* Whether the resource counts objects, so that its quantity must be an integer. */
static bool is_counted(kc_str name)
{
    static const char *const names[] = {"pods",
                                        "resourcequotas",
                                        "services",
                                        "replicationcontrollers",
                                        "secrets",
                                        "configmaps",
                                        "persistentvolumeclaims",
                                        "services.nodeports",
                                        "services.loadbalancers",
                                        NULL};
    return kc_str_is_any(name, names);
}

bool kc__validate_resource_is_shared(kc_str name)
{
    return !is_extended(name) && !is_huge_pages(name);
}

void kc__validate_resource_amount(const kc__location *location)
{
    kc_quantity quantity;
    int64_t integer;
    kc__validate_quantity_at_least_0(location);
    if ((is_extended(location->key) || is_counted(location->key)) &&
        kc_quantity_from(location->value, &quantity, NULL) == 0 &&
        !kc_quantity_as_i64(quantity, &integer))
        kc__location_error(location, KC_FIELD_INVALID, "must be an integer");
}

/* The quantity must be a multiple of the page size: 2Mi for hugepages-2Mi. */
static void check_pages(const kc__location *location)
{
    kc_quantity page, amount;
    char text[KC_QUANTITY_MAX];
    kc_str rest = location->key;
    if (!is_huge_pages(location->key) || kc_quantity_from(location->value, &amount, NULL) < 0)
        return;
    kc_str_cut(&rest, '-');
    int64_t size = kc_quantity_parse(rest, &page, NULL) == 0 ? kc_quantity_value(page) : 0;
    if (size > 0 && kc_quantity_value(amount) % size == 0)
        return;
    kc__location_error(location, KC_FIELD_INVALID, "%.*s is not positive integer multiple of %.*s",
                       KC_ARG(kc_quantity_print(amount, text)), KC_ARG(location->key));
}

typedef void name_check(const kc__location *location);

static void check_entry(const kc__location *entry, name_check *check_name)
{
    check_name(entry);
    kc__validate_resource_amount(entry);
}

/* Compares a request with its limit; `shared` resources can be overcommitted. */
static void check_request(const kc__location *requests, const kc__location *limits, kc_str name,
                          const kc_value *value, const kc_value *most)
{
    kc_quantity request, limit;
    bool shared = kc__validate_resource_is_shared(name);
    if (!most) {
        if (!shared)
            kc__location_error(limits, KC_FIELD_REQUIRED,
                               "Limit must be set for non overcommitable resources");
        return;
    }
    if (kc_quantity_from(value, &request, NULL) < 0 || kc_quantity_from(most, &limit, NULL) < 0)
        return;
    int order = kc_quantity_cmp(request, limit);
    kc__location shown = *requests;
    shown.value = value;
    if (order && !shared)
        kc__location_error(&shown, KC_FIELD_INVALID, "must be equal to %.*s limit of %s",
                           KC_ARG(name), kc_value_as_cstr(most, ""));
    else if (order > 0)
        kc__location_error(&shown, KC_FIELD_INVALID,
                           "must be less than or equal to %.*s limit of %s", KC_ARG(name),
                           kc_value_as_cstr(most, ""));
}

/* ---- resource claims: devices allocated to a pod ---- */

static void check_claim(const kc__location *claim, const kc_map *claims, kc_map *seen)
{
    kc__location shown = *claim, request = kc__location_member(claim, "request");
    kc_str name = kc__location_member_text(claim, "name");
    shown.value = kc_value_get(claim->value, "name");
    if (!name.n) {
        kc__location_error(claim, KC_FIELD_REQUIRED, NULL);
        return;
    }
    if (kc__location_is_set(&request))
        kc__validate_name(&request, KC_NAME_DNS_LABEL);
    kc_str key = kc_cstr(kc_arena_printf(&claim->errors->arena, "%.*s%s%.*s", KC_ARG(name),
                                         kc__location_is_set(&request) ? "/" : "",
                                         KC_ARG(kc__location_text(&request))));
    if (kc_map_get(seen, name) || kc_map_put(seen, key, seen))
        kc__location_error_text(claim, KC_FIELD_DUPLICATE, kc_map_get(seen, name) ? name : key,
                                NULL);
    if (!kc_map_get(claims, name))
        kc__location_error(&shown, KC_FIELD_NOT_FOUND,
                           "must be one of the names in pod.spec.resourceClaims%s",
                           claims->n ? "" : " which is empty");
}

static void check_claims(const kc__location *list, const kc_map *claims)
{
    kc_scoped(kc_map) seen = {0};
    size_t i = 0;
    kc_value_each_item (list->value, value) {
        kc__location claim = kc__location_item(list, value, i++);
        check_claim(&claim, claims, &seen);
    }
}

static void wrong_claim(const kc__location *claim, const char *why)
{
    kc__location_error_json(claim, KC_FIELD_INVALID,
                            kc__internal_form_json("io.k8s.api.core.v1.PodResourceClaim",
                                                   claim->value, &claim->errors->arena),
                            "%s", why);
}

static const kc__validate_rule claim_names_[] = {
    {"resourceClaimName", .name = &kc__validate_name_dns_subdomain},
    {"resourceClaimTemplateName", .name = &kc__validate_name_dns_subdomain},
};
static const kc__validate_rule_table claim_names = KC__VALIDATE_RULES(claim_names_);

void kc__validate_resource_claims(const kc__location *claims, kc_map *ret_claims)
{
    size_t i = 0;
    kc_value_each_item (claims->value, value) {
        kc__location claim = kc__location_item(claims, value, i++),
                     name = kc__location_member(&claim, "name");
        bool own = kc_value_get(value, "resourceClaimName");
        bool made = kc_value_get(value, "resourceClaimTemplateName");
        if (!kc__location_is_set(&name))
            kc__location_error(&name, KC_FIELD_REQUIRED, NULL);
        else if (kc_map_put(ret_claims, kc__location_text(&name), (void *)value))
            kc__location_error(&name, KC_FIELD_DUPLICATE, NULL);
        else
            kc__validate_name(&name, KC_NAME_DNS_LABEL);
        if (own && made)
            wrong_claim(&claim, "at most one of `resourceClaimName` or `resourceClaimTemplateName` "
                                "may be specified");
        if (!own && !made)
            wrong_claim(&claim, "must specify one of: `resourceClaimName`, "
                                "`resourceClaimTemplateName`");
        kc__validate_by_rules(&claim_names, &claim);
    }
}

/* ---- resource requirements ---- */

static bool has_pages(const kc_value *list)
{
    kc_value_each_member (list, name, value)
        if (is_huge_pages(name) && value)
            return true;
    return false;
}

static bool has_cpu_or_memory(const kc_value *list)
{
    return kc_value_get(list, "cpu") || kc_value_get(list, "memory");
}

static void check_requirements(const kc__location *resources, const kc_map *claims,
                               name_check *check_name)
{
    kc__location limits = kc__location_member(resources, "limits"),
                 requests = kc__location_member(resources, "requests");
    kc__location list = kc__location_member(resources, "claims");
    kc_value_each_member (limits.value, name, value) {
        kc__location entry = kc__location_entry(&limits, name, value);
        check_entry(&entry, check_name);
        check_pages(&entry);
    }
    kc_scoped(kc__value_members) in_limits = {.object = limits.value};
    kc_value_each_member (requests.value, name, value) {
        kc__location entry = kc__location_entry(&requests, name, value);
        check_entry(&entry, check_name);
        check_request(&requests, &limits, name, value, kc__value_members_find(&in_limits, name));
        check_pages(&entry);
    }
    if ((has_pages(limits.value) || has_pages(requests.value)) &&
        !has_cpu_or_memory(limits.value) && !has_cpu_or_memory(requests.value))
        kc__location_error(resources, KC_FIELD_FORBIDDEN, "HugePages require cpu or memory");
    check_claims(&list, claims);
}

void kc__validate_resources(const kc__location *resources, const kc_map *claims)
{
    check_requirements(resources, claims, kc__validate_container_resource_name);
}

/* The limits of a container must not exceed those of the pod. */
static void check_within(const kc__location *resources, const kc_value *spec)
{
    kc__location containers = kc__location_member(resources, "containers");
    kc_scoped(kc__value_members) limits = {.object = kc_value_get(resources->value, "limits")};
    size_t i = 0;
    kc_value_each_item (kc_value_get(spec, "containers"), container) {
        kc__location item = kc__location_item(&containers, container, i++);
        kc_value_each_member (kc_value_get(kc_value_get(container, "resources"), "limits"), name,
                              value) {
            kc__location entry = kc__location_entry(&item, name, value),
                         shown = kc__location_member(&entry, "limits");
            const kc_value *limit = kc__value_members_find(&limits, name);
            kc_quantity own, most;
            shown.value = value;
            if (kc_quantity_from(limit, &most, NULL) == 0 &&
                kc_quantity_from(value, &own, NULL) == 0 && kc_quantity_cmp(own, most) > 0)
                kc__location_error(&shown, KC_FIELD_INVALID,
                                   "must be less than or equal to pod limits of %s",
                                   kc_value_as_cstr(limit, ""));
        }
    }
}

void kc__validate_pod_resources(const kc__location *spec, const kc_map *claims)
{
    kc__location resources = kc__location_member(spec, "resources"),
                 list = kc__location_member(&resources, "claims");
    if (!resources.value)
        return;
    if (kc_str_is(kc_value_as_str(kc_value_get(kc_value_get(spec->value, "os"), "name")),
                  "windows")) {
        kc__location_error(&resources, KC_FIELD_FORBIDDEN, "may not be set for a windows pod");
        return;
    }
    if (list.value)
        kc__location_error(&list, KC_FIELD_FORBIDDEN,
                           "claims may not be set for Resources at pod-level");
    check_requirements(&resources, claims, check_pod_name);
    check_within(&resources, spec->value);
}
