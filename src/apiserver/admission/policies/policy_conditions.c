/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policy_conditions.c: match conditions, of policies and of webhooks. All of them are evaluated:
 * one that is false excludes the request, even if others fail.
 *
 * Policies of one origin often have the same conditions, such as the exclusion of a group of users.
 * A condition that reads only the request and its objects is evaluated once for all policies of a
 * request (kc__admission_evaluation); its cost counts for each of them. Conditions that only
 * compare a part of the request or an object with a text, each with another, share the part: they
 * are decided without an evaluation if that excludes the request.
 */
#include "apiserver/admission/policies/policy_activation.h"

#include "kc/buf.h"

/* The distinct errors, as Go joins them: one alone, or in brackets. */
static kc_str join_errors(kc_arena *arena, const kc_str *errors, size_t n)
{
    kc_scoped(kc_buf) out = {0};
    size_t written = 0;
    for (size_t i = 0; i < n; i++) {
        bool repeated = false;
        for (size_t j = 0; j < i; j++)
            repeated = repeated || kc_str_eq(errors[i], errors[j]);
        if (repeated)
            continue;
        kc_buf_puts(&out, written++ ? ", " : "");
        kc_buf_append(&out, errors[i]);
    }
    if (written == 1)
        return kc_arena_str(arena, kc_buf_str(&out));
    return kc_cstr(kc_arena_printf(arena, "[%s]", kc_buf_cstr(&out)));
}

/* ---- shared results ---- */

enum { N_SHARED = 64, N_PARTS = 16 };

typedef struct shared_result {
    uint32_t key; /* 0: none. */
    bool is_true;
    kc_str text;
    uint64_t cost;
} shared_result;

/* A part of the request or of an object, which conditions compare with texts. */
typedef struct shared_part {
    const kc_cel_program *of; /* A program that compares it; NULL: none. */
    bool is_text;
    kc_str text;
} shared_part;

/* Direct-mapped tables in the arena of the call. */
typedef struct kc__admission_shared {
    shared_result results[N_SHARED];
    shared_part parts[N_PARTS];
} kc__admission_shared;

void kc__admission_conditions_forget(kc__admission_evaluation *ev)
{
    if (ev->shared)
        *ev->shared = (kc__admission_shared){0};
}

static kc__admission_shared *shared_tables(kc__admission_evaluation *ev)
{
    if (!ev->shared)
        ev->shared = kc_arena_new(ev->call->arena, kc__admission_shared);
    return ev->shared;
}

static shared_result *shared_slot(kc__admission_evaluation *ev, uint32_t key)
{
    return &shared_tables(ev)->results[key / 2 % N_SHARED];
}

/* ---- comparisons ---- */

/* The part that a condition compares, read once for all conditions. */
static const shared_part *read_part(kc__admission_evaluation *ev,
                                    const kc__admission_expression *condition)
{
    const kc_cel_comparison *comparison = condition->comparison;
    shared_part *part = &shared_tables(ev)->parts[comparison->part % N_PARTS];
    if (part->of && kc_cel_program_same_part(part->of, condition->program))
        return part;
    *part = (shared_part){.of = condition->program};
    part->is_text = kc_cel_program_read_part(
        condition->program, kc__admission_evaluation_value(ev, comparison->variable, true),
        &part->text);
    return part;
}

bool kc__admission_conditions_exclude(kc__admission_evaluation *ev,
                                      const kc__admission_conditions *conditions)
{
    bool excluded = false;
    if (!conditions->are_comparisons)
        return false;
    for (size_t i = 0; i < conditions->n; i++) {
        const kc__admission_expression *condition = &conditions->items[i];
        const shared_part *part = read_part(ev, condition);
        if (!part->is_text || !kc__admission_evaluation_charge(ev, 1))
            return false;
        if (kc_str_eq(part->text, condition->comparison->text) == condition->comparison->negated)
            excluded = true;
    }
    return excluded;
}

/* Evaluates a condition, unless another policy of this request has the same. The cost is the same;
 * if it exceeds the budget, evaluation reports that. */
static kc__admission_evaluated evaluate_condition(kc__admission_activation *a,
                                                  const kc__admission_expression *condition,
                                                  int64_t *budget, bool *ret_true,
                                                  kc_str *ret_error)
{
    const uint32_t key = condition->shared_key;
    shared_result *shared = key ? shared_slot(a->ev, key) : NULL;
    if (shared && shared->key == key && shared->cost <= (uint64_t)*budget &&
        kc_str_eq(shared->text, condition->text)) {
        *budget -= (int64_t)shared->cost;
        *ret_true = shared->is_true;
        return kc__admission_evaluation_charge(a->ev, 1) ? KC__ADMISSION_EVALUATED
                                                         : KC__ADMISSION_MUST_OFFLOAD;
    }
    const int64_t before = *budget;
    kc__admission_outcome outcome;
    const kc__admission_evaluated result = kc__admission_evaluate(a, condition, budget, &outcome);
    *ret_true = result == KC__ADMISSION_EVALUATED && kc_cel_is_true(outcome.value);
    *ret_error = outcome.error;
    if (shared && result == KC__ADMISSION_EVALUATED)
        *shared = (shared_result){.key = key,
                                  .is_true = *ret_true,
                                  .text = condition->text,
                                  .cost = (uint64_t)(before - *budget)};
    return result;
}

/* ---- matching ---- */

kc__admission_conditions_result kc__admission_conditions_match(
    kc__admission_activation *a, const kc__admission_conditions *conditions, bool ignores_failures,
    kc_str *ret_error, size_t *ret_n_errors)
{
    kc_str *errors = kc_arena_calloc(&a->ev->arena, conditions->n + 1, sizeof(*errors));
    int64_t budget = KC__ADMISSION_CONDITIONS_BUDGET;
    bool excluded = false;
    size_t n = 0;
    for (size_t i = 0; i < conditions->n; i++) {
        bool is_true = false;
        kc_str error = {0};
        switch (evaluate_condition(a, &conditions->items[i], &budget, &is_true, &error)) {
        case KC__ADMISSION_MUST_OFFLOAD: return KC__ADMISSION_CONDITIONS_OFFLOAD;
        case KC__ADMISSION_OUT_OF_BUDGET:
            *ret_error = error;
            *ret_n_errors = 0;
            return ignores_failures ? KC__ADMISSION_CONDITIONS_EXCLUDE
                                    : KC__ADMISSION_CONDITIONS_FAIL;
        case KC__ADMISSION_EVALUATION_FAILED:
            if (!excluded)
                errors[n++] = error;
            break;
        default: excluded = excluded || !is_true; break;
        }
    }
    *ret_n_errors = n;
    if (excluded || (n && ignores_failures))
        return KC__ADMISSION_CONDITIONS_EXCLUDE;
    if (!n)
        return KC__ADMISSION_CONDITIONS_MATCH;
    *ret_error = join_errors(&a->ev->arena, errors, n);
    return KC__ADMISSION_CONDITIONS_FAIL;
}
