/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kubectl_policy.c: what kubectl may use: nothing, or temporary tokens only
 * (kc__rest_kubectl_policy). A step of the phase `authenticated`, before impersonation.
 *
 * kubectl is recognized by its User-Agent, which every client can change: this is a policy for
 * people who follow it, not a boundary. Roles are the boundary.
 */
#include "apiserver/request/phases.h"

static bool is_kubectl(const kc__rest_call *call)
{
    return kc_str_starts(kc__http_headers_get(&call->x->request.headers, KC_STR("User-Agent")),
                         KC_STR("kubectl"));
}

static kc__rest_verdict check_token_lifetime(kc__rest_call *call)
{
    const kc__rest_kubectl_policy *policy = &call->api->kubectl;
    const int64_t most = policy->duration / KC_SECOND;
    const int64_t left = call->user.expires - kc_clock_wall(call->api->clock) / KC_SECOND;
    if (call->user.credential == KC__USER_STATIC_TOKEN ||
        (call->user.credential == KC__USER_SIGNED_TOKEN && !call->user.expires))
        return kc__rest_fail(call, KC_FORBIDDEN,
                             "this server accepts only temporary tokens from kubectl; log in with "
                             "\"kc login\", or ask an administrator for \"kc token\"");
    if (call->user.credential == KC__USER_SIGNED_TOKEN && left > most)
        return kc__rest_fail(call, KC_FORBIDDEN,
                             "this server accepts only tokens from kubectl that expire within %lld "
                             "seconds, and this one expires in %lld; log in with \"kc login\", or "
                             "request a token with a shorter duration",
                             (long long)most, (long long)left);
    return KC__REST_NEXT;
}

kc__rest_verdict kc__rest_check_kubectl(kc__rest_call *call)
{
    const kc__rest_kubectl_policy *policy = &call->api->kubectl;
    if ((!policy->disabled && !policy->ephemeral) || !is_kubectl(call))
        return KC__REST_NEXT;
    if (policy->disabled)
        return kc__rest_fail(call, KC_FORBIDDEN,
                             "kubectl is disabled on this server; use the console or another "
                             "client of the API, or ask an administrator");
    return check_token_lifetime(call);
}
