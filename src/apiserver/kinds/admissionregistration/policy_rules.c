/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policy_rules.c: defaults and validation that validating and mutating admission policies and their
 * bindings share. Errors, their order and their paths are those of Kubernetes v1.34.
 */
#include "apiserver/kinds/admissionregistration/policy_rules.h"

#include "kc/ascii.h"
#include "kc/diff.h"
#include "kc/kind.h"

/* ---- defaults ---- */

static const kc__defaults_entry match_resources_[] = {
    {.field = "namespaceSelector", .json = "{}"},
    {.field = "objectSelector", .json = "{}"},
    {.field = "resourceRules", .of = &kc__defaults_request_rule},
    {.field = "excludeResourceRules", .of = &kc__defaults_request_rule},
    {.field = "matchPolicy", .json = "\"Equivalent\""},
};
const kc__defaults kc__defaults_match_resources = KC__DEFAULTS(match_resources_);

static const kc__defaults_entry policy_spec_[] = {
    {.field = "matchConstraints", .of = &kc__defaults_match_resources},
    {.field = "failurePolicy", .json = "\"Fail\""},
};
const kc__defaults kc__defaults_policy_spec = KC__DEFAULTS(policy_spec_);

/* ---- matching ---- */

void kc__validate_policy_choice(const kc__location *location, const char *const *values)
{
    if (!location->value)
        kc__location_error(location, KC_FIELD_REQUIRED, NULL);
    else if (!kc_str_is_any(kc__location_text(location), values))
        kc__location_not_supported(location, values);
}

static void check_resource_names(const kc__location *names)
{
    kc_scoped(kc_map) seen = {0};
    size_t i = 0;
    kc_value_each_item (names->value, value) {
        const kc__location name = kc__location_item(names, value, i++);
        kc__validate_name(&name, KC_NAME_PATH_SEGMENT);
        kc__validate_unique(&name, &seen);
    }
}

static void check_named_rules(const kc__location *rules)
{
    size_t i = 0;
    kc_value_each_item (rules->value, value) {
        const kc__location rule = kc__location_item(rules, value, i++),
                           names = kc__location_member(&rule, "resourceNames");
        check_resource_names(&names);
        kc__validate_by_rules(&kc__validate_request_rule, &rule);
    }
}

static void check_required_selector(const kc__location *selector)
{
    if (!selector->value)
        kc__location_error(selector, KC_FIELD_REQUIRED, NULL);
    else
        kc__validate_selector(selector);
}

void kc__validate_match_resources(const kc__location *match)
{
    if (!match->value)
        return;
    const kc__location policy = kc__location_member(match, "matchPolicy"),
                       namespaces = kc__location_member(match, "namespaceSelector"),
                       objects = kc__location_member(match, "objectSelector"),
                       rules = kc__location_member(match, "resourceRules"),
                       excluded = kc__location_member(match, "excludeResourceRules");
    kc__validate_policy_choice(&policy, kc__validate_match_policies);
    check_required_selector(&namespaces);
    check_required_selector(&objects);
    check_named_rules(&rules);
    check_named_rules(&excluded);
}

/* ---- parameters ---- */

/* Adds one error with all messages about a name. */
static void check_joined_name(const kc__location *location, kc_str text, kc_name_rule rule,
                              kc_str shown, const char *prefix)
{
    const char *messages[KC_NAME_MESSAGES];
    kc_scoped(kc_buf) joined = {0};
    const size_t n = kc_name_check(rule, text, messages);
    kc_buf_puts(&joined, prefix);
    for (size_t i = 0; i < n; i++)
        kc_buf_printf(&joined, "%s%s", i ? "," : "", messages[i]);
    if (n)
        kc__validate_invalid_text(location, shown, kc_buf_cstr(&joined));
}

static void check_param_version(const kc__location *api_version)
{
    const kc_str text = kc__location_text(api_version);
    kc_str group, version;
    if (kc_str_empty(text)) {
        kc__location_error(api_version, KC_FIELD_REQUIRED, NULL);
        return;
    }
    if (kc_api_version_parse(text, &group, &version, NULL) < 0) {
        kc__location_error(api_version, KC_FIELD_INVALID, "unexpected GroupVersion string: %.*s",
                           KC_ARG(text));
        return;
    }
    if (group.n)
        check_joined_name(api_version, group, KC_NAME_DNS_SUBDOMAIN, group, "");
    if (!version.n)
        kc__location_error(api_version, KC_FIELD_INVALID, "version must be specified");
    else
        check_joined_name(api_version, version, KC_NAME_DNS_1035_LABEL, version, "");
}

void kc__validate_param_kind(const kc__location *location)
{
    if (!location->value)
        return;
    const kc__location api_version = kc__location_member(location, "apiVersion"),
                       kind = kc__location_member(location, "kind");
    kc_scoped(kc_buf) lower = {0};
    check_param_version(&api_version);
    if (!kc__location_is_set(&kind)) {
        kc__location_error(&kind, KC_FIELD_REQUIRED, NULL);
        return;
    }
    const kc_str text = kc__location_text(&kind);
    for (size_t i = 0; i < text.n; i++)
        kc_buf_putc(&lower, kc_lower(text.p[i]));
    check_joined_name(&kind, kc_buf_str(&lower), KC_NAME_DNS_1035_LABEL, text,
                      "may have mixed case, but should otherwise match: ");
}

static void check_not_found_action(const kc__location *action)
{
    static const char *const actions[] = {"Deny", "Allow", NULL};
    if (!kc__location_is_set(action))
        kc__location_error(action, KC_FIELD_REQUIRED, NULL);
    else if (!kc_str_is_any(kc__location_text(action), actions))
        kc__location_not_supported(action, actions);
}

void kc__validate_param_ref(const kc__location *ref)
{
    static const char exclusive[] = "name and selector are mutually exclusive";
    if (!ref->value)
        return;
    const kc__location name = kc__location_member(ref, "name"),
                       selector = kc__location_member(ref, "selector"),
                       action = kc__location_member(ref, "parameterNotFoundAction");
    const bool named = kc__location_is_set(&name);
    if (named)
        kc__validate_name(&name, KC_NAME_PATH_SEGMENT);
    if (named && selector.value)
        kc__location_error(&name, KC_FIELD_FORBIDDEN, "%s", exclusive);
    if (selector.value)
        kc__validate_selector(&selector);
    if (named && selector.value)
        kc__location_error(&selector, KC_FIELD_FORBIDDEN, "%s", exclusive);
    if (!named && !selector.value)
        kc__location_error(ref, KC_FIELD_REQUIRED, "one of name or selector must be specified");
    check_not_found_action(&action);
}

void kc__validate_policy_name(const kc__location *name)
{
    if (!kc__location_is_set(name))
        kc__location_error(name, KC_FIELD_REQUIRED, NULL);
    else
        kc__validate_name(name, KC_NAME_DNS_SUBDOMAIN);
}

/* ---- expressions ---- */

void kc__validate_policy_init(kc__validate_policy *policy, const kc_value *spec,
                              const kc_value *old_spec, bool composes)
{
    *policy = (kc__validate_policy){.env = kc__expression_env_new(),
                                    .has_params = kc_value_get(spec, "paramKind") != NULL,
                                    .old = old_spec};
    kc__expression_scope_init(&policy->scope, policy->env, kc_value_get(spec, "variables"),
                              composes);
}

void kc__validate_policy_done(kc__validate_policy *policy)
{
    kc__expression_scope_done(&policy->scope);
    kc__expression_env_free(policy->env);
}

void kc__validate_collect_texts(const kc_value *list, const char *member, kc_map *ret)
{
    kc_value_each_item (list, item) {
        const kc_value *text = kc_value_get(item, member);
        if (text)
            kc_map_put(ret, kc_value_as_str(text), ret);
    }
}

void kc__validate_policy_expression(const kc__validate_policy *policy, const kc__location *location,
                                    kc_str text, kc_str shown, const kc__expression_opts *opts)
{
    kc__expression_failure failure = {0};
    kc_auto(kc_cel_program) *program = kc__expression_compile(&policy->scope, text, opts, &failure);
    if (!program)
        kc__validate_expression_failure(location, shown, &failure);
    kc__expression_failure_done(&failure);
}

void kc__validate_policy_conditions(const kc__validate_policy *policy, const kc__location *spec)
{
    static const kc_equal_opts semantic = {.empty_is_absent = true};
    kc_scoped(kc_map) stored = {0};
    const kc__location conditions = kc__location_member(spec, "matchConditions");
    const kc_value *before = kc_value_get(policy->old, "matchConditions");
    if (policy->old && kc_value_equal(conditions.value, before, &semantic) &&
        kc_value_equal(kc_value_get(spec->value, "paramKind"),
                       kc_value_get(policy->old, "paramKind"), &semantic))
        return;
    kc__validate_collect_texts(before, "expression", &stored);
    kc__validate_match_conditions(&conditions, policy->has_params, &stored);
}

/* ---- variables ---- */

static bool is_identifier(kc_str name)
{
    static const char *const reserved[] = {
        "true",      "false",  "null",     "in",   "as",     "break", "const", "continue",
        "else",      "for",    "function", "if",   "import", "let",   "loop",  "package",
        "namespace", "return", "var",      "void", "while",  NULL};
    for (size_t i = 0; i < name.n; i++)
        if (name.p[i] != '_' && !(kc_is_alnum(name.p[i]) && (i || !kc_is_digit(name.p[i]))))
            return false;
    return name.n && !kc_str_is_any(name, reserved);
}

static void check_variable_name(const kc__location *name)
{
    if (kc_str_empty(kc_str_trim(kc__location_text(name))))
        kc__location_error(name, KC_FIELD_REQUIRED, "name is not specified");
    else if (!is_identifier(kc__location_text(name)))
        kc__location_error(name, KC_FIELD_INVALID, "must be a valid CEL identifier");
}

static void check_variable(kc__validate_policy *policy, const kc__location *variable,
                           const kc_map *stored)
{
    const kc__location name = kc__location_member(variable, "name"),
                       expression = kc__location_member(variable, "expression");
    const kc_str text = kc__location_text(&expression);
    kc__expression_failure failure = {0};
    check_variable_name(&name);
    if (kc_str_empty(kc_str_trim(text))) {
        kc__location_error(&expression, KC_FIELD_REQUIRED, "expression is not specified");
        return;
    }
    const kc__expression_opts opts = {.result = KC__EXPRESSION_ANY,
                                      .has_params = policy->has_params,
                                      .has_authorizer = true,
                                      .stored = kc_map_get(stored, text) != NULL};
    kc_auto(kc_cel_program) *program =
        kc__expression_compile(&policy->scope, text, &opts, &failure);
    if (!program)
        kc__validate_expression_failure(&expression, text, &failure);
    kc__expression_scope_declare(&policy->scope, kc__location_text(&name), program);
    kc__expression_failure_done(&failure);
}

void kc__validate_policy_variables(kc__validate_policy *policy, const kc__location *spec,
                                   const kc_map *stored)
{
    const kc__location variables = kc__location_member(spec, "variables");
    size_t i = 0;
    kc_value_each_item (variables.value, value) {
        const kc__location item = kc__location_item(&variables, value, i++);
        check_variable(policy, &item, stored);
    }
}
