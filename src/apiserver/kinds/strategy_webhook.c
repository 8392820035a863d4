/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strategy_webhook.c: configurations of admission webhooks: whom the server asks, about what, and
 * what it does when nobody answers.
 */
#include "apiserver/kinds/strategy.h"
#include "apiserver/kinds/webhook_rules.h"

/* ---- defaults ---- */

static const kc__default service_[] = {{.field = "port", .json = "443"}};
static const kc__defaults service = KC__DEFAULTS(service_);
static const kc__default client_[] = {{.field = "service", .of = &service}};
static const kc__defaults client = KC__DEFAULTS(client_);
static const kc__default rule_[] = {{.field = "scope", .json = "\"*\""}};
static const kc__defaults rule = KC__DEFAULTS(rule_);

#define COMMON                                                                                   \
    {.field = "clientConfig", .of = &client}, {.field = "rules", .of = &rule},                   \
        {.field = "failurePolicy", .json = "\"Fail\""},                                          \
        {.field = "matchPolicy", .json = "\"Equivalent\""},                                      \
        {.field = "namespaceSelector", .json = "{}"}, {.field = "objectSelector", .json = "{}"}, \
        {.field = "timeoutSeconds", .json = "10"}

static const kc__default validating_[] = {COMMON};
static const kc__default mutating_[] = {COMMON,
                                        {.field = "reinvocationPolicy", .json = "\"Never\""}};
static const kc__defaults validating_hook = KC__DEFAULTS(validating_);
static const kc__defaults mutating_hook = KC__DEFAULTS(mutating_);
static const kc__default validating_list_[] = {{.field = "webhooks", .of = &validating_hook}};
static const kc__default mutating_list_[] = {{.field = "webhooks", .of = &mutating_hook}};
static const kc__defaults validating = KC__DEFAULTS(validating_list_);
static const kc__defaults mutating = KC__DEFAULTS(mutating_list_);

/* ---- checks ---- */

static const char *const operations[] = {"*", "CONNECT", "CREATE", "DELETE", "UPDATE", NULL};
static const char *const scopes[] = {"*", "Cluster", "Namespaced", NULL};
static const char *const failures[] = {"Fail", "Ignore", NULL};
static const char *const matches[] = {"Equivalent", "Exact", NULL};
static const char *const effects[] = {"None", "NoneOnDryRun", NULL};
static const char *const reinvocations[] = {"IfNeeded", "Never", NULL};

static void check_stars(const kc__place *list, const char *what)
{
    bool star = false;
    kc_items (list->value, item)
        star = star || kc_str_is(kc_as_str(item), "*");
    if (!kc_len(list->value))
        kc__wrong(list, KC_FIELD_REQUIRED, NULL);
    else if (star && kc_len(list->value) > 1)
        kc__wrong(list, KC_FIELD_INVALID, "if '*' is present, must not specify other %s", what);
}

static void check_operations(const kc__place *list)
{
    size_t i = 0;
    check_stars(list, "operations");
    kc_items (list->value, value) {
        kc__place item = kc__item(list, value, i++);
        bool known = false;
        for (size_t j = 0; operations[j]; j++)
            known = known || kc__text_is(&item, operations[j]);
        if (!known)
            kc__not_supported(&item, operations);
    }
}

static void check_groups(const kc__place *list)
{
    check_stars(list, "API groups");
}

static void check_versions(const kc__place *list)
{
    size_t i = 0;
    check_stars(list, "API versions");
    kc_items (list->value, value) {
        kc__place item = kc__item(list, value, i++);
        if (!kc__there(&item))
            kc__wrong(&item, KC_FIELD_REQUIRED, NULL);
    }
}

typedef struct wildcards {
    kc_map resources;       /* pods/…: all subresources of pods. */
    kc_map subresources;    /* …/status: that of all resources. */
    bool all, plain, other; /* All of both, all resources, one resource. */
} wildcards;

/* What an earlier line has already. */
static void check_resource(const kc__place *item, wildcards *seen)
{
    kc_str sub = kc__text(item), name = kc_str_cut(&sub, '/');
    seen->all = seen->all || kc__text_is(item, "*/*");
    seen->plain = seen->plain || kc__text_is(item, "*");
    if (!sub.p) {
        seen->other = !kc__text_is(item, "*");
        return;
    }
    if (kc_map_get(&seen->resources, name))
        kc__wrong(item, KC_FIELD_INVALID, "if '%.*s/*' is present, must not specify %.*s",
                  KC_ARG(name), KC_ARG(kc__text(item)));
    if (kc_map_get(&seen->subresources, sub))
        kc__wrong(item, KC_FIELD_INVALID, "if '*/%.*s' is present, must not specify %.*s",
                  KC_ARG(sub), KC_ARG(kc__text(item)));
    if (kc_str_is(sub, "*"))
        kc_map_put(&seen->resources, name, seen);
    if (kc_str_is(name, "*"))
        kc_map_put(&seen->subresources, sub, seen);
}

static void check_resources(const kc__place *list)
{
    wildcards seen = {0};
    size_t i = 0;
    if (!kc__there(list))
        kc__wrong(list, KC_FIELD_REQUIRED, NULL);
    kc_items (list->value, value) {
        kc__place item = kc__item(list, value, i++);
        if (kc__there(&item))
            check_resource(&item, &seen);
        else
            kc__wrong(&item, KC_FIELD_REQUIRED, NULL);
    }
    if (seen.all && i > 1)
        kc__wrong(list, KC_FIELD_INVALID, "if '*/*' is present, must not specify other resources");
    if (seen.plain && seen.other)
        kc__wrong(list, KC_FIELD_INVALID,
                  "if '*' is present, must not specify other resources without subresources");
    kc_map_done(&seen.resources);
    kc_map_done(&seen.subresources);
}

static const kc__rule request_rule_[] = {
    {"operations", .code = check_operations},
    {"apiGroups", .code = check_groups},
    {"apiVersions", .code = check_versions},
    {"resources", .code = check_resources},
    {"scope", .one_of = scopes},
};
static const kc__rules request_rule = KC__RULES(request_rule_);

/* At least three labels: "pods.example.com". */
static void check_full_name(const kc__place *name)
{
    kc_str text = kc__text(name), rest = text;
    size_t labels = 0;
    if (!text.n) {
        kc__wrong(name, KC_FIELD_REQUIRED, NULL);
        return;
    }
    if (!kc_name_valid(KC_NAME_DNS_SUBDOMAIN, text)) {
        kc__check_name(name, KC_NAME_DNS_SUBDOMAIN);
        return;
    }
    while (rest.p && ++labels)
        kc_str_cut(&rest, '.');
    if (labels < 3)
        kc__wrong(name, KC_FIELD_INVALID,
                  "should be a domain with at least three segments separated by dots");
}

static void check_effects(const kc__place *effect)
{
    if (!effect->value)
        kc__wrong(effect, KC_FIELD_REQUIRED, "must specify one of None, NoneOnDryRun");
    else if (!kc__text_is(effect, "None") && !kc__text_is(effect, "NoneOnDryRun"))
        kc__not_supported(effect, effects);
}

static void check_timeout(const kc__place *timeout)
{
    if (timeout->value && (kc__number(timeout) < 1 || kc__number(timeout) > 30))
        kc__wrong(timeout, KC_FIELD_INVALID, "the timeout value must be between 1 and 30 seconds");
}

/* One of them is a version that the server speaks. */
static void check_review_versions(const kc__place *versions)
{
    kc_scoped(kc_map) seen = {0};
    size_t i = 0;
    bool known = false;
    kc_items (versions->value, value) {
        kc__place version = kc__item(versions, value, i++);
        kc__check_name(&version, KC_NAME_DNS_1035_LABEL);
        if (kc_map_put(&seen, kc__text(&version), &seen))
            kc__wrong(&version, KC_FIELD_INVALID, "duplicate version");
        known = known || kc__text_is(&version, "v1") || kc__text_is(&version, "v1beta1");
    }
    if (!kc_len(versions->value))
        kc__wrong(versions, KC_FIELD_REQUIRED, "must specify one of v1, v1beta1");
    else if (!known)
        kc__wrong(versions, KC_FIELD_INVALID, "must include at least one of v1, v1beta1");
}

/* Expressions are kept; that they are right is seen when they are evaluated. */
static void check_conditions(const kc__place *conditions)
{
    kc_scoped(kc_map) names = {0};
    size_t i = 0;
    kc_items (conditions->value, value) {
        kc__place item = kc__item(conditions, value, i++), name = kc__member(&item, "name");
        kc__place expression = kc__member(&item, "expression");
        if (kc_str_empty(kc_str_trim(kc__text(&expression))))
            kc__wrong(&expression, KC_FIELD_REQUIRED, NULL);
        if (!kc__there(&name)) {
            kc__wrong(&name, KC_FIELD_REQUIRED, NULL);
            continue;
        }
        kc__check_name(&name, KC_NAME_QUALIFIED);
        kc__check_unique(&name, &names);
    }
}

static const kc__rule hook_[] = {
    {"name", .code = check_full_name},
    {"rules", .of = &request_rule},
    {"failurePolicy", .one_of = failures},
    {"matchPolicy", .one_of = matches},
    {"sideEffects", .code = check_effects},
    {"timeoutSeconds", .code = check_timeout},
    {"namespaceSelector", .code = kc__check_selector},
    {"objectSelector", .code = kc__check_selector},
    {"clientConfig", .code = kc__check_webhook_client},
    {"matchConditions", .code = check_conditions},
    {"reinvocationPolicy", .one_of = reinvocations},
    {"admissionReviewVersions", .code = check_review_versions},
};
static const kc__rules hook = KC__RULES(hook_);

static void check_hooks(const kc__place *hooks)
{
    kc_scoped(kc_map) names = {0};
    size_t i = 0;
    kc_items (hooks->value, value) {
        kc__place item = kc__item(hooks, value, i++), name = kc__member(&item, "name");
        kc__rules_check(&hook, &item);
        if (kc__there(&name))
            kc__check_unique(&name, &names);
    }
}

static const kc__rule configuration_[] = {{"webhooks", .code = check_hooks}};
static const kc__rules configuration = KC__RULES(configuration_);

const kc__strategy kc__strategy_validating_webhooks = {
    .conditional = true, .generation = true, .defaults = &validating, .rules = &configuration};
const kc__strategy kc__strategy_mutating_webhooks = {
    .conditional = true, .generation = true, .defaults = &mutating, .rules = &configuration};
