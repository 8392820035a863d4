/* SPDX-License-Identifier: Apache-2.0 */
/*
 * review.h: AdmissionReviews: what a webhook is asked, and what it answers. Text to text; nothing
 * here talks to anybody.
 */
#ifndef KC_APISERVER_REVIEW_H
#define KC_APISERVER_REVIEW_H

#include "apiserver/admission/hook.h"

typedef struct kc__hook_review {
    const kc__attributes *about;
    const kc__resource *as;        /* In which version the hook sees the resource. */
    const kc_object *object, *old; /* In that version; may be NULL. */
    kc_str uid;
    bool beta;
} kc__hook_review;

/* Appends the review as JSON. */
void kc__hook_review_write(kc_buf *out, const kc__hook_review *review);

/* What a hook said. */
typedef struct kc__hook_answer {
    bool allowed;
    kc_buf patch; /* A JSON patch; empty: none. */
    kc_paths warnings;
    kc_paths annotations; /* For the audit: key, value, key, value, … */
    kc_error denial; /* Why it is refused: message, code, and the reason as far as it is known. */
    kc_buf status;   /* The same as the Status that the client gets, whatever is in it. */
} kc__hook_answer;

void kc__hook_answer_done(kc__hook_answer *answer);

/* Who is asked; for messages. */
typedef struct kc__hook_from {
    kc_str hook;
    kc_str uid; /* Of the review. */
    bool mutates, beta;
} kc__hook_from;

/*
 * Reads an answer. KC_BAD_REQUEST where it is no AdmissionReview at all, KC_INVALID where it is one
 * that must not be: with another uid, with a patch of a hook that only validates … *ret is to be
 * released on success.
 */
int kc__hook_review_read(kc_str body, const kc__hook_from *from, kc__hook_answer *ret,
                         kc_error *err);

#endif
