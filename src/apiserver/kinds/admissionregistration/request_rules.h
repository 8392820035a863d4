/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request_rules.h: validation of what webhooks and policies share: rules that select requests,
 * match conditions, and the values of enumerations.
 */
#ifndef KC_APISERVER_REQUEST_RULES_H
#define KC_APISERVER_REQUEST_RULES_H

#include "apiserver/kinds/admissionregistration/expressions.h"
#include "apiserver/kinds/defaults.h"
#include "apiserver/kinds/validate_rules.h"

/* A rule with operations, groups, versions, resources and a scope. */
extern const kc__validate_rule_table kc__validate_request_rule;
/* Its defaults. */
extern const kc__defaults kc__defaults_request_rule;

extern const char *const kc__validate_failure_policies[]; /* "Fail", "Ignore", NULL */
extern const char *const kc__validate_match_policies[];
extern const char *const kc__validate_reinvocation_policies[];

/* Adds an Invalid error about `text`, which need not be the value of the location. */
void kc__validate_invalid_text(const kc__location *location, kc_str text, const char *detail);
/* Reports that an expression does not compile; the error shows `text`. */
void kc__validate_expression_failure(const kc__location *location, kc_str text,
                                     const kc__expression_failure *failure);

/* Validates match conditions. Expressions in `stored`, a set of texts, may use the newest
 * functions. */
void kc__validate_match_conditions(const kc__location *conditions, bool has_params,
                                   const kc_map *stored);

#endif
