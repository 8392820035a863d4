/* SPDX-License-Identifier: Apache-2.0 */
/*
 * admission_review.h: writes the AdmissionReview request of a webhook, and reads its response.
 * Works on text; no network.
 */
#ifndef KC_APISERVER_ADMISSION_REVIEW_H
#define KC_APISERVER_ADMISSION_REVIEW_H

#include "apiserver/admission/chain/attributes.h"
#include "kc/json.h"

typedef struct kc__admission_review {
    const kc__admission_attributes *about;
    const kc__resource *as;        /* The version in which the webhook sees the resource. */
    const kc__resource *resource;  /* Shown as the resource. Defaults to `as`. */
    const kc_object *object, *old; /* In that version; may be NULL. */
    kc_str uid;
    bool beta;
} kc__admission_review;

/* Appends the review as JSON. */
void kc__admission_review_write(kc_buf *out, const kc__admission_review *review);

/* The response of a webhook. */
typedef struct kc__admission_response {
    bool allowed;
    kc_buf patch; /* A JSON patch; empty: none. */
    kc_paths warnings;
    kc_paths annotations; /* Audit annotations: key, value, key, value, … */
    kc_error denial; /* Why the request is denied: message, code, and the reason if it is known. */
    kc_buf status;   /* The same as the Status for the client, with all members that the webhook
                        sent. */
} kc__admission_response;

void kc__admission_response_done(kc__admission_response *response);

/* The webhook of a response; for messages. */
typedef struct kc__admission_review_origin {
    kc_str hook;
    kc_str uid; /* Of the review. */
    bool mutates, beta;
} kc__admission_review_origin;

/*
 * Reads a response. KC_BAD_REQUEST if it is not an AdmissionReview, KC_INVALID if it is one with
 * invalid contents: another uid, a patch from a validating webhook, … *ret must be released on
 * success.
 */
int kc__admission_review_read(kc_str body, const kc__admission_review_origin *from,
                              kc__admission_response *ret, kc_error *err);

#endif
