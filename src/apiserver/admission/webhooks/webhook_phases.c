/* SPDX-License-Identifier: Apache-2.0 */
/*
 * webhook_phases.c: when admission webhooks are called for a request, and with which objects.
 *
 *     create, update, patch    mutating: the draft, in `mutated`; validating: in `admitted`
 *     delete                   both with the stored object; of a collection one by one
 *     binding, eviction        both with the body, in `proposed`, and policies with it
 *
 * Mutating webhooks see a new object as the client sent it: uid and generated name are set later,
 * in `prepared`. Webhook configurations and admission policies are never sent to webhooks, so that
 * a broken one can be repaired.
 */
#include "apiserver/admission/webhooks/webhook_phases.h"

#include "apiserver/admission/chain/admission.h"
#include "apiserver/admission/chain/attributes.h"
#include "apiserver/admission/policies/policy_phases.h"
#include "apiserver/admission/webhooks/dispatch.h"

#include "kc/arena.h"

/* ---- selecting webhooks ---- */

/* The webhooks that a request may match; NULL: none. The caller drops the reference. */
static kc__admission_webhook_set *hooks_for(kc__rest_call *call)
{
    return kc__admission_is_exempt(call) ? NULL : kc__admission_webhooks_current(call->api->hooks);
}

bool kc__admission_webhooks_exist(kc__rest_call *call)
{
    kc_auto(kc__admission_webhook_set) *set = hooks_for(call);
    return set != NULL;
}

/* Starts a dispatch: call->dispatch. */
static kc__admission_dispatch *begin_dispatch(kc__rest_call *call, kc__admission_webhook_set *set,
                                              const kc_object *object, const kc_object *old)
{
    kc__admission_attributes about = kc__admission_attributes_of(call, object, old);
    call->dispatch = kc__admission_dispatch_new(call, kc__admission_webhook_set_ref(set), &about);
    kc_object_unref(about.space);
    return call->dispatch;
}

/* Whether the dispatch has ended, and does not wait or need another thread. */
static bool is_final(kc__rest_verdict verdict)
{
    return verdict == KC__REST_NEXT || verdict == KC__REST_FAIL;
}

/* Runs call->dispatch; ends it unless it waits. */
static kc__rest_verdict run_dispatch(kc__rest_call *call)
{
    kc__rest_verdict verdict = kc__admission_dispatch_run(call->dispatch);
    if (is_final(verdict))
        kc__admission_dispatch_end(call);
    return verdict;
}

/* ---- mutating ---- */

static kc__rest_verdict begin_mutating(kc__rest_call *call, kc__admission_webhook_set *set)
{
    const bool changes = !kc__admission_deletes(call);
    kc_auto(kc_object) *old = call->current ? kc__admission_shown(call, call->current) : NULL;
    kc_auto(kc_object) *object = changes ? kc__admission_shown_draft(call) : NULL;
    if ((call->current && !old) || (changes && !object))
        return KC__REST_FAIL;
    kc__admission_dispatch *d = begin_dispatch(call, set, object, old);
    d->target = changes ? &call->draft : NULL;
    d->target_type = kc__rest_is_scale(call) ? call->request_resource : call->resource;
    return KC__REST_NEXT;
}

/* If a generated name is taken, the next one is tried without calling webhooks again. */
static void keep_mutated_body(kc__rest_call *call)
{
    if (kc__admission_deletes(call) || call->current || call->verb->bit != KC__VERB_CREATE)
        return;
    call->hooks_mutated = true;
    kc_object_unref(call->body);
    call->body = kc_object_ref(kc__draft_freeze(&call->draft, call->resource, NULL));
}

kc__rest_verdict kc__admission_webhooks_mutate(kc__rest_call *call)
{
    if (!call->dispatch) {
        const bool called = call->webhooks_done || call->hooks_mutated;
        kc_auto(kc__admission_webhook_set) *set = called ? NULL : hooks_for(call);
        if (!set || !set->mutating.n)
            return KC__REST_NEXT;
        if (call->on_worker)
            return KC__REST_ON_LOOP;
        if (begin_mutating(call, set) != KC__REST_NEXT)
            return KC__REST_FAIL;
    }
    kc__rest_verdict verdict = run_dispatch(call);
    if (verdict == KC__REST_NEXT)
        keep_mutated_body(call);
    return verdict;
}

/* ---- validating ---- */

static kc__rest_verdict begin_validating(kc__rest_call *call, kc__admission_webhook_set *set)
{
    kc_auto(kc_object) *old = call->current ? kc__admission_shown(call, call->current) : NULL;
    kc_auto(kc_object) *object =
        kc__admission_deletes(call) ? NULL : kc__admission_shown_proposed(call);
    if ((call->current && !old) || (!kc__admission_deletes(call) && !object))
        return KC__REST_FAIL;
    kc__admission_dispatch_validate_next(begin_dispatch(call, set, object, old));
    return KC__REST_NEXT;
}

kc__rest_verdict kc__admission_webhooks_validate(kc__rest_call *call)
{
    if (!call->dispatch) {
        kc_auto(kc__admission_webhook_set) *set = call->webhooks_done ? NULL : hooks_for(call);
        if (!set || !set->validating.n)
            return KC__REST_NEXT;
        if (call->on_worker)
            return KC__REST_ON_LOOP;
        if (begin_validating(call, set) != KC__REST_NEXT)
            return KC__REST_FAIL;
    }
    return run_dispatch(call);
}

/* ---- a Binding or an Eviction ---- */

/* Calls mutating webhooks, then `mutated`, then validating webhooks, in one dispatch. */
static kc__rest_verdict run_both_kinds(
    kc__rest_call *call, kc__rest_verdict (*mutated)(kc__admission_dispatch *dispatch))
{
    if (!call->dispatch->validates) {
        kc__rest_verdict verdict = kc__admission_dispatch_run(call->dispatch);
        if (verdict == KC__REST_NEXT)
            verdict = mutated(call->dispatch);
        if (verdict == KC__REST_FAIL)
            kc__admission_dispatch_end(call);
        if (verdict != KC__REST_NEXT)
            return verdict;
        kc__admission_dispatch_validate_next(call->dispatch);
    }
    return run_dispatch(call);
}

static kc__rest_verdict begin_sent(kc__rest_call *call, kc__admission_webhook_set *set)
{
    kc_auto(kc_object) *sent = kc__admission_shown_body(call);
    if (!sent)
        return KC__REST_FAIL;
    kc__admission_dispatch *d = begin_dispatch(call, set, sent, NULL);
    d->target = &d->own_target;
    d->target_type = call->request_resource;
    kc__draft_set(d->target, sent);
    return KC__REST_NEXT;
}

static kc__rest_verdict check_sent(kc__rest_call *call)
{
    return call->verb->check_body ? call->verb->check_body(call) : KC__REST_NEXT;
}

static kc__rest_verdict take_mutated_sent(kc__admission_dispatch *d)
{
    kc__rest_call *call = d->call;
    kc_object_unref(call->subresource_body);
    call->subresource_body = kc_object_ref(d->target->object);
    kc_object_unref(d->about.object);
    d->about.object = kc_object_ref(call->subresource_body);
    kc__admission_attributes_rename(call, &d->about);
    const kc__rest_verdict verdict = check_sent(call);
    return verdict == KC__REST_NEXT ? kc__admission_policies_validate_attributes(call, &d->about)
                                    : verdict;
}

/* Policies alone, without webhooks. */
static kc__rest_verdict validate_sent(kc__rest_call *call)
{
    const kc__rest_verdict checked = check_sent(call);
    if (checked != KC__REST_NEXT || !kc__admission_policies_exist(call))
        return checked;
    kc_auto(kc_object) *sent = kc__admission_shown_body(call);
    if (!sent)
        return KC__REST_FAIL;
    kc__admission_attributes about = kc__admission_attributes_of(call, sent, NULL);
    const kc__rest_verdict verdict = kc__admission_policies_validate_attributes(call, &about);
    kc_object_unref(about.space);
    return verdict;
}

/* Runs plugins, applies mutating policies and begins to call webhooks, if there are any. Policies
 * that a change of a later one concerns are applied again, with webhooks in their second round. */
static kc__rest_verdict mutate_sent(kc__rest_call *call)
{
    kc__rest_verdict verdict = kc__admission_run_body(call);
    if (verdict == KC__REST_NEXT)
        verdict = kc__admission_policies_mutate_body(call);
    if (verdict != KC__REST_NEXT)
        return verdict;
    kc_auto(kc__admission_webhook_set) *set = hooks_for(call);
    if (!set)
        return call->policies_changed ? kc__admission_policies_mutate_body_again(call)
                                      : KC__REST_NEXT;
    return call->on_worker ? KC__REST_ON_LOOP : begin_sent(call, set);
}

kc__rest_verdict kc__admission_webhooks_admit_sent(kc__rest_call *call)
{
    kc__rest_verdict verdict = call->dispatch ? KC__REST_NEXT : mutate_sent(call);
    if (verdict == KC__REST_NEXT)
        verdict = call->dispatch ? run_both_kinds(call, take_mutated_sent) : validate_sent(call);
    if (verdict != KC__REST_NEXT)
        return verdict;
    call->webhooks_done = true;
    return KC__REST_PROPOSE;
}

/* ---- one object of a collection ---- */

/* A deletion cannot be mutated; policies have admitted it before (verbs/delete_collection.c). */
static kc__rest_verdict keep_deletion(kc__admission_dispatch *d)
{
    (void)d;
    return KC__REST_NEXT;
}

kc__rest_verdict kc__admission_webhooks_admit_deletion(kc__rest_call *call,
                                                       const kc_object *current)
{
    if (!call->dispatch) {
        kc_auto(kc__admission_webhook_set) *set = hooks_for(call);
        if (!set)
            return KC__REST_NEXT;
        kc_auto(kc_object) *old = kc__admission_shown(call, current);
        if (!old)
            return KC__REST_FAIL;
        begin_dispatch(call, set, NULL, old);
    }
    return run_both_kinds(call, keep_deletion);
}
