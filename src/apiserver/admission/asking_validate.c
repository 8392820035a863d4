/* SPDX-License-Identifier: Apache-2.0 */
/*
 * asking_validate.c: webhooks that may refuse an object, all at once. All are waited for, so that
 * each has seen what it may act upon; of those that refuse, the first to do so is told of.
 */
#include "apiserver/admission/asking.h"

static kc__verdict finish(kc__asking *a)
{
    const bool failed = a->call->error.reason;
    return kc__asking_end(a, failed ? KC__FAIL : KC__NEXT);
}

/* A hook has answered, or nobody needed to ask it. */
static void settle(kc__question *q)
{
    kc__hook_settle(q);
    const bool fails =
        q->result != KC__HOOK_ALLOWED && !(q->result == KC__HOOK_FAILED && q->hook->ignored);
    if (fails && !q->call->error.reason)
        kc__hook_fail(q);
    kc__question_done(q);
}

static void answered(kc__question *q)
{
    kc__asking *a = q->user;
    settle(q);
    if (!--a->left)
        a->done(a, finish(a));
}

static kc__verdict collect(kc__asking *a, size_t *ret_n)
{
    const size_t n = a->set->validating.n;
    a->questions = kc_arena_calloc(a->call->arena, n + 1, sizeof(*a->questions));
    *ret_n = 0;
    for (size_t i = 0; i < n; i++) {
        const kc__hook *hook = &a->set->validating.items[i];
        const kc__resource *as = NULL;
        bool concerned;
        kc__verdict verdict = kc__asking_match(a, hook, &as, &concerned);
        if (verdict != KC__NEXT)
            return verdict;
        if (concerned)
            a->questions[(*ret_n)++] = (kc__question){.call = a->call,
                                                      .hook = hook,
                                                      .about = &a->about,
                                                      .as = as,
                                                      .done = answered,
                                                      .user = a};
    }
    return KC__NEXT;
}

kc__verdict kc__asking_validate(kc__asking *a)
{
    size_t n;
    kc__verdict verdict = collect(a, &n);
    if (verdict == KC__NEXT && n)
        verdict = kc__asking_in_time(a);
    if (verdict != KC__NEXT)
        return kc__asking_end(a, verdict);
    a->left = n + 1; /* One for ourselves, until all are asked. */
    for (size_t i = 0; i < n; i++)
        if (!kc__hook_ask(&a->questions[i])) {
            settle(&a->questions[i]);
            a->left--;
        }
    return --a->left ? KC__LATER : finish(a);
}
