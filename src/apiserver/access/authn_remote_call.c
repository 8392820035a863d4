/* SPDX-License-Identifier: Apache-2.0 */
/*
 * authn_remote_call.c: calls the remote authenticators for one token, one after the other, until
 * one of them finds the user:
 *
 *     start ─▶ cached result? ─▶ next authenticator ─▶ … ─▶ done(results)
 *                └─(none)─▶ kc__authn_remote_verify ─▶ result ─┘
 *
 * The caller then authenticates the request again, with the results. So the order of authenticators
 * and their errors are decided in one place, authn_token.c.
 */
#include "apiserver/access/authn_internal.h"

#include <openssl/crypto.h>

typedef struct token_verification {
    const kc__authn *authn;
    kc_arena arena; /* Holds the token and the audiences. */
    kc__user_audiences wanted;
    kc__authn_results results;
    size_t at; /* The authenticator that is called. */
    kc__loop *loop;
    kc__loop_task task;
    kc__authn_remote_done_fn *done;
    void *user;
} token_verification;

static void end_token_verification(token_verification *q)
{
    q->done(&q->results, q->user);
    for (size_t i = 0; i < KC__AUTHN_MAX_REMOTES; i++)
        kc__authn_result_unref(q->results.items[i]);
    if (q->results.token.n)
        OPENSSL_cleanse((char *)q->results.token.p, q->results.token.n);
    kc_arena_done(&q->arena);
    free(q);
}

static bool is_complete(const token_verification *q)
{
    const kc__authn_result *last = q->at ? q->results.items[q->at - 1] : NULL;
    return (last && last->found > 0) || q->at == q->authn->n_remotes;
}

static void call_remotes(token_verification *q);

static void remote_done(kc__authn_result *result, void *user)
{
    token_verification *q = user;
    q->results.items[q->at++] = kc__authn_result_ref(result);
    call_remotes(q);
}

static void call_remotes(token_verification *q)
{
    while (!is_complete(q)) {
        kc__authn_remote *remote = q->authn->remotes[q->at];
        const kc_str token = q->results.token;
        if (kc__authn_remote_accepts(remote, token)) {
            q->results.items[q->at] = kc__authn_remote_cached(remote, token, q->wanted);
            if (!q->results.items[q->at]) {
                kc__authn_remote_verify(remote, token, q->wanted, q->loop, remote_done, q);
                return;
            }
        }
        q->at++;
    }
    end_token_verification(q);
}

static void begin_token_verification(kc__loop_task *task)
{
    call_remotes(kc_container_of(task, token_verification, task));
}

void kc__authn_remote_start_token(const kc__authn *authn, kc_str token, kc__user_audiences wanted,
                                  kc__loop *loop, kc__authn_remote_done_fn *done, void *user)
{
    token_verification *q = kc_new(token_verification);
    const kc__user_audiences all = wanted.n ? wanted : kc__authn_audiences(authn);
    kc_str *items = kc_arena_calloc(&q->arena, all.n + 1, sizeof(*items));
    for (size_t i = 0; i < all.n; i++)
        items[i] = kc_arena_str(&q->arena, all.items[i]);
    q->authn = authn;
    q->wanted = (kc__user_audiences){items, all.n};
    q->results.token = kc_arena_str(&q->arena, token);
    q->loop = loop;
    q->done = done;
    q->user = user;
    q->task.run = begin_token_verification;
    kc__loop_post(loop, &q->task);
}

void kc__authn_remote_start_request(const kc__authn *authn, const kc__http_request *request,
                                    kc_arena *arena, kc__loop *loop, kc__authn_remote_done_fn *done,
                                    void *user)
{
    kc__authn_remote_start_token(authn, kc__authn_request_token(request, arena),
                                 (kc__user_audiences){0}, loop, done, user);
}
