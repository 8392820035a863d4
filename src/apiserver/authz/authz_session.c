/* SPDX-License-Identifier: Apache-2.0 */
/*
 * authz_session.c: questions and answers of one request.
 *
 * A failed webhook is an answer, too, so that a request does not ask again and again. So is a
 * request that the match conditions exclude.
 *
 *     known answer? ─▶ match conditions ─▶ kept answer? ─▶ question: KC__AUTHZ_PENDING
 *                            └─ too expensive for an event loop: KC__AUTHZ_PENDING, needs_worker
 */
#include "apiserver/authz/authz_session.h"

#include "kc/thread.h"

/* Questions with longer attributes are not kept, as in Kubernetes. */
enum { MAX_KEPT_ATTRIBUTES = 10000 };

void kc__authz_session_done(kc__authz_session *session)
{
    kc_vec_each (&session->learned, learned) {
        free(learned->question);
        kc__authz_answer_unref(learned->answer);
        kc__authz_webhook_unref(learned->webhook);
    }
    kc_vec_done(&session->learned);
    kc__authz_session_drop_errors(session, session->errors.n);
    kc_vec_done(&session->errors);
}

/* ---- errors ---- */

static bool has_error(const char *const *errors, size_t n, const char *text)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(errors[i], text))
            return true;
    return false;
}

/* Several messages are separated by their terminators. */
static void add_session_errors(kc__authz_session *session, kc_str text)
{
    while (text.n) {
        const kc_str one = kc_str_cut(&text, '\0');
        kc_vec_push(&session->errors, kc_str_dup(one));
    }
}

void kc__authz_session_drop_errors(kc__authz_session *session, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(session->errors.items[i]);
    for (size_t i = n; i < session->errors.n; i++)
        session->errors.items[i - n] = session->errors.items[i];
    session->errors.n -= n;
}

void kc__authz_session_write_errors(const kc__authz_session *session, kc_buf *out)
{
    kc_scoped(kc_buf) all = {0};
    const char *const *errors = (const char *const *)session->errors.items;
    size_t n = 0;
    for (size_t i = 0; i < session->errors.n; i++)
        if (!has_error(errors, i, errors[i]))
            kc_buf_printf(&all, "%s%s", n++ ? ", " : "", errors[i]);
    kc_buf_printf(out, n > 1 ? "[%s]" : "%s", kc_buf_cstr(&all));
}

/* ---- deciding ---- */

static bool may_keep(const kc__authz_attributes *a)
{
    return a->ns.n + a->verb.n + a->group.n + a->version.n + a->resource.n + a->subresource.n +
               a->name.n + a->path.n <
           MAX_KEPT_ATTRIBUTES;
}

/* 1 + the index of what the session knows; 0: nothing. */
static size_t find_learned(const kc__authz_session *session, const kc__authz_webhook *webhook,
                           kc_str question)
{
    for (size_t i = 0; i < session->learned.n; i++) {
        const kc__authz_learned *learned = &session->learned.items[i];
        if (learned->webhook == webhook && kc_str_is(question, learned->question))
            return i + 1;
    }
    return 0;
}

static size_t learn(kc__authz_session *session, kc__authz_webhook *webhook, kc_str question,
                    kc__authz_answer *answer)
{
    kc_vec_push(&session->learned,
                (kc__authz_learned){.webhook = kc__authz_webhook_ref(webhook),
                                    .question = kc_str_dup(question),
                                    .answer = answer ? kc__authz_answer_ref(answer) : NULL});
    return session->learned.n;
}

/* The first time that the request needs this webhook for this question. An answer with a reference;
 * NULL: the decision is pending. */
static kc__authz_answer *find_out(kc__authz_session *session, kc__authz_webhook *webhook,
                                  const kc__authz_attributes *a, kc_str question)
{
    kc__authz_answer *answer = NULL;
    const kc__authz_match match = kc__authz_webhook_match(webhook, a, session->on_worker, &answer);
    session->needs_worker = match == KC__AUTHZ_TOO_LONG;
    if (session->needs_worker)
        return NULL;
    if (match == KC__AUTHZ_MATCHES)
        answer = kc__authz_webhook_known(webhook, question);
    if (answer && !kc__authz_webhook_has_conditions(webhook))
        return answer;
    const size_t at = learn(session, webhook, question, answer);
    session->asked = answer ? 0 : at;
    return answer;
}

/* As find_out, later. */
static kc__authz_answer *recall(kc__authz_session *session, size_t at)
{
    kc__authz_answer *answer = session->learned.items[at - 1].answer;
    session->needs_worker = false;
    session->asked = answer ? 0 : at;
    return answer ? kc__authz_answer_ref(answer) : NULL;
}

kc__authz_decision kc__authz_session_decide(kc__authz_session *session, kc__authz_webhook *webhook,
                                            const kc__authz_attributes *a, kc_buf *reason)
{
    kc_scoped(kc_buf) question = {0};
    kc__authz_webhook_question(webhook, a, &question);
    const size_t at = find_learned(session, webhook, kc_buf_str(&question));
    kc__authz_answer *answer =
        at ? recall(session, at) : find_out(session, webhook, a, kc_buf_str(&question));
    if (!answer) {
        session->keeps = may_keep(a);
        return KC__AUTHZ_PENDING;
    }
    const kc__authz_decision decision = kc__authz_answer_decision(answer);
    add_session_errors(session, kc__authz_answer_error(answer));
    if (reason)
        kc_buf_append(reason, kc__authz_answer_reason(answer));
    kc__authz_answer_unref(answer);
    return decision;
}

/* ---- asking ---- */

static void learn_answer(kc__authz_answer *answer, void *user)
{
    kc__authz_session *session = user;
    session->learned.items[session->asked - 1].answer = kc__authz_answer_ref(answer);
    session->asked = 0;
    session->resume(session->user);
}

void kc__authz_session_ask(kc__authz_session *session, kc__loop *loop, void (*resume)(void *user),
                           void *user)
{
    const kc__authz_learned *asked = &session->learned.items[session->asked - 1];
    session->resume = resume;
    session->user = user;
    kc__authz_webhook_ask(asked->webhook, kc_cstr(asked->question), session->keeps, loop,
                          learn_answer, session);
}

/* ---- waiting ---- */

typedef struct awaited_question {
    kc__loop_task task;
    kc__authz_session *session;
    kc__loop *loop;
    kc_latch answered;
} awaited_question;

static void wake_waiting(void *user)
{
    kc_latch_count_down(&((awaited_question *)user)->answered);
}

static void ask_on_loop(kc__loop_task *task)
{
    awaited_question *q = kc_container_of(task, awaited_question, task);
    kc__authz_session_ask(q->session, q->loop, wake_waiting, q);
}

kc__authz_decision kc__authz_wait(kc__authz *authz, kc__loop *loop, const kc__authz_attributes *a,
                                  kc_buf *reason)
{
    kc_scoped(kc__authz_session) session = {0};
    return kc__authz_session_wait(&session, authz, loop, a, reason);
}

kc__authz_decision kc__authz_session_wait(kc__authz_session *session, kc__authz *authz,
                                          kc__loop *loop, const kc__authz_attributes *a,
                                          kc_buf *reason)
{
    kc__authz_decision decision;
    session->on_worker = true;
    while ((decision = kc__authz_authorize(authz, session, a, reason)) == KC__AUTHZ_PENDING) {
        awaited_question q = {.task.run = ask_on_loop, .session = session, .loop = loop};
        kc_latch_init(&q.answered);
        kc_latch_add(&q.answered, 1);
        kc__loop_post(loop, &q.task);
        kc_latch_wait(&q.answered);
        kc_latch_done(&q.answered);
    }
    return decision;
}
