/* SPDX-License-Identifier: Apache-2.0 */
/* webhook_review.h: the review that a webhook of the operator returns: a TokenReview, or a
 * SubjectAccessReview. */
#ifndef KC_APISERVER_WEBHOOK_REVIEW_H
#define KC_APISERVER_WEBHOOK_REVIEW_H

#include "http/client/http_client.h"
#include "kc/view.h"

/* The review that the webhook received. */
typedef struct kc__authn_review_expected {
    const char *url;
    const char *kind;  /* "TokenReview" */
    const char *group; /* "authentication.k8s.io/" */
} kc__authn_review_expected;

/* Reads a response. As in kube-apiserver kind and version may be missing. NULL if there is no
 * response, if it is no success, or if it is another object; `err` says so. The caller frees the
 * result. */
kc_view *kc__authn_review_read(const kc__http_client_response *response,
                               const kc__authn_review_expected *expected, kc_error *err);

#endif
