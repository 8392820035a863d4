/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policy_phases.c: when admission policies apply to a request, and with which objects. They see
 * what webhooks see (admission/chain/attributes.h).
 *
 * Policies, their bindings and reviews of access are exempt, so that a policy cannot prevent its
 * own repair.
 */
#include "apiserver/admission/policies/policy_phases.h"

#include "apiserver/admission/chain/object_versions.h"
#include "apiserver/admission/policies/policy_check.h"
#include "apiserver/admission/policies/policy_mutate.h"
#include "apiserver/admission/policies/policy_registry.h"

static bool is_exempt_from_policies(const kc__resource *resource)
{
    static const char *const policies[] = {
        "validatingadmissionpolicies", "validatingadmissionpolicybindings",
        "mutatingadmissionpolicies", "mutatingadmissionpolicybindings", NULL};
    static const char *const reviews[] = {"selfsubjectreviews",
                                          "tokenreviews",
                                          "localsubjectaccessreviews",
                                          "selfsubjectaccessreviews",
                                          "selfsubjectrulesreviews",
                                          "subjectaccessreviews",
                                          NULL};
    const kc_str plural = kc_cstr(resource->plural);
    if (!strcmp(resource->group, "admissionregistration.k8s.io"))
        return kc_str_is_any(plural, policies);
    return (!strcmp(resource->group, "authentication.k8s.io") ||
            !strcmp(resource->group, "authorization.k8s.io")) &&
           kc_str_is_any(plural, reviews);
}

/* A reference that a worker thread drops; a loop keeps its own (kc__rest_context). */
typedef struct policy_hold {
    kc__admission_policy_set *own;
} policy_hold;

static const kc__admission_policy_set *hold_policies(kc__rest_call *call, policy_hold *hold)
{
    hold->own = NULL;
    if (is_exempt_from_policies(call->resource))
        return NULL;
    return kc__admission_policies_current(call->api->policies,
                                          call->on_worker ? &hold->own : &call->context->policies);
}

static void release_policies(policy_hold *hold)
{
    kc__admission_policy_set_unref(hold->own);
}

/* Ends a phase, unless it starts over. */
static kc__rest_verdict end_policies(kc__rest_call *call, policy_hold *hold,
                                     kc__rest_verdict verdict)
{
    if (verdict == KC__REST_NEXT || verdict == KC__REST_FAIL)
        kc__admission_versions_release(call);
    release_policies(hold);
    return verdict;
}

static bool may_apply(const kc__admission_bound_policies *policies, const kc__resource *resource)
{
    for (size_t i = 0; i < policies->n; i++)
        if (kc__admission_may_match(&policies->items[i].policy->constraints, resource))
            return true;
    return false;
}

bool kc__admission_policies_exist(kc__rest_call *call)
{
    policy_hold hold;
    const kc__admission_policy_set *set = hold_policies(call, &hold);
    const bool exist = set && may_apply(&set->validating, call->resource);
    release_policies(&hold);
    return exist;
}

/* ---- mutating ---- */

/* Deletions have no object to mutate. When a generated name was taken, webhooks have kept the
 * mutated object as the body. */
static bool may_mutate(const kc__rest_call *call)
{
    return !call->webhooks_done && !call->hooks_mutated && !kc__admission_deletes(call) &&
           !kc__draft_is_empty(&call->draft);
}

static kc__rest_verdict apply_mutating(kc__rest_call *call)
{
    policy_hold hold;
    const kc__admission_policy_set *set = hold_policies(call, &hold);
    kc__rest_verdict verdict = KC__REST_NEXT;
    if (set && may_apply(&set->mutating, call->resource)) {
        verdict = kc__admission_versions_await(call);
        if (verdict == KC__REST_NEXT)
            verdict = kc__admission_policy_set_mutate(set, call);
    }
    return end_policies(call, &hold, verdict);
}

kc__rest_verdict kc__admission_policies_mutate(kc__rest_call *call)
{
    return may_mutate(call) ? apply_mutating(call) : KC__REST_NEXT;
}

kc__rest_verdict kc__admission_policies_mutate_body(kc__rest_call *call)
{
    if (call->body_mutated)
        return KC__REST_NEXT;
    const kc__rest_verdict verdict = apply_mutating(call);
    call->body_mutated = verdict == KC__REST_NEXT;
    return verdict;
}

kc__rest_verdict kc__admission_policies_mutate_body_again(kc__rest_call *call)
{
    call->reinvoking = true;
    const kc__rest_verdict verdict = apply_mutating(call);
    call->reinvoking = false;
    if (verdict == KC__REST_NEXT)
        call->policies_changed = false;
    return verdict;
}

void kc__admission_policies_release(kc__rest_call *call)
{
    kc__admission_reinvocation_release(call);
    kc__admission_versions_release(call);
}

/* ---- validating ---- */

static bool selects(const kc_selector *selector, const kc_object *object)
{
    return object && kc_selector_match(selector, object);
}

/* Whether a policy may match, by its rules and the labels of the object: before the object is
 * converted. A subresource may show another object. */
static bool may_validate(const kc__admission_bound_policies *policies, const kc__rest_call *call)
{
    for (size_t i = 0; i < policies->n; i++) {
        const kc__admission_criteria *criteria = &policies->items[i].policy->constraints;
        if ((call->subresource || kc_selector_is_everything(criteria->objects) ||
             selects(criteria->objects, call->proposed) ||
             selects(criteria->objects, call->current)) &&
            kc__admission_may_match(criteria, call->resource))
            return true;
    }
    return false;
}

static kc__rest_verdict validate_proposed(kc__rest_call *call, const kc__admission_policy_set *set)
{
    const bool deletes = kc__admission_deletes(call);
    kc_auto(kc_object) *old = call->current ? kc__admission_shown(call, call->current) : NULL;
    kc_auto(kc_object) *object = deletes ? NULL : kc__admission_shown_proposed(call);
    if ((call->current && !old) || (!deletes && !object))
        return KC__REST_FAIL;
    kc__admission_attributes about = kc__admission_attributes_of(call, object, old);
    const kc__rest_verdict verdict = kc__admission_policy_set_check(set, call, &about);
    kc_object_unref(about.space);
    return verdict;
}

kc__rest_verdict kc__admission_policies_validate(kc__rest_call *call)
{
    policy_hold hold;
    if (call->webhooks_done)
        return KC__REST_NEXT;
    const kc__admission_policy_set *set = hold_policies(call, &hold);
    kc__rest_verdict verdict = KC__REST_NEXT;
    if (set && may_validate(&set->validating, call)) {
        verdict = kc__admission_versions_await(call);
        if (verdict == KC__REST_NEXT)
            verdict = validate_proposed(call, set);
    }
    return end_policies(call, &hold, verdict);
}

kc__rest_verdict kc__admission_policies_validate_attributes(kc__rest_call *call,
                                                            const kc__admission_attributes *about)
{
    policy_hold hold;
    const kc__admission_policy_set *set = hold_policies(call, &hold);
    kc__rest_verdict verdict = KC__REST_NEXT;
    if (set && may_apply(&set->validating, call->resource)) {
        verdict = kc__admission_versions_await(call);
        if (verdict == KC__REST_NEXT)
            verdict = kc__admission_policy_set_check(set, call, about);
    }
    return end_policies(call, &hold, verdict);
}
