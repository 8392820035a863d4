/* SPDX-License-Identifier: Apache-2.0 */
/*
 * auth.c: authentication by user name and password.
 *
 *     NONE ──▶ PENDING ──▶ READY ──▶ NONE (a server refused the token)
 *                 └──▶ NONE (refused)
 *
 * The first call that needs a token starts one Authenticate; calls that start meanwhile wait for it
 * as well. The token is metadata of the channel. Tokens expire (after five minutes without use by
 * default): a call that is refused because of its token gets a new one, once. Tokens are numbered,
 * so calls that are refused together cause one Authenticate, not one each.
 *
 * Where authentication is not enabled in the cluster, calls go on without a token, as those of
 * etcd's own clients.
 */
#include "etcd/etcd_internal.h"

#include <assert.h>

static void tell_waiters(kc_dlist *waiters, const kc__etcd_reply *refused)
{
    for (kc_dlist_link *link; (link = kc_dlist_pop(waiters));) {
        kc__etcd_auth_waiter *waiter = kc_container_of(link, kc__etcd_auth_waiter, link);
        waiter->ready(waiter, refused);
    }
}

/* True if calls can be sent now, with the token of the reply or without one. */
static bool use_token(kc__etcd *etcd, kc__etcd_reply *reply)
{
    if (reply->code != KC__ETCD_OK && reply->code != KC__ETCD_AUTH_NOT_ENABLED)
        return false;
    const kc_str token = reply->code == KC__ETCD_OK ? reply->authenticate->token : (kc_str){0};
    if (kc__grpc_channel_set_metadata(etcd->channel, "token", token))
        return true;
    reply->code = KC__ETCD_AUTH_FAILED;
    kc_error_set(&reply->err, KC_UNAUTHORIZED, "etcd Auth/Authenticate: invalid token");
    return false;
}

static void authenticated(kc__etcd_reply *reply, void *user)
{
    kc__etcd *etcd = user;
    bool ok = false;
    kc_dlist waiters;
    kc_dlist_init(&waiters);
    kc_locked (&etcd->mutex) {
        ok = use_token(etcd, reply);
        etcd->auth.state = ok ? KC__ETCD_AUTH_READY : KC__ETCD_AUTH_NONE;
        etcd->auth.generation++;
        kc_dlist_splice(&waiters, &etcd->auth.waiters);
    }
    tell_waiters(&waiters, ok ? NULL : reply);
    kc__etcd_reply_free(reply);
}

bool kc__etcd_auth_wait(kc__etcd *etcd, kc__etcd_auth_waiter *waiter, uint64_t *ret_generation)
{
    bool start = false;
    kc_locked (&etcd->mutex) {
        if (!etcd->auth.username || etcd->auth.state == KC__ETCD_AUTH_READY) {
            *ret_generation = etcd->auth.generation;
            return true;
        }
        kc_dlist_push(&etcd->auth.waiters, &waiter->link);
        start = etcd->auth.state == KC__ETCD_AUTH_NONE;
        etcd->auth.state = KC__ETCD_AUTH_PENDING;
    }
    if (start)
        kc__etcd_call_start(
            etcd,
            &(kc__etcd_request){.method = KC__ETCD_AUTHENTICATE,
                                .authenticate = {.name = kc_cstr(etcd->auth.username),
                                                 .password = kc_cstr(etcd->auth.password)}},
            authenticated, etcd);
    return false;
}

void kc__etcd_auth_invalidate(kc__etcd *etcd, uint64_t generation)
{
    kc_locked (&etcd->mutex) {
        const bool current = etcd->auth.generation == generation;
        if (current && etcd->auth.state == KC__ETCD_AUTH_READY)
            etcd->auth.state = KC__ETCD_AUTH_NONE;
    }
}
