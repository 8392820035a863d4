/* SPDX-License-Identifier: Apache-2.0 */
/*
 * review.h: an AdmissionReview: decodes the request, encodes the response. Versions v1 and v1beta1
 * have the same members; a response has the version of its request.
 */
#ifndef KC_RUNTIME_WEBHOOK_REVIEW_H
#define KC_RUNTIME_WEBHOOK_REVIEW_H

#include "kc/webhook.h"

/* Maximum size of a request body: two objects of 3 MiB and the review around them, and more for
 * conversions, which carry several objects. */
#define KC__WEBHOOK_REVIEW_MAX ((size_t)16 << 20)

/* A zeroed struct is ready to use. */
typedef struct kc__webhook_review {
    kc_str api_version; /* Version of the review. Empty if unknown. */
    kc_admission_request request;
    kc_view *view; /* Owns the memory of the slices. */
    kc_object *object, *old_object;
    kc_str *groups;
} kc__webhook_review;

/* KC_BAD_REQUEST for anything that is not a review; version and uid are set if they could be read,
 * for the response. */
int kc__webhook_review_read(kc_str body, kc__webhook_review *review, kc_error *err);
void kc__webhook_review_done(kc__webhook_review *review);

typedef struct kc__webhook_response {
    kc_str patch; /* Empty: none. */
    const char *const *warnings;
    size_t n_warnings;
    const kc_error
        *denied; /* NULL: allowed. An error without an API reason is reported as Forbidden. */
} kc__webhook_response;

void kc__webhook_review_write(kc_buf *out, const kc__webhook_review *review,
                              const kc__webhook_response *verdict);

#endif
