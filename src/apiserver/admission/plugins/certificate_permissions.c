/* SPDX-License-Identifier: Apache-2.0 */
/*
 * certificate_permissions.c: implements the admission plugins CertificateApproval and
 * CertificateSigning. Whoever approves a CertificateSigningRequest, or writes its certificate or
 * conditions, needs the verb `approve`, or `sign`, on the signer that the request names: a name of
 * the resource `signers`, or DOMAIN/ * for all signers of a domain.
 */
#include "apiserver/admission/plugins/certificate_permissions.h"

#include "apiserver/admission/chain/plugin_request.h"
#include "apiserver/authz/request_state.h"
#include "kc/diff.h"

#define REQUESTS "certificates.k8s.io/certificatesigningrequests"

static bool may_use_signer(kc__rest_call *call, const char *verb, kc_str signer)
{
    const kc__authz_attributes a = {.user = &call->user,
                                    .verb = kc_cstr(verb),
                                    .is_resource = true,
                                    .group = KC_STR("certificates.k8s.io"),
                                    .version = KC_STR("*"),
                                    .resource = KC_STR("signers"),
                                    .name = signer};
    return kc__authz_wait(call->api->authz, call->x->loop, &a, NULL) == KC__AUTHZ_ALLOW;
}

/* The permission for the signer of the stored request, which a write cannot change. */
static kc__rest_verdict check_signer(kc__rest_call *call, const kc_value *old, const char *verb)
{
    if (kc__authz_has_webhook(call->api->authz) && !call->on_worker)
        return KC__REST_ON_WORKER; /* It waits for the webhook. */
    kc_str signer = kc_value_as_str(kc_value_nested(old, "spec.signerName")), rest = signer;
    const kc_str domain = kc_str_cut(&rest, '/');
    const char *all = kc_arena_printf(call->arena, "%.*s/*", KC_ARG(domain));
    if (may_use_signer(call, verb, signer) || may_use_signer(call, verb, kc_cstr(all)))
        return KC__REST_NEXT;
    return kc__admission_forbid(call, "user not permitted to %s requests with signerName \"%.*s\"",
                                verb, KC_ARG(signer));
}

kc__rest_verdict kc__admission_certificate_approval(kc__rest_call *call)
{
    if (!call->current || !kc__admission_writes(call, REQUESTS, "approval"))
        return KC__REST_NEXT;
    kc_auto(kc_view) *old = kc_view_of(call->current);
    return check_signer(call, kc_view_root(old), "approve");
}

static bool is_same_member(const kc_value *a, const kc_value *b, const char *path)
{
    return kc_value_equal(kc_value_nested(a, path), kc_value_nested(b, path), NULL);
}

kc__rest_verdict kc__admission_certificate_signing(kc__rest_call *call)
{
    if (!call->current || !kc__admission_writes(call, REQUESTS, "status"))
        return KC__REST_NEXT;
    kc_auto(kc_view) *old = kc_view_of(call->current);
    kc_auto(kc_view) *now = kc_view_of(call->proposed);
    if (is_same_member(kc_view_root(old), kc_view_root(now), "status.certificate") &&
        is_same_member(kc_view_root(old), kc_view_root(now), "status.conditions"))
        return KC__REST_NEXT;
    return check_signer(call, kc_view_root(old), "sign");
}
