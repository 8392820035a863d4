/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offload_source.c: produces the body of a long list on workers, chunk by chunk, while the client
 * reads.
 *
 * One chunk is produced ahead of the client. While a worker produces it, the inner source belongs
 * to the worker, otherwise to the loop. If the response ends meanwhile (the client disconnected),
 * the job frees the source. If the pool rejects the job, the loop produces the chunk itself: other
 * connections wait, but the list is not aborted.
 */
#include "apiserver/request/offload_source.h"

#include "apiserver/request/offload.h"

enum { PIECE = 128 * 1024 };

struct kc__offload_body {
    kc__offload_job job;
    kc__offload *pool;
    const kc_clock *clock;
    int64_t timeout; /* Of one chunk. */
    char *user_name;
    kc__exchange *x;
    const kc__offload_source *inner;
    void *user;
    kc_buf piece;
    kc__http_fill verdict;
    bool begun, busy, abandoned;
};

static void offloaded_free(kc__offload_body *p)
{
    p->inner->body.done(p->user);
    kc_buf_done(&p->piece);
    free(p->user_name);
    free(p);
}

static void make_piece(kc__offload_job *job)
{
    kc__offload_body *p = kc_container_of(job, kc__offload_body, job);
    p->verdict = p->inner->body.fill(&p->piece, PIECE, p->user);
}

static void piece_made(kc__offload_job *job)
{
    kc__offload_body *p = kc_container_of(job, kc__offload_body, job);
    p->busy = false;
    if (job->expired || job->over || p->inner->is_cancelled(p->user))
        p->verdict = KC__HTTP_FILL_ABORT;
    if (p->abandoned)
        offloaded_free(p);
    else
        kc__exchange_wake(p->x);
}

static void make_next(kc__offload_body *p)
{
    p->job.deadline = kc_clock_deadline(p->clock, p->timeout);
    p->busy = kc__offload_submit(p->pool, &p->job);
    if (!p->busy)
        make_piece(&p->job);
}

static kc__http_fill fill_offload_body(kc_buf *out, size_t room, void *user)
{
    kc__offload_body *p = user;
    if (!p->begun) {
        p->begun = true;
        kc__http_fill verdict = p->inner->body.fill(out, room, p->user);
        if (verdict == KC__HTTP_FILL_MORE)
            make_next(p);
        return verdict;
    }
    if (p->busy)
        return KC__HTTP_FILL_WAIT;
    if (p->inner->is_cancelled(p->user))
        return KC__HTTP_FILL_ABORT;
    kc_buf_append(out, kc_buf_str(&p->piece));
    kc_buf_done(&p->piece);
    kc__http_fill verdict = p->verdict; /* The next chunk has its own. */
    if (verdict == KC__HTTP_FILL_MORE)
        make_next(p);
    return verdict;
}

static void offload_body_done(void *user)
{
    kc__offload_body *p = user;
    p->abandoned = true;
    if (p->busy)
        kc__offload_cancel(&p->job);
    else
        offloaded_free(p);
}

static const kc__http_body_source source = {.fill = fill_offload_body, .done = offload_body_done};

bool kc__offload_body_is_busy(const kc__offload_body *body)
{
    return body->busy;
}

kc__offload_body *kc__rest_respond_offloaded(kc__rest_call *call, kc__http_response *response,
                                             const kc__offload_source *inner, void *user)
{
    kc__offload_body *p = kc_new(kc__offload_body);
    p->pool = call->api->offload;
    p->clock = call->api->clock;
    p->timeout = call->api->request_timeout;
    p->user_name = kc_str_dup(call->user.name);
    p->x = call->x;
    p->inner = inner;
    p->user = user;
    p->job = (kc__offload_job){.loop = call->x->loop,
                               .user = kc_cstr(p->user_name),
                               .run = make_piece,
                               .done = piece_made};
    response->source = &source;
    response->user = p;
    return p;
}
