/* SPDX-License-Identifier: Apache-2.0 */
/*
 * impersonate.c: serves a request as another user (Impersonate-User, kubectl --as), the last step
 * of the phase `authenticated`.
 *
 * The sender needs the verb "impersonate" for each part of the user: the name or service account,
 * each group, each value of an extra, the uid. The first part that the authorizers do not allow
 * ends the request with 403. Afterwards call->user is the impersonated user alone, and the header
 * fields are gone.
 */
#include "apiserver/access/impersonation.h"
#include "apiserver/audit/audit.h"
#include "apiserver/authz/request_state.h"
#include "apiserver/request/phases.h"
#include "object/gofmt/go_quote.h"

#define AUTHENTICATION "authentication.k8s.io"

/* Whether the sender may impersonate one part: KC__REST_NEXT, or KC__REST_FAIL with call->error, or
 * KC__REST_PENDING and others while a webhook is called. */
static kc__rest_verdict check_part(kc__rest_call *call, kc__authz_attributes part)
{
    kc_scoped(kc_buf) reason = {0};
    part.user = &call->user;
    part.verb = KC_STR("impersonate");
    part.is_resource = true;
    switch (kc__authz_authorize(call->api->authz, kc__rest_authz_state(call), &part, &reason)) {
    case KC__AUTHZ_ALLOW: return KC__REST_NEXT;
    case KC__AUTHZ_PENDING: return kc__rest_await_authorizer(call);
    default: break;
    }
    kc__authz_forbid(&part, kc_buf_str(&reason), &call->error);
    call->forbidden = true;
    return KC__REST_FAIL;
}

static kc__rest_verdict check_user_part(kc__rest_call *call, const kc__impersonation *as)
{
    if (kc_str_empty(as->account))
        return check_part(call,
                          (kc__authz_attributes){.resource = KC_STR("users"), .name = as->user});
    return check_part(call, (kc__authz_attributes){.resource = KC_STR("serviceaccounts"),
                                                   .ns = as->account_ns,
                                                   .name = as->account});
}

static kc__rest_verdict check_group_parts(kc__rest_call *call, const kc__impersonation *as)
{
    kc__rest_verdict verdict = KC__REST_NEXT;
    for (size_t i = 0; verdict == KC__REST_NEXT && i < as->n_groups; i++)
        verdict = check_part(
            call, (kc__authz_attributes){.resource = KC_STR("groups"), .name = as->groups[i]});
    return verdict;
}

static kc__rest_verdict check_extra_parts(kc__rest_call *call, const kc__impersonation *as)
{
    kc__rest_verdict verdict = KC__REST_NEXT;
    for (size_t i = 0; verdict == KC__REST_NEXT && i < as->n_extra; i++)
        verdict = check_part(call, (kc__authz_attributes){.group = KC_STR(AUTHENTICATION),
                                                          .version = KC_STR("v1"),
                                                          .resource = KC_STR("userextras"),
                                                          .subresource = as->extra[i].key,
                                                          .name = as->extra[i].value});
    return verdict;
}

static kc__rest_verdict check_uid_part(kc__rest_call *call, const kc__impersonation *as)
{
    if (kc_str_empty(as->uid))
        return KC__REST_NEXT;
    return check_part(call, (kc__authz_attributes){.group = KC_STR(AUTHENTICATION),
                                                   .version = KC_STR("v1"),
                                                   .resource = KC_STR("uids"),
                                                   .name = as->uid});
}

static kc__rest_verdict check_impersonation(kc__rest_call *call, const kc__impersonation *as)
{
    static kc__rest_verdict (*const steps[])(kc__rest_call *call, const kc__impersonation *as) = {
        check_user_part, check_group_parts, check_extra_parts, check_uid_part};
    kc__rest_verdict verdict = KC__REST_NEXT;
    for (size_t i = 0; verdict == KC__REST_NEXT && i < KC_COUNT(steps); i++)
        verdict = steps[i](call, as);
    return verdict;
}

/* Kubernetes answers in plain text, without characters that look like HTML. */
kc__rest_verdict kc__rest_respond_internal(kc__rest_call *call, kc_str why)
{
    kc_scoped(kc_buf) text = {0}, out = {0};
    kc_buf_puts(&text, "Internal Server Error: ");
    kc__go_quote(&text, call->x->request.target.raw);
    kc_buf_printf(&text, ": %.*s\n", KC_ARG(why));
    kc__authz_sanitize(&out, kc_buf_str(&text));
    const kc_str body = kc_arena_str(call->arena, kc_buf_str(&out));
    return kc__rest_respond_bytes(
        call, &(kc__http_response){.status = 500,
                                   .type = KC_STR("text/plain; charset=utf-8"),
                                   .headers = &(kc__http_header){KC_STR("X-Content-Type-Options"),
                                                                 KC_STR("nosniff")},
                                   .n_headers = 1,
                                   .body = body});
}

/* The phase `authenticated` cannot wait for a webhook: `authorized` then does it. */
static bool is_too_early(const kc__rest_call *call)
{
    return kc__authz_has_webhook(call->api->authz) && call->phase != KC__REST_PHASE_AUTHORIZED;
}

kc__rest_verdict kc__rest_impersonate(kc__rest_call *call)
{
    kc__http_headers *headers = &call->x->request.headers;
    kc__impersonation as;
    kc_scoped(kc_error) err = {0};
    if (kc__impersonation_read(headers, call->arena, &as, &err) < 0)
        return kc__rest_respond_internal(call, kc_cstr(kc_error_text(&err)));
    call->impersonates = as.requested && is_too_early(call);
    if (!as.requested || call->impersonates)
        return KC__REST_NEXT;
    const kc__rest_verdict verdict = check_impersonation(call, &as);
    call->impersonates = verdict != KC__REST_NEXT;
    if (verdict != KC__REST_NEXT)
        return verdict;
    kc__impersonation_user(&as, call->arena, &call->user);
    kc__impersonation_strip(headers);
    call->impersonated = true;
    kc__audit_impersonated(call);
    return KC__REST_NEXT;
}
