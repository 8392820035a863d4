/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resource_rules.c: what is checked in the resources of a container: names, quantities, and that
 * requests do not exceed limits.
 */
#include "apiserver/kinds/pod_rules.h"
#include "kc/json.h"
#include "kc/quantity.h"

static bool is_one_of(kc_str name, const char *const *names)
{
    for (size_t i = 0; names[i]; i++)
        if (kc_str_is(name, names[i]))
            return true;
    return false;
}

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
    return is_one_of(name, names) || is_huge_pages(name) ||
           kc_str_starts(name, KC_STR("requests.hugepages-"));
}

static bool is_for_containers(kc_str name)
{
    static const char *const names[] = {"cpu", "memory", "ephemeral-storage", NULL};
    return is_one_of(name, names) || is_huge_pages(name);
}

/* Of somebody else: "example.com/gpu". They are counted, never shared. */
static bool is_extended(kc_str name)
{
    return kc_str_find(name, '/') >= 0 && !kc_str_contains(name, KC_STR("kubernetes.io/"));
}

static void wrong_name(const kc__place *place, const char *detail)
{
    kc_scoped(kc_buf) quoted = {0};
    kc_json_quote(&quoted, place->key);
    kc__wrong_as(place, KC_FIELD_INVALID, kc_buf_cstr(&quoted), "%s", detail);
}

static void check_resource_name(const kc__place *place)
{
    const char *messages[KC_NAME_MESSAGES];
    size_t n = kc_name_check(KC_NAME_QUALIFIED, place->key, messages);
    for (size_t i = 0; i < n; i++)
        wrong_name(place, messages[i]);
    bool own = kc_str_find(place->key, '/') < 0;
    if (!n && own && !is_standard(place->key))
        wrong_name(place, "must be a standard resource type or fully qualified");
    if (own && !is_for_containers(place->key))
        wrong_name(place, "must be a standard resource for containers");
}

static void check_amount(const kc__place *place)
{
    kc_quantity quantity;
    int64_t whole;
    kc__check_quantity_at_least_0(place);
    if (is_extended(place->key) && kc_quantity_from(place->value, &quantity, NULL) == 0 &&
        !kc_quantity_as_i64(quantity, &whole))
        kc__wrong(place, KC_FIELD_INVALID, "must be an integer");
}

static void check_all(const kc__place *list)
{
    kc_members (list->value, name, value) {
        kc__place entry = kc__entry(list, name, value);
        check_resource_name(&entry);
        check_amount(&entry);
    }
}

/* Against the limit; `shared` resources may be promised more than once. */
static void check_request(const kc__place *requests, const kc__place *limits, kc_str name,
                          const kc_value *value)
{
    kc_quantity request, limit;
    const kc_value *most = kc_get_str(limits->value, name);
    bool shared = !is_extended(name) && !is_huge_pages(name);
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

void kc__check_resources(const kc__place *resources)
{
    kc__place limits = kc__member(resources, "limits"),
              requests = kc__member(resources, "requests");
    check_all(&limits);
    kc_members (requests.value, name, value) {
        kc__place entry = kc__entry(&requests, name, value);
        check_resource_name(&entry);
        check_amount(&entry);
        check_request(&requests, &limits, name, value);
    }
}
