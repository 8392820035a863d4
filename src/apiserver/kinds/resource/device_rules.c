/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_rules.c: validates device requests in ResourceClaims and their templates: the devices, the
 * constraints over all of them, and their configuration.
 *
 * Selector expressions are only checked for their length; they are not compiled.
 */
#include "apiserver/kinds/resource/device_rules.h"

#include "apiserver/kinds/core/pod_rules.h"
#include "kc/json.h"

/* ---- lists ---- */

void kc__validate_device_list(const kc__location *list, size_t most, kc__validate_device_fn *check,
                              const kc_map *requests)
{
    size_t i = 0, n = kc_value_len(list->value);
    kc_value_each_item (list->value, value) {
        kc__location item = kc__location_item(list, value, i++);
        check(&item, requests);
    }
    if (most && n > most)
        kc__location_error_json(list, KC_FIELD_TOO_MANY,
                                kc_arena_printf(&list->errors->arena, "%zu", n),
                                "must have at most %zu items", most);
}

void kc__validate_device_set(const kc__location *list, size_t most, kc__validate_device_fn *check,
                             const char *key, const kc_map *requests)
{
    kc_scoped(kc_map) seen = {0};
    size_t i = 0;
    kc__validate_device_list(list, most, check, requests);
    kc_value_each_item (list->value, value) {
        kc__location item = kc__location_item(list, value, i++);
        kc__location member = key ? kc__location_member(&item, key) : item;
        kc__validate_unique(&member, &seen);
    }
}

/* ---- names ---- */

#define NO_REQUEST                                                                          \
    "must be the name of a request in the claim or the name of a request and a subrequest " \
    "separated by '/'"

void kc__validate_device_requests(const kc__location *claim, kc_map *requests)
{
    kc_arena *arena = &claim->errors->arena;
    kc_value_each_item (kc_value_get(claim->value, "requests"), request) {
        kc_str name = kc_value_as_str(kc_value_get(request, "name"));
        kc_map_put(requests, name, requests);
        kc_value_each_item (kc_value_get(request, "firstAvailable"), sub) {
            kc_str inner = kc_value_as_str(kc_value_get(sub, "name"));
            char *both = kc_arena_printf(arena, "%.*s/%.*s", KC_ARG(name), KC_ARG(inner));
            kc_map_put(requests, kc_cstr(both), requests);
        }
    }
}

static void check_device_label(const kc__location *shown, kc_str text)
{
    const char *messages[KC_NAME_MESSAGES];
    size_t n = kc_name_check(KC_NAME_DNS_LABEL, text, messages);
    for (size_t i = 0; i < n; i++)
        kc__location_error_text(shown, KC_FIELD_INVALID, text, messages[i]);
}

void kc__validate_request_reference(const kc__location *name, const kc_map *requests)
{
    kc_str rest = kc__location_text(name);
    kc_str first = kc_str_cut(&rest, '/');
    if (kc_str_find(rest, '/') >= 0) {
        kc__location_error(name, KC_FIELD_INVALID, NO_REQUEST);
        return;
    }
    check_device_label(name, first);
    if (rest.p)
        check_device_label(name, rest);
    if (!kc_map_get(requests, kc__location_text(name)))
        kc__location_error(name, KC_FIELD_INVALID, NO_REQUEST);
}

void kc__validate_pool_name(const kc__location *name)
{
    const char *messages[KC_NAME_MESSAGES];
    kc_str rest = kc__location_text(name);
    if (!rest.n) {
        kc__location_error(name, KC_FIELD_REQUIRED, NULL);
        return;
    }
    if (rest.n > 253)
        kc__location_error(name, KC_FIELD_TOO_LONG, "may not be more than 253 bytes");
    while (rest.p) {
        kc_str part = kc_str_cut(&rest, '/');
        size_t n = kc_name_check(KC_NAME_DNS_SUBDOMAIN, part, messages);
        for (size_t i = 0; i < n; i++)
            kc__location_error_text(name, KC_FIELD_INVALID, part, messages[i]);
    }
}

#define MAX_DOMAIN     63
#define MAX_IDENTIFIER 32

static void check_identifier(const kc__location *location, kc_str text)
{
    const char *messages[KC_NAME_MESSAGES];
    if (text.n > MAX_IDENTIFIER)
        kc__location_error_text(location, KC_FIELD_TOO_LONG, text, "may not be more than 32 bytes");
    size_t n = kc_name_check(KC_NAME_C_IDENTIFIER, text, messages);
    for (size_t i = 0; i < n; i++)
        kc__location_error_text(location, KC_FIELD_INVALID, text, messages[i]);
}

static void check_domain(const kc__location *location, kc_str text)
{
    const char *messages[KC_NAME_MESSAGES];
    if (text.n > MAX_DOMAIN)
        kc__location_error_text(location, KC_FIELD_TOO_LONG, text, "may not be more than 63 bytes");
    size_t n = kc_name_check(KC_NAME_DNS_SUBDOMAIN, text, messages);
    for (size_t i = 0; i < n; i++)
        kc__location_error_text(location, KC_FIELD_INVALID, text, messages[i]);
}

/* Kubernetes does not check names with more than one slash. */
void kc__validate_device_key(const kc__location *location, kc_str name, bool domain)
{
    kc_str id = name, prefix = kc_str_cut(&id, '/');
    if (!name.n) {
        kc__location_error(location, KC_FIELD_REQUIRED, "name required");
    } else if (!id.p) {
        check_identifier(location, name);
        if (domain)
            kc__location_error(location, KC_FIELD_INVALID, "must include a domain");
    } else if (kc_str_find(id, '/') < 0) {
        if (prefix.n)
            check_domain(location, prefix);
        else
            kc__location_error(location, KC_FIELD_REQUIRED, "the domain must not be empty");
        if (id.n)
            check_identifier(location, id);
        else
            kc__location_error(location, KC_FIELD_REQUIRED, "the name must not be empty");
    }
}

/* ---- configurations ---- */

void kc__validate_raw_object(const kc__location *raw, size_t most)
{
    kc_scoped(kc_buf) json = {0};
    if (!raw->value) {
        kc__location_error(raw, KC_FIELD_REQUIRED, NULL);
        return;
    }
    kc_json_write(&json, raw->value);
    if (json.n > most)
        kc__location_error(raw, KC_FIELD_TOO_LONG, "may not be more than %zu bytes", most);
    else if (kc_value_type(raw->value) != KC_JSON_OBJECT)
        kc__location_error_text(raw, KC_FIELD_INVALID, KC_STR("<value omitted>"),
                                "must be a valid JSON object");
}

void kc__validate_device_configuration(const kc__location *configuration, const kc_map *requests)
{
    (void)requests;
    kc__location opaque = kc__location_member(configuration, "opaque");
    if (!opaque.value) {
        kc__location_error(&opaque, KC_FIELD_REQUIRED, NULL);
        return;
    }
    kc__location driver = kc__location_member(&opaque, "driver");
    kc__location parameters = kc__location_member(&opaque, "parameters");
    kc__validate_driver_name(&driver);
    kc__validate_raw_object(&parameters, KC__MAX_DEVICE_BYTES);
}

/* ---- requests ---- */

void kc__validate_device_selector(const kc__location *selector, const kc_map *requests)
{
    (void)requests;
    kc__location cel = kc__location_member(selector, "cel"),
                 expression = kc__location_member(&cel, "expression");
    if (!cel.value)
        kc__location_error(&cel, KC_FIELD_REQUIRED, NULL);
    else if (kc__location_text(&expression).n > KC__MAX_DEVICE_BYTES)
        kc__location_error(&expression, KC_FIELD_TOO_LONG, "may not be more than %d bytes",
                           KC__MAX_DEVICE_BYTES);
}

static void check_mode(const kc__location *request)
{
    static const char *const modes[] = {"All", "ExactCount", NULL};
    kc__location mode = kc__location_member(request, "allocationMode"),
                 count = kc__location_member(request, "count");
    if (kc__location_text_is(&mode, "All")) {
        if (kc__location_number(&count))
            kc__location_error(&count, KC_FIELD_INVALID,
                               "must not be specified when allocationMode is 'All'");
    } else if (!kc__location_text_is(&mode, "ExactCount")) {
        kc__location_not_supported(&mode, modes);
    } else if (kc__location_number(&count) <= 0) {
        kc__location_error_number(&count, "must be greater than zero");
    }
}

static void check_toleration_value(const kc__location *toleration)
{
    static const char *const operators[] = {"Equal", "Exists", NULL};
    kc__location operator_ = kc__location_member(toleration, "operator");
    kc__location value = kc__location_member(toleration, "value");
    if (kc__location_text_is(&operator_, "Exists")) {
        if (kc__location_is_set(&value))
            kc__location_error(&value, KC_FIELD_INVALID, "must be empty for operator `Exists`");
    } else if (kc__location_text_is(&operator_, "Equal")) {
        kc__validate_name(&value, KC_NAME_LABEL_VALUE);
    } else if (kc__location_is_set(&operator_)) {
        kc__location_not_supported(&operator_, operators);
    } else {
        kc__location_error(&operator_, KC_FIELD_REQUIRED, NULL);
    }
}

static void check_toleration(const kc__location *toleration, const kc_map *requests)
{
    static const char *const effects[] = {"NoExecute", "NoSchedule", NULL};
    (void)requests;
    kc__location key = kc__location_member(toleration, "key"),
                 effect = kc__location_member(toleration, "effect");
    if (kc__location_is_set(&key))
        kc__validate_name(&key, KC_NAME_QUALIFIED);
    check_toleration_value(toleration);
    if (kc__location_is_set(&effect))
        kc__validate_one_of(&effect, effects);
}

static void check_devices_of(const kc__location *request)
{
    kc__location class = kc__location_member(request, "deviceClassName");
    kc__location selectors = kc__location_member(request, "selectors");
    kc__location tolerations = kc__location_member(request, "tolerations");
    kc__validate_needed_name(&class, KC_NAME_DNS_SUBDOMAIN);
    kc__validate_device_list(&selectors, KC__MAX_DEVICE_SELECTORS, kc__validate_device_selector,
                             NULL);
    check_mode(request);
    kc__validate_device_list(&tolerations, 0, check_toleration, NULL);
}

static void check_subrequest(const kc__location *request, const kc_map *requests)
{
    (void)requests;
    kc__location name = kc__location_member(request, "name");
    kc__validate_name(&name, KC_NAME_DNS_LABEL);
    check_devices_of(request);
}

#define MAX_SUBREQUESTS 8

static void check_request(const kc__location *request, const kc_map *requests)
{
    kc__location name = kc__location_member(request, "name"),
                 exactly = kc__location_member(request, "exactly");
    kc__location first = kc__location_member(request, "firstAvailable");
    kc__validate_name(&name, KC_NAME_DNS_LABEL);
    if (kc__location_is_set(&first))
        kc__validate_device_set(&first, MAX_SUBREQUESTS, check_subrequest, "name", requests);
    if (exactly.value)
        check_devices_of(&exactly);
    if (!kc__location_is_set(&first) && !exactly.value)
        kc__location_error(request, KC_FIELD_REQUIRED,
                           "exactly one of `exactly` or `firstAvailable` is required");
    else if (kc__location_is_set(&first) && exactly.value)
        kc__location_error_json(
            request, KC_FIELD_INVALID, "null",
            "exactly one of `exactly` or `firstAvailable` is required, but multiple "
            "fields are set");
}

static void check_constraint(const kc__location *constraint, const kc_map *requests)
{
    kc__location names = kc__location_member(constraint, "requests");
    kc__location match = kc__location_member(constraint, "matchAttribute");
    kc__location distinct = kc__location_member(constraint, "distinctAttribute");
    kc__validate_device_set(&names, KC__MAX_DEVICE_REQUESTS, kc__validate_request_reference, NULL,
                            requests);
    if (match.value)
        kc__validate_device_key(&match, kc__location_text(&match), true);
    else if (distinct.value)
        kc__validate_device_key(&distinct, kc__location_text(&distinct), true);
    else
        kc__location_error(&match, KC_FIELD_REQUIRED, NULL);
}

static void check_claim_configuration(const kc__location *configuration, const kc_map *requests)
{
    kc__location names = kc__location_member(configuration, "requests");
    kc__validate_device_set(&names, KC__MAX_DEVICE_REQUESTS, kc__validate_request_reference, NULL,
                            requests);
    kc__validate_device_configuration(configuration, requests);
}

#define MAX_CONSTRAINTS 32

void kc__validate_device_claim(const kc__location *claim)
{
    kc_scoped(kc_map) names = {0};
    kc__location requests = kc__location_member(claim, "requests");
    kc__location constraints = kc__location_member(claim, "constraints");
    kc__location config = kc__location_member(claim, "config");
    kc__validate_device_requests(claim, &names);
    kc__validate_device_set(&requests, KC__MAX_DEVICE_REQUESTS, check_request, "name", &names);
    kc__validate_device_list(&constraints, MAX_CONSTRAINTS, check_constraint, &names);
    kc__validate_device_list(&config, KC__MAX_DEVICE_CONFIGS, check_claim_configuration, &names);
}
