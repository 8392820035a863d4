/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_slice_rules.c: validates the devices that a driver publishes in a ResourceSlice: their
 * pool, the nodes with access to them, and each device with its attributes and capacities.
 */
#include "apiserver/kinds/core/pod_rules.h"
#include "apiserver/kinds/internal_form.h"
#include "apiserver/kinds/resource/device_rules.h"
#include "kc/ascii.h"

#define MAX_DEVICES    128
#define MAX_ATTRIBUTES 32
#define MAX_VALUE      64

/* ---- attributes ---- */

/* Returns the length of the semver.org identifier at the front of a text, and the number of its
 * digits. */
static size_t identifier(kc_str text, size_t *ret_digits)
{
    size_t n = 0, digits = 0;
    for (; n < text.n && (kc_is_alnum(text.p[n]) || text.p[n] == '-'); n++)
        digits += kc_is_digit(text.p[n]);
    *ret_digits = digits;
    return n;
}

/* Parses identifiers, separated by dots, up to the end or to one of `ends`, which is not
 * consumed. `numbers`: numeric identifiers must not have leading zeros. */
static bool identifiers(kc_str *text, const char *ends, bool numbers)
{
    for (;;) {
        size_t digits, n = identifier(*text, &digits);
        if (!n || (numbers && digits == n && n > 1 && text->p[0] == '0'))
            return false;
        *text = kc_str_sub(*text, n, text->n);
        if (!text->n || strchr(ends, text->p[0]))
            return true;
        if (text->p[0] != '.')
            return false;
        *text = kc_str_sub(*text, 1, text->n);
    }
}

/* 1.2.3-alpha.1+build.7 */
static bool is_version(kc_str text)
{
    for (int i = 0; i < 3; i++) {
        size_t n = 0;
        while (n < text.n && kc_is_digit(text.p[n]))
            n++;
        if (!n || (n > 1 && text.p[0] == '0') || (i < 2 && (n == text.n || text.p[n] != '.')))
            return false;
        text = kc_str_sub(text, n + (i < 2), text.n);
    }
    if (text.n && text.p[0] == '-') {
        text = kc_str_sub(text, 1, text.n);
        if (!identifiers(&text, "+", true))
            return false;
    }
    if (text.n && text.p[0] == '+') {
        text = kc_str_sub(text, 1, text.n);
        return identifiers(&text, "", false);
    }
    return !text.n;
}

static void check_value_length(const kc__location *value)
{
    if (kc__location_text(value).n > MAX_VALUE)
        kc__location_error(value, KC_FIELD_TOO_LONG, "may not be more than %d bytes", MAX_VALUE);
}

static void check_attribute(const kc__location *attribute)
{
    static const char *const forms[] = {"bool", "int", "string", "version"};
    kc__location text = kc__location_member(attribute, "string"),
                 version = kc__location_member(attribute, "version");
    size_t n = 0;
    for (size_t i = 0; i < KC_COUNT(forms); i++)
        n += kc_value_get(attribute->value, forms[i]) != NULL;
    check_value_length(&text);
    if (version.value && !is_version(kc__location_text(&version)))
        kc__location_error(&version, KC_FIELD_INVALID,
                           "must be a string compatible with semver.org spec 2.0.0");
    check_value_length(&version);
    if (!n)
        kc__location_error(attribute, KC_FIELD_REQUIRED, "exactly one value must be specified");
    else if (n > 1)
        kc__location_error_json(attribute, KC_FIELD_INVALID,
                                kc__internal_form_json("io.k8s.api.resource.v1.DeviceAttribute",
                                                       attribute->value, &attribute->errors->arena),
                                "exactly one value must be specified");
}

static void check_keys(const kc__location *map, void (*check)(const kc__location *value))
{
    kc_value_each_member (map->value, name, value) {
        kc__location entry = kc__location_entry(map, name, value);
        kc__validate_device_key(&entry, name, false);
        if (check)
            check(&entry);
    }
}

static void check_device(const kc__location *device, const kc_map *requests)
{
    (void)requests;
    kc__location name = kc__location_member(device, "name"),
                 attributes = kc__location_member(device, "attributes");
    kc__location capacity = kc__location_member(device, "capacity");
    size_t n = kc_value_len(attributes.value) + kc_value_len(capacity.value);
    kc__validate_name(&name, KC_NAME_DNS_LABEL);
    if (n > MAX_ATTRIBUTES)
        kc__location_error_json(
            device, KC_FIELD_INVALID, kc_arena_printf(&device->errors->arena, "%zu", n),
            "the total number of attributes and capacities must not exceed %d", MAX_ATTRIBUTES);
    check_keys(&attributes, check_attribute);
    check_keys(&capacity, NULL);
}

/* ---- nodes ---- */

static void check_pool(const kc__location *pool)
{
    kc__location name = kc__location_member(pool, "name"),
                 count = kc__location_member(pool, "resourceSliceCount");
    kc__location generation = kc__location_member(pool, "generation");
    kc__validate_pool_name(&name);
    if (kc__location_number(&count) <= 0)
        kc__location_error_number(&count, "must be greater than zero");
    if (kc__location_number(&generation) < 0)
        kc__location_error(&generation, KC_FIELD_INVALID, "must be greater than or equal to zero");
}

static bool check_node_name(const kc__location *spec)
{
    kc__location name = kc__location_member(spec, "nodeName");
    if (name.value && !kc__location_is_set(&name))
        kc__location_error(&name, KC_FIELD_INVALID,
                           "must be either unset or set to a non-empty string");
    else if (name.value)
        kc__validate_name(&name, KC_NAME_DNS_SUBDOMAIN);
    return kc__location_is_set(&name);
}

/* Formats the terms as Kubernetes shows them. */
static const char *shown_terms(const kc__location *terms)
{
    kc_arena *arena = &terms->errors->arena;
    kc_scoped(kc_buf) json = {0};
    kc_buf_putc(&json, '[');
    kc_value_each_item (terms->value, term)
        kc_buf_printf(&json, "%s%s", json.n > 1 ? "," : "",
                      kc__internal_form_json("io.k8s.api.core.v1.NodeSelectorTerm", term, arena));
    kc_buf_putc(&json, ']');
    return kc_arena_strndup(arena, json.p, json.n);
}

static bool check_slice_selector(const kc__location *spec)
{
    kc__location selector = kc__location_member(spec, "nodeSelector");
    kc__location terms = kc__location_member(&selector, "nodeSelectorTerms");
    if (!selector.value)
        return false;
    kc__validate_node_selector(&selector);
    if (kc_value_len(terms.value) != 1)
        kc__location_error_json(&terms, KC_FIELD_INVALID, shown_terms(&terms),
                                "must have exactly one node selector term");
    return true;
}

static bool check_all_nodes(const kc__location *spec)
{
    kc__location all = kc__location_member(spec, "allNodes");
    if (all.value && !kc__location_is_set(&all))
        kc__location_error(&all, KC_FIELD_INVALID, "must be either unset or set to true");
    return kc__location_is_set(&all);
}

static void check_nodes(const kc__location *spec)
{
#define ONE_OF \
    "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"
    const bool set[] = {check_node_name(spec), check_slice_selector(spec), check_all_nodes(spec)};
    static const char *const names[] = {"`nodeName`", "`nodeSelector`", "`allNodes`"};
    kc_scoped(kc_buf) text = {0};
    size_t n = 0;
    for (size_t i = 0; i < KC_COUNT(set); i++) {
        if (set[i])
            kc_buf_printf(&text, "%s%s", n++ ? ", " : "{", names[i]);
    }
    kc_buf_putc(&text, '}');
    if (!n)
        kc__location_error(spec, KC_FIELD_REQUIRED, ONE_OF);
    else if (n > 1)
        kc__location_error_text(spec, KC_FIELD_INVALID, kc_buf_str(&text),
                                ONE_OF ", but multiple fields are set");
#undef ONE_OF
}

void kc__validate_resource_slice(const kc__location *spec)
{
    kc__location driver = kc__location_member(spec, "driver"),
                 pool = kc__location_member(spec, "pool");
    kc__location devices = kc__location_member(spec, "devices");
    kc__validate_driver_name(&driver);
    check_pool(&pool);
    check_nodes(spec);
    kc__validate_device_set(&devices, MAX_DEVICES, check_device, "name", NULL);
}
