/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transfers.c: see transfers.h. The thread sleeps in curl_multi_poll, which others may end by
 * curl_multi_wakeup; what they want stands under the mutex before they do.
 */
#include "http/transfers.h"

#include "kc/thread.h"
#include "kc/vec.h"

#include <limits.h>

enum { TURN_MS = 1000 };

struct kc__transfers {
    kc__transfers_opts opts;
    KC_VEC(kc__transfer *) active; /* The thread's own. */

    kc_mutex mutex; /* Guards what follows. */
    kc_list fresh;  /* Of kc__transfer. */
    kc_thread *thread;
    CURLM *multi; /* Once there is a thread; stays. */
    bool stop;
};

/* ---- on the thread ---- */

size_t kc__transfers_count(const kc__transfers *transfers)
{
    return transfers->active.n;
}

kc__transfer *kc__transfers_at(const kc__transfers *transfers, size_t i)
{
    return transfers->active.items[i];
}

void kc__transfers_end(kc__transfers *transfers, kc__transfer *transfer, CURLcode code)
{
    kc__transfer *last = kc_vec_pop(&transfers->active);
    CURL *easy = transfer->easy;
    if (last != transfer) {
        transfers->active.items[transfer->at] = last;
        last->at = transfer->at;
    }
    curl_multi_remove_handle(transfers->multi, easy);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, NULL); /* It may go with the transfer. */
    transfers->opts.end(transfer, code);
    curl_easy_cleanup(easy);
}

static void begin(kc__transfers *transfers, kc__transfer *transfer)
{
    CURL *easy = transfer->easy = curl_easy_init();
    curl_easy_setopt(easy, CURLOPT_PRIVATE, transfer);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, transfer->why);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    transfers->opts.begin(transfer);
    transfer->at = transfers->active.n;
    kc_vec_push(&transfers->active, transfer);
    curl_multi_add_handle(transfers->multi, easy);
}

static bool take_fresh(kc__transfers *transfers)
{
    kc_list fresh;
    bool stop = false;
    kc_list_init(&fresh);
    kc_locked (&transfers->mutex) {
        while (!kc_list_empty(&transfers->fresh))
            kc_list_push(&fresh, kc_list_pop(&transfers->fresh));
        stop = transfers->stop;
    }
    while (!kc_list_empty(&fresh))
        begin(transfers, kc_container_of(kc_list_pop(&fresh), kc__transfer, link));
    return !stop;
}

static void take_ended(kc__transfers *transfers)
{
    int left;
    for (const CURLMsg *message; (message = curl_multi_info_read(transfers->multi, &left));) {
        kc__transfer *transfer = NULL;
        if (message->msg != CURLMSG_DONE)
            continue;
        const CURLcode code = message->data.result;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&transfer);
        kc__transfers_end(transfers, transfer, code);
    }
}

static void move_bytes(void *user)
{
    kc__transfers *transfers = user;
    int running;
    while (take_fresh(transfers)) {
        if (transfers->opts.turn)
            transfers->opts.turn(transfers, transfers->opts.user);
        curl_multi_perform(transfers->multi, &running);
        take_ended(transfers);
        curl_multi_poll(transfers->multi, NULL, 0, transfers->active.n ? TURN_MS : INT_MAX, NULL);
    }
    /* What came with the wish to stop is among them. */
    while (transfers->active.n)
        kc__transfers_end(transfers, transfers->active.items[transfers->active.n - 1],
                          CURLE_ABORTED_BY_CALLBACK);
}

/* ---- on any thread ---- */

/* Under the mutex. */
static int may_start(kc__transfers *transfers, kc_error *err)
{
    if (transfers->stop)
        return kc_error_set(err, KC_SERVICE_UNAVAILABLE, "the server is going down");
    if (transfers->thread)
        return 0;
    if (!transfers->multi)
        transfers->multi = curl_multi_init();
    curl_multi_setopt(transfers->multi, CURLMOPT_MAXCONNECTS, (long)transfers->opts.connections);
    transfers->thread = kc_thread_start(transfers->opts.name, move_bytes, transfers, err);
    return transfers->thread ? 0 : -1;
}

int kc__transfers_add(kc__transfers *transfers, kc__transfer *transfer, kc_error *err)
{
    bool runs = false;
    kc_locked (&transfers->mutex) {
        runs = may_start(transfers, err) == 0;
        if (runs)
            kc_list_push(&transfers->fresh, &transfer->link);
    }
    if (runs)
        curl_multi_wakeup(transfers->multi);
    return runs ? 0 : -1;
}

void kc__transfers_wake(kc__transfers *transfers)
{
    CURLM *multi = NULL;
    kc_locked (&transfers->mutex)
        multi = transfers->multi;
    if (multi)
        curl_multi_wakeup(multi);
}

kc__transfers *kc__transfers_new(const kc__transfers_opts *opts)
{
    kc__transfers *transfers = kc_new(kc__transfers);
    transfers->opts = *opts;
    kc_mutex_init(&transfers->mutex);
    kc_list_init(&transfers->fresh);
    return transfers;
}

void kc__transfers_stop(kc__transfers *transfers)
{
    kc_thread *thread = NULL;
    kc_locked (&transfers->mutex) {
        transfers->stop = true;
        thread = kc_take(transfers->thread);
    }
    kc__transfers_wake(transfers);
    kc_thread_join(thread);
}

kc__transfers *kc__transfers_free(kc__transfers *transfers)
{
    if (!transfers)
        return NULL;
    kc__transfers_stop(transfers);
    curl_multi_cleanup(transfers->multi);
    kc_vec_done(&transfers->active);
    kc_mutex_done(&transfers->mutex);
    free(transfers);
    return NULL;
}
