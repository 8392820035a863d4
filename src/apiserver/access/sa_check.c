/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sa_check.c: checks the claims of a service-account token against the time and the stored objects.
 *
 * A token dies with its account and with the object it is bound to: the object must exist with the
 * uid of the claims, and must not have been deleted for more than a minute. (A pod that terminates
 * keeps its token for that minute.) Messages are those of Kubernetes; only TokenReview shows them.
 *
 * Legacy tokens do not expire. They are valid while their Secret holds the same text, so deleting
 * the Secret, or its token, revokes them.
 */
#include "apiserver/access/account_name.h"
#include "apiserver/access/sa_internal.h"

#include "kc/base64.h"
#include "kc/meta.h"
#include "kc/object.h"
#include "kc/time.h"
#include "kc/view.h"

#include <openssl/crypto.h>

#define INVALID_SINCE "kubernetes.io/legacy-token-invalid-since"
#define INVALIDATED   "service account token has been invalidated"

static int invalid_token(kc_error *err, const char *why)
{
    return kc_error_set(err, KC_UNAUTHORIZED, "%s", why);
}

/* ---- notes ---- */

void kc__sa_note(kc__sa_use *use, const char *key, kc_str value)
{
    if (!use->notes)
        use->notes = kc_arena_calloc(use->arena, KC__SA_MAX_NOTES, sizeof(*use->notes));
    if (!use->notes || use->n_notes == KC__SA_MAX_NOTES)
        return;
    const kc_str copy = kc_arena_str(use->arena, value);
    if (copy.p)
        use->notes[use->n_notes++] = (kc__user_note){kc_cstr(key), copy};
}

/* ---- time ---- */

static int check_time(const kc__sa_claims *claims, int64_t now, kc_error *err)
{
    const int64_t latest = now + KC__SA_LEEWAY_SECONDS, earliest = now - KC__SA_LEEWAY_SECONDS;
    if (claims->not_before.present && latest < claims->not_before.seconds)
        return invalid_token(err, "service account token is not valid yet");
    if (claims->expiry.present && earliest > claims->expiry.seconds)
        return invalid_token(err, "service account token has expired");
    if (claims->issued_at.present && latest < claims->issued_at.seconds)
        return invalid_token(err, "service account token is issued in the future");
    return 0;
}

/* A token that the kubelet should have renewed. */
static void count_stale(const kc__sa_tokens *tokens, const kc__sa_claims *claims, int64_t now,
                        kc__sa_use *use)
{
    const int64_t since = now - claims->warn_after.seconds;
    if (!claims->warn_after.present || !claims->warn_after.seconds)
        return;
    kc_counter_inc(since > 0 ? tokens->stale : tokens->valid);
    if (since <= 0)
        return;
    kc_scoped(kc_buf) text = {0};
    kc_buf_printf(&text, "subject: %.*s, seconds after warning threshold: %lld",
                  KC_ARG(claims->subject), (long long)since);
    kc__sa_note(use, "authentication.k8s.io/stale-token", kc_buf_str(&text));
}

/* ---- stored objects ---- */

static kc_object *find_bound(const kc__sa_tokens *tokens, kc__sa_kind kind, kc_str ns, kc_str name)
{
    return name.n ? kc__sa_tokens_get_object(tokens, kind, ns, name) : NULL;
}

/* Whether the object was deleted, and the leeway has passed, too. */
static bool is_long_deleted(const kc_object *object, int64_t now)
{
    kc_time deleted = 0;
    const kc_str text = kc_object_deletion_timestamp(object);
    return text.n && kc_time_parse(text, &deleted, NULL) == 0 &&
           deleted / KC_SECOND < now - KC__SA_LEEWAY_SECONDS;
}

static int check_account(const kc__sa_tokens *tokens, const kc__sa_claims *claims, int64_t now,
                         kc_error *err)
{
    const kc_str name = claims->account.name;
    kc_auto(kc_object) *account = find_bound(tokens, KC__SA_ACCOUNT, claims->ns, name);
    if (!account)
        return kc_error_set(err, KC_UNAUTHORIZED, "serviceaccounts \"%.*s\" not found",
                            KC_ARG(name));
    if (!kc_str_eq(kc_object_uid(account), claims->account.uid))
        return kc_error_set(err, KC_UNAUTHORIZED,
                            "service account UID (%.*s) does not match claim (%.*s)",
                            KC_ARG(kc_object_uid(account)), KC_ARG(claims->account.uid));
    if (is_long_deleted(account, now))
        return kc_error_set(err, KC_UNAUTHORIZED, "service account %.*s/%.*s has been deleted",
                            KC_ARG(claims->ns), KC_ARG(name));
    return 0;
}

static int check_bound(const kc__sa_tokens *tokens, kc__sa_kind kind, kc_str ns,
                       const kc__sa_ref *ref, int64_t now, kc_error *err)
{
    static const struct {
        const char *title, *word;
    } texts[KC__SA_N_KINDS] = {[KC__SA_SECRET] = {"secret", "secret"},
                               [KC__SA_POD] = {"pod", "pod"},
                               [KC__SA_NODE] = {"node", "node"}};
    kc_auto(kc_object) *object = find_bound(tokens, kind, ns, ref->name);
    if (!object)
        return invalid_token(err, INVALIDATED);
    if (!kc_str_eq(kc_object_uid(object), ref->uid))
        return kc_error_set(err, KC_UNAUTHORIZED,
                            "%s UID (%.*s) does not match service account %s ref claim (%.*s)",
                            texts[kind].title, KC_ARG(kc_object_uid(object)), texts[kind].word,
                            KC_ARG(ref->uid));
    return is_long_deleted(object, now) ? invalid_token(err, INVALIDATED) : 0;
}

/* The node of a pod's token is information; the pod is what the token is bound to. */
static int check_bindings(const kc__sa_tokens *tokens, const kc__sa_claims *claims, int64_t now,
                          kc_error *err)
{
    int failed = 0;
    if (claims->secret.present)
        failed = check_bound(tokens, KC__SA_SECRET, claims->ns, &claims->secret, now, err);
    if (!failed && claims->pod.present)
        failed = check_bound(tokens, KC__SA_POD, claims->ns, &claims->pod, now, err);
    else if (!failed && claims->node.present)
        failed = check_bound(tokens, KC__SA_NODE, (kc_str){0}, &claims->node, now, err);
    return failed;
}

/* ---- legacy tokens ---- */

static int check_legacy_claims(const kc__sa_claims *claims, kc_error *err)
{
    kc_str ns = {0}, name = {0};
    const struct {
        kc_str value;
        const char *message;
    } needed[] = {{claims->subject, "sub claim is missing"},
                  {claims->ns, "namespace claim is missing"},
                  {claims->secret.name, "secretName claim is missing"},
                  {claims->account.name, "serviceAccountName claim is missing"},
                  {claims->account.uid, "serviceAccountUID claim is missing"}};
    for (size_t i = 0; i < KC_COUNT(needed); i++)
        if (!needed[i].value.n)
            return invalid_token(err, needed[i].message);
    if (!kc__user_account_split(claims->subject, &ns, &name) || !kc_str_eq(ns, claims->ns) ||
        !kc_str_eq(name, claims->account.name))
        return invalid_token(err, "sub claim is invalid");
    return 0;
}

/* Compares in constant time; the lengths are no secret. */
static bool secret_holds_token(const kc_object *secret, kc_str token)
{
    kc_scoped(kc_buf) kept = {0};
    kc_auto(kc_view) *view = kc_view_of(secret);
    const kc_str text =
        kc_value_as_str(kc_value_get(kc_value_get(kc_view_root(view), "data"), "token"));
    const bool same = kc_base64_read(&kept, text, KC_BASE64) && kept.n == token.n && token.n &&
                      CRYPTO_memcmp(kept.p, token.p, token.n) == 0;
    kc_buf_wipe(&kept);
    return same;
}

/* Whether the account lists the Secret: servers before 1.24 created such tokens by themselves. */
static bool is_automatic(const kc_object *account, kc_str secret)
{
    kc_auto(kc_view) *view = kc_view_of(account);
    kc_value_each_item (kc_value_get(kc_view_root(view), "secrets"), item)
        if (kc_str_eq(kc_value_as_str(kc_value_get(item, "name")), secret))
            return true;
    return false;
}

static int check_legacy_account(const kc__sa_claims *claims, const kc_object *account,
                                kc_error *err)
{
    const kc_str name = claims->account.name;
    if (!account)
        return kc_error_set(err, KC_UNAUTHORIZED, "serviceaccounts \"%.*s\" not found",
                            KC_ARG(name));
    if (kc_object_deletion_timestamp(account).n)
        return kc_error_set(err, KC_UNAUTHORIZED, "ServiceAccount %.*s/%.*s has been deleted",
                            KC_ARG(claims->ns), KC_ARG(name));
    if (!kc_str_eq(kc_object_uid(account), claims->account.uid))
        return kc_error_set(err, KC_UNAUTHORIZED,
                            "ServiceAccount UID (%.*s) does not match claim (%.*s)",
                            KC_ARG(kc_object_uid(account)), KC_ARG(claims->account.uid));
    return 0;
}

static void note_legacy_use(const kc__sa_tokens *tokens, const kc_object *secret, int64_t now)
{
    char today[KC_TIME_TEXT];
    const kc__sa_objects *objects = &tokens->objects;
    kc_time_print(now * KC_SECOND, today);
    if (objects->used)
        objects->used(secret, kc_str_of(today, strlen("2006-01-02")), objects->user);
}

static bool is_marked_invalid(const kc_object *secret)
{
    kc_scoped(kc_arena) arena = {0};
    return kc_object_label(secret, KC_STR(INVALID_SINCE), &arena).n > 0;
}

static int refuse_invalidated(const kc__sa_claims *claims, kc_error *err)
{
    const kc_str ns = claims->ns;
    return kc_error_set(
        err, KC_UNAUTHORIZED,
        "the token in secret %.*s/%.*s for service account %.*s/%.*s has been marked invalid. Use "
        "tokens from the TokenRequest API or manually created secret-based tokens, or remove the "
        "'" INVALID_SINCE "' label from the secret to temporarily allow use of this token",
        KC_ARG(ns), KC_ARG(claims->secret.name), KC_ARG(ns), KC_ARG(claims->account.name));
}

static void count_legacy_use(const kc__sa_tokens *tokens, const kc__sa_claims *claims,
                             const kc_object *account, const kc_object *secret, int64_t now,
                             kc__sa_use *use)
{
    const kc_str name = claims->secret.name;
    note_legacy_use(tokens, secret, now);
    if (is_marked_invalid(secret)) {
        kc_counter_inc(tokens->invalidated);
        return;
    }
    const bool automatic = is_automatic(account, name);
    kc_counter_inc(automatic ? tokens->automatic : tokens->manual);
    kc__sa_note(use, automatic ? KC__SA_NOTE_AUTOMATIC : KC__SA_NOTE_MANUAL, name);
}

static int check_legacy(kc__sa_tokens *tokens, const kc__sa_claims *claims, kc_str token,
                        int64_t now, kc__sa_use *use, kc_error *err)
{
    if (check_legacy_claims(claims, err) < 0)
        return kc_error_result(err);
    kc_auto(kc_object) *secret = find_bound(tokens, KC__SA_SECRET, claims->ns, claims->secret.name);
    if (!secret || kc_object_deletion_timestamp(secret).n)
        return invalid_token(err, "Token has been invalidated");
    if (!secret_holds_token(secret, token))
        return invalid_token(err, "Token does not match server's copy");
    kc_auto(kc_object) *account =
        find_bound(tokens, KC__SA_ACCOUNT, claims->ns, claims->account.name);
    if (check_legacy_account(claims, account, err) < 0)
        return kc_error_result(err);
    if (use)
        count_legacy_use(tokens, claims, account, secret, now, use);
    return is_marked_invalid(secret) ? refuse_invalidated(claims, err) : 0;
}

/* ---- people ---- */

/* The expiry has no leeway: the server that checks it has set it. apiserver/people checks the
 * rest. */
static int check_person_time(const kc__sa_claims *claims, int64_t now, kc_error *err)
{
    if (!claims->expiry.present || now >= claims->expiry.seconds)
        return invalid_token(err, "the token has expired");
    return check_time(claims, now, err);
}

/* ---- all checks ---- */

int kc__sa_check_claims(kc__sa_tokens *tokens, const kc__sa_claims *claims, kc_str token,
                        kc__sa_use *use, kc_error *err)
{
    const int64_t now = kc_clock_wall(tokens->clock) / KC_SECOND;
    if (claims->legacy)
        return check_legacy(tokens, claims, token, now, use, err);
    if (claims->person.present)
        return check_person_time(claims, now, err);
    if (check_time(claims, now, err) < 0 || check_account(tokens, claims, now, err) < 0 ||
        check_bindings(tokens, claims, now, err) < 0)
        return kc_error_result(err);
    if (use)
        count_stale(tokens, claims, now, use);
    return 0;
}
