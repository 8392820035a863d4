/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policy_mutate.c: the plugin MutatingAdmissionPolicy.
 *
 *     select: policy matches? ─▶ binding matches? ─▶ one invocation per parameter
 *     apply:  invocation ─▶ match conditions ─▶ mutation, mutation, … ─▶ decoded, defaulted
 *
 * Selection sees the object before any policy has changed it; each mutation sees the result of the
 * one before. When a policy changes the object, policies with reinvocationPolicy IfNeeded that were
 * applied before are applied again when the plugins run again. Nothing is written to the draft
 * before the end, so that a worker thread, or the phase after a conversion by webhook, can start
 * over.
 */
#include "apiserver/admission/policies/policy_mutate.h"

#include "apiserver/admission/chain/object_versions.h"
#include "apiserver/admission/policies/policy_mutation.h"
#include "apiserver/admission/policies/policy_params.h"
#include "apiserver/admission/policies/policy_registry.h"
#include "apiserver/kinds/resource_ops.h"
#include "base/work.h"
#include "kc/diff.h"

/* A policy with a binding and a parameter that was applied, in the arena of the call. */
typedef struct applied_policy {
    kc_str key;
    bool invoked;  /* Since the last change. */
    bool reinvoke; /* The object changed afterwards. */
    struct applied_policy *next;
} applied_policy;

/* What the second run needs to know about the first. */
typedef struct kc__admission_reinvocation {
    kc_object *output; /* The object after the policies. */
    applied_policy *applied;
} kc__admission_reinvocation;

typedef struct invocation {
    const kc__admission_policy *policy;
    const kc__admission_binding *binding;
    const kc__resource *as;
    kc_object *param; /* NULL: null. */
} invocation;

typedef struct mutation_run {
    kc__rest_call *call;
    kc__admission_attributes about; /* `object` is a reference. */
    kc__admission_evaluation ev;
    bool of_body;             /* The object is the body: a Binding, an Eviction. */
    const kc__resource *type; /* Of the draft, or of the body. */
    kc__draft target;         /* The object so far, in the form of the draft. */
    bool dirty, changed;
    KC_VEC(invocation) invocations;
    KC_VEC(kc__admission_policy_check) checks;
    /* Errors of policies that must not fail: the messages, in the arena of the call. */
    KC_VEC(kc_str) errors;
    bool first_is_invalid; /* The first error is of a policy, not of its configuration. */
} mutation_run;

/* ---- errors ---- */

static void add_error(mutation_run *run, const kc__admission_policy *policy,
                      const kc__admission_binding *binding, const char *what, const char *why)
{
    kc_arena *arena = run->call->arena;
    if (policy->ignores_failures)
        return;
    if (!run->errors.n)
        run->first_is_invalid = !*what;
    const char *text =
        binding ? kc_arena_printf(arena, "policy '%.*s' with binding '%.*s' denied request: %s%s",
                                  KC_ARG(policy->name), KC_ARG(binding->name), what, why)
                : kc_arena_printf(arena, "policy \"%.*s\" denied request: %s%s",
                                  KC_ARG(policy->name), what, why);
    kc_vec_push(&run->errors, kc_cstr(text));
}

static const char *namespace_error(mutation_run *run)
{
    return kc_arena_printf(run->call->arena, "namespaces \"%.*s\" not found",
                           KC_ARG(run->about.ns));
}

#define OF_POLICY  "failed to configure policy: "
#define OF_BINDING "failed to configure binding: "

/* Reports the first error; its message is that of the Status. */
static kc__rest_verdict refuse_mutation(mutation_run *run)
{
    const kc__resource *r = run->about.resource;
    const kc_str name = run->about.name.n ? run->about.name : kc__rest_proposed_name(run->call);
    kc_error *error = &run->call->error;
    kc__rest_fail(run->call, run->first_is_invalid ? KC_INVALID : KC_FORBIDDEN, "%.*s",
                  KC_ARG(run->errors.items[0]));
    error->code = 403;
    kc_error_about(error, kc_cstr(r->group), kc_cstr(r->plural), name);
    kc_vec_each (&run->errors, text)
        kc_error_add_cause(error, "", (kc_str){0}, *text);
    return KC__REST_FAIL;
}

/* ---- selecting ---- */

static kc__rest_verdict select_binding(mutation_run *run, const kc__admission_policy *policy,
                                       const kc__admission_binding *binding, const kc__resource *as,
                                       const kc__resource *param_kind)
{
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc__admission_params) params = {0};
    const kc__resource *ignored;
    const kc__admission_match_result match =
        binding->has_match ? kc__admission_match(&binding->match, &run->about, &ignored)
                           : KC__ADMISSION_MATCH;
    if (match == KC__ADMISSION_MATCH_NO_NAMESPACE)
        add_error(run, policy, binding, OF_BINDING, namespace_error(run));
    if (match != KC__ADMISSION_MATCH)
        return KC__REST_NEXT;
    const kc__rest_verdict verdict =
        kc__admission_params_collect(&run->ev, param_kind, binding, &params, &err);
    if (verdict == KC__REST_FAIL) {
        add_error(run, policy, binding, OF_BINDING, kc_error_text(&err));
        return KC__REST_NEXT;
    }
    kc_vec_each (&params.objects, param)
        kc_vec_push(&run->invocations,
                    (invocation){.policy = policy,
                                 .binding = binding,
                                 .as = as,
                                 .param = *param ? kc_object_ref(*param) : NULL});
    return verdict;
}

static kc__rest_verdict select_policy(mutation_run *run, const kc__admission_bound_policy *bound)
{
    const kc__admission_policy *policy = bound->policy;
    const kc__resource *as, *param_kind;
    kc_scoped(kc_error) err = {0};
    kc__rest_verdict verdict = KC__REST_NEXT;
    const kc__admission_match_result match =
        kc__admission_match(&policy->constraints, &run->about, &as);
    if (match == KC__ADMISSION_MATCH_NO_NAMESPACE)
        add_error(run, policy, NULL, OF_POLICY, namespace_error(run));
    if (match != KC__ADMISSION_MATCH)
        return verdict;
    if (kc__admission_params_resource(run->call, policy, &param_kind, &err) < 0) {
        add_error(run, policy, NULL, OF_POLICY, kc_error_text(&err));
        return verdict;
    }
    for (size_t i = 0; i < bound->bindings.n && verdict == KC__REST_NEXT; i++)
        verdict = select_binding(run, policy, bound->bindings.items[i], as, param_kind);
    return verdict;
}

/* Finds the policies that apply, before the first of them changes the object. */
static kc__rest_verdict select_policies(mutation_run *run, const kc__admission_bound_policies *all)
{
    kc__rest_verdict verdict = KC__REST_NEXT;
    for (size_t i = 0; i < all->n && verdict == KC__REST_NEXT; i++)
        if (kc__admission_may_match(&all->items[i].policy->constraints, run->about.resource))
            verdict = select_policy(run, &all->items[i]);
    return verdict;
}

/* ---- reinvocation ---- */

static applied_policy *applied_of(mutation_run *run, const invocation *inv)
{
    kc__rest_call *call = run->call;
    kc_scoped(kc_buf) key = {0};
    kc_buf_printf(&key, "%.*s/%.*s", KC_ARG(inv->policy->name), KC_ARG(inv->binding->name));
    if (inv->param)
        kc_buf_printf(&key, "/%.*s/%.*s", KC_ARG(kc_object_namespace(inv->param)),
                      KC_ARG(kc_object_name(inv->param)));
    for (applied_policy *at = call->reinvocation->applied; at; at = at->next)
        if (kc_str_eq(at->key, kc_buf_str(&key)))
            return at;
    applied_policy *applied = kc_arena_new(call->arena, applied_policy);
    applied->key = kc_arena_str(call->arena, kc_buf_str(&key));
    applied->next = call->reinvocation->applied;
    call->reinvocation->applied = applied;
    return applied;
}

/* The object has changed since policies were applied. */
static void require_reinvocation(kc__rest_call *call)
{
    for (applied_policy *at = call->reinvocation->applied; at; at = at->next) {
        at->reinvoke = at->reinvoke || at->invoked;
        at->invoked = false;
    }
}

static void begin_reinvocation(mutation_run *run)
{
    kc__rest_call *call = run->call;
    if (!call->reinvoking)
        kc__admission_reinvocation_release(call);
    if (!call->reinvocation)
        call->reinvocation = kc_arena_new(call->arena, kc__admission_reinvocation);
    if (call->reinvoking && call->reinvocation->output &&
        !kc_object_equal(call->reinvocation->output, run->about.object, NULL))
        require_reinvocation(call);
}

void kc__admission_reinvocation_release(kc__rest_call *call)
{
    if (call->reinvocation)
        kc_object_unref(call->reinvocation->output);
    call->reinvocation = NULL;
}

/* ---- applying ---- */

static void set_object(mutation_run *run, kc_object *object)
{
    kc_object_unref(run->about.object);
    run->about.object = object;
}

/* The same for a resource with a conversion webhook: it converts the object to the version of the
 * draft. */
static kc__rest_verdict take_remote(mutation_run *run, const kc__resource *as,
                                    const kc_object *decoded, kc_error *err)
{
    kc__draft draft = {0};
    kc_object *own = NULL;
    kc__rest_verdict verdict = KC__REST_FAIL;
    kc__draft_set(&draft, decoded);
    const kc_object *defaulted =
        as->ops->default_(as, &draft, err) < 0 ? NULL : kc__draft_freeze(&draft, as, err);
    if (defaulted)
        verdict = kc__admission_versions_get(run->call, &run->about, defaulted, run->about.resource,
                                             &own, err);
    if (verdict == KC__REST_NEXT) {
        kc__draft_set(&run->target, own);
        set_object(run, own);
        kc__admission_evaluation_replace(&run->ev, kc_object_ref(defaulted));
    }
    kc__draft_clear(&draft);
    return verdict;
}

/* Defaults a mutated object, and shows it to the mutations that follow. KC__REST_NEXT,
 * KC__REST_FAIL with `err`, KC__REST_PENDING or KC__REST_ON_LOOP. */
static kc__rest_verdict take_mutated(mutation_run *run, const kc__resource *as,
                                     const kc_object *decoded, kc_error *err)
{
    kc__draft draft = {0};
    kc_object *converted = NULL;
    if (kc__admission_is_remote(&run->about, decoded, run->about.resource))
        return take_remote(run, as, decoded, err);
    const int result = kc__admission_default_patched(&run->about, as, decoded, &draft, err);
    const kc_object *target = result < 0 ? NULL : kc__draft_freeze(&draft, run->type, err);
    kc_object *shown = target ? kc__admission_show_target(&run->about, target, err) : NULL;
    if (!shown || kc__admission_convert(&run->about, shown, as, &converted, err) < 0) {
        kc_object_unref(shown);
        kc__draft_clear(&draft);
        return KC__REST_FAIL;
    }
    kc__draft_set(&run->target, target);
    kc__draft_clear(&draft);
    set_object(run, shown);
    kc__admission_evaluation_replace(&run->ev, converted);
    return KC__REST_NEXT;
}

static void count_mutation(mutation_run *run, const invocation *inv, kc_str why, int64_t took)
{
    kc_vec_push(&run->checks,
                (kc__admission_policy_check){.policy = inv->policy->name,
                                             .binding = inv->binding->name,
                                             .message = kc_arena_str(run->call->arena, why),
                                             .took = took});
}

/* A JSON patch that makes an object of another type is an error of the server. */
static kc__rest_verdict refuse_patched(mutation_run *run, const char *why)
{
    kc__rest_fail(run->call, KC_INTERNAL, "Internal error occurred: %s", why);
    kc_error_add_cause(&run->call->error, "", (kc_str){0}, kc_cstr(why));
    return KC__REST_FAIL;
}

/* KC__REST_NEXT, also for a mutation that failed; KC__REST_FAIL; or the verdict with which the
 * phase starts over. */
static kc__rest_verdict apply_mutation(mutation_run *run, const invocation *inv,
                                       const kc_value *params,
                                       const kc__admission_mutation *mutation)
{
    const int64_t started = kc_clock_now(run->call->api->clock);
    kc_scoped(kc_buf) why = {0};
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_object) *mutated = NULL;
    kc__admission_activation a;
    kc__admission_activate(
        &a, &run->ev, &(kc__admission_activation_opts){.policy = inv->policy, .params = params});
    const bool own_kind = kc__admission_has_own_kind(&run->about);
    const kc__admission_mutated result =
        kc__admission_mutation_apply(&a, mutation, own_kind ? run->type : inv->as, &mutated, &why);
    if (result == KC__ADMISSION_MUTATION_OFFLOAD)
        return KC__REST_ON_WORKER;
    kc_auto(kc_object) *decoded =
        mutated ? kc__admission_decode_patched(&run->about, run->type, inv->as, mutated,
                                               mutation->is_json_patch, &err)
                : NULL;
    if (mutated && !decoded && mutation->is_json_patch)
        return refuse_patched(run, kc_error_text(&err));
    const kc__rest_verdict taken =
        decoded ? take_mutated(run, inv->as, decoded, &err) : KC__REST_FAIL;
    if (taken == KC__REST_PENDING || taken == KC__REST_ON_LOOP)
        return taken;
    if (mutated && taken == KC__REST_FAIL)
        kc_buf_puts(&why, kc_error_text(&err));
    run->dirty = run->dirty || !why.n;
    if (why.n)
        add_error(run, inv->policy, inv->binding, "", kc_buf_cstr(&why));
    count_mutation(run, inv, kc_buf_str(&why), kc_clock_now(run->call->api->clock) - started);
    return KC__REST_NEXT;
}

/* Whether the match conditions let the policy apply. */
static kc__admission_conditions_result conditions_match(mutation_run *run, const invocation *inv,
                                                        const kc_value *params)
{
    kc__admission_activation a;
    kc_str error = {0};
    size_t n_errors = 0;
    if (!inv->policy->conditions.n)
        return KC__ADMISSION_CONDITIONS_MATCH;
    const int64_t started = kc_clock_now(run->call->api->clock);
    kc__admission_activate(&a, &run->ev,
                           &(kc__admission_activation_opts){
                               .policy = inv->policy, .params = params, .for_conditions = true});
    const kc__admission_conditions_result result = kc__admission_conditions_match(
        &a, &inv->policy->conditions, inv->policy->ignores_failures, &error, &n_errors);
    if (result == KC__ADMISSION_CONDITIONS_FAIL)
        add_error(run, inv->policy, inv->binding, "", kc_arena_str(run->call->arena, error).p);
    if (result == KC__ADMISSION_CONDITIONS_FAIL || result == KC__ADMISSION_CONDITIONS_EXCLUDE)
        kc__admission_conditions_count(kc__admission_policies_metrics(run->call->api->policies),
                                       &(kc__admission_condition_check){
                                           .name = inv->policy->name,
                                           .kind = "policy",
                                           .type = "validate",
                                           .operation = run->about.operation,
                                           .n_errors = n_errors,
                                           .took = kc_clock_now(run->call->api->clock) - started});
    return result;
}

static kc__rest_verdict apply_mutations(mutation_run *run, const invocation *inv,
                                        const kc_value *params)
{
    kc__rest_verdict verdict = KC__REST_NEXT;
    kc_auto(kc_object) *before = kc_object_ref(run->about.object);
    for (size_t i = 0; i < inv->policy->n_mutations && verdict == KC__REST_NEXT; i++)
        verdict = apply_mutation(run, inv, params, &inv->policy->mutations[i]);
    if (verdict == KC__REST_NEXT && !kc_object_equal(before, run->about.object, NULL)) {
        run->changed = true;
        require_reinvocation(run->call);
    }
    return verdict;
}

static kc__rest_verdict invoke_policy(mutation_run *run, const invocation *inv)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_view) *param = inv->param ? kc_view_of(inv->param) : NULL;
    const kc_value *params = param ? kc_view_root(param) : NULL;
    kc__admission_evaluation_clear(&run->ev);
    if (kc__work_is_over())
        return kc__rest_fail_timeout(run->call);
    const kc__rest_verdict shown = kc__admission_evaluation_show(&run->ev, inv->as, &err);
    if (shown == KC__REST_FAIL) {
        add_error(run, inv->policy, NULL, OF_POLICY, kc_error_text(&err));
        return KC__REST_NEXT;
    }
    if (shown != KC__REST_NEXT)
        return shown;
    switch (conditions_match(run, inv, params)) {
    case KC__ADMISSION_CONDITIONS_OFFLOAD: return KC__REST_ON_WORKER;
    case KC__ADMISSION_CONDITIONS_MATCH: break;
    default: return KC__REST_NEXT;
    }
    applied_policy *applied = applied_of(run, inv);
    if (run->call->reinvoking && !applied->reinvoke)
        return KC__REST_NEXT;
    const kc__rest_verdict verdict = apply_mutations(run, inv, params);
    applied->invoked = inv->policy->reinvoked;
    return verdict;
}

/* ---- the plugin ---- */

static kc__rest_verdict refuse_without_namespace(mutation_run *run)
{
    kc__rest_fail(run->call, KC_NOT_FOUND, "%s", namespace_error(run));
    kc_error_about(&run->call->error, (kc_str){0}, KC_STR("namespaces"), run->about.ns);
    return KC__REST_FAIL;
}

static kc__rest_verdict run_policies(mutation_run *run, const kc__admission_policy_set *set)
{
    kc__rest_verdict verdict = select_policies(run, &set->mutating);
    if (verdict != KC__REST_NEXT)
        return verdict;
    if (run->invocations.n && run->ev.has_space && !run->about.space)
        return refuse_without_namespace(run);
    begin_reinvocation(run);
    kc_vec_each (&run->invocations, inv)
        if (verdict == KC__REST_NEXT)
            verdict = invoke_policy(run, inv);
    return verdict;
}

/* Replaces the draft, or the body. */
static void store_mutated(mutation_run *run)
{
    kc__rest_call *call = run->call;
    if (!run->of_body) {
        call->admission_patched = call->admission_patched || run->changed;
        kc__draft_set(&call->draft, run->target.object);
        return;
    }
    kc_object_unref(call->subresource_body);
    call->subresource_body = kc_object_ref(run->target.object);
}

static void commit_mutations(mutation_run *run)
{
    kc__rest_call *call = run->call;
    kc_vec_each (&run->checks, check)
        kc__admission_policy_count(kc__admission_policies_metrics(call->api->policies), check);
    kc_object_unref(call->reinvocation->output);
    call->reinvocation->output = kc_object_ref(run->about.object);
    if (!run->dirty)
        return;
    require_reinvocation(call);
    store_mutated(run);
    call->policies_changed = call->policies_changed || !call->reinvoking;
}

static void mutation_run_done(mutation_run *run)
{
    kc_vec_each (&run->invocations, inv)
        kc_object_unref(inv->param);
    kc_vec_done(&run->invocations);
    kc_vec_done(&run->checks);
    kc_vec_done(&run->errors);
    kc__admission_evaluation_done(&run->ev);
    kc__draft_clear(&run->target);
    kc_object_unref(run->about.object);
    kc_object_unref(run->about.old);
    kc_object_unref(run->about.space);
}

/* False: call->error. */
static bool mutation_run_init(mutation_run *run, kc__rest_call *call)
{
    const bool of_body = call->verb->replaces_object;
    const bool has_old = call->current && !of_body;
    kc_object *old = has_old ? kc__admission_shown(call, call->current) : NULL;
    kc_object *object = of_body           ? kc__admission_shown_body(call)
                        : !has_old || old ? kc__admission_shown_draft(call)
                                          : NULL;
    if (!object) {
        kc_object_unref(old);
        return false;
    }
    *run = (mutation_run){
        .call = call,
        .about = kc__admission_attributes_of(call, object, old),
        .of_body = of_body,
        .type = of_body || kc__rest_is_scale(call) ? call->request_resource : call->resource,
    };
    return true;
}

kc__rest_verdict kc__admission_policy_set_mutate(const kc__admission_policy_set *set,
                                                 kc__rest_call *call)
{
    mutation_run run;
    if (!mutation_run_init(&run, call))
        return KC__REST_FAIL;
    kc__admission_evaluation_init(&run.ev, call, &run.about);
    kc__rest_verdict verdict = run_policies(&run, set);
    if (verdict == KC__REST_NEXT)
        commit_mutations(&run);
    if (verdict == KC__REST_NEXT && run.errors.n)
        verdict = refuse_mutation(&run);
    mutation_run_done(&run);
    return verdict;
}
