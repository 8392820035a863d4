/* SPDX-License-Identifier: Apache-2.0 */
/*
 * webhook_answers.h: answers of an authorization webhook, and a cache of them. Both may be used on
 * any thread.
 */
#ifndef KC_APISERVER_AUTHZ_WEBHOOK_ANSWERS_H
#define KC_APISERVER_AUTHZ_WEBHOOK_ANSWERS_H

#include "apiserver/authz/authz.h"
#include "kc/clock.h"

/* Limits of a cache: answers, and bytes of questions and answers. */
#define KC__AUTHZ_ANSWERS       8192
#define KC__AUTHZ_ANSWERS_BYTES ((size_t)16 << 20)

/* Immutable and reference-counted. */
typedef struct kc__authz_answer kc__authz_answer;

/* `reason` and `error` may be empty. */
kc__authz_answer *kc__authz_answer_new(kc__authz_decision decision, kc_str reason, kc_str error);
kc__authz_answer *kc__authz_answer_ref(kc__authz_answer *answer);
/* NULL is allowed; returns NULL. */
kc__authz_answer *kc__authz_answer_unref(kc__authz_answer *answer);

kc__authz_decision kc__authz_answer_decision(const kc__authz_answer *answer);
kc_str kc__authz_answer_reason(const kc__authz_answer *answer);
/* Why the webhook has no answer; empty: it has one. */
kc_str kc__authz_answer_error(const kc__authz_answer *answer);

typedef struct kc__authz_answers kc__authz_answers;

kc__authz_answers *kc__authz_answers_new(const kc_clock *clock);
/* NULL is allowed; returns NULL. */
kc__authz_answers *kc__authz_answers_free(kc__authz_answers *answers);
/* The answer to a question with a reference; NULL: none is kept, or it has expired. */
kc__authz_answer *kc__authz_answers_get(kc__authz_answers *answers, kc_str question);
/* Keeps an answer for a time; drops the least recently used ones above the limits. */
void kc__authz_answers_put(kc__authz_answers *answers, kc_str question, kc__authz_answer *answer,
                           int64_t ttl);

#endif
