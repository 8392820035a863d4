/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transport_http_lane.c: a thread with a curl multi handle: one pool of connections and whatever
 * runs on them.
 *
 * Nobody but the thread touches the multi handle and the easy handles in it. Others leave wishes in
 * the inbox (start, go on, stop) and wake it; of several wishes for one fetch it sees the last
 * state, so a stop overtakes what was wished before. One turn is: wishes, curl_multi_perform, what
 * has ended, and then, once, waking those for whom something came. So a small answer, whose head,
 * body and end come in one packet, wakes its caller one time, not three.
 */
#include "client/transport_http_internal.h"

#include <assert.h>
#include <signal.h>

/* Handles kept for the next request. */
#define MAX_SPARE 64
/* Connections of HTTP/1.1 kept open without use. */
#define MAX_IDLE 32

struct kc__lane {
    CURLM *multi;
    kc_thread *thread;
    bool http1;

    kc_mutex mutex; /* Guards what follows. Taken last. */
    kc_list inbox;  /* Of fetches, each with a reference. */
    KC_VEC(kc__handle *) spare;
    bool stopping;

    /* The thread's. */
    kc_list running; /* Of fetches, each with a reference. */
    kc_list touched; /* The same. */
};

/* ---- from any thread ---- */

void kc__lane_post(kc__lane *lane, kc__fetch *x, unsigned wish)
{
    bool wake = false;
    kc_locked (&lane->mutex) {
        wake = kc_list_empty(&lane->inbox);
        x->wishes |= wish;
        if (!kc_link_in_list(&x->in_inbox)) {
            kc_ref_add(&x->refs);
            kc_list_push(&lane->inbox, &x->in_inbox);
        }
    }
    if (wake)
        curl_multi_wakeup(lane->multi);
}

kc__handle *kc__lane_take_handle(kc__lane *lane, const kc__credential *credential)
{
    kc__handle *handle = NULL, *outdated = NULL;
    kc_locked (&lane->mutex)
        if (lane->spare.n)
            handle = kc_vec_pop(&lane->spare);
    if (handle && handle->credential != credential)
        outdated = kc_take(handle);
    kc__handle_free(outdated);
    return handle;
}

void kc__lane_give_handle(kc__lane *lane, kc__handle *handle)
{
    bool kept = false;
    kc_locked (&lane->mutex) {
        kept = lane->spare.n < MAX_SPARE;
        if (kept)
            kc_vec_push(&lane->spare, handle);
    }
    if (!kept)
        kc__handle_free(handle);
}

bool kc__lane_is_http1(const kc__lane *lane)
{
    return lane->http1;
}

/* ---- on its thread ---- */

void kc__lane_touch(kc__lane *lane, kc__fetch *x)
{
    if (kc_link_in_list(&x->in_touched))
        return;
    kc_ref_add(&x->refs);
    kc_list_push(&lane->touched, &x->in_touched);
}

static void leave(kc__lane *lane, kc__fetch *x, CURLcode result)
{
    curl_multi_remove_handle(lane->multi, x->handle->easy);
    kc_list_remove(&x->in_running);
    kc__fetch_finish(x, result);
    kc__lane_touch(lane, x);
    kc__fetch_unref(x);
}

static void enter(kc__lane *lane, kc__fetch *x)
{
    kc_ref_add(&x->refs);
    kc_list_push(&lane->running, &x->in_running);
    if (curl_multi_add_handle(lane->multi, x->handle->easy) != CURLM_OK)
        leave(lane, x, CURLE_OUT_OF_MEMORY);
}

static void follow_wish(kc__lane *lane, kc__fetch *x, unsigned wishes)
{
    if (wishes & KC__WISH_STOP) {
        if (kc_link_in_list(&x->in_running))
            leave(lane, x, CURLE_ABORTED_BY_CALLBACK);
        return;
    }
    if (wishes & KC__WISH_START)
        enter(lane, x);
    if ((wishes & KC__WISH_RESUME) && kc_link_in_list(&x->in_running))
        curl_easy_pause(x->handle->easy, CURLPAUSE_CONT);
}

static kc__fetch *next_wish(kc__lane *lane, unsigned *ret_wishes)
{
    kc__fetch *x = NULL;
    kc_locked (&lane->mutex) {
        kc_link *link = kc_list_pop(&lane->inbox);
        x = link ? kc_container_of(link, kc__fetch, in_inbox) : NULL;
        if (x) {
            *ret_wishes = x->wishes;
            x->wishes = 0;
        }
    }
    return x;
}

static void follow_wishes(kc__lane *lane)
{
    unsigned wishes = 0;
    for (kc__fetch *x; (x = next_wish(lane, &wishes));) {
        follow_wish(lane, x, wishes);
        kc__fetch_unref(x);
    }
}

static void collect_ended(kc__lane *lane)
{
    int left;
    for (const CURLMsg *message; (message = curl_multi_info_read(lane->multi, &left));) {
        const CURLcode result = message->data.result;
        char *private = NULL;
        if (message->msg != CURLMSG_DONE)
            continue;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &private);
        leave(lane, (kc__fetch *)(void *)private, result);
    }
}

static void wake_touched(kc__lane *lane)
{
    for (kc_link *link; (link = kc_list_pop(&lane->touched));) {
        kc__fetch *x = kc_container_of(link, kc__fetch, in_touched);
        kc_cond_signal(&x->changed);
        kc__fetch_unref(x);
    }
}

static bool is_stopping(kc__lane *lane)
{
    bool stopping = false;
    kc_locked (&lane->mutex)
        stopping = lane->stopping && kc_list_empty(&lane->inbox);
    return stopping;
}

/* A connection that its peer closed raises SIGPIPE in the thread that writes to it. */
static void block_signals(void)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
}

static void run(void *user)
{
    kc__lane *lane = user;
    int running = 0;
    block_signals();
    for (;;) {
        follow_wishes(lane);
        curl_multi_perform(lane->multi, &running);
        collect_ended(lane);
        wake_touched(lane);
        if (is_stopping(lane))
            break;
        curl_multi_poll(lane->multi, NULL, 0, 60000, NULL);
    }
    kc_list_each (&lane->running, kc__fetch, in_running, x)
        leave(lane, x, CURLE_ABORTED_BY_CALLBACK);
    wake_touched(lane);
}

/* ---- beginning and end ---- */

kc__lane *kc__lane_start(const char *name, bool http1, int max_connections, kc_error *err)
{
    kc__lane *lane = kc_new(kc__lane);
    kc_mutex_init(&lane->mutex);
    kc_list_init(&lane->inbox);
    kc_list_init(&lane->running);
    kc_list_init(&lane->touched);
    lane->http1 = http1;
    lane->multi = curl_multi_init();
    if (!lane->multi) {
        kc_error_set(err, KC_INTERNAL, "curl does not start");
        return kc__lane_stop(lane);
    }
    curl_multi_setopt(lane->multi, CURLMOPT_PIPELINING, CURLPIPE_MULTIPLEX);
    curl_multi_setopt(lane->multi, CURLMOPT_MAX_HOST_CONNECTIONS, (long)max_connections);
    curl_multi_setopt(lane->multi, CURLMOPT_MAXCONNECTS, (long)KC_MIN(max_connections, MAX_IDLE));
    lane->thread = kc_thread_start(name, run, lane, err);
    return lane->thread ? lane : kc__lane_stop(lane);
}

kc__lane *kc__lane_stop(kc__lane *lane)
{
    if (!lane)
        return NULL;
    kc_locked (&lane->mutex)
        lane->stopping = true;
    if (lane->thread)
        curl_multi_wakeup(lane->multi);
    kc_thread_join(lane->thread);
    kc_vec_each (&lane->spare, handle)
        kc__handle_free(*handle);
    kc_vec_done(&lane->spare);
    curl_multi_cleanup(lane->multi);
    assert(kc_list_empty(&lane->inbox));
    kc_mutex_done(&lane->mutex);
    free(lane);
    return NULL;
}
