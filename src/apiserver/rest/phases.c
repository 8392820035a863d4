/* SPDX-License-Identifier: Apache-2.0 */
/*
 * phases.c: the way of a request through the server. The table is the order; each phase's file says
 * what it does. A phase that has to wait returns KC__LATER and the call is taken up again on the
 * same loop, so no phase ever blocks.
 */
#include "apiserver/admission/asking.h"
#include "apiserver/admission/service_numbers.h"
#include "apiserver/rest/call.h"

#include "kc/duration.h"
#include "kc/uid.h"

static kc__phase_fn *const phases[KC__N_PHASES] = {
    [KC__PHASE_RECEIVED] = kc__phase_received,
    [KC__PHASE_AUTHENTICATED] = kc__phase_authenticated,
    [KC__PHASE_LIMITED] = kc__phase_limited,
    [KC__PHASE_AUTHORIZED] = kc__phase_authorized,
    [KC__PHASE_ROUTED] = kc__phase_routed,
    [KC__PHASE_NEGOTIATED] = kc__phase_negotiated,
    [KC__PHASE_DECODED] = kc__phase_decoded,
    [KC__PHASE_PROPOSED] = kc__phase_proposed,
    [KC__PHASE_MUTATED] = kc__phase_mutated,
    [KC__PHASE_PREPARED] = kc__phase_prepared,
    [KC__PHASE_VALIDATED] = kc__phase_validated,
    [KC__PHASE_ADMITTED] = kc__phase_admitted,
    [KC__PHASE_STORED] = kc__phase_stored,
    [KC__PHASE_ANSWERED] = kc__phase_answered,
};

void kc__call_go_on(kc__call *call, kc__verdict verdict)
{
    for (;;) {
        switch (verdict) {
        case KC__NEXT: call->phase++; break;
        case KC__PROPOSE: call->phase = KC__PHASE_PROPOSED; break;
        case KC__ANSWER: call->phase = KC__PHASE_ANSWERED; break;
        case KC__FAIL: kc__answer_error(call); return;
        case KC__LATER:
        case KC__DONE: return;
        }
        verdict = phases[call->phase](call);
    }
}

static kc__lane *lane_of(kc__api *api, const kc__loop *loop)
{
    for (size_t i = 0; i < api->n_lanes; i++)
        if (api->lanes[i].loop == loop)
            return &api->lanes[i];
    return NULL;
}

void kc__api_handle(kc__exchange *x, void *user)
{
    kc__call *call = kc_arena_calloc(x->request.arena, 1, sizeof(*call));
    call->x = x;
    call->api = user;
    call->arena = x->request.arena;
    call->lane = lane_of(call->api, x->loop);
    call->snapshot =
        kc__snapshot_ref(kc__snapshots_current(call->api->snapshots, &call->lane->snapshot));
    kc__verdict first = phases[KC__PHASE_RECEIVED](call);
    kc__call_go_on(call, first);
}

void kc__call_done(kc__call *call)
{
    kc__count_call(call);
    kc__limits_leave(call);
    if (call->verb && call->verb->forget)
        call->verb->forget(call);
    if (call->taken)
        kc__service_numbers_settle(call);
    call->given = kc_object_unref(call->given);
    call->sent = kc_object_unref(call->sent);
    call->current = kc_object_unref(call->current);
    call->proposed = kc_object_unref(call->proposed);
    kc__options_done(&call->options);
    kc_error_done(&call->error);
    kc_vec_done(&call->warnings);
    call->snapshot = kc__snapshot_unref(call->snapshot);
}

/* ---- received ---- */

/* A client that names its request finds it again by that name; beyond this it is no name. */
enum { MAX_AUDIT_ID = 128 };

static void name_it(kc__call *call)
{
    uint8_t random[16];
    call->audit_id = kc__headers_get(&call->x->request.headers, KC_STR("Audit-Id"));
    if (call->audit_id.n > 0 && call->audit_id.n <= MAX_AUDIT_ID)
        return;
    kc_rand_bytes(&call->lane->rand, random, sizeof(random));
    call->audit_id = kc_uid_of(random, kc_arena_alloc(call->arena, KC_UID_TEXT));
}

/* How long the client is willing to wait (timeout=10s), but no longer than the server is. */
static kc__verdict read_timeout(kc__call *call)
{
    kc_scoped(kc_error) err = {0};
    kc_str text = {0};
    int64_t wish = 0;
    call->patience = call->api->request_timeout;
    kc__query_get(&call->query, KC_STR("timeout"), &text);
    if (kc_str_empty(text) || !strcmp(call->info.verb, "watch"))
        return KC__NEXT;
    if (kc_duration_parse(text, &wish, &err) < 0)
        return kc__fail(call, KC_BAD_REQUEST, "invalid timeout specified in the request URL - %s",
                        kc_error_text(&err));
    if (wish > 0)
        call->patience = KC_MIN(call->patience, wish);
    return KC__NEXT;
}

kc__verdict kc__phase_received(kc__call *call)
{
    const kc__request *request = &call->x->request;
    name_it(call);
    if (kc__query_parse(request->target.query, NULL, call->arena, &call->query, &call->error) < 0)
        return KC__FAIL;
    kc__request_info_of(request, &call->query, call->arena, &call->info);
    return read_timeout(call);
}

/* ---- phases that are the verb's ---- */

static kc__verdict run(kc__phase_fn *phase, kc__call *call)
{
    return phase ? phase(call) : KC__NEXT;
}

kc__verdict kc__phase_decoded(kc__call *call)
{
    return call->endpoint ? KC__ANSWER : run(call->verb->decode, call);
}

kc__verdict kc__phase_proposed(kc__call *call)
{
    if (!call->verb->mutates)
        return KC__ANSWER;
    if (call->verb->stands_in && !call->hooks_asked)
        return kc__admit_sent(call);
    return run(call->verb->propose, call);
}

/* Numbers come last: what is drawn for an object that is refused meanwhile would be missing. */
kc__verdict kc__phase_prepared(kc__call *call)
{
    kc__verdict verdict = run(call->verb->prepare, call);
    return verdict == KC__NEXT ? kc__admit_service_numbers(call) : verdict;
}

kc__verdict kc__phase_answered(kc__call *call)
{
    return call->endpoint ? call->endpoint->answer(call) : call->verb->answer(call);
}
