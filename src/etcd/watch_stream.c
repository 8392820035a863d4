/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch_stream.c: the stream that all watches of a client share.
 *
 *     idle ──▶ restart (a pause) ──▶ token ──▶ stream open ──▶ closed ──┐
 *      ▲          ▲                                                    │
 *      └──────────┴── no watches: idle; otherwise again ◀──────────────┘
 *
 * `running` is true in all states but idle, so at most one stream exists. The stream is opened on
 * the timers' loop, and only after the last one has closed: a response belongs to the stream that
 * is open. When it opens, every active watch is created on it, from where its cursor is.
 *
 * A stream ends by itself when its connection fails, when the channel's keepalive gets no answer,
 * or when the member loses its leader (the metadata "hasleader"). The channel then chooses another
 * endpoint. While progress is awaited, the client does not wait for keepalive: a stream without any
 * message for a while is stalled, and is opened again.
 *
 * Creations are answered in the order in which they were sent, and the server chooses the ids:
 * `creating` is that order.
 */
#include "etcd/etcd_internal.h"

void kc__etcd_watch_stream_send(kc__etcd *etcd, const kc__etcd_watch_request *request)
{
    kc__etcd_watches *watches = &etcd->watches;
    kc_scoped(kc_buf) message = {0};
    if (!watches->stream)
        return;
    kc__etcd_proto_encode(&kc__etcd_watch_request_table, request, &message);
    /* A request that cannot be queued would be lost; a new stream starts with all of them. */
    if (kc__grpc_stream_send(watches->stream, kc_buf_str(&message), NULL) < 0)
        kc__grpc_stream_cancel(watches->stream);
}

void kc__etcd_watch_stream_create(kc__etcd_watch *watch)
{
    const kc__etcd_watch_opts *opts = &watch->opts;
    kc_ref_add(&watch->refs);
    kc_dlist_push(&watch->etcd->watches.creating, &watch->creating);
    kc__etcd_watch_stream_send(
        watch->etcd, &(kc__etcd_watch_request){.create = &(kc__etcd_watch_create_request){
                                                   .key = opts->key,
                                                   .range_end = opts->range_end,
                                                   .start_revision = watch->cursor.next,
                                                   .prev_kv = opts->prev_kv,
                                                   .progress_notify = opts->progress_notify,
                                                   .fragment = opts->fragment}});
}

void kc__etcd_watch_stream_rest(kc__etcd *etcd)
{
    if (etcd->watches.stream && kc_dlist_empty(&etcd->watches.active))
        kc__grpc_stream_cancel(etcd->watches.stream);
}

/* ---- closed ---- */

/* Forgets the state of the watches on the closed stream. */
static void reset_watches(kc__etcd *etcd)
{
    kc__etcd_watches *watches = &etcd->watches;
    for (kc_dlist_link *link; (link = kc_dlist_pop(&watches->creating));)
        kc__etcd_watch_unref(kc_container_of(link, kc__etcd_watch, creating));
    kc_dlist_each (&watches->active, kc__etcd_watch, link, watch) {
        watch->has_id = false;
        kc__etcd_cursor_restart(&watch->cursor);
    }
    kc_map_clear(&watches->by_id);
}

/* With the mutex held. False: idle. */
static bool restart_or_rest(kc__etcd *etcd, int64_t pause)
{
    kc__etcd_watches *watches = &etcd->watches;
    watches->running = !etcd->closing && !kc_dlist_empty(&watches->active);
    if (watches->running)
        kc__etcd_delay_start(&watches->restart, pause);
    return watches->running;
}

static void stream_closed(const kc__grpc_status *status, void *user)
{
    kc__etcd *etcd = user;
    kc__etcd_watches *watches = &etcd->watches;
    const kc__etcd_code code = kc__etcd_code_of(status->code, kc_cstr(status->message));
    bool running = false;
    if (code == KC__ETCD_INVALID_TOKEN)
        kc__etcd_auth_invalidate(etcd, watches->token_generation);
    kc_locked (&etcd->mutex) {
        watches->stream = kc__grpc_stream_unref(watches->stream);
        reset_watches(etcd);
        running = restart_or_rest(etcd, kc__etcd_backoff(etcd, watches->attempts++));
    }
    if (running && status->code != KC__GRPC_CANCELLED) /* By this client: no watch needed it. */
        kc_log_info(etcd->log, "watch stream closed; restarting", kc_kv("err", status->message));
    else if (running)
        kc_log_debug(etcd->log, "watch stream restarting");
    else
        kc__etcd_operation_end(etcd);
}

static void stream_message(kc_str message, void *user)
{
    kc__etcd *etcd = user;
    kc_scoped(kc_error) err = {0};
    if (kc__etcd_watch_response_handle(etcd, message, &err))
        return;
    kc_log_warn(etcd->log, "watch response is malformed; restarting", kc_kv("err", &err));
    kc_locked (&etcd->mutex)
        if (etcd->watches.stream)
            kc__grpc_stream_cancel(etcd->watches.stream);
}

/* ---- open ---- */

static void open_stream(kc__etcd *etcd)
{
    kc__etcd_watches *watches = &etcd->watches;
    const kc__grpc_metadata require_leader = KC__ETCD_REQUIRE_LEADER;
    kc_counter_inc(etcd->metrics.streams);
    kc_locked (&etcd->mutex) {
        watches->stream = kc__grpc_stream_open(
            etcd->channel, &(kc__grpc_stream_opts){.method = "/etcdserverpb.Watch/Watch",
                                                   .wait_for_ready = true,
                                                   .metadata = &require_leader,
                                                   .n_metadata = 1,
                                                   .message = stream_message,
                                                   .closed = stream_closed,
                                                   .user = etcd});
        watches->heard = kc_clock_now(etcd->clock);
        kc_dlist_each (&watches->active, kc__etcd_watch, link, watch)
            kc__etcd_watch_stream_create(watch);
    }
}

static void connect_stream(kc__etcd_delay *delay)
{
    kc__etcd *etcd = delay->etcd;
    kc__etcd_watches *watches = &etcd->watches;
    bool wanted = false;
    kc_locked (&etcd->mutex) {
        wanted = !etcd->closing && !kc_dlist_empty(&watches->active);
        watches->running = wanted;
    }
    if (!wanted)
        kc__etcd_operation_end(etcd);
    else if (kc__etcd_auth_wait(etcd, &watches->token, &watches->token_generation))
        open_stream(etcd);
}

/* A token is there, or none was given: connects again, at once or later. */
static void stream_token_ready(kc__etcd_auth_waiter *waiter, const kc__etcd_reply *refused)
{
    kc__etcd *etcd = kc_container_of(waiter, kc__etcd, watches.token);
    kc__etcd_watches *watches = &etcd->watches;
    bool running = false;
    if (refused)
        kc_log_warn(etcd->log, "watch authentication failed", kc_kv("err", &refused->err));
    kc_locked (&etcd->mutex)
        running = restart_or_rest(etcd, refused ? kc__etcd_backoff(etcd, watches->attempts++) : 0);
    if (!running)
        kc__etcd_operation_end(etcd);
}

void kc__etcd_watch_stream_start(kc__etcd *etcd)
{
    kc__etcd_watches *watches = &etcd->watches;
    if (watches->running || etcd->closing)
        return;
    watches->running = true;
    watches->attempts = 0;
    etcd->operations++;
    kc__etcd_delay_start(&watches->restart, 0);
}

/* ---- progress ---- */

static bool awaits_progress(const kc__etcd *etcd)
{
    kc_dlist_each (&etcd->watches.active, const kc__etcd_watch, link, watch)
        if (watch->awaited)
            return true;
    return false;
}

void kc__etcd_watch_stream_ask_progress(kc__etcd *etcd)
{
    kc__etcd_watches *watches = &etcd->watches;
    if (etcd->closing || !awaits_progress(etcd))
        return;
    kc__etcd_watch_stream_send(etcd, &(kc__etcd_watch_request){.progress = &(kc__etcd_empty){0}});
    if (!watches->progress_armed) {
        watches->heard = kc_clock_now(etcd->clock);
        kc__etcd_delay_start(&watches->progress, KC__ETCD_PROGRESS_INTERVAL);
    }
    watches->progress_armed = true;
}

/* Nothing has arrived although progress is awaited. A stream on which nothing has arrived at all is
 * left to keepalive: it may wait for a connection, or for a large message. */
static bool is_stalled(const kc__etcd *etcd)
{
    const kc__etcd_watches *watches = &etcd->watches;
    return watches->stream && !watches->attempts && awaits_progress(etcd) &&
           kc_clock_now(etcd->clock) - watches->heard >= 2 * KC__ETCD_SILENCE;
}

/* etcd does not respond while a watch of the stream has not caught up: repeats the request. */
static void request_progress_again(kc__etcd_delay *delay)
{
    kc__etcd *etcd = delay->etcd;
    kc__etcd_watches *watches = &etcd->watches;
    kc_locked (&etcd->mutex) {
        const int64_t heard = watches->heard;
        watches->progress_armed = false;
        if (is_stalled(etcd)) {
            kc_log_info(etcd->log, "watch stream stalled; restarting");
            kc__grpc_stream_cancel(watches->stream);
        }
        kc__etcd_watch_stream_ask_progress(etcd);
        watches->heard = heard;
    }
}

void kc__etcd_watches_init(kc__etcd *etcd)
{
    kc__etcd_watches *watches = &etcd->watches;
    kc_dlist_init(&watches->active);
    kc_dlist_init(&watches->creating);
    kc_cond_init(&watches->callback_returned);
    watches->restart = (kc__etcd_delay){.etcd = etcd, .fire = connect_stream};
    watches->progress = (kc__etcd_delay){.etcd = etcd, .fire = request_progress_again};
    watches->token.ready = stream_token_ready;
}
