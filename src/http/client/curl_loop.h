/* SPDX-License-Identifier: Apache-2.0 */
/*
 * curl_loop.h: the engine of all HTTP requests that kc sends: libcurl's multi interface for any
 * number of transfers. The client's transport (client/transport/loop.c), the log proxy (proxy.h)
 * and webhook calls (http_client.h) are built on it.
 *
 *     kc__curl_loop_add ──▶ begin ──▶ curl's callbacks … ──▶ end        all on the driver
 *
 * A transfer is embedded in the struct of its user and belongs to the driver from the moment it is
 * added until its end. Other threads resume and stop it by requests (kc__curl_loop_request), which
 * the driver processes in its next turn.
 *
 * A turn: requests of other threads, `turn`, curl, ended transfers, `turn_end`.
 *
 * The driver is the one thread that calls into curl: the loop's own thread or, with
 * `callers_drive`, a thread that waits for its transfer. A caller that drives sends its request and
 * receives the response without switching to another thread:
 *
 *     if (kc__curl_loop_enter(loop))
 *         while (kc__curl_loop_turn(loop)) {           false: the loop's thread takes over
 *             if (… the transfer has ended, or the caller gives up …) {
 *                 kc__curl_loop_leave(loop, &transfer);
 *                 break;
 *             }
 *             kc__curl_loop_sleep(loop, timeout_ms);
 *         }
 *     … wait for `end` by other means: another thread drives
 *
 *            enter                        leave; no other transfer
 *     none ─────────▶ a caller ─────────────────────────────────────────▶ none
 *      │                 │ leave; other transfers, or: the thread is needed
 *      │ needed          ▼
 *      └───────────▶ the thread ────────────────────────────────────────▶ none
 *                               no transfer, and the last LONE_TRANSFERS
 *                               were the only ones of their time
 *
 * The thread is needed for a transfer with `needs_thread`, for stopping a transfer, which may block
 * in curl's resolver, and for transfers whose callers wait while another caller stops driving. It
 * starts when it may be needed for the first time: with such a request, or with a second transfer.
 * A lone caller has no second thread at all.
 *
 * Every transfer has a driver, with one exception: the only transfer of a loop stands still while
 * its caller does something else between two waits, as with a blocking socket.
 */
#ifndef KC_HTTP_CURL_LOOP_H
#define KC_HTTP_CURL_LOOP_H

#include "kc/dlist.h"
#include "kc/error.h"

#include <curl/curl.h>

typedef struct kc__curl_loop kc__curl_loop;

typedef struct kc__curl_transfer {
    CURL *easy;
    char why[CURL_ERROR_SIZE]; /* curl's error message; may be empty. */
    /* The loop's thread drives from the START to the end: the owner does not wait for the transfer,
     * or its callbacks must not run on the threads of callers. Set before the transfer is added. */
    bool needs_thread;
    /* Private. */
    kc_dlist_link link; /* In the inbox. */
    unsigned pending;   /* Pending requests while it is in the inbox. */
    size_t at;          /* Its index in the active transfers. */
    bool active;        /* From `begin` to `end`. */
} kc__curl_transfer;

enum { KC__TRANSFER_START = 1, KC__TRANSFER_RESUME = 2, KC__TRANSFER_STOP = 4 };

typedef struct kc__curl_loop_opts {
    const char *name;     /* Name of the thread. */
    int connections;      /* Connections kept open. */
    int host_connections; /* Connections to one server; further transfers wait. Defaults to no
                             limit. */
    bool multiplex;       /* Requests share HTTP/2 connections. */
    bool own_handles;     /* The owner of a transfer sets `easy`, ready to be sent, and keeps it. */
    bool callers_drive;   /* Callers may drive; defaults to false: the thread always drives. */
    int turn_ms;          /* Longest turn while a transfer is active. Defaults to one second. */
    /* Sets the options that differ from transfer to transfer, unless own_handles is set. */
    void (*begin)(kc__curl_transfer *transfer);
    /* The last callback, once for each transfer. Without own_handles the handle is freed
     * afterwards. */
    void (*end)(kc__curl_transfer *transfer, CURLcode code);
    /* Reference counting: one reference while the transfer is active, one while it is in the
     * inbox. May be NULL. */
    void (*hold)(kc__curl_transfer *transfer);
    void (*release)(kc__curl_transfer *transfer);
    /* Called in each turn, before and after curl. May be NULL. */
    void (*turn)(kc__curl_loop *loop, void *user);
    void (*turn_end)(void *user);
    void *user;
} kc__curl_loop_opts;

kc__curl_loop *kc__curl_loop_new(const kc__curl_loop_opts *opts);
/* Any thread; does not block. Fails without any callback after kc__curl_loop_stop. With
 * `callers_drive` the caller must then wait as above, or stop the transfer, unless the transfer
 * needs the thread. */
int kc__curl_loop_add(kc__curl_loop *loop, kc__curl_transfer *transfer, kc_error *err);
/* KC__TRANSFER_RESUME continues a transfer that curl has paused. KC__TRANSFER_STOP takes
 * precedence over other requests: `end` is called with CURLE_ABORTED_BY_CALLBACK, unless it was
 * called already. The transfer must have been added and be referenced. Any thread; does not
 * block. */
void kc__curl_loop_request(kc__curl_loop *loop, kc__curl_transfer *transfer, unsigned request);
/* Makes the driver run a turn. Any thread. */
void kc__curl_loop_wake(kc__curl_loop *loop);
/* Aborts all transfers (CURLE_ABORTED_BY_CALLBACK) and accepts no more. Blocks until they have
 * ended. Any thread that does not drive. */
void kc__curl_loop_stop(kc__curl_loop *loop);
/* NULL is allowed; returns NULL. */
kc__curl_loop *kc__curl_loop_free(kc__curl_loop *loop);

/* ---- driving, on the thread of a caller ---- */

/* Makes the calling thread the driver. False if the loop has a driver, or needs its thread. */
bool kc__curl_loop_enter(kc__curl_loop *loop);
/* Runs one turn; does not block. False if the calling thread is no longer the driver: the loop's
 * thread takes over, or the loop stops. */
bool kc__curl_loop_turn(kc__curl_loop *loop);
/* Blocks until a turn has something to do, at most for the timeout (or `turn_ms`). */
void kc__curl_loop_sleep(kc__curl_loop *loop, int timeout_ms);
/* Ends driving. The loop's thread takes over if there are transfers other than the caller's. */
void kc__curl_loop_leave(kc__curl_loop *loop, const kc__curl_transfer *own);

/* ---- on the driver ---- */

/* Number of active transfers. To end some of them, iterate from the last to the first. */
size_t kc__curl_loop_count(const kc__curl_loop *loop);
kc__curl_transfer *kc__curl_loop_transfer_at(const kc__curl_loop *loop, size_t i);
/* Ends a transfer early. */
void kc__curl_loop_end_transfer(kc__curl_loop *loop, kc__curl_transfer *transfer, CURLcode code);

#endif
