/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tokens.c: legacy tokens of service accounts. A Secret of the type
 * kubernetes.io/service-account-token that names an account in its annotation gets the keys token,
 * ca.crt and namespace. Such a token does not expire: it is valid while the Secret and the account
 * exist.
 *
 *     Secret ─┬─ its account exists, with the uid of the annotation ─▶ fill what is missing
 *             └─ no such account ─▶ delete the Secret
 *     Secret deleted ─▶ remove it from `secrets` of its account
 *
 * Keys are Secrets. The deletion of an account adds the keys of its Secrets. Two indexes lead from
 * an account to its Secrets and from a Secret to the accounts that list it, so the cost of a change
 * does not depend on the size of the namespace. The cache may be stale, so the controller reads the
 * server before it deletes a Secret.
 *
 * The API server signs with the same key; the program that runs the controllers supplies the
 * function that signs (kc_controllers_opts). Without it the controller does not run.
 */
#include "internal.h"

#include "kc/base64.h"
#include "kc/controller.h"
#include "kc/kinds.h"
#include "kc/log.h"
#include "kc/meta.h"

#define TOKEN_TYPE   "kubernetes.io/service-account-token"
#define ACCOUNT_NAME "kubernetes.io/service-account.name"
#define ACCOUNT_UID  "kubernetes.io/service-account.uid"

/* Indexes: Secrets by the account that they name, accounts by the Secrets that they list; the
 * values are "namespace/name". */
#define TOKEN_ACCOUNT "tokens.account"
#define LISTED_SECRET "tokens.listed"

typedef struct token_issuer {
    kc_sign_account_token_fn *sign;
    void *sign_user;
    char *root_ca; /* "": none. */
} token_issuer;

/* The account that a Secret names; slices of the arena. */
typedef struct secret_account {
    kc_arena arena;
    kc_str name, uid;
} secret_account;

static void account_of_secret(const kc_object *secret, secret_account *ret)
{
    *ret = (secret_account){0};
    ret->name = kc_object_annotation(secret, KC_STR(ACCOUNT_NAME), &ret->arena);
    ret->uid = kc_object_annotation(secret, KC_STR(ACCOUNT_UID), &ret->arena);
}

static bool is_token_secret(const kc_object *object)
{
    kc_auto(kc_view) *view = kc_view_of(object);
    return kc_str_is(kc_value_as_str(kc_value_get(kc_view_root(view), "type")), TOKEN_TYPE);
}

/* ---- filling a Secret ---- */

static bool data_is(const kc_value *data, const char *name, const char *expected)
{
    kc_scoped(kc_buf) bytes = {0};
    const kc_str text = kc_value_as_str(kc_value_get(data, name));
    return kc_base64_read(&bytes, text, KC_BASE64) && kc_str_is(kc_buf_str(&bytes), expected);
}

static bool data_is_empty(const kc_value *data, const char *name)
{
    return !kc_value_as_str(kc_value_get(data, name)).n;
}

typedef struct missing_data {
    bool ca, ns, token;
} missing_data;

static missing_data missing_in(const kc_object *secret, const token_issuer *issuer)
{
    kc_auto(kc_view) *view = kc_view_of(secret);
    const kc_value *data = kc_value_get(kc_view_root(view), "data");
    return (missing_data){.ca = *issuer->root_ca && !data_is(data, "ca.crt", issuer->root_ca),
                          .ns = data_is_empty(data, "namespace"),
                          .token = data_is_empty(data, "token")};
}

static void set_data(kc_edit *edit, const char *name, kc_str bytes)
{
    kc_scoped(kc_buf) text = {0};
    kc_base64_write(&text, bytes, KC_BASE64);
    kc_node *data = kc_node_ensure_object(edit, kc_edit_root(edit), KC_STR("data"));
    kc_node_set(edit, data, kc_cstr(name), kc_node_str(edit, kc_buf_str(&text)));
}

static int set_token(kc_edit *edit, const token_issuer *issuer, const kc_object *secret,
                     const kc_object *account, kc_error *err)
{
    kc_scoped(kc_buf) token = {0};
    const kc_account_token about = {.ns = kc_object_namespace(secret),
                                    .account = kc_object_name(account),
                                    .account_uid = kc_object_uid(account),
                                    .secret = kc_object_name(secret)};
    if (issuer->sign(&about, &token, issuer->sign_user, err) < 0)
        return kc_error_wrap(err, "sign a token");
    set_data(edit, "token", kc_buf_str(&token));
    return 0;
}

static kc_object *filled(const kc_object *secret, const kc_object *account, missing_data missing,
                         const token_issuer *issuer, kc_error *err)
{
    kc_auto(kc_edit) *edit = kc_edit_of(secret);
    if (missing.ca)
        set_data(edit, "ca.crt", kc_cstr(issuer->root_ca));
    if (missing.ns)
        set_data(edit, "namespace", kc_object_namespace(secret));
    if (missing.token && set_token(edit, issuer, secret, account, err) < 0)
        return NULL;
    kc_edit_set_annotation(edit, KC_STR(ACCOUNT_NAME), kc_object_name(account));
    kc_edit_set_annotation(edit, KC_STR(ACCOUNT_UID), kc_object_uid(account));
    return kc_edit_freeze(edit, err);
}

/* After a conflict the next change of the Secret adds its key again. */
static kc_result fill_secret(kc_context *ctx, const kc_object *secret, const kc_object *account,
                             kc_error *err)
{
    const token_issuer *issuer = ctx->user;
    const missing_data missing = missing_in(secret, issuer);
    if (!missing.ca && !missing.ns && !missing.token)
        return kc_done();
    kc_auto(kc_object) *wanted = filled(secret, account, missing, issuer, err);
    if (!wanted)
        return kc_retry(err);
    kc_auto(kc_object) *written = kc_client_update(ctx->client, wanted, NULL, err);
    if (written)
        return kc_done();
    return kc_is_conflict(err) ? kc_requeue() : kc_done_if_not_found(err);
}

/* ---- accounts ---- */

/* NULL, without an error, if there is no account of this name and uid. */
static kc_object *account_named(kc_context *ctx, kc_str ns, const secret_account *named, bool live,
                                kc_error *err)
{
    kc_auto(kc_object) *account =
        kc_client_get(ctx->client, &kc_kind_service_account, (kc_key){ns, named->name},
                      &(kc_get_opts){.live = live}, err);
    if (!account) {
        kc_ignore_not_found(err);
        return NULL;
    }
    return named->uid.n && !kc_str_eq(named->uid, kc_object_uid(account)) ? NULL : kc_take(account);
}

static kc_result delete_orphan(kc_context *ctx, const kc_object *secret, kc_error *err)
{
    kc_autofree char *uid = kc_str_dup(kc_object_uid(secret));
    const kc_key key = {kc_object_namespace(secret), kc_object_name(secret)};
    const int failed =
        kc_client_delete(ctx->client, &kc_kind_secret, key, &(kc_delete_opts){.uid = uid}, err);
    if (failed < 0 && kc_is_conflict(err)) {
        kc_error_done(err);
        return kc_done();
    }
    return failed < 0 ? kc_done_if_not_found(err) : kc_done();
}

static kc_result sync_secret(kc_context *ctx, const kc_object *secret, kc_error *err)
{
    secret_account named;
    account_of_secret(secret, &named);
    const kc_str ns = kc_object_namespace(secret);
    kc_auto(kc_object) *account = account_named(ctx, ns, &named, false, err);
    if (!account && !err->reason)
        account = account_named(ctx, ns, &named, true, err);
    kc_arena_done(&named.arena);
    if (err->reason)
        return kc_retry(err);
    return account ? fill_secret(ctx, secret, account, err) : delete_orphan(ctx, secret, err);
}

/* ---- deleted Secrets ---- */

/* The account without the Secret in its list; NULL if the list does not contain it. */
static kc_object *without_secret(const kc_object *account, kc_str secret, kc_error *err)
{
    kc_auto(kc_edit) *edit = kc_edit_of(account);
    kc_node *list = kc_node_get(kc_edit_root(edit), KC_STR("secrets"));
    bool found = false;
    for (size_t i = kc_node_len(list); i-- > 0;)
        if (kc_str_eq(kc_node_as_str(kc_node_get(kc_node_at(list, i), KC_STR("name"))), secret)) {
            kc_node_remove_at(list, i);
            found = true;
        }
    return found ? kc_edit_freeze(edit, err) : NULL;
}

static kc_result forget_secret(kc_context *ctx, kc_key secret, kc_error *err)
{
    kc_scoped(kc_object_list) accounts = {0};
    kc_autofree char *value = kc_asprintf("%.*s/%.*s", KC_ARG(secret.ns), KC_ARG(secret.name));
    if (kc_cache_list(ctx->cache, &kc_kind_service_account,
                      &(kc_list_opts){.index = LISTED_SECRET, .value = value}, &accounts, err) < 0)
        return kc_retry(err);
    for (size_t i = 0; i < accounts.n; i++) {
        kc_auto(kc_object) *changed = without_secret(accounts.items[i], secret.name, err);
        if (err->reason)
            return kc_retry(err);
        kc_auto(kc_object) *written =
            changed ? kc_client_update(ctx->client, changed, NULL, err) : NULL;
        if (changed && !written && kc_ignore_not_found(err) < 0)
            return kc_is_conflict(err) ? kc_requeue() : kc_retry(err);
    }
    return kc_done();
}

static kc_result tokens_reconcile(kc_context *ctx, const kc_request *request, kc_error *err)
{
    kc_auto(kc_object) *secret =
        kc_client_get(ctx->client, &kc_kind_secret, request->key, NULL, err);
    if (!secret && !kc_is_not_found(err))
        return kc_retry(err);
    kc_error_done(err);
    if (!secret)
        return forget_secret(ctx, request->key, err);
    return is_token_secret(secret) ? sync_secret(ctx, secret, err) : kc_done();
}

/* ---- keys ---- */

static bool is_of_token_secret(kc_change_type type, const kc_change *change, void *user)
{
    (void)type;
    (void)user;
    return is_token_secret(change->object);
}

static bool is_deletion(kc_change_type type, const kc_change *change, void *user)
{
    (void)change;
    (void)user;
    return type == KC_CHANGE_DELETE;
}

/* The Secrets of an account that was deleted. */
static void secrets_of_account(const kc_object *account, kc_enqueuer *to, void *user)
{
    kc_cache *cache = user;
    kc_scoped(kc_object_list) secrets = {0};
    kc_autofree char *value = kc_asprintf("%.*s/%.*s", KC_ARG(kc_object_namespace(account)),
                                          KC_ARG(kc_object_name(account)));
    if (kc_cache_list(cache, &kc_kind_secret,
                      &(kc_list_opts){.index = TOKEN_ACCOUNT, .value = value}, &secrets, NULL) < 0)
        return;
    for (size_t i = 0; i < secrets.n; i++)
        kc_enqueue(
            to, (kc_key){kc_object_namespace(secrets.items[i]), kc_object_name(secrets.items[i])});
}

/* ---- indexes ---- */

static void emit_key(kc_index_emit *emit, void *to, kc_str ns, kc_str name)
{
    kc_scoped(kc_buf) value = {0};
    kc_buf_printf(&value, "%.*s/%.*s", KC_ARG(ns), KC_ARG(name));
    emit(kc_buf_str(&value), to);
}

static void by_token_account(const kc_object *secret, kc_index_emit *emit, void *to, void *user)
{
    secret_account named;
    (void)user;
    if (!is_token_secret(secret))
        return;
    account_of_secret(secret, &named);
    emit_key(emit, to, kc_object_namespace(secret), named.name);
    kc_arena_done(&named.arena);
}

static void by_listed_secret(const kc_object *account, kc_index_emit *emit, void *to, void *user)
{
    (void)user;
    kc_auto(kc_view) *view = kc_view_of(account);
    kc_value_each_item (kc_value_get(kc_view_root(view), "secrets"), item)
        emit_key(emit, to, kc_object_namespace(account),
                 kc_value_as_str(kc_value_get(item, "name")));
}

/* ---- setup ---- */

static void token_issuer_free(void *state)
{
    token_issuer *issuer = state;
    free(issuer->root_ca);
    free(issuer);
}

int kc__tokens_setup(kc_manager *manager, const kc_controllers_opts *opts, kc_error *err)
{
    if (!opts->sign_account_token) {
        kc_log_info(
            kc_manager_log(manager),
            "no key of service-account tokens; not filling Secrets of the type " TOKEN_TYPE);
        return 0;
    }
    kc_cache *cache = kc_manager_cache(manager);
    if (kc_cache_add_index(cache, &kc_kind_secret, TOKEN_ACCOUNT, by_token_account, NULL, err) <
            0 ||
        kc_cache_add_index(cache, &kc_kind_service_account, LISTED_SECRET, by_listed_secret, NULL,
                           err) < 0)
        return kc_error_result(err);
    token_issuer *issuer = kc_new(token_issuer);
    kc_manager_defer(manager, issuer, token_issuer_free);
    *issuer = (token_issuer){.sign = opts->sign_account_token,
                             .sign_user = opts->sign_account_token_user,
                             .root_ca = kc_strdup(opts->root_ca ? opts->root_ca : "")};
    kc_controller *made = kc_controller_new(
        manager,
        &(kc_controller_opts){
            .name = "serviceaccount_tokens",
            .kind = &kc_kind_secret,
            .kind_predicate = kc_predicate_new(is_of_token_secret, NULL),
            .watches = KC_WATCHES({.kind = &kc_kind_service_account,
                                   .map = secrets_of_account,
                                   .map_user = cache,
                                   .predicate = kc_predicate_new(is_deletion, NULL)}),
            .reconcile = tokens_reconcile,
            .user = issuer,
            .act_as = kc__common_identity(opts, KC__COMMON_MANAGER),
            .workers = opts->workers,
        },
        err);
    return made ? 0 : kc_error_result(err);
}
