/* SPDX-License-Identifier: Apache-2.0 */
/* self_review.c: SelfSubjectReview: the user of the request (kubectl auth whoami). */
#include "apiserver/reviews/review.h"

#include "kc/json.h"

void kc__review_answer_self(kc__rest_call *call, const kc_value *review, kc_buf *out)
{
    char now[KC_TIME_TEXT];
    (void)review;
    const kc_str created = kc__rest_call_now(call, now);
    kc_buf_printf(out,
                  "{\"kind\":\"SelfSubjectReview\",\"apiVersion\":\"authentication.k8s.io/v1\","
                  "\"metadata\":{\"creationTimestamp\":\"%.*s\"},\"status\":{\"userInfo\":",
                  KC_ARG(created));
    kc__user_write(out, &call->user);
    kc_buf_puts(out, "}}");
}
