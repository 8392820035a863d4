/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policy_validation.c: evaluates one validating policy for one binding and one parameter.
 *
 *     match conditions ─▶ validations ─▶ messages ─▶ audit annotations
 *
 * Validations and messages share a budget; audit annotations have their own. Messages of
 * validations that succeed are needed only because they count against the budget: they are
 * evaluated when all of them together could exceed it.
 */
#include "apiserver/admission/policies/policy_check.h"

#include "apiserver/admission/policies/policy_registry.h"

enum {
    MAX_MESSAGE = 5 * 1024,
    MAX_ANNOTATION = 10 * 1024,
    FEW_EXPRESSIONS = 4, /* Cannot exceed the budget, whatever they cost. */
};

static kc_str keep_text(kc__admission_evaluation *ev, kc_str text)
{
    return kc_arena_str(&ev->arena, text);
}

static int64_t now_of(const kc__admission_evaluation *ev)
{
    return kc_clock_now(ev->call->api->clock);
}

/* One decision about the whole policy: an evaluation failed, and others were not tried. */
static void decide_failure(kc__admission_evaluation *ev, const kc__admission_policy *policy,
                           kc_str message, kc__admission_validated *ret)
{
    kc__admission_decision *decision = kc_arena_new(&ev->arena, kc__admission_decision);
    *decision = (kc__admission_decision){
        .denied = !policy->ignores_failures, .failed = true, .message = keep_text(ev, message)};
    *ret = (kc__admission_validated){.decisions = decision, .n_decisions = 1};
}

/* ---- match conditions ---- */

static void count_conditions(kc__admission_evaluation *ev, const kc__admission_policy *policy,
                             size_t n_errors, int64_t took)
{
    kc__admission_conditions_count(
        kc__admission_policies_metrics(ev->call->api->policies),
        &(kc__admission_condition_check){
            .name = policy->name,
            .kind = "policy",
            .type = "validate",
            .operation = ev->about->operation,
            .n_errors = n_errors,
            .series = &policy->series[kc__admission_operation_index(ev->about->operation)],
            .took = took});
}

bool kc__admission_policy_excludes(kc__admission_evaluation *ev, const kc__admission_policy *policy)
{
    if (!kc__admission_conditions_exclude(ev, &policy->conditions))
        return false;
    count_conditions(ev, policy, 0, 0); /* A comparison takes less time than reading the clock. */
    return true;
}

/* KC__ADMISSION_CONDITIONS_FAIL: *ret has the decision. */
static kc__admission_conditions_result match_conditions(kc__admission_evaluation *ev,
                                                        const kc__admission_policy *policy,
                                                        const kc_value *params,
                                                        kc__admission_validated *ret)
{
    kc__admission_activation a;
    kc_str error = {0};
    size_t n_errors = 0;
    if (!policy->conditions.n)
        return KC__ADMISSION_CONDITIONS_MATCH;
    const int64_t started = now_of(ev);
    kc__admission_activate(&a, ev,
                           &(kc__admission_activation_opts){
                               .policy = policy, .params = params, .for_conditions = true});
    const kc__admission_conditions_result result = kc__admission_conditions_match(
        &a, &policy->conditions, policy->ignores_failures, &error, &n_errors);
    if (result == KC__ADMISSION_CONDITIONS_FAIL)
        decide_failure(ev, policy, error, ret);
    if (result == KC__ADMISSION_CONDITIONS_FAIL || result == KC__ADMISSION_CONDITIONS_EXCLUDE)
        count_conditions(ev, policy, n_errors, now_of(ev) - started);
    return result;
}

/* ---- validations ---- */

static kc__admission_evaluated evaluate_validations(kc__admission_activation *a,
                                                    const kc__admission_policy *policy,
                                                    int64_t *budget, kc__admission_validated *ret)
{
    kc__admission_evaluation *ev = a->ev;
    ret->decisions =
        kc_arena_calloc(&ev->arena, policy->n_validations + 1, sizeof(*ret->decisions));
    int64_t started = now_of(ev);
    for (size_t i = 0; i < policy->n_validations; i++) {
        kc__admission_decision *decision = &ret->decisions[i];
        kc__admission_outcome outcome;
        const kc__admission_evaluated evaluated =
            kc__admission_evaluate(a, &policy->validations[i].expression, budget, &outcome);
        const int64_t ended = now_of(ev);
        decision->took = ended - started;
        started = ended;
        if (evaluated == KC__ADMISSION_OUT_OF_BUDGET)
            decide_failure(ev, policy, outcome.error, ret);
        if (evaluated == KC__ADMISSION_OUT_OF_BUDGET || evaluated == KC__ADMISSION_MUST_OFFLOAD)
            return evaluated;
        decision->failed = evaluated == KC__ADMISSION_EVALUATION_FAILED;
        decision->denied =
            decision->failed ? !policy->ignores_failures : !kc_cel_is_true(outcome.value);
        decision->message = outcome.error;
    }
    ret->n_decisions = policy->n_validations;
    return KC__ADMISSION_EVALUATED;
}

/* ---- messages ---- */

/* What a client may see: one line, not too long. Empty: use another message. */
static kc_str usable_message(kc__admission_evaluation *ev, kc_cel_value value)
{
    if (value.kind != KC_CEL_STRING)
        return (kc_str){0};
    const kc_str text = kc_str_trim(value.text);
    if (text.n > MAX_MESSAGE || kc_str_find(text, '\n') >= 0)
        return (kc_str){0};
    return keep_text(ev, text);
}

static kc_str fallback_message(kc__admission_evaluation *ev,
                               const kc__admission_validation *validation)
{
    const kc_str message = kc_str_trim(validation->message);
    if (message.n)
        return message;
    return kc_cstr(kc_arena_printf(&ev->arena, "failed expression: %.*s",
                                   KC_ARG(kc_str_trim(validation->expression.text))));
}

/* All decisions that did not fail become errors: the messages used up the budget. */
static void fail_messages(kc__admission_evaluation *ev, const kc__admission_policy *policy,
                          kc_str error, kc__admission_validated *ret)
{
    for (size_t i = 0; i < ret->n_decisions; i++) {
        kc__admission_decision *decision = &ret->decisions[i];
        if (decision->failed)
            continue;
        decision->failed = true;
        decision->denied = !policy->ignores_failures;
        decision->message =
            kc_cstr(kc_arena_printf(&ev->arena, "failed messageExpression: %.*s", KC_ARG(error)));
    }
}

static size_t count_messages(const kc__admission_policy *policy)
{
    size_t n = 0;
    for (size_t i = 0; i < policy->n_validations; i++)
        n += kc__admission_expression_exists(&policy->validations[i].message_expression);
    return n;
}

static kc__admission_evaluated evaluate_messages(kc__admission_evaluation *ev,
                                                 const kc__admission_policy *policy,
                                                 const kc_value *params, int64_t *budget,
                                                 kc__admission_validated *ret)
{
    const bool all = count_messages(policy) + policy->n_variables > FEW_EXPRESSIONS;
    kc__admission_activation a;
    kc__admission_activate(&a, ev,
                           &(kc__admission_activation_opts){
                               .policy = policy, .params = params, .without_authorizer = true});
    for (size_t i = 0; i < ret->n_decisions; i++) {
        const kc__admission_expression *expression = &policy->validations[i].message_expression;
        kc__admission_decision *decision = &ret->decisions[i];
        kc__admission_outcome outcome;
        if (!kc__admission_expression_exists(expression) || (!all && !decision->denied))
            continue;
        const kc__admission_evaluated evaluated =
            kc__admission_evaluate(&a, expression, budget, &outcome);
        if (evaluated == KC__ADMISSION_OUT_OF_BUDGET)
            fail_messages(ev, policy, outcome.error, ret);
        if (evaluated == KC__ADMISSION_OUT_OF_BUDGET || evaluated == KC__ADMISSION_MUST_OFFLOAD)
            return evaluated;
        if (evaluated == KC__ADMISSION_EVALUATED && decision->denied && !decision->failed)
            decision->message = usable_message(ev, outcome.value);
    }
    return KC__ADMISSION_EVALUATED;
}

static void complete_decisions(kc__admission_evaluation *ev, const kc__admission_policy *policy,
                               kc__admission_validated *ret)
{
    for (size_t i = 0; i < ret->n_decisions; i++) {
        kc__admission_decision *decision = &ret->decisions[i];
        if (!decision->denied || decision->failed)
            continue;
        decision->reason = policy->validations[i].reason;
        if (!decision->message.n)
            decision->message = fallback_message(ev, &policy->validations[i]);
    }
}

static bool needs_messages(const kc__admission_policy *policy, const kc__admission_validated *ret)
{
    bool denied = false;
    const size_t n = count_messages(policy);
    for (size_t i = 0; i < ret->n_decisions; i++)
        denied = denied || (ret->decisions[i].denied && !ret->decisions[i].failed);
    return n && (denied || n + policy->n_variables > FEW_EXPRESSIONS);
}

/* ---- audit annotations ---- */

static void decide_annotation(kc__admission_evaluation *ev, const kc__admission_policy *policy,
                              kc__admission_evaluated evaluated,
                              const kc__admission_outcome *outcome,
                              kc__admission_annotation_result *ret)
{
    if (evaluated == KC__ADMISSION_EVALUATION_FAILED) {
        ret->action = policy->ignores_failures ? KC__ADMISSION_ANNOTATION_EXCLUDED
                                               : KC__ADMISSION_ANNOTATION_FAILED;
        ret->text = outcome->error;
        return;
    }
    kc_str text =
        kc_str_trim(outcome->value.kind == KC_CEL_STRING ? outcome->value.text : (kc_str){0});
    if (!text.n)
        return;
    ret->action = KC__ADMISSION_ANNOTATION_PUBLISHED;
    ret->text = keep_text(ev, kc_str_sub(text, 0, KC_MIN(text.n, (size_t)MAX_ANNOTATION)));
}

static bool evaluate_annotations(kc__admission_evaluation *ev, const kc__admission_policy *policy,
                                 const kc_value *params, kc__admission_validated *ret)
{
    int64_t budget = KC__ADMISSION_POLICY_BUDGET;
    kc__admission_activation a;
    kc__admission_annotation_result *results =
        kc_arena_calloc(&ev->arena, policy->n_annotations + 1, sizeof(*results));
    kc__admission_activate(&a, ev,
                           &(kc__admission_activation_opts){
                               .policy = policy, .params = params, .without_authorizer = true});
    for (size_t i = 0; i < policy->n_annotations; i++) {
        const int64_t started = now_of(ev);
        kc__admission_outcome outcome;
        const kc__admission_evaluated evaluated =
            kc__admission_evaluate(&a, &policy->annotations[i].expression, &budget, &outcome);
        if (evaluated == KC__ADMISSION_MUST_OFFLOAD)
            return false;
        if (evaluated == KC__ADMISSION_OUT_OF_BUDGET) {
            decide_failure(ev, policy, outcome.error, ret);
            return true;
        }
        results[i].key = policy->annotations[i].key;
        decide_annotation(ev, policy, evaluated, &outcome, &results[i]);
        results[i].took = now_of(ev) - started;
    }
    ret->annotations = results;
    ret->n_annotations = policy->n_annotations;
    return true;
}

bool kc__admission_policy_validate(kc__admission_evaluation *ev, const kc__admission_policy *policy,
                                   const kc_value *params, kc__admission_validated *ret)
{
    kc__admission_activation a;
    int64_t budget = KC__ADMISSION_POLICY_BUDGET;
    *ret = (kc__admission_validated){0};
    const kc__admission_conditions_result matched = match_conditions(ev, policy, params, ret);
    if (matched != KC__ADMISSION_CONDITIONS_MATCH)
        return matched != KC__ADMISSION_CONDITIONS_OFFLOAD;
    kc__admission_activate(&a, ev,
                           &(kc__admission_activation_opts){.policy = policy, .params = params});
    const kc__admission_evaluated evaluated = evaluate_validations(&a, policy, &budget, ret);
    if (evaluated != KC__ADMISSION_EVALUATED)
        return evaluated != KC__ADMISSION_MUST_OFFLOAD;
    if (needs_messages(policy, ret) &&
        evaluate_messages(ev, policy, params, &budget, ret) == KC__ADMISSION_MUST_OFFLOAD)
        return false;
    complete_decisions(ev, policy, ret);
    return !policy->n_annotations || evaluate_annotations(ev, policy, params, ret);
}
