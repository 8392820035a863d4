/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rpc.c: what calls and streams have in common: the way to an endpoint, further attempts, deadline,
 * cancellation, and the end.
 *
 *     NEW ─▶ WAITING ─▶ SENT ─▶ ENDED
 *              ▲          │ another attempt
 *              └──────────┘
 *
 * Other threads set atomic flags (or fields under a lock of the kind) and wake the rpc: its task
 * runs on the channel's thread and looks at all of them. A task that is already posted is not
 * posted again. A callback can therefore call every function of the interface: nothing happens
 * within the callback.
 *
 * Another attempt is made only where that is safe: the server has certainly not processed the
 * request (kc__grpc_status.unsent), or the caller has said that the request is idempotent and the
 * connection was lost or is silent. An rpc that finds no endpoint waits while one is connecting,
 * and otherwise fails, unless it waits for readiness.
 *
 * References: the caller's, the channel's until the last callback has returned, and one while the
 * task is posted.
 */
#include "grpc/grpc_internal.h"

/* Attempts of one rpc. */
enum { MAX_ATTEMPTS = 5 };

static kc__grpc_rpc *rpc_of(kc__grpc_exchange *x)
{
    return (kc__grpc_rpc *)x;
}

kc__grpc_rpc *kc__grpc_rpc_unref(kc__grpc_rpc *rpc)
{
    if (!rpc || !kc_ref_drop(&rpc->refs))
        return NULL;
    kc__grpc_exchange_clear(&rpc->exchange);
    kc__grpc_fields_done(&rpc->metadata);
    kc_buf_done(&rpc->out);
    free(rpc->method);
    rpc->kind->free(rpc);
    return NULL;
}

/* ---- the end ---- */

static void count_rpc(const kc__grpc_rpc *rpc, kc__grpc_code code)
{
    kc_metric *handled = rpc->channel->handled;
    const kc_str method = kc_cstr(rpc->method);
    if (handled)
        kc_counter_inc(kc_metric_counter(handled, kc_str_sub(method, 1, method.n),
                                         kc_cstr(kc__grpc_code_text(code))));
}

/* Takes over the status. */
static void end_rpc(kc__grpc_rpc *rpc, kc__grpc_status status)
{
    rpc->state = KC__GRPC_RPC_ENDED;
    atomic_store(&rpc->over, true);
    kc_dlist_remove(&rpc->link);
    kc_dlist_remove(&rpc->waiting);
    kc__loop_timer_stop(&rpc->timer);
    rpc->kind->ended(rpc, &status);
    count_rpc(rpc, status.code);
    kc__grpc_status_done(&status);
    kc__grpc_exchange_clear(&rpc->exchange);
    kc_buf_done(&rpc->out);
    kc__grpc_rpc_unref(rpc);
}

static void leave_exchange(kc__grpc_rpc *rpc)
{
    kc__grpc_session *session = rpc->exchange.session;
    if (!session)
        return;
    kc__grpc_exchange_cancel(&rpc->exchange);
    kc__grpc_connection_flush(session);
}

void kc__grpc_rpc_fail(kc__grpc_rpc *rpc, kc__grpc_code code, const char *text)
{
    if (rpc->state == KC__GRPC_RPC_ENDED)
        return;
    kc__grpc_status status = {.unsent = !rpc->processed && !rpc->exchange.sent};
    kc__grpc_status_set(&status, code, "%s", text);
    leave_exchange(rpc);
    end_rpc(rpc, status);
}

static void fail_unreachable(kc__grpc_rpc *rpc, kc__grpc_code code, const char *what)
{
    kc_scoped(kc_buf) text = {0};
    kc_buf_puts(&text, what);
    kc__grpc_channel_explain(rpc->channel, &text);
    kc__grpc_rpc_fail(rpc, code, kc_buf_cstr(&text));
}

static void expire_rpc(kc__grpc_rpc *rpc)
{
    if (rpc->state == KC__GRPC_RPC_WAITING)
        fail_unreachable(rpc, KC__GRPC_DEADLINE_EXCEEDED, "deadline exceeded while connecting");
    else
        kc__grpc_rpc_fail(rpc, KC__GRPC_DEADLINE_EXCEEDED, "deadline exceeded");
}

/* ---- the request ---- */

static void add_nv(kc__grpc_channel *channel, const char *name, kc_str value, uint8_t flags)
{
    kc_vec_push(&channel->head, (nghttp2_nv){.name = (uint8_t *)name,
                                             .value = (uint8_t *)value.p,
                                             .namelen = strlen(name),
                                             .valuelen = value.n,
                                             .flags = flags});
}

static void add_fields(kc__grpc_channel *channel, const kc__grpc_fields *fields)
{
    kc_vec_each (fields, field)
        add_nv(channel, field->name, kc_str_of(field->value, field->n_value), NGHTTP2_NV_FLAG_NONE);
}

/* Timeouts differ from call to call: they would only displace useful fields from the compression's
 * table. */
static void add_timeout(const kc__grpc_rpc *rpc, char text[KC__GRPC_TIMEOUT_TEXT])
{
    const int64_t left = rpc->deadline - kc_clock_now(rpc->channel->clock);
    if (rpc->deadline != KC_FOREVER)
        add_nv(rpc->channel, "grpc-timeout", kc__grpc_timeout_write(left, text),
               NGHTTP2_NV_FLAG_NO_INDEX);
}

static bool begin_exchange(kc__grpc_rpc *rpc, kc__grpc_endpoint *endpoint)
{
    kc__grpc_channel *channel = rpc->channel;
    char timeout[KC__GRPC_TIMEOUT_TEXT];
    bool begun = false;
    kc_vec_clear(&channel->head);
    add_nv(channel, ":method", KC_STR("POST"), NGHTTP2_NV_FLAG_NO_COPY_NAME);
    add_nv(channel, ":scheme", kc_cstr(endpoint->tls ? "https" : "http"),
           NGHTTP2_NV_FLAG_NO_COPY_NAME);
    add_nv(channel, ":path", kc_cstr(rpc->method), NGHTTP2_NV_FLAG_NO_COPY_NAME);
    add_nv(channel, ":authority",
           kc_cstr(channel->authority ? channel->authority : endpoint->authority),
           NGHTTP2_NV_FLAG_NO_COPY_NAME);
    add_nv(channel, "content-type", KC_STR("application/grpc"), NGHTTP2_NV_FLAG_NO_COPY_NAME);
    add_nv(channel, "te", KC_STR("trailers"), NGHTTP2_NV_FLAG_NO_COPY_NAME);
    add_nv(channel, "user-agent", kc_cstr(channel->user_agent), NGHTTP2_NV_FLAG_NO_COPY_NAME);
    add_timeout(rpc, timeout);
    add_fields(channel, &rpc->metadata);
    kc_locked (&channel->mutex) { /* Until nghttp2 has copied the fields. */
        add_fields(channel, &channel->metadata);
        begun = kc__grpc_connection_begin(endpoint->connection, &rpc->exchange, channel->head.items,
                                          channel->head.n);
    }
    return begun;
}

size_t kc__grpc_rpc_read(kc__grpc_exchange *x, char *to, size_t size, bool *ret_end)
{
    kc__grpc_rpc *rpc = rpc_of(x);
    const size_t n = KC_MIN(size, rpc->out.n - rpc->out_at);
    if (n)
        memcpy(to, rpc->out.p + rpc->out_at, n);
    rpc->out_at += n;
    *ret_end = rpc->out_end && rpc->out_at == rpc->out.n;
    return n;
}

/* ---- attempts ---- */

void kc__grpc_rpc_dispatch(kc__grpc_rpc *rpc)
{
    kc__grpc_channel *channel = rpc->channel;
    kc__grpc_endpoint *endpoint;
    kc_dlist_remove(&rpc->waiting);
    rpc->state = KC__GRPC_RPC_WAITING;
    while ((endpoint = kc__grpc_channel_pick(channel, rpc->last))) {
        if (!begin_exchange(rpc, endpoint))
            continue; /* It drains and is not ready any more. */
        rpc->state = KC__GRPC_RPC_SENT;
        rpc->dispatched = rpc->quick ? kc_clock_now(channel->clock) : 0;
        rpc->attempts++;
        rpc->last = endpoint;
        return;
    }
    if (rpc->wait_for_ready || kc__grpc_channel_has_hope(channel))
        kc_dlist_push(&channel->waiting, &rpc->waiting);
    else
        fail_unreachable(rpc, KC__GRPC_UNAVAILABLE, "no endpoint can be reached");
}

static bool may_try_again(kc__grpc_rpc *rpc)
{
    const kc__grpc_exchange *x = &rpc->exchange;
    const bool safe = x->status.unsent || (rpc->idempotent && x->lost);
    return safe && rpc->attempts < MAX_ATTEMPTS && !rpc->channel->shut &&
           !atomic_load(&rpc->cancelled) && rpc->kind->rewind(rpc);
}

static bool is_late(const kc__grpc_rpc *rpc)
{
    const kc__grpc_channel *channel = rpc->channel;
    return rpc->quick && kc_clock_now(channel->clock) - rpc->dispatched >= 2 * channel->probe_after;
}

/* Its connection is silent, or it is late: sends it to another endpoint, if that responds. */
static void move_rpc(kc__grpc_rpc *rpc)
{
    const kc__grpc_endpoint *other = kc__grpc_channel_pick(rpc->channel, rpc->last);
    if (!rpc->idempotent || rpc->attempts >= MAX_ATTEMPTS || !other || other == rpc->last ||
        !kc__grpc_endpoint_responds(other))
        return;
    leave_exchange(rpc);
    rpc->processed = true;
    kc_counter_inc(rpc->channel->retries);
    kc__grpc_exchange_clear(&rpc->exchange);
    rpc->kind->rewind(rpc);
    kc__grpc_rpc_dispatch(rpc);
}

/* The deadline, or the time to look whether the connection is silent. */
static void set_rpc_timer(kc__grpc_rpc *rpc)
{
    const kc__grpc_channel *channel = rpc->channel;
    const int64_t look =
        channel->probe_after ? kc_clock_deadline(channel->clock, channel->probe_after) : KC_FOREVER;
    kc__loop_timer_start(&rpc->timer, KC_MIN(rpc->deadline, look));
}

static void on_rpc_timer(kc__loop_timer *timer)
{
    kc__grpc_rpc *rpc = kc_container_of(timer, kc__grpc_rpc, timer);
    if (kc_clock_now(rpc->channel->clock) >= rpc->deadline) {
        expire_rpc(rpc);
        return;
    }
    if (rpc->exchange.session && (kc__grpc_connection_probe(rpc->exchange.session) || is_late(rpc)))
        move_rpc(rpc);
    set_rpc_timer(rpc);
}

/* A server that knows the deadline may cancel the stream a little earlier than the client. */
static void adjust_status(kc__grpc_rpc *rpc, kc__grpc_status *status)
{
    const bool passed = kc_clock_now(rpc->channel->clock) >= rpc->deadline;
    if (status->code == KC__GRPC_CANCELLED && passed)
        kc__grpc_status_set(status, KC__GRPC_DEADLINE_EXCEEDED, "deadline exceeded");
    status->unsent = status->unsent && !rpc->processed;
}

void kc__grpc_rpc_closed(kc__grpc_exchange *x)
{
    kc__grpc_rpc *rpc = rpc_of(x);
    if (may_try_again(rpc)) {
        rpc->processed = rpc->processed || !x->status.unsent;
        kc_counter_inc(rpc->channel->retries);
        kc__grpc_exchange_clear(x);
        kc__grpc_rpc_dispatch(rpc);
        return;
    }
    kc__grpc_status status = x->status;
    x->status = (kc__grpc_status){0};
    adjust_status(rpc, &status);
    end_rpc(rpc, status);
}

/* ---- start, and requests of other threads ---- */

static bool metadata_is_valid(const kc__grpc_rpc *rpc)
{
    kc_vec_each (&rpc->metadata, field)
        if (!kc__grpc_field_is_valid(field->name, kc_str_of(field->value, field->n_value)))
            return false;
    return true;
}

static void start_rpc(kc__grpc_rpc *rpc)
{
    kc__grpc_channel *channel = rpc->channel;
    kc_dlist_push(&channel->rpcs, &rpc->link);
    if (channel->shut)
        kc__grpc_rpc_fail(rpc, KC__GRPC_CANCELLED, "the channel is closed");
    else if (rpc->method[0] != '/' || !metadata_is_valid(rpc))
        kc__grpc_rpc_fail(rpc, KC__GRPC_INTERNAL, "the method or the metadata is invalid");
    else if (rpc->deadline <= kc_clock_now(channel->clock))
        kc__grpc_rpc_fail(rpc, KC__GRPC_DEADLINE_EXCEEDED, "deadline exceeded");
    else if (!atomic_load(&rpc->cancelled))
        kc__grpc_rpc_dispatch(rpc);
    if (rpc->state != KC__GRPC_RPC_ENDED && rpc->deadline != KC_FOREVER)
        set_rpc_timer(rpc);
}

static void run_rpc(kc__loop_task *task)
{
    kc__grpc_rpc *rpc = kc_container_of(task, kc__grpc_rpc, task);
    atomic_store(&rpc->posted, false); /* Requests from now on post the task again. */
    if (rpc->state == KC__GRPC_RPC_NEW)
        start_rpc(rpc);
    if (atomic_load(&rpc->cancelled))
        kc__grpc_rpc_fail(rpc, KC__GRPC_CANCELLED, "cancelled by the caller");
    if (rpc->state != KC__GRPC_RPC_ENDED && rpc->kind->woken)
        rpc->kind->woken(rpc);
    kc__grpc_rpc_unref(rpc);
}

void kc__grpc_rpc_wake(kc__grpc_rpc *rpc)
{
    if (atomic_load(&rpc->over) || atomic_exchange(&rpc->posted, true))
        return;
    kc_ref_add(&rpc->refs);
    kc__loop_post(rpc->channel->loop, &rpc->task);
}

void kc__grpc_rpc_cancel(kc__grpc_rpc *rpc)
{
    if (!atomic_exchange(&rpc->cancelled, true))
        kc__grpc_rpc_wake(rpc);
}

void kc__grpc_rpc_init(kc__grpc_rpc *rpc, kc__grpc_channel *channel, const kc__grpc_rpc_kind *kind,
                       const kc__grpc_rpc_opts *opts)
{
    kc__grpc_exchange_init(&rpc->exchange, &kind->exchange, channel->max_receive);
    kc_ref_init(&rpc->refs);
    kc_ref_add(&rpc->refs); /* The channel's. */
    rpc->channel = channel;
    rpc->kind = kind;
    rpc->task.run = run_rpc;
    rpc->timer = (kc__loop_timer){.loop = channel->loop, .fire = on_rpc_timer};
    rpc->deadline = opts->deadline ? opts->deadline : KC_FOREVER;
    rpc->wait_for_ready = opts->wait_for_ready;
    rpc->idempotent = opts->idempotent;
    rpc->quick = opts->quick;
    rpc->method = kc_strdup(opts->method);
    for (size_t i = 0; i < opts->n_metadata; i++)
        kc__grpc_fields_append(&rpc->metadata, opts->metadata[i].name, opts->metadata[i].value);
}
