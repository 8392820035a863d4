/* SPDX-License-Identifier: Apache-2.0 */
/*
 * curl_loop.c: see curl_loop.h. The driver sleeps in curl_multi_poll. Other threads put their
 * requests into the inbox under the mutex and then call curl_multi_wakeup, the one function of
 * libcurl that any thread may call at any time. Several requests for one transfer are combined, so
 * a stop takes effect before earlier ones.
 *
 * The role of the driver passes from thread to thread under the mutex. This orders all calls into
 * curl, and all accesses to the fields that the driver owns. A caller that drives checks before
 * each turn whether the thread is needed and leaves requests in the inbox to the thread from that
 * moment on.
 *
 * A thread that drives does not park as soon as there is no transfer: callers that come and go at
 * the same time would wake it for every request. It parks when LONE_TRANSFERS transfers in a row
 * had no other beside them.
 */
#include "http/client/curl_loop.h"

#include "kc/thread.h"
#include "kc/vec.h"

#include <assert.h>
#include <limits.h>
#include <signal.h>

enum { DEFAULT_TURN_MS = 1000 };
/* So many transfers, one after the other, show that there is only one caller. */
enum { LONE_TRANSFERS = 16 };

typedef enum curl_driver { DRIVER_NONE, DRIVER_CALLER, DRIVER_THREAD } curl_driver;

struct kc__curl_loop {
    kc__curl_loop_opts opts;
    KC_VEC(kc__curl_transfer *) active; /* Owned by the driver. */

    kc_mutex mutex; /* Guards the fields below. Last in the lock order. */
    kc_cond vacant; /* The role is free: for the thread, and for kc__curl_loop_stop. */
    kc_dlist inbox; /* Of kc__curl_transfer, each with pending requests and a reference. */
    kc_thread *thread;
    CURLM *multi; /* Created with the first transfer; never changes. */
    curl_driver driver;
    bool thread_needed; /* The thread drives next; only if it exists. */
    size_t open;        /* Transfers that were added and have not ended. */
    size_t lone;        /* The last so many transfers were the only ones of their time. */
    bool stop;
};

static void hold(const kc__curl_loop *loop, kc__curl_transfer *transfer)
{
    if (loop->opts.hold)
        loop->opts.hold(transfer);
}

static void release(const kc__curl_loop *loop, kc__curl_transfer *transfer)
{
    if (loop->opts.release)
        loop->opts.release(transfer);
}

/* ---- transfers, on the driver ---- */

size_t kc__curl_loop_count(const kc__curl_loop *loop)
{
    return loop->active.n;
}

kc__curl_transfer *kc__curl_loop_transfer_at(const kc__curl_loop *loop, size_t i)
{
    return loop->active.items[i];
}

static void deactivate_transfer(kc__curl_loop *loop, kc__curl_transfer *transfer)
{
    kc__curl_transfer *last = kc_vec_pop(&loop->active);
    if (last != transfer) {
        loop->active.items[transfer->at] = last;
        last->at = transfer->at;
    }
    transfer->active = false;
    curl_multi_remove_handle(loop->multi, transfer->easy);
}

static void report_end(kc__curl_loop *loop, kc__curl_transfer *transfer, CURLcode code)
{
    kc_locked (&loop->mutex)
        loop->open--;
    loop->opts.end(transfer, code);
}

void kc__curl_loop_end_transfer(kc__curl_loop *loop, kc__curl_transfer *transfer, CURLcode code)
{
    CURL *made = loop->opts.own_handles ? NULL : transfer->easy;
    deactivate_transfer(loop, transfer);
    if (made)
        curl_easy_setopt(made, CURLOPT_ERRORBUFFER,
                         NULL); /* The buffer may be freed with the transfer. */
    report_end(loop, transfer, code);
    if (made)
        curl_easy_cleanup(made);
    release(loop, transfer);
}

static void make_handle(kc__curl_loop *loop, kc__curl_transfer *transfer)
{
    CURL *easy = transfer->easy = curl_easy_init();
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, transfer->why);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    loop->opts.begin(transfer);
}

static void begin_transfer(kc__curl_loop *loop, kc__curl_transfer *transfer)
{
    if (!loop->opts.own_handles)
        make_handle(loop, transfer);
    curl_easy_setopt(transfer->easy, CURLOPT_PRIVATE, transfer);
    hold(loop, transfer);
    transfer->at = loop->active.n;
    transfer->active = true;
    kc_vec_push(&loop->active, transfer);
    if (curl_multi_add_handle(loop->multi, transfer->easy) != CURLM_OK)
        kc__curl_loop_end_transfer(loop, transfer, CURLE_OUT_OF_MEMORY);
}

/* ---- a turn, on the driver ---- */

static void apply_requests(kc__curl_loop *loop, kc__curl_transfer *transfer, unsigned pending)
{
    if ((pending & KC__TRANSFER_START) && !(pending & KC__TRANSFER_STOP))
        begin_transfer(loop, transfer);
    else if (pending & KC__TRANSFER_START) /* Never started: `end` is called nevertheless. */
        report_end(loop, transfer, CURLE_ABORTED_BY_CALLBACK);
    else if ((pending & KC__TRANSFER_STOP) && transfer->active)
        kc__curl_loop_end_transfer(loop, transfer, CURLE_ABORTED_BY_CALLBACK);
    else if ((pending & KC__TRANSFER_RESUME) && transfer->active)
        curl_easy_pause(transfer->easy, CURLPAUSE_CONT);
}

/* NULL: the inbox is empty, or its requests are for the thread. */
static kc__curl_transfer *next_request(kc__curl_loop *loop, unsigned *ret_requests)
{
    kc__curl_transfer *transfer = NULL;
    kc_locked (&loop->mutex) {
        const bool for_thread = loop->driver == DRIVER_CALLER && loop->thread_needed;
        kc_dlist_link *link = for_thread ? NULL : kc_dlist_pop(&loop->inbox);
        if (!link)
            break;
        transfer = kc_container_of(link, kc__curl_transfer, link);
        *ret_requests = transfer->pending;
        transfer->pending = 0;
    }
    return transfer;
}

static void empty_inbox(kc__curl_loop *loop)
{
    unsigned pending = 0;
    for (kc__curl_transfer *transfer; (transfer = next_request(loop, &pending));) {
        apply_requests(loop, transfer, pending);
        release(loop, transfer);
    }
}

static void take_ended(kc__curl_loop *loop)
{
    int left;
    for (const CURLMsg *message; (message = curl_multi_info_read(loop->multi, &left));) {
        kc__curl_transfer *transfer = NULL;
        if (message->msg != CURLMSG_DONE)
            continue;
        const CURLcode code = message->data.result;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&transfer);
        kc__curl_loop_end_transfer(loop, transfer, code);
    }
}

static void end_turn(const kc__curl_loop *loop)
{
    if (loop->opts.turn_end)
        loop->opts.turn_end(loop->opts.user);
}

static void run_turn(kc__curl_loop *loop)
{
    int running;
    empty_inbox(loop);
    if (loop->opts.turn)
        loop->opts.turn(loop, loop->opts.user);
    curl_multi_perform(loop->multi, &running);
    take_ended(loop);
    end_turn(loop);
}

static void abort_transfers(kc__curl_loop *loop)
{
    empty_inbox(loop);
    while (loop->active.n)
        kc__curl_loop_end_transfer(loop, loop->active.items[loop->active.n - 1],
                                   CURLE_ABORTED_BY_CALLBACK);
    end_turn(loop);
}

/* ---- the role of the driver ---- */

/* Requires the mutex. */
static void vacate_role(kc__curl_loop *loop)
{
    loop->driver = DRIVER_NONE;
    if (loop->thread_needed || loop->stop)
        kc_cond_broadcast(&loop->vacant);
}

bool kc__curl_loop_enter(kc__curl_loop *loop)
{
    bool entered = false;
    kc_locked (&loop->mutex) {
        entered = loop->opts.callers_drive && loop->driver == DRIVER_NONE && !loop->thread_needed &&
                  !loop->stop;
        if (entered)
            loop->driver = DRIVER_CALLER;
    }
    return entered;
}

bool kc__curl_loop_turn(kc__curl_loop *loop)
{
    bool drives = false;
    kc_locked (&loop->mutex) {
        drives = !loop->thread_needed && !loop->stop;
        if (!drives)
            vacate_role(loop);
    }
    if (drives)
        run_turn(loop);
    return drives;
}

void kc__curl_loop_sleep(kc__curl_loop *loop, int timeout_ms)
{
    curl_multi_poll(loop->multi, NULL, 0, KC_MIN(timeout_ms, loop->opts.turn_ms), NULL);
}

void kc__curl_loop_leave(kc__curl_loop *loop, const kc__curl_transfer *own)
{
    kc_locked (&loop->mutex) {
        const size_t others = loop->open - (own->active ? 1 : 0);
        assert((!others || loop->thread || loop->stop) && "a second transfer starts the thread");
        if (loop->thread && (others || !kc_dlist_empty(&loop->inbox)))
            loop->thread_needed = true;
        vacate_role(loop);
    }
}

/* ---- on the loop's thread ---- */

/* Parks until the thread must drive. False: it drives for the last time, to stop. */
static bool await_role(kc__curl_loop *loop)
{
    bool stop = false;
    kc_locked (&loop->mutex) {
        while (loop->driver != DRIVER_NONE || !(loop->thread_needed || loop->stop))
            kc_cond_wait(&loop->vacant, &loop->mutex);
        loop->driver = DRIVER_THREAD;
        loop->thread_needed = false;
        stop = loop->stop;
    }
    return !stop;
}

/* Between two turns: false if the thread has given up the role. */
static bool keep_role(kc__curl_loop *loop)
{
    bool keep = false;
    kc_locked (&loop->mutex) {
        const bool unused = loop->opts.callers_drive && !loop->open &&
                            loop->lone >= LONE_TRANSFERS && kc_dlist_empty(&loop->inbox);
        keep = !unused && !loop->stop;
        if (!keep)
            vacate_role(loop);
    }
    return keep;
}

/* Writing to a connection closed by its peer raises SIGPIPE in the writing thread. */
static void block_signals(void)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
}

static void drive_on_thread(void *user)
{
    kc__curl_loop *loop = user;
    block_signals();
    while (await_role(loop))
        for (run_turn(loop); keep_role(loop); run_turn(loop))
            curl_multi_poll(loop->multi, NULL, 0, loop->active.n ? loop->opts.turn_ms : INT_MAX,
                            NULL);
    abort_transfers(loop);
}

/* ---- on any thread ---- */

static void make_multi(kc__curl_loop *loop)
{
    const kc__curl_loop_opts *o = &loop->opts;
    loop->multi = curl_multi_init();
    curl_multi_setopt(loop->multi, CURLMOPT_MAXCONNECTS, (long)o->connections);
    if (o->multiplex)
        curl_multi_setopt(loop->multi, CURLMOPT_PIPELINING, (long)CURLPIPE_MULTIPLEX);
    if (o->host_connections)
        curl_multi_setopt(loop->multi, CURLMOPT_MAX_HOST_CONNECTIONS, (long)o->host_connections);
}

/* Requires the mutex. */
static int start_thread(kc__curl_loop *loop, kc_error *err)
{
    if (!loop->thread)
        loop->thread = kc_thread_start(loop->opts.name, drive_on_thread, loop, err);
    return loop->thread ? 0 : kc_error_result(err);
}

/* Requires the mutex. */
static bool only_thread_drives(const kc__curl_loop *loop, const kc__curl_transfer *transfer)
{
    return !loop->opts.callers_drive || transfer->needs_thread;
}

/* Requires the mutex. */
static int prepare_start(kc__curl_loop *loop, const kc__curl_transfer *transfer, kc_error *err)
{
    if (loop->stop)
        return kc_error_set(err, KC_SERVICE_UNAVAILABLE, "the server is shutting down");
    if (!loop->multi)
        make_multi(loop);
    if (!loop->multi)
        return kc_error_set(err, KC_INTERNAL, "curl initialization failed");
    /* A caller that drives leaves with its own transfer, and does not wait for this one. */
    if (only_thread_drives(loop, transfer) || loop->open || loop->driver == DRIVER_CALLER)
        return start_thread(loop, err);
    return 0;
}

/* Requires the mutex. The driver needs no wake-up for a request behind others, unless it must leave
 * all of them to the thread. */
static void put_into_inbox(kc__curl_loop *loop, kc__curl_transfer *transfer, unsigned request)
{
    const bool for_thread =
        loop->thread && ((request & KC__TRANSFER_STOP) || only_thread_drives(loop, transfer));
    const bool need_thread = for_thread && loop->driver != DRIVER_THREAD && !loop->thread_needed;
    const bool wake = kc_dlist_empty(&loop->inbox) || need_thread;
    transfer->pending |= request;
    if (!kc_dlist_is_linked(&transfer->link)) {
        hold(loop, transfer);
        kc_dlist_push(&loop->inbox, &transfer->link);
    }
    loop->thread_needed |= need_thread;
    if (wake && loop->driver != DRIVER_NONE)
        curl_multi_wakeup(loop->multi);
    else if (need_thread)
        kc_cond_broadcast(&loop->vacant);
}

int kc__curl_loop_add(kc__curl_loop *loop, kc__curl_transfer *transfer, kc_error *err)
{
    int r = 0;
    kc_locked (&loop->mutex) {
        r = prepare_start(loop, transfer, err);
        if (r < 0)
            break;
        loop->lone = loop->open || transfer->needs_thread ? 0 : loop->lone + 1;
        loop->open++;
        put_into_inbox(loop, transfer, KC__TRANSFER_START);
    }
    return r;
}

/* Without a thread, and if it cannot be started, the next driver processes the request. */
void kc__curl_loop_request(kc__curl_loop *loop, kc__curl_transfer *transfer, unsigned request)
{
    kc_locked (&loop->mutex) {
        if (loop->stop)
            break;
        if (request & KC__TRANSFER_STOP)
            start_thread(loop, NULL);
        put_into_inbox(loop, transfer, request);
    }
}

void kc__curl_loop_wake(kc__curl_loop *loop)
{
    CURLM *multi = NULL;
    kc_locked (&loop->mutex)
        multi = loop->multi;
    if (multi)
        curl_multi_wakeup(multi);
}

kc__curl_loop *kc__curl_loop_new(const kc__curl_loop_opts *opts)
{
    kc__curl_loop *loop = kc_new(kc__curl_loop);
    loop->opts = *opts;
    loop->opts.turn_ms = opts->turn_ms ? opts->turn_ms : DEFAULT_TURN_MS;
    kc_mutex_init(&loop->mutex);
    kc_cond_init(&loop->vacant);
    kc_dlist_init(&loop->inbox);
    return loop;
}

/* A loop without a thread: waits until no caller drives. */
static void abort_without_thread(kc__curl_loop *loop)
{
    kc_locked (&loop->mutex) {
        while (loop->driver == DRIVER_CALLER)
            kc_cond_wait(&loop->vacant, &loop->mutex);
        loop->driver = DRIVER_THREAD;
    }
    abort_transfers(loop);
}

void kc__curl_loop_stop(kc__curl_loop *loop)
{
    kc_thread *thread = NULL;
    kc_locked (&loop->mutex) {
        loop->stop = true;
        thread = kc_take(loop->thread);
        kc_cond_broadcast(&loop->vacant);
    }
    kc__curl_loop_wake(loop);
    if (thread)
        kc_thread_join(thread);
    else
        abort_without_thread(loop);
}

kc__curl_loop *kc__curl_loop_free(kc__curl_loop *loop)
{
    if (!loop)
        return NULL;
    kc__curl_loop_stop(loop);
    curl_multi_cleanup(loop->multi);
    kc_vec_done(&loop->active);
    kc_cond_done(&loop->vacant);
    kc_mutex_done(&loop->mutex);
    free(loop);
    return NULL;
}
