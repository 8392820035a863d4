/* SPDX-License-Identifier: Apache-2.0 */
/*
 * authn.c: who sends a request.
 *
 * Authenticators are tried in the order of their table. Each says that the request is not its
 * business (0), whose it is (1), or that its credentials are wrong (negative), which ends the
 * search: who shows a token meant to be somebody, and must not become nobody without noticing. A
 * certificate comes first, as upstream: its connection has proved it already.
 *
 *     certificate ─▶ bearer token (in a header field, of a WebSocket) ─▶ this machine ─▶ anonymous
 * ─▶ 401
 *
 * To add a kind of bearer token (JWTs, a webhook), add a row to `token_authenticators`; another
 * kind of credentials is a row of `authenticators`.
 *
 * What they know is read once and never changes, so any thread may ask.
 */
#include "apiserver/access/authn.h"

#include "apiserver/access/local_request.h"
#include "apiserver/access/token_file.h"
#include "apiserver/access/websocket_token.h"

struct kc__authn {
    kc__token_file *tokens; /* NULL: there is no token file. */
    bool allow_localhost, refuse_anonymous, refuse_pages;
};

/* What the authenticators are asked. */
typedef struct question {
    const kc__authn *authn;
    const kc__request *request;
    kc_arena *arena;
} question;

static int unauthorized(kc_error *err)
{
    return kc_error_set(err, KC_UNAUTHORIZED, "Unauthorized");
}

static int no_memory(kc_error *err)
{
    return kc_error_set(err, KC_TOO_LARGE, "the request has no room for its user");
}

/* ---- client certificates ---- */

/* A copy of the names, which otherwise end with the connection, and room for one more. */
static kc_str *copy_groups(kc_arena *arena, const kc_str *from, size_t n)
{
    kc_str *groups = kc_arena_calloc(arena, n + 1, sizeof(*groups));
    for (size_t i = 0; groups && i < n; i++) {
        groups[i] = kc_arena_str(arena, from[i]);
        if (from[i].n && !groups[i].p)
            return NULL;
    }
    return groups;
}

static const kc__user_extra *credential_id(const kc__client_cert *cert, kc_arena *arena)
{
    struct {
        kc__user_extra extra;
        kc_str value;
    } *id = kc_arena_calloc(arena, 1, sizeof(*id));
    const char *text = kc_arena_printf(arena, "X509SHA256=%s", cert->sha256);
    if (!id || !text)
        return NULL;
    id->value = kc_cstr(text);
    id->extra = (kc__user_extra){KC_STR(KC__EXTRA_CREDENTIAL_ID), &id->value, 1};
    return &id->extra;
}

static int by_certificate(const question *q, kc__user *ret, kc_error *err)
{
    const kc__client_cert *cert = q->request->peer ? q->request->peer->cert : NULL;
    if (!cert || kc_str_empty(cert->common_name))
        return 0;
    kc_str *groups = copy_groups(q->arena, cert->organizations, cert->n_organizations);
    kc__user user = {.name = kc_arena_str(q->arena, cert->common_name),
                     .groups = groups,
                     .n_groups = cert->n_organizations,
                     .extra = *cert->sha256 ? credential_id(cert, q->arena) : NULL};
    user.n_extra = user.extra != NULL;
    if (!groups || !user.name.p || (*cert->sha256 && !user.extra))
        return no_memory(err);
    kc__user_authenticated(&user, groups);
    *ret = user;
    return 1;
}

/* ---- bearer tokens ---- */

static int by_token_file(const question *q, kc_str token, kc__user *ret, kc_error *err)
{
    (void)err;
    const kc__user *user = q->authn->tokens ? kc__token_file_find(q->authn->tokens, token) : NULL;
    if (user)
        *ret = *user;
    return user != NULL;
}

/* 0: not known here. */
static int (*const token_authenticators[])(const question *q, kc_str token, kc__user *ret,
                                           kc_error *err) = {
    by_token_file,
};

/* The token of "Bearer TOKEN", as upstream cuts it: at single spaces. */
static kc_str bearer_token(kc_str authorization)
{
    kc_str rest = kc_str_trim(authorization);
    const kc_str scheme = kc_str_cut(&rest, ' ');
    if (!kc_str_eq_nocase(scheme, KC_STR("Bearer")) || !rest.p)
        return (kc_str){0};
    return kc_str_cut(&rest, ' ');
}

static int by_any_token(const question *q, kc_str token, kc__user *ret, kc_error *err)
{
    for (size_t i = 0; i < KC_COUNT(token_authenticators); i++) {
        const int found = token_authenticators[i](q, token, ret, err);
        if (found)
            return found;
    }
    return unauthorized(err);
}

static int by_token(const question *q, kc__user *ret, kc_error *err)
{
    const kc_str token =
        bearer_token(kc__headers_get(&q->request->headers, KC_STR("Authorization")));
    return kc_str_empty(token) ? 0 : by_any_token(q, token, ret, err);
}

static int by_websocket_token(const question *q, kc__user *ret, kc_error *err)
{
    kc_str token = {0};
    const int found = kc__websocket_token(q->request, q->arena, &token);
    if (found < 0)
        return unauthorized(err);
    return found ? by_any_token(q, token, ret, err) : 0;
}

/* ---- without credentials ---- */

static int by_localhost(const question *q, kc__user *ret, kc_error *err)
{
    static const kc_str groups[] = {KC_STR_INIT(KC__GROUP_MASTERS),
                                    KC_STR_INIT(KC__GROUP_AUTHENTICATED)};
    kc_str authorization;
    size_t at = 0;
    (void)err;
    if (!q->authn->allow_localhost || !kc__is_local_request(q->request) ||
        kc__headers_next(&q->request->headers, KC_STR("Authorization"), &at, &authorization))
        return 0;
    *ret = (kc__user){
        .name = KC_STR(KC__USER_LOCALHOST), .groups = groups, .n_groups = KC_COUNT(groups)};
    return 1;
}

static int by_nothing(const question *q, kc__user *ret, kc_error *err)
{
    static const kc_str groups[] = {KC_STR_INIT(KC__GROUP_UNAUTHENTICATED)};
    (void)err;
    if (q->authn->refuse_anonymous ||
        (q->authn->refuse_pages && kc__is_from_foreign_page(q->request)))
        return 0;
    *ret = (kc__user){
        .name = KC_STR(KC__USER_ANONYMOUS), .groups = groups, .n_groups = KC_COUNT(groups)};
    return 1;
}

/* ---- all of them ---- */

static int (*const authenticators[])(const question *q, kc__user *ret, kc_error *err) = {
    by_certificate, by_token, by_websocket_token, by_localhost, by_nothing,
};

int kc__authenticate(const kc__authn *authn, const kc__request *request, kc_arena *arena,
                     kc__user *ret, kc_error *err)
{
    const question q = {authn, request, arena};
    for (size_t i = 0; i < KC_COUNT(authenticators); i++) {
        const int found = authenticators[i](&q, ret, err);
        if (found)
            return found < 0 ? found : 0;
    }
    return unauthorized(err);
}

kc__authn *kc__authn_new(const kc__authn_opts *opts, kc_error *err)
{
    kc_auto(kc__authn) *authn = kc_new(kc__authn);
    authn->allow_localhost = opts->allow_localhost;
    authn->refuse_anonymous = opts->refuse_anonymous;
    authn->refuse_pages = opts->refuse_pages;
    if (opts->token_file &&
        !(authn->tokens = kc__token_file_read(opts->token_file, opts->log, err)))
        return NULL;
    return kc_take(authn);
}

kc__authn *kc__authn_free(kc__authn *authn)
{
    if (!authn)
        return NULL;
    kc__token_file_free(authn->tokens);
    free(authn);
    return NULL;
}
