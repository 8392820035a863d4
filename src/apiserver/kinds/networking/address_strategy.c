/* SPDX-License-Identifier: Apache-2.0 */
/*
 * address_strategy.c: the strategies of IPAddress and ServiceCIDR: the cluster IPs in use, and the
 * networks from which they are allocated. Both are stricter than older kinds: an address or network
 * must be in canonical form, because two objects with different names must not mean the same
 * address.
 */
#include "apiserver/kinds/internal_form.h"
#include "apiserver/kinds/networking/address_rules.h"
#include "apiserver/kinds/strategy.h"
#include "kc/diff.h"

/* ---- IPAddress ---- */

/* The name of the object is the address. */
static void check_address_name(const kc__location *root)
{
    kc__location metadata = kc__location_member(root, "metadata"),
                 name = kc__location_member(&metadata, "name");
    kc__validate_canonical_ip(&name);
}

static const kc__validate_rule parent_[] = {
    {"group", .name = &kc__validate_name_dns_subdomain},
    {"resource", .required = "", .name = &kc__validate_name_path_segment},
    {"name", .required = "", .name = &kc__validate_name_path_segment},
    {"namespace", .name = &kc__validate_name_path_segment},
};
static const kc__validate_rule_table parent = KC__VALIDATE_RULES(parent_);

static void check_parent(const kc__location *spec)
{
    kc__location reference = kc__location_member(spec, "parentRef");
    if (reference.value)
        kc__validate_by_rules(&parent, &reference);
    else
        kc__location_error(&reference, KC_FIELD_REQUIRED, NULL);
}

static const kc__validate_rule address_[] = {
    {.code = check_address_name},
    {"spec", .code = check_parent},
};
static const kc__validate_rule_table address_rules = KC__VALIDATE_RULES(address_);

static void validate_address_update(const kc_value *object, const kc_value *old,
                                    kc_field_errors *errors)
{
    kc__location root = kc__location_root(object, errors),
                 spec = kc__location_member(&root, "spec");
    kc__location reference = kc__location_member(&spec, "parentRef");
    if (kc_value_equal(reference.value, kc_value_nested(old, "spec.parentRef"), NULL))
        return;
    const char *shown = "null";
    if (reference.value)
        shown = kc__internal_form_json("io.k8s.api.networking.v1.ParentReference", reference.value,
                                       &errors->arena);
    kc__location_error_json(&reference, KC_FIELD_INVALID, shown, "field is immutable");
}

const kc__strategy kc__strategy_ip_address = {
    .names = KC_NAME_PATH_SEGMENT,
    .rules = &address_rules,
    .validate_update = validate_address_update,
};

/* ---- ServiceCIDR ---- */

static int family_of(const kc_value *cidr)
{
    kc__cidr network;
    if (!kc__cidr_parse(kc_value_as_str(cidr), &network))
        return 0;
    return network.six ? 6 : 4;
}

static void wrong_list(const kc__location *cidrs, const char *detail)
{
    kc_scoped(kc_buf) json = {0};
    if (cidrs->value)
        kc_json_write(&json, cidrs->value);
    else
        kc_buf_puts(&json, "[]");
    kc__location_error_json(cidrs, KC_FIELD_INVALID,
                            kc_arena_strndup(&cidrs->errors->arena, json.p, json.n), "%s", detail);
}

static void check_cidrs(const kc__location *spec)
{
    kc__location cidrs = kc__location_member(spec, "cidrs");
    size_t i = 0, n = kc_value_len(cidrs.value);
    if (!n) {
        kc__location_error(&cidrs, KC_FIELD_REQUIRED, "at least one CIDR required");
        return;
    }
    if (n > 2) {
        kc__location_error_json(&cidrs, KC_FIELD_INVALID,
                                kc__internal_form_json("io.k8s.api.networking.v1.ServiceCIDRSpec",
                                                       spec->value, &spec->errors->arena),
                                "may only hold up to 2 values");
        return;
    }
    kc_value_each_item (cidrs.value, value) {
        kc__location cidr = kc__location_item(&cidrs, value, i++);
        kc__validate_canonical_cidr(&cidr);
    }
    int first = family_of(kc_value_at(cidrs.value, 0));
    if (n == 2 && first && first == family_of(kc_value_at(cidrs.value, 1)))
        wrong_list(&cidrs, "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 "
                           "and 2001:db8::/64");
}

static void validate_cidr(const kc_value *object, kc_field_errors *errors)
{
    kc__location root = kc__location_root(object, errors),
                 spec = kc__location_member(&root, "spec");
    check_cidrs(&spec);
}

static void check_same_cidr(const kc__location *cidrs, const kc_value *before, size_t i)
{
    kc__location cidr = kc__location_item(cidrs, kc_value_at(cidrs->value, i), i);
    if (!kc_str_eq(kc_value_as_str(cidr.value), kc_value_as_str(kc_value_at(before, i))))
        kc__location_error(&cidr, KC_FIELD_INVALID, "field is immutable");
}

/* A second network may be added; nothing else may change. */
static void validate_cidr_update(const kc_value *object, const kc_value *old,
                                 kc_field_errors *errors)
{
    kc__location root = kc__location_root(object, errors),
                 spec = kc__location_member(&root, "spec");
    kc__location cidrs = kc__location_member(&spec, "cidrs");
    const kc_value *before = kc_value_nested(old, "spec.cidrs");
    size_t n = kc_value_len(cidrs.value), was = kc_value_len(before);
    if (n == was) {
        for (size_t i = 0; i < n; i++)
            check_same_cidr(&cidrs, before, i);
    } else if (was == 1 && n == 2) {
        check_same_cidr(&cidrs, before, 0);
        check_cidrs(&spec);
    } else {
        wrong_list(&cidrs, "field is immutable");
    }
}

const kc__strategy kc__strategy_service_cidr = {
    .keeps_status = true,
    .writes_status = true,
    .validate = validate_cidr,
    .validate_update = validate_cidr_update,
};
