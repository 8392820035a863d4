/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policy_rules.h: defaults and validation that validating and mutating admission policies share:
 * what they match, their parameters, their variables, and the compilation of their expressions.
 */
#ifndef KC_APISERVER_POLICY_RULES_H
#define KC_APISERVER_POLICY_RULES_H

#include "apiserver/kinds/admissionregistration/request_rules.h"

/* Defaults of matchConstraints and matchResources. */
extern const kc__defaults kc__defaults_match_resources;
/* Defaults of a policy's spec. A binding has those of its matchResources. */
extern const kc__defaults kc__defaults_policy_spec;

/* Validate a required value of an enumeration; matchConstraints, matchResources; paramKind;
 * paramRef; policyName. Absent optional values are valid. */
void kc__validate_policy_choice(const kc__location *location, const char *const *values);
void kc__validate_match_resources(const kc__location *location);
void kc__validate_param_kind(const kc__location *location);
void kc__validate_param_ref(const kc__location *location);
void kc__validate_policy_name(const kc__location *location);

/* The expressions of a policy under validation. */
typedef struct kc__validate_policy {
    kc__expression_env *env;
    kc__expression_scope scope;
    bool has_params;
    const kc_value *old; /* The spec of the stored policy; NULL: the policy is new. */
} kc__validate_policy;

/* `composes`: see kc__expression_scope_init. */
void kc__validate_policy_init(kc__validate_policy *policy, const kc_value *spec,
                              const kc_value *old_spec, bool composes);
void kc__validate_policy_done(kc__validate_policy *policy);

/* Adds the texts of a member of each item of a list: the expressions that are stored already. */
void kc__validate_collect_texts(const kc_value *list, const char *member, kc_map *ret);

/* Compiles an expression; an error shows `shown`. */
void kc__validate_policy_expression(const kc__validate_policy *policy, const kc__location *location,
                                    kc_str text, kc_str shown, const kc__expression_opts *opts);
/* Validates matchConditions, unless they and paramKind are those of the stored policy. */
void kc__validate_policy_conditions(const kc__validate_policy *policy, const kc__location *spec);
/* Validates variables, and declares them for the expressions that follow. Expressions in `stored`
 * may use the newest functions. */
void kc__validate_policy_variables(kc__validate_policy *policy, const kc__location *spec,
                                   const kc_map *stored);

/* Validates status (policy_status_rules.c). */
void kc__validate_policy_status(const kc_value *object, const kc_value *old,
                                kc_field_errors *errors);

#endif
