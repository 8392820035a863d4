/* SPDX-License-Identifier: Apache-2.0 */
/*
 * webhook_answers.c: answers by question, in the order of their last use. An answer that has
 * expired is dropped when it is looked up, or when it is the least recently used one.
 */
#include "apiserver/authz/webhook_answers.h"

#include "kc/dlist.h"
#include "kc/map.h"
#include "kc/ref.h"
#include "kc/thread.h"

/* ---- answers ---- */

struct kc__authz_answer {
    kc_ref refs;
    kc__authz_decision decision;
    size_t reason_length, error_length;
    char text[]; /* The reason, then the error. */
};

kc__authz_answer *kc__authz_answer_new(kc__authz_decision decision, kc_str reason, kc_str error)
{
    kc__authz_answer *answer = kc_calloc(1, sizeof(*answer) + reason.n + error.n);
    kc_ref_init(&answer->refs);
    answer->decision = decision;
    answer->reason_length = reason.n;
    answer->error_length = error.n;
    if (reason.n)
        memcpy(answer->text, reason.p, reason.n);
    if (error.n)
        memcpy(answer->text + reason.n, error.p, error.n);
    return answer;
}

kc__authz_answer *kc__authz_answer_ref(kc__authz_answer *answer)
{
    kc_ref_add(&answer->refs);
    return answer;
}

kc__authz_answer *kc__authz_answer_unref(kc__authz_answer *answer)
{
    if (answer && kc_ref_drop(&answer->refs))
        free(answer);
    return NULL;
}

kc__authz_decision kc__authz_answer_decision(const kc__authz_answer *answer)
{
    return answer->decision;
}

kc_str kc__authz_answer_reason(const kc__authz_answer *answer)
{
    return kc_str_of(answer->text, answer->reason_length);
}

kc_str kc__authz_answer_error(const kc__authz_answer *answer)
{
    return kc_str_of(answer->text + answer->reason_length, answer->error_length);
}

/* ---- the cache ---- */

typedef struct kept_access {
    kc_dlist_link used;
    kc__authz_answer *answer;
    int64_t expires; /* Monotonic. */
    size_t length;
    char question[];
} kept_access;

struct kc__authz_answers {
    const kc_clock *clock;
    kc_mutex mutex; /* Guards the fields below. A leaf lock. */
    kc_map by_question;
    kc_dlist used; /* The least recently used one first. */
    size_t bytes;
};

kc__authz_answers *kc__authz_answers_new(const kc_clock *clock)
{
    kc__authz_answers *answers = kc_new(kc__authz_answers);
    answers->clock = clock ? clock : kc_clock_real();
    kc_mutex_init(&answers->mutex);
    kc_dlist_init(&answers->used);
    return answers;
}

static size_t kept_bytes(const kept_access *kept)
{
    return sizeof(*kept) + kept->length + sizeof(*kept->answer) + kept->answer->reason_length +
           kept->answer->error_length;
}

/* Call it with the mutex held. */
static void drop_answer(kc__authz_answers *answers, kept_access *kept)
{
    answers->bytes -= kept_bytes(kept);
    kc_map_remove(&answers->by_question, kc_str_of(kept->question, kept->length));
    kc_dlist_remove(&kept->used);
    kc__authz_answer_unref(kept->answer);
    free(kept);
}

kc__authz_answers *kc__authz_answers_free(kc__authz_answers *answers)
{
    if (!answers)
        return NULL;
    kc_dlist_each (&answers->used, kept_access, used, kept)
        drop_answer(answers, kept);
    kc_map_done(&answers->by_question);
    kc_mutex_done(&answers->mutex);
    free(answers);
    return NULL;
}

/* Call it with the mutex held. */
static kc__authz_answer *find_answer(kc__authz_answers *answers, kc_str question)
{
    kept_access *kept = kc_map_get(&answers->by_question, question);
    if (!kept)
        return NULL;
    if (kept->expires <= kc_clock_now(answers->clock)) {
        drop_answer(answers, kept);
        return NULL;
    }
    kc_dlist_remove(&kept->used);
    kc_dlist_push(&answers->used, &kept->used);
    return kc__authz_answer_ref(kept->answer);
}

kc__authz_answer *kc__authz_answers_get(kc__authz_answers *answers, kc_str question)
{
    kc__authz_answer *answer = NULL;
    kc_locked (&answers->mutex)
        answer = find_answer(answers, question);
    return answer;
}

static kept_access *kept_access_new(kc_str question, kc__authz_answer *answer, int64_t expires)
{
    kept_access *kept = kc_calloc(1, sizeof(*kept) + question.n);
    kept->answer = kc__authz_answer_ref(answer);
    kept->expires = expires;
    kept->length = question.n;
    memcpy(kept->question, question.p, question.n);
    return kept;
}

/* Call it with the mutex held. */
static void keep_answer(kc__authz_answers *answers, kept_access *kept)
{
    const kc_str question = kc_str_of(kept->question, kept->length);
    kept_access *before = kc_map_get(&answers->by_question, question);
    if (before)
        drop_answer(answers, before);
    kc_map_put(&answers->by_question, question, kept);
    kc_dlist_push(&answers->used, &kept->used);
    answers->bytes += kept_bytes(kept);
    while (answers->by_question.n > KC__AUTHZ_ANSWERS || answers->bytes > KC__AUTHZ_ANSWERS_BYTES)
        drop_answer(answers, kc_container_of(kc_dlist_first(&answers->used), kept_access, used));
}

void kc__authz_answers_put(kc__authz_answers *answers, kc_str question, kc__authz_answer *answer,
                           int64_t ttl)
{
    if (ttl <= 0)
        return;
    kept_access *kept = kept_access_new(question, answer, kc_clock_deadline(answers->clock, ttl));
    kc_locked (&answers->mutex)
        keep_answer(answers, kept);
}
