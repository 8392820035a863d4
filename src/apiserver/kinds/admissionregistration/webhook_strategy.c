/* SPDX-License-Identifier: Apache-2.0 */
/*
 * webhook_strategy.c: the strategies of admission webhook configurations: which webhooks the server
 * calls, for which requests, and what it does when a call fails.
 */
#include "apiserver/kinds/admissionregistration/request_rules.h"
#include "apiserver/kinds/admissionregistration/webhook_rules.h"
#include "apiserver/kinds/strategy.h"
#include "kc/diff.h"

/* ---- defaults ---- */

static const kc__defaults_entry service_[] = {{.field = "port", .json = "443"}};
static const kc__defaults service = KC__DEFAULTS(service_);
static const kc__defaults_entry client_[] = {{.field = "service", .of = &service}};
static const kc__defaults client = KC__DEFAULTS(client_);

#define COMMON                                                                                   \
    {.field = "clientConfig", .of = &client},                                                    \
        {.field = "rules", .of = &kc__defaults_request_rule},                                    \
        {.field = "failurePolicy", .json = "\"Fail\""},                                          \
        {.field = "matchPolicy", .json = "\"Equivalent\""},                                      \
        {.field = "namespaceSelector", .json = "{}"}, {.field = "objectSelector", .json = "{}"}, \
        {.field = "timeoutSeconds", .json = "10"}

static const kc__defaults_entry validating_[] = {COMMON};
static const kc__defaults_entry mutating_[] = {
    COMMON, {.field = "reinvocationPolicy", .json = "\"Never\""}};
static const kc__defaults validating_hook = KC__DEFAULTS(validating_);
static const kc__defaults mutating_hook = KC__DEFAULTS(mutating_);
static const kc__defaults_entry validating_list_[] = {
    {.field = "webhooks", .of = &validating_hook}};
static const kc__defaults_entry mutating_list_[] = {{.field = "webhooks", .of = &mutating_hook}};
static const kc__defaults validating = KC__DEFAULTS(validating_list_);
static const kc__defaults mutating = KC__DEFAULTS(mutating_list_);

/* ---- checks ---- */

static const char *const effects[] = {"None", "NoneOnDryRun", NULL};

/* The name needs at least three segments: "pods.example.com". */
static void check_full_name(const kc__location *name)
{
    kc_str text = kc__location_text(name), rest = text;
    size_t labels = 0;
    if (!text.n) {
        kc__location_error(name, KC_FIELD_REQUIRED, NULL);
        return;
    }
    if (!kc_name_valid(KC_NAME_DNS_SUBDOMAIN, text)) {
        kc__validate_name(name, KC_NAME_DNS_SUBDOMAIN);
        return;
    }
    while (rest.p && ++labels)
        kc_str_cut(&rest, '.');
    if (labels < 3)
        kc__location_error(name, KC_FIELD_INVALID,
                           "should be a domain with at least three segments separated by dots");
}

static void check_effects(const kc__location *effect)
{
    if (!effect->value)
        kc__location_error(effect, KC_FIELD_REQUIRED, "must specify one of None, NoneOnDryRun");
    else if (!kc__location_text_is(effect, "None") && !kc__location_text_is(effect, "NoneOnDryRun"))
        kc__location_not_supported(effect, effects);
}

static void check_timeout(const kc__location *timeout)
{
    if (timeout->value && (kc__location_number(timeout) < 1 || kc__location_number(timeout) > 30))
        kc__location_error(timeout, KC_FIELD_INVALID,
                           "the timeout value must be between 1 and 30 seconds");
}

/* At least one of the versions must be one that the server supports. */
static void check_review_versions(const kc__location *versions)
{
    kc_scoped(kc_map) seen = {0};
    size_t i = 0;
    bool known = false;
    kc_value_each_item (versions->value, value) {
        kc__location version = kc__location_item(versions, value, i++);
        kc__validate_name(&version, KC_NAME_DNS_1035_LABEL);
        if (kc_map_put(&seen, kc__location_text(&version), &seen))
            kc__location_error(&version, KC_FIELD_INVALID, "duplicate version");
        known = known || kc__location_text_is(&version, "v1") ||
                kc__location_text_is(&version, "v1beta1");
    }
    if (!kc_value_len(versions->value))
        kc__location_error(versions, KC_FIELD_REQUIRED, "must specify one of v1, v1beta1");
    else if (!known)
        kc__location_error(versions, KC_FIELD_INVALID, "must include at least one of v1, v1beta1");
}

static const kc__validate_rule hook_[] = {
    {"name", .code = check_full_name},
    {"rules", .of = &kc__validate_request_rule},
    {"failurePolicy", .one_of = kc__validate_failure_policies},
    {"matchPolicy", .one_of = kc__validate_match_policies},
    {"sideEffects", .code = check_effects},
    {"timeoutSeconds", .code = check_timeout},
    {"namespaceSelector", .code = kc__validate_selector},
    {"objectSelector", .code = kc__validate_selector},
    {"reinvocationPolicy", .one_of = kc__validate_reinvocation_policies},
    {"clientConfig", .code = kc__validate_webhook_client},
};
static const kc__validate_rule_table hook = KC__VALIDATE_RULES(hook_);
/* After the match conditions. */
static const kc__validate_rule hook_end_[] = {
    {"admissionReviewVersions", .code = check_review_versions},
};
static const kc__validate_rule_table hook_end = KC__VALIDATE_RULES(hook_end_);

/* ---- match conditions ---- */

/* The match conditions of an update are checked when one of them differs. */
static bool conditions_differ(const kc_value *webhooks, const kc_value *old)
{
    if (kc_value_len(webhooks) != kc_value_len(old))
        return true;
    for (size_t i = 0; i < kc_value_len(webhooks); i++)
        if (!kc_value_equal(kc_value_get(kc_value_at(webhooks, i), "matchConditions"),
                            kc_value_get(kc_value_at(old, i), "matchConditions"), NULL))
            return true;
    return false;
}

static void collect_conditions(const kc_value *webhooks, kc_map *ret)
{
    kc_value_each_item (webhooks, webhook)
        kc_value_each_item (kc_value_get(webhook, "matchConditions"), condition)
            kc_map_put(ret, kc_value_as_str(kc_value_get(condition, "expression")), ret);
}

static void check_hooks(const kc_value *object, const kc_value *old, kc_field_errors *errors)
{
    kc_scoped(kc_map) names = {0}, stored = {0};
    const kc_value *old_hooks = kc_value_get(old, "webhooks");
    const kc__location root = kc__location_root(object, errors);
    const kc__location hooks = kc__location_member(&root, "webhooks");
    const bool checks_conditions = !old || conditions_differ(hooks.value, old_hooks);
    size_t i = 0;
    collect_conditions(old_hooks, &stored);
    kc_value_each_item (hooks.value, value) {
        const kc__location item = kc__location_item(&hooks, value, i++),
                           name = kc__location_member(&item, "name"),
                           conditions = kc__location_member(&item, "matchConditions");
        kc__validate_by_rules(&hook, &item);
        if (checks_conditions)
            kc__validate_match_conditions(&conditions, false, &stored);
        kc__validate_by_rules(&hook_end, &item);
        if (kc__location_is_set(&name))
            kc__validate_unique(&name, &names);
    }
}

static void validate_hooks(const kc_value *object, kc_field_errors *errors)
{
    check_hooks(object, NULL, errors);
}

const kc__strategy kc__strategy_validating_webhooks = {.conditional = true,
                                                       .generation = true,
                                                       .defaults = &validating,
                                                       .validate = validate_hooks,
                                                       .validate_update = check_hooks};
const kc__strategy kc__strategy_mutating_webhooks = {.conditional = true,
                                                     .generation = true,
                                                     .defaults = &mutating,
                                                     .validate = validate_hooks,
                                                     .validate_update = check_hooks};
