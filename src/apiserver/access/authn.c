/* SPDX-License-Identifier: Apache-2.0 */
/*
 * authn.c: authenticates requests.
 *
 * Authenticators run in the order of their table. Each returns that the request has no credentials
 * for it (0), the user (1), or that the credentials are invalid (negative). The first user wins: a
 * client may send an invalid certificate and a valid token. If there is none and some credentials
 * were invalid, the request gets 401: a client that sends credentials must not silently become
 * anonymous. The order is that of Kubernetes.
 *
 *     front proxy ─▶ certificate ─▶ bearer token (header, WebSocket) ─┬▶ localhost ─▶ anonymous
 *                                                                     └▶ invalid credentials: 401
 *
 * To add a kind of bearer token, add a row to `token_authenticators` (authn_token.c); another kind
 * of credentials is a row of `credentials`.
 *
 * Threads: each loop authenticates its own connections. Token file and CAs can be replaced at any
 * time, from any thread; cached results belong to the connection, or are guarded by a lock.
 */
#include "apiserver/access/authn_internal.h"

#include "http/trust/local_request.h"

#include <assert.h>

int kc__authn_unauthorized(kc_error *err)
{
    return kc_error_set(err, KC_UNAUTHORIZED, "Unauthorized");
}

int kc__authn_out_of_memory(kc_error *err)
{
    return kc_error_set(err, KC_TOO_LARGE, "the user of the request exceeds the memory limit");
}

/* ---- requests without credentials ---- */

static int by_localhost(const kc__authn_request *q, kc__user *ret, kc_error *err)
{
    static const kc_str groups[] = {KC_STR_INIT(KC__USER_GROUP_MASTERS),
                                    KC_STR_INIT(KC__USER_GROUP_AUTHENTICATED)};
    kc_str authorization;
    size_t at = 0;
    (void)err;
    if (kc__http_headers_next(&q->request->headers, KC_STR("Authorization"), &at, &authorization) ||
        !kc__local_trust_accepts(q->authn->localhost, q->request))
        return 0;
    *ret = (kc__user){
        .name = KC_STR(KC__USER_LOCALHOST), .groups = groups, .n_groups = KC_COUNT(groups)};
    return 1;
}

/* The configuration may allow anonymous requests for some paths only, such as probes. */
static bool may_be_anonymous(const kc__authn *authn, const kc__http_request *request)
{
    const kc__authn_texts paths = authn->anonymous_paths;
    if (authn->refuse_anonymous)
        return false;
    for (size_t i = 0; i < paths.n; i++)
        if (kc_str_eq(paths.items[i], request->target.path))
            return true;
    return !paths.n;
}

static int by_nothing(const kc__authn_request *q, kc__user *ret, kc_error *err)
{
    static const kc_str groups[] = {KC_STR_INIT(KC__USER_GROUP_UNAUTHENTICATED)};
    (void)err;
    if (!may_be_anonymous(q->authn, q->request) ||
        (q->authn->refuse_pages && kc__local_request_is_foreign_page(q->request)))
        return 0;
    *ret = (kc__user){
        .name = KC_STR(KC__USER_ANONYMOUS), .groups = groups, .n_groups = KC_COUNT(groups)};
    return 1;
}

/* ---- all authenticators ---- */

static kc__authn_fn *const credentials[] = {kc__authn_by_proxy, kc__authn_by_certificate,
                                            kc__authn_by_token, kc__authn_by_websocket_token};
static kc__authn_fn *const no_credentials[] = {by_localhost, by_nothing};

/* A client does not learn why its credentials are invalid. */
static int report_refusal(const kc__authn *authn, kc_error *why, kc_error *err)
{
    if (why->reason == KC_TOO_LARGE || why->reason == KC_TOO_MANY_REQUESTS)
        return kc_error_move(err, why);
    kc_log_verbose(authn->log, 4, "authentication failed", kc_kv("err", why));
    return kc__authn_unauthorized(err);
}

int kc__authn_authenticate(const kc__authn *authn, const kc__http_request *request,
                           const kc__authn_results *results, kc_arena *arena, kc__user *ret,
                           kc_error *err)
{
    const kc__authn_request q = {
        .authn = authn, .request = request, .results = results, .arena = arena};
    kc_scoped(kc_error) why = {0};
    bool refused = false;
    for (size_t i = 0; i < KC_COUNT(credentials); i++) {
        const int found = credentials[i](&q, ret, refused ? NULL : &why);
        if (found == KC__AUTHN_PENDING)
            return results ? kc__authn_unauthorized(err) : KC__AUTHN_PENDING;
        if (found > 0)
            return 0;
        refused |= found < 0;
    }
    if (refused)
        return report_refusal(authn, &why, err);
    for (size_t i = 0; i < KC_COUNT(no_credentials); i++)
        if (no_credentials[i](&q, ret, err) > 0)
            return 0;
    return kc__authn_unauthorized(err);
}

int kc__authn_review(const kc__authn *authn, kc_str token, kc__user_audiences wanted,
                     const kc__authn_results *results, kc_arena *arena, kc__user_identity *ret,
                     kc_error *err)
{
    const kc__authn_request q = {.authn = authn,
                                 .results = results,
                                 .arena = arena,
                                 .wanted = wanted.n ? wanted : kc__authn_audiences(authn)};
    return kc__authn_identify_token(&q, token, ret, err);
}

/* ---- configuration ---- */

kc__authn_texts kc__authn_copy_texts(kc_arena *arena, kc__authn_texts from)
{
    kc_str *items = kc_arena_calloc(arena, from.n + 1, sizeof(*items));
    for (size_t i = 0; i < from.n; i++)
        items[i] = kc_arena_str(arena, from.items[i]);
    return (kc__authn_texts){items, from.n};
}

kc__authn *kc__authn_new(const kc__authn_opts *opts, kc_error *err)
{
    kc_auto(kc__authn) *authn = kc_new(kc__authn);
    authn->clock = opts->clock ? opts->clock : kc_clock_real();
    authn->log = opts->log;
    authn->bootstrap_tokens = opts->bootstrap_tokens;
    authn->refuse_anonymous = opts->refuse_anonymous;
    authn->refuse_pages = opts->refuse_pages;
    authn->anonymous_paths = kc__authn_copy_texts(&authn->arena, opts->anonymous_paths);
    authn->client_cas = kc__cert_pool_new();
    authn->proxy = opts->proxy ? kc__authn_proxy_new(opts->proxy) : NULL;
    kc_mutex_init(&authn->mutex);
    if (opts->allow_localhost && !(authn->localhost = kc__local_trust_new(&opts->localhost, err)))
        return NULL;
    authn->token_path = opts->token_file ? kc_strdup(opts->token_file) : NULL;
    if (authn->token_path && kc__authn_reload_tokens(authn, err) < 0)
        return NULL;
    return kc_take(authn);
}

int kc__authn_set_client_ca(kc__authn *authn, kc_str pem, kc_error *err)
{
    return kc__cert_pool_replace(authn->client_cas, pem, err);
}

void kc__authn_accept_accounts(kc__authn *authn, kc__sa_tokens *accounts)
{
    authn->accounts = accounts;
}

void kc__authn_add_remote(kc__authn *authn, kc__authn_remote *remote)
{
    assert(authn->n_remotes < KC__AUTHN_MAX_REMOTES);
    authn->remotes[authn->n_remotes++] = remote;
}

void kc__authn_end_by(const kc__authn *authn, int64_t deadline)
{
    for (size_t i = 0; i < authn->n_remotes; i++)
        kc__authn_remote_end_by(authn->remotes[i], deadline);
}

void kc__authn_stop(const kc__authn *authn)
{
    for (size_t i = 0; i < authn->n_remotes; i++)
        kc__authn_remote_stop(authn->remotes[i]);
}

kc__authn *kc__authn_free(kc__authn *authn)
{
    if (!authn)
        return NULL;
    for (size_t i = 0; i < authn->n_remotes; i++)
        kc__authn_remote_free(authn->remotes[i]);
    kc__token_file_unref(authn->tokens);
    kc__local_trust_free(authn->localhost);
    kc__cert_pool_free(authn->client_cas);
    kc__authn_proxy_free(authn->proxy);
    kc_mutex_done(&authn->mutex);
    kc_arena_done(&authn->arena);
    free(authn->token_path);
    free(authn);
    return NULL;
}
