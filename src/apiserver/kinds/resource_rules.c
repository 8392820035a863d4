/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resource_rules.c: what is checked in the resources of containers and pods: names, quantities,
 * that requests do not exceed limits, and which claims of the pod a container has.
 */
#include "apiserver/kinds/resource_rules.h"
#include "apiserver/kinds/inner.h"
#include "apiserver/kinds/pod_rules.h"
#include "kc/quantity.h"

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

/* Of somebody else: "example.com/gpu". They are counted, never shared. */
static bool is_extended(kc_str name)
{
    return kc_str_find(name, '/') >= 0 && !kc_str_contains(name, KC_STR("kubernetes.io/"));
}

static void wrong_name(const kc__place *place, const char *detail)
{
    kc__wrong_text(place, KC_FIELD_INVALID, place->key, detail);
}

bool kc__check_resource_name(const kc__place *place)
{
    const char *messages[KC_NAME_MESSAGES];
    size_t n = kc_name_check(KC_NAME_QUALIFIED, place->key, messages);
    for (size_t i = 0; i < n; i++)
        wrong_name(place, messages[i]);
    if (n)
        return false;
    if (kc_str_find(place->key, '/') >= 0 || is_standard(place->key))
        return true;
    wrong_name(place, "must be a standard resource type or fully qualified");
    return false;
}

/* In a quota it has a prefix, with which it must still be a name. */
static bool is_for_quotas(kc_str name)
{
    char prefixed[400];
    int n = snprintf(prefixed, sizeof(prefixed), "requests.%.*s", KC_ARG(name));
    return !kc_str_starts(name, KC_STR("requests.")) && n < (int)sizeof(prefixed) &&
           kc_name_valid(KC_NAME_QUALIFIED, kc_cstr(prefixed));
}

void kc__check_container_resource_name(const kc__place *place)
{
    kc__check_resource_name(place);
    bool own = kc_str_find(place->key, '/') < 0;
    if (own && !is_for_containers(place->key))
        wrong_name(place, "must be a standard resource for containers");
    else if (is_extended(place->key) && !is_for_quotas(place->key))
        wrong_name(place, "doesn't follow extended resource name standard");
}

static void check_pod_name(const kc__place *place)
{
    if (kc__check_resource_name(place) && !kc_str_is(place->key, "cpu") &&
        !kc_str_is(place->key, "memory") && !is_huge_pages(place->key))
        kc__wrong_text(place, KC_FIELD_NOT_SUPPORTED, place->key,
                       "supported values: \"cpu\", \"hugepages-\", \"memory\"");
}

/* Objects: there is no half of one. */
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

bool kc__resource_is_shared(kc_str name)
{
    return !is_extended(name) && !is_huge_pages(name);
}

void kc__check_resource_amount(const kc__place *place)
{
    kc_quantity quantity;
    int64_t whole;
    kc__check_quantity_at_least_0(place);
    if ((is_extended(place->key) || is_counted(place->key)) &&
        kc_quantity_from(place->value, &quantity, NULL) == 0 &&
        !kc_quantity_as_i64(quantity, &whole))
        kc__wrong(place, KC_FIELD_INVALID, "must be an integer");
}

/* Pages are whole: hugepages-2Mi is some times 2Mi. */
static void check_pages(const kc__place *place)
{
    kc_quantity page, amount;
    char text[KC_QUANTITY_MAX];
    kc_str rest = place->key;
    if (!is_huge_pages(place->key) || kc_quantity_from(place->value, &amount, NULL) < 0)
        return;
    kc_str_cut(&rest, '-');
    int64_t size = kc_quantity_parse(rest, &page, NULL) == 0 ? kc_quantity_value(page) : 0;
    if (size > 0 && kc_quantity_value(amount) % size == 0)
        return;
    kc__wrong(place, KC_FIELD_INVALID, "%.*s is not positive integer multiple of %.*s",
              KC_ARG(kc_quantity_print(amount, text)), KC_ARG(place->key));
}

typedef void name_check(const kc__place *place);

static void check_entry(const kc__place *entry, name_check *check_name)
{
    check_name(entry);
    kc__check_resource_amount(entry);
}

/* Against the limit; `shared` resources may be promised more than once. */
static void check_request(const kc__place *requests, const kc__place *limits, kc_str name,
                          const kc_value *value)
{
    kc_quantity request, limit;
    const kc_value *most = kc_get_str(limits->value, name);
    bool shared = kc__resource_is_shared(name);
    if (!most) {
        if (!shared)
            kc__wrong(limits, KC_FIELD_REQUIRED,
                      "Limit must be set for non overcommitable resources");
        return;
    }
    if (kc_quantity_from(value, &request, NULL) < 0 || kc_quantity_from(most, &limit, NULL) < 0)
        return;
    int order = kc_quantity_cmp(request, limit);
    kc__place shown = *requests;
    shown.value = value;
    if (order && !shared)
        kc__wrong(&shown, KC_FIELD_INVALID, "must be equal to %.*s limit of %s", KC_ARG(name),
                  kc_as_cstr(most, ""));
    else if (order > 0)
        kc__wrong(&shown, KC_FIELD_INVALID, "must be less than or equal to %.*s limit of %s",
                  KC_ARG(name), kc_as_cstr(most, ""));
}

/* ---- claims: devices that are given to a pod ---- */

static void check_claim(const kc__place *claim, const kc_map *claims, kc_map *seen)
{
    kc__place shown = *claim, request = kc__member(claim, "request");
    kc_str name = kc__text_in(claim, "name");
    shown.value = kc_get(claim->value, "name");
    if (!name.n) {
        kc__wrong(claim, KC_FIELD_REQUIRED, NULL);
        return;
    }
    if (kc__there(&request))
        kc__check_name(&request, KC_NAME_DNS_LABEL);
    kc_str key =
        kc_cstr(kc_arena_printf(&claim->errors->arena, "%.*s%s%.*s", KC_ARG(name),
                                kc__there(&request) ? "/" : "", KC_ARG(kc__text(&request))));
    if (kc_map_get(seen, name) || kc_map_put(seen, key, seen))
        kc__wrong_text(claim, KC_FIELD_DUPLICATE, kc_map_get(seen, name) ? name : key, NULL);
    if (!kc_map_get(claims, name))
        kc__wrong(&shown, KC_FIELD_NOT_FOUND,
                  "must be one of the names in pod.spec.resourceClaims%s",
                  claims->n ? "" : " which is empty");
}

static void check_claims(const kc__place *list, const kc_map *claims)
{
    kc_scoped(kc_map) seen = {0};
    size_t i = 0;
    kc_items (list->value, value) {
        kc__place claim = kc__item(list, value, i++);
        check_claim(&claim, claims, &seen);
    }
}

static void wrong_claim(const kc__place *claim, const char *why)
{
    kc__wrong_as(
        claim, KC_FIELD_INVALID,
        kc__inner_json("io.k8s.api.core.v1.PodResourceClaim", claim->value, &claim->errors->arena),
        "%s", why);
}

static const kc__rule claim_names_[] = {
    {"resourceClaimName", .name = &kc__dns_subdomain},
    {"resourceClaimTemplateName", .name = &kc__dns_subdomain},
};
static const kc__rules claim_names = KC__RULES(claim_names_);

void kc__check_resource_claims(const kc__place *claims, kc_map *ret_claims)
{
    size_t i = 0;
    kc_items (claims->value, value) {
        kc__place claim = kc__item(claims, value, i++), name = kc__member(&claim, "name");
        bool own = kc_get(value, "resourceClaimName");
        bool made = kc_get(value, "resourceClaimTemplateName");
        if (!kc__there(&name))
            kc__wrong(&name, KC_FIELD_REQUIRED, NULL);
        else if (kc_map_put(ret_claims, kc__text(&name), (void *)value))
            kc__wrong(&name, KC_FIELD_DUPLICATE, NULL);
        else
            kc__check_name(&name, KC_NAME_DNS_LABEL);
        if (own && made)
            wrong_claim(&claim, "at most one of `resourceClaimName` or `resourceClaimTemplateName` "
                                "may be specified");
        if (!own && !made)
            wrong_claim(&claim, "must specify one of: `resourceClaimName`, "
                                "`resourceClaimTemplateName`");
        kc__rules_check(&claim_names, &claim);
    }
}

/* ---- together ---- */

static bool has_pages(const kc_value *list)
{
    kc_members (list, name, value)
        if (is_huge_pages(name) && value)
            return true;
    return false;
}

static bool has_cpu_or_memory(const kc_value *list)
{
    return kc_get(list, "cpu") || kc_get(list, "memory");
}

static void check_requirements(const kc__place *resources, const kc_map *claims,
                               name_check *check_name)
{
    kc__place limits = kc__member(resources, "limits"),
              requests = kc__member(resources, "requests");
    kc__place list = kc__member(resources, "claims");
    kc_members (limits.value, name, value) {
        kc__place entry = kc__entry(&limits, name, value);
        check_entry(&entry, check_name);
        check_pages(&entry);
    }
    kc_members (requests.value, name, value) {
        kc__place entry = kc__entry(&requests, name, value);
        check_entry(&entry, check_name);
        check_request(&requests, &limits, name, value);
        check_pages(&entry);
    }
    if ((has_pages(limits.value) || has_pages(requests.value)) &&
        !has_cpu_or_memory(limits.value) && !has_cpu_or_memory(requests.value))
        kc__wrong(resources, KC_FIELD_FORBIDDEN, "HugePages require cpu or memory");
    check_claims(&list, claims);
}

void kc__check_resources(const kc__place *resources, const kc_map *claims)
{
    check_requirements(resources, claims, kc__check_container_resource_name);
}

/* No container has more than the pod. */
static void check_within(const kc__place *resources, const kc_value *spec)
{
    kc__place containers = kc__member(resources, "containers");
    const kc_value *limits = kc_get(resources->value, "limits");
    size_t i = 0;
    kc_items (kc_get(spec, "containers"), container) {
        kc__place item = kc__item(&containers, container, i++);
        kc_members (kc_get(kc_get(container, "resources"), "limits"), name, value) {
            kc__place entry = kc__entry(&item, name, value), shown = kc__member(&entry, "limits");
            kc_quantity own, most;
            shown.value = value;
            if (kc_quantity_from(kc_get_str(limits, name), &most, NULL) == 0 &&
                kc_quantity_from(value, &own, NULL) == 0 && kc_quantity_cmp(own, most) > 0)
                kc__wrong(&shown, KC_FIELD_INVALID,
                          "must be less than or equal to pod limits of %s",
                          kc_as_cstr(kc_get_str(limits, name), ""));
        }
    }
}

void kc__check_pod_resources(const kc__place *spec, const kc_map *claims)
{
    kc__place resources = kc__member(spec, "resources"), list = kc__member(&resources, "claims");
    if (!resources.value)
        return;
    if (kc_str_is(kc_as_str(kc_get(kc_get(spec->value, "os"), "name")), "windows")) {
        kc__wrong(&resources, KC_FIELD_FORBIDDEN, "may not be set for a windows pod");
        return;
    }
    if (list.value)
        kc__wrong(&list, KC_FIELD_FORBIDDEN, "claims may not be set for Resources at pod-level");
    check_requirements(&resources, claims, check_pod_name);
    check_within(&resources, spec->value);
}
