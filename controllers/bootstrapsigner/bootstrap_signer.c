/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bootstrap_signer.c: signs the ConfigMap kube-public/cluster-info for each bootstrap token. A
 * machine that joins has a token and no CA: it reads the ConfigMap, which anyone may be allowed to,
 * and trusts the CA in it because the signature proves that its author knows the token.
 *
 *     data:
 *       kubeconfig: …                        what is signed
 *       jws-kubeconfig-abcdef: HEADER..MAC   detached JWS, HS256; the key is the token's secret
 *
 * The controller never creates the ConfigMap: without one it does nothing. Tokens that sign are
 * Secrets bootstrap-token-ID in kube-system with usage-bootstrap-signing "true". The signatures of
 * tokens that are gone or have expired are removed.
 *
 * There is one key, the ConfigMap. It is reconciled when the ConfigMap or a token changes, and when
 * the first of the tokens expires.
 */
#include "internal.h"

#include "kc/base64.h"
#include "kc/controller.h"
#include "kc/diff.h"
#include "kc/edit.h"
#include "kc/kinds.h"
#include "kc/meta.h"
#include "kc/time.h"
#include "kc/view.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <string.h>

#define TOKEN_TYPE    "bootstrap.kubernetes.io/token"
#define TOKEN_SPACE   "kube-system"
#define NAME_PREFIX   "bootstrap-token-"
#define SIGNED_SPACE  "kube-public"
#define SIGNED_NAME   "cluster-info"
#define SIGNED_MEMBER "kubeconfig"
#define SIGNATURES    "jws-kubeconfig-"

enum { ID_LENGTH = 6 };

/* ---- tokens ---- */

static bool is_token_id(kc_str id)
{
    for (size_t i = 0; i < id.n; i++)
        if ((id.p[i] < 'a' || id.p[i] > 'z') && (id.p[i] < '0' || id.p[i] > '9'))
            return false;
    return id.n == ID_LENGTH;
}

/* Appends a value of the Secret. */
static bool read_secret(const kc_value *secret, const char *name, kc_buf *out)
{
    const kc_str text = kc_value_as_str(kc_value_get(kc_value_get(secret, "data"), name));
    return kc_base64_read(out, text, KC_BASE64);
}

static bool secret_is(const kc_value *secret, const char *name, kc_str expected)
{
    kc_scoped(kc_buf) text = {0};
    return read_secret(secret, name, &text) && kc_str_eq(kc_buf_str(&text), expected);
}

/* The last year that nanoseconds since 1970 can express. A later one is far away. */
#define LAST_YEAR "2261"

/* When the token expires; KC_FOREVER: never. A text that is no time counts as the past. */
static kc_time token_end(const kc_value *secret)
{
    kc_scoped(kc_buf) text = {0};
    kc_time end = 0;
    if (!read_secret(secret, "expiration", &text))
        return 0;
    if (!text.n)
        return KC_FOREVER;
    if (text.n >= strlen(LAST_YEAR) && strncmp(text.p, LAST_YEAR, strlen(LAST_YEAR)) > 0)
        memcpy(text.p, LAST_YEAR, strlen(LAST_YEAR));
    return kc_time_parse(kc_buf_str(&text), &end, NULL) < 0 ? 0 : end;
}

/* The ID of a token that may sign; p == NULL: it may not. *ret_end is when it expires. */
static kc_str signing_id(const kc_object *object, const kc_value *secret, kc_time now,
                         kc_time *ret_end)
{
    const kc_str name = kc_object_name(object);
    if (!kc_str_is(kc_value_as_str(kc_value_get(secret, "type")), TOKEN_TYPE) ||
        !kc_str_starts(name, KC_STR(NAME_PREFIX)))
        return (kc_str){0};
    const kc_str id = kc_str_sub(name, strlen(NAME_PREFIX), name.n);
    *ret_end = token_end(secret);
    if (!is_token_id(id) || !secret_is(secret, "token-id", id) || *ret_end <= now ||
        !secret_is(secret, "usage-bootstrap-signing", KC_STR("true")))
        return (kc_str){0};
    return id;
}

/* ---- signatures ---- */

/* Appends the signature of the content: header, two dots, MAC. */
static void write_signature(kc_buf *out, kc_str id, kc_str key, kc_str content)
{
    unsigned char mac[EVP_MAX_MD_SIZE];
    unsigned n = 0;
    kc_scoped(kc_buf) header = {0}, input = {0};
    kc_buf_printf(&header, "{\"alg\":\"HS256\",\"kid\":\"%.*s\"}", KC_ARG(id));
    kc_base64_write(&input, kc_buf_str(&header), KC_BASE64_URL);
    kc_buf_append(out, kc_buf_str(&input));
    kc_buf_puts(out, "..");
    kc_buf_putc(&input, '.');
    kc_base64_write(&input, content, KC_BASE64_URL);
    HMAC(EVP_sha256(), key.p, (int)key.n, (const unsigned char *)input.p, input.n, mac, &n);
    kc_base64_write(out, kc_str_of((const char *)mac, n), KC_BASE64_URL);
}

/* Sets the signature of a token. */
static void sign_for_token(kc_edit *edit, kc_node *data, kc_str id, const kc_value *secret,
                           kc_str content)
{
    kc_buf key = {0};
    kc_scoped(kc_buf) name = {0}, text = {0};
    kc_buf_printf(&name, SIGNATURES "%.*s", KC_ARG(id));
    if (read_secret(secret, "token-secret", &key) && key.n) {
        write_signature(&text, id, kc_buf_str(&key), content);
        kc_node_set(edit, data, kc_buf_str(&name), kc_node_str(edit, kc_buf_str(&text)));
    }
    kc_buf_wipe(&key);
}

/* The data of the ConfigMap without signatures. */
static kc_node *unsigned_data(kc_edit *edit, const kc_value *old)
{
    kc_node *data = kc_node_object(edit);
    kc_value_each_member (old, name, value)
        if (!kc_str_starts(name, KC_STR(SIGNATURES)))
            kc_node_set(edit, data, name, kc_node_from_value(edit, value));
    return data;
}

/* The ConfigMap with the signatures of all tokens; *ret_next is when the first of them expires.
 * NULL on error. */
static kc_object *signed_config_map(kc_context *ctx, const kc_object *map, const kc_value *root,
                                    kc_time *ret_next, kc_error *err)
{
    const kc_value *old = kc_value_get(root, "data");
    const kc_str content = kc_value_as_str(kc_value_get(old, SIGNED_MEMBER));
    const kc_time now = kc_clock_wall(ctx->clock);
    kc_scoped(kc_object_list) tokens = {0};
    kc_auto(kc_edit) *edit = kc_edit_of(map);
    kc_node *data = unsigned_data(edit, old);
    if (kc_client_list(ctx->client, &kc_kind_secret, &(kc_list_opts){.ns = TOKEN_SPACE}, &tokens,
                       err) < 0)
        return NULL;
    for (size_t i = 0; i < tokens.n; i++) {
        const kc_object *token = tokens.items[i];
        kc_auto(kc_view) *view = kc_view_of(token);
        kc_time end = 0;
        const kc_str id = signing_id(token, kc_view_root(view), now, &end);
        if (!id.p)
            continue;
        sign_for_token(edit, data, id, kc_view_root(view), content);
        *ret_next = KC_MIN(*ret_next, end);
    }
    kc_node_set(edit, kc_edit_root(edit), KC_STR("data"), data);
    return kc_edit_freeze(edit, err);
}

/* ---- reconciling ---- */

static kc_result signer_write(kc_context *ctx, const kc_object *map, const kc_object *wanted,
                              kc_time next, kc_error *err)
{
    if (!kc_object_equal(map, wanted, NULL)) {
        kc_auto(kc_object) *written = kc_client_update(ctx->client, wanted, NULL, err);
        if (!written)
            return kc_is_conflict(err) ? kc_requeue() : kc_done_if_not_found(err);
    }
    if (next == KC_FOREVER)
        return kc_done();
    return kc_requeue_after(KC_MAX(next - kc_clock_wall(ctx->clock), 0) + 1);
}

static kc_result bootstrap_signer_reconcile(kc_context *ctx, const kc_request *request,
                                            kc_error *err)
{
    kc_auto(kc_object) *map =
        kc_client_get(ctx->client, &kc_kind_config_map, request->key, NULL, err);
    kc_time next = KC_FOREVER;
    if (!map)
        return kc_done_if_not_found(err);
    kc_auto(kc_view) *view = kc_view_of(map);
    if (!kc_value_nested(kc_view_root(view), "data." SIGNED_MEMBER))
        return kc_done();
    kc_auto(kc_object) *wanted = signed_config_map(ctx, map, kc_view_root(view), &next, err);
    return wanted ? signer_write(ctx, map, wanted, next, err) : kc_retry(err);
}

/* ---- setup ---- */

static bool is_of_cluster_info(kc_change_type type, const kc_change *change, void *user)
{
    (void)user;
    return type != KC_CHANGE_DELETE && kc_str_is(kc_object_name(change->object), SIGNED_NAME) &&
           kc_str_is(kc_object_namespace(change->object), SIGNED_SPACE);
}

static void signed_map_of_token(const kc_object *secret, kc_enqueuer *to, void *user)
{
    (void)user;
    if (kc_str_is(kc_object_namespace(secret), TOKEN_SPACE) &&
        kc_str_starts(kc_object_name(secret), KC_STR(NAME_PREFIX)))
        kc_enqueue(to, KC_KEY(SIGNED_SPACE, SIGNED_NAME));
}

int kc__bootstrapsigner_setup(kc_manager *manager, const kc_controllers_opts *opts, kc_error *err)
{
    kc_controller *made = kc_controller_new(
        manager,
        &(kc_controller_opts){.name = "bootstrap_signer",
                              .field_manager = KC__CONTROLLERS_MANAGER,
                              .kind = &kc_kind_config_map,
                              .kind_predicate = kc_predicate_new(is_of_cluster_info, NULL),
                              .watches =
                                  KC_WATCHES({.kind = &kc_kind_secret, .map = signed_map_of_token}),
                              .reconcile = bootstrap_signer_reconcile,
                              .act_as = kc__common_identity(opts, KC__COMMON_BOOTSTRAP_SIGNER)},
        err);
    return made ? 0 : kc_error_result(err);
}
