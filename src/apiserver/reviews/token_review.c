/* SPDX-License-Identifier: Apache-2.0 */
/*
 * token_review.c: TokenReview: the user of a token that another server has received. A review that
 * finds the token invalid is a success: its status says why.
 *
 * The review waits on the loop for remote authenticators (access/authn_remote.h); call->state holds
 * its result.
 */
#include "apiserver/reviews/review.h"

#include "kc/json.h"

kc__rest_verdict kc__review_check_token(kc__rest_call *call, const kc_value *review)
{
    if (kc_value_as_str(kc_value_nested(review, "spec.token")).n)
        return KC__REST_NEXT;
    return kc__rest_fail(call, KC_BAD_REQUEST,
                         "token is required for TokenReview in authentication");
}

/* ---- the status ---- */

/* Allocated in the arena of the call: call->state. */
typedef struct token_result {
    bool valid;
    kc__user_identity identity;
    const char *error;
} token_result;

static kc_node *text_list(kc_edit *edit, const kc_str *items, size_t n)
{
    kc_node *list = kc_node_array(edit);
    for (size_t i = 0; i < n; i++)
        kc_node_append(list, kc_node_str(edit, items[i]));
    return list;
}

static kc_node *reviewed_user(kc_edit *edit, const kc__user *user)
{
    kc_node *node = kc_node_object(edit);
    if (user->name.n)
        kc_node_add(edit, node, KC_STR("username"), kc_node_str(edit, user->name));
    if (user->uid.n)
        kc_node_add(edit, node, KC_STR("uid"), kc_node_str(edit, user->uid));
    if (user->n_groups)
        kc_node_add(edit, node, KC_STR("groups"), text_list(edit, user->groups, user->n_groups));
    if (!user->n_extra)
        return node;
    kc_node *extra = kc_node_object(edit);
    for (size_t i = 0; i < user->n_extra; i++)
        kc_node_add(edit, extra, user->extra[i].key,
                    text_list(edit, user->extra[i].values, user->extra[i].n_values));
    kc_node_add(edit, node, KC_STR("extra"), extra);
    return node;
}

static kc_node *review_status(kc_edit *edit, const token_result *result)
{
    const kc__user_audiences audiences = result->identity.audiences;
    kc_node *status = kc_node_object(edit);
    if (result->valid)
        kc_node_add(edit, status, KC_STR("authenticated"), kc_node_bool(edit, true));
    kc_node_add(edit, status, KC_STR("user"), reviewed_user(edit, &result->identity.user));
    if (audiences.n)
        kc_node_add(edit, status, KC_STR("audiences"),
                    text_list(edit, audiences.items, audiences.n));
    if (!result->valid)
        kc_node_add(edit, status, KC_STR("error"), kc_node_str(edit, kc_cstr(result->error)));
    return status;
}

/* Copies: the result may refer to them. */
static kc__user_audiences wanted_audiences(kc__rest_call *call, const kc_value *spec)
{
    const kc_value *list = kc_value_get(spec, "audiences");
    kc_str *items = kc_arena_calloc(call->arena, kc_value_len(list) + 1, sizeof(*items));
    size_t n = 0;
    kc_value_each_item (list, item)
        items[n++] = kc_arena_str(call->arena, kc_value_as_str(item));
    return (kc__user_audiences){items, n};
}

/* Metadata that a client cannot set. */
static void wipe_review_metadata(kc_edit *edit)
{
    static const char *const names[] = {"namespace",         "uid",
                                        "creationTimestamp", "deletionTimestamp",
                                        "selfLink",          "deletionGracePeriodSeconds"};
    kc_node *metadata = kc_node_get(kc_edit_root(edit), KC_STR("metadata"));
    for (size_t i = 0; i < KC_COUNT(names); i++)
        kc_node_remove(metadata, kc_cstr(names[i]));
}

/* ---- the verdict about the token ---- */

/* KC__AUTHN_PENDING, or the result is known. */
static int review_token(kc__rest_call *call, const kc_value *review,
                        const kc__authn_results *results)
{
    kc_scoped(kc_error) why = {0};
    token_result *result = kc_arena_calloc(call->arena, 1, sizeof(*result));
    const kc_value *spec = kc_value_get(review, "spec");
    const kc_str token = kc_value_as_str(kc_value_get(spec, "token"));
    const int found = kc__authn_review(call->api->authn, token, wanted_audiences(call, spec),
                                       results, call->arena, &result->identity, &why);
    if (found == KC__AUTHN_PENDING && !results)
        return found;
    result->valid = found == 1;
    result->error = kc_arena_printf(call->arena, "%s", kc_error_text(&why));
    call->state = result;
    return 0;
}

static void remotes_done(const kc__authn_results *results, void *user)
{
    kc__rest_call *call = user;
    kc_auto(kc_view) *view = kc_view_of(call->proposed);
    review_token(call, kc_view_root(view), results);
    kc__rest_call_resume(call, KC__REST_ON_LOOP);
}

kc__rest_verdict kc__review_wait_for_token(kc__rest_call *call, const kc_value *review)
{
    const kc_value *spec = kc_value_get(review, "spec");
    if (call->state || review_token(call, review, NULL) != KC__AUTHN_PENDING)
        return KC__REST_NEXT;
    if (call->on_worker)
        return KC__REST_ON_LOOP;
    kc__authn_remote_start_token(call->api->authn, kc_value_as_str(kc_value_get(spec, "token")),
                                 wanted_audiences(call, spec), call->x->loop, remotes_done, call);
    return KC__REST_PENDING;
}

void kc__review_answer_token(kc__rest_call *call, const kc_value *review, kc_buf *out)
{
    const token_result *result = call->state;
    kc_auto(kc_edit) *edit = kc_edit_of_value(review);
    wipe_review_metadata(edit);
    kc_node_set(edit, kc_edit_root(edit), KC_STR("status"), review_status(edit, result));
    kc_node_write(out, kc_edit_root(edit));
}
