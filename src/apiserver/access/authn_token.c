/* SPDX-License-Identifier: Apache-2.0 */
/*
 * authn_token.c: authenticates requests by a bearer token, of the header Authorization or of a
 * subprotocol of a WebSocket.
 *
 * Each kind of token is a row of `token_authenticators`. If one of them rejects a token, the others
 * follow; the error then has the form of kube-apiserver's, whose authenticators each add one:
 * "[invalid bearer token, service account token has expired]". Clients get 401 without it: only
 * TokenReview reports why a token is not valid.
 */
#include "apiserver/access/authn_internal.h"

#include "apiserver/access/websocket_token.h"

/* ---- kinds of tokens ---- */

bool kc__authn_own_audiences(const kc__authn_request *q, kc__user_audiences *ret)
{
    const kc__sa_tokens *accounts = q->authn->accounts;
    const kc__user_audiences own =
        accounts ? kc__sa_tokens_audiences(accounts) : (kc__user_audiences){0};
    kc_str *both = kc_arena_calloc(q->arena, own.n + 1, sizeof(*both));
    size_t n = 0;
    for (size_t i = 0; both && i < q->wanted.n; i++)
        for (size_t j = 0; j < own.n && n < own.n; j++)
            if (kc_str_eq(q->wanted.items[i], own.items[j]))
                both[n++] = own.items[j];
    *ret = (kc__user_audiences){both, n};
    return n || !q->wanted.n;
}

static kc__token_file *current_tokens(const kc__authn *authn)
{
    kc__authn *own = (kc__authn *)authn;
    kc__token_file *tokens = NULL;
    if (!authn->token_path)
        return NULL;
    kc_locked (&own->mutex)
        tokens = kc__token_file_ref(own->tokens);
    return tokens;
}

static int by_token_file(const kc__authn_request *q, kc_str token, kc__user_identity *ret,
                         kc_error *err)
{
    kc_auto(kc__token_file) *tokens = current_tokens(q->authn);
    const kc__user *user = tokens ? kc__token_file_find(tokens, token) : NULL;
    if (!user || !kc__authn_own_audiences(q, &ret->audiences))
        return 0;
    if (!kc__user_copy(user, q->arena, &ret->user))
        return kc__authn_out_of_memory(err);
    ret->user.credential = KC__USER_STATIC_TOKEN;
    return 1;
}

static int by_service_account(const kc__authn_request *q, kc_str token, kc__user_identity *ret,
                              kc_error *err)
{
    if (!q->authn->accounts)
        return 0;
    return kc__sa_tokens_verify(q->authn->accounts, token, &q->wanted, q->arena, ret, err);
}

static kc__authn_token_fn *const token_authenticators[] = {
    by_token_file,
    by_service_account,
    kc__authn_by_bootstrap_token,
};

/* ---- why a token is not valid ---- */

enum { MAX_TOKEN_ERRORS = 8 };

typedef struct token_errors {
    char *texts[MAX_TOKEN_ERRORS];
    size_t n;
} token_errors;

/* An error that several authenticators report appears once. */
static void add_token_error(token_errors *errors, const char *text)
{
    for (size_t i = 0; i < errors->n; i++)
        if (!strcmp(errors->texts[i], text))
            return;
    if (errors->n < MAX_TOKEN_ERRORS)
        errors->texts[errors->n++] = kc_strdup(text);
}

static int all_token_errors(const token_errors *errors, kc_error *err)
{
    kc_scoped(kc_buf) text = {0};
    for (size_t i = 0; i < errors->n; i++)
        kc_buf_printf(&text, "%s%s", i ? ", " : "", errors->texts[i]);
    return kc_error_set(err, KC_UNAUTHORIZED, errors->n > 1 ? "[%s]" : "%s", kc_buf_cstr(&text));
}

static void token_errors_done(token_errors *errors)
{
    for (size_t i = 0; i < errors->n; i++)
        free(errors->texts[i]);
}

/* ---- remote authenticators ---- */

/* The result of the verification, or a cached one; NULL: there is none. With a reference. */
static kc__authn_result *remote_result(const kc__authn_request *q, size_t i, kc_str token)
{
    const kc__authn_results *results = q->results;
    if (results && kc_str_eq(results->token, token) && results->items[i])
        return kc__authn_result_ref(results->items[i]);
    const kc__user_audiences wanted = q->wanted.n ? q->wanted : kc__authn_audiences(q->authn);
    return kc__authn_remote_cached(q->authn->remotes[i], token, wanted);
}

static int use_result(const kc__authn_request *q, const kc__authn_result *result,
                      kc__user_identity *ret, kc_error *err)
{
    if (result->found < 0)
        return kc_error_set(err, result->busy ? KC_TOO_MANY_REQUESTS : KC_UNAUTHORIZED, "%s",
                            result->error);
    if (!result->found)
        return 0;
    kc_str *audiences =
        kc_arena_calloc(q->arena, result->identity.audiences.n + 1, sizeof(*audiences));
    for (size_t i = 0; audiences && i < result->identity.audiences.n; i++)
        audiences[i] = kc_arena_str(q->arena, result->identity.audiences.items[i]);
    ret->audiences = (kc__user_audiences){audiences, result->identity.audiences.n};
    return audiences && kc__user_copy(&result->identity.user, q->arena, &ret->user)
               ? 1
               : kc__authn_out_of_memory(err);
}

static int by_remote(const kc__authn_request *q, size_t i, kc_str token, kc__user_identity *ret,
                     kc_error *err)
{
    if (!kc__authn_remote_accepts(q->authn->remotes[i], token))
        return 0;
    kc__authn_result *result = remote_result(q, i, token);
    if (!result)
        return KC__AUTHN_PENDING;
    const int found = use_result(q, result, ret, err);
    kc__authn_result_unref(result);
    return found;
}

/* ---- all kinds ---- */

kc__user_audiences kc__authn_audiences(const kc__authn *authn)
{
    return authn->accounts ? kc__sa_tokens_audiences(authn->accounts) : (kc__user_audiences){0};
}

static int by_kind(const kc__authn_request *q, size_t i, kc_str token, kc__user_identity *ret,
                   kc_error *err)
{
    const size_t local = KC_COUNT(token_authenticators);
    return i < local ? token_authenticators[i](q, token, ret, err)
                     : by_remote(q, i - local, token, ret, err);
}

static int try_kinds(const kc__authn_request *q, kc_str token, token_errors *errors,
                     kc__user_identity *ret, kc_error *err)
{
    for (size_t i = 0; i < KC_COUNT(token_authenticators) + q->authn->n_remotes; i++) {
        kc_scoped(kc_error) why = {0};
        kc__user_identity identity = {0};
        const int found = by_kind(q, i, token, &identity, &why);
        if (found > 0) {
            *ret = identity;
            return found;
        }
        if (found < 0 && (why.reason == KC_TOO_LARGE || why.reason == KC_TOO_MANY_REQUESTS))
            return kc_error_move(err, &why);
        if (found < 0)
            add_token_error(errors, kc_error_text(&why));
    }
    return all_token_errors(errors, err);
}

int kc__authn_identify_token(const kc__authn_request *q, kc_str token, kc__user_identity *ret,
                             kc_error *err)
{
    token_errors errors = {0};
    add_token_error(&errors, "invalid bearer token");
    const int found = try_kinds(q, token, &errors, ret, err);
    token_errors_done(&errors);
    return found;
}

/* ---- tokens of requests ---- */

/* The token of "Bearer TOKEN", split at single spaces as in Kubernetes. */
static kc_str bearer_token(kc_str authorization)
{
    kc_str rest = kc_str_trim(authorization);
    const kc_str scheme = kc_str_cut(&rest, ' ');
    if (!kc_str_eq_nocase(scheme, KC_STR("Bearer")) || !rest.p)
        return (kc_str){0};
    return kc_str_cut(&rest, ' ');
}

static kc_str header_token(const kc__http_request *request)
{
    return bearer_token(kc__http_headers_get(&request->headers, KC_STR("Authorization")));
}

static int by_any_token(const kc__authn_request *q, kc_str token, kc__user *ret, kc_error *err)
{
    kc__user_identity identity = {0};
    const int found = kc__authn_identify_token(q, token, &identity, err);
    if (found == 1)
        *ret = identity.user;
    return found;
}

int kc__authn_by_token(const kc__authn_request *q, kc__user *ret, kc_error *err)
{
    const kc_str token = header_token(q->request);
    return kc_str_empty(token) ? 0 : by_any_token(q, token, ret, err);
}

int kc__authn_by_websocket_token(const kc__authn_request *q, kc__user *ret, kc_error *err)
{
    kc_str token = {0};
    const int found = kc__authn_websocket_token(q->request, q->arena, &token);
    if (found < 0)
        return kc__authn_unauthorized(err);
    return found ? by_any_token(q, token, ret, err) : 0;
}

kc_str kc__authn_request_token(const kc__http_request *request, kc_arena *arena)
{
    kc_str token = header_token(request);
    if (kc_str_empty(token))
        kc__authn_websocket_token(request, arena, &token);
    return token;
}

/* ---- the token file ---- */

int kc__authn_reload_tokens(kc__authn *authn, kc_error *err)
{
    kc__token_file *fresh = kc__token_file_read(authn->token_path, authn->log, err), *old = NULL;
    if (!fresh)
        return kc_error_result(err);
    kc_locked (&authn->mutex) {
        old = authn->tokens;
        authn->tokens = fresh;
    }
    kc__token_file_unref(old);
    return 0;
}

kc_str kc__authn_signed_token(const kc__authn *authn, const kc__http_request *request,
                              kc_arena *arena, kc__sa_tokens **ret_tokens)
{
    const kc__authn_request q = {.authn = authn, .request = request, .arena = arena};
    kc__user user = {0};
    if (!authn->accounts || kc__authn_by_certificate(&q, &user, NULL) > 0)
        return (kc_str){0};
    *ret_tokens = authn->accounts;
    return kc__authn_request_token(request, arena);
}
