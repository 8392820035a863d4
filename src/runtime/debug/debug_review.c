/* SPDX-License-Identifier: Apache-2.0 */
/*
 * debug_review.c: see debug_review.h.
 *
 *     token ──TokenReview──▶ user, groups, extra ──SubjectAccessReview──▶ allowed
 *
 * A server without these resources answers 404 or 405; then every token is rejected.
 */
#include "runtime/debug/debug_review.h"

#include "kc/json.h"
#include "kc/view.h"

#define TOKEN_REVIEWS  "/apis/authentication.k8s.io/v1/tokenreviews"
#define ACCESS_REVIEWS "/apis/authorization.k8s.io/v1/subjectaccessreviews"

enum { MAX_ANSWER = 1 << 20 };

/* Posts the body and parses the response; NULL on error. */
static kc_view *debug_review_post(kc_client *client, const char *target, const kc_buf *body,
                                  kc_error *err)
{
    kc_scoped(kc_buf) review = {.limit = MAX_ANSWER};
    if (kc_client_raw(client, "POST", kc_cstr(target), KC_STR("application/json"), kc_buf_str(body),
                      &review, err) < 0)
        return NULL;
    return kc_view_parse(kc_buf_str(&review), NULL, err);
}

static bool is_not_offered(const kc_error *err)
{
    return kc_error_has_reason(err, KC_NOT_FOUND) ||
           kc_error_has_reason(err, KC_METHOD_NOT_ALLOWED);
}

static void debug_review_reject(kc__debug_review_result *ret, int status, const char *why,
                                const char *name)
{
    *ret = (kc__debug_review_result){status, kc_asprintf("%s%s", why, name)};
}

/* ---- authentication ---- */

/* 1 and the review, 0 and a rejection, or negative. */
static int review_token(kc_client *client, kc_str token, kc_view **ret_review,
                        kc__debug_review_result *ret, kc_error *err)
{
    kc_scoped(kc_buf) body = {0};
    kc_scoped(kc_error) why = {0};
    kc_buf_puts(&body, "{\"apiVersion\":\"authentication.k8s.io/v1\",\"kind\":\"TokenReview\","
                       "\"spec\":{\"token\":");
    kc_json_quote(&body, token);
    kc_buf_puts(&body, "}}");
    kc_auto(kc_view) *review = debug_review_post(client, TOKEN_REVIEWS, &body, &why);
    if (!review && !is_not_offered(&why))
        return kc_error_move(err, &why);
    if (!review)
        debug_review_reject(ret, 401, "the API server does not serve TokenReview", "");
    else if (!kc_value_as_bool(kc_value_nested(kc_view_root(review), "status.authenticated"),
                               false))
        debug_review_reject(ret, 401, "Unauthorized", "");
    else
        *ret_review = kc_take(review);
    return *ret_review != NULL;
}

/* ---- authorization ---- */

static void debug_review_write_member(kc_buf *out, const char *name, const kc_value *value)
{
    if (!value)
        return;
    kc_buf_printf(out, ",\"%s\":", name);
    kc_json_write(out, value);
}

void kc__debug_review_write(kc_buf *out, const kc__debug_review_request *request,
                            const kc_value *user)
{
    kc_buf_puts(out, "{\"apiVersion\":\"authorization.k8s.io/v1\",\"kind\":\"SubjectAccessReview\","
                     "\"spec\":{\"nonResourceAttributes\":{\"path\":");
    kc_json_quote(out, request->path);
    kc_buf_puts(out, ",\"verb\":");
    kc_json_quote(out, request->verb);
    kc_buf_puts(out, "}");
    debug_review_write_member(out, "user", kc_value_get(user, "username"));
    debug_review_write_member(out, "uid", kc_value_get(user, "uid"));
    debug_review_write_member(out, "groups", kc_value_get(user, "groups"));
    debug_review_write_member(out, "extra", kc_value_get(user, "extra"));
    kc_buf_puts(out, "}}");
}

static int review_access(kc_client *client, const kc__debug_review_request *request,
                         const kc_value *user, kc__debug_review_result *ret, kc_error *err)
{
    kc_scoped(kc_buf) body = {0};
    kc_scoped(kc_error) why = {0};
    kc__debug_review_write(&body, request, user);
    kc_auto(kc_view) *review = debug_review_post(client, ACCESS_REVIEWS, &body, &why);
    if (!review && !is_not_offered(&why))
        return kc_error_move(err, &why);
    if (!review)
        debug_review_reject(ret, 403, "the API server does not serve SubjectAccessReview", "");
    else if (!kc_value_as_bool(kc_value_nested(kc_view_root(review), "status.allowed"), false))
        debug_review_reject(ret, 403, "Authorization denied for user ",
                            kc_value_as_cstr(kc_value_get(user, "username"), ""));
    else
        *ret = (kc__debug_review_result){.status = 200};
    return 0;
}

int kc__debug_review(kc_client *client, const kc__debug_review_request *request,
                     kc__debug_review_result *ret, kc_error *err)
{
    kc_auto(kc_view) *who = NULL;
    const int known = review_token(client, request->token, &who, ret, err);
    if (known <= 0)
        return known;
    return review_access(client, request, kc_value_nested(kc_view_root(who), "status.user"), ret,
                         err);
}
