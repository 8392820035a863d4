/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policy_authorizer.c: the variable `authorizer` of policies and match conditions.
 *
 * A check costs as much as Kubernetes charges for it, so an expression with one runs on a worker
 * thread. A check about a resource is about all its versions.
 */
#include "apiserver/admission/policies/policy_activation.h"

#include "apiserver/access/account_name.h"
#include "apiserver/authz/authz_selectors.h"
#include "apiserver/authz/request_state.h"

/* A service account, without the group of authenticated users: as in Kubernetes. */
static kc__user account_of_check(const kc_cel_authorizer_check *check, kc_arena *arena)
{
    kc_str *groups = kc_arena_calloc(arena, 2, sizeof(*groups));
    groups[0] = KC_STR(KC__USER_GROUP_ACCOUNTS);
    groups[1] = kc__user_account_group(arena, check->service_account_ns);
    return (kc__user){
        .name = kc__user_account_name(arena, check->service_account_ns, check->service_account),
        .groups = groups,
        .n_groups = 2};
}

static kc__authz_attributes attributes_of_check(const kc_cel_authorizer_check *check,
                                                const kc__user *user)
{
    if (check->path.n)
        return (kc__authz_attributes){.user = user, .verb = check->verb, .path = check->path};
    return (kc__authz_attributes){.user = user,
                                  .is_resource = true,
                                  .verb = check->verb,
                                  .ns = check->ns,
                                  .group = check->group,
                                  .version = KC_STR("*"),
                                  .resource = check->resource,
                                  .subresource = check->subresource,
                                  .name = check->name};
}

/* A worker may wait for a webhook; on a loop a review without a cached result is a denial. */
static kc__authz_decision decide_check(const kc__rest_call *call, const kc__authz_attributes *a,
                                       kc_buf *reason, kc_buf *error)
{
    kc_scoped(kc__authz_request_state) state = {0};
    const kc__authz_decision decision =
        call->on_worker
            ? kc__authz_request_state_wait(&state, call->api->authz, call->x->loop, a, reason)
            : kc__authz_authorize(call->api->authz, &state, a, reason);
    kc__authz_request_state_write_errors(&state, error);
    return decision;
}

void kc__admission_authorizer_check(const kc_cel_authorizer_check *check, kc_cel_decision *ret,
                                    void *evaluation)
{
    kc__admission_evaluation *ev = evaluation;
    const kc__user account =
        check->service_account.n ? account_of_check(check, &ev->arena) : (kc__user){0};
    kc__authz_attributes a =
        attributes_of_check(check, check->service_account.n ? &account : &ev->call->user);
    kc_scoped(kc__authz_selectors) selectors = {0};
    kc__authz_selectors_parse(&selectors, check->field_selector, check->label_selector);
    kc__authz_select(&a, &selectors);
    kc_scoped(kc_buf) reason = {0}, error = {0};
    const kc__authz_decision decision = decide_check(ev->call, &a, &reason, &error);
    *ret = (kc_cel_decision){.allowed = decision == KC__AUTHZ_ALLOW,
                             .reason = kc_arena_str(&ev->arena, kc_buf_str(&reason)),
                             .error = kc_arena_str(&ev->arena, kc_buf_str(&error))};
}
