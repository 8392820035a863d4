/* SPDX-License-Identifier: Apache-2.0 */
/*
 * phases.c: runs a request through its phases. The table defines the order; each phase has a file
 * of its own. A phase that has to wait returns KC__REST_PENDING, and the call continues later on
 * the same loop, so no phase blocks.
 *
 * The phases up to AUTHENTICATED run when the head of a request is complete (kc__rest_api_begin),
 * before its body is read; the others run when the body is complete (kc__rest_api_handle). Only
 * then does the call take a reference to the catalog: a slow body holds no catalog.
 */
#include "apiserver/request/phases.h"
#include "apiserver/admission/chain/admission.h"
#include "apiserver/admission/webhooks/webhook_phases.h"
#include "apiserver/audit/audit.h"
#include "apiserver/authz/request_state.h"
#include "apiserver/call/call_conversion.h"
#include "apiserver/governor/governor.h"
#include "apiserver/request/own.h"
#include "base/work.h"

#include "kc/duration.h"
#include "kc/uid.h"

#include <assert.h>

/* Phases that only compute may run on a worker thread: they use the call, the catalog, caches and
 * other data that any thread may use. */
static const struct {
    kc__rest_phase_fn *run;
    bool may_offload;
} phases[KC__REST_N_PHASES] = {
    [KC__REST_PHASE_RECEIVED] = {kc__rest_phase_received},
    [KC__REST_PHASE_AUTHENTICATED] = {kc__rest_phase_authenticated},
    [KC__REST_PHASE_LIMITED] = {kc__rest_phase_limited},
    [KC__REST_PHASE_AUTHORIZED] = {kc__rest_phase_authorized, .may_offload = true},
    [KC__REST_PHASE_ROUTED] = {kc__rest_phase_routed},
    [KC__REST_PHASE_NEGOTIATED] = {kc__rest_phase_negotiated},
    [KC__REST_PHASE_SYNCED] = {kc__rest_phase_synced},
    [KC__REST_PHASE_DECODED] = {kc__rest_phase_decoded, .may_offload = true},
    [KC__REST_PHASE_PROPOSED] = {kc__rest_phase_proposed, .may_offload = true},
    [KC__REST_PHASE_DEFAULTED] = {kc__rest_phase_defaulted, .may_offload = true},
    [KC__REST_PHASE_OWNED] = {kc__rest_phase_owned, .may_offload = true},
    [KC__REST_PHASE_MUTATED] = {kc__rest_phase_mutated, .may_offload = true},
    [KC__REST_PHASE_PREPARED] = {kc__rest_phase_prepared, .may_offload = true},
    [KC__REST_PHASE_VALIDATED] = {kc__rest_phase_validated, .may_offload = true},
    [KC__REST_PHASE_ADMITTED] = {kc__rest_phase_admitted, .may_offload = true},
    [KC__REST_PHASE_ENCODED] = {kc__rest_phase_encoded, .may_offload = true},
    [KC__REST_PHASE_STORED] = {kc__rest_phase_stored},
    [KC__REST_PHASE_ANSWERED] = {kc__rest_phase_answered, .may_offload = true},
};

/* Moves to the phase that follows a verdict. False: no phase is to run now. */
static bool step(kc__rest_call *call, kc__rest_verdict verdict)
{
    switch (verdict) {
    case KC__REST_NEXT: call->phase++; return true;
    case KC__REST_PROPOSE: call->phase = KC__REST_PHASE_PROPOSED; return true;
    case KC__REST_RESPOND: call->phase = KC__REST_PHASE_ANSWERED; return true;
    case KC__REST_ON_LOOP: return true;
    case KC__REST_ON_WORKER: call->heavy = true; return true;
    default: return false;
    }
}

static bool may_offload(const kc__rest_call *call)
{
    bool on_loop = call->verb && call->verb->on_loop && call->phase != KC__REST_PHASE_DECODED;
    return phases[call->phase].may_offload && !on_loop;
}

void kc__rest_call_resume(kc__rest_call *call, kc__rest_verdict verdict)
{
    while (step(call, verdict)) {
        if (verdict != KC__REST_ON_LOOP && may_offload(call) && kc__rest_call_offload(call))
            return;
        verdict = phases[call->phase].run(call);
    }
    if (verdict == KC__REST_FAIL)
        kc__rest_respond_error(call);
}

void kc__rest_call_rerun(kc__rest_call *call)
{
    if (!may_offload(call) || !kc__rest_call_offload(call))
        kc__rest_call_resume(call, KC__REST_ON_LOOP);
}

kc__rest_verdict kc__rest_call_run_offloaded(kc__rest_call *call)
{
    kc__rest_verdict verdict;
    do {
        verdict = phases[call->phase].run(call);
        if (verdict != KC__REST_DONE && kc__work_is_over_now())
            verdict = kc__rest_fail_timeout(call);
        if (verdict == KC__REST_ON_LOOP || !step(call, verdict))
            break;
        verdict = KC__REST_ON_LOOP;
    } while (may_offload(call));
    assert(verdict != KC__REST_PENDING && "a phase that waits runs on the loop");
    assert(verdict != KC__REST_ON_WORKER && "the phase runs on a worker");
    return verdict == KC__REST_FAIL ? kc__rest_respond_error(call) : verdict;
}

static kc__rest_context *context_of(kc__rest_api *api, const kc__loop *loop)
{
    for (size_t i = 0; i < api->n_contexts; i++)
        if (api->contexts[i].loop == loop)
            return &api->contexts[i];
    return NULL;
}

/* Runs the phases that need no body. False: the call is answered. Authentication that has to wait
 * for another server (call->authenticating) continues when the body is complete: until then the
 * request counts as unauthenticated. */
static bool run_head_phases(kc__rest_call *call)
{
    for (;; call->phase++) {
        kc__rest_verdict verdict = phases[call->phase].run(call);
        if (verdict == KC__REST_FAIL)
            kc__rest_respond_error(call);
        if (verdict != KC__REST_NEXT)
            return verdict == KC__REST_PENDING;
        if (call->phase == KC__REST_PHASE_AUTHENTICATED)
            return true;
    }
}

bool kc__rest_api_begin(kc__exchange *x, kc__exchange_grant *grant, void *user)
{
    kc__rest_call *call = x->state = kc_arena_calloc(x->request.arena, 1, sizeof(*call));
    call->x = x;
    call->api = user;
    call->arena = x->request.arena;
    call->context = context_of(call->api, x->loop);
    call->rand = &call->context->rand;
    kc__governor_note_request(call->api->governor);
    if (!run_head_phases(call))
        return false;
    kc__rest_grant_body(call, grant);
    return true;
}

void kc__rest_api_handle(kc__exchange *x, void *user)
{
    kc__rest_call *call = x->state;
    kc__rest_api *api = user;
    kc__governor_note_request(api->governor);
    call->catalog = kc__rest_catalog_ref(
        kc__rest_catalog_slot_current(api->catalog_slot, &call->context->catalog));
    if (call->authenticating)
        kc__rest_authenticate_later(call);
    else
        kc__rest_call_resume(call, KC__REST_NEXT);
}

void kc__rest_api_abandon(kc__exchange *x, int status, void *user)
{
    (void)user;
    kc__audit_abandoned(x->state, status);
    kc__rest_call_release(x->state);
}

void kc__rest_call_done(kc__rest_call *call)
{
    kc__rest_count_call(call);
    kc__rest_call_release(call);
}

void kc__rest_call_release(kc__rest_call *call)
{
    kc__rest_limits_release(call);
    kc__audit_release(call);
    if (call->verb && call->verb->forget)
        call->verb->forget(call);
    kc__admission_release(call);
    kc__rest_conversion_release(call);
    kc__rest_own_release(call);
    if (call->authz_state)
        kc__authz_request_state_done(call->authz_state);
    call->unread = kc_object_unref(call->unread);
    call->body = kc_object_unref(call->body);
    call->body_view = kc_view_free(call->body_view);
    call->subresource_body = kc_object_unref(call->subresource_body);
    call->current = kc_object_unref(call->current);
    call->as_stored = kc_object_unref(call->as_stored);
    call->proposed = kc_object_unref(call->proposed);
    call->proposed_view = kc_view_free(call->proposed_view);
    kc__draft_clear(&call->draft);
    call->encoded = kc_object_unref(call->encoded);
    call->config = kc_view_free(call->config);
    call->current_view = kc_view_free(call->current_view);
    kc__rest_options_done(&call->options);
    kc_error_done(&call->error);
    kc_vec_done(&call->warnings);
    call->catalog = kc__rest_catalog_unref(call->catalog);
}

/* ---- received ---- */

/* Maximum length of an audit ID that a client sends. */
enum { MAX_AUDIT_ID = 128 };

static void set_audit_id(kc__rest_call *call)
{
    uint8_t random[16];
    call->audit_id = kc__http_headers_get(&call->x->request.headers, KC_STR("Audit-Id"));
    if (call->audit_id.n > 0 && call->audit_id.n <= MAX_AUDIT_ID)
        return;
    kc_rand_bytes(call->rand, random, sizeof(random));
    call->audit_id = kc_uid_of(random, kc_arena_alloc(call->arena, KC_UID_TEXT));
}

/* The client's timeout (timeout=10s), limited by the server's. */
static kc__rest_verdict read_timeout(kc__rest_call *call)
{
    kc_scoped(kc_error) err = {0};
    kc_str text = {0};
    int64_t requested = 0;
    call->request_timeout = call->api->request_timeout;
    kc__query_get(&call->query, KC_STR("timeout"), &text);
    if (kc_str_empty(text) || !strcmp(call->info.verb, "watch"))
        return KC__REST_NEXT;
    if (kc_duration_parse(text, &requested, &err) < 0) {
        kc__audit_begin(call, true);
        return kc__rest_fail(call, KC_BAD_REQUEST,
                             "invalid timeout specified in the request URL - %s",
                             kc_error_text(&err));
    }
    if (requested > 0)
        call->request_timeout = KC_MIN(call->request_timeout, requested);
    return KC__REST_NEXT;
}

kc__rest_verdict kc__rest_phase_received(kc__rest_call *call)
{
    const kc__http_request *request = &call->x->request;
    set_audit_id(call);
    if (kc__query_parse(request->target.query, NULL, call->arena, &call->query, &call->error) < 0)
        return KC__REST_FAIL;
    kc__rest_request_info_of(request, &call->query, call->arena, &call->info);
    return read_timeout(call);
}

/* ---- proposed ---- */

kc__rest_verdict kc__rest_phase_proposed(kc__rest_call *call)
{
    if (!call->verb->mutates)
        return KC__REST_RESPOND;
    call->owned = call->client_managed_fields = call->admission_patched = false;
    call->merged_metadata = (kc_str){0};
    call->current_view = kc_view_free(call->current_view);
    call->proposed_view = kc_view_free(call->proposed_view);
    if (call->verb->replaces_object && !call->webhooks_done)
        return kc__admission_webhooks_admit_sent(call);
    return call->verb->propose ? call->verb->propose(call) : KC__REST_NEXT;
}
