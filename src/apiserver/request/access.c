/* SPDX-License-Identifier: Apache-2.0 */
/*
 * access.c: the phases that decide whether a request may proceed: authentication, limits,
 * authorization.
 *
 * Requests in flight: mutating and read-only requests are counted separately, so that neither can
 * starve the other. Watches are not counted: they stay open for hours.
 *
 * Memory: above its limits the governor (apiserver/governor) rejects requests that may need much
 * memory. While allocation fails (kc/mem.h), the same requests are rejected; reads of one object,
 * deletions and health checks proceed. A large body is accepted only if there is memory for the
 * trees that are built from it.
 */
#include "apiserver/access/sa_tokens.h"
#include "apiserver/audit/audit.h"
#include "apiserver/authz/authz_selectors.h"
#include "apiserver/authz/request_state.h"
#include "apiserver/governor/governor.h"
#include "apiserver/request/request_metrics.h"
#include "apiserver/request/routes.h"
#include "apiserver/request/write.h"

enum {
    LARGE_BODY = 256 * 1024, /* Bytes. The reserve is enough for many smaller ones. */
    ROOM_PER_BYTE = 32, /* Memory per byte of a body: text, object, view and edit, and the edits
                           of it. */
};

/* NULL: the path is not that of an endpoint. */
static const kc__rest_endpoint *endpoint_of(const kc__rest_call *call)
{
    return call->info.is_resource ? NULL
                                  : kc__rest_routes_served.find_endpoint(&call->x->request.target);
}

/* Health and version need no credentials; a request with an Authorization header must
 * authenticate. */
static bool is_open(const kc__rest_call *call)
{
    const kc__http_request *request = &call->x->request;
    const kc__rest_endpoint *endpoint = endpoint_of(call);
    return endpoint && endpoint->open &&
           kc_str_empty(kc__http_headers_get(&request->headers, KC_STR("Authorization")));
}

/* A certificate that was not valid. */
static bool has_certificate(const kc__rest_call *call)
{
    const kc__conn_peer *peer = call->x->request.peer;
    return peer && peer->cert;
}

/* A token that a server before v1.24 created by itself. */
static void warn_about_credential(kc__rest_call *call)
{
    for (size_t i = 0; i < call->user.n_notes; i++)
        if (kc_str_is(call->user.notes[i].key, KC__SA_NOTE_AUTOMATIC))
            kc__rest_warn(call, KC_STR("Use tokens from the TokenRequest API or manually created "
                                       "secret-based tokens instead of auto-generated "
                                       "secret-based tokens."));
}

static kc__rest_verdict authenticate_call(kc__rest_call *call, const kc__authn_results *results)
{
    const int result = kc__authn_authenticate(call->api->authn, &call->x->request, results,
                                              call->arena, &call->user, &call->error);
    kc__authn_strip(call->api->authn, &call->x->request.headers);
    call->unauthenticated = call->authenticating = result == KC__AUTHN_PENDING;
    if (call->authenticating)
        return KC__REST_PENDING;
    if (!result) {
        kc__audit_begin(call, false);
        warn_about_credential(call);
        return kc__rest_check_kubectl(call) == KC__REST_NEXT ? kc__rest_impersonate(call)
                                                             : KC__REST_FAIL;
    }
    if (call->error.reason != KC_UNAUTHORIZED || !is_open(call) || has_certificate(call)) {
        kc__audit_begin(call, true);
        return KC__REST_FAIL;
    }
    kc_error_done(&call->error);
    call->unauthenticated = true;
    call->user = (kc__user){.name = KC_STR(KC__USER_ANONYMOUS)};
    kc__audit_begin(call, false);
    return KC__REST_NEXT;
}

kc__rest_verdict kc__rest_phase_authenticated(kc__rest_call *call)
{
    return authenticate_call(call, NULL);
}

static void token_verified(const kc__authn_results *results, void *user)
{
    kc__rest_call *call = user;
    kc__rest_call_resume(call, authenticate_call(call, results));
}

void kc__rest_authenticate_later(kc__rest_call *call)
{
    kc__authn_remote_start_request(call->api->authn, &call->x->request, call->arena, call->x->loop,
                                   token_verified, call);
}

/* All anonymous requests share the budget of unauthenticated requests. */
void kc__rest_grant_body(const kc__rest_call *call, kc__exchange_grant *grant)
{
    bool anonymous = kc_str_is(call->user.name, KC__USER_ANONYMOUS);
    const kc__rest_endpoint *endpoint = endpoint_of(call);
    grant->max_body = endpoint ? endpoint->max_body : 0;
    grant->authenticated = !call->unauthenticated;
    grant->user = anonymous ? (kc_str){0} : call->user.name;
}

static bool reads(const char *verb)
{
    return !strcmp(verb, "get") || !strcmp(verb, "list") || !strcmp(verb, "head") ||
           !strcmp(verb, "options");
}

static bool enter_inflight_limit(_Atomic size_t *count, size_t most)
{
    if (atomic_fetch_add_explicit(count, 1, memory_order_relaxed) < most)
        return true;
    atomic_fetch_sub_explicit(count, 1, memory_order_relaxed);
    return false;
}

void kc__rest_limits_release(kc__rest_call *call)
{
    kc__memory_add(call->context->memory, KC__MEMORY_REQUESTS, -(int64_t)call->memory);
    call->memory = 0;
    if (call->counted)
        atomic_fetch_sub_explicit(call->counted, 1, memory_order_relaxed);
    call->counted = NULL;
}

bool kc__rest_is_own_request(const kc__rest_call *call)
{
    const kc__http_request *request = &call->x->request;
    return request->peer && !*request->peer->address;
}

static kc__rest_verdict check_governor(kc__rest_call *call)
{
    kc__governor_request_traits traits = {.verb = call->info.verb,
                                          .group = call->info.group,
                                          .resource = call->info.resource,
                                          .body = call->x->request.body.n};
    kc__query_i64(&call->query, KC_STR("limit"), 0, &traits.limit, NULL);
    if (!kc__rest_is_own_request(call) &&
        kc__governor_admit(call->api->governor, &traits, &call->error) < 0)
        return KC__REST_FAIL;
    call->memory = kc__governor_request_cost(traits.body);
    kc__memory_add(call->context->memory, KC__MEMORY_REQUESTS, (int64_t)call->memory);
    return KC__REST_NEXT;
}

static bool needs_memory(const kc__rest_call *call)
{
    return call->x->request.body.n || !strcmp(call->info.verb, "list") ||
           !strcmp(call->info.verb, "watch") || !strcmp(call->info.verb, "deletecollection");
}

static bool has_memory(const kc__rest_call *call)
{
    size_t body = call->x->request.body.n;
    if (kc_mem_short() && needs_memory(call) && !kc_mem_restore())
        return false;
    return body < LARGE_BODY || kc_mem_has_room(body * ROOM_PER_BYTE);
}

kc__rest_verdict kc__rest_phase_limited(kc__rest_call *call)
{
    kc__rest_api *api = call->api;
    const kc__rest_verdict audited = kc__audit_received(call);
    if (audited == KC__REST_FAIL)
        return kc__rest_respond_internal(call, KC_STR("failed to store audit event"));
    if (audited != KC__REST_NEXT)
        return audited;
    if (check_governor(call) == KC__REST_FAIL)
        return KC__REST_FAIL;
    if (!has_memory(call)) {
        kc_counter_inc(api->counts->no_memory);
        kc_error_out_of_memory(&call->error);
        return KC__REST_FAIL;
    }
    if (!strcmp(call->info.verb, "watch"))
        return KC__REST_NEXT;
    bool reading = reads(call->info.verb);
    _Atomic size_t *count = reading ? &api->reading : &api->mutating;
    if (enter_inflight_limit(count, reading ? api->max_reading : api->max_mutating)) {
        call->counted = count;
        return KC__REST_NEXT;
    }
    return kc__rest_respond_bytes(
        call,
        &(kc__http_response){.status = 429,
                             .type = KC_STR("text/plain; charset=utf-8"),
                             .headers = &(kc__http_header){KC_STR("Retry-After"), KC_STR("1")},
                             .n_headers = 1,
                             .body = KC_STR("Too many requests, please try again later.\n")});
}

static kc__authz_attributes attributes_of(const kc__rest_call *call)
{
    const kc__rest_request_info *info = &call->info;
    return (kc__authz_attributes){.user = &call->user,
                                  .verb = kc_cstr(info->verb),
                                  .is_resource = info->is_resource,
                                  .group = info->group,
                                  .version = info->version,
                                  .resource = info->resource,
                                  .subresource = info->subresource,
                                  .ns = info->ns,
                                  .name = info->name,
                                  .path = call->x->request.target.path};
}

static bool authorizes_itself(const kc__rest_call *call)
{
    const kc__rest_endpoint *endpoint = endpoint_of(call);
    return endpoint && endpoint->authorizes;
}

/* The Secrets of people: the server alone reads and writes them. */
static bool is_reserved_request(const kc__rest_call *call)
{
    const kc__rest_request_info *info = &call->info;
    return info->is_resource && kc_str_empty(info->group) && kc_str_is(info->resource, "secrets") &&
           kc__rest_is_reserved_namespace(call->api, info->ns);
}

static void add_selectors(const kc__rest_call *call, kc__authz_selectors *selectors,
                          kc__authz_attributes *a)
{
    const kc__rest_request_info *info = &call->info;
    if (!kc__authz_uses_selectors(call->api->authz))
        return;
    kc__authz_selectors_parse(selectors, info->field_selector, info->label_selector);
    kc__authz_select(a, selectors);
}

kc__authz_request_state *kc__rest_authz_state(kc__rest_call *call)
{
    if (!call->authz_state)
        call->authz_state = kc_arena_calloc(call->arena, 1, sizeof(*call->authz_state));
    call->authz_state->on_worker = call->on_worker || call->heavy;
    return call->authz_state;
}

static void authorize_again(void *user)
{
    kc__rest_call_rerun(user);
}

kc__rest_verdict kc__rest_await_authorizer(kc__rest_call *call)
{
    if (call->authz_state->needs_worker)
        return KC__REST_ON_WORKER;
    if (call->on_worker)
        return KC__REST_ON_LOOP;
    kc__authz_request_state_call_webhook(call->authz_state, call->x->loop, authorize_again, call);
    return KC__REST_PENDING;
}

static kc__rest_verdict audit_decision(kc__rest_call *call, const char *decision, kc_str reason)
{
    if (!call->audit_event)
        return KC__REST_NEXT;
    kc__rest_audit(call, KC_STR("authorization.k8s.io/decision"), kc_cstr(decision));
    kc__rest_audit(call, KC_STR("authorization.k8s.io/reason"), reason);
    return KC__REST_NEXT;
}

static kc__rest_verdict forbid_call(kc__rest_call *call, const kc__authz_attributes *a,
                                    kc_str reason)
{
    audit_decision(call, "forbid", reason);
    kc__authz_forbid(a, reason, &call->error);
    call->bare_details = true;
    call->forbidden = true;
    return KC__REST_FAIL;
}

/* The reason is needed for a refusal, and for the audit log. A webhook that fails, with no
 * authorizer that allows the request, is an internal error. */
static kc__rest_verdict decide_with_reason(kc__rest_call *call, const kc__authz_attributes *a)
{
    kc_scoped(kc_buf) reason = {0}, errors = {0};
    kc__authz_request_state *state = call->authz_state;
    const kc__authz_decision decision = kc__authz_authorize(call->api->authz, state, a, &reason);
    if (decision == KC__AUTHZ_PENDING)
        return kc__rest_await_authorizer(call);
    if (decision == KC__AUTHZ_ALLOW)
        return audit_decision(call, "allow", kc_buf_str(&reason));
    kc__authz_request_state_write_errors(state, &errors);
    if (errors.n) {
        kc__rest_audit(call, KC_STR("authorization.k8s.io/reason"), KC_STR("internal error"));
        return kc__rest_respond_internal(call, kc_buf_str(&errors));
    }
    return forbid_call(call, a, kc_buf_str(&reason));
}

/* Most requests are allowed, and need no reason. */
static kc__rest_verdict decide(kc__rest_call *call, kc__authz_request_state *state,
                               const kc__authz_attributes *a)
{
    switch (kc__authz_authorize(call->api->authz, state, a, NULL)) {
    case KC__AUTHZ_ALLOW: return KC__REST_NEXT;
    case KC__AUTHZ_PENDING: return kc__rest_await_authorizer(call);
    default: break;
    }
    state->repeats = true;
    return decide_with_reason(call, a);
}

/* An endpoint that every client may use. The audit log has the reason of the authorizers, if they
 * allow the request at once. */
static kc__rest_verdict audit_open_endpoint(kc__rest_call *call, const kc__authz_attributes *a)
{
    kc_scoped(kc_buf) reason = {0};
    if (!call->audit_event)
        return KC__REST_NEXT;
    if (kc__authz_authorize(call->api->authz, kc__rest_authz_state(call), a, &reason) !=
        KC__AUTHZ_ALLOW)
        kc_buf_clear(&reason);
    return audit_decision(call, "allow", kc_buf_str(&reason));
}

kc__rest_verdict kc__rest_phase_authorized(kc__rest_call *call)
{
    kc_scoped(kc__authz_selectors) selectors = {0};
    const kc__rest_verdict verdict =
        call->impersonates ? kc__rest_impersonate(call) : KC__REST_NEXT;
    if (verdict != KC__REST_NEXT)
        return verdict;
    kc__authz_attributes a = attributes_of(call);
    if (is_reserved_request(call))
        return forbid_call(call, &a, KC_STR("the namespace is reserved for credentials"));
    if (authorizes_itself(call) || is_open(call))
        return audit_open_endpoint(call, &a);
    if (!call->heavy && kc__authz_takes_long(call->api->authz, &a))
        return KC__REST_ON_WORKER;
    add_selectors(call, &selectors, &a);
    kc__authz_request_state *state = kc__rest_authz_state(call);
    return call->audit_event ? decide_with_reason(call, &a) : decide(call, state, &a);
}

/* ---- admitted ---- */

/* Whether an update or an apply creates its object. */
static bool creates_by_other_verb(const kc__rest_call *call)
{
    return !call->current && !call->create_authorized &&
           (call->verb == &kc__rest_verb_update || call->verb == &kc__rest_verb_patch);
}

kc__rest_verdict kc__rest_authorize_create(kc__rest_call *call)
{
    if (!creates_by_other_verb(call))
        return KC__REST_NEXT;
    kc_scoped(kc_buf) reason = {0}, errors = {0};
    kc__authz_attributes a = attributes_of(call);
    a.verb = KC_STR("create");
    if (!call->on_worker && kc__authz_takes_long(call->api->authz, &a))
        return KC__REST_ON_WORKER;
    kc__authz_request_state *state = kc__rest_authz_state(call);
    const kc__authz_decision decision = kc__authz_authorize(call->api->authz, state, &a, &reason);
    if (decision == KC__AUTHZ_PENDING)
        return kc__rest_await_authorizer(call);
    call->create_authorized = decision == KC__AUTHZ_ALLOW;
    if (call->create_authorized)
        return KC__REST_NEXT;
    kc__authz_request_state_write_errors(state, &errors);
    if (errors.n)
        return kc__rest_fail(call, KC_INTERNAL, "Internal error occurred: %s",
                             kc_buf_cstr(&errors));
    kc__authz_forbid(&a, kc_buf_str(&reason), &call->error);
    call->bare_details = true;
    return KC__REST_FAIL;
}
