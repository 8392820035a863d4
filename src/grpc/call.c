/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call.c: unary calls: one message there, one message back.
 *
 * The request is framed when the call starts, on the caller's thread, and kept for further
 * attempts. The response must have exactly one message if the status is OK; it is moved, not
 * copied, into the reply if it came in parts, as large ones do.
 */
#include "grpc/grpc_internal.h"

struct kc__grpc_call {
    kc__grpc_rpc rpc; /* First. */
    kc__grpc_done_fn *done;
    void *user;
    bool responded; /* `response` is set. */
    kc_buf response;
};

static kc__grpc_call *call_of(kc__grpc_rpc *rpc)
{
    return (kc__grpc_call *)rpc;
}

void kc__grpc_reply_done(kc__grpc_reply *reply)
{
    if (!reply)
        return;
    kc__grpc_status_done(&reply->status);
    kc_buf_done(&reply->response);
}

/* ---- a kind of rpc ---- */

static void call_opened(kc__grpc_exchange *x)
{
    (void)x;
}

static bool call_message(kc__grpc_exchange *x, kc_str message, kc__grpc_status *failure)
{
    kc__grpc_call *call = (kc__grpc_call *)x;
    if (call->responded) {
        kc__grpc_status_set(failure, KC__GRPC_INTERNAL, "the server sent more than one response");
        return false;
    }
    call->responded = true;
    kc__grpc_deframer_take(&x->deframer, message, &call->response);
    return true;
}

static bool rewind_call(kc__grpc_rpc *rpc)
{
    kc__grpc_call *call = call_of(rpc);
    rpc->out_at = 0;
    call->responded = false;
    kc_buf_done(&call->response);
    return true;
}

static void call_ended(kc__grpc_rpc *rpc, kc__grpc_status *status)
{
    kc__grpc_call *call = call_of(rpc);
    kc_scoped(kc__grpc_reply) reply = {0};
    if (status->code == KC__GRPC_OK && !call->responded)
        kc__grpc_status_set(status, KC__GRPC_INTERNAL, "the server sent no response");
    if (status->code == KC__GRPC_OK) {
        reply.response = call->response;
        call->response = (kc_buf){0};
    }
    reply.status = *status;
    status->message = NULL;
    call->done(&reply, call->user);
}

static void free_call(kc__grpc_rpc *rpc)
{
    kc__grpc_call *call = call_of(rpc);
    kc_buf_done(&call->response);
    free(call);
}

static const kc__grpc_rpc_kind unary = {
    .exchange = {kc__grpc_rpc_read, call_opened, call_message, kc__grpc_rpc_closed},
    .rewind = rewind_call,
    .ended = call_ended,
    .free = free_call,
};

/* ---- the interface ---- */

kc__grpc_call *kc__grpc_call_start(kc__grpc_channel *channel, const kc__grpc_call_opts *opts)
{
    kc__grpc_call *call = kc_new(kc__grpc_call);
    kc__grpc_rpc_init(&call->rpc, channel, &unary,
                      &(kc__grpc_rpc_opts){.method = opts->method,
                                           .deadline = opts->deadline,
                                           .wait_for_ready = opts->wait_for_ready,
                                           .idempotent = opts->idempotent,
                                           .quick = opts->quick,
                                           .metadata = opts->metadata,
                                           .n_metadata = opts->n_metadata});
    call->done = opts->done;
    call->user = opts->user;
    kc__grpc_frame_write(&call->rpc.out, opts->request);
    call->rpc.out_end = true;
    kc__grpc_rpc_wake(&call->rpc);
    return call;
}

void kc__grpc_call_cancel(kc__grpc_call *call)
{
    kc__grpc_rpc_cancel(&call->rpc);
}

kc__grpc_call *kc__grpc_call_unref(kc__grpc_call *call)
{
    if (call)
        kc__grpc_rpc_unref(&call->rpc);
    return NULL;
}

/* ---- blocking ---- */

typedef struct waiting_call {
    kc__grpc_call *call;
    kc__grpc_reply *reply;
    kc_latch done;
    kc_cancel_hook hook;
} waiting_call;

static void keep_reply(kc__grpc_reply *reply, void *user)
{
    waiting_call *waiting = user;
    *waiting->reply = *reply;
    *reply = (kc__grpc_reply){0};
    kc_latch_count_down(&waiting->done);
}

static void cancel_waiting_call(kc_cancel_hook *hook)
{
    kc__grpc_call_cancel(kc_container_of(hook, waiting_call, hook)->call);
}

void kc__grpc_call_wait(kc__grpc_channel *channel, const kc__grpc_call_opts *opts,
                        kc_cancel *cancel, kc__grpc_reply *ret_reply)
{
    waiting_call waiting = {.reply = ret_reply, .hook.fire = cancel_waiting_call};
    kc__grpc_call_opts own = *opts;
    own.done = keep_reply;
    own.user = &waiting;
    kc_latch_init(&waiting.done);
    kc_latch_add(&waiting.done, 1);
    waiting.call = kc__grpc_call_start(channel, &own);
    if (!kc_cancel_add_hook(cancel, &waiting.hook))
        kc__grpc_call_cancel(waiting.call);
    kc_latch_wait_until(&waiting.done, channel->clock, KC_FOREVER);
    kc_cancel_remove_hook(cancel, &waiting.hook);
    kc__grpc_call_unref(waiting.call);
    kc_latch_done(&waiting.done);
}
