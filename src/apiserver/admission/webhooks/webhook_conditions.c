/* SPDX-License-Identifier: Apache-2.0 */
/*
 * webhook_conditions.c: evaluates the match conditions of webhooks.
 *
 * Event loops read the configurations (webhook_registry.c), so conditions are not compiled with
 * them: the first request that needs them compiles them, on a worker if they are long. Threads that
 * need them at the same time each compile them, and the first one to finish publishes its result.
 */
#include "apiserver/admission/webhooks/webhook_conditions.h"

#include "apiserver/admission/chain/object_versions.h"
#include "apiserver/admission/policies/policy_registry.h"

#include <stdatomic.h>

enum { SHORT_CONDITIONS = 1024 }; /* Bytes of expressions that a loop compiles itself. */

typedef struct compiled_conditions {
    kc__expression_scope scope;
    kc_arena arena;
    kc__admission_conditions conditions;
    unsigned uses;
    size_t memory;
} compiled_conditions;

struct kc__admission_webhook_conditions {
    const kc_value *list;
    size_t length;                           /* Of all expressions. */
    _Atomic(compiled_conditions *) compiled; /* NULL: not yet. */
};

/* ---- compiling ---- */

kc__admission_webhook_conditions *kc__admission_webhook_conditions_new(const kc_value *list)
{
    if (!kc_value_len(list))
        return NULL;
    kc__admission_webhook_conditions *conditions = kc_new(kc__admission_webhook_conditions);
    conditions->list = list;
    kc_value_each_item (list, condition)
        conditions->length += kc_value_as_str(kc_value_get(condition, "expression")).n;
    return conditions;
}

static void compiled_free(compiled_conditions *compiled)
{
    if (!compiled)
        return;
    kc__admission_conditions_done(&compiled->conditions);
    kc__expression_scope_done(&compiled->scope);
    kc_arena_done(&compiled->arena);
    free(compiled);
}

kc__admission_webhook_conditions *kc__admission_webhook_conditions_free(
    kc__admission_webhook_conditions *conditions)
{
    if (conditions)
        compiled_free(atomic_load(&conditions->compiled));
    free(conditions);
    return NULL;
}

static compiled_conditions *compile_webhook_conditions(const kc_value *list,
                                                       const kc__expression_env *env)
{
    compiled_conditions *compiled = kc_new(compiled_conditions);
    kc__expression_scope_init(&compiled->scope, env, NULL, false);
    compiled->conditions = kc__admission_conditions_new(&compiled->arena, list, &compiled->scope,
                                                        false, &compiled->memory, &compiled->uses);
    return compiled;
}

/* The compiled conditions; NULL if a worker must compile them. */
static const compiled_conditions *compiled_of(kc__admission_webhook_conditions *conditions,
                                              const kc__rest_call *call)
{
    compiled_conditions *now = atomic_load_explicit(&conditions->compiled, memory_order_acquire);
    if (now)
        return now;
    if (conditions->length > SHORT_CONDITIONS && call->api->offload && !call->on_worker)
        return NULL;
    compiled_conditions *own = compile_webhook_conditions(
        conditions->list, kc__admission_policies_env(call->api->policies));
    if (atomic_compare_exchange_strong(&conditions->compiled, &now, own))
        return own;
    compiled_free(own);
    return now;
}

/* ---- matching ---- */

static kc__rest_verdict refuse_conditions(kc__rest_call *call,
                                          const kc__admission_attributes *about, kc_str why)
{
    const kc__resource *r = about->resource;
    kc__rest_fail(call, KC_FORBIDDEN, "%s%s%s \"%.*s\" is forbidden: %.*s", r->plural,
                  *r->group ? "." : "", r->group, KC_ARG(about->name), KC_ARG(why));
    kc_error_about(&call->error, kc_cstr(r->group), kc_cstr(r->plural), about->name);
    return KC__REST_FAIL;
}

static void count_conditions(const kc__admission_webhook *hook, kc__rest_call *call,
                             const kc__admission_attributes *about, size_t n_errors,
                             int64_t started, bool excluded)
{
    const kc__admission_policy_metrics *metrics =
        kc__admission_policies_metrics(call->api->policies);
    const kc__admission_condition_check check = {.name = hook->name,
                                                 .kind = "webhook",
                                                 .type = hook->mutates ? "admit" : "validating",
                                                 .operation = about->operation,
                                                 .n_errors = n_errors,
                                                 .took = kc_clock_now(call->api->clock) - started};
    kc__admission_conditions_count(metrics, &check);
    if (excluded)
        kc__admission_conditions_count_exclusion(metrics, &check);
}

static kc__rest_verdict match_shown(const kc__admission_webhook *hook,
                                    const compiled_conditions *compiled,
                                    kc__admission_evaluation *ev, bool *ret_matches)
{
    const int64_t started = kc_clock_now(ev->call->api->clock);
    kc__admission_activation a;
    kc_str error = {0};
    size_t n_errors = 0;
    kc__admission_activate(
        &a, ev, &(kc__admission_activation_opts){.uses = compiled->uses, .for_conditions = true});
    const kc__admission_conditions_result result =
        kc__admission_conditions_match(&a, &compiled->conditions, hook->ignored, &error, &n_errors);
    if (result == KC__ADMISSION_CONDITIONS_OFFLOAD)
        return KC__REST_ON_WORKER;
    *ret_matches = result == KC__ADMISSION_CONDITIONS_MATCH;
    if (!*ret_matches)
        count_conditions(hook, ev->call, ev->about, n_errors, started,
                         result == KC__ADMISSION_CONDITIONS_EXCLUDE);
    return result == KC__ADMISSION_CONDITIONS_FAIL ? refuse_conditions(ev->call, ev->about, error)
                                                   : KC__REST_NEXT;
}

kc__rest_verdict kc__admission_webhook_conditions_match(const kc__admission_webhook *hook,
                                                        kc__rest_call *call,
                                                        const kc__admission_attributes *about,
                                                        const kc__resource *as,
                                                        uint64_t *loop_budget, bool *ret_matches)
{
    const compiled_conditions *compiled = compiled_of(hook->conditions, call);
    const kc__rest_verdict awaited = kc__admission_versions_await(call);
    kc__admission_evaluation ev;
    if (awaited != KC__REST_NEXT)
        return awaited;
    if (!compiled)
        return KC__REST_ON_WORKER;
    kc__admission_evaluation_init(&ev, call, about);
    if (ev.loop_budget != UINT64_MAX && *loop_budget)
        ev.loop_budget = *loop_budget;
    kc__rest_verdict verdict = kc__admission_evaluation_show(&ev, as, &call->error);
    if (verdict == KC__REST_NEXT)
        verdict = match_shown(hook, compiled, &ev, ret_matches);
    *loop_budget = KC_MAX(ev.loop_budget, 1);
    kc__admission_evaluation_done(&ev);
    return verdict;
}
