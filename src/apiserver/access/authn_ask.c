/* SPDX-License-Identifier: Apache-2.0 */
/*
 * authn_ask.c: asks the authenticators that take their time about one token, one after the other,
 * until one of them knows the user:
 *
 *     ask ─▶ kept answer? ─▶ next authenticator ─▶ … ─▶ done(answers)
 *              └─(none)─▶ kc__authn_remote_ask ─▶ answer ─┘
 *
 * The caller then authenticates the request again, with the answers. So the order of authenticators
 * and their errors are decided in one place, authn_token.c.
 */
#include "apiserver/access/authn_internal.h"

#include <openssl/crypto.h>

typedef struct token_question {
    const kc__authn *authn;
    kc_arena arena; /* Holds the token and the audiences. */
    kc__user_audiences wanted;
    kc__authn_answers answers;
    size_t at; /* The authenticator that is asked. */
    kc__loop *loop;
    kc__loop_task task;
    kc__authn_asked_fn *done;
    void *user;
} token_question;

static void end_token_question(token_question *q)
{
    q->done(&q->answers, q->user);
    for (size_t i = 0; i < KC__AUTHN_MAX_REMOTES; i++)
        kc__authn_answer_unref(q->answers.items[i]);
    if (q->answers.token.n)
        OPENSSL_cleanse((char *)q->answers.token.p, q->answers.token.n);
    kc_arena_done(&q->arena);
    free(q);
}

static bool is_answered(const token_question *q)
{
    const kc__authn_answer *last = q->at ? q->answers.items[q->at - 1] : NULL;
    return (last && last->found > 0) || q->at == q->authn->n_remotes;
}

static void ask_remotes(token_question *q);

static void remote_answered(kc__authn_answer *answer, void *user)
{
    token_question *q = user;
    q->answers.items[q->at++] = kc__authn_answer_ref(answer);
    ask_remotes(q);
}

static void ask_remotes(token_question *q)
{
    while (!is_answered(q)) {
        kc__authn_remote *remote = q->authn->remotes[q->at];
        const kc_str token = q->answers.token;
        if (kc__authn_remote_concerns(remote, token)) {
            q->answers.items[q->at] = kc__authn_remote_known(remote, token, q->wanted);
            if (!q->answers.items[q->at]) {
                kc__authn_remote_ask(remote, token, q->wanted, q->loop, remote_answered, q);
                return;
            }
        }
        q->at++;
    }
    end_token_question(q);
}

static void begin_token_question(kc__loop_task *task)
{
    ask_remotes(kc_container_of(task, token_question, task));
}

void kc__authn_ask_token(const kc__authn *authn, kc_str token, kc__user_audiences wanted,
                         kc__loop *loop, kc__authn_asked_fn *done, void *user)
{
    token_question *q = kc_new(token_question);
    const kc__user_audiences all = wanted.n ? wanted : kc__authn_audiences(authn);
    kc_str *items = kc_arena_calloc(&q->arena, all.n + 1, sizeof(*items));
    for (size_t i = 0; i < all.n; i++)
        items[i] = kc_arena_str(&q->arena, all.items[i]);
    q->authn = authn;
    q->wanted = (kc__user_audiences){items, all.n};
    q->answers.token = kc_arena_str(&q->arena, token);
    q->loop = loop;
    q->done = done;
    q->user = user;
    q->task.run = begin_token_question;
    kc__loop_post(loop, &q->task);
}

void kc__authn_ask_request(const kc__authn *authn, const kc__http_request *request, kc_arena *arena,
                           kc__loop *loop, kc__authn_asked_fn *done, void *user)
{
    kc__authn_ask_token(authn, kc__authn_request_token(request, arena), (kc__user_audiences){0},
                        loop, done, user);
}
