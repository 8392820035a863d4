/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/access/sa_tokens.h"

#include "accounts_testing.h"

#include "kc/object.h"
#include "kc/time.h"

#define NOW   1800000000 /* Seconds. */
#define NOW_0 ((int64_t)NOW * KC_SECOND)

/* ---- stored objects ---- */

/* The texts of the objects; NULL: it does not exist. */
typedef struct fake_store {
    const char *objects[KC__SA_N_KINDS];
    size_t reads, uses;
} fake_store;

static kc_object *fake_get(kc__sa_kind kind, kc_str ns, kc_str name, void *user)
{
    fake_store *store = user;
    store->reads++;
    if (!store->objects[kind])
        return NULL;
    kc_auto(kc_object) *object = kc_object_parse(kc_cstr(store->objects[kind]), NULL, NULL);
    assert_non_null(object);
    const bool same =
        kc_str_eq(kc_object_name(object), name) && kc_str_eq(kc_object_namespace(object), ns);
    return same ? kc_take(object) : NULL;
}

static void fake_used(const kc_object *secret, kc_str today, void *user)
{
    (void)secret;
    assert_str(today, "2027-01-15");
    ((fake_store *)user)->uses++;
}

#define OBJECT(kind, name, uid, more)                                             \
    "{\"kind\":\"" kind "\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"" name \
    "\",\"namespace\":\"ns\",\"uid\":\"" uid "\"" more "}}"
#define ACCOUNT     OBJECT("ServiceAccount", "web", "1", "")
#define POD         OBJECT("Pod", "p", "2", "")
#define SECRET      OBJECT("Secret", "s", "3", "")
#define NODE        "{\"kind\":\"Node\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"n\",\"uid\":\"4\"}}"
#define DELETED(at) ",\"deletionTimestamp\":\"" at "\""

/* ---- the subject of every test ---- */

typedef struct accounts {
    kc_clock *clock;
    EVP_PKEY *pkey;
    kc__sa_tokens *tokens;
    fake_store store;
    kc_arena arena;
    kc__user_identity identity;
    kc_error err;
} accounts;

static int begin(void **state)
{
    accounts *a = *state = kc_new(accounts);
    a->clock = kc_clock_virtual_new(NOW_0);
    a->pkey = new_test_key("P-256");
    a->tokens = tokens_of_key(a->pkey, (kc__sa_opts){.clock = a->clock});
    a->store.objects[KC__SA_ACCOUNT] = ACCOUNT;
    kc__sa_tokens_attach(a->tokens, &(kc__sa_objects){fake_get, fake_used, &a->store});
    return 0;
}

static int end(void **state)
{
    accounts *a = *state;
    kc__sa_tokens_free(a->tokens);
    kc_clock_free(a->clock);
    EVP_PKEY_free(a->pkey);
    kc_arena_done(&a->arena);
    kc_error_done(&a->err);
    free(a);
    return 0;
}

static kc__sa_claims plain_claims(void)
{
    static const kc_str audience = KC_STR_INIT(ISSUER);
    return (kc__sa_claims){.audiences = &audience,
                           .n_audiences = 1,
                           .subject = KC_STR("system:serviceaccount:ns:web"),
                           .id = KC_STR("j"),
                           .issued_at = {true, NOW},
                           .not_before = {true, NOW},
                           .expiry = {true, NOW + 3600},
                           .ns = KC_STR("ns"),
                           .account = {true, KC_STR("web"), KC_STR("1")}};
}

static char *issue(accounts *a, kc__sa_claims claims)
{
    kc_buf token = {0};
    assert_int_equal(kc__sa_tokens_sign(a->tokens, &claims, &token, NULL), 0);
    return kc_buf_take(&token);
}

static int verify(accounts *a, const char *token)
{
    kc_error_done(&a->err);
    return kc__sa_tokens_verify(a->tokens, kc_cstr(token), NULL, &a->arena, &a->identity, &a->err);
}

static void assert_invalid(accounts *a, const char *token, const char *why)
{
    assert_true(verify(a, token) < 0);
    assert_string_equal(kc_error_text(&a->err), why);
}

static void assert_invalid_claims(accounts *a, kc__sa_claims claims, const char *why)
{
    kc_autofree char *token = issue(a, claims);
    assert_invalid(a, token, why);
}

static void assert_extra(const kc__user *user, size_t i, const char *key, const char *value)
{
    assert_str(user->extra[i].key, key);
    assert_int_equal(user->extra[i].n_values, 1);
    assert_str(user->extra[i].values[0], value);
}

/* ---- users ---- */

static void token_has_the_user_of_its_account(void **state)
{
    accounts *a = *state;
    kc_autofree char *token = issue(a, plain_claims());
    for (int i = 0; i < 2; i++) { /* Not cached, then cached. */
        assert_int_equal(verify(a, token), 1);
        const kc__user *user = &a->identity.user;
        assert_str(user->name, "system:serviceaccount:ns:web");
        assert_str(user->uid, "1");
        assert_int_equal(user->n_groups, 3);
        assert_str(user->groups[0], "system:serviceaccounts");
        assert_str(user->groups[1], "system:serviceaccounts:ns");
        assert_str(user->groups[2], "system:authenticated");
        assert_int_equal(user->n_extra, 1);
        assert_extra(user, 0, "authentication.kubernetes.io/credential-id", "JTI=j");
        assert_int_equal(a->identity.audiences.n, 1);
        assert_str(a->identity.audiences.items[0], ISSUER);
    }
}

static void token_of_pod_has_pod_and_node_in_extra(void **state)
{
    accounts *a = *state;
    kc__sa_claims claims = plain_claims();
    claims.pod = (kc__sa_ref){true, KC_STR("p"), KC_STR("2")};
    claims.node = (kc__sa_ref){true, KC_STR("n"), KC_STR("4")};
    a->store.objects[KC__SA_POD] = POD; /* The node of a pod's token need not exist. */
    kc_autofree char *token = issue(a, claims);
    assert_int_equal(verify(a, token), 1);
    assert_int_equal(a->identity.user.n_extra, 5);
    assert_extra(&a->identity.user, 1, "authentication.kubernetes.io/node-name", "n");
    assert_extra(&a->identity.user, 2, "authentication.kubernetes.io/node-uid", "4");
    assert_extra(&a->identity.user, 3, "authentication.kubernetes.io/pod-name", "p");
    assert_extra(&a->identity.user, 4, "authentication.kubernetes.io/pod-uid", "2");
}

/* ---- time ---- */

static void token_is_valid_a_minute_beyond_its_time(void **state)
{
    accounts *a = *state;
    kc_autofree char *token = issue(a, plain_claims());
    assert_int_equal(verify(a, token), 1);
    kc_clock_advance(a->clock, 3660 * KC_SECOND);
    assert_int_equal(verify(a, token), 1);
    kc_clock_advance(a->clock, KC_SECOND);
    assert_invalid(a, token, "service account token has expired");
}

/* Expiry is checked for tokens in the cache, too. */
static void cached_token_expires(void **state)
{
    accounts *a = *state;
    kc__sa_claims claims = plain_claims();
    claims.expiry.seconds = NOW - 55;
    kc_autofree char *token = issue(a, claims);
    assert_int_equal(verify(a, token), 1);
    kc_clock_advance(a->clock, 6 * KC_SECOND);
    assert_invalid(a, token, "service account token has expired");
}

static void token_of_the_future_is_invalid(void **state)
{
    accounts *a = *state;
    kc__sa_claims claims = plain_claims();
    claims.not_before.seconds = NOW + 61;
    assert_invalid_claims(a, claims, "service account token is not valid yet");
    claims = plain_claims();
    claims.issued_at.seconds = NOW + 61;
    assert_invalid_claims(a, claims, "service account token is issued in the future");
}

/* ---- audiences ---- */

static void token_for_another_audience_is_invalid(void **state)
{
    accounts *a = *state;
    const kc_str vault = KC_STR("vault"), own = KC_STR(ISSUER);
    kc__sa_claims claims = plain_claims();
    claims.audiences = &vault;
    kc_autofree char *token = issue(a, claims), *ours = issue(a, plain_claims());
    assert_invalid(a, token,
                   "token audiences [\"vault\"] is invalid for the target audiences [\"" ISSUER
                   "\"]");
    const kc__user_audiences wanted = {&vault, 1};
    assert_int_equal(
        kc__sa_tokens_verify(a->tokens, kc_cstr(token), &wanted, &a->arena, &a->identity, NULL), 1);
    assert_str(a->identity.audiences.items[0], "vault");
    assert_true(
        kc__sa_tokens_verify(a->tokens, kc_cstr(ours), &wanted, &a->arena, &a->identity, NULL) < 0);
    const kc__user_audiences both = {(kc_str[]){vault, own}, 2};
    assert_int_equal(
        kc__sa_tokens_verify(a->tokens, kc_cstr(ours), &both, &a->arena, &a->identity, NULL), 1);
    assert_int_equal(a->identity.audiences.n, 1);
}

/* ---- forgeries ---- */

static const char forged_payload[] =
    "{\"iss\":\"" ISSUER "\",\"aud\":[\"" ISSUER "\"],\"sub\":\"system:serviceaccount:ns:web\","
    "\"kubernetes.io\":{\"namespace\":\"ns\",\"serviceaccount\":{\"name\":\"web\",\"uid\":\"1\"}}}";

static void forged_token_is_invalid(void **state)
{
    accounts *a = *state;
    kc_scoped(kc__jose_keys) keys = {0};
    const kc__jose_key *other = add_test_key(&keys, "P-256");
    kc_autofree char *public_key = pem_of(a->pkey, false);
    kc_autofree char *unknown_key = signed_with(other, forged_payload);
    assert_invalid(a, unknown_key, "invalid signature, no keys found");
    free(keys.items[0]->id);
    keys.items[0]->id = NULL;
    kc_scoped(kc__jose_keys) own = {0};
    EVP_PKEY_up_ref(a->pkey);
    kc__jose_keys_add(&own, a->pkey, true, (kc_str){0}, NULL);
    keys.items[0]->id = kc_strdup(own.items[0]->id); /* The id of the server's key. */
    kc_autofree char *borrowed_id = signed_with(other, forged_payload);
    assert_invalid(a, borrowed_id, "go-jose/go-jose: error in cryptographic primitive");
    kc_autofree char *none = token_of("{\"alg\":\"none\"}", forged_payload, KC_STR(""));
    kc_autofree char *hmac = hmac_token_of("{\"alg\":\"HS256\"}", forged_payload, public_key);
    assert_int_equal(verify(a, none), 0);
    assert_int_equal(verify(a, hmac), 0);
    kc_autofree char *renamed = hmac_token_of("{\"alg\":\"ES256\"}", forged_payload, public_key);
    assert_invalid(a, renamed, "go-jose/go-jose: error in cryptographic primitive");
    kc_autofree char *valid = signed_with(own.items[0], forged_payload);
    assert_int_equal(verify(a, valid), 1);
}

static void changed_claims_invalidate_a_cached_token(void **state)
{
    accounts *a = *state;
    kc_autofree char *token = issue(a, plain_claims());
    kc__sa_claims claims = plain_claims();
    claims.account.name = KC_STR("admin");
    kc_autofree char *wanted = issue(a, claims);
    assert_int_equal(verify(a, token), 1);
    const char *payload = strchr(wanted, '.') + 1, *signature = strrchr(token, '.');
    kc_autofree char *spliced =
        kc_asprintf("%.*s%.*s%s", (int)(strchr(token, '.') + 1 - token), token,
                    (int)(strrchr(wanted, '.') - payload), payload, signature);
    assert_invalid(a, spliced, "go-jose/go-jose: error in cryptographic primitive");
}

static void token_of_another_issuer_is_unknown(void **state)
{
    accounts *a = *state;
    kc_scoped(kc__jose_keys) own = {0};
    EVP_PKEY_up_ref(a->pkey);
    kc__jose_keys_add(&own, a->pkey, true, (kc_str){0}, NULL);
    kc_autofree char *token = signed_with(own.items[0], "{\"iss\":\"https://elsewhere\"}");
    assert_int_equal(verify(a, token), 0);
    assert_int_equal(verify(a, "not a token"), 0);
    assert_int_equal(verify(a, ""), 0);
    assert_int_equal(a->store.reads, 0);
}

/* ---- stored objects ---- */

static void deletion_of_account_revokes_a_cached_token(void **state)
{
    accounts *a = *state;
    kc_autofree char *token = issue(a, plain_claims());
    assert_int_equal(verify(a, token), 1);
    a->store.objects[KC__SA_ACCOUNT] = NULL;
    assert_invalid(a, token, "serviceaccounts \"web\" not found");
    a->store.objects[KC__SA_ACCOUNT] = OBJECT("ServiceAccount", "web", "9", "");
    assert_invalid(a, token, "service account UID (9) does not match claim (1)");
}

static void token_survives_deletion_timestamp_for_a_minute(void **state)
{
    accounts *a = *state;
    kc_autofree char *token = issue(a, plain_claims());
    /* NOW is 2027-01-15T08:00:00Z. */
    a->store.objects[KC__SA_ACCOUNT] =
        OBJECT("ServiceAccount", "web", "1", DELETED("2027-01-15T07:59:00Z"));
    assert_int_equal(verify(a, token), 1);
    a->store.objects[KC__SA_ACCOUNT] =
        OBJECT("ServiceAccount", "web", "1", DELETED("2027-01-15T07:58:59Z"));
    assert_invalid(a, token, "service account ns/web has been deleted");
}

static void bound_token_is_valid_while_its_object_exists(void **state)
{
    static const struct {
        kc__sa_kind kind;
        const char *object, *gone, *recreated, *message;
    } rows[] = {
        {KC__SA_POD, POD, OBJECT("Pod", "p", "2", DELETED("2027-01-15T07:00:00Z")),
         OBJECT("Pod", "p", "9", ""),
         "pod UID (9) does not match service account pod ref claim (2)"},
        {KC__SA_SECRET, SECRET, OBJECT("Secret", "s", "3", DELETED("2027-01-15T07:00:00Z")),
         OBJECT("Secret", "s", "9", ""),
         "secret UID (9) does not match service account secret ref claim (3)"},
    };
    accounts *a = *state;
    for (size_t i = 0; i < KC_COUNT(rows); i++) {
        kc__sa_claims claims = plain_claims();
        if (rows[i].kind == KC__SA_POD)
            claims.pod = (kc__sa_ref){true, KC_STR("p"), KC_STR("2")};
        else
            claims.secret = (kc__sa_ref){true, KC_STR("s"), KC_STR("3")};
        kc_autofree char *token = issue(a, claims);
        a->store.objects[rows[i].kind] = rows[i].object;
        assert_int_equal(verify(a, token), 1);
        a->store.objects[rows[i].kind] = rows[i].gone;
        assert_invalid(a, token, "service account token has been invalidated");
        a->store.objects[rows[i].kind] = NULL;
        assert_invalid(a, token, "service account token has been invalidated");
        a->store.objects[rows[i].kind] = rows[i].recreated;
        assert_invalid(a, token, rows[i].message);
    }
}

static void node_bound_token_is_valid_while_the_node_exists(void **state)
{
    accounts *a = *state;
    kc__sa_claims claims = plain_claims();
    claims.node = (kc__sa_ref){true, KC_STR("n"), KC_STR("4")};
    kc_autofree char *token = issue(a, claims);
    assert_invalid(a, token, "service account token has been invalidated");
    a->store.objects[KC__SA_NODE] = NODE;
    assert_int_equal(verify(a, token), 1);
    assert_extra(&a->identity.user, 1, "authentication.kubernetes.io/node-name", "n");
}

static void token_without_store_is_invalid(void **state)
{
    accounts *a = *state;
    kc_autofree char *token = issue(a, plain_claims());
    kc__sa_tokens_attach(a->tokens, NULL);
    assert_invalid(a, token, "serviceaccounts \"web\" not found");
}

/* ---- legacy tokens ---- */

static char *legacy_secret(const char *token, const char *metadata)
{
    kc_scoped(kc_buf) data = {0};
    kc_base64_write(&data, kc_cstr(token), KC_BASE64);
    return kc_asprintf("{\"kind\":\"Secret\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"s\","
                       "\"namespace\":\"ns\",\"uid\":\"3\"%s},\"data\":{\"token\":\"%s\"}}",
                       metadata, kc_buf_cstr(&data));
}

static kc__sa_claims legacy_claims(void)
{
    return (kc__sa_claims){.legacy = true,
                           .subject = KC_STR("system:serviceaccount:ns:web"),
                           .ns = KC_STR("ns"),
                           .secret = {true, KC_STR("s"), {0}},
                           .account = {true, KC_STR("web"), KC_STR("1")}};
}

static void legacy_token_is_valid_while_its_secret_holds_it(void **state)
{
    accounts *a = *state;
    kc_autofree char *token = issue(a, legacy_claims());
    kc_autofree char *secret = legacy_secret(token, ""), *other = legacy_secret("x", ""),
                     *deleted = legacy_secret(token, DELETED("2027-01-15T08:00:00Z"));
    assert_invalid(a, token, "Token has been invalidated");
    a->store.objects[KC__SA_SECRET] = secret;
    assert_int_equal(verify(a, token), 1);
    assert_int_equal(a->store.uses, 1);
    assert_str(a->identity.user.name, "system:serviceaccount:ns:web");
    assert_int_equal(a->identity.user.n_extra, 0);
    a->store.objects[KC__SA_SECRET] = other;
    assert_invalid(a, token, "Token does not match server's copy");
    a->store.objects[KC__SA_SECRET] = deleted;
    assert_invalid(a, token, "Token has been invalidated");
    a->store.objects[KC__SA_SECRET] = secret;
    a->store.objects[KC__SA_ACCOUNT] = NULL;
    assert_invalid(a, token, "serviceaccounts \"web\" not found");
}

static void assert_note(const accounts *a, size_t i, const char *key, const char *value)
{
    assert_true(i < a->identity.user.n_notes);
    assert_str(a->identity.user.notes[i].key, key);
    assert_str(a->identity.user.notes[i].value, value);
}

static void use_of_a_legacy_token_is_noted(void **state)
{
    accounts *a = *state;
    kc_autofree char *token = issue(a, legacy_claims());
    kc_autofree char *secret = legacy_secret(token, "");
    a->store.objects[KC__SA_SECRET] = secret;
    assert_int_equal(verify(a, token), 1);
    assert_int_equal(a->identity.user.n_notes, 2);
    assert_note(a, 0, "authentication.k8s.io/legacy-token", "system:serviceaccount:ns:web");
    assert_note(a, 1, KC__SA_NOTE_MANUAL, "s");
    a->store.objects[KC__SA_ACCOUNT] =
        "{\"kind\":\"ServiceAccount\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"web\","
        "\"namespace\":\"ns\",\"uid\":\"1\"},\"secrets\":[{\"name\":\"s\"}]}";
    assert_int_equal(verify(a, token), 1);
    assert_note(a, 1, KC__SA_NOTE_AUTOMATIC, "s");
}

static void use_of_a_stale_token_is_noted(void **state)
{
    accounts *a = *state;
    kc__sa_claims claims = plain_claims();
    claims.warn_after = (kc__sa_time){true, NOW + 10};
    kc_autofree char *token = issue(a, claims);
    assert_int_equal(verify(a, token), 1);
    assert_int_equal(a->identity.user.n_notes, 0);
    kc_clock_advance(a->clock, 15 * KC_SECOND);
    assert_int_equal(verify(a, token), 1);
    assert_note(a, 0, "authentication.k8s.io/stale-token",
                "subject: system:serviceaccount:ns:web, seconds after warning threshold: 5");
}

static void legacy_token_marked_invalid_is_refused(void **state)
{
    accounts *a = *state;
    kc_autofree char *token = issue(a, legacy_claims());
    kc_autofree char *secret = legacy_secret(
        token, ",\"labels\":{\"kubernetes.io/legacy-token-invalid-since\":\"2026-01-01\"}");
    a->store.objects[KC__SA_SECRET] = secret;
    assert_true(verify(a, token) < 0);
    assert_contains(kc_error_text(&a->err), "has been marked invalid");
}

static void legacy_token_with_incomplete_claims_is_invalid(void **state)
{
    accounts *a = *state;
    kc__sa_claims claims = legacy_claims();
    claims.subject = KC_STR("system:serviceaccount:ns:other");
    assert_invalid_claims(a, claims, "sub claim is invalid");
    claims.subject = (kc_str){0};
    assert_invalid_claims(a, claims, "sub claim is missing");
    claims = legacy_claims();
    claims.secret.name = (kc_str){0};
    assert_invalid_claims(a, claims, "secretName claim is missing");
}

/* ---- keys ---- */

static void token_of_an_old_key_is_valid_while_its_key_file_is_given(void **state)
{
    accounts *a = *state;
    char path[] = "/tmp/kc-accounts-old-XXXXXX";
    write_test_key(path, a->pkey, false);
    const kc_str file = kc_cstr(path);
    kc_auto(kc__sa_tokens) *next =
        tokens_with("RSA", (kc__sa_opts){.clock = a->clock, .key_files = &file, .n_key_files = 1});
    kc_auto(kc__sa_tokens) *without = tokens_with("RSA", (kc__sa_opts){.clock = a->clock});
    unlink(path);
    kc__sa_tokens_attach(next, &(kc__sa_objects){fake_get, NULL, &a->store});
    kc_autofree char *token = issue(a, plain_claims());
    assert_int_equal(
        kc__sa_tokens_verify(next, kc_cstr(token), NULL, &a->arena, &a->identity, NULL), 1);
    assert_true(kc__sa_tokens_verify(without, kc_cstr(token), NULL, &a->arena, &a->identity, NULL) <
                0);
    kc_autofree char *discovery = kc_str_dup(kc__sa_tokens_discovery(next));
    assert_contains(discovery, "\"id_token_signing_alg_values_supported\":[\"ES256\",\"RS256\"]");
}

#define WITH(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH(token_has_the_user_of_its_account),
        WITH(token_of_pod_has_pod_and_node_in_extra),
        WITH(token_is_valid_a_minute_beyond_its_time),
        WITH(cached_token_expires),
        WITH(token_of_the_future_is_invalid),
        WITH(token_for_another_audience_is_invalid),
        WITH(forged_token_is_invalid),
        WITH(changed_claims_invalidate_a_cached_token),
        WITH(token_of_another_issuer_is_unknown),
        WITH(deletion_of_account_revokes_a_cached_token),
        WITH(token_survives_deletion_timestamp_for_a_minute),
        WITH(bound_token_is_valid_while_its_object_exists),
        WITH(node_bound_token_is_valid_while_the_node_exists),
        WITH(token_without_store_is_invalid),
        WITH(legacy_token_is_valid_while_its_secret_holds_it),
        WITH(use_of_a_legacy_token_is_noted),
        WITH(use_of_a_stale_token_is_noted),
        WITH(legacy_token_marked_invalid_is_refused),
        WITH(legacy_token_with_incomplete_claims_is_invalid),
        WITH(token_of_an_old_key_is_valid_while_its_key_file_is_given),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
