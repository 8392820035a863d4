/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call.c: unary calls.
 *
 *     start ──▶ token? ──▶ gRPC ──▶ decode ──▶ done
 *                 ▲          ├─ token refused: a new one, once
 *                 │          └─ temporary failure: after a pause
 *                 └──────────────┘
 *
 * The channel sends a request again by itself if no server has processed it. Here, further failures
 * lead to another attempt, on the next endpoint: an answer "no leader", which etcd gives before it
 * processes a request, and for idempotent calls any UNAVAILABLE (leader changed, server stopped, a
 * timeout within etcd). Attempts end with the deadline.
 *
 * LeaseKeepAlive is a stream in etcd's API. A stream of one request and one response is a unary
 * call.
 *
 * A call belongs to one callback at a time, so it needs no lock.
 */
#include "etcd/etcd_internal.h"

typedef struct method_row {
    const char *path, *name;
    const kc__etcd_proto_message *request, *response;
    bool idempotent, leader;
} method_row;

static const method_row methods[] = {
#define METHOD(name, member, path, request, response, idempotent, leader)                       \
    [KC__ETCD_##name] = {"/etcdserverpb." path,        path,       &kc__etcd_##request##_table, \
                         &kc__etcd_##response##_table, idempotent, leader},
    KC__ETCD_METHODS(METHOD)
#undef METHOD
};

typedef struct unary_call {
    kc__etcd *etcd;
    kc__etcd_method method;
    const method_row *row;
    kc_buf request;
    int64_t started, deadline;
    bool idempotent, leader, quick;
    bool refreshed; /* The token was renewed for this call. */
    uint64_t token_generation;
    unsigned attempts;
    kc__etcd_auth_waiter token;
    kc__etcd_delay delay;
    kc__etcd_done_fn *done;
    void *user;
} unary_call;

kc__etcd_reply *kc__etcd_reply_free(kc__etcd_reply *reply)
{
    if (!reply)
        return NULL;
    kc_error_done(&reply->err);
    kc_buf_done(&reply->bytes);
    kc_arena_done(&reply->arena);
    free(reply);
    return NULL;
}

static void measure(const unary_call *call, kc__etcd_code code)
{
    const kc__etcd_metrics *metrics = &call->etcd->metrics;
    const kc_str name = kc_cstr(call->row->name);
    kc_histogram_observe_duration(kc_metric_histogram(metrics->duration, name),
                                  kc_clock_now(call->etcd->clock) - call->started);
    if (code != KC__ETCD_OK)
        kc_counter_inc(
            kc_metric_counter(metrics->failures, name, kc_cstr(kc__etcd_code_text(code))));
}

static void finish_call(unary_call *call, kc__etcd_reply *reply)
{
    kc__etcd *etcd = call->etcd;
    measure(call, reply->code);
    call->done(reply, call->user);
    kc_buf_done(&call->request);
    free(call);
    kc__etcd_operation_end(etcd);
}

static kc__etcd_reply *failed_reply(const unary_call *call, kc__etcd_code code, const char *message)
{
    kc__etcd_reply *reply = kc_new(kc__etcd_reply);
    reply->code = code;
    kc_error_set(&reply->err, kc__etcd_code_reason(code), "etcd %s: %s", call->row->name, message);
    return reply;
}

/* ---- responses ---- */

/* Every response begins with its header. */
static int64_t revision_of(const void *response)
{
    const kc__etcd_header *header = ((const kc__etcd_header_response *)response)->header;
    return header ? header->revision : 0;
}

/* Errors that are part of a response. */
static kc__etcd_code code_of_response(const unary_call *call, const kc__etcd_reply *reply)
{
    if (call->method == KC__ETCD_LEASE_KEEP_ALIVE && reply->lease_keep_alive->ttl <= 0)
        return KC__ETCD_LEASE_NOT_FOUND;
    if (call->method == KC__ETCD_LEASE_TIME_TO_LIVE && reply->lease_time_to_live->ttl < 0)
        return KC__ETCD_LEASE_NOT_FOUND;
    return KC__ETCD_OK;
}

static kc__etcd_reply *decoded_reply(const unary_call *call, kc__grpc_reply *received)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc__etcd_reply) *reply = kc_new(kc__etcd_reply);
    reply->arena.first = KC__ETCD_SMALL_ARENA;
    void *response = kc_arena_calloc(&reply->arena, 1, call->row->response->size);
    reply->bytes = received->response;
    received->response = (kc_buf){0};
    if (kc__etcd_proto_decode(call->row->response, kc_buf_str(&reply->bytes), NULL, &reply->arena,
                              response, &err) < 0) {
        kc__etcd_reply *failed = failed_reply(call, KC__ETCD_INTERNAL, kc_error_text(&err));
        failed->unknown_outcome = !call->idempotent;
        return failed;
    }
    reply->response = response;
    reply->revision = revision_of(response);
    const kc__etcd_code code = code_of_response(call, reply);
    if (code != KC__ETCD_OK)
        return failed_reply(call, code, "etcdserver: requested lease not found");
    return kc_take(reply);
}

/* ---- attempts ---- */

static void submit_call(unary_call *call);

static void retry_call(kc__etcd_delay *delay)
{
    submit_call(kc_container_of(delay, unary_call, delay));
}

/* True if another attempt follows, after a pause. */
static bool try_again(unary_call *call, const kc__grpc_status *status, kc__etcd_code code)
{
    const bool temporary = code == KC__ETCD_NO_LEADER || (status->code == KC__GRPC_UNAVAILABLE &&
                                                          (call->idempotent || status->unsent));
    int64_t pause = 0;
    bool closing = false;
    kc_locked (&call->etcd->mutex) {
        pause = kc__etcd_backoff(call->etcd, call->attempts);
        closing = call->etcd->closing;
    }
    if (!temporary || closing || kc_clock_deadline(call->etcd->clock, pause) >= call->deadline)
        return false;
    kc_log_verbose(call->etcd->log, 3, "retrying call", kc_kv("method", call->row->name),
                   kc_kv("err", status->message));
    call->attempts++;
    call->delay = (kc__etcd_delay){.etcd = call->etcd, .fire = retry_call};
    kc__etcd_delay_start(&call->delay, pause);
    return true;
}

static bool needs_token(const unary_call *call)
{
    return call->method != KC__ETCD_AUTHENTICATE && call->etcd->auth.username;
}

static void on_reply(kc__grpc_reply *received, void *user)
{
    unary_call *call = user;
    const kc__grpc_status *status = &received->status;
    const kc__etcd_code code = kc__etcd_code_of(status->code, kc_cstr(status->message));
    if (code == KC__ETCD_OK) {
        finish_call(call, decoded_reply(call, received));
        return;
    }
    if (code == KC__ETCD_INVALID_TOKEN && needs_token(call) && !call->refreshed) {
        call->refreshed = true;
        kc__etcd_auth_invalidate(call->etcd, call->token_generation);
        submit_call(call);
        return;
    }
    if (try_again(call, status, code))
        return;
    kc__etcd_reply *reply = failed_reply(call, code, status->message);
    reply->unknown_outcome = !call->idempotent && kc__etcd_outcome_is_unknown(status, code);
    finish_call(call, reply);
}

static void send_call(unary_call *call)
{
    const kc__grpc_metadata require_leader = KC__ETCD_REQUIRE_LEADER;
    kc__grpc_call_unref(kc__grpc_call_start(
        call->etcd->channel, &(kc__grpc_call_opts){.method = call->row->path,
                                                   .request = kc_buf_str(&call->request),
                                                   .deadline = call->deadline,
                                                   .wait_for_ready = true,
                                                   .idempotent = call->idempotent,
                                                   .quick = call->quick,
                                                   .metadata = &require_leader,
                                                   .n_metadata = call->leader,
                                                   .done = on_reply,
                                                   .user = call}));
}

static void token_ready(kc__etcd_auth_waiter *waiter, const kc__etcd_reply *refused)
{
    unary_call *call = kc_container_of(waiter, unary_call, token);
    if (!refused)
        submit_call(call);
    else
        finish_call(call, failed_reply(call, refused->code, kc_error_text(&refused->err)));
}

static void submit_call(unary_call *call)
{
    if (!needs_token(call) || kc__etcd_auth_wait(call->etcd, &call->token, &call->token_generation))
        send_call(call);
}

void kc__etcd_call_start(kc__etcd *etcd, const kc__etcd_request *request, kc__etcd_done_fn *done,
                         void *user)
{
    unary_call *call = kc_new(unary_call);
    const method_row *row = &methods[request->method];
    *call = (unary_call){.etcd = etcd, .method = request->method, .row = row};
    call->done = done;
    call->user = user;
    call->token.ready = token_ready;
    call->idempotent = row->idempotent || request->idempotent;
    call->quick = request->quick;
    call->leader =
        row->leader && !(request->method == KC__ETCD_RANGE && request->range.serializable);
    call->started = kc_clock_now(etcd->clock);
    call->deadline =
        kc_clock_deadline(etcd->clock, request->timeout ? request->timeout : etcd->timeout);
    /* The messages of all methods begin at the same place, that of the union. */
    kc__etcd_proto_encode(row->request, &request->range, &call->request);
    kc__etcd_operation_begin(etcd);
    submit_call(call);
}

/* ---- blocking ---- */

typedef struct blocked_call {
    kc_latch ended;
    kc__etcd_reply *reply;
} blocked_call;

static void wake_caller(kc__etcd_reply *reply, void *user)
{
    blocked_call *blocked = user;
    blocked->reply = reply;
    kc_latch_count_down(&blocked->ended);
}

kc__etcd_reply *kc__etcd_call(kc__etcd *etcd, const kc__etcd_request *request)
{
    blocked_call blocked = {0};
    kc_latch_init(&blocked.ended);
    kc_latch_add(&blocked.ended, 1);
    kc__etcd_call_start(etcd, request, wake_caller, &blocked);
    kc_latch_wait(&blocked.ended);
    kc_latch_done(&blocked.ended);
    return blocked.reply;
}

kc_str kc__etcd_prefix_end(kc_arena *arena, kc_str prefix)
{
    while (prefix.n && (uint8_t)prefix.p[prefix.n - 1] == 0xff)
        prefix.n--;
    if (!prefix.n)
        return kc_arena_str(arena, KC_STR("\0"));
    char *end = kc_arena_strndup(arena, prefix.p, prefix.n);
    if (!end)
        return (kc_str){0};
    end[prefix.n - 1]++;
    return kc_str_of(end, prefix.n);
}
