/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sa_tokens.c: issues and verifies the tokens of service accounts.
 *
 *     token ─▶ cache ─(miss)─▶ issuer ours? ─▶ key by id ─▶ signature ─▶ claims ─▶ cache
 *                └─(hit)──────────────────────────────────────────────────┐
 *                                     user ◀── stored objects ◀── time ◀── audience
 *
 * The cache keeps what cannot change: that a key signed these claims. Everything else is checked
 * for every request.
 *
 * Cost: verification runs on the I/O loop of the request. RS256 takes about 30 us, ES256 100 us,
 * less than a TLS handshake, and a token with an unknown issuer or key id is rejected before that.
 * A worker thread would cost more than it saves.
 */
#include "apiserver/access/sa_internal.h"

#include "apiserver/jose/jws.h"

/* Keys that are tried for a token without a key id; no issuer has left it out since 2018. */
enum { MAX_TRIED_KEYS = 4 };

/* ---- opening ---- */

static kc__user_audiences copy_texts(kc_arena *arena, kc__user_audiences texts)
{
    kc_str *items = kc_arena_calloc(arena, texts.n + 1, sizeof(*items));
    for (size_t i = 0; i < texts.n; i++)
        items[i] = kc_arena_str(arena, texts.items[i]);
    return (kc__user_audiences){items, texts.n};
}

static int read_signing_key(kc__sa_tokens *tokens, const char *path, kc_error *err)
{
    if (kc__jose_keys_read(path, &tokens->keys, err) < 0)
        return kc_error_wrap(err, "service account signing key");
    tokens->signing = tokens->keys.items[0];
    if (!tokens->signing->is_private)
        return kc_error_set(err, KC_INVALID, "service account signing key: no private key in %s",
                            path);
    return 0;
}

/* The signing key is the first of the set; files that repeat it are common. */
static int read_other_keys(kc__sa_tokens *tokens, const kc__sa_opts *opts, kc_error *err)
{
    for (size_t i = 0; i < opts->n_key_files; i++)
        if (kc__jose_keys_read(opts->key_files[i].p, &tokens->keys, err) < 0)
            return kc_error_wrap(err, "service account key");
    kc__jose_keys_unique(&tokens->keys);
    return 0;
}

static int make_sa_counters(kc__sa_tokens *tokens, kc_metrics *metrics, kc_error *err)
{
    if (!metrics)
        return 0;
#define KC__SA_COUNTER_NEW(field, metric_name, text)                                               \
    {                                                                                              \
        kc_metric *metric = kc_metrics_counter(                                                    \
            metrics, &(kc_metric_opts){.name = "serviceaccount_" metric_name, .help = text}, err); \
        if (!metric)                                                                               \
            return kc_error_result(err);                                                           \
        tokens->field = kc_metric_counter(metric);                                                 \
    }
    KC__SA_COUNTERS(KC__SA_COUNTER_NEW)
#undef KC__SA_COUNTER_NEW
    return 0;
}

kc__sa_tokens *kc__sa_tokens_new(const kc__sa_opts *opts, kc_error *err)
{
    kc_auto(kc__sa_tokens) *tokens = kc_new(kc__sa_tokens);
    tokens->clock = opts->clock ? opts->clock : kc_clock_real();
    tokens->issuers = copy_texts(&tokens->arena, opts->issuers);
    tokens->audiences =
        opts->audiences.n ? copy_texts(&tokens->arena, opts->audiences) : tokens->issuers;
    tokens->max_seconds = opts->max_seconds;
    tokens->extend_expiration = opts->extend_expiration;
    if (read_signing_key(tokens, opts->signing_key_file, err) < 0 ||
        read_other_keys(tokens, opts, err) < 0 ||
        kc__sa_make_documents(tokens, opts->jwks_uri, err) < 0 ||
        make_sa_counters(tokens, opts->metrics, err) < 0)
        return NULL;
    tokens->cache = kc__token_cache_new(tokens->clock, opts->metrics, err);
    return tokens->cache ? kc_take(tokens) : NULL;
}

kc__sa_tokens *kc__sa_tokens_free(kc__sa_tokens *tokens)
{
    if (!tokens)
        return NULL;
    kc__token_cache_free(tokens->cache);
    kc__jose_keys_done(&tokens->keys);
    kc_arena_done(&tokens->arena);
    free(tokens);
    return NULL;
}

void kc__sa_tokens_attach(kc__sa_tokens *tokens, const kc__sa_objects *objects)
{
    tokens->objects = objects ? *objects : (kc__sa_objects){0};
}

kc_object *kc__sa_tokens_get_object(const kc__sa_tokens *tokens, kc__sa_kind kind, kc_str ns,
                                    kc_str name)
{
    const kc__sa_objects *objects = &tokens->objects;
    return objects->get ? objects->get(kind, ns, name, objects->user) : NULL;
}

void kc__sa_tokens_attach_people(kc__sa_tokens *tokens, const kc__sa_people *people)
{
    tokens->people = people ? *people : (kc__sa_people){0};
}

/* ---- signatures ---- */

static bool contains_text(kc__user_audiences list, kc_str text)
{
    for (size_t i = 0; i < list.n; i++)
        if (kc_str_eq(list.items[i], text))
            return true;
    return false;
}

static bool accepts_issuer(const kc__sa_tokens *tokens, kc_str issuer)
{
    return contains_text(tokens->issuers, issuer) || kc_str_is(issuer, KC__SA_LEGACY_ISSUER);
}

static bool names_issuer(const kc__sa_tokens *tokens, const kc__jws *jws)
{
    kc_scoped(kc_buf) issuer = {0};
    return kc__sa_claims_peek_issuer(jws->payload, &issuer) &&
           accepts_issuer(tokens, kc_buf_str(&issuer));
}

static int check_signature(const kc__sa_tokens *tokens, const kc__jws *jws, kc_error *err)
{
    if (jws->key_id.n) {
        const kc__jose_key *key = kc__jose_keys_find(&tokens->keys, jws->key_id);
        if (!key)
            return kc_error_set(err, KC_UNAUTHORIZED, "invalid signature, no keys found");
        if (kc__jws_verify(jws, key))
            return 0;
    }
    for (size_t i = 0; !jws->key_id.n && i < KC_MIN(tokens->keys.n, (size_t)MAX_TRIED_KEYS); i++)
        if (kc__jws_verify(jws, tokens->keys.items[i]))
            return 0;
    return kc_error_set(err, KC_UNAUTHORIZED, "go-jose/go-jose: error in cryptographic primitive");
}

/* 1 and the claims; 0 if the token is not one of these issuers. */
static int verify_signature(const kc__sa_tokens *tokens, kc_str token, kc__sa_claims **ret,
                            kc_error *err)
{
    kc_scoped(kc__jws) jws = {0};
    if (kc__jws_parse(token, &jws, NULL) < 0 || !names_issuer(tokens, &jws))
        return 0;
    if (check_signature(tokens, &jws, err) < 0)
        return kc_error_result(err);
    kc_auto(kc__sa_claims) *claims = kc__sa_claims_parse(jws.payload, err);
    if (!claims)
        return kc_error_result(err);
    if (!accepts_issuer(tokens, claims->issuer))
        return kc_error_set(err, KC_UNAUTHORIZED, "token issuer is invalid");
    *ret = kc_take(claims);
    return 1;
}

static int verified_claims(kc__sa_tokens *tokens, kc_str token, kc__sa_claims **ret, kc_error *err)
{
    kc__token_cache_key key;
    *ret = token.n <= KC__JWS_MAX_BYTES ? kc__token_cache_get(tokens->cache, token, &key) : NULL;
    if (*ret)
        return 1;
    const int found = verify_signature(tokens, token, ret, err);
    if (found)
        kc__token_cache_count_fetch(tokens->cache, found > 0);
    if (found > 0)
        kc__token_cache_put(tokens->cache, &key, *ret);
    return found;
}

/* ---- audiences ---- */

/* ["a" "b"], as Go prints a list of strings with %q. */
static void quote_list(kc_buf *out, kc__user_audiences list)
{
    kc_buf_putc(out, '[');
    for (size_t i = 0; i < list.n; i++)
        kc_buf_printf(out, "%s\"%.*s\"", i ? " " : "", KC_ARG(list.items[i]));
    kc_buf_putc(out, ']');
}

static int wrong_audience(kc__user_audiences has, kc__user_audiences wanted, kc_error *err)
{
    kc_scoped(kc_buf) text = {0};
    kc_buf_puts(&text, "token audiences ");
    quote_list(&text, has);
    kc_buf_puts(&text, " is invalid for the target audiences ");
    quote_list(&text, wanted);
    return kc_error_set(err, KC_UNAUTHORIZED, "%s", kc_buf_cstr(&text));
}

/* The audiences of the token that were asked for. A token without any is for this server. */
static int match_audiences(kc__sa_tokens *tokens, const kc__sa_claims *claims,
                           const kc__user_audiences *asked, kc__sa_use *use,
                           kc__user_audiences *ret, kc_error *err)
{
    const kc__user_audiences wanted = asked && asked->n ? *asked : tokens->audiences;
    kc__user_audiences has = {claims->audiences, claims->n_audiences};
    if (!has.n) {
        kc_counter_inc(tokens->legacy);
        kc__sa_note(use, "authentication.k8s.io/legacy-token", claims->subject);
        has = tokens->audiences;
    }
    kc_str *both = kc_arena_calloc(use->arena, has.n, sizeof(*both));
    size_t n = 0;
    for (size_t i = 0; both && i < has.n; i++)
        if (contains_text(wanted, has.items[i]))
            both[n++] = kc_arena_str(use->arena, has.items[i]);
    if (!n)
        return wrong_audience(has, wanted, err);
    *ret = (kc__user_audiences){both, n};
    return 0;
}

/* ---- verifying ---- */

/* The user of a person's token; `ret` may be NULL. */
static int identify_person(const kc__sa_tokens *tokens, const kc__sa_claims *claims,
                           kc_arena *arena, kc__user *ret, kc_error *err)
{
    const kc__sa_people *people = &tokens->people;
    if (!people->identify)
        return kc_error_set(err, KC_UNAUTHORIZED, "the user of the token does not exist");
    return people->identify(claims, arena, ret, people->user, err);
}

static int identify(kc__sa_tokens *tokens, const kc__sa_claims *claims, kc_str token,
                    const kc__user_audiences *wanted, kc_arena *arena, kc__user_identity *ret,
                    kc_error *err)
{
    kc__user_identity identity = {0};
    kc__sa_use use = {.arena = arena};
    if (match_audiences(tokens, claims, wanted, &use, &identity.audiences, err) < 0 ||
        kc__sa_check_claims(tokens, claims, token, &use, err) < 0)
        return kc_error_result(err);
    if (claims->person.present) {
        if (identify_person(tokens, claims, arena, &identity.user, err) < 0)
            return kc_error_result(err);
    } else if (!kc__sa_user_of(claims, arena, &identity.user))
        return kc_error_set(err, KC_TOO_LARGE, "the user of the request exceeds the memory limit");
    identity.user.credential = KC__USER_SIGNED_TOKEN;
    identity.user.expires = claims->expiry.present ? claims->expiry.seconds : 0;
    identity.user.notes = use.notes;
    identity.user.n_notes = use.n_notes;
    *ret = identity;
    return 1;
}

int kc__sa_tokens_verify(kc__sa_tokens *tokens, kc_str token, const kc__user_audiences *wanted,
                         kc_arena *arena, kc__user_identity *ret, kc_error *err)
{
    kc_auto(kc__sa_claims) *claims = NULL;
    const int found = verified_claims(tokens, token, &claims, err);
    return found > 0 ? identify(tokens, claims, token, wanted, arena, ret, err) : found;
}

/* ---- long requests ---- */

kc__sa_claims *kc__sa_tokens_claims(kc__sa_tokens *tokens, kc_str token)
{
    kc__sa_claims *claims = NULL;
    return verified_claims(tokens, token, &claims, NULL) > 0 ? claims : NULL;
}

int kc__sa_tokens_recheck(kc__sa_tokens *tokens, const kc__sa_claims *claims, kc_str token,
                          kc_error *err)
{
    const int64_t now = kc_clock_wall(tokens->clock) / KC_SECOND;
    if (claims->expiry.present && now >= claims->expiry.seconds)
        return kc_error_set(err, KC_UNAUTHORIZED, "the token has expired");
    if (kc__sa_check_claims(tokens, claims, token, NULL, err) < 0)
        return kc_error_result(err);
    return claims->person.present ? identify_person(tokens, claims, NULL, NULL, err) : 0;
}

/* ---- issuing ---- */

int kc__sa_tokens_sign(const kc__sa_tokens *tokens, const kc__sa_claims *claims, kc_buf *out,
                       kc_error *err)
{
    kc_scoped(kc_buf) payload = {0};
    kc__sa_claims issued = *claims;
    issued.issuer = claims->legacy ? KC_STR(KC__SA_LEGACY_ISSUER) : tokens->issuers.items[0];
    kc__sa_claims_write(&issued, &payload);
    return kc__jws_sign(tokens->signing, kc_buf_str(&payload), out, err);
}

/* ---- configuration ---- */

kc__user_audiences kc__sa_tokens_audiences(const kc__sa_tokens *tokens)
{
    return tokens->audiences;
}

int64_t kc__sa_tokens_max_seconds(const kc__sa_tokens *tokens)
{
    return tokens->max_seconds;
}

bool kc__sa_tokens_extends(const kc__sa_tokens *tokens)
{
    return tokens->extend_expiration;
}

kc_str kc__sa_tokens_discovery(const kc__sa_tokens *tokens)
{
    return tokens->discovery;
}

kc_str kc__sa_tokens_key_set(const kc__sa_tokens *tokens)
{
    return tokens->key_set;
}
