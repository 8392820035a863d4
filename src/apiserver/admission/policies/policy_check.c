/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policy_check.c: the plugin ValidatingAdmissionPolicy: which policies apply to a request, and what
 * follows from their decisions.
 *
 *     policy matches? ─▶ binding matches? ─▶ for each parameter: validate ─▶ deny, warn, audit
 *
 * All policies are evaluated, so that warnings and audit annotations are complete; the response
 * reports the first denial. Policies and bindings are in the order of their names.
 */
#include "apiserver/admission/policies/policy_check.h"

#include "apiserver/admission/policies/policy_registry.h"
#include "base/work.h"
#include "kc/json.h"

/* The first denial; texts are in the arena of the call. */
typedef struct policy_denial {
    bool exists;
    kc_str policy, binding, message, reason;
} policy_denial;

typedef struct policy_run {
    kc__rest_call *call;
    kc__admission_evaluation ev;
    policy_denial denial;
    kc_map annotations; /* Of the current policy: kc_buf by key. */
    /* Counted at the end, because a worker may start over. */
    KC_VEC(kc__admission_policy_check) checks;
} policy_run;

static void deny_request(policy_run *run, const kc__admission_policy *policy,
                         const kc__admission_binding *binding, kc_str message, kc_str reason)
{
    kc_arena *arena = run->call->arena;
    if (run->denial.exists)
        return;
    run->denial =
        (policy_denial){.exists = true,
                        .policy = kc_arena_str(arena, policy->name),
                        .binding = binding ? kc_arena_str(arena, binding->name) : (kc_str){0},
                        .message = kc_arena_str(arena, message),
                        .reason = kc_arena_str(arena, reason)};
}

/* A policy or binding that cannot be applied. */
static void report_configuration(policy_run *run, const kc__admission_policy *policy,
                                 const kc__admission_binding *binding, const char *why)
{
    if (policy->ignores_failures)
        return;
    const char *text = kc_arena_printf(run->call->arena, "failed to configure %s: %s",
                                       binding ? "binding" : "policy", why);
    deny_request(run, policy, binding, kc_cstr(text), (kc_str){0});
}

static const char *missing_namespace(policy_run *run)
{
    return kc_arena_printf(run->call->arena, "namespaces \"%.*s\" not found",
                           KC_ARG(run->ev.about->ns));
}

/* ---- decisions ---- */

enum { MESSAGE_START = 64 }; /* Decides about the error type. */

static void count_decision(policy_run *run, const kc__admission_policy *policy,
                           const kc__admission_binding *binding, const char *action, kc_str message,
                           int64_t took)
{
    const kc_str start = kc_str_sub(message, 0, KC_MIN(message.n, (size_t)MESSAGE_START));
    kc_vec_push(&run->checks,
                (kc__admission_policy_check){.policy = policy->name,
                                             .binding = binding->name,
                                             .action = action,
                                             .message = kc_arena_str(run->call->arena, start),
                                             .took = took});
}

static void count_checks(const policy_run *run)
{
    kc_vec_each (&run->checks, check)
        kc__admission_policy_count(kc__admission_policies_metrics(run->call->api->policies), check);
}

static void warn_client(policy_run *run, const kc__admission_policy *policy,
                        const kc__admission_binding *binding, kc_str message)
{
    kc_scoped(kc_buf) text = {0};
    kc_buf_printf(&text,
                  "Validation failed for ValidatingAdmissionPolicy '%.*s' with binding '%.*s': "
                  "%.*s",
                  KC_ARG(policy->name), KC_ARG(binding->name), KC_ARG(message));
    kc__rest_warn(run->call, kc_buf_str(&text));
}

static void write_failure(kc_buf *out, const kc__admission_binding *binding, size_t index,
                          kc_str message)
{
    size_t i = 0;
    kc_buf_puts(out, "[{\"message\":");
    kc_json_quote(out, message);
    kc_buf_puts(out, ",\"policy\":");
    kc_json_quote(out, binding->policy);
    kc_buf_puts(out, ",\"binding\":");
    kc_json_quote(out, binding->name);
    kc_buf_printf(out, ",\"expressionIndex\":%zu,\"validationActions\":[", index);
    kc_value_each_item (binding->action_list, action) {
        kc_buf_puts(out, i++ ? "," : "");
        kc_json_quote(out, kc_value_as_str(action));
    }
    kc_buf_puts(out, "]}]");
}

static void audit_failure(policy_run *run, const kc__admission_binding *binding, size_t index,
                          kc_str message)
{
    kc_scoped(kc_buf) value = {0};
    if (!run->call->api->audit)
        return;
    write_failure(&value, binding, index, message);
    kc__rest_audit(run->call, KC_STR("validation.policy.admission.k8s.io/validation_failure"),
                   kc_buf_str(&value));
}

static void enforce_decision(policy_run *run, const kc__admission_policy *policy,
                             const kc__admission_binding *binding, size_t index,
                             const kc__admission_decision *decision)
{
    if (!decision->denied) {
        if (decision->failed)
            count_decision(run, policy, binding, "allow", decision->message, decision->took);
        return;
    }
    for (size_t i = 0; i < binding->n_actions; i++) {
        const char *action = "deny";
        switch (binding->actions[i]) {
        case KC__ADMISSION_WARN:
            action = "warn";
            warn_client(run, policy, binding, decision->message);
            break;
        case KC__ADMISSION_AUDIT:
            action = "audit";
            audit_failure(run, binding, index, decision->message);
            break;
        default: deny_request(run, policy, binding, decision->message, decision->reason); break;
        }
        count_decision(run, policy, binding, action, decision->message, decision->took);
    }
}

/* ---- audit annotations ---- */

/* Several parameters may give a key several values; equal ones count once. */
static void collect_annotation(policy_run *run, kc_str key, kc_str value)
{
    kc_buf *values = kc_map_get(&run->annotations, key);
    if (!values) {
        values = kc_arena_new(run->call->arena, kc_buf);
        kc_map_put(&run->annotations, kc_arena_str(run->call->arena, key), values);
    }
    for (kc_str rest = kc_buf_str(values); rest.n;) {
        const ptrdiff_t end = kc_str_find(rest, '\0');
        if (kc_str_eq(kc_str_sub(rest, 0, (size_t)end), value))
            return;
        rest = kc_str_sub(rest, (size_t)end + 1, rest.n);
    }
    kc_buf_append(values, value);
    kc_buf_putc(values, '\0');
}

static void publish_annotations(policy_run *run, const kc__admission_policy *policy)
{
    kc_map_each (&run->annotations, at) {
        kc_buf *values = at->value;
        kc_scoped(kc_buf) key = {0}, joined = {0};
        kc_buf_printf(&key, "%.*s/%.*s", KC_ARG(policy->name), KC_ARG(at->key));
        for (size_t i = 0; i + 1 < values->n; i++)
            if (values->p[i])
                kc_buf_putc(&joined, values->p[i]);
            else
                kc_buf_puts(&joined, ", ");
        kc__rest_audit(run->call, kc_buf_str(&key), kc_buf_str(&joined));
        kc_buf_done(values);
    }
    kc_map_clear(&run->annotations);
}

static void enforce_annotation(policy_run *run, const kc__admission_policy *policy,
                               const kc__admission_binding *binding,
                               const kc__admission_annotation_result *annotation)
{
    if (annotation->action == KC__ADMISSION_ANNOTATION_PUBLISHED && run->call->api->audit)
        collect_annotation(run, annotation->key, annotation->text);
    if (annotation->action != KC__ADMISSION_ANNOTATION_FAILED)
        return;
    deny_request(run, policy, binding, annotation->text, (kc_str){0});
    count_decision(run, policy, binding, "deny", annotation->text, annotation->took);
}

/* ---- policies ---- */

/* KC__REST_NEXT, KC__REST_ON_WORKER or KC__REST_FAIL. */
static kc__rest_verdict check_param(policy_run *run, const kc__admission_policy *policy,
                                    const kc__admission_binding *binding, const kc_object *param)
{
    kc__admission_validated result;
    kc_auto(kc_view) *view = param ? kc_view_of(param) : NULL;
    kc__admission_evaluation_clear(&run->ev);
    if (kc__work_is_over())
        return kc__rest_fail_timeout(run->call);
    if (!kc__admission_policy_validate(&run->ev, policy, view ? kc_view_root(view) : NULL, &result))
        return KC__REST_ON_WORKER;
    for (size_t i = 0; i < result.n_decisions; i++)
        enforce_decision(run, policy, binding, i, &result.decisions[i]);
    for (size_t i = 0; i < result.n_annotations; i++)
        enforce_annotation(run, policy, binding, &result.annotations[i]);
    return KC__REST_NEXT;
}

static kc__rest_verdict refuse_missing_namespace(policy_run *run)
{
    kc__rest_fail(run->call, KC_NOT_FOUND, "%s", missing_namespace(run));
    kc_error_about(&run->call->error, (kc_str){0}, KC_STR("namespaces"), run->ev.about->ns);
    return KC__REST_FAIL;
}

/* Shows the objects in the version that the policy matches. KC__REST_NEXT without *ret_shown: the
 * objects cannot be converted, and that is reported. */
static kc__rest_verdict show_objects(policy_run *run, const kc__admission_policy *policy,
                                     const kc__admission_binding *binding, const kc__resource *as,
                                     bool *ret_shown)
{
    kc_scoped(kc_error) err = {0};
    const kc__rest_verdict verdict = kc__admission_evaluation_show(&run->ev, as, &err);
    *ret_shown = verdict == KC__REST_NEXT;
    if (verdict != KC__REST_FAIL)
        return verdict;
    report_configuration(run, policy, binding,
                         kc_arena_printf(run->call->arena, "failed to convert object version: %s",
                                         kc_error_text(&err)));
    return KC__REST_NEXT;
}

/* The parameter is null: the usual case, without a list. */
static kc__rest_verdict check_without_params(policy_run *run, const kc__admission_policy *policy,
                                             const kc__admission_binding *binding,
                                             const kc__resource *as)
{
    bool shown;
    const kc__rest_verdict verdict = show_objects(run, policy, binding, as, &shown);
    if (!shown)
        return verdict;
    if (run->ev.has_space && !run->ev.about->space)
        return refuse_missing_namespace(run);
    if (kc__admission_policy_excludes(&run->ev, policy))
        return KC__REST_NEXT;
    return check_param(run, policy, binding, NULL);
}

static kc__rest_verdict check_binding(policy_run *run, const kc__admission_policy *policy,
                                      const kc__admission_binding *binding, const kc__resource *as,
                                      const kc__resource *param_kind)
{
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc__admission_params) params = {0};
    bool shown = true;
    if (!param_kind || !binding->param_ref)
        return check_without_params(run, policy, binding, as);
    kc__rest_verdict verdict =
        kc__admission_params_collect(&run->ev, param_kind, binding, &params, &err);
    if (verdict == KC__REST_FAIL) {
        report_configuration(run, policy, binding, kc_error_text(&err));
        return KC__REST_NEXT;
    }
    if (verdict == KC__REST_NEXT && params.objects.n)
        verdict = show_objects(run, policy, binding, as, &shown);
    if (verdict != KC__REST_NEXT || !shown)
        return verdict;
    if (run->ev.has_space && !run->ev.about->space)
        return refuse_missing_namespace(run);
    for (size_t i = 0; i < params.objects.n && verdict == KC__REST_NEXT; i++)
        verdict = check_param(run, policy, binding, params.objects.items[i]);
    return verdict;
}

/* Whether a binding matches; reports a namespace that does not exist. */
static bool binding_matches(policy_run *run, const kc__admission_policy *policy,
                            const kc__admission_binding *binding)
{
    const kc__resource *as;
    if (!binding->has_match)
        return true;
    const kc__admission_match_result match =
        kc__admission_match(&binding->match, run->ev.about, &as);
    if (match == KC__ADMISSION_MATCH_NO_NAMESPACE)
        report_configuration(run, policy, binding, missing_namespace(run));
    return match == KC__ADMISSION_MATCH;
}

static kc__rest_verdict check_policy(policy_run *run, const kc__admission_bound_policy *bound)
{
    const kc__admission_policy *policy = bound->policy;
    kc_scoped(kc_error) err = {0};
    kc__rest_verdict verdict = KC__REST_NEXT;
    const kc__resource *as, *param_kind;
    const kc__admission_match_result match =
        kc__admission_match(&policy->constraints, run->ev.about, &as);
    if (match == KC__ADMISSION_NO_MATCH)
        return KC__REST_NEXT;
    if (match == KC__ADMISSION_MATCH_NO_NAMESPACE) {
        report_configuration(run, policy, NULL, missing_namespace(run));
        return KC__REST_NEXT;
    }
    if (kc__admission_params_resource(run->call, policy, &param_kind, &err) < 0) {
        report_configuration(run, policy, NULL, kc_error_text(&err));
        return KC__REST_NEXT;
    }
    for (size_t i = 0; i < bound->bindings.n && verdict == KC__REST_NEXT; i++)
        if (binding_matches(run, policy, bound->bindings.items[i]))
            verdict = check_binding(run, policy, bound->bindings.items[i], as, param_kind);
    publish_annotations(run, policy);
    return verdict;
}

/* ---- the response ---- */

static kc_reason reason_of(kc_str text)
{
    return kc_str_is(text, "Forbidden")               ? KC_FORBIDDEN
           : kc_str_is(text, "RequestEntityTooLarge") ? KC_TOO_LARGE
                                                      : KC_INVALID;
}

static kc__rest_verdict refuse_request(policy_run *run)
{
    const kc__admission_attributes *about = run->ev.about;
    const policy_denial *denial = &run->denial;
    const kc__resource *r = about->resource;
    kc_error *error = &run->call->error;
    const kc_str name = about->name.n ? about->name : KC_STR("Unknown");
    kc_scoped(kc_buf) message = {0};
    kc_buf_printf(&message, "ValidatingAdmissionPolicy '%.*s'", KC_ARG(denial->policy));
    if (denial->binding.n)
        kc_buf_printf(&message, " with binding '%.*s'", KC_ARG(denial->binding));
    kc_buf_printf(&message, " denied request: %.*s", KC_ARG(denial->message));
    kc__rest_fail(run->call, reason_of(denial->reason), "%s%s%s \"%.*s\" is forbidden: %s",
                  r->plural, *r->group ? "." : "", r->group, KC_ARG(name), kc_buf_cstr(&message));
    kc_error_about(error, kc_cstr(r->group), kc_cstr(r->plural), name);
    kc_error_add_cause(error, "", (kc_str){0}, kc_buf_str(&message));
    return KC__REST_FAIL;
}

kc__rest_verdict kc__admission_policy_set_check(const kc__admission_policy_set *set,
                                                kc__rest_call *call,
                                                const kc__admission_attributes *about)
{
    policy_run run = {.call = call};
    kc__rest_verdict verdict = KC__REST_NEXT;
    const size_t warnings = call->warnings.n;
    kc__admission_evaluation_init(&run.ev, call, about);
    for (size_t i = 0; i < set->validating.n && verdict == KC__REST_NEXT; i++)
        verdict = check_policy(&run, &set->validating.items[i]);
    kc__admission_evaluation_done(&run.ev);
    kc_map_done(&run.annotations);
    if (verdict == KC__REST_NEXT || verdict == KC__REST_FAIL)
        count_checks(&run);
    else
        call->warnings.n = warnings; /* The phase starts over, and adds them again. */
    kc_vec_done(&run.checks);
    if (verdict == KC__REST_NEXT && run.denial.exists)
        verdict = refuse_request(&run);
    return verdict;
}
