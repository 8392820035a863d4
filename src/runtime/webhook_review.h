/* SPDX-License-Identifier: Apache-2.0 */
/*
 * webhook_review.h: an AdmissionReview: the request read, the answer written. Versions v1 and
 * v1beta1 have the same members; an answer has the version of its request.
 */
#ifndef KC_RUNTIME_WEBHOOK_REVIEW_H
#define KC_RUNTIME_WEBHOOK_REVIEW_H

#include "kc/webhook.h"

/* Of a body that came: two objects of 3 MiB and what stands around them, and more for conversions,
 * which come several at a time. */
#define KC__REVIEW_MAX ((size_t)16 << 20)

/* A zeroed one is ready. */
typedef struct kc__review {
    kc_str api_version; /* Of the review. Empty if that is not known. */
    kc_admission request;
    kc_view *view; /* What the slices point into. */
    kc_object *object, *old_object;
    kc_str *groups;
} kc__review;

/* KC_BAD_REQUEST for anything that is not one; the version and the uid are still there if they
 * could be read, for the answer. */
int kc__review_read(kc_str body, kc__review *review, kc_error *err);
void kc__review_done(kc__review *review);

typedef struct kc__verdict {
    kc_str patch; /* Empty: none. */
    const char *const *warnings;
    size_t n_warnings;
    const kc_error *denied; /* NULL: allowed. One without a reason of the API is Forbidden. */
} kc__verdict;

void kc__review_write(kc_buf *out, const kc__review *review, const kc__verdict *verdict);

#endif
