/* SPDX-License-Identifier: Apache-2.0 */
/*
 * review.c: the table of reviews, and the verb that answers them.
 *
 * A review passes the phases of a create, so admission sees it, and leaves them before the store.
 * It has no name and gets no metadata of the server, except for managedFields.
 */
#include "apiserver/reviews/review.h"

#include "apiserver/request/decode.h"
#include "apiserver/request/write.h"

static const kc__review reviews[] = {
    {"subjectaccessreviews", kc__review_validate_access, .check = kc__review_check_access,
     .wait = kc__review_wait_for_access, .answer = kc__review_answer_access},
    {"selfsubjectaccessreviews", kc__review_validate_self_access,
     .check = kc__review_check_self_access, .wait = kc__review_wait_for_self_access,
     .answer = kc__review_answer_self_access},
    {"localsubjectaccessreviews", kc__review_validate_local_access,
     .check = kc__review_check_access, .wait = kc__review_wait_for_access,
     .answer = kc__review_answer_access},
    {"selfsubjectrulesreviews", .check = kc__review_check_rules, .answer = kc__review_answer_rules},
    {"selfsubjectreviews", .answer = kc__review_answer_self},
    {"tokenreviews", .check = kc__review_check_token, .wait = kc__review_wait_for_token,
     .answer = kc__review_answer_token},
};

const kc__review *kc__review_of(const kc__resource *resource)
{
    for (size_t i = 0; i < KC_COUNT(reviews); i++)
        if (!strcmp(reviews[i].plural, resource->plural) && !resource->storage)
            return &reviews[i];
    return NULL;
}

static kc__rest_verdict decode_review(kc__rest_call *call)
{
    call->skip_validation = true; /* A review has no name; prepare_review validates it. */
    return kc__rest_decode_create(call);
}

/* The namespace of the path becomes that of the review. */
static kc__rest_verdict propose_review(kc__rest_call *call)
{
    kc__rest_metadata m;
    kc__draft_set(&call->draft, call->body);
    kc__rest_metadata_of_draft(&call->draft, call->arena, &m);
    const kc_str sent = m.ns;
    if (kc__rest_check_namespace(call, &m) != KC__REST_NEXT)
        return KC__REST_FAIL;
    if (kc_str_eq(sent, m.ns))
        return KC__REST_NEXT;
    return kc__rest_metadata_to_draft(&call->draft, &m, &call->error) < 0 ? KC__REST_FAIL
                                                                          : KC__REST_NEXT;
}

/* The error names no kind: Kubernetes' object has none at this point. */
static kc__rest_verdict refuse_review(kc__rest_call *call, const kc_field_errors *errors)
{
    kc_field_errors_to_error(errors, kc_cstr(call->resource->group), KC_STR(""), KC_STR(""),
                             &call->error);
    return KC__REST_FAIL;
}

static kc__rest_verdict prepare_review(kc__rest_call *call)
{
    const kc__review *review = kc__review_of(call->resource);
    kc_scoped(kc_field_errors) errors = {0};
    const kc_object *object = kc__draft_freeze(&call->draft, call->resource, &call->error);
    if (!object)
        return KC__REST_FAIL;
    kc_auto(kc_view) *view = kc_view_of(object);
    if (review->validate)
        review->validate(kc_view_root(view), &errors);
    if (errors.list.n)
        return refuse_review(call, &errors);
    return review->check ? review->check(call, kc_view_root(view)) : KC__REST_NEXT;
}

static kc__rest_verdict answer_review(kc__rest_call *call)
{
    kc_scoped(kc_buf) json = {0};
    const kc__review *review = kc__review_of(call->resource);
    kc_auto(kc_view) *view = kc_view_of(call->proposed);
    const kc__rest_verdict ready =
        review->wait ? review->wait(call, kc_view_root(view)) : KC__REST_NEXT;
    if (ready != KC__REST_NEXT)
        return ready;
    review->answer(call, kc_view_root(view), &json);
    kc_auto(kc_object) *answer = kc_object_parse(kc_buf_str(&json), NULL, &call->error);
    return answer ? kc__rest_respond_object(call, 201, answer) : KC__REST_FAIL;
}

const kc__rest_verb kc__review_verb = {
    .name = "create",
    .bit = KC__VERB_CREATE,
    .mutates = true,
    .unstored = true,
    .decode = decode_review,
    .propose = propose_review,
    .prepare = prepare_review,
    .respond = answer_review,
};
