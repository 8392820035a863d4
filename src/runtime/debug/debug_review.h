/* SPDX-License-Identifier: Apache-2.0 */
/*
 * debug_review.h: authenticates a bearer token and authorizes its user for a page at the API
 * server: a TokenReview, then a SubjectAccessReview for a non-resource path, as controller-runtime
 * does.
 */
#ifndef KC_RUNTIME_DEBUG_DEBUG_REVIEW_H
#define KC_RUNTIME_DEBUG_DEBUG_REVIEW_H

#include "kc/client.h"

typedef struct kc__debug_review_request {
    kc_str token;
    kc_str path; /* "/metrics" */
    kc_str verb; /* "get" */
} kc__debug_review_request;

/* The server's decision. */
typedef struct kc__debug_review_result {
    int status; /* 200: allowed. 401: the token is invalid, or the server does not review tokens.
                   403: the user is not allowed. */
    char *text; /* The reason of a denial; the caller frees it. NULL with 200. */
} kc__debug_review_result;

/* Negative: the request failed, or the server does not permit us to review; *ret is untouched.
 * Blocks. */
int kc__debug_review(kc_client *client, const kc__debug_review_request *request,
                     kc__debug_review_result *ret, kc_error *err);

/* Writes the SubjectAccessReview; `user` is the TokenReview's status.user. */
void kc__debug_review_write(kc_buf *out, const kc__debug_review_request *request,
                            const kc_value *user);

#endif
