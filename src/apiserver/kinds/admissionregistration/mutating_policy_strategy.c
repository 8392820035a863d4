/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mutating_policy_strategy.c: the strategies of MutatingAdmissionPolicy and its binding.
 * Expressions are compiled as those of validating policies are (validating_policy_strategy.c).
 */
#include "apiserver/kinds/admissionregistration/policy_rules.h"
#include "apiserver/kinds/strategy.h"

/* ---- defaults ---- */

static const kc__defaults_entry policy_[] = {{.field = "spec", .of = &kc__defaults_policy_spec}};
static const kc__defaults policy_defaults = KC__DEFAULTS(policy_);
static const kc__defaults_entry binding_spec_[] = {
    {.field = "matchResources", .of = &kc__defaults_match_resources}};
static const kc__defaults binding_spec_defaults = KC__DEFAULTS(binding_spec_);
static const kc__defaults_entry binding_[] = {{.field = "spec", .of = &binding_spec_defaults}};
static const kc__defaults binding_defaults = KC__DEFAULTS(binding_);

/* ---- rules ---- */

/* A deletion has no object to mutate. Kubernetes reports the list, not the rule. */
static void check_mutating_operations(const kc__location *match)
{
    static const char *const operations[] = {"*", "CONNECT", "CREATE", "UPDATE", NULL};
    const kc__location rules = kc__location_member(match, "resourceRules");
    kc_value_each_item (rules.value, rule) {
        kc_value_each_item (kc_value_get(rule, "operations"), operation) {
            kc__location at = kc__location_member(&rules, "operations");
            at.value = operation;
            if (!kc_str_is_any(kc_value_as_str(operation), operations))
                kc__location_not_supported(&at, operations);
        }
    }
}

static void check_mutating_constraints(const kc__location *constraints)
{
    const kc__location rules = kc__location_member(constraints, "resourceRules");
    if (!constraints->value) {
        kc__location_error(constraints, KC_FIELD_REQUIRED, NULL);
        return;
    }
    kc__validate_match_resources(constraints);
    if (!kc_value_len(rules.value))
        kc__location_error(&rules, KC_FIELD_REQUIRED, NULL);
    check_mutating_operations(constraints);
}

/* ---- mutations ---- */

static void check_mutation_expression(const kc__validate_policy *policy,
                                      const kc__location *mutation, kc__expression_result result,
                                      const kc_map *stored)
{
    const kc__location expression = kc__location_member(mutation, "expression");
    const kc_str text = kc__location_text(&expression), trimmed = kc_str_trim(text);
    if (kc_str_empty(trimmed)) {
        kc__location_error(&expression, KC_FIELD_REQUIRED, NULL);
        return;
    }
    kc__validate_policy_expression(
        policy, &expression, trimmed, trimmed,
        &(kc__expression_opts){.result = result,
                               .has_params = policy->has_params,
                               .has_authorizer = true,
                               .stored = kc_map_get(stored, text) != NULL});
}

typedef struct patch_kind {
    const char *type, *field, *other;
    kc__expression_result result;
} patch_kind;

static const patch_kind patch_kinds[] = {
    {"JSONPatch", "jsonPatch", "applyConfiguration", KC__EXPRESSION_JSON_PATCH},
    {"ApplyConfiguration", "applyConfiguration", "jsonPatch", KC__EXPRESSION_APPLY_CONFIGURATION},
};

static void check_patch(const kc__validate_policy *policy, const kc__location *mutation,
                        const patch_kind *kind, const kc_map *stored)
{
    const kc__location own = kc__location_member(mutation, kind->field),
                       other = kc__location_member(mutation, kind->other);
    if (!own.value)
        kc__location_error(&own, KC_FIELD_REQUIRED, "must be specified when patchType is %s",
                           kind->type);
    else
        check_mutation_expression(policy, &own, kind->result, stored);
    if (other.value)
        kc__validate_invalid_text(
            &other, kc_cstr(kc_arena_printf(&mutation->errors->arena, "{%s}", kind->other)),
            kc_arena_printf(&mutation->errors->arena, "must not be specified when patchType is %s",
                            kind->type));
}

static void check_mutation(const kc__validate_policy *policy, const kc__location *mutation,
                           const kc_map *stored)
{
    static const char *const types[] = {"ApplyConfiguration", "JSONPatch", NULL};
    const kc__location type = kc__location_member(mutation, "patchType");
    if (!kc__location_is_set(&type)) {
        kc__location_error(&type, KC_FIELD_REQUIRED, NULL);
        return;
    }
    for (size_t i = 0; i < KC_COUNT(patch_kinds); i++)
        if (kc__location_text_is(&type, patch_kinds[i].type)) {
            check_patch(policy, mutation, &patch_kinds[i], stored);
            return;
        }
    kc__location_not_supported(&type, types);
}

static void check_mutations(const kc__validate_policy *policy, const kc__location *spec,
                            const kc_map *stored)
{
    const kc__location mutations = kc__location_member(spec, "mutations");
    size_t i = 0;
    if (!kc_value_len(mutations.value))
        kc__location_error(&mutations, KC_FIELD_REQUIRED,
                           "mutations must contain at least one item");
    kc_value_each_item (mutations.value, value) {
        const kc__location item = kc__location_item(&mutations, value, i++);
        check_mutation(policy, &item, stored);
    }
}

/* As in Kubernetes, only the expressions of stored apply configurations are known. */
static void collect_applied(const kc_value *old_spec, kc_map *ret)
{
    kc_value_each_item (kc_value_get(old_spec, "mutations"), mutation) {
        const kc_value *text = kc_value_nested(mutation, "applyConfiguration.expression");
        if (text)
            kc_map_put(ret, kc_value_as_str(text), ret);
    }
}

/* ---- the policy ---- */

static void check_reinvocation(const kc__location *policy)
{
    if (!kc__location_is_set(policy))
        kc__location_error(policy, KC_FIELD_REQUIRED, NULL);
    else
        kc__validate_policy_choice(policy, kc__validate_reinvocation_policies);
}

static void check_mutating_policy(const kc_value *object, const kc_value *old,
                                  kc_field_errors *errors)
{
    kc_scoped(kc_map) none = {0}, applied = {0};
    const kc__location root = kc__location_root(object, errors);
    const kc__location spec = kc__location_member(&root, "spec"),
                       failure = kc__location_member(&spec, "failurePolicy"),
                       kind = kc__location_member(&spec, "paramKind"),
                       constraints = kc__location_member(&spec, "matchConstraints"),
                       reinvocation = kc__location_member(&spec, "reinvocationPolicy");
    const kc_value *old_spec = kc_value_get(old, "spec");
    kc__validate_policy policy;
    kc__validate_policy_init(&policy, spec.value, old_spec, true);
    collect_applied(old_spec, &applied);
    kc__validate_policy_choice(&failure, kc__validate_failure_policies);
    kc__validate_param_kind(&kind);
    check_mutating_constraints(&constraints);
    kc__validate_policy_conditions(&policy, &spec);
    kc__validate_policy_variables(&policy, &spec, &none);
    check_mutations(&policy, &spec, &applied);
    check_reinvocation(&reinvocation);
    kc__validate_policy_done(&policy);
}

static void validate_mutating_policy(const kc_value *object, kc_field_errors *errors)
{
    check_mutating_policy(object, NULL, errors);
}

/* ---- the binding ---- */

static void check_mutating_binding(const kc__location *spec)
{
    const kc__location name = kc__location_member(spec, "policyName"),
                       ref = kc__location_member(spec, "paramRef"),
                       match = kc__location_member(spec, "matchResources");
    kc__validate_policy_name(&name);
    kc__validate_param_ref(&ref);
    kc__validate_match_resources(&match);
    check_mutating_operations(&match);
}

static const kc__validate_rule binding_rules_[] = {{"spec", .code = check_mutating_binding}};
static const kc__validate_rule_table binding_rules = KC__VALIDATE_RULES(binding_rules_);

const kc__strategy kc__strategy_mutating_policy = {.conditional = true,
                                                   .generation = true,
                                                   .defaults = &policy_defaults,
                                                   .validate = validate_mutating_policy,
                                                   .validate_update = check_mutating_policy};
const kc__strategy kc__strategy_mutating_policy_binding = {.conditional = true,
                                                           .generation = true,
                                                           .defaults = &binding_defaults,
                                                           .rules = &binding_rules};
