/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conversion_review.h: a ConversionReview: the request to a conversion webhook and its response.
 *
 * The response is untrusted input. Kubernetes' rules for it, with its messages:
 *
 *     review      of the version that was sent, with the same uid; its result is Success
 *     objects     as many as were sent, in the same order
 *     an object   has the desired version and the same kind, name, namespace and uid
 *     metadata    that of the object that was sent, except for labels and annotations
 */
#ifndef KC_APISERVER_CONVERSION_REVIEW_H
#define KC_APISERVER_CONVERSION_REVIEW_H

#include "kc/buf.h"
#include "kc/error.h"
#include "kc/object.h"
#include "kc/view.h"

#define KC__CONVERSION_GROUP "apiextensions.k8s.io/"

/* Why a call failed: the label failure_type of the metrics. */
#define KC__CONVERSION_FAILURES(X)                                \
    X(NONE, "")                                                   \
    X(CALL, "conversion_webhook_call_failure")                    \
    X(MALFORMED, "conversion_webhook_malformed_response_failure") \
    X(PARTIAL, "conversion_webhook_partial_response_failure")     \
    X(INVALID_OBJECT, "conversion_webhook_invalid_converted_object_failure")

typedef enum kc__conversion_failure {
#define KC__CONVERSION_FAILURE_ENUM(name, text) KC__CONVERSION_FAILURE_##name,
    KC__CONVERSION_FAILURES(KC__CONVERSION_FAILURE_ENUM)
#undef KC__CONVERSION_FAILURE_ENUM
        KC__CONVERSION_N_FAILURES
} kc__conversion_failure;

/* What is sent, and what the response must match. */
typedef struct kc__conversion_review {
    const char *version; /* Of the review: "v1", "v1beta1". */
    kc_str uid;
    const char *desired; /* "example.com/v2" */
    kc_object *const *objects;
    size_t n;
} kc__conversion_review;

void kc__conversion_review_write(kc_buf *out, const kc__conversion_review *review);

/* Reads the body of a response. On success the items of *ret_objects are those of *ret_view, which
 * the caller frees, and there are review->n of them. On failure the message is complete except for
 * kc__conversion_wrap_error. */
kc__conversion_failure kc__conversion_review_read(kc_str body, const kc__conversion_review *review,
                                                  kc_view **ret_view, const kc_value **ret_objects,
                                                  kc_error *err);

/* Checks an object of a response against the object that was sent, and gives it the metadata of
 * that object. NULL on error, with the complete message. (conversion_object.c) */
kc_object *kc__conversion_object_read(const kc_value *converted, const kc_object *original,
                                      const char *desired, kc_error *err);

/* "conversion webhook for example.com/v1, Kind=Robot failed: …" */
int kc__conversion_wrap_error(const kc_object *original, kc_error *err);
/* Appends "example.com/v1, Kind=Robot". */
void kc__conversion_write_kind(kc_buf *out, const kc_object *object);

#endif
