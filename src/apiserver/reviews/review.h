/* SPDX-License-Identifier: Apache-2.0 */
/*
 * review.h: reviews: resources that are created and answered, but never stored.
 *
 *     SubjectAccessReview, SelfSubjectAccessReview, LocalSubjectAccessReview   may a user do this?
 *     SelfSubjectRulesReview                                   what may I do in a namespace?
 *     SelfSubjectReview                                        who am I?
 *     TokenReview                                              whose token is this?
 *
 * To add one: its functions in a file of this folder, and its row in the table of review.c.
 */
#ifndef KC_APISERVER_REVIEW_H
#define KC_APISERVER_REVIEW_H

#include "apiserver/kinds/resource.h"
#include "apiserver/request/phases.h"
#include "kc/field_error.h"

typedef struct kc__review {
    const char *plural;
    /* Adds an error for each invalid field. NULL: there is nothing to check. */
    void (*validate)(const kc_value *review, kc_field_errors *errors);
    /* Checks that have another response than 422. NULL: none. */
    kc__rest_verdict (*check)(kc__rest_call *call, const kc_value *review);
    /* Prepares the answer: KC__REST_NEXT, or, if it has to wait, KC__REST_PENDING or
     * KC__REST_ON_LOOP. NULL: there is nothing to wait for. */
    kc__rest_verdict (*wait)(kc__rest_call *call, const kc_value *review);
    /* Appends the response as JSON. */
    void (*answer)(kc__rest_call *call, const kc_value *review, kc_buf *out);
} kc__review;

/* The review that a resource is; NULL: it is none. */
const kc__review *kc__review_of(const kc__resource *resource);

/* ---- access_review.c ---- */

void kc__review_validate_access(const kc_value *review, kc_field_errors *errors);
void kc__review_validate_self_access(const kc_value *review, kc_field_errors *errors);
void kc__review_validate_local_access(const kc_value *review, kc_field_errors *errors);
/* Sets call->heavy if the decision takes long. */
kc__rest_verdict kc__review_check_access(kc__rest_call *call, const kc_value *review);
kc__rest_verdict kc__review_check_self_access(kc__rest_call *call, const kc_value *review);
/* Wait for authorization webhooks. */
kc__rest_verdict kc__review_wait_for_access(kc__rest_call *call, const kc_value *review);
kc__rest_verdict kc__review_wait_for_self_access(kc__rest_call *call, const kc_value *review);
/* Decides for the user of the spec, or, of a SelfSubjectAccessReview, for the user of the call. */
void kc__review_answer_access(kc__rest_call *call, const kc_value *review, kc_buf *out);
void kc__review_answer_self_access(kc__rest_call *call, const kc_value *review, kc_buf *out);

/* ---- rules_review.c ---- */

kc__rest_verdict kc__review_check_rules(kc__rest_call *call, const kc_value *review);
void kc__review_answer_rules(kc__rest_call *call, const kc_value *review, kc_buf *out);

/* ---- self_review.c ---- */

void kc__review_answer_self(kc__rest_call *call, const kc_value *review, kc_buf *out);

/* ---- token_review.c ---- */

kc__rest_verdict kc__review_check_token(kc__rest_call *call, const kc_value *review);
kc__rest_verdict kc__review_wait_for_token(kc__rest_call *call, const kc_value *review);
void kc__review_answer_token(kc__rest_call *call, const kc_value *review, kc_buf *out);

#endif
