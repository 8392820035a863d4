/* SPDX-License-Identifier: Apache-2.0 */
/*
 * validating_policy_strategy.c: the strategies of ValidatingAdmissionPolicy and its binding.
 *
 * Every expression is compiled when a policy is written. An expression that the stored policy has,
 * too, may use the newest functions; a new one only those that the previous version of Kubernetes
 * knows, because another server may run that version.
 */
#include "apiserver/kinds/admissionregistration/policy_rules.h"
#include "apiserver/kinds/strategy.h"

#include "kc/buf.h"

enum { MAX_ANNOTATIONS = 20, MAX_ANNOTATION_EXPRESSION = 5 * 1024 };

/* ---- defaults ---- */

static const kc__defaults_entry policy_[] = {{.field = "spec", .of = &kc__defaults_policy_spec}};
static const kc__defaults policy_defaults = KC__DEFAULTS(policy_);
static const kc__defaults_entry binding_spec_[] = {
    {.field = "matchResources", .of = &kc__defaults_match_resources}};
static const kc__defaults binding_spec_defaults = KC__DEFAULTS(binding_spec_);
static const kc__defaults_entry binding_[] = {{.field = "spec", .of = &binding_spec_defaults}};
static const kc__defaults binding_defaults = KC__DEFAULTS(binding_);

/* ---- validations ---- */

/* The expressions of the stored policy. */
typedef struct stored_texts {
    kc_map validations, messages, annotations;
} stored_texts;

static void collect_stored(const kc_value *old_spec, stored_texts *ret)
{
    const kc_value *validations = kc_value_get(old_spec, "validations");
    kc__validate_collect_texts(validations, "expression", &ret->validations);
    kc__validate_collect_texts(validations, "messageExpression", &ret->messages);
    kc__validate_collect_texts(kc_value_get(old_spec, "auditAnnotations"), "valueExpression",
                               &ret->annotations);
}

static void stored_texts_done(stored_texts *stored)
{
    kc_map_done(&stored->validations);
    kc_map_done(&stored->messages);
    kc_map_done(&stored->annotations);
}

static void check_validation_expression(const kc__validate_policy *policy,
                                        const kc__location *expression, const kc_map *stored)
{
    const kc_str text = kc__location_text(expression);
    if (kc_str_empty(kc_str_trim(text))) {
        kc__location_error(expression, KC_FIELD_REQUIRED, "expression is not specified");
        return;
    }
    kc__validate_policy_expression(
        policy, expression, text, text,
        &(kc__expression_opts){.result = KC__EXPRESSION_BOOL,
                               .has_params = policy->has_params,
                               .has_authorizer = true,
                               .stored = kc_map_get(stored, text) != NULL});
}

static void check_message_expression(const kc__validate_policy *policy,
                                     const kc__location *expression, const kc_map *stored)
{
    const kc_str text = kc__location_text(expression);
    if (!text.n)
        return;
    if (kc_str_empty(kc_str_trim(text))) {
        kc__location_error(expression, KC_FIELD_INVALID, "must be non-empty if specified");
        return;
    }
    kc__validate_policy_expression(
        policy, expression, text, text,
        &(kc__expression_opts){.result = KC__EXPRESSION_STRING,
                               .has_params = policy->has_params,
                               .stored = kc_map_get(stored, text) != NULL});
}

static void check_message(const kc__location *message)
{
    const kc_str text = kc__location_text(message), trimmed = kc_str_trim(text);
    if (text.n && !trimmed.n)
        kc__location_error(message, KC_FIELD_INVALID, "must be non-empty if specified");
    else if (kc_str_find(trimmed, '\n') >= 0 || kc_str_find(trimmed, '\r') >= 0)
        kc__location_error(message, KC_FIELD_INVALID, "must not contain line breaks");
}

static void check_validation(const kc__validate_policy *policy, const kc__location *validation,
                             const stored_texts *stored)
{
    static const char *const reasons[] = {"Forbidden", "Invalid", "RequestEntityTooLarge", NULL};
    const kc__location expression = kc__location_member(validation, "expression"),
                       message_expression = kc__location_member(validation, "messageExpression"),
                       message = kc__location_member(validation, "message"),
                       reason = kc__location_member(validation, "reason");
    check_validation_expression(policy, &expression, &stored->validations);
    check_message_expression(policy, &message_expression, &stored->messages);
    check_message(&message);
    if (reason.value && !kc_str_is_any(kc__location_text(&reason), reasons))
        kc__location_not_supported(&reason, reasons);
}

/* ---- audit annotations ---- */

static void check_annotation_key(const kc__location *key, kc_str policy_name)
{
    const char *messages[KC_NAME_MESSAGES];
    kc_scoped(kc_buf) full = {0};
    if (kc_str_empty(policy_name)) {
        kc__validate_invalid_text(key, kc__location_text(key),
                                  "requires metadata.name be non-empty");
        return;
    }
    kc_buf_printf(&full, "%.*s/%.*s", KC_ARG(policy_name), KC_ARG(kc__location_text(key)));
    const size_t n = kc_name_check(KC_NAME_QUALIFIED, kc_buf_str(&full), messages);
    for (size_t i = 0; i < n; i++)
        kc__validate_invalid_text(key, kc_buf_str(&full), messages[i]);
}

static void check_annotation(const kc__validate_policy *policy, const kc__location *annotation,
                             kc_str policy_name, const kc_map *stored)
{
    const kc__location key = kc__location_member(annotation, "key"),
                       expression = kc__location_member(annotation, "valueExpression");
    const kc_str text = kc__location_text(&expression), trimmed = kc_str_trim(text);
    check_annotation_key(&key, policy_name);
    if (kc_str_empty(trimmed))
        kc__location_error(&expression, KC_FIELD_REQUIRED, "valueExpression is not specified");
    else if (trimmed.n > MAX_ANNOTATION_EXPRESSION)
        kc__location_error(&expression, KC_FIELD_REQUIRED, "must not exceed %d bytes in length",
                           MAX_ANNOTATION_EXPRESSION);
    else
        kc__validate_policy_expression(
            policy, &expression, trimmed, text,
            &(kc__expression_opts){.result = KC__EXPRESSION_STRING_OR_NULL,
                                   .has_params = policy->has_params,
                                   .has_authorizer = true,
                                   .stored = kc_map_get(stored, text) != NULL});
}

/* Kubernetes shows the annotations with the names of its internal fields. */
static void report_many_annotations(const kc__location *annotations)
{
    kc_scoped(kc_buf) json = {0};
    size_t i = 0;
    kc_value_each_item (annotations->value, annotation) {
        kc_buf_puts(&json, i++ ? ",{\"Key\":" : "[{\"Key\":");
        kc_json_quote(&json, kc_value_as_str(kc_value_get(annotation, "key")));
        kc_buf_puts(&json, ",\"ValueExpression\":");
        kc_json_quote(&json, kc_value_as_str(kc_value_get(annotation, "valueExpression")));
        kc_buf_putc(&json, '}');
    }
    kc_buf_putc(&json, ']');
    kc__location_error_json(annotations, KC_FIELD_INVALID, kc_buf_cstr(&json),
                            "must not have more than %d auditAnnotations", MAX_ANNOTATIONS);
}

static void check_annotations(const kc__validate_policy *policy, const kc__location *annotations,
                              kc_str policy_name, const kc_map *stored)
{
    kc_scoped(kc_map) keys = {0};
    size_t i = 0;
    if (kc_value_len(annotations->value) > MAX_ANNOTATIONS)
        report_many_annotations(annotations);
    kc_value_each_item (annotations->value, value) {
        const kc__location item = kc__location_item(annotations, value, i++),
                           key = kc__location_member(&item, "key");
        check_annotation(policy, &item, policy_name, stored);
        if (key.value)
            kc__validate_unique(&key, &keys);
    }
}

/* ---- the policy ---- */

static void check_rules(kc__validate_policy *policy, const kc__location *spec, kc_str name,
                        const stored_texts *stored)
{
    static const char needed[] = "validations or auditAnnotations must contain at least one item";
    const kc__location validations = kc__location_member(spec, "validations"),
                       annotations = kc__location_member(spec, "auditAnnotations");
    size_t i = 0;
    if (!kc_value_len(validations.value) && !kc_value_len(annotations.value)) {
        kc__location_error(&validations, KC_FIELD_REQUIRED, "%s", needed);
        kc__location_error(&annotations, KC_FIELD_REQUIRED, "%s", needed);
        return;
    }
    kc_value_each_item (validations.value, value) {
        const kc__location item = kc__location_item(&validations, value, i++);
        check_validation(policy, &item, stored);
    }
    check_annotations(policy, &annotations, name, &stored->annotations);
}

static void check_constraints(const kc__location *constraints)
{
    const kc__location rules = kc__location_member(constraints, "resourceRules");
    if (!constraints->value) {
        kc__location_error(constraints, KC_FIELD_REQUIRED, NULL);
        return;
    }
    kc__validate_match_resources(constraints);
    if (!kc_value_len(rules.value))
        kc__location_error(&rules, KC_FIELD_REQUIRED, NULL);
}

static void check_policy(const kc_value *object, const kc_value *old, kc_field_errors *errors)
{
    const kc__location root = kc__location_root(object, errors);
    const kc__location spec = kc__location_member(&root, "spec"),
                       failure = kc__location_member(&spec, "failurePolicy"),
                       kind = kc__location_member(&spec, "paramKind"),
                       constraints = kc__location_member(&spec, "matchConstraints");
    const kc_value *old_spec = kc_value_get(old, "spec");
    kc__validate_policy policy;
    stored_texts stored = {0};
    kc__validate_policy_init(&policy, spec.value, old_spec, false);
    collect_stored(old_spec, &stored);
    kc__validate_policy_choice(&failure, kc__validate_failure_policies);
    kc__validate_param_kind(&kind);
    check_constraints(&constraints);
    kc__validate_policy_conditions(&policy, &spec);
    kc__validate_policy_variables(&policy, &spec, &stored.validations);
    check_rules(&policy, &spec, kc_value_as_str(kc_value_nested(object, "metadata.name")), &stored);
    stored_texts_done(&stored);
    kc__validate_policy_done(&policy);
}

static void validate_policy(const kc_value *object, kc_field_errors *errors)
{
    check_policy(object, NULL, errors);
}

/* ---- the binding ---- */

static void check_actions(const kc__location *actions)
{
    static const char *const known[] = {"Audit", "Deny", "Warn", NULL};
    kc_scoped(kc_map) seen = {0};
    size_t i = 0;
    kc_value_each_item (actions->value, value) {
        const kc__location action = kc__location_item(actions, value, i++);
        if (!kc_str_is_any(kc__location_text(&action), known))
            kc__location_not_supported(&action, known);
        kc__validate_unique(&action, &seen);
    }
    if (kc_map_get(&seen, KC_STR("Deny")) && kc_map_get(&seen, KC_STR("Warn")))
        kc__location_error(
            actions, KC_FIELD_INVALID,
            "must not contain both Deny and Warn (repeating the same validation "
            "failure information in the API response and headers serves no purpose)");
    if (!i)
        kc__location_error(actions, KC_FIELD_REQUIRED,
                           "at least one validation action is required");
}

static void check_binding_spec(const kc__location *spec)
{
    const kc__location name = kc__location_member(spec, "policyName"),
                       ref = kc__location_member(spec, "paramRef"),
                       match = kc__location_member(spec, "matchResources"),
                       actions = kc__location_member(spec, "validationActions");
    kc__validate_policy_name(&name);
    kc__validate_param_ref(&ref);
    kc__validate_match_resources(&match);
    check_actions(&actions);
}

static const kc__validate_rule binding_rules_[] = {{"spec", .code = check_binding_spec}};
static const kc__validate_rule_table binding_rules = KC__VALIDATE_RULES(binding_rules_);

const kc__strategy kc__strategy_validating_policy = {.conditional = true,
                                                     .generation = true,
                                                     .defaults = &policy_defaults,
                                                     .validate = validate_policy,
                                                     .validate_update = check_policy,
                                                     .validate_status = kc__validate_policy_status};
const kc__strategy kc__strategy_validating_policy_binding = {.conditional = true,
                                                             .generation = true,
                                                             .defaults = &binding_defaults,
                                                             .rules = &binding_rules};
