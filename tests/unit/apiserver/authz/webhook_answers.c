/* SPDX-License-Identifier: Apache-2.0 */
/* Kept answers of authorization webhooks. */
#include "apiserver/authz/webhook_answers.h"
#include "testing.h"

#include <stdio.h>

static void put_answer(kc__authz_answers *answers, const char *question,
                       kc__authz_decision decision, int64_t ttl)
{
    kc__authz_answer *answer = kc__authz_answer_new(decision, KC_STR("because"), (kc_str){0});
    kc__authz_answers_put(answers, kc_cstr(question), answer, ttl);
    kc__authz_answer_unref(answer);
}

static bool is_kept(kc__authz_answers *answers, const char *question)
{
    kc__authz_answer *answer = kc__authz_answers_get(answers, kc_cstr(question));
    const bool kept = answer;
    kc__authz_answer_unref(answer);
    return kept;
}

static void answer_is_kept_with_its_reason(void **state)
{
    (void)state;
    kc__authz_answers *answers = kc__authz_answers_new(NULL);
    put_answer(answers, "q", KC__AUTHZ_ALLOW, KC_MINUTE);
    kc__authz_answer *answer = kc__authz_answers_get(answers, KC_STR("q"));
    assert_non_null(answer);
    assert_int_equal(kc__authz_answer_decision(answer), KC__AUTHZ_ALLOW);
    assert_true(kc_str_is(kc__authz_answer_reason(answer), "because"));
    assert_true(kc_str_empty(kc__authz_answer_error(answer)));
    kc__authz_answer_unref(answer);
    put_answer(answers, "none", KC__AUTHZ_ALLOW, 0);
    assert_false(is_kept(answers, "none"));
    kc__authz_answers_free(answers);
}

static void least_recently_used_answer_is_dropped(void **state)
{
    (void)state;
    char question[32];
    kc__authz_answers *answers = kc__authz_answers_new(NULL);
    put_answer(answers, "first", KC__AUTHZ_ALLOW, KC_MINUTE);
    put_answer(answers, "second", KC__AUTHZ_ALLOW, KC_MINUTE);
    for (int i = 0; i < KC__AUTHZ_ANSWERS - 2; i++) {
        snprintf(question, sizeof(question), "q%d", i);
        put_answer(answers, question, KC__AUTHZ_DENY, KC_MINUTE);
    }
    assert_true(is_kept(answers, "first"));
    put_answer(answers, "more", KC__AUTHZ_ALLOW, KC_MINUTE);
    assert_true(is_kept(answers, "first"));
    assert_false(is_kept(answers, "second"));
    kc__authz_answers_free(answers);
}

TESTS(answer_is_kept_with_its_reason, least_recently_used_answer_is_dropped)
