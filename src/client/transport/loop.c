/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loop.c: one connection pool and the transfers on it, run by a curl loop (http/client/curl_loop.h)
 * that a waiting caller or the loop's thread drives. Streams, whose callbacks belong on the loop's
 * thread, and callers with a virtual clock need the thread.
 *
 * Blocking callers that do not drive are notified at the end of each turn: a small response whose
 * head, body and end arrive in one packet wakes its caller once instead of three times. curl
 * handles are kept for later requests (http_handle.c).
 */
#include "client/transport/transport_http_internal.h"

/* Handles kept for later requests. */
#define MAX_SPARE 64
/* Idle HTTP/1.1 connections kept open. */
#define MAX_IDLE 32
/* Longest sleep of the driver. */
#define TURN_MS 60000

struct kc__client_transport_loop {
    kc__curl_loop *transfers;
    bool http1;
    kc_dlist touched; /* Owned by the driver; transfers, each with a reference. */

    kc_mutex mutex; /* Guards the fields below. Last in the lock order. */
    KC_VEC(kc__client_transport_handle *) spare;
};

static kc__client_transport_transfer *fetch_of_transfer(kc__curl_transfer *transfer)
{
    return kc_container_of(transfer, kc__client_transport_transfer, transfer);
}

/* ---- from any thread ---- */

int kc__client_transport_loop_begin(kc__client_transport_loop *loop,
                                    kc__client_transport_transfer *x, kc_error *err)
{
    x->transfer.easy = x->handle->easy;
    x->transfer.needs_thread = x->callbacks || x->http->clock != kc_clock_real();
    return kc__curl_loop_add(loop->transfers, &x->transfer, err);
}

void kc__client_transport_loop_resume(kc__client_transport_loop *loop,
                                      kc__client_transport_transfer *x)
{
    kc__curl_loop_request(loop->transfers, &x->transfer, KC__TRANSFER_RESUME);
}

void kc__client_transport_loop_end(kc__client_transport_loop *loop,
                                   kc__client_transport_transfer *x)
{
    kc__curl_loop_request(loop->transfers, &x->transfer, KC__TRANSFER_STOP);
}

void kc__client_transport_loop_wake(kc__client_transport_loop *loop)
{
    kc__curl_loop_wake(loop->transfers);
}

kc__client_transport_handle *kc__client_transport_loop_take_handle(kc__client_transport_loop *loop,
                                                                   const kc__credential *credential)
{
    kc__client_transport_handle *handle = NULL, *outdated = NULL;
    kc_locked (&loop->mutex)
        if (loop->spare.n)
            handle = kc_vec_pop(&loop->spare);
    if (handle && handle->credential != credential)
        outdated = kc_take(handle);
    kc__client_transport_handle_free(outdated);
    return handle;
}

void kc__client_transport_loop_put_handle(kc__client_transport_loop *loop,
                                          kc__client_transport_handle *handle)
{
    bool kept = false;
    kc_locked (&loop->mutex) {
        kept = loop->spare.n < MAX_SPARE;
        if (kept)
            kc_vec_push(&loop->spare, handle);
    }
    if (!kept)
        kc__client_transport_handle_free(handle);
}

bool kc__client_transport_loop_is_http1(const kc__client_transport_loop *loop)
{
    return loop->http1;
}

/* ---- driving, on a caller's thread ---- */

bool kc__client_transport_loop_enter(kc__client_transport_loop *loop,
                                     const kc__client_transport_transfer *x)
{
    return !x->transfer.needs_thread && kc__curl_loop_enter(loop->transfers);
}

bool kc__client_transport_loop_turn(kc__client_transport_loop *loop)
{
    return kc__curl_loop_turn(loop->transfers);
}

/* Rounds up: a sleep that ends before the deadline would be repeated. */
void kc__client_transport_loop_sleep(kc__client_transport_loop *loop, int64_t deadline)
{
    const int64_t now = deadline == KC_FOREVER ? 0 : kc_clock_now(kc_clock_real());
    const int64_t left = KC_MIN(KC_MAX(deadline - now, 0), TURN_MS * KC_MILLISECOND);
    kc__curl_loop_sleep(loop->transfers, (int)((left + KC_MILLISECOND - 1) / KC_MILLISECOND));
}

void kc__client_transport_loop_leave(kc__client_transport_loop *loop,
                                     const kc__client_transport_transfer *x)
{
    kc__curl_loop_leave(loop->transfers, &x->transfer);
}

/* ---- on the driver ---- */

void kc__client_transport_loop_touch(kc__client_transport_loop *loop,
                                     kc__client_transport_transfer *x)
{
    if (kc_dlist_is_linked(&x->in_touched))
        return;
    kc_ref_add(&x->refs);
    kc_dlist_push(&loop->touched, &x->in_touched);
}

static void loop_transfer_ended(kc__curl_transfer *transfer, CURLcode result)
{
    kc__client_transport_transfer *x = fetch_of_transfer(transfer);
    kc__client_transport_transfer_finish(x, result);
    kc__client_transport_loop_touch(x->loop, x);
}

static void loop_transfer_hold(kc__curl_transfer *transfer)
{
    kc_ref_add(&fetch_of_transfer(transfer)->refs);
}

static void loop_transfer_release(kc__curl_transfer *transfer)
{
    kc__client_transport_transfer_unref(fetch_of_transfer(transfer));
}

static void wake_touched(void *user)
{
    kc__client_transport_loop *loop = user;
    for (kc_dlist_link *link; (link = kc_dlist_pop(&loop->touched));) {
        kc__client_transport_transfer *x =
            kc_container_of(link, kc__client_transport_transfer, in_touched);
        kc_cond_signal(&x->changed);
        kc__client_transport_transfer_unref(x);
    }
}

/* ---- construction and destruction ---- */

/* A caller that drives keeps its deadline only if curl resolves names on another thread. */
static bool resolves_names_asynchronously(void)
{
    return curl_version_info(CURLVERSION_NOW)->features & CURL_VERSION_ASYNCHDNS;
}

kc__client_transport_loop *kc__client_transport_loop_new(const char *name, bool http1,
                                                         int max_connections)
{
    kc__client_transport_loop *loop = kc_new(kc__client_transport_loop);
    kc_mutex_init(&loop->mutex);
    kc_dlist_init(&loop->touched);
    loop->http1 = http1;
    loop->transfers =
        kc__curl_loop_new(&(kc__curl_loop_opts){.name = name,
                                                .connections = KC_MIN(max_connections, MAX_IDLE),
                                                .host_connections = max_connections,
                                                .multiplex = true,
                                                .own_handles = true,
                                                .callers_drive = resolves_names_asynchronously(),
                                                .turn_ms = TURN_MS,
                                                .end = loop_transfer_ended,
                                                .hold = loop_transfer_hold,
                                                .release = loop_transfer_release,
                                                .turn_end = wake_touched,
                                                .user = loop});
    return loop;
}

kc__client_transport_loop *kc__client_transport_loop_free(kc__client_transport_loop *loop)
{
    if (!loop)
        return NULL;
    kc__curl_loop_stop(loop->transfers);
    kc_vec_each (&loop->spare, handle)
        kc__client_transport_handle_free(*handle);
    kc_vec_done(&loop->spare);
    kc__curl_loop_free(loop->transfers);
    kc_mutex_done(&loop->mutex);
    free(loop);
    return NULL;
}
