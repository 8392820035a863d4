/* SPDX-License-Identifier: Apache-2.0 */
/*
 * credential_check.c: see credential_check.h.
 *
 * A check costs less than a microsecond: the claims of the token are kept, so no signature is
 * verified again. Timers have jitter, because clients reconnect at the same time.
 */
#include "apiserver/request/credential_check.h"

/* With the time of a check this stays below a minute. */
#define CHECK_EVERY (25 * KC_SECOND)

static void check_due(kc__loop_timer *timer)
{
    kc__rest_credential_check *check = kc_container_of(timer, kc__rest_credential_check, timer);
    if (kc__sa_tokens_recheck(check->tokens, check->claims, check->token, NULL) < 0) {
        kc__rest_credential_check_stop(check);
        check->revoked(check);
        return;
    }
    kc__loop_timer_start(timer, kc_clock_deadline(check->clock, CHECK_EVERY));
}

void kc__rest_credential_check_start(kc__rest_credential_check *check, kc__rest_call *call,
                                     void (*revoked)(kc__rest_credential_check *check))
{
    const kc_str token =
        kc__authn_signed_token(call->api->authn, &call->x->request, call->arena, &check->tokens);
    check->claims = token.n ? kc__sa_tokens_claims(check->tokens, token) : NULL;
    if (!check->claims)
        return;
    check->token = token;
    check->clock = call->api->clock;
    check->revoked = revoked;
    check->timer = (kc__loop_timer){.loop = call->x->loop, .fire = check_due};
    kc__loop_timer_start(
        &check->timer,
        kc_clock_deadline(check->clock, kc_rand_jitter(&call->context->rand, CHECK_EVERY, 0.2)));
}

void kc__rest_credential_check_stop(kc__rest_credential_check *check)
{
    if (!check->claims)
        return;
    kc__loop_timer_stop(&check->timer);
    check->claims = kc__sa_claims_unref(check->claims);
}

/* ---- streamed responses ---- */

typedef struct guarded_source {
    kc__rest_credential_check check;
    kc__exchange *x;
    const kc__http_body_source *source;
    void *user;
    bool ended;
} guarded_source;

static void end_guarded(kc__rest_credential_check *check)
{
    guarded_source *g = kc_container_of(check, guarded_source, check);
    g->ended = true;
    kc__exchange_wake(g->x);
}

static kc__http_fill fill_guarded(kc_buf *out, size_t room, void *user)
{
    guarded_source *g = user;
    return g->ended ? KC__HTTP_FILL_ABORT : g->source->fill(out, room, g->user);
}

static void guarded_done(void *user)
{
    guarded_source *g = user;
    kc__rest_credential_check_stop(&g->check);
    g->source->done(g->user);
    free(g);
}

void kc__rest_credential_guard(kc__rest_call *call, kc__http_response *response)
{
    static const kc__http_body_source source = {.fill = fill_guarded, .done = guarded_done};
    guarded_source *g = kc_new(guarded_source);
    kc__rest_credential_check_start(&g->check, call, end_guarded);
    if (!g->check.claims) {
        free(g);
        return;
    }
    g->x = call->x;
    g->source = response->source;
    g->user = response->user;
    response->source = &source;
    response->user = g;
}
