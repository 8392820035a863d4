/* SPDX-License-Identifier: Apache-2.0 */
/*
 * token_cleaner.c: deletes bootstrap tokens that have expired: Secrets of the type
 * bootstrap.kubernetes.io/token in kube-system whose key `expiration` is a time in the past, or no
 * time at all. The API server does not accept such a token any more; the controller removes it.
 *
 * Keys are Secrets. One whose time has not come is looked at again at that time.
 */
#include "internal.h"

#include "kc/base64.h"
#include "kc/controller.h"
#include "kc/kinds.h"
#include "kc/meta.h"
#include "kc/time.h"
#include "kc/view.h"

#include <string.h>

#define TOKEN_TYPE "bootstrap.kubernetes.io/token"
#define NAMESPACE  "kube-system"

/* The last year that nanoseconds since 1970 can express. A later one is far away. */
#define LAST_YEAR "2261"

static bool is_bootstrap_token(const kc_object *secret)
{
    kc_auto(kc_view) *view = kc_view_of(secret);
    return kc_str_is(kc_object_namespace(secret), NAMESPACE) &&
           kc_str_is(kc_value_as_str(kc_value_get(kc_view_root(view), "type")), TOKEN_TYPE);
}

/* Time until the token expires; 0: it has; KC_FOREVER: never. */
static int64_t time_left(const kc_object *secret, int64_t now)
{
    kc_scoped(kc_buf) text = {0};
    kc_time when = 0;
    kc_auto(kc_view) *view = kc_view_of(secret);
    const kc_value *data = kc_value_get(kc_view_root(view), "data");
    const kc_str encoded = kc_value_as_str(kc_value_get(data, "expiration"));
    if (!encoded.n)
        return KC_FOREVER;
    if (!kc_base64_read(&text, encoded, KC_BASE64))
        return 0;
    if (text.n >= 4 && strncmp(text.p, LAST_YEAR, 4) > 0)
        memcpy(text.p, LAST_YEAR, 4);
    if (text.n && kc_time_parse(kc_buf_str(&text), &when, NULL) < 0)
        return 0;
    return !text.n ? KC_FOREVER : when > now ? when - now : 0;
}

static kc_result delete_expired(kc_context *ctx, const kc_object *secret, kc_error *err)
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

static kc_result token_cleaner_reconcile(kc_context *ctx, const kc_request *request, kc_error *err)
{
    kc_auto(kc_object) *secret =
        kc_client_get(ctx->client, &kc_kind_secret, request->key, NULL, err);
    if (!secret)
        return kc_done_if_not_found(err);
    if (!is_bootstrap_token(secret))
        return kc_done();
    const int64_t left = time_left(secret, kc_clock_wall(ctx->clock));
    if (!left)
        return delete_expired(ctx, secret, err);
    return left == KC_FOREVER ? kc_done() : kc_requeue_after(left);
}

static bool is_of_bootstrap_token(kc_change_type type, const kc_change *change, void *user)
{
    (void)user;
    return type != KC_CHANGE_DELETE && is_bootstrap_token(change->object);
}

int kc__tokencleaner_setup(kc_manager *manager, const kc_controllers_opts *opts, kc_error *err)
{
    kc_controller *made = kc_controller_new(
        manager,
        &(kc_controller_opts){.name = "token_cleaner",
                              .kind = &kc_kind_secret,
                              .kind_predicate = kc_predicate_new(is_of_bootstrap_token, NULL),
                              .reconcile = token_cleaner_reconcile,
                              .act_as = kc__common_identity(opts, KC__COMMON_TOKEN_CLEANER),
                              .workers = opts->workers},
        err);
    return made ? 0 : kc_error_result(err);
}
