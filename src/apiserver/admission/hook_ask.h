/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hook_ask.h: one webhook is asked about one request.
 *
 *     q->hook = hook; q->as = as; q->about = about; q->done = answered;
 *     if (kc__hook_ask(q))
 *         return KC__LATER;                     answered(q) is called, on the call's loop
 *     …                                         it was decided without asking: q->result
 */
#ifndef KC_APISERVER_HOOK_ASK_H
#define KC_APISERVER_HOOK_ASK_H

#include "apiserver/admission/hooks.h"
#include "apiserver/admission/review.h"
#include "apiserver/rest/call.h"

typedef struct kc__question kc__question;

struct kc__question {
    kc__call *call;
    const kc__hook *hook;
    const kc__attributes *about;
    const kc__resource *as;
    void (*done)(kc__question *question);
    void *user;

    /* Set by asking; released by kc__question_done. */
    kc_object *object, *old; /* As the hook sees them. */
    kc__hook_result result;
    kc__hook_answer answer; /* Where it is KC__HOOK_ALLOWED or _DENIED. */
    kc_error error;         /* Where it is KC__HOOK_FAILED or _REFUSED. */
    int code;

    char uid[KC_UID_TEXT]; /* Private, as the rest. */
    int64_t started;
    char *url;
};

/* False when it is decided already; `done` is then not called. */
bool kc__hook_ask(kc__question *question);
/* Counts the question, and tells the client what the hook wants it to know: once for each. */
void kc__hook_settle(const kc__question *question);
void kc__question_done(kc__question *question);

/* Why the request fails because of this question: call->error. */
kc__verdict kc__hook_fail(kc__question *question);

#endif
