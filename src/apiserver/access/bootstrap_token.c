/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bootstrap_token.c: authenticates requests by a bootstrap token, by which a new node joins a
 * cluster: "07401b.f395accd246ae52d". The part before the dot names a Secret of kube-system:
 *
 *     kind: Secret
 *     metadata: {name: bootstrap-token-07401b, namespace: kube-system}
 *     type: bootstrap.kubernetes.io/token
 *     stringData:
 *       token-id: 07401b
 *       token-secret: f395accd246ae52d
 *       usage-bootstrap-authentication: "true"
 *       expiration: 2026-03-10T03:22:11Z                              optional
 *       auth-extra-groups: system:bootstrappers:workers               optional
 *
 * The user is system:bootstrap:07401b in the group system:bootstrappers. The Secret is read for
 * every request: deleting it revokes the token at once. A token that does not match is no error,
 * as in Kubernetes, so the other authenticators see it.
 */
#include "apiserver/access/authn_internal.h"

#include "kc/ascii.h"
#include "kc/base64.h"
#include "kc/meta.h"
#include "kc/time.h"
#include "kc/view.h"

#include <openssl/crypto.h>

#define USER_PREFIX  "system:bootstrap:"
#define GROUP        "system:bootstrappers"
#define SECRET_NAME  "bootstrap-token-%.*s"
#define SECRET_TYPE  "bootstrap.kubernetes.io/token"
#define TOKEN_SECRET "token-secret"

enum { ID_LENGTH = 6, SECRET_LENGTH = 16, MAX_EXTRA_GROUPS = 64, MAX_GROUP_SUFFIX = 256 };

/* ---- the form of a token ---- */

/* Looks at every byte, whatever it finds: the time tells nothing about a secret. */
static bool is_bootstrap_text(kc_str text, size_t n)
{
    bool valid = text.n == n;
    for (size_t i = 0; i < text.n; i++)
        valid &= kc_is_digit(text.p[i]) || (text.p[i] >= 'a' && text.p[i] <= 'z');
    return valid;
}

static bool split_bootstrap_token(kc_str token, kc_str *ret_id, kc_str *ret_secret)
{
    kc_str rest = token;
    if (token.n != ID_LENGTH + 1 + SECRET_LENGTH)
        return false;
    *ret_id = kc_str_cut(&rest, '.');
    *ret_secret = rest;
    return is_bootstrap_text(*ret_id, ID_LENGTH) && is_bootstrap_text(rest, SECRET_LENGTH);
}

/* ---- the Secret ---- */

/* A value of the Secret, decoded; empty if there is none. */
static kc_str secret_value(const kc_value *secret, const char *name, kc_arena *arena)
{
    kc_scoped(kc_buf) text = {0};
    const kc_str encoded = kc_value_as_str(kc_value_get(kc_value_get(secret, "data"), name));
    if (!kc_base64_read(&text, encoded, KC_BASE64))
        return (kc_str){0};
    const kc_str copy = kc_arena_str(arena, kc_buf_str(&text));
    kc_buf_wipe(&text);
    return copy;
}

static bool holds_bootstrap_secret(const kc_value *secret, kc_str given, kc_arena *arena)
{
    const kc_str kept = secret_value(secret, TOKEN_SECRET, arena);
    const bool same = kept.n == given.n && CRYPTO_memcmp(kept.p, given.p, given.n) == 0;
    if (kept.n)
        OPENSSL_cleanse((char *)kept.p, kept.n);
    return same;
}

/* Years that nanoseconds since 1970 cannot express, such as 2999, are far away. */
static kc_str bring_year_near(kc_str text, kc_arena *arena)
{
    static const char last[] = "2261";
    char *near = kc_arena_strndup(arena, text.p, text.n);
    if (!near || text.n < 4 || strncmp(near, last, 4) <= 0)
        return text;
    memcpy(near, last, 4);
    return kc_str_of(near, text.n);
}

/* A time that cannot be parsed counts as passed. */
static bool bootstrap_token_expired(const kc_value *secret, int64_t now, kc_arena *arena)
{
    const kc_str text = secret_value(secret, "expiration", arena);
    kc_time when = 0;
    return text.n && (kc_time_parse(bring_year_near(text, arena), &when, NULL) < 0 || when <= now);
}

static bool is_bootstrap_secret(const kc_value *secret, kc_str id, kc_str given, int64_t now,
                                kc_arena *arena)
{
    const kc_str use = secret_value(secret, "usage-bootstrap-authentication", arena);
    return kc_str_is(kc_value_as_str(kc_value_get(secret, "type")), SECRET_TYPE) &&
           holds_bootstrap_secret(secret, given, arena) &&
           kc_str_eq(secret_value(secret, "token-id", arena), id) &&
           !bootstrap_token_expired(secret, now, arena) && kc_str_is(use, "true");
}

/* ---- the user ---- */

/* system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9] */
static bool is_bootstrap_group(kc_str group)
{
    const kc_str prefix = KC_STR(GROUP ":");
    const kc_str rest =
        kc_str_starts(group, prefix) ? kc_str_sub(group, prefix.n, group.n) : (kc_str){0};
    for (size_t i = 0; i < rest.n; i++)
        if (!is_bootstrap_text(kc_str_sub(rest, i, i + 1), 1) &&
            (i + 1 == rest.n || (rest.p[i] != ':' && rest.p[i] != '-')))
            return false;
    return rest.n && rest.n <= MAX_GROUP_SUFFIX;
}

static int order_of_groups(const void *a, const void *b)
{
    return kc_str_cmp(*(const kc_str *)a, *(const kc_str *)b);
}

static size_t sort_unique_groups(kc_str *groups, size_t n)
{
    size_t kept = 0;
    qsort(groups, n, sizeof(*groups), order_of_groups);
    for (size_t i = 0; i < n; i++)
        if (!kept || !kc_str_eq(groups[kept - 1], groups[i]))
            groups[kept++] = groups[i];
    return kept;
}

/* False if one of the groups is not allowed: the token is then not valid. */
static bool bootstrap_groups(const kc_value *secret, kc_arena *arena, kc__user *user)
{
    kc_str rest = secret_value(secret, "auth-extra-groups", arena);
    kc_str *groups = kc_arena_calloc(arena, MAX_EXTRA_GROUPS + 2, sizeof(*groups));
    size_t n = 0;
    if (!groups)
        return false;
    groups[n++] = KC_STR(GROUP);
    while (rest.n || (n > 1 && rest.p)) {
        const kc_str group = kc_str_cut(&rest, ',');
        if (n > MAX_EXTRA_GROUPS || !is_bootstrap_group(group))
            return false;
        groups[n++] = group;
    }
    user->groups = groups;
    user->n_groups = sort_unique_groups(groups, n);
    kc__user_authenticated(user, groups);
    return true;
}

bool kc__authn_bootstrap_user(const kc_value *secret, kc_str token, int64_t now, kc_arena *arena,
                              kc__user *ret)
{
    kc_str id, given;
    if (!split_bootstrap_token(token, &id, &given) ||
        !is_bootstrap_secret(secret, id, given, now, arena))
        return false;
    const char *name = kc_arena_printf(arena, USER_PREFIX "%.*s", KC_ARG(id));
    if (!name)
        return false;
    *ret = (kc__user){.name = kc_cstr(name)};
    return bootstrap_groups(secret, arena, ret);
}

int kc__authn_by_bootstrap_token(const kc__authn_request *q, kc_str token, kc__user_identity *ret,
                                 kc_error *err)
{
    kc_str id, given;
    if (!q->authn->bootstrap_tokens || !q->authn->accounts ||
        !split_bootstrap_token(token, &id, &given))
        return 0;
    const char *name = kc_arena_printf(q->arena, SECRET_NAME, KC_ARG(id));
    if (!name)
        return kc__authn_out_of_memory(err);
    kc_auto(kc_object) *object = kc__sa_tokens_get_object(q->authn->accounts, KC__SA_SECRET,
                                                          KC_STR("kube-system"), kc_cstr(name));
    if (!object || kc_object_deletion_timestamp(object).n ||
        !kc__authn_own_audiences(q, &ret->audiences))
        return 0;
    kc_auto(kc_view) *view = kc_view_of(object);
    return kc__authn_bootstrap_user(kc_view_root(view), token, kc_clock_wall(q->authn->clock),
                                    q->arena, &ret->user);
}
